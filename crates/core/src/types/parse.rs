//! From bytes to a validated payload, with errors that name the field and what was expected.

use std::borrow::Cow;

use serde_json::{Map, Value};
use thiserror::Error;

use super::wire::{Wire, describe};
use super::{
    HookPayload, validate_identity, validate_subagent_start_payload, validate_subagent_stop_payload,
};
use crate::dialect::tool::ToolNames;
use crate::dialect::{Dialect, claude};
use crate::event::EventKind;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PayloadError {
    #[error("no payload on stdin: expected one JSON object")]
    Empty,
    #[error("the payload is not valid JSON: {0}")]
    Json(String),
    /// Claude Code may have sent it: a model writes the input of a tool.
    #[error("the payload is nested too deeply to be read")]
    TooDeep,
    /// A field is missing, blank or of the wrong type.
    #[error("invalid payload: {0}")]
    Field(String),
    #[error(
        "invalid payload: `hook_event_name` is {found:?}, expected {called:?}: register each event with its own name"
    )]
    OtherEvent { called: String, found: String },
}

/// An event with its typed payload and all fields of the JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub kind: EventKind,
    /// The client that sent it.
    pub client: &'static Dialect,
    /// Our event for the client's event. `kind` may be another one that it stands for.
    pub called: EventKind,
    /// The client's name for it.
    pub client_event: &'static str,
    pub tool: ToolNames,
    pub payload: HookPayload,
    pub fields: Map<String, Value>,
}

impl Event {
    /// Reads and checks the payload of the event that was called.
    ///
    /// # Errors
    /// Names the field and what was expected.
    pub fn parse(kind: EventKind, input: &[u8]) -> Result<Event, PayloadError> {
        Event::of(kind, read(strip_bom(input))?.0)
    }

    /// Like `parse`, for a payload of Claude Code that is already parsed.
    ///
    /// # Errors
    /// Names the field and what was expected.
    pub fn of(kind: EventKind, fields: Map<String, Value>) -> Result<Event, PayloadError> {
        let wire = Wire(fields);
        let payload = check(kind.name(), &wire)?;
        Ok(Event {
            kind,
            client: &claude::DIALECT,
            called: kind,
            client_event: kind.name(),
            tool: ToolNames::default(),
            payload,
            fields: wire.0,
        })
    }
}

impl Event {
    /// Changes its session.
    pub fn set_session(&mut self, id: String) {
        self.fields.insert("session_id".into(), id.as_str().into());
        self.payload.base_mut().session_id = id;
    }

    /// The tool of the event, with the client's name.
    #[must_use]
    pub fn client_tool(&self) -> Option<&str> {
        let ours = || self.fields.get("tool_name").and_then(Value::as_str);
        self.tool.client.as_deref().or_else(ours)
    }
}

impl HookPayload {
    /// Reads and checks the payload of the event with this name.
    ///
    /// # Errors
    /// Names the field and what was expected.
    pub fn parse(event: &str, input: &[u8]) -> Result<HookPayload, PayloadError> {
        check(event, &read(strip_bom(input))?)
    }
}

fn check(event: &str, wire: &Wire) -> Result<HookPayload, PayloadError> {
    let payload: HookPayload = wire.try_into()?;
    match &payload {
        HookPayload::SubagentStart(start) => validate_subagent_start_payload(start),
        HookPayload::SubagentStop(stop) => validate_subagent_stop_payload(stop),
        other => validate_identity(other.base()),
    }
    .map_err(|reason| PayloadError::Field(format!("{reason}: expected a non-empty string")))?;
    let found = payload.hook_event_name();
    if found != event {
        return Err(PayloadError::OtherEvent { called: event.to_owned(), found: found.to_owned() });
    }
    Ok(payload)
}

/// The fields of a payload of any client.
///
/// # Errors
/// If it is not a JSON object.
pub fn fields(input: &[u8]) -> Result<Map<String, Value>, PayloadError> {
    read(strip_bom(input)).map(|wire| wire.0)
}

#[must_use]
fn strip_bom(input: &[u8]) -> &[u8] {
    input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input)
}

/// One JSON value. Text after it is ignored.
fn first_value(input: &[u8]) -> serde_json::Result<Option<Value>> {
    serde_json::Deserializer::from_slice(input).into_iter().next().transpose()
}

/// Whether a text is valid JSON so far, but nested too deeply. The library has no other way to tell.
fn is_depth(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("recursion limit exceeded")
}

fn read(input: &[u8]) -> Result<Wire, PayloadError> {
    let error = match first_value(input) {
        Ok(Some(value)) => return object(value),
        Ok(None) => return Err(PayloadError::Empty),
        Err(error) if is_depth(&error) => return Err(PayloadError::TooDeep),
        Err(error) => error,
    };
    // Claude Code truncates strings, which may leave half a surrogate pair or invalid UTF-8. That is no reason to reject the
    // event.
    match first_value(&repair(input)) {
        Ok(Some(value)) => object(value),
        Err(error) if is_depth(&error) => Err(PayloadError::TooDeep),
        _ => Err(PayloadError::Json(error.to_string())),
    }
}

fn object(value: Value) -> Result<Wire, PayloadError> {
    match value {
        Value::Object(fields) => Ok(Wire(fields)),
        other => Err(PayloadError::Field(format!("expected a JSON object, found {}", describe(&other)))),
    }
}

/// Replaces invalid UTF-8 and escapes of lone surrogates with the replacement character.
fn repair(input: &[u8]) -> Vec<u8> {
    let text = match String::from_utf8_lossy(input) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    };
    let mut out = text.into_bytes();
    let mut at = 0;
    while let Some(found) = out.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += found;
        match surrogate(&out, at) {
            Some(0xD800..=0xDBFF) if matches!(surrogate(&out, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                if let Some(digits) = out.get_mut(at + 2..at + 6) {
                    digits.copy_from_slice(b"fffd");
                }
                at += 6;
            }
            _ => at += 2,
        }
    }
    out
}

/// The code unit of the escape `\uXXXX` at this position.
fn surrogate(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
