//! What a settings file has: which hooks are ours, whether they can work, and who else calls us.

use std::fmt;

use jsonc_parser::parse_to_ast;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::client_schema::{self, DeadEntry};
use super::command_line::{CommandLine, ORIGINAL};
use super::document::options;
use conclaude_core::event::EventKind;

/// The variable that switches every event off.
pub const SWITCH: &str = "CONCLAUDE";

/// What a settings file says about us.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What of ours is registered, in the order of the file.
    pub registered: Vec<Registration>,
    /// Command lines that call us too, but are not ours to change.
    pub lookalikes: Vec<String>,
    /// Entries that Claude Code cannot read.
    pub dead: Vec<DeadEntry>,
    /// The file switches all hooks off.
    pub hooks_off: bool,
    /// The variables in it that decide what we do, with their values, for every session that reads it.
    pub variables: Vec<(String, String)>,
    /// Why Claude Code ignores the whole file: it is not JSON without comments and trailing commas, or a value has the wrong type.
    pub ignored: Option<String>,
    /// It has settings whose form only Claude Code knows. If one of them is wrong, it ignores the whole file.
    pub has_unknown_settings: bool,
}

pub fn read(text: &str) -> Result<Settings, Refusal> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Settings::default());
    }
    let parse = |allow_comments| parse_to_ast(text, &Default::default(), &options(allow_comments));
    let parsed = parse(true).map_err(|error| Refusal(format!("the settings file is not JSON: {error}")))?;
    let json = parsed.value.map(Value::from).filter(Value::is_object);
    let json = json.ok_or_else(|| Refusal("the settings file is not a JSON object".into()))?;
    // The first knows the words for comments; the second is as strict as the client.
    let not_json = parse(false).err().map(|error| error.to_string());
    let not_json =
        not_json.or_else(|| serde_json::from_str::<IgnoredAny>(text).err().map(|error| error.to_string()));
    let ignored = match not_json {
        Some(error) => Some(format!("it is not plain JSON: {error}")),
        None => client_schema::wrong_setting(&json),
    };
    let hooks = json.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let (mut registered, mut lookalikes, mut dead) = (Vec::new(), Vec::new(), Vec::new());
    for (name, groups) in hooks {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str);
            dead.extend(DeadEntry::of(name, group));
            registered.extend(hooks_of(group).filter_map(|hook| registration(hook, name, matcher)));
        }
        let hooks = groups.as_array().into_iter().flatten().flat_map(hooks_of);
        let others =
            hooks.filter(|hook| !is_ours(hook, name)).filter_map(|hook| hook.get("command")?.as_str());
        lookalikes.extend(others.filter(|command| calls_us(command, name)).map(str::to_owned));
    }
    let hooks_off = json.get("disableAllHooks") == Some(&Value::Bool(true));
    let has_unknown_settings = client_schema::has_unknown_settings(&json);
    let variables = variables(&json);
    Ok(Settings { registered, lookalikes, dead, hooks_off, variables, ignored, has_unknown_settings })
}

/// Our switch, and the variables that say where the user's config and state are.
fn variables(json: &Value) -> Vec<(String, String)> {
    let set = |name: &&str| Some(((*name).to_owned(), json.get("env")?.get(name)?.as_str()?.to_owned()));
    [SWITCH, "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"].iter().filter_map(set).collect()
}

/// A hook as a registration, if it is ours.
fn registration(hook: &Value, event: &str, matcher: Option<&str>) -> Option<Registration> {
    let command = hook.get("command").and_then(Value::as_str).filter(|line| is_own_command(line, event))?;
    let event = EventKind::named_or_future(event)?;
    Some(Registration {
        event,
        matcher: matcher.map(str::to_owned),
        command: command.to_owned(),
        timeout: hook.get("timeout").and_then(Value::as_u64).unwrap_or(event.row().default_timeout),
        status: hook.get("statusMessage").and_then(Value::as_str).map(str::to_owned),
        flaw: flaw(hook, event),
    })
}

/// Whether a command line calls us for this event among other things.
pub(super) fn calls_us(command: &str, event: &str) -> bool {
    let words: Vec<&str> = command.split(|c: char| c.is_whitespace() || "\"';|&/\\".contains(c)).collect();
    words.windows(2).any(|pair| pair == ["conclaude", event])
        || words.windows(3).any(|three| three == ["conclaude", ORIGINAL, event])
}

/// What Claude Code does with the entry that keeps it from working.
fn flaw(hook: &Value, event: EventKind) -> Option<&'static str> {
    let is_tool = matches!(event.name(), "PreToolUse" | "PostToolUse");
    match hook {
        _ if hook.get("type").and_then(Value::as_str) != Some("command") => {
            Some("its `type` is not \"command\", so Claude Code does not run it")
        }
        _ if hook.get("async") == Some(&Value::Bool(true)) => {
            Some("`async` makes Claude Code ignore its answer")
        }
        _ if hook.get("if").is_some() && !is_tool => {
            Some("`if` keeps Claude Code from ever calling it at this event")
        }
        _ if hook.get("if").is_some() => {
            Some("`if` keeps Claude Code from calling it for all that is needed")
        }
        _ if hook.get("args").is_some() => Some("`args` makes Claude Code run it without a shell"),
        _ if hook.get("shell").is_some() => Some("`shell` makes Claude Code run it with another shell"),
        _ if hook.get("timeout").and_then(Value::as_f64).is_some_and(|seconds| seconds < 1.0) => {
            Some("its `timeout` is too short to answer")
        }
        _ => None,
    }
}

/// Whether a command line is one of ours, for this event.
fn is_own_command(command: &str, event: &str) -> bool {
    CommandLine::parse(command).is_some_and(|line| line.is_ours(event))
}

pub(super) fn is_ours(hook: &Value, event: &str) -> bool {
    hook.get("command").and_then(Value::as_str).is_some_and(|command| is_own_command(command, event))
}

pub(super) fn hooks_of(group: &Value) -> impl Iterator<Item = &Value> {
    group.get("hooks").and_then(Value::as_array).into_iter().flatten()
}

pub(super) const BOM: char = '\u{feff}';

/// A hook that is or should be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub event: EventKind,
    /// What Claude Code compares before it calls; none calls always.
    pub matcher: Option<String>,
    pub command: String,
    pub timeout: u64,
    /// What Claude Code shows while it runs.
    pub status: Option<String>,
    /// Something in the entry that keeps it from working, in words.
    pub flaw: Option<&'static str>,
}

impl Registration {
    /// The entry of the list of an event.
    pub(super) fn value(&self) -> Value {
        let mut hook = json!({ "type": "command", "command": self.command, "timeout": self.timeout });
        if let (Some(status), Some(hook)) = (&self.status, hook.as_object_mut()) {
            hook.insert("statusMessage".into(), status.as_str().into());
        }
        match &self.matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        }
    }
}

/// Why a settings file is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
