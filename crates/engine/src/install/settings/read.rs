//! Reads a settings file: our hooks, whether they can work, and other calls of conclaude.

use std::fmt;

use jsonc_parser::parse_to_ast;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::client_schema::{self, DeadEntry};
use super::command_line::{CLIENT, CommandLine, ORIGINAL};
use super::document::options;
use conclaude_checks::guard::own_commands::NAME;
use conclaude_core::dialect::{Dialect, claude};
use conclaude_core::event::EventKind;
use conclaude_os::environment::FOLDER_VARIABLES;

/// The variable that switches every event off.
pub const SWITCH: &str = "CONCLAUDE";

/// The content of a settings file that concerns us.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Our registrations, in the order of the file.
    pub registered: Vec<Registration>,
    /// Command lines that call us too, but are not ours to change.
    pub lookalikes: Vec<String>,
    /// Entries that Claude Code cannot read.
    pub dead: Vec<DeadEntry>,
    /// The file switches all hooks off.
    pub hooks_off: bool,
    /// The variables in it that configure us, with their values, for every session that reads it.
    pub variables: Vec<(String, String)>,
    /// Plugins with our name that are switched on or off.
    pub plugins: Vec<(String, bool)>,
    /// Why Claude Code ignores the whole file: it is not JSON without comments and trailing commas, or a value has the wrong
    /// type.
    pub ignored: Option<String>,
    /// Whether it has settings whose format only Claude Code knows. If one of them is wrong, it ignores the whole file.
    pub has_unknown_settings: bool,
}

/// What a settings file of Claude Code says.
pub fn read(text: &str) -> Result<Settings, Refusal> {
    read_of(&claude::DIALECT, text)
}

/// What a settings file of a client says.
pub fn read_of(client: &Dialect, text: &str) -> Result<Settings, Refusal> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Settings::default());
    }
    let parse = |allow_comments| parse_to_ast(text, &Default::default(), &options(allow_comments));
    let parsed = parse(true).map_err(|error| Refusal(format!("the settings file is not JSON: {error}")))?;
    let json = parsed.value.map(Value::from).filter(Value::is_object);
    let json = json.ok_or_else(|| Refusal("the settings file is not a JSON object".into()))?;
    // The first parser reports comments by name. The second is as strict as the client.
    let not_json = parse(false).err().map(|error| error.to_string());
    let not_json =
        not_json.or_else(|| serde_json::from_str::<IgnoredAny>(text).err().map(|error| error.to_string()));
    let ignored = match not_json {
        _ if !client.settings.is_form_known => None,
        Some(error) => Some(format!("it is not plain JSON: {error}")),
        None => client_schema::wrong_setting(&json),
    };
    let hooks = json.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let (mut registered, mut lookalikes, mut dead) = (Vec::new(), Vec::new(), Vec::new());
    for (name, groups) in hooks {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str);
            if client.settings.is_form_known {
                dead.extend(DeadEntry::of(name, group));
            }
            let entries = hooks_of(group).filter_map(|hook| registration(client, hook, name, matcher));
            registered.extend(entries);
        }
        let hooks = groups.as_array().into_iter().flatten().flat_map(hooks_of);
        let others =
            hooks.filter(|hook| !is_ours(hook, name)).filter_map(|hook| hook.get("command")?.as_str());
        lookalikes.extend(others.filter(|command| calls_us(command, name)).map(str::to_owned));
    }
    let hooks_off = json.get("disableAllHooks") == Some(&Value::Bool(true));
    let has_unknown_settings = client.settings.is_form_known && client_schema::has_unknown_settings(&json);
    let variables = variables(&json);
    let plugins = plugins(&json);
    Ok(Settings {
        registered,
        lookalikes,
        dead,
        hooks_off,
        variables,
        plugins,
        ignored,
        has_unknown_settings,
    })
}

/// Plugins of our name, which is `conclaude@MARKETPLACE`.
fn plugins(json: &Value) -> Vec<(String, bool)> {
    let all = json.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
    let own = all.filter(|(name, _)| name.split('@').next() == Some("conclaude"));
    own.filter_map(|(name, is_on)| Some((name.clone(), is_on.as_bool()?))).collect()
}

/// A settings file as a value, with or without comments.
pub fn value_of(text: &str) -> Option<Value> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    parse_to_ast(text, &Default::default(), &options(true)).ok()?.value.map(Value::from)
}

/// Where an entry of ours is in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPosition {
    /// By the client's name for it.
    pub event: String,
    /// Among the groups of the event, and among the hooks of the group.
    pub group: usize,
    pub hook: usize,
}

/// Where our entries are in a settings file.
pub fn positions(text: &str) -> Vec<EntryPosition> {
    let json = value_of(text).unwrap_or_default();
    let mut found = Vec::new();
    for (event, groups) in json.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for (group, hooks) in groups.as_array().into_iter().flatten().enumerate() {
            let own = hooks_of(hooks).enumerate().filter(|(_, hook)| is_ours(hook, event));
            found.extend(own.map(|(hook, _)| EntryPosition { event: event.clone(), group, hook }));
        }
    }
    found
}

/// Variables by which a project can keep hooks from running: with them Claude Code starts another program, or none.
pub const STEERING: [&str; 4] =
    ["CLAUDE_CODE_SHELL_PREFIX", "DYLD_INSERT_LIBRARIES", "LD_LIBRARY_PATH", "LD_PRELOAD"];

/// Variables that choose which servers count as genuine: those that records and the judge's questions go to.
pub const AUTHORITIES: [&str; 2] = ["SSL_CERT_DIR", "SSL_CERT_FILE"];

/// Our switch, and the variables that move the user's files, choose authorities or steer hooks.
fn variables(json: &Value) -> Vec<(String, String)> {
    let set = |name: &&str| Some(((*name).to_owned(), json.get("env")?.get(name)?.as_str()?.to_owned()));
    [SWITCH].iter().chain(&FOLDER_VARIABLES).chain(&AUTHORITIES).chain(&STEERING).filter_map(set).collect()
}

/// A hook as a registration, if it is ours.
fn registration(client: &Dialect, hook: &Value, name: &str, matcher: Option<&str>) -> Option<Registration> {
    let command = hook.get("command").and_then(Value::as_str).filter(|line| is_own_command(line, name))?;
    let known = client.event(name).map(|event| event.kind);
    let event = known.or_else(|| EventKind::named_or_future(name))?;
    Some(Registration {
        event,
        name: name.to_owned(),
        matcher: matcher.map(str::to_owned),
        command: command.to_owned(),
        timeout: hook.get("timeout").and_then(Value::as_u64).unwrap_or(event.row().default_timeout),
        status: hook.get("statusMessage").and_then(Value::as_str).map(str::to_owned),
        flaw: if client.settings.is_form_known { flaw(hook, event) } else { None },
    })
}

/// Whether a command line calls us for this event among other things.
pub(super) fn calls_us(command: &str, event: &str) -> bool {
    let words: Vec<&str> = command.split(|c: char| c.is_whitespace() || "\"';|&/\\".contains(c)).collect();
    words.windows(2).any(|pair| pair == [NAME, event])
        || words.windows(3).any(|three| three == [NAME, ORIGINAL, event])
        || words.windows(4).any(|four| matches!(four, [NAME, CLIENT, _, last] if *last == event))
}

/// Why Claude Code's treatment of the entry prevents it from working.
fn flaw(hook: &Value, event: EventKind) -> Option<&'static str> {
    let is_tool = matches!(event, EventKind::PreToolUse | EventKind::PostToolUse);
    match hook {
        _ if hook.get("type").and_then(Value::as_str) != Some("command") => {
            Some("its `type` is not \"command\", so Claude Code does not run it")
        }
        _ if hook.get("async") == Some(&Value::Bool(true)) => {
            Some("`async` makes Claude Code ignore its answer")
        }
        _ if hook.get("asyncRewake") == Some(&Value::Bool(true)) => {
            Some("`asyncRewake` makes Claude Code run it in the background")
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
    /// The client's name of it.
    pub name: String,
    /// The value that the client compares before it calls. `None` calls always.
    pub matcher: Option<String>,
    pub command: String,
    /// In the client's unit.
    pub timeout: u64,
    /// The client's status message while it runs.
    pub status: Option<String>,
    /// Why the entry cannot work, in words.
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

/// Why a settings file is left unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
