//! The format that Claude Code requires for a settings file, as far as our hooks and the sandbox depend on it. A setting of the
//! wrong type makes it ignore the whole file, and one wrong entry makes it ignore every hook of that event.

use std::fmt;

use conclaude_core::dialect::claude::sandbox;
use serde_json::{Value, json};

type Check = fn(&Value) -> bool;

type Field = (&'static str, Check, &'static str);

const TEXT: &str = "a string";
const FLAG: &str = "true or false";
const OBJECT: &str = "an object";
const TEXTS: &str = "a list of strings";

/// The settings with a known format: the check, and the expected value.
const SETTINGS: [Field; 18] = [
    ("$schema", Value::is_string, TEXT),
    ("hooks", Value::is_object, OBJECT),
    ("env", Value::is_object, OBJECT),
    ("permissions", is_permissions, "an object of lists"),
    ("disableAllHooks", Value::is_boolean, FLAG),
    ("sandbox", Value::is_object, OBJECT),
    ("model", Value::is_string, TEXT),
    ("outputStyle", Value::is_string, TEXT),
    ("language", Value::is_string, TEXT),
    ("apiKeyHelper", Value::is_string, TEXT),
    ("includeCoAuthoredBy", Value::is_boolean, FLAG),
    ("respectGitignore", Value::is_boolean, FLAG),
    ("alwaysThinkingEnabled", Value::is_boolean, FLAG),
    ("spinnerTipsEnabled", Value::is_boolean, FLAG),
    ("enableAllProjectMcpServers", Value::is_boolean, FLAG),
    ("enabledMcpjsonServers", is_texts, TEXTS),
    ("disabledMcpjsonServers", is_texts, TEXTS),
    ("cleanupPeriodDays", is_count, "a number of days"),
];

/// Like `SETTINGS`, for `sandbox` and its objects.
const SANDBOX: [Field; 7] = [
    ("enabled", Value::is_boolean, FLAG),
    ("failIfUnavailable", Value::is_boolean, FLAG),
    ("allowUnsandboxedCommands", Value::is_boolean, FLAG),
    ("autoAllowBashIfSandboxed", Value::is_boolean, FLAG),
    ("excludedCommands", is_texts, TEXTS),
    ("filesystem", Value::is_object, OBJECT),
    ("network", Value::is_object, OBJECT),
];
const FILESYSTEM: [Field; 4] = [
    ("allowRead", is_texts, TEXTS),
    ("allowWrite", is_texts, TEXTS),
    ("denyRead", is_texts, TEXTS),
    ("denyWrite", is_texts, TEXTS),
];
const NETWORK: [Field; 3] = [
    ("allowedDomains", is_texts, TEXTS),
    ("deniedDomains", is_texts, TEXTS),
    ("allowLocalBinding", Value::is_boolean, FLAG),
];

/// Like `SETTINGS`, for `permissions`.
const PERMISSIONS: [Field; 6] = [
    ("allow", Value::is_array, "a list"),
    ("ask", Value::is_array, "a list"),
    ("deny", Value::is_array, "a list"),
    ("additionalDirectories", is_texts, TEXTS),
    ("defaultMode", is_mode, "a permission mode"),
    ("disableBypassPermissionsMode", is_disable, "\"disable\""),
];

/// Objects in the settings, with their fields of known format.
const OBJECTS: [(&[&str], &[Field]); 5] = [
    (&[], &SETTINGS),
    (&["sandbox"], &SANDBOX),
    (&["sandbox", "filesystem"], &FILESYSTEM),
    (&["sandbox", "network"], &NETWORK),
    (&["permissions"], &PERMISSIONS),
];

const MODES: [&str; 6] = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"];

struct HookType {
    name: &'static str,
    needed: &'static [&'static str],
    /// Its fields, with the check and the expected value. Unknown fields are accepted.
    fields: &'static [Field],
}

/// The fields of every hook.
const FIELDS: [Field; 4] = [
    ("statusMessage", Value::is_string, TEXT),
    ("if", Value::is_string, TEXT),
    ("timeout", is_above_zero, "a number above 0"),
    ("once", Value::is_boolean, FLAG),
];
const PROMPT: Field = ("prompt", Value::is_string, TEXT);
const MODEL: Field = ("model", Value::is_string, TEXT);
const ON_FAILURE: Field = ("onFailure", is_on_failure, "\"continue\" or \"block\"");

/// One wrong field in one hook makes Claude Code ignore all hooks of the event.
const TYPES: [HookType; 5] = [
    HookType {
        name: "command",
        needed: &["command"],
        fields: &[
            ("command", Value::is_string, TEXT),
            ("args", is_texts, TEXTS),
            ("shell", is_shell, "\"bash\" or \"powershell\""),
            ("async", Value::is_boolean, FLAG),
            ("asyncRewake", Value::is_boolean, FLAG),
            ("rewakeMessage", is_filled, "a string that is not empty"),
            ("rewakeSummary", is_filled, "a string that is not empty"),
            ON_FAILURE,
        ],
    },
    HookType {
        name: "prompt",
        needed: &["prompt"],
        fields: &[PROMPT, MODEL, ("continueOnBlock", Value::is_boolean, FLAG)],
    },
    HookType { name: "agent", needed: &["prompt"], fields: &[PROMPT, MODEL] },
    HookType {
        name: "http",
        needed: &["url"],
        fields: &[
            ("url", is_url, "a URL"),
            ("headers", is_headers, "an object of strings"),
            ("allowedEnvVars", is_texts, TEXTS),
            ON_FAILURE,
        ],
    },
    HookType {
        name: "mcp_tool",
        needed: &["server", "tool"],
        fields: &[
            ("server", Value::is_string, TEXT),
            ("tool", Value::is_string, TEXT),
            ("input", Value::is_object, OBJECT),
        ],
    },
];

fn is_on_failure(value: &Value) -> bool {
    matches!(value.as_str(), Some("continue" | "block"))
}

fn is_filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn is_headers(value: &Value) -> bool {
    value.as_object().is_some_and(|headers| headers.values().all(Value::is_string))
}

/// A URL with a host. Other URLs that Claude Code may accept are not worth a hook.
fn is_url(value: &Value) -> bool {
    let rest =
        value.as_str().and_then(|url| url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let is_known = |c: char| c.is_ascii_alphanumeric() || ".-:_@[]".contains(c);
    !host.is_empty() && host.chars().all(is_known)
}

fn is_permissions(value: &Value) -> bool {
    let is_right = |(name, value): (&String, &Value)| match name.as_str() {
        "allow" | "ask" | "deny" | "additionalDirectories" => value.is_array(),
        "defaultMode" => value.is_string(),
        _ => true,
    };
    value.as_object().is_some_and(|object| object.iter().all(is_right))
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

fn is_count(value: &Value) -> bool {
    value.as_u64().is_some_and(|count| count > 0)
}

fn is_mode(value: &Value) -> bool {
    value.as_str().is_some_and(|mode| MODES.contains(&mode))
}

fn is_disable(value: &Value) -> bool {
    value.as_str() == Some("disable")
}

fn is_above_zero(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number > 0.0)
}

fn is_shell(value: &Value) -> bool {
    matches!(value.as_str(), Some("bash" | "powershell"))
}

/// The setting that makes Claude Code ignore the file, in words.
pub(super) fn wrong_setting(settings: &Value) -> Option<String> {
    // Later versions may have more modes.
    let certain = OBJECTS.iter().filter(|(keys, _)| *keys != ["permissions"]);
    certain.into_iter().find_map(|(keys, fields)| wrong_of(settings, keys, fields))
}

/// Why Claude Code may ignore the file: a wrong setting, or one with an unknown format.
pub fn doubt(settings: &Value) -> Option<String> {
    let wrong = || OBJECTS.iter().find_map(|(keys, fields)| wrong_of(settings, keys, fields));
    let unknown = || {
        OBJECTS.iter().find_map(|(keys, fields)| {
            let object = sandbox::at(settings, keys).and_then(Value::as_object)?;
            let is_unknown = |name: &&String| !fields.iter().any(|(known, ..)| known == name);
            let name = object.keys().find(is_unknown)?;
            Some(format!("what `{}` must be is not known", dotted(keys, name)))
        })
    };
    let is_dead = |groups: &Value| {
        groups.as_array().is_none_or(|groups| groups.iter().any(|group| problem(group).is_some()))
    };
    let dead = || {
        let (event, _) = settings.get("hooks")?.as_object()?.iter().find(|(_, groups)| is_dead(groups))?;
        Some(format!("`hooks.{event}` has an entry that it cannot read"))
    };
    wrong().or_else(unknown).or_else(dead)
}

fn wrong_of(settings: &Value, keys: &[&str], fields: &[Field]) -> Option<String> {
    let (name, wanted) = wrong_field(sandbox::at(settings, keys)?, fields)?;
    Some(format!("`{}` must be {wanted}", dotted(keys, name)))
}

fn dotted(keys: &[&str], name: &str) -> String {
    keys.iter().map(|key| format!("{key}.")).chain([name.to_owned()]).collect()
}

/// Whether the file has settings with an unknown format, or that may be wrong.
pub(super) fn has_unknown_settings(settings: &Value) -> bool {
    OBJECTS.iter().any(|(keys, fields)| {
        let object = sandbox::at(settings, keys).and_then(Value::as_object).into_iter().flatten();
        let is_unknown = |name: &String| !fields.iter().any(|(known, ..)| known == name);
        object.into_iter().any(|(name, _)| is_unknown(name)) || wrong_of(settings, keys, fields).is_some()
    })
}

/// The first wrong field, and its expected value.
fn wrong_field(object: &Value, fields: &[Field]) -> Option<(&'static str, &'static str)> {
    let wrong =
        fields.iter().find(|(name, is_right, _)| object.get(name).is_some_and(|value| !is_right(value)));
    wrong.map(|(name, _, wanted)| (*name, *wanted))
}

/// An entry that Claude Code cannot read. Because of it, no hook of the event is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadEntry {
    pub event: String,
    /// What is wrong with it.
    problem: String,
    /// The correct form, if it is known.
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
    let name = hook.get("type").and_then(Value::as_str).unwrap_or_default();
    let Some(kind) = TYPES.iter().find(|kind| kind.name == name) else {
        return Some("with a hook that has no known `type`".into());
    };
    if let Some(needed) = kind.needed.iter().find(|needed| hook.get(**needed).is_none()) {
        return Some(format!("with a hook that has no `{needed}`"));
    }
    let wrong = wrong_field(hook, &FIELDS).or_else(|| wrong_field(hook, kind.fields));
    wrong.map(|(name, wanted)| format!("with a hook whose `{name}` must be {wanted}"))
}

/// The entry in its correct form.
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
