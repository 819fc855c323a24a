//! The permission modes of Claude Code.

/// Modes in which Claude Code does not ask the user.
const NOBODY_ASKED: [&str; 2] = ["dontAsk", "bypassPermissions"];

/// Whether the user can be asked in this mode.
#[must_use]
pub fn can_ask(mode: Option<&str>) -> bool {
    mode.is_none_or(|mode| !NOBODY_ASKED.contains(&mode))
}

/// Whether an agent in this mode may change files.
#[must_use]
pub fn may_write(mode: &str) -> bool {
    mode != "plan"
}
