//! The payload before validation. Every field is optional, and a renamed one has both names. So nulls and other versions of
//! Claude Code are accepted, and an error names each missing field.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use thiserror::Error;

use super::PayloadError;
use super::{
    BasePayload, HookPayload, PostToolUsePayload, PreToolUsePayload, StopPayload, SubagentStartPayload,
    SubagentStopPayload, UserPromptSubmitPayload,
};
use crate::event::{EventKind, Shape};

/// What is wrong with a field.
#[derive(Debug, Error)]
pub(super) enum FieldError {
    #[error("`{field}` is {found}, expected a non-empty string")]
    Type { field: String, found: String },
    #[error("missing required field `{0}`: expected a non-empty string")]
    Missing(String),
    #[error(
        "missing required field `subagent_type` (Claude Code calls it `agent_type`): expected a non-empty string"
    )]
    MissingType,
}

impl From<FieldError> for PayloadError {
    fn from(error: FieldError) -> PayloadError {
        PayloadError::Field(error.to_string())
    }
}

/// The fields of a payload. A required one must be a string; an optional one of an unexpected type is ignored.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Wire(pub(super) Map<String, Value>);

impl Wire {
    /// A field that must be a string if it is present.
    fn string(&self, field: &str) -> Result<Option<String>, FieldError> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(FieldError::Type { field: field.to_owned(), found: describe(other) }),
        }
    }

    fn required(&self, field: &str) -> Result<String, FieldError> {
        self.string(field)?.ok_or_else(|| FieldError::Missing(field.to_owned()))
    }

    /// The common fields of all events. Only the events of a subagent need a transcript: Copilot, which runs the hooks of
    /// `.claude/settings.json` too, names none with a tool or a prompt, and refuses the tool when a hook fails.
    fn base(&self) -> Result<BasePayload, FieldError> {
        Ok(BasePayload {
            session_id: self.required("session_id")?,
            transcript_path: self.string("transcript_path")?.unwrap_or_default(),
            hook_event_name: self.required("hook_event_name")?,
            cwd: self.required("cwd")?,
            permission_mode: self.optional("permission_mode"),
        })
    }

    fn optional(&self, field: &str) -> Option<String> {
        self.0.get(field).and_then(Value::as_str).map(str::to_owned)
    }

    /// The type under either of its names. A blank one does not hide the other.
    fn agent_type(&self) -> Result<Option<String>, FieldError> {
        let (one, other) = (self.string("agent_type")?, self.string("subagent_type")?);
        Ok(match one {
            Some(text) if !super::is_blank(&text) || other.is_none() => Some(text),
            _ => other,
        })
    }
}

pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(value) => format!("the number {value}"),
        Value::String(_) => "a string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

impl TryFrom<&Wire> for BasePayload {
    type Error = FieldError;

    fn try_from(wire: &Wire) -> Result<Self, FieldError> {
        wire.required("session_id")?;
        wire.required("transcript_path")?;
        wire.base()
    }
}

impl TryFrom<&Wire> for SubagentStartPayload {
    type Error = FieldError;

    fn try_from(wire: &Wire) -> Result<Self, FieldError> {
        Ok(SubagentStartPayload {
            base: wire.try_into()?,
            agent_id: wire.required("agent_id")?,
            subagent_type: wire.agent_type()?.ok_or(FieldError::MissingType)?,
            agent_transcript_path: wire.string("agent_transcript_path")?,
        })
    }
}

impl TryFrom<&Wire> for SubagentStopPayload {
    type Error = FieldError;

    fn try_from(wire: &Wire) -> Result<Self, FieldError> {
        Ok(SubagentStopPayload {
            base: wire.try_into()?,
            agent_id: wire.string("agent_id")?,
            agent_type: wire.agent_type()?,
            agent_transcript_path: wire.string("agent_transcript_path")?,
            stop_hook_active: wire.0.get("stop_hook_active").and_then(Value::as_bool),
            last_assistant_message: wire.optional("last_assistant_message"),
            tool_use_id: wire.optional("tool_use_id"),
        })
    }
}

impl TryFrom<&Wire> for PreToolUsePayload {
    type Error = FieldError;

    fn try_from(wire: &Wire) -> Result<Self, FieldError> {
        Ok(PreToolUsePayload {
            base: wire.base()?,
            agent_id: wire.string("agent_id")?,
            tool_name: wire.required("tool_name")?,
            // Input that is not an object names nothing. Guards ask about it as about a call without its file or command.
            tool_input: wire.0.get("tool_input").and_then(Value::as_object).cloned().unwrap_or_default(),
            tool_use_id: wire.optional("tool_use_id"),
        })
    }
}

impl TryFrom<&Wire> for PostToolUsePayload {
    type Error = FieldError;

    fn try_from(wire: &Wire) -> Result<Self, FieldError> {
        Ok(PostToolUsePayload {
            base: wire.base()?,
            agent_id: wire.string("agent_id")?,
            tool_name: wire.required("tool_name")?,
            tool_response: wire.0.get("tool_response").cloned().unwrap_or_default(),
        })
    }
}

impl TryFrom<&Wire> for UserPromptSubmitPayload {
    type Error = FieldError;

    fn try_from(wire: &Wire) -> Result<Self, FieldError> {
        Ok(UserPromptSubmitPayload {
            base: wire.base()?,
            prompt: wire.optional("prompt").unwrap_or_default(),
        })
    }
}

impl TryFrom<&Wire> for StopPayload {
    type Error = FieldError;

    fn try_from(wire: &Wire) -> Result<Self, FieldError> {
        Ok(StopPayload {
            base: wire.base()?,
            stop_hook_active: wire.0.get("stop_hook_active").and_then(Value::as_bool),
            background_tasks: wire.0.get("background_tasks").and_then(Value::as_array).cloned(),
        })
    }
}

impl TryFrom<&Wire> for HookPayload {
    type Error = FieldError;

    /// `hook_event_name` says which payload it is.
    fn try_from(wire: &Wire) -> Result<Self, FieldError> {
        let name = wire.0.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
        match EventKind::named(name).map_or(Shape::Other, |event| event.row().payload) {
            Shape::SubagentStart => wire.try_into().map(HookPayload::SubagentStart),
            Shape::SubagentStop => wire.try_into().map(HookPayload::SubagentStop),
            Shape::PreToolUse => wire.try_into().map(HookPayload::PreToolUse),
            Shape::PostToolUse => wire.try_into().map(HookPayload::PostToolUse),
            Shape::UserPromptSubmit => wire.try_into().map(HookPayload::UserPromptSubmit),
            Shape::Stop => wire.try_into().map(HookPayload::Stop),
            Shape::Other => wire.base().map(HookPayload::Other),
        }
    }
}

macro_rules! deserialize_from_wire {
    ($($payload:ty),*) => {
        $(impl<'de> Deserialize<'de> for $payload {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                (&Wire::deserialize(deserializer)?).try_into().map_err(de::Error::custom)
            }
        })*
    };
}

deserialize_from_wire!(
    BasePayload,
    SubagentStartPayload,
    SubagentStopPayload,
    PreToolUsePayload,
    PostToolUsePayload,
    UserPromptSubmitPayload,
    StopPayload,
    HookPayload
);
