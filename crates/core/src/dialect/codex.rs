//! Codex.

use super::{Dialect, Fields, text};
use crate::event::EventKind;

pub const DIALECT: Dialect = Dialect { name: "codex", title: "Codex", sends, ignores, tools: &[] };

fn ignores(_: EventKind, _: &Fields) -> Option<&'static str> {
    None
}

fn sends(fields: &Fields) -> bool {
    // Claude Code has it too, with a message that is shown.
    let has_turn =
        fields.contains_key("turn_id") && text(fields, "hook_event_name") != Some("MessageDisplay");
    let transcript = text(fields, "transcript_path").and_then(|path| path.rsplit('/').next());
    has_turn || transcript.is_some_and(|name| name.starts_with("rollout-"))
}
