//! What stands in a settings file: which hooks are ours, whether they can work, and who else calls us.

use serde_json::Value;

use super::{Refusal, Registration};
use crate::event::Event;

/// What of ours is registered for these events, in the order of the file.
///
/// # Errors
/// When the file has a form that we do not understand.
pub fn registered(text: &str, events: &[Event]) -> Result<Vec<Registration>, Refusal> {
    let json = parsed(text)?;
    let mut found = Vec::new();
    for (name, groups) in json.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        let Some(event) = Event::named(name).filter(|event| events.contains(event)) else { continue };
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).map(str::to_owned);
            found.extend(hooks_of(group).filter(|hook| is_ours(hook, name)).map(|hook| Registration {
                event,
                matcher: matcher.clone(),
                command: hook.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
                timeout:
                    hook.get("timeout").and_then(Value::as_u64).unwrap_or_else(|| default_timeout(event)),
                flaw: flaw(hook, event),
            }));
        }
    }
    Ok(found)
}

/// What the client gives a hook that asks for nothing.
fn default_timeout(event: Event) -> u64 {
    match event {
        Event::UserPromptSubmit => 30,
        Event::SessionEnd => 1,
        _ => 600,
    }
}

/// What the client does with the entry that keeps it from working.
fn flaw(hook: &Value, event: Event) -> Option<&'static str> {
    let is_tool = matches!(event.name(), "PreToolUse" | "PostToolUse");
    let is_command = hook.get("type").and_then(Value::as_str).is_none_or(|kind| kind == "command");
    match hook {
        _ if !is_command => Some("its `type` is not \"command\", so the client runs something else"),
        _ if hook.get("async") == Some(&Value::Bool(true)) => {
            Some("`async` makes the client ignore its answer")
        }
        _ if hook.get("if").is_some() && !is_tool => {
            Some("`if` keeps the client from ever calling it at this event")
        }
        _ if hook.get("if").is_some() => Some("`if` keeps the client from calling it for all that is needed"),
        _ => None,
    }
}

/// Whether the file switches all hooks off.
#[must_use]
pub fn switches_hooks_off(text: &str) -> bool {
    parsed(text).is_ok_and(|json| json.get("disableAllHooks") == Some(&Value::Bool(true)))
}

/// Whether a command line is one of ours, for this event: exactly one word that is the program, the event, and nothing else
/// but our own flag. Whatever else it may be belongs to the user.
#[must_use]
pub fn is_own_command(command: &str, event: &str) -> bool {
    let command = command.trim();
    let command =
        command.strip_suffix(crate::install::registration::IF_TRUSTED).unwrap_or(command).trim_end();
    let Some(program) = command.strip_suffix(event).and_then(|rest| rest.strip_suffix(' ')) else {
        return false;
    };
    let Some(program) = word(program.trim()) else { return false };
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(name, "conclaude" | "conclaude.exe")
}

/// The one word that a shell would read, if it is one and means itself.
#[must_use]
pub fn word(text: &str) -> Option<&str> {
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return (!inner.contains(quote) && (quote == '\'' || !inner.contains(['$', '`'])))
                .then_some(inner);
        }
    }
    let special = |c: char| c.is_whitespace() || "\"'$`;|&<>()*?[#~={}!".contains(c);
    (!text.is_empty() && !text.contains(special)).then_some(text)
}

/// Command lines that call us too, but not in a way that is ours to change.
///
/// # Errors
/// When the file has a form that we do not understand.
pub fn lookalikes(text: &str) -> Result<Vec<String>, Refusal> {
    let json: Value = parsed(text)?;
    let mut found = Vec::new();
    for (name, groups) in json.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        let hooks = groups.as_array().into_iter().flatten().flat_map(hooks_of);
        let commands =
            hooks.filter(|hook| !is_ours(hook, name)).filter_map(|hook| hook.get("command")?.as_str());
        let calls_us = |command: &&str| {
            let mut words = command.split(|c: char| c.is_whitespace() || "\"';|&/\\".contains(c));
            let is_named = words.any(|word| word == "conclaude");
            is_named && words.next() == Some(name)
        };
        found.extend(commands.filter(calls_us).map(str::to_owned));
    }
    Ok(found)
}

fn parsed(text: &str) -> Result<Value, Refusal> {
    serde_json::from_str(text).map_err(|error| Refusal(format!("the settings file is not JSON: {error}")))
}

pub(super) fn is_ours(hook: &Value, event: &str) -> bool {
    hook.get("command").and_then(Value::as_str).is_some_and(|command| is_own_command(command, event))
}

pub(super) fn hooks_of(group: &Value) -> impl Iterator<Item = &Value> {
    group.get("hooks").and_then(Value::as_array).into_iter().flatten()
}
