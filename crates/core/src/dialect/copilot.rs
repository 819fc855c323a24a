//! GitHub Copilot CLI. It also runs the hooks of a project's `.claude/settings.json`.

use super::{Dialect, Fields, text};
use crate::event::EventKind;

mod tools;

pub const DIALECT: Dialect =
    Dialect { name: "copilot", title: "Copilot", sends, ignores, tools: tools::TOOLS };

fn sends(fields: &Fields) -> bool {
    ["timestamp", "sessionId", "hookName"].into_iter().any(|name| fields.contains_key(name))
}

/// A Stop also fires inside a subagent, where a block has no effect. Its SubagentStop follows.
fn ignores(event: EventKind, fields: &Fields) -> Option<&'static str> {
    if event == EventKind::Stop && text(fields, "agent_id").is_some() {
        Some("it is the stop of a subagent, whose SubagentStop follows")
    } else {
        None
    }
}
