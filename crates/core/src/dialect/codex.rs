//! Codex CLI, as observed in version 0.169.0.

use serde_json::Value;

use super::agents::{AgentCallLink, AgentFacts, AgentsAtStop};
use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};
use super::tool::{McpSpelling, Tool};
use super::{AskSupport, ClientEvent, Dialect, Fields, LogLines, ProjectFolder, effect, text};
use crate::event::{EventKind, Row};

mod trust;

pub const DIALECT: Dialect = Dialect {
    name: "codex",
    title: "Codex",
    events: EVENTS,
    missing: &[],
    sends,
    fields: &[],
    tools: TOOLS,
    mcp: McpSpelling::Ours,
    complete,
    ignores: |_, _| None,
    project: ProjectFolder::Process,
    agents: AgentFacts {
        call: AgentCallLink::TaskName(task_name),
        at_stop: AgentsAtStop::Dropped,
        ..AgentFacts::IN_FILES
    },
    // `ask` is unsupported, and the tool runs.
    asking: AskSupport::Never,
    changes_input: true,
    // `write_stdin` fires no event.
    types_unseen: true,
    log: LogLines::OnRequest,
    render: |reply| FORMS.render(reply),
    settings: SETTINGS,
};

/// It ignores a whole answer if it does not know one of its fields.
const FORMS: AnswerForms = AnswerForms {
    refusal: RefusalExit::Blocked,
    denial: DenialForm::Permission,
    permission: PermissionForm::Nested,
    context: ContextForm::Nested,
    feedback: FeedbackForm::Block,
    changed_input: ChangedInputForm::Allowed,
    failure_denies: &[],
};

const EVENTS: &[ClientEvent] = &[
    ClientEvent::same("SessionStart", EventKind::SessionStart).with_context().shown(),
    ClientEvent::same("SessionEnd", EventKind::SessionEnd).shown().noted("a hook gets 3 seconds"),
    ClientEvent::same("UserPromptSubmit", EventKind::UserPromptSubmit)
        .with_context()
        .shown()
        .blocked(effect::REJECTED),
    ClientEvent::same("PreToolUse", EventKind::PreToolUse)
        .with_context()
        .shown()
        .blocked(effect::DENIED)
        .noted("`ask` is a denial; what is typed into a running program (`write_stdin`) fires no event"),
    ClientEvent::same("PostToolUse", EventKind::PostToolUse)
        .with_context()
        .shown()
        .blocked(effect::READ_INSTEAD),
    ClientEvent::same("PermissionRequest", EventKind::PermissionRequest)
        .shown()
        .blocked(effect::NOT_PERMITTED)
        .noted("with a terminal only"),
    ClientEvent::same("SubagentStart", EventKind::SubagentStart).with_context().shown(),
    ClientEvent::same("SubagentStop", EventKind::SubagentStop)
        .shown()
        .blocked(effect::GOES_ON)
        .noted("agents that still run when the main thread stops are dropped without it: Stop reports them"),
    ClientEvent::same("Stop", EventKind::Stop).shown().blocked(effect::GOES_ON),
    ClientEvent::same("PreCompact", EventKind::PreCompact).shown(),
    ClientEvent::same("PostCompact", EventKind::PostCompact).shown(),
    ClientEvent::own(&Row { name: "PreModelRequest", section: "preModelRequest", ..Row::OF_CLIENT }),
    ClientEvent::own(&Row { name: "Interrupt", section: "interrupt", ..Row::OF_CLIENT })
        .noted("a hook gets 3 seconds"),
];

const TOOLS: &[Tool] = &[
    Tool::new(&["Bash"], "Bash", &[]),
    // The patch is in the field of the command.
    Tool::new(&["apply_patch"], "Edit", &[("command", "patch")]),
    Tool::new(&["view_image"], "Read", &[("path", "file_path")]),
    Tool::new(
        &["collaborationspawn_agent"],
        "Agent",
        &[("message", "prompt"), ("agent_type", "subagent_type"), ("task_name", "name")],
    ),
];

/// The files with hooks. `config.toml` also contains the user's trust: we never write it.
const SETTINGS: HookSettings = HookSettings {
    project: ".codex/hooks.json",
    local: None,
    user: UserSettings { variable: Some("CODEX_HOME"), folder: ".codex", file: "hooks.json" },
    others: &[".codex/config.toml"],
    version: None,
    // Longer timeouts are cut, with a warning.
    timeouts: HookTimeouts::Fixed { usual: 3_600, short: &[("SessionEnd", 3), ("Interrupt", 3)] },
    review: Some(
        "Codex skips hooks that were not reviewed, without a message: start `codex` here and trust them (`/hooks`); again after each change",
    ),
    // Since 0.169.0 also with --dangerously-bypass-hook-trust.
    folder_trust: None,
    runs_claudes: false,
    is_form_known: false,
    is_enforcing: false,
    conditions: HookConditions { trust: Some(trust::TRUST), ..HookConditions::NONE },
};

fn sends(fields: &Fields) -> bool {
    // Claude Code has it too, with a message that is shown.
    let has_turn =
        fields.contains_key("turn_id") && text(fields, "hook_event_name") != Some("MessageDisplay");
    let transcript = text(fields, "transcript_path").and_then(|path| path.rsplit('/').next());
    has_turn || transcript.is_some_and(|name| name.starts_with("rollout-"))
}

/// Inside a subagent, `transcript_path` is that of the subagent.
fn complete(event: EventKind, fields: &mut Fields) -> EventKind {
    if text(fields, "agent_id").is_some()
        && text(fields, "agent_transcript_path").is_none()
        && let Some(own) = fields.get("transcript_path").cloned()
    {
        fields.insert("agent_transcript_path".into(), own);
    }
    event
}

/// The last part of the agent's path is the name of its task.
fn task_name(first_line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(first_line).ok()?;
    let spawned = line.pointer("/payload/source/subagent/thread_spawn/agent_path")?;
    spawned.as_str()?.rsplit('/').next().map(str::to_owned)
}
