//! Gemini CLI, as observed in version 0.61.0. It has no events of subagents: they are read from its tools.

use super::agents::{AgentCallLink, AgentFacts, AgentsAtStop};
use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::tool::McpSpelling;
use super::{AskSupport, Dialect, Fields, LogLines, ProjectFolder, take_model_content, text};
use crate::agent::UNKNOWN;
use crate::event::EventKind;

mod events;
mod settings;
mod tools;

pub const DIALECT: Dialect = Dialect {
    name: "gemini",
    title: "Gemini CLI",
    events: events::EVENTS,
    missing: events::MISSING,
    sends,
    fields: &[("prompt_response", "last_assistant_message")],
    tools: tools::TOOLS,
    mcp: McpSpelling::Joined { prefix: "mcp_", joints: &['_'] },
    complete,
    ignores: |_, _| None,
    project: ProjectFolder::Variable,
    agents: AgentFacts {
        // We give an agent the id of its call.
        call: AgentCallLink::Id(|agent_id| Some(agent_id)),
        at_stop: AgentsAtStop::Dropped,
        ..AgentFacts::IN_FILES
    },
    // A question silently ends a run without a terminal, and no payload says whether there is one.
    asking: AskSupport::Never,
    changes_input: true,
    types_unseen: false,
    log: LogLines::Never,
    render: |reply| FORMS.render(reply),
    settings: settings::SETTINGS,
};

const FORMS: AnswerForms = AnswerForms {
    refusal: RefusalExit::Blocked,
    denial: DenialForm::Decision,
    permission: PermissionForm::Nested,
    context: ContextForm::Nested,
    feedback: FeedbackForm::Block,
    changed_input: ChangedInputForm::ToolInput,
    failure_denies: &[],
};

/// The tool by which a subagent stops. Its denial makes the subagent go on.
const STOPPING: &str = "complete_task";

/// The tool by which one is called.
const CALLING: &str = "invoke_agent";

/// Names that others have as well.
const SHARED: [&str; 3] = ["SessionStart", "SessionEnd", "Notification"];

/// A subagent says that it is done by a tool, which has its report.
fn complete(event: EventKind, fields: &mut Fields) -> EventKind {
    take_model_content(fields);
    if event != EventKind::PreToolUse || text(fields, "tool_name") != Some(STOPPING) {
        return event;
    }
    let report = fields.get("tool_input").and_then(|input| input.get("result")?.as_str()).map(str::to_owned);
    if let Some(report) = report {
        fields.insert("last_assistant_message".into(), report.into());
    }
    // No payload says which agent it is: its open call does.
    fields.entry("agent_id").or_insert_with(|| UNKNOWN.into());
    EventKind::SubagentStop
}

fn sends(fields: &Fields) -> bool {
    let has = |name: &str| fields.contains_key(name);
    let event = text(fields, "hook_event_name").unwrap_or_default();
    let is_shared = SHARED.contains(&event);
    let is_own = !is_shared && events::EVENTS.iter().any(|known| known.name == event);
    is_own || is_shared && has("timestamp") && has("transcript_path") && !has("permission_mode")
}
