//! Gemini CLI.

use super::{Dialect, Fields, text};
use crate::event::EventKind;

pub const DIALECT: Dialect = Dialect { name: "gemini", title: "Gemini CLI", sends, ignores, tools: &[] };

fn ignores(_: EventKind, _: &Fields) -> Option<&'static str> {
    None
}

/// The names that only Gemini CLI has.
const OWN: [&str; 8] = [
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "PreCompress",
];

/// Names that others have as well.
const SHARED: [&str; 3] = ["SessionStart", "SessionEnd", "Notification"];

fn sends(fields: &Fields) -> bool {
    let has = |name: &str| fields.contains_key(name);
    let event = text(fields, "hook_event_name").unwrap_or_default();
    OWN.contains(&event)
        || SHARED.contains(&event) && has("timestamp") && has("transcript_path") && !has("permission_mode")
}
