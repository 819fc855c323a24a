//! From bytes to a checked payload, with errors that name the field and say what was expected.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::wire::{STRING_FIELDS, Wire};
use super::{
    HookPayload, validate_base_payload, validate_subagent_start_payload, validate_subagent_stop_payload,
};

/// Why a payload was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayloadError {
    /// Nothing came.
    Empty,
    /// It is not JSON.
    Json(String),
    /// It is JSON, but a field is missing, blank or of another type.
    Field(String),
    /// It belongs to another event than the one that was called.
    OtherEvent {
        /// The event on the command line.
        called: String,
        /// The event in the payload.
        found: String,
    },
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PayloadError::Empty => f.write_str("no payload on stdin: expected one JSON object"),
            PayloadError::Json(reason) => write!(f, "the payload is not valid JSON: {reason}"),
            PayloadError::Field(reason) => write!(f, "invalid payload: {reason}"),
            PayloadError::OtherEvent { called, found } => write!(
                f,
                "invalid payload: `hook_event_name` is {found:?}, expected {called:?}: register each event with its own name"
            ),
        }
    }
}

impl std::error::Error for PayloadError {}

impl HookPayload {
    /// Reads and checks the payload of the event that was called.
    ///
    /// # Errors
    /// Says what is wrong, and with which field.
    pub fn parse(event: &str, input: &[u8]) -> Result<HookPayload, PayloadError> {
        let input = strip_bom(input);
        if input.trim_ascii().is_empty() {
            return Err(PayloadError::Empty);
        }
        let payload: HookPayload = read(input)?.try_into().map_err(PayloadError::Field)?;
        match &payload {
            HookPayload::SubagentStart(start) => validate_subagent_start_payload(start),
            HookPayload::SubagentStop(stop) => validate_subagent_stop_payload(stop),
            other => validate_base_payload(other.base()),
        }
        .map_err(|reason| PayloadError::Field(format!("{reason}: expected a non-empty string")))?;
        let found = payload.hook_event_name();
        if found != event {
            return Err(PayloadError::OtherEvent { called: event.to_owned(), found: found.to_owned() });
        }
        Ok(payload)
    }
}

/// The input without a byte order mark.
#[must_use]
pub fn strip_bom(input: &[u8]) -> &[u8] {
    input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input)
}

/// One JSON value; what follows it is ignored.
fn first_value<'a, T: serde::Deserialize<'a>>(input: &'a [u8]) -> serde_json::Result<Option<T>> {
    serde_json::Deserializer::from_slice(input).into_iter().next().transpose()
}

fn read(input: &[u8]) -> Result<Wire, PayloadError> {
    let error = match first_value::<Wire>(input) {
        Ok(Some(wire)) => return Ok(wire),
        Ok(None) => return Err(PayloadError::Empty),
        Err(error) => error,
    };
    // The client's text may hold half a surrogate pair or a byte that is not UTF-8, wherever it cut a string.
    // That is no reason to refuse the event.
    let mended = mend(input);
    if let Ok(Some(wire)) = first_value::<Wire>(&mended) {
        return Ok(wire);
    }
    match first_value::<Value>(&mended) {
        Ok(Some(Value::Object(fields))) => {
            Err(PayloadError::Field(wrong_type(&fields).unwrap_or(error.to_string())))
        }
        Ok(Some(other)) => {
            Err(PayloadError::Field(format!("expected a JSON object, found {}", kind(&other))))
        }
        _ => Err(PayloadError::Json(error.to_string())),
    }
}

fn wrong_type(fields: &serde_json::Map<String, Value>) -> Option<String> {
    STRING_FIELDS.iter().find_map(|field| match fields.get(*field) {
        None | Some(Value::Null | Value::String(_)) => None,
        Some(other) => Some(format!("`{field}` is {}, expected a non-empty string", kind(other))),
    })
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(value) => format!("the number {value}"),
        Value::String(_) => "a string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// Replaces invalid UTF-8 and escapes of lone surrogates by the replacement character.
fn mend(input: &[u8]) -> Vec<u8> {
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

/// The code unit of the escape `\uXXXX` at this place.
fn surrogate(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
