//! Codex CLI, as observed in version 0.169.0.

use serde_json::Value;

use super::agents::{AgentCallLink, AgentFacts, AgentsAtStop};
use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::tool::McpSpelling;
use super::{AskSupport, Dialect, Fields, LogLines, ProjectFolder, text};
use crate::event::EventKind;

mod events;
mod settings;
mod tools;
mod trust;

pub const DIALECT: Dialect = Dialect {
    name: "codex",
    title: "Codex",
    events: events::EVENTS,
    missing: &[],
    sends,
    fields: &[],
    tools: tools::TOOLS,
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
    settings: settings::SETTINGS,
};

/// An answer with a field that it does not know is void as a whole.
const FORMS: AnswerForms = AnswerForms {
    refusal: RefusalExit::Blocked,
    denial: DenialForm::Permission,
    permission: PermissionForm::Nested,
    context: ContextForm::Nested,
    feedback: FeedbackForm::Block,
    changed_input: ChangedInputForm::Allowed,
    failure_denies: &[],
};

fn sends(fields: &Fields) -> bool {
    // Claude Code has it too, with a message that is shown.
    let has_turn =
        fields.contains_key("turn_id") && text(fields, "hook_event_name") != Some("MessageDisplay");
    let transcript = text(fields, "transcript_path").and_then(|path| path.rsplit('/').next());
    has_turn || transcript.is_some_and(|name| name.starts_with("rollout-"))
}

/// Inside a subagent `transcript_path` is the subagent's own.
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
