//! From a client's payload to an event with our names.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::tool::{self, ToolNames};
use super::{Dialect, FieldAlias, Fields, HookCall};
use crate::event::{EventKind, Shape};
use crate::types::{Event, PayloadError};

/// Fields that are texts. A value of another type is ignored.
const TEXTS: [&str; 7] =
    ["session_id", "transcript_path", "cwd", "agent_id", "agent_type", "agent_transcript_path", "tool_name"];

/// A payload with an event and a session is complete: other missing fields are not an error.
pub(super) fn event(
    client: &'static Dialect,
    call: &HookCall,
    mut fields: Fields,
) -> Result<Event, PayloadError> {
    rename(&mut fields, client.fields);
    for name in TEXTS {
        if fields.get(name).is_some_and(|value| !value.is_string()) {
            fields.remove(name);
        }
    }
    if !super::text(&fields, "cwd").is_some_and(|cwd| cwd.starts_with('/'))
        && let Some(directory) = &call.directory
    {
        fields.insert("cwd".into(), directory.as_str().into());
    }
    let called = client.event(call.event.name()).map_or(call.event, |event| event.kind);
    let tool = tool::translate(client, &mut fields);
    let kind = (client.complete)(called, &mut fields);
    // The event in the call counts, whatever the payload says.
    fields.insert("hook_event_name".into(), kind.name().into());
    fill(kind, &mut fields);
    Ok(Event { client, called, client_event: call.event.name(), tool, ..Event::of(kind, fields)? })
}

/// Adds the fields that every payload of the event must have.
fn fill(kind: EventKind, fields: &mut Fields) {
    let required: &[(&str, &str)] = match kind.row().payload {
        Shape::SubagentStart => {
            &[("transcript_path", UNKNOWN), ("agent_id", UNKNOWN), ("agent_type", UNKNOWN)]
        }
        Shape::SubagentStop => &[("transcript_path", UNKNOWN)],
        Shape::PreToolUse | Shape::PostToolUse => &[("tool_name", "")],
        _ => &[],
    };
    for (name, value) in required {
        fields.entry(*name).or_insert_with(|| Value::from(*value));
    }
    if kind == EventKind::PreToolUse
        && super::text(fields, "tool_use_id").is_none()
        && let Some(id) = call_id(fields)
    {
        fields.insert("tool_use_id".into(), id.into());
    }
    if fields.get("tool_input").is_some_and(|input| !input.is_object()) {
        fields.remove("tool_input");
    }
}

/// The id of a call without one: its time, and its input, because several calls may start at the same time.
fn call_id(fields: &Fields) -> Option<String> {
    let time = fields.get("timestamp")?.to_string();
    let mut hasher = DefaultHasher::new();
    fields.get("tool_input").map(ToString::to_string).hash(&mut hasher);
    Some(format!("at-{}-{:08x}", time.trim_matches('"'), hasher.finish() as u32))
}

const UNKNOWN: &str = "unknown";

/// Gives fields our names. A field that already has our name stays.
pub(super) fn rename(fields: &mut Fields, names: &[FieldAlias]) -> Vec<FieldAlias> {
    let mut renamed = Vec::new();
    for (theirs, ours) in names {
        if fields.get(*ours).is_none_or(Value::is_null)
            && let Some(value) = fields.remove(*theirs)
        {
            fields.insert((*ours).to_owned(), value);
            renamed.push((*theirs, *ours));
        }
    }
    renamed
}

impl Event {
    /// This event with another tool input, with the client's names or ours.
    ///
    /// # Errors
    /// Names the field and what was expected.
    pub fn with_tool_input(&self, input: &Fields) -> Result<Event, PayloadError> {
        let mut input = input.clone();
        rename(&mut input, &self.tool.renamed);
        self.with([("tool_input", input.into())])
    }

    /// This event with other fields.
    ///
    /// # Errors
    /// Names the field and what was expected.
    pub fn with<const N: usize>(&self, changed: [(&str, Value); N]) -> Result<Event, PayloadError> {
        let mut fields = self.fields.clone();
        fields.extend(changed.map(|(name, value)| (name.to_owned(), value)));
        let Event { client, called, client_event, ref tool, .. } = *self;
        let tool = ToolNames::clone(tool);
        Ok(Event { client, called, client_event, tool, ..Event::of(self.kind, fields)? })
    }

    /// One of our events as if the client had sent it. Tools may have the client's names.
    ///
    /// # Errors
    /// Names the field and what was expected.
    pub fn sample(
        client: &'static Dialect,
        kind: EventKind,
        mut fields: Fields,
    ) -> Result<Event, PayloadError> {
        if !client.is_translated() {
            return Event::of(kind, fields);
        }
        let row = client.row(kind);
        let called = match row.and_then(|row| row.tool) {
            Some(_) => EventKind::PreToolUse,
            None => kind,
        };
        let client_event = row.map_or(kind.name(), |row| row.name);
        let tool = tool::translate(client, &mut fields);
        Ok(Event { client, called, client_event, tool, ..Event::of(kind, fields)? })
    }

    /// The start of the agent that this event calls.
    ///
    /// # Errors
    /// Names the field and what was expected.
    pub fn start_of_agent(&self, id: &str, name: &str) -> Result<Event, PayloadError> {
        let common = ["session_id", "transcript_path", "cwd", "timestamp"];
        let common =
            common.into_iter().filter_map(|name| Some((name.to_owned(), self.fields.get(name)?.clone())));
        let kind = EventKind::SubagentStart;
        let own = [("hook_event_name", kind.name()), ("agent_id", id), ("agent_type", name)];
        let mut fields: Fields =
            common.chain(own.map(|(name, value)| (name.to_owned(), value.into()))).collect();
        fill(kind, &mut fields);
        Ok(Event {
            client: self.client,
            called: kind,
            client_event: self.client_event,
            ..Event::of(kind, fields)?
        })
    }
}
