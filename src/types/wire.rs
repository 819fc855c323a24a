//! What may be on the wire: every field optional, both names of a renamed one, so that nulls and older or newer
//! clients are accepted and each missing field is named by us.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use super::{
    BasePayload, HookPayload, PostToolUsePayload, PreToolUsePayload, StopPayload, SubagentStartPayload,
    SubagentStopPayload, UserPromptSubmitPayload,
};

/// All fields of all payloads that conclaude reads.
#[derive(Deserialize)]
pub(super) struct Wire {
    session_id: Option<String>,
    transcript_path: Option<String>,
    hook_event_name: Option<String>,
    cwd: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    subagent_type: Option<String>,
    agent_transcript_path: Option<String>,
    // What is not required may have any type: only the expected one is taken.
    permission_mode: Option<Value>,
    stop_hook_active: Option<Value>,
    last_assistant_message: Option<Value>,
    tool_name: Option<Value>,
    tool_input: Option<Value>,
    tool_use_id: Option<Value>,
    background_tasks: Option<Value>,
    tool_response: Option<Value>,
    prompt: Option<Value>,
}

/// The fields of [`Wire`] that must be strings where they are given.
pub(super) const STRING_FIELDS: [&str; 8] = [
    "session_id",
    "transcript_path",
    "hook_event_name",
    "cwd",
    "agent_id",
    "agent_type",
    "subagent_type",
    "agent_transcript_path",
];

impl Wire {
    /// The type under either of its names; a blank one gives way to one that says something.
    fn take_type(&mut self) -> Option<String> {
        let (one, other) = (self.agent_type.take(), self.subagent_type.take());
        match one {
            Some(text) if !super::is_blank(&text) || other.is_none() => Some(text),
            _ => other,
        }
    }
}

fn required(field: &str, value: Option<String>) -> Result<String, String> {
    value.ok_or_else(|| format!("missing required field `{field}`: expected a non-empty string"))
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

impl TryFrom<Wire> for BasePayload {
    type Error = String;

    fn try_from(wire: Wire) -> Result<Self, String> {
        Ok(BasePayload {
            session_id: required("session_id", wire.session_id)?,
            transcript_path: required("transcript_path", wire.transcript_path)?,
            hook_event_name: required("hook_event_name", wire.hook_event_name)?,
            cwd: required("cwd", wire.cwd)?,
            permission_mode: text(wire.permission_mode),
        })
    }
}

impl TryFrom<Wire> for SubagentStartPayload {
    type Error = String;

    fn try_from(mut wire: Wire) -> Result<Self, String> {
        let agent_id = wire.agent_id.take();
        let kind = wire.take_type();
        let agent_transcript_path = wire.agent_transcript_path.take();
        Ok(SubagentStartPayload {
            base: wire.try_into()?,
            agent_id: required("agent_id", agent_id)?,
            subagent_type: kind.ok_or(
                "missing required field `subagent_type` (the client calls it `agent_type`): expected a non-empty string",
            )?,
            agent_transcript_path,
        })
    }
}

impl TryFrom<Wire> for SubagentStopPayload {
    type Error = String;

    fn try_from(mut wire: Wire) -> Result<Self, String> {
        Ok(SubagentStopPayload {
            agent_id: wire.agent_id.take(),
            agent_type: wire.take_type(),
            agent_transcript_path: wire.agent_transcript_path.take(),
            stop_hook_active: wire.stop_hook_active.take().and_then(|value| value.as_bool()),
            last_assistant_message: text(wire.last_assistant_message.take()),
            base: wire.try_into()?,
        })
    }
}

impl TryFrom<Wire> for PreToolUsePayload {
    type Error = String;

    fn try_from(mut wire: Wire) -> Result<Self, String> {
        Ok(PreToolUsePayload {
            agent_id: wire.agent_id.take(),
            tool_name: required("tool_name", text(wire.tool_name.take()))?,
            tool_input: match wire.tool_input.take() {
                Some(Value::Object(input)) => input,
                None | Some(Value::Null) => Map::new(),
                Some(_) => return Err("`tool_input` is not an object".into()),
            },
            tool_use_id: text(wire.tool_use_id.take()),
            base: wire.try_into()?,
        })
    }
}

impl TryFrom<Wire> for PostToolUsePayload {
    type Error = String;

    fn try_from(mut wire: Wire) -> Result<Self, String> {
        Ok(PostToolUsePayload {
            agent_id: wire.agent_id.take(),
            tool_name: required("tool_name", text(wire.tool_name.take()))?,
            tool_response: wire.tool_response.take().unwrap_or_default(),
            base: wire.try_into()?,
        })
    }
}

impl TryFrom<Wire> for UserPromptSubmitPayload {
    type Error = String;

    fn try_from(mut wire: Wire) -> Result<Self, String> {
        Ok(UserPromptSubmitPayload {
            prompt: text(wire.prompt.take()).unwrap_or_default(),
            base: wire.try_into()?,
        })
    }
}

impl TryFrom<Wire> for StopPayload {
    type Error = String;

    fn try_from(mut wire: Wire) -> Result<Self, String> {
        let background_tasks = match wire.background_tasks.take() {
            Some(Value::Array(tasks)) => Some(tasks),
            _ => None,
        };
        Ok(StopPayload { background_tasks, base: wire.try_into()? })
    }
}

impl TryFrom<Wire> for HookPayload {
    type Error = String;

    /// `hook_event_name` says which payload it is.
    fn try_from(wire: Wire) -> Result<Self, String> {
        match wire.hook_event_name.as_deref() {
            Some("SubagentStart") => wire.try_into().map(HookPayload::SubagentStart),
            Some("SubagentStop") => wire.try_into().map(HookPayload::SubagentStop),
            Some("PreToolUse") => wire.try_into().map(HookPayload::PreToolUse),
            Some("PostToolUse") => wire.try_into().map(HookPayload::PostToolUse),
            Some("UserPromptSubmit") => wire.try_into().map(HookPayload::UserPromptSubmit),
            Some("Stop") => wire.try_into().map(HookPayload::Stop),
            _ => wire.try_into().map(HookPayload::Other),
        }
    }
}

impl<'de> Deserialize<'de> for HookPayload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Wire::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}
