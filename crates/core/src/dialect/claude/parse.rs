//! Payloads: the facts that can be read before parsing, the client that sent it, and its fields.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::dialect::other_clients;
use crate::event::{EventKind, Subject};

/// The facts in a payload about its registration.
#[derive(Clone, Debug, Default)]
pub struct CallFields {
    /// The value that Claude Code compares with the matcher, for events that we register with one.
    pub subject: Option<String>,
    pub session_id: Option<String>,
}

impl CallFields {
    #[must_use]
    pub fn read(event: EventKind, input: &[u8]) -> CallFields {
        #[derive(Deserialize)]
        struct CallPayload {
            tool_name: Option<String>,
            file_path: Option<String>,
            session_id: Option<String>,
        }
        let Ok(CallPayload { tool_name, file_path, session_id }) = serde_json::from_slice(input) else {
            return CallFields::default();
        };
        let name_of = |path: String| path.rsplit('/').next().map(str::to_owned);
        let subject = match event.row().subject {
            Subject::Field("tool_name") => tool_name,
            Subject::File(_) => file_path.and_then(name_of),
            _ => None,
        };
        CallFields { subject, session_id }
    }
}

/// The event that a hook in an agent's file gets: a `Stop` there is the agent's own.
#[must_use]
pub fn delivered(event: EventKind, input: &[u8]) -> EventKind {
    #[derive(Deserialize)]
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

/// Whether this is a payload of Claude Code, complete or not. It has `hook_event_name` and `session_id`, or one of them and no
/// field with another client's name for them.
#[must_use]
pub fn is_own(fields: &Map<String, Value>) -> bool {
    let has = |name: &str| fields.contains_key(name);
    match (has("hook_event_name"), has("session_id")) {
        (true, true) => true,
        (false, false) => false,
        _ => !other_clients::is_named_otherwise(fields),
    }
}

/// The payload fields that commands can use as variables, by event.
pub mod fields {
    use crate::event::{EventKind, Example, Field, Subject, Values};

    /// The fields of every payload, and those of many.
    pub const COMMON: &[&str] =
        &["session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode"];

    /// The fields of the event that are text, a number or a flag, in addition to the common ones.
    pub fn own(event: EventKind) -> impl Iterator<Item = &'static str> {
        let is_value = |field: &&Field| !matches!(field.example, Some(Example::List | Example::Map));
        let names = event.row().fields.iter().filter(is_value).map(|field| field.name);
        names.filter(|name| !COMMON.contains(name))
    }

    /// The field with the file of an event without a tool.
    pub const FILE_PATH: &str = "file_path";

    /// Whether the event is about one tool.
    #[must_use]
    pub fn has_tool(event: EventKind) -> bool {
        event.row().subject == Subject::Field("tool_name")
    }

    /// The values of the field that patterns of the event's section are compared with, and whether these are all.
    #[must_use]
    pub fn values(event: EventKind) -> Option<(&'static [&'static str], bool)> {
        match event.row().values {
            Values::Any => None,
            Values::Known(values) => Some((values, false)),
            Values::Only(values) => Some((values, true)),
        }
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
