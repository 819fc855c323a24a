//! Gemini CLI, as observed in version 0.61.0. It has no events of subagents: they are read from its tools.

use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::tool::McpSpelling;
use super::{Asking, Dialect, Fields, LogLines, ProjectFolder, text};

mod events;
mod tools;

pub const DIALECT: Dialect = Dialect {
    name: "gemini",
    title: "Gemini CLI",
    events: events::EVENTS,
    sends,
    fields: &[("prompt_response", "last_assistant_message")],
    tools: tools::TOOLS,
    mcp: McpSpelling::Joined { prefix: "mcp_", joints: &['_'] },
    complete: |event, _| event,
    ignores: |_, _| None,
    project: ProjectFolder::Variable,
    has_session_per_agent: false,
    // A question silently ends a run without a terminal, and no payload says whether there is one.
    asking: Asking::Never,
    types_unseen: false,
    log: LogLines::Never,
    render: |reply| FORMS.render(reply),
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

/// Names that others have as well.
const SHARED: [&str; 3] = ["SessionStart", "SessionEnd", "Notification"];

fn sends(fields: &Fields) -> bool {
    let has = |name: &str| fields.contains_key(name);
    let event = text(fields, "hook_event_name").unwrap_or_default();
    let is_shared = SHARED.contains(&event);
    let is_own = !is_shared && events::EVENTS.iter().any(|known| known.name == event);
    is_own || is_shared && has("timestamp") && has("transcript_path") && !has("permission_mode")
}
