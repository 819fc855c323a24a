//! Qwen Code, as observed in version 0.24.4.

use super::agents::{AgentCallLink, AgentFacts};
use super::answer::{
    AnswerForms, ChangedInputForm, ContextForm, DenialForm, FeedbackForm, PermissionForm, RefusalExit,
};
use super::tool::McpSpelling;
use super::{AskSupport, Dialect, Fields, LogLines, ProjectFolder, take_model_content, text};
use crate::event::EventKind;

mod events;
mod settings;
mod tools;

pub const DIALECT: Dialect = Dialect {
    name: "qwen",
    title: "Qwen Code",
    events: events::EVENTS,
    missing: events::MISSING,
    sends,
    fields: &[],
    tools: tools::TOOLS,
    mcp: McpSpelling::Ours,
    complete,
    ignores,
    project: ProjectFolder::Variable,
    agents: AgentFacts { is_named_at_start: true, call: AgentCallLink::Id(call_id), ..AgentFacts::IN_FILES },
    asking: AskSupport::Always,
    changes_input: false,
    types_unseen: false,
    log: LogLines::OnRequest,
    render: |reply| FORMS.render(reply),
    settings: settings::SETTINGS,
};

const FORMS: AnswerForms = AnswerForms {
    refusal: RefusalExit::Blocked,
    denial: DenialForm::Permission,
    permission: PermissionForm::Nested,
    context: ContextForm::Nested,
    feedback: FeedbackForm::Context,
    changed_input: ChangedInputForm::Impossible,
    failure_denies: &[],
};

/// What comes between the type of an agent and the id of its call, in the agent's id.
const CALL: &str = "-call_";

fn sends(fields: &Fields) -> bool {
    fields.contains_key("timestamp") && fields.contains_key("permission_mode")
}

fn complete(event: EventKind, fields: &mut Fields) -> EventKind {
    take_model_content(fields);
    // The other id is of no use: agents are named after this one.
    if let Some(id) = fields.get("tool_call_id").cloned() {
        fields.insert("tool_use_id".into(), id);
    }
    if let Some(id) = text(fields, "agent_id").map(str::to_owned) {
        if let Some(name) = name_in(&id)
            && text(fields, "agent_type").is_none()
        {
            fields.insert("agent_type".into(), name.into());
        }
        if let Some(own) = own_transcript(fields, &id) {
            fields.insert("agent_transcript_path".into(), own.into());
        }
    }
    event
}

/// The id of an agent is its type and the id of its call.
fn name_in(agent_id: &str) -> Option<&str> {
    agent_id.rsplit_once(CALL).map(|(name, _)| name)
}

fn call_id(agent_id: &str) -> Option<&str> {
    agent_id.get(name_in(agent_id)?.len() + 1..)
}

/// The subagent's transcript: `…/subagents/<session>/agent-<agent>.jsonl` beside `…/chats/<session>.jsonl`. In the foreground the
/// payload names the main one instead.
fn own_transcript(fields: &Fields, agent_id: &str) -> Option<String> {
    let main = text(fields, "transcript_path")?;
    match text(fields, "agent_transcript_path") {
        Some(own) if own != main => return Some(own.to_owned()),
        _ => {}
    }
    let (folder, file) = main.rsplit_once('/')?;
    let session = file.strip_suffix(".jsonl")?;
    let is_safe = !agent_id.contains(['/', '\\', '\0']) && !agent_id.contains("..");
    let project = folder.strip_suffix("/chats")?;
    if is_safe { Some(format!("{project}/subagents/{session}/agent-{agent_id}.jsonl")) } else { None }
}

/// After each round of tools a prompt fires that is empty.
fn ignores(event: EventKind, fields: &Fields) -> Option<&'static str> {
    if event == EventKind::UserPromptSubmit && text(fields, "prompt").is_none() {
        Some("the prompt is empty")
    } else {
        None
    }
}
