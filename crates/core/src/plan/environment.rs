//! The environment of commands: `CONCLAUDE_` and the name of a payload's field in capitals.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::Facts;
use super::step::Variable;
use crate::dialect::claude::fields::{self, COMMON};
use crate::dialect::claude::prompt::slash_command;
use crate::dialect::claude::tools;
use crate::event::{self, EventKind};
use crate::types::HookPayload;

pub const PREFIX: &str = "CONCLAUDE_";

/// The changed files of a command with `files`, one per line.
pub const FILES: &str = "CONCLAUDE_FILES";

/// Fields whose variables have other names.
const RENAMED: [(&str, &str); 4] = [
    ("hook_event_name", "HOOK_EVENT"),
    ("prompt", "USER_PROMPT"),
    ("agent_type", "SUBAGENT_TYPE"),
    ("subagent_type", "SUBAGENT_TYPE"),
];

/// Variables that are not only fields of a payload, and the meaning of their values.
pub const OWN: [(&str, &str); 22] = [
    ("SUBAGENT_NAME", "The subagent's name: its type, else its id, else `unknown`."),
    ("SUBAGENT_TYPE", "The subagent's type, where it is known."),
    ("AGENT_ID", "The subagent's id."),
    ("AGENT_TRANSCRIPT_PATH", "The subagent's transcript."),
    ("AGENT_NAME", "As `CONCLAUDE_SUBAGENT_NAME`, for scripts of conclaude 0.2."),
    ("SKILL_NAME", "As `CONCLAUDE_SUBAGENT_NAME`, for scripts of conclaude 0.2."),
    ("CLIENT", "The client that called: `claude`, `codex`, `copilot`, `qwen` or `gemini`."),
    ("CLIENT_TOOL_NAME", "The tool's name in that client, where it differs from Claude Code's."),
    ("CONFIG_DIR", "The folder of the project's config; without one, of your own."),
    ("COMMAND_ID", "Marks the processes of one command, so that a timeout finds all of them."),
    ("FILES", "The changed files that `files` covers, one per line."),
    ("FILE_PATH", "The file of the tool call."),
    ("COMMAND", "The shell command of the tool call."),
    ("TOOL_INPUT", "The whole input of the tool, as JSON."),
    ("TOOL_OUTPUT", "The whole answer of the tool, as JSON."),
    ("TOOL_TIMESTAMP", "When this command was started."),
    ("COMMAND_NAME", "The slash command of the prompt, without the slash."),
    ("COMMAND_ARGS", "What follows the slash command."),
    ("DES_STEP_FILE", "The marker `DES-STEP-FILE` of a gated agent."),
    ("DES_AGENT", "The marker `DES-AGENT` of a gated agent."),
    ("DES_COMMAND", "The marker `DES-COMMAND` of a gated agent."),
    ("DES_PROJECT_ID", "The marker `DES-PROJECT-ID` of a gated agent."),
];

/// The markers of a gated agent.
const MARKERS: [&str; 4] = ["DES_STEP_FILE", "DES_AGENT", "DES_COMMAND", "DES_PROJECT_ID"];

/// When the command was started, at events of a tool.
pub const TOOL_TIMESTAMP: &str = "CONCLAUDE_TOOL_TIMESTAMP";

/// Other names of variables, for scripts that were written for conclaude 0.2.
const AGENT_ALIASES: [&str; 2] = ["AGENT_NAME", "SKILL_NAME"];
const WORKTREE_ALIAS: &str = "WORKTREE_NAME";

/// Variables that configure conclaude itself, or are set for each process. No payload may set them.
const RESERVED: [&str; 5] = ["TOOL_TIMESTAMP", "LOG", "NOTIFY_WAIT_MS", "COMMAND_ID", "FILES"];

/// The variables of commands, and a warning for each invalid one. A variable of ours without a value is removed, so that commands
/// do not inherit it from an outer hook.
pub(super) fn environment(facts: &Facts<'_>, is_gated: bool) -> (Vec<Variable>, Vec<String>) {
    let mut env: Vec<Variable> = Vec::new();
    let mut warnings = Vec::new();
    for (name, value) in own_values(facts, is_gated).into_iter().chain(of_payload(facts)) {
        if env.iter().any(|(given, _)| *given == name) {
            continue;
        }
        let (value, warning) = fit(&name, value);
        warnings.extend(warning);
        env.push((name, value));
    }
    for (name, field) in JSON {
        let (value, warning) = json(name, facts.event.fields.get(field));
        warnings.extend(warning);
        env.extend(value.map(|value| (format!("{PREFIX}{name}"), Some(value))));
    }
    let is_given = |name: &String| env.iter().any(|(given, _)| given == name);
    let inherited: Vec<&String> =
        facts.inherited.unwrap_or_default().iter().filter(|name| !is_given(name)).collect();
    if !inherited.is_empty() {
        let known = known();
        env.extend(
            inherited.into_iter().filter(|name| known.contains(*name)).map(|name| (name.clone(), None)),
        );
    }
    (env, warnings)
}

/// Fields that are passed completely, as JSON: half of one would be useless.
const JSON: [(&str, &str); 2] = [("TOOL_INPUT", "tool_input"), ("TOOL_OUTPUT", "tool_response")];

fn json(name: &str, value: Option<&Value>) -> (Option<String>, Option<String>) {
    let Some(text) = value.filter(|value| !value.is_null()).map(Value::to_string) else {
        return (None, None);
    };
    if text.len() <= MAX_VALUE {
        return (Some(text), None);
    }
    let warning = format!("{PREFIX}{name} is left out: it has {} bytes; stdin has it whole", text.len());
    (None, Some(warning))
}

/// Values that are not in the payload under this name.
fn own_values(facts: &Facts<'_>, is_gated: bool) -> Vec<(String, String)> {
    let agent = facts.agent.or(facts.caller);
    let markers = match facts.gate {
        Some(gate) if is_gated => gate.markers.clone(),
        _ => Default::default(),
    };
    let [step_file, marked_agent, command, project_id] = markers;
    let input = facts.event.fields.get("tool_input").and_then(Value::as_object);
    let slash = match &facts.event.payload {
        HookPayload::UserPromptSubmit(said) => slash_command(&said.prompt),
        _ => None,
    };
    let of_input = |field: &str| Some(input?.get(field)?.as_str()?.to_owned());
    let worktree = match facts.event.kind {
        EventKind::WorktreeCreate => facts.event.fields.get("name"),
        _ => None,
    };
    let values = [
        ("CONFIG_DIR", config_dir(facts).map(|folder| folder.to_string_lossy().into_owned())),
        ("SUBAGENT_NAME", agent.map(|agent| agent.name.clone())),
        ("SUBAGENT_TYPE", agent.and_then(|agent| agent.kind.clone())),
        ("AGENT_ID", agent.and_then(|agent| agent.id.clone())),
        ("AGENT_TRANSCRIPT_PATH", agent.and_then(|agent| agent.transcript.clone())),
        ("DES_STEP_FILE", step_file),
        ("DES_AGENT", marked_agent),
        ("DES_COMMAND", command),
        ("DES_PROJECT_ID", project_id),
        ("CLIENT", Some(facts.event.client.name.to_owned())),
        ("CLIENT_TOOL_NAME", facts.event.client_tool().map(str::to_owned)),
        ("FILE_PATH", input.and_then(tools::first_file)),
        ("COMMAND", of_input(tools::COMMAND)),
        ("COMMAND_NAME", slash.map(|(name, _)| name.to_owned())),
        ("COMMAND_ARGS", slash.map(|(_, arguments)| arguments.to_owned())),
        (WORKTREE_ALIAS, worktree.and_then(Value::as_str).map(str::to_owned)),
    ];
    let aliases = AGENT_ALIASES.map(|name| (name, agent.map(|agent| agent.name.clone())));
    values
        .into_iter()
        .chain(aliases)
        .filter_map(|(name, value)| Some((format!("{PREFIX}{name}"), value?)))
        .collect()
}

/// The folder of the project's config, or that of the innermost file without one.
fn config_dir<'a>(facts: &Facts<'a>) -> Option<&'a Path> {
    let written = || facts.origins.sources().iter().rev().find(|source| !source.is_pack());
    facts.config_dir.or_else(|| written()?.path.parent())
}

/// The fields that are text, a number or a flag, including those of newer clients.
fn of_payload(facts: &Facts<'_>) -> Vec<(String, String)> {
    let scalars = facts.event.fields.iter().filter_map(|(field, value)| {
        let value = match value {
            _ if field == "tool_input" => return None,
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => return None,
        };
        Some((variable(field)?, value))
    });
    scalars.filter(|(name, value)| !(value.is_empty() && name.ends_with("TRANSCRIPT_PATH"))).collect()
}

/// The variable of a field, unless its name cannot be one.
pub fn variable(field: &str) -> Option<String> {
    let is_name = field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let name = match RENAMED.iter().find(|(renamed, _)| *renamed == field) {
        Some((_, name)) => (*name).to_owned(),
        None => field.to_ascii_uppercase(),
    };
    if is_name && !field.is_empty() && !RESERVED.contains(&name.as_str()) {
        Some(format!("{PREFIX}{name}"))
    } else {
        None
    }
}

/// The variables of an event, except those that every event has.
pub fn of_event(event: EventKind) -> Vec<String> {
    let mut names: Vec<String> = fields::own(event).filter_map(variable).collect();
    let mut add = |more: &[&str]| names.extend(more.iter().map(|name| format!("{PREFIX}{name}")));
    if fields::has_tool(event) {
        add(&["CLIENT_TOOL_NAME", "FILE_PATH", "COMMAND", "TOOL_INPUT", "TOOL_TIMESTAMP"]);
    }
    if event == EventKind::PostToolUse {
        add(&["TOOL_OUTPUT"]);
    }
    if event == EventKind::PreToolUse || event.is_of_agent() {
        add(&MARKERS);
    }
    if event.row().in_agents {
        let agent = ["AGENT_ID", "SUBAGENT_NAME", "SUBAGENT_TYPE", "AGENT_TRANSCRIPT_PATH"];
        names.extend(agent.into_iter().chain(AGENT_ALIASES).map(|name| format!("{PREFIX}{name}")));
    }
    if event == EventKind::UserPromptSubmit {
        names.extend(["COMMAND_NAME", "COMMAND_ARGS"].map(|name| format!("{PREFIX}{name}")));
    }
    if event == EventKind::WorktreeCreate {
        names.push(format!("{PREFIX}{WORKTREE_ALIAS}"));
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// The variables of all events.
pub fn of_all() -> Vec<String> {
    let common = COMMON.iter().filter_map(|field| variable(field));
    common.chain(["CONFIG_DIR", "COMMAND_ID", "CLIENT"].map(|name| format!("{PREFIX}{name}"))).collect()
}

/// Every variable that an event may have.
fn known() -> BTreeSet<String> {
    let own = OWN.iter().map(|(name, _)| format!("{PREFIX}{name}"));
    let events = event::ALL.iter().flat_map(|event| of_event(*event));
    own.chain(of_all()).chain(events).chain([FILES.to_owned()]).collect()
}

/// The kernel accepts no value with a NUL and none above 128 KiB, and the command must still start.
const MAX_VALUE: usize = 32 << 10;

pub(super) fn fit(name: &str, value: String) -> (Option<String>, Option<String>) {
    if value.contains('\0') {
        return (None, Some(format!("{name} is left out: its value contains a NUL")));
    }
    if value.len() <= MAX_VALUE {
        return (Some(value), None);
    }
    let warning = format!("{name} is cut to {MAX_VALUE} of {} bytes", value.len());
    (value.get(..value.floor_char_boundary(MAX_VALUE)).map(str::to_owned), Some(warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_be_in_an_environment_are_left_out_or_cut() {
        assert_eq!(fit("X", "a\0b".into()).0, None);
        assert_eq!(fit("X", "ok".into()), (Some("ok".into()), None));
        let (cut, warning) = fit("X", "ü".repeat(MAX_VALUE));
        assert_eq!(cut.unwrap().len(), MAX_VALUE);
        assert_eq!(warning.unwrap(), "X is cut to 32768 of 65536 bytes");
    }

    #[test]
    fn a_field_is_a_variable_unless_that_is_ours() {
        assert_eq!(variable("tool_name").unwrap(), "CONCLAUDE_TOOL_NAME");
        assert_eq!(variable("prompt").unwrap(), "CONCLAUDE_USER_PROMPT");
        for field in ["log", "command_id", "files", "a-b", "ü", ""] {
            assert_eq!(variable(field), None, "{field:?}");
        }
    }
}
