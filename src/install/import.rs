//! What `init --import` takes over: hooks that the user wrote into a settings file, and a config of the original conclaude
//! (0.2.9). What cannot be taken over is named, with what to do instead; nothing is lost silently.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::settings::Foreign;
use crate::config::ConclaudeConfig;
use crate::event::{self, EventKind, Subject};
use crate::messages::short;
use crate::pattern::Pattern;

mod original;

pub(crate) use original::original;

/// What was taken over, as sections of a config, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Imported {
    config: Map<String, Value>,
    /// What was not taken over, and what to do instead.
    pub(crate) left: Vec<String>,
    /// The hooks that are in the config now, and go from the settings file.
    pub(crate) hooks: Vec<Foreign>,
}

impl Imported {
    pub(crate) fn is_empty(&self) -> bool {
        self.config.is_empty()
    }

    pub(crate) fn has(&self, section: &str) -> bool {
        self.config.contains_key(section)
    }

    /// The sections, as YAML.
    pub(crate) fn sections(&self) -> Vec<String> {
        self.config.iter().map(|(name, value)| section_text(name, value)).collect()
    }

    fn add(&mut self, section: &str, key: &str, value: Value) {
        let entry = self.config.entry(section).or_insert_with(|| json!({}));
        if let Some(map) = entry.as_object_mut() {
            map.insert(key.to_owned(), value);
        }
    }

    fn add_command(&mut self, section: &str, pattern: &str, command: Map<String, Value>) {
        let entry = self.config.entry(section).or_insert_with(|| json!({}));
        let Some(map) = entry.as_object_mut() else { return };
        let patterns = map.entry("commands").or_insert_with(|| json!({}));
        let Some(patterns) = patterns.as_object_mut() else { return };
        let list = patterns.entry(pattern).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(Value::Object(command));
        }
    }

    /// Takes hooks of a settings file over. What the config has already is only removed there.
    pub(crate) fn add_hooks(&mut self, hooks: Vec<Foreign>, existing: Option<&ConclaudeConfig>) {
        for hook in hooks {
            match command_of(&hook) {
                Ok((event, pattern, command)) => self.add_hook(hook, (event, pattern, command), existing),
                Err(why) => self.left.push(format!("the hook `{}` of {}: {why}", name_of(&hook), hook.event)),
            }
        }
    }

    fn add_hook(
        &mut self,
        hook: Foreign,
        (event, pattern, command): (EventKind, String, Map<String, Value>),
        existing: Option<&ConclaudeConfig>,
    ) {
        let section = event.row().section;
        let configured = existing.and_then(|config| config.section(event));
        let run = hook.command().unwrap_or_default();
        let is_there = configured.is_some_and(|section| {
            section.entries().iter().any(|(own, commands)| {
                covers(own, hook.matcher.as_deref())
                    && commands.iter().any(|one| one.run.as_str().trim() == run.trim())
            })
        });
        match configured {
            Some(_) if is_there => self.hooks.push(hook),
            Some(_) => self.left.push(format!(
                "the hook `{}` of {}: the config has a section `{section}` already; add it there by hand under {}, and remove the hook",
                name_of(&hook),
                hook.event,
                Value::from(pattern)
            )),
            None => {
                self.add_command(section, &pattern, command);
                self.hooks.push(hook);
            }
        }
    }
}

/// What a hook is called in a message: its command, else its type.
fn name_of(hook: &Foreign) -> String {
    let kind = hook.hook.get("type").and_then(Value::as_str).unwrap_or("hook");
    hook.command().map_or_else(|| kind.to_owned(), short)
}

/// The event, the pattern and the command that do what the hook does, or why there is none.
fn command_of(hook: &Foreign) -> Result<(EventKind, String, Map<String, Value>), String> {
    let event = EventKind::named(&hook.event).filter(|event| event.row().commands);
    let event = event.ok_or_else(|| {
        let names: Vec<&str> = event::with_commands().map(EventKind::name).collect();
        format!("it stays where it is; conclaude runs commands at {}", names.join(" and "))
    })?;
    let run = hook.command().ok_or("it is no command; it stays where it is")?;
    for key in ["async", "if"] {
        if hook.hook.get(key).is_some_and(|value| *value != Value::Bool(false)) {
            return Err(format!("it has `{key}`, which a command cannot have; it stays where it is"));
        }
    }
    let pattern = pattern(hook.matcher.as_deref(), event)
        .ok_or("its matcher is a regular expression, and patterns here are globs; it stays where it is")?;
    let mut command = Map::new();
    command.insert("run".into(), run.into());
    let seconds = hook.hook.get("timeout").and_then(Value::as_u64);
    if let Some(seconds) = seconds.filter(|seconds| (1..=3_600).contains(seconds)) {
        command.insert("timeout".into(), seconds.into());
    }
    // A hook blocks with exit 2 alone.
    if run.contains("exit 2") {
        command.insert("onFailure".into(), "block".into());
    }
    let check = json!({ event.row().section: { "commands": { pattern.as_str(): [command] } } });
    if fits(&check) { Ok((event, pattern, command)) } else { Err("it cannot be a command here".into()) }
}

/// The glob that means what a matcher means: a list of names is one, a regular expression is not.
fn pattern(matcher: Option<&str>, event: EventKind) -> Option<String> {
    let matcher = matcher.map(str::trim).filter(|text| !matches!(*text, "" | "*"));
    let Some(matcher) = matcher.filter(|_| event.row().subject != Subject::Nothing) else {
        return Some("*".into());
    };
    let is_list = matcher.chars().all(|c| c.is_alphanumeric() || "_- |,".contains(c));
    let names: Vec<&str> = matcher.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()).collect();
    match names.as_slice() {
        _ if !is_list => None,
        [] => Some("*".into()),
        [only] => Some((*only).to_owned()),
        many => Some(format!("{{{}}}", many.join(","))),
    }
}

/// Whether a pattern of the config means every agent that the matcher, a list of names, means.
fn covers(own: &Pattern, matcher: Option<&str>) -> bool {
    let matcher = matcher.map(str::trim).filter(|text| !matches!(*text, "" | "*"));
    let matches = |name: &str| own.matches(name.trim(), None).unwrap_or(false);
    own.is_wildcard() || matcher.is_some_and(|names| names.split(['|', ',']).all(matches))
}

/// Whether a config may have this. JSON is YAML.
fn fits(config: &Value) -> bool {
    ConclaudeConfig::parse(&config.to_string(), Path::new("")).is_ok()
}

fn section_text(name: &str, value: &Value) -> String {
    let Some(map) = value.as_object() else { return format!("{name}: {value}\n") };
    let mut text = format!("{name}:\n");
    for (key, value) in map {
        match value.as_object().filter(|_| key == "commands") {
            Some(patterns) => text.push_str(&commands_text(patterns)),
            None => text.push_str(&format!("  {key}: {value}\n")),
        }
    }
    text
}

fn commands_text(patterns: &Map<String, Value>) -> String {
    let mut text = String::from("  commands:\n");
    for (pattern, commands) in patterns {
        text.push_str(&format!("    {}:\n", Value::from(pattern.as_str())));
        for command in commands.as_array().into_iter().flatten() {
            let keys = command.as_object().into_iter().flatten().enumerate();
            for (at, (key, value)) in keys {
                let lead = if at == 0 { "- " } else { "  " };
                text.push_str(&format!("      {lead}{key}: {value}\n"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
