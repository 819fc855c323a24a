//! How sessions of Claude Code start.

/// Whether a SessionStart with this `source` is of a session that goes on: it was compacted or cleared.
pub fn goes_on(source: &str) -> bool {
    matches!(source, "compact" | "clear")
}
