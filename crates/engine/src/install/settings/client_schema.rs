//! The form that Claude Code wants of a settings file, as far as our hooks depend on it: a setting of the wrong type makes it
//! ignore the whole file, and one wrong entry makes it ignore every hook of that event.

use std::fmt;

use serde_json::{Value, json};

type Check = fn(&Value) -> bool;

/// The settings whose form is known, with the check and what it wants.
const SETTINGS: [(&str, Check, &str); 5] = [
    ("$schema", Value::is_string, "a string"),
    ("hooks", Value::is_object, "an object"),
    ("env", Value::is_object, "an object"),
    ("permissions", is_permissions, "an object of lists"),
    ("disableAllHooks", Value::is_boolean, "true or false"),
];

/// The types of hooks, each with the field that it needs.
const TYPES: [(&str, &str); 5] = [
    ("command", "command"),
    ("prompt", "prompt"),
    ("agent", "prompt"),
    ("http", "url"),
    ("mcp_tool", "tool"),
];

/// The fields of a hook, with the check and what it wants. Unknown fields do no harm.
const FIELDS: [(&str, Check, &str); 12] = [
    ("command", Value::is_string, "a string"),
    ("prompt", Value::is_string, "a string"),
    ("url", Value::is_string, "a string"),
    ("tool", Value::is_string, "a string"),
    ("statusMessage", Value::is_string, "a string"),
    ("if", Value::is_string, "a string"),
    ("timeout", is_above_zero, "a number above 0"),
    ("async", Value::is_boolean, "true or false"),
    ("asyncRewake", Value::is_boolean, "true or false"),
    ("once", Value::is_boolean, "true or false"),
    ("shell", is_shell, "\"bash\" or \"powershell\""),
    ("args", Value::is_array, "a list"),
];

fn is_permissions(value: &Value) -> bool {
    let is_right = |(name, value): (&String, &Value)| match name.as_str() {
        "allow" | "ask" | "deny" | "additionalDirectories" => value.is_array(),
        "defaultMode" => value.is_string(),
        _ => true,
    };
    value.as_object().is_some_and(|object| object.iter().all(is_right))
}

fn is_above_zero(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number > 0.0)
}

fn is_shell(value: &Value) -> bool {
    matches!(value.as_str(), Some("bash" | "powershell"))
}

/// The setting that makes Claude Code ignore the file, in words.
pub(super) fn wrong_setting(settings: &Value) -> Option<String> {
    wrong_field(settings, &SETTINGS)
}

/// Whether the file has settings whose form is not known here.
pub(super) fn has_unknown_settings(settings: &Value) -> bool {
    let is_known = |key: &String| SETTINGS.iter().any(|(name, ..)| name == key);
    settings.as_object().into_iter().flatten().any(|(key, _)| !is_known(key))
}

fn wrong_field(object: &Value, fields: &[(&str, Check, &str)]) -> Option<String> {
    let wrong =
        fields.iter().find(|(name, is_right, _)| object.get(name).is_some_and(|value| !is_right(value)));
    wrong.map(|(name, _, wanted)| format!("`{name}` must be {wanted}"))
}

/// An entry that Claude Code cannot read. While it is there, it calls no hook of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadEntry {
    pub event: String,
    /// What is wrong with it.
    problem: String,
    /// What to write instead, where that is known.
    instead: Option<String>,
}

impl DeadEntry {
    pub(super) fn of(event: &str, group: &Value) -> Option<DeadEntry> {
        let problem = problem(group)?;
        let instead = if group.get("hooks").is_none() { Some(as_list(group)) } else { None };
        Some(DeadEntry { event: event.to_owned(), problem, instead })
    }
}

fn problem(group: &Value) -> Option<String> {
    if !group.is_object() {
        return Some("that is not an object".into());
    }
    if group.get("matcher").is_some_and(|matcher| !matcher.is_string()) {
        return Some("whose `matcher` is not a string".into());
    }
    let Some(hooks) = group.get("hooks").and_then(Value::as_array) else {
        return Some("without a list `hooks`".into());
    };
    hooks.iter().find_map(problem_of_hook)
}

fn problem_of_hook(hook: &Value) -> Option<String> {
    let kind = hook.get("type").and_then(Value::as_str).unwrap_or_default();
    let Some((_, needed)) = TYPES.iter().find(|(name, _)| *name == kind) else {
        return Some("with a hook that has no known `type`".into());
    };
    if hook.get(needed).is_none() {
        return Some(format!("with a hook that has no `{needed}`"));
    }
    wrong_field(hook, &FIELDS).map(|wrong| format!("with a hook whose {wrong}"))
}

/// The entry as it would be called.
fn as_list(group: &Value) -> String {
    let command = group.get("command").and_then(Value::as_str).unwrap_or("…");
    let mut entry = json!({ "hooks": [{ "type": "command", "command": command }] });
    if let (Some(matcher), Some(entry)) = (group.get("matcher"), entry.as_object_mut()) {
        entry.shift_insert(0, "matcher".into(), matcher.clone());
    }
    entry.to_string()
}

impl fmt::Display for DeadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeadEntry { event, problem, instead } = self;
        write!(
            f,
            "`hooks.{event}` has an entry {problem}: Claude Code never calls it, nor any other hook of {event} while it is there. "
        )?;
        match instead {
            Some(instead) => write!(f, "Remove it, or write {instead}"),
            None => f.write_str("Remove it, or repair it"),
        }
    }
}
