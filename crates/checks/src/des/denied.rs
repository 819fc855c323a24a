//! Writes that Gate 2 denied. The transcript says so as well, but later than an agent stops.

use std::io;

use conclaude_store::store::Session;

fn name(tool_use_id: &str) -> String {
    format!("denied-{}", conclaude_store::store::hash(tool_use_id))
}

/// # Errors
/// When it cannot be written.
pub fn remember(session: &Session, tool_use_id: &str) -> io::Result<()> {
    session.keep(&name(tool_use_id), &tool_use_id)
}

#[must_use]
pub fn is_denied(session: &Session, tool_use_id: &str) -> bool {
    session.kept::<String>(&name(tool_use_id)).is_some()
}
