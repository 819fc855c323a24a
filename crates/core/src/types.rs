//! The payloads that Claude Code sends on stdin, and their validation.
//!
//! Tolerant: unknown fields, nulls and new enum values are accepted. A required field that is missing, blank or of the wrong type
//! is an error that names it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::dialect::claude::agents;
use crate::dialect::claude::layout::derived_transcript;

mod parse;
mod wire;

pub use parse::{Event, PayloadError, fields};

/// The fields that every payload has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BasePayload {
    /// The session; its subagents share it.
    pub session_id: String,
    /// The main transcript, also for events from a subagent. Empty if another client sends none.
    pub transcript_path: String,
    pub hook_event_name: String,
    pub cwd: String,
    /// `default`, `acceptEdits`, `plan`, … Some events have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubagentStartPayload {
    #[serde(flatten)]
    pub base: BasePayload,
    /// The subagent's id, unique in the session.
    pub agent_id: String,
    /// The subagent's type, which users see as its name; Claude Code calls the field `agent_type`.
    pub subagent_type: String,
    /// The subagent's transcript. Claude Code does not send it with this event: see [`HookPayload::agent_transcript`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_transcript_path: Option<String>,
}

/// A subagent says that it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubagentStopPayload {
    #[serde(flatten)]
    pub base: BasePayload,
    /// The subagent's id; older clients send none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The subagent's type; older clients send none, and compaction an empty one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_transcript_path: Option<String>,
    /// Whether a hook has already blocked this agent; older clients do not send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_hook_active: Option<bool>,
    /// The transcript may not contain it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
    /// The call that started the subagent. Claude Code's SDK passes it to callbacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
}

/// A tool is about to be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreToolUsePayload {
    #[serde(flatten)]
    pub base: BasePayload,
    /// The subagent that uses it; none on the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    pub tool_name: String,
    pub tool_input: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
}

/// A tool was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PostToolUsePayload {
    #[serde(flatten)]
    pub base: BasePayload,
    /// The subagent that used it; none on the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    pub tool_name: String,
    pub tool_response: Value,
}

/// The user, or Claude Code itself, submits a prompt to the main thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UserPromptSubmitPayload {
    #[serde(flatten)]
    pub base: BasePayload,
    pub prompt: String,
}

/// The main thread has finished its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StopPayload {
    #[serde(flatten)]
    pub base: BasePayload,
    /// Whether a hook has already blocked this stop; older clients do not send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_hook_active: Option<bool>,
    /// Older clients do not send it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_tasks: Option<Vec<Value>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum HookPayload {
    #[serde(rename = "SubagentStart")]
    SubagentStart(SubagentStartPayload),
    #[serde(rename = "SubagentStop")]
    SubagentStop(SubagentStopPayload),
    #[serde(rename = "PreToolUse")]
    PreToolUse(PreToolUsePayload),
    #[serde(rename = "PostToolUse")]
    PostToolUse(PostToolUsePayload),
    #[serde(rename = "UserPromptSubmit")]
    UserPromptSubmit(UserPromptSubmitPayload),
    #[serde(rename = "Stop")]
    Stop(StopPayload),
    /// Any other event: only the common fields are read.
    Other(BasePayload),
}

impl StopPayload {
    /// The ids of everything that still runs in the background. `None` if Claude Code does not send them.
    #[must_use]
    pub fn running(&self) -> Option<Vec<&str>> {
        let tasks = self.background_tasks.as_ref()?;
        Some(agents::running(tasks).filter_map(|task| task.id).collect())
    }

    /// The names of the agents that still run in the background. Nothing waits for a background shell.
    #[must_use]
    pub fn running_agents(&self) -> Vec<String> {
        let tasks = agents::running(self.background_tasks.as_deref().unwrap_or_default());
        let names = tasks.filter(|task| task.is_agent).filter_map(|task| task.agent_type.or(task.id));
        names.map(str::to_owned).collect()
    }
}

impl HookPayload {
    #[must_use]
    pub fn base(&self) -> &BasePayload {
        match self {
            HookPayload::SubagentStart(payload) => &payload.base,
            HookPayload::SubagentStop(payload) => &payload.base,
            HookPayload::PreToolUse(payload) => &payload.base,
            HookPayload::PostToolUse(payload) => &payload.base,
            HookPayload::UserPromptSubmit(payload) => &payload.base,
            HookPayload::Stop(payload) => &payload.base,
            HookPayload::Other(base) => base,
        }
    }

    fn base_mut(&mut self) -> &mut BasePayload {
        match self {
            HookPayload::SubagentStart(payload) => &mut payload.base,
            HookPayload::SubagentStop(payload) => &mut payload.base,
            HookPayload::PreToolUse(payload) => &mut payload.base,
            HookPayload::PostToolUse(payload) => &mut payload.base,
            HookPayload::UserPromptSubmit(payload) => &mut payload.base,
            HookPayload::Stop(payload) => &mut payload.base,
            HookPayload::Other(base) => base,
        }
    }

    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.base().session_id
    }

    #[must_use]
    pub fn transcript_path(&self) -> &str {
        &self.base().transcript_path
    }

    #[must_use]
    pub fn hook_event_name(&self) -> &str {
        &self.base().hook_event_name
    }

    #[must_use]
    pub fn cwd(&self) -> &str {
        &self.base().cwd
    }

    #[must_use]
    pub fn agent_id(&self) -> Option<&str> {
        match self {
            HookPayload::SubagentStart(payload) => Some(&payload.agent_id),
            HookPayload::SubagentStop(payload) => payload.agent_id.as_deref(),
            HookPayload::PreToolUse(payload) => payload.agent_id.as_deref(),
            HookPayload::PostToolUse(payload) => payload.agent_id.as_deref(),
            HookPayload::UserPromptSubmit(_) | HookPayload::Stop(_) | HookPayload::Other(_) => None,
        }
    }

    /// The subagent's type as the payload gives it, unless it is blank.
    #[must_use]
    pub fn agent_type(&self) -> Option<&str> {
        match self {
            HookPayload::SubagentStart(payload) => Some(payload.subagent_type.as_str()),
            HookPayload::SubagentStop(payload) => payload.agent_type.as_deref(),
            _ => None,
        }
        .filter(|name| !is_blank(name))
    }

    /// The call that started the subagent, if the payload of its stop names it.
    #[must_use]
    pub fn agent_call_id(&self) -> Option<&str> {
        match self {
            HookPayload::SubagentStop(payload) => payload.tool_use_id.as_deref().filter(|id| !is_blank(id)),
            _ => None,
        }
    }

    /// The path of the subagent's transcript: from the payload, else Claude Code's usual path.
    #[must_use]
    pub fn agent_transcript(&self) -> Option<String> {
        let given = match self {
            HookPayload::SubagentStart(payload) => payload.agent_transcript_path.as_ref(),
            HookPayload::SubagentStop(payload) => payload.agent_transcript_path.as_ref(),
            HookPayload::PreToolUse(_) => None,
            _ => return None,
        };
        match given {
            Some(path) => Some(path.clone()),
            None => derived_transcript(self.transcript_path(), self.agent_id()?),
        }
    }

    /// Whether this is certainly the first stop of the agent: no hook has blocked it before.
    #[must_use]
    pub fn is_first_stop(&self) -> bool {
        match self {
            HookPayload::SubagentStop(payload) => payload.stop_hook_active == Some(false),
            HookPayload::Stop(payload) => payload.stop_hook_active == Some(false),
            _ => false,
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

// The public functions below have the signatures of the specification for SubagentStart and SubagentStop, whose error is a text.
// The private ones follow them.

fn not_blank(field: &str, value: &str) -> Result<(), String> {
    if is_blank(value) { Err(format!("{field} cannot be empty")) } else { Ok(()) }
}

/// Checks the fields that every payload has.
///
/// # Errors
/// Names the first field that is blank.
pub fn validate_base_payload(base: &BasePayload) -> Result<(), String> {
    not_blank("session_id", &base.session_id)?;
    not_blank("transcript_path", &base.transcript_path)?;
    not_blank("hook_event_name", &base.hook_event_name)?;
    not_blank("cwd", &base.cwd)
}

/// Checks the fields that every event needs.
fn validate_identity(base: &BasePayload) -> Result<(), String> {
    not_blank("session_id", &base.session_id)?;
    not_blank("hook_event_name", &base.hook_event_name)?;
    not_blank("cwd", &base.cwd)
}

/// Checks the payload of a SubagentStart.
///
/// # Errors
/// Names the first field that is blank, those of the base first.
pub fn validate_subagent_start_payload(payload: &SubagentStartPayload) -> Result<(), String> {
    validate_base_payload(&payload.base)?;
    not_blank("agent_id", &payload.agent_id)?;
    not_blank("subagent_type", &payload.subagent_type)?;
    payload.agent_transcript_path.iter().try_for_each(|path| not_blank("agent_transcript_path", path))
}

/// Checks the payload of a SubagentStop. An empty type is not an error: compaction sends one.
///
/// # Errors
/// Names the first field that is blank, those of the base first.
pub fn validate_subagent_stop_payload(payload: &SubagentStopPayload) -> Result<(), String> {
    validate_base_payload(&payload.base)?;
    payload.agent_id.iter().try_for_each(|id| not_blank("agent_id", id))?;
    payload.agent_transcript_path.iter().try_for_each(|path| not_blank("agent_transcript_path", path))
}

#[cfg(test)]
mod tests;
