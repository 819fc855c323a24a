//! What the payloads of Claude Code hold that a command can use as a variable, event by event.

use crate::event::{EventKind, Example, Field, Subject, Values};

/// The fields that every payload has, and those that many have.
pub const COMMON: &[&str] =
    &["session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode"];

/// The fields of the event that are text, a number or a flag, beside the common ones.
pub fn own(event: EventKind) -> impl Iterator<Item = &'static str> {
    let is_value = |field: &&Field| !matches!(field.example, Some(Example::List | Example::Map));
    let names = event.row().fields.iter().filter(is_value).map(|field| field.name);
    names.filter(|name| !COMMON.contains(name))
}

/// The field that names the file which an event without a tool is about.
pub const FILE_PATH: &str = "file_path";

/// Whether the event is about one tool.
#[must_use]
pub fn has_tool(event: EventKind) -> bool {
    event.row().subject == Subject::Field("tool_name")
}

/// The values of the field that patterns of the event's section are compared with, and whether there are no others.
#[must_use]
pub fn values(event: EventKind) -> Option<(&'static [&'static str], bool)> {
    match event.row().values {
        Values::Any => None,
        Values::Known(values) => Some((values, false)),
        Values::Only(values) => Some((values, true)),
    }
}
