//! Claude Code: how its payload becomes an event, and how a result becomes exit code, stdout and stderr.

use serde_json::{Map, Value};

use super::others;
use crate::decide::HookResult;
use crate::error::HookError;
use crate::event::{EventKind, Subject};
use crate::types::{Event, PayloadError};

pub mod agents;
mod answer;
pub mod events;
pub mod fields;
pub mod host;
pub mod layout;
pub mod limits;
pub mod mcp;
pub mod modes;
pub mod names;
pub mod notation;
pub mod prompt;
pub mod sample;
pub mod session;
pub mod tools;
pub mod transcript;
pub mod variables;
pub mod watched;

pub use answer::Answer;

/// Reads and checks the payload of the event that was called.
///
/// # Errors
/// Names the field and what was expected.
pub fn parse(event: EventKind, input: &[u8]) -> Result<Event, PayloadError> {
    Event::parse(event, input)
}

/// What Claude Code is answered.
#[must_use]
pub fn render(event: EventKind, result: &Result<HookResult, HookError>, log_lines: &[String]) -> Answer {
    Answer::of(event, result, log_lines)
}

/// What Claude Code compares with the matcher of a registration, for the events that we register with one.
#[must_use]
pub fn compared(event: EventKind, input: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct ComparedFields {
        tool_name: Option<String>,
        file_path: Option<String>,
    }
    let ComparedFields { tool_name, file_path } = serde_json::from_slice(input).ok()?;
    match event.row().subject {
        Subject::Field("tool_name") => tool_name,
        Subject::File(_) => file_path?.rsplit('/').next().map(str::to_owned),
        _ => None,
    }
}

/// The event that a hook in an agent's file gets: a `Stop` there is the agent's own.
#[must_use]
pub fn delivered(event: EventKind, input: &[u8]) -> EventKind {
    #[derive(serde::Deserialize)]
    struct EventField<'a> {
        hook_event_name: &'a str,
    }
    match serde_json::from_slice(input) {
        Ok(EventField { hook_event_name: "SubagentStop" }) if event == EventKind::Stop => {
            EventKind::SubagentStop
        }
        _ => event,
    }
}

/// Whether this is a payload of Claude Code, complete or not: it has `hook_event_name` and `session_id`, or one of them
/// and neither under the name of another client.
#[must_use]
pub fn is_own(fields: &Map<String, Value>) -> bool {
    let has = |name: &str| fields.contains_key(name);
    match (has("hook_event_name"), has("session_id")) {
        (true, true) => true,
        (false, false) => false,
        _ => !others::is_named_otherwise(fields),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_known_by_the_names_of_its_session_and_event() {
        let own = |text: &str| is_own(&serde_json::from_str(text).unwrap());
        assert!(own(r#"{"hook_event_name":"Stop","session_id":"s","timestamp":"t"}"#));
        assert!(own(r#"{"hook_event_name":"Stop"}"#) && own(r#"{"session_id":null}"#), "incomplete");
        assert!(!own(r#"{"hook_event_name":"Notification","sessionId":"s"}"#));
        assert!(!own(r#"{"hookName":"permissionRequest","sessionId":"s"}"#));
        assert!(!own("{}"));
    }
}
