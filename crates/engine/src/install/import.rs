//! `init --import`: imports the user's hooks from a settings file, and a config of the original conclaude (0.2.9). It reports
//! everything that it cannot import, with an alternative.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::scripts::{Matcher, is_same};
use super::settings::UserHook;
use conclaude_core::config::{CommandConfig, ConclaudeConfig, EventConfig, Reaction};
use conclaude_core::dialect::claude::{fields, tools};
use conclaude_core::event::{Blocking, EventKind, Subject};
use conclaude_core::messages::short;
use conclaude_core::pattern::Pattern;

mod original;

pub use original::original;

/// The imported parts, as sections of a config, and the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportResult {
    config: Map<String, Value>,
    /// The parts that were not imported, and alternatives.
    pub left: Vec<String>,
    /// The hooks that are now in the config, and are removed from the settings file.
    pub hooks: Vec<UserHook>,
    /// The hooks that the config already had. They are removed too.
    pub covered: Vec<UserHook>,
    /// The parts that behave differently now.
    pub notes: Vec<String>,
}

impl ImportResult {
    pub fn is_empty(&self) -> bool {
        self.config.is_empty()
    }

    /// The hooks to remove from the settings file.
    pub fn removed(&self) -> Vec<UserHook> {
        self.hooks.iter().chain(&self.covered).cloned().collect()
    }

    pub fn has(&self, section: &str) -> bool {
        self.config.contains_key(section)
    }

    pub fn sections(&self) -> Vec<String> {
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

    /// Imports hooks of a settings file. A hook that the config already has is only removed.
    pub fn add_hooks(&mut self, hooks: Vec<UserHook>, existing: Option<&ConclaudeConfig>) {
        for hook in hooks {
            match fate(&hook, existing) {
                Fate::Remove => self.covered.push(hook),
                Fate::Add { section, pattern, command } => {
                    self.add_command(section, &pattern, command);
                    self.notes.extend(differences(&hook));
                    self.hooks.push(hook);
                }
                Fate::Advise(why) | Fate::Leave(why) => {
                    self.left.push(format!("the hook `{}` of {}: {why}", name_of(&hook), hook.event))
                }
            }
        }
        self.config.values_mut().for_each(run_hooks_in_parallel);
    }
}

/// Claude Code runs all hooks of an event in parallel.
fn run_hooks_in_parallel(section: &mut Value) {
    let patterns = section.get_mut("commands").and_then(Value::as_object_mut);
    let commands = patterns.into_iter().flat_map(|patterns| patterns.values_mut());
    let commands = commands.filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut);
    let mut hooks: Vec<&mut Map<String, Value>> = commands
        .filter(|command| command.get("protocol").is_some_and(|protocol| protocol == "hook"))
        .collect();
    if hooks.len() > 1 {
        hooks.iter_mut().for_each(|hook| drop(hook.insert("parallel".into(), true.into())));
    }
}

pub enum Fate {
    /// The config already runs it for all agents of the hook: it is only removed from the settings.
    Remove,
    Add {
        section: &'static str,
        pattern: String,
        command: Map<String, Value>,
    },
    /// What to change in the config, so that another import removes it.
    Advise(String),
    /// Why it stays where it is.
    Leave(String),
}

pub fn fate(hook: &UserHook, existing: Option<&ConclaudeConfig>) -> Fate {
    let event = EventKind::named(&hook.event);
    let configured = event.zip(existing).and_then(|(event, config)| config.section(event));
    let script = hook.command().unwrap_or_default();
    let entries = configured.map(EventConfig::entries).unwrap_or_default().iter();
    let same: Vec<&Pattern> = entries
        .clone()
        .filter(|(_, commands)| commands.iter().any(|command| is_same(script, command)))
        .map(|(pattern, _)| pattern)
        .collect();
    let matcher = Matcher::new(hook.matcher.as_deref());
    if matcher.is_covered_by(&same) {
        let mut commands = entries.flat_map(|(_, commands)| commands).filter(|one| is_same(script, one));
        if let Some(event) = event
            && commands.any(|command| loses_blocks(event, command))
        {
            return Fate::Advise(format!(
                "`{}` of the config runs it as a plain command, which blocks nothing: add `protocol: hook` there, then `conclaude init --import` removes the hook",
                event.row().section
            ));
        }
        return Fate::Remove;
    }
    let ImportedCommand { event, pattern, command } = match command_of(hook) {
        Ok(parts) => parts,
        Err(why) => return Fate::Leave(why.to_string()),
    };
    let section = event.row().section;
    match (configured, same.as_slice()) {
        (None, _) => Fate::Add { section, pattern, command },
        (Some(_), [own, ..]) => Fate::Advise(format!(
            "`{section}` of the config runs it for \"{own}\" only, and the hook for {}: write {} instead of \"{own}\" there, then `conclaude init --import` removes the hook",
            agents(&matcher),
            Value::from(widened(own, &pattern)),
        )),
        (Some(_), []) => Fate::Advise(format!(
            "the config has a section `{section}` already: add `- {}` to {} under its `commands`, then `conclaude init --import` removes the hook",
            Value::Object(command),
            Value::from(pattern)
        )),
    }
}

/// Whether importing the hook would lose its block.
fn loses_blocks(event: EventKind, command: &CommandConfig) -> bool {
    let refuses = matches!(event.blocking(), Blocking::Tool | Blocking::Permission | Blocking::Action { .. });
    refuses && !command.is_hook() && command.on_failure != Some(Reaction::Block)
}

fn agents(matcher: &Matcher<'_>) -> String {
    match matcher {
        Matcher::Names(names) => names.join(" and "),
        Matcher::All | Matcher::Regex => "every agent".into(),
    }
}

/// The pattern for the agents of both.
fn widened(own: &Pattern, other: &str) -> String {
    let bare = |pattern: &str| pattern.trim_start_matches('{').trim_end_matches('}').to_owned();
    if other == "*" {
        return other.into();
    }
    let (own, mut names) = (bare(own.as_str()), Vec::new());
    let other = bare(other);
    for name in own.split(',').chain(other.split(',')) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    format!("{{{}}}", names.join(","))
}

/// The name of a hook in a message: its command, else its type.
fn name_of(hook: &UserHook) -> String {
    let kind = hook.hook.get("type").and_then(Value::as_str).unwrap_or("hook");
    hook.command().map_or_else(|| kind.to_owned(), short)
}

/// A command of the config that does the same as a hook.
struct ImportedCommand {
    event: EventKind,
    pattern: String,
    command: Map<String, Value>,
}

/// Why a hook cannot become a command of the config.
#[derive(Debug, thiserror::Error)]
enum ImportError {
    #[error("conclaude knows no event of this name; it stays where it is")]
    UnknownEvent,
    #[error("it is of type `{0}` and not a command; it stays where it is")]
    NotACommand(String),
    #[error("it has `{0}`, which a command cannot have; it stays where it is")]
    UnsupportedKey(String),
    #[error("its matcher is a regular expression, and patterns here are globs; it stays where it is")]
    RegexMatcher,
    #[error("it cannot be a command here")]
    InvalidCommand,
}

/// Keys of a hook that a command of the config has too, or that change nothing: `once` applies only to skills.
const KNOWN_KEYS: [&str; 5] = ["type", "command", "timeout", "statusMessage", "once"];

fn command_of(hook: &UserHook) -> Result<ImportedCommand, ImportError> {
    let event = EventKind::named(&hook.event).ok_or(ImportError::UnknownEvent)?;
    let run = hook.command().ok_or_else(|| ImportError::NotACommand(name_of(hook)))?;
    if let Some(key) = unsupported_key(hook) {
        return Err(ImportError::UnsupportedKey(key));
    }
    let is_compared = event.row().has_matcher && event.row().subject != Subject::Nothing;
    let matcher = Matcher::new(if is_compared { hook.matcher.as_deref() } else { None });
    let pattern = current(matcher, event).glob().ok_or(ImportError::RegexMatcher)?;
    let mut command = Map::new();
    command.insert("run".into(), run.into());
    // So its meaning stays: exit 2 blocks, and JSON on stdout is its answer.
    command.insert("protocol".into(), "hook".into());
    if let Some(seconds) = timeout(hook) {
        let seconds = seconds.ceil().min(MAX_TIMEOUT) as u64;
        command.insert("timeout".into(), seconds.into());
    }
    let check = json!({ event.row().section: { "commands": { pattern.as_str(): [command] } } });
    if fits(&check) {
        Ok(ImportedCommand { event, pattern, command })
    } else {
        Err(ImportError::InvalidCommand)
    }
}

/// The longest timeout of a command, in seconds.
const MAX_TIMEOUT: f64 = 3_600.0;

/// The timeout of a hook, in seconds.
fn timeout(hook: &UserHook) -> Option<f64> {
    hook.hook.get("timeout").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0)
}

/// The differences in behaviour of an imported hook.
fn differences(hook: &UserHook) -> Vec<String> {
    let name = format!("the hook `{}` of {}", name_of(hook), hook.event);
    let mut found = Vec::new();
    if let Some(seconds) = timeout(hook).filter(|seconds| *seconds > MAX_TIMEOUT) {
        found.push(format!(
            "{name} had a timeout of {seconds} s, and has one of {MAX_TIMEOUT} s now: a command cannot have a longer one"
        ));
    }
    if let Some(text) = hook.hook.get("statusMessage").and_then(Value::as_str) {
        found.push(format!(
            "{name} had the `statusMessage` {text:?}, which Claude Code no longer shows: commands of a config have none"
        ));
    }
    found
}

/// A key that changes what the hook does, and that no command has. `false` equals absent.
fn unsupported_key(hook: &UserHook) -> Option<String> {
    let mut keys = hook.hook.as_object().into_iter().flatten();
    let is_other = |(key, value): &(&String, &Value)| match key.as_str() {
        // Claude Code takes `sh` for `bash` too.
        "shell" => **value != "bash",
        key => !KNOWN_KEYS.contains(&key) && **value != Value::Bool(false),
    };
    keys.find(is_other).map(|(key, _)| key.clone())
}

/// The current names of tools: in a matcher of Claude Code the former ones mean the same.
fn current(matcher: Matcher<'_>, event: EventKind) -> Matcher<'_> {
    match matcher {
        Matcher::Names(names) if fields::has_tool(event) => {
            Matcher::Names(names.into_iter().map(tools::current_name).collect())
        }
        other => other,
    }
}

/// Whether this is valid in a config. JSON is YAML.
fn fits(config: &Value) -> bool {
    ConclaudeConfig::parse(&config.to_string(), Path::new("")).is_ok()
}

fn section_text(name: &str, value: &Value) -> String {
    let Some(map) = value.as_object() else { return format!("{name}: {value}\n") };
    let mut text = format!("{name}:\n");
    for (key, value) in map {
        match value.as_object() {
            Some(patterns) if key == "commands" => text.push_str(&commands_text(patterns)),
            _ => text.push_str(&format!("  {key}: {value}\n")),
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
