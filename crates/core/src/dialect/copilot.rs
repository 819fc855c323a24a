//! GitHub Copilot CLI, as observed in version 1.0.102. It also runs the hooks of a project's `.claude/settings.json`.

use super::agents::{AgentCallLink, AgentFacts, AgentsAtStop};
use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::tool::McpSpelling;
use super::{AskSupport, Dialect, FieldAlias, Fields, LogLines, ProjectFolder, text};
use crate::event::EventKind;

mod events;
mod settings;
mod tools;

pub const DIALECT: Dialect = Dialect {
    name: "copilot",
    title: "Copilot",
    events: events::EVENTS,
    missing: &[],
    sends,
    fields: FIELDS,
    tools: tools::TOOLS,
    mcp: McpSpelling::Joined { prefix: "", joints: &['-', '/'] },
    complete,
    ignores,
    project: ProjectFolder::Variable,
    agents: AgentFacts {
        has_own_session: true,
        call: AgentCallLink::Prompt,
        at_stop: AgentsAtStop::Unknown,
        ..AgentFacts::IN_FILES
    },
    asking: AskSupport::Always,
    changes_input: true,
    types_unseen: false,
    log: LogLines::OnRequest,
    render: |reply| FORMS.render(reply),
    settings: settings::SETTINGS,
};

/// With exit 2 the model does not get the reason.
const FORMS: AnswerForms = AnswerForms {
    refusal: RefusalExit::Success,
    denial: DenialForm::Permission,
    permission: PermissionForm::Flat,
    context: ContextForm::Top,
    feedback: FeedbackForm::Block,
    changed_input: ChangedInputForm::Updated,
    failure_denies: &[EventKind::PreToolUse, EventKind::PermissionRequest],
};

/// Some payloads have names in camelCase, whatever the event is registered as.
const FIELDS: &[FieldAlias] = &[
    ("sessionId", "session_id"),
    ("transcriptPath", "transcript_path"),
    ("agentId", "agent_id"),
    ("agentType", "agent_type"),
    ("agentName", "agent_type"),
    ("parentAgentId", "parent_agent_id"),
    ("toolName", "tool_name"),
    ("toolInput", "tool_input"),
    ("toolArgs", "tool_input"),
    ("tool_result", "tool_response"),
    ("toolResult", "tool_response"),
    ("permissionSuggestions", "permission_suggestions"),
    ("stopHookActive", "stop_hook_active"),
    ("lastAssistantMessage", "last_assistant_message"),
    ("response", "last_assistant_message"),
    ("notificationType", "notification_type"),
];

fn sends(fields: &Fields) -> bool {
    ["timestamp", "sessionId", "hookName"].into_iter().any(|name| fields.contains_key(name))
}

/// Inside a subagent the session is the subagent's own. The session of its caller counts.
fn complete(event: EventKind, fields: &mut Fields) -> EventKind {
    if text(fields, "agent_id").is_some()
        && let Some(parent) = text(fields, "parent_agent_id").map(str::to_owned)
    {
        fields.insert("session_id".into(), parent.into());
    }
    event
}

/// Stop and UserPromptSubmit also fire inside a subagent. A block of that stop has no effect, and its SubagentStop follows.
fn ignores(event: EventKind, fields: &Fields) -> Option<&'static str> {
    text(fields, "agent_id")?;
    match event {
        EventKind::Stop => Some("it is the stop of a subagent, whose SubagentStop follows"),
        EventKind::UserPromptSubmit => Some("the prompt is the task of a subagent"),
        _ => None,
    }
}
