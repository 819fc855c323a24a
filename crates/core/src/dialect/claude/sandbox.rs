//! Claude Code's sandbox and permission rules, as its settings have them.
//!
//! In the sandbox, patterns are for reading only: on Linux it skips those for writing, and says nothing.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub mod effective;
pub mod refusal;

pub const SANDBOX: &str = "sandbox";
pub const PERMISSIONS: &str = "permissions";

/// The lists that rules for files are compiled into.
pub const DENY_READ: [&str; 3] = [SANDBOX, "filesystem", "denyRead"];
pub const ALLOW_READ: [&str; 3] = [SANDBOX, "filesystem", "allowRead"];
pub const DENY_WRITE: [&str; 3] = [SANDBOX, "filesystem", "denyWrite"];
pub const DENY: [&str; 2] = [PERMISSIONS, "deny"];
pub const ASK: [&str; 2] = [PERMISSIONS, "ask"];

/// Commands that run outside the sandbox.
pub const EXCLUDED_COMMANDS: [&str; 2] = [SANDBOX, "excludedCommands"];

/// The hosts that commands may reach. Without this setting the user is asked about each new host.
pub const ALLOWED_DOMAINS: [&str; 3] = [SANDBOX, "network", "allowedDomains"];
pub const ANY_DOMAIN: &str = "*";

pub const ENABLED: [&str; 2] = [SANDBOX, "enabled"];

/// The settings with which the sandbox holds for every command. With `autoAllowBashIfSandboxed`, which is on by default,
/// permission rules would not ask about commands.
pub const SWITCHES: [([&str; 2], bool); 4] = [
    (ENABLED, true),
    ([SANDBOX, "failIfUnavailable"], true),
    ([SANDBOX, "allowUnsandboxedCommands"], false),
    ([SANDBOX, "autoAllowBashIfSandboxed"], false),
];

/// Whether the sandbox reads a path as a pattern.
#[must_use]
pub fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', ']'])
}

/// Whether a pattern means the same in the sandbox as here. The sandbox has neither escapes nor `[!a]`, and braces are literal.
#[must_use]
pub fn can_read(pattern: &str) -> bool {
    !pattern.contains(['[', ']', '{', '}', '\\']) && !pattern.contains(char::is_control)
}

/// A permission rule for a tool and a path from the sandbox: in rules absolute paths start with two slashes. `None` for a path
/// that would end the rule.
#[must_use]
pub fn permission(tool: &str, path: &str) -> Option<String> {
    if path.contains(['(', ')']) || path.contains(char::is_control) {
        return None;
    }
    let slash = if path.starts_with('/') { "/" } else { "" };
    Some(format!("{tool}({slash}{path})"))
}

/// An entry in the settings: a value, or one member of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsEntry {
    pub keys: Vec<String>,
    pub value: Value,
    /// Whether it is a member of the list below these keys.
    pub in_list: bool,
}

impl SettingsEntry {
    #[must_use]
    pub fn member(keys: &[&str], value: impl Into<Value>) -> SettingsEntry {
        SettingsEntry { in_list: true, ..SettingsEntry::value(keys, value) }
    }

    #[must_use]
    pub fn value(keys: &[&str], value: impl Into<Value>) -> SettingsEntry {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        SettingsEntry { keys, value: value.into(), in_list: false }
    }

    /// Whether it is below these keys.
    #[must_use]
    pub fn is_at(&self, keys: &[&str]) -> bool {
        self.keys == keys
    }

    /// Its text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.value.as_str()
    }

    /// Whether settings have it.
    #[must_use]
    pub fn is_in(&self, settings: &Value) -> bool {
        match (at(settings, &self.keys), self.in_list) {
            (Some(Value::Array(list)), true) => list.contains(&self.value),
            (Some(value), false) => *value == self.value,
            _ => false,
        }
    }
}

impl std::fmt::Display for SettingsEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.keys.join(".");
        match (self.text(), self.in_list) {
            (Some(text), true) => write!(f, "{name} {text}"),
            _ => write!(f, "{name}: {}", self.value),
        }
    }
}

/// The value below these keys.
#[must_use]
pub fn at<'a>(settings: &'a Value, keys: &[impl AsRef<str>]) -> Option<&'a Value> {
    keys.iter().try_fold(settings, |value, key| value.get(key.as_ref()))
}

/// Removes entries from settings, and leaves the objects and lists around them.
pub fn take_out(settings: &mut Value, entries: &[SettingsEntry]) {
    for entry in entries {
        let Some((last, above)) = entry.keys.split_last() else { continue };
        let object = above.iter().try_fold(&mut *settings, |value, key| value.get_mut(key));
        let Some(object) = object.and_then(Value::as_object_mut) else { continue };
        match object.get_mut(last) {
            Some(Value::Array(list)) if entry.in_list => list.retain(|value| *value != entry.value),
            Some(value) if !entry.in_list && *value == entry.value => drop(object.remove(last)),
            _ => {}
        }
    }
}

/// The texts of a list.
pub fn texts<'a>(settings: &'a Value, keys: &[&str]) -> impl Iterator<Item = &'a str> + use<'a> {
    at(settings, keys).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
