//! Sample payloads: missing fields are filled in as Claude Code would.

use serde_json::{Map, Value, json};

use super::{fields, tools};
use crate::event::{EventKind, Example};

/// The default agent, for events that need one.
pub const AGENT: &str = "general-purpose";

/// The session in which `doctor` calls the hook.
pub const TRIAL_SESSION: &str = "conclaude-doctor";

const AGENT_ID: &str = "a0000000000000000";

/// The given parts of a sample event.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    pub event: EventKind,
    pub session: &'a str,
    pub cwd: &'a str,
    pub agent: Option<&'a str>,
    pub tool: Option<&'a str>,
    pub tool_input: Map<String, Value>,
    /// These override the filled-in fields.
    pub fields: Map<String, Value>,
}

impl Sample<'_> {
    #[must_use]
    pub fn payload(&self) -> Map<String, Value> {
        let mut payload = Map::new();
        let mut put = |name: &str, value: Value| {
            payload.insert(name.to_owned(), value);
        };
        let transcript = format!("{}/.claude/{}.jsonl", self.cwd.trim_end_matches('/'), self.session);
        put("session_id", self.session.into());
        put("transcript_path", transcript.clone().into());
        put("cwd", self.cwd.into());
        put("hook_event_name", self.event.name().into());
        let default_agent = if self.event.is_of_agent() { Some(AGENT) } else { None };
        if let Some(agent) = self.agent.or(default_agent)
            && self.event.row().in_agents
        {
            put("agent_id", AGENT_ID.into());
            put("agent_type", agent.into());
        }
        for (name, value) in required_fields(self.event, self.cwd) {
            put(name, value);
        }
        if fields::has_tool(self.event) {
            put("permission_mode", "default".into());
            put("tool_name", self.tool.unwrap_or(tools::SHELL).into());
            put("tool_input", Value::Object(self.tool_input.clone()));
        }
        payload.extend(self.fields.clone());
        payload
    }
}

/// The fields of the event that Claude Code always sends.
fn required_fields(event: EventKind, cwd: &str) -> impl Iterator<Item = (&'static str, Value)> {
    event.row().fields.iter().filter_map(move |field| {
        let value = match field.example? {
            Example::Text(text) => text.into(),
            Example::Number(number) => number.into(),
            Example::Flag(flag) => flag.into(),
            Example::List => json!([]),
            Example::Map => json!({}),
            Example::Cwd => cwd.into(),
        };
        Some((field.name, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ALL, Subject};

    #[test]
    fn every_event_has_a_payload_that_can_be_read() {
        for event in ALL {
            let sample = Sample {
                event: *event,
                session: "s",
                cwd: "/p",
                agent: None,
                tool: None,
                tool_input: Map::new(),
                fields: Map::new(),
            };
            let payload = Value::Object(sample.payload()).to_string();
            let parsed = super::super::parse(*event, payload.as_bytes());
            assert!(parsed.is_ok(), "{event}: {:?}", parsed.err());
            let compared = match event.row().subject {
                Subject::Field(field) | Subject::File(field) => field,
                Subject::Agent => "agent_type",
                Subject::Nothing => "session_id",
            };
            assert!(sample.payload().get(compared).is_some(), "{event} has no {compared}");
        }
    }
}
