//! The words around the limit on blocks.

use std::io;

use crate::text::count;

/// What Claude reads that is asked to go on.
#[must_use]
pub fn go_on(message: &str, nth: u32, max: u32) -> String {
    format!("{message}\n(conclaude: `stop.infinite`, {nth} of {max} for this prompt)")
}

/// What is shown once Claude has gone on as often as it may.
#[must_use]
pub fn gone_on(max: u32) -> String {
    let times = count(max.into(), "time");
    format!("`stop.infinite` made Claude go on {times} (maxBlocks): it may stop now")
}

/// What is shown when a block is due, but the limit is reached.
#[must_use]
pub fn allowed_despite(shown: &str, why: &str) -> String {
    format!("{shown}\nThis would have blocked, but the agent may stop: {why}.")
}

/// Why a block is not due any more.
#[must_use]
pub fn blocked_already(max: u32) -> String {
    format!("it was blocked {} already (maxBlocks)", count(max.into(), "time"))
}

#[must_use]
pub fn uncounted(error: &io::Error) -> String {
    format!("blocks cannot be counted: {error}")
}

#[must_use]
pub fn perhaps_blocked(error: &io::Error) -> String {
    format!("it may have been blocked before, and {}", uncounted(error))
}
