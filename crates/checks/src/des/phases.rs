//! The phases of a step.

pub use conclaude_core::config::TDD_14;

/// Prefixes that make a skip count, each with a reason after it.
pub const SKIP_REASONS: [&str; 4] =
    ["BLOCKED_BY_DEPENDENCY:", "NOT_APPLICABLE:", "APPROVED_SKIP:", "CHECKPOINT_PENDING:"];

/// The prefix of a skip that is reported and does not block.
pub const DEFERRED: &str = "DEFERRED:";

/// Whether a command of this phase is expected to fail: a red test comes before the code that makes it green.
#[must_use]
pub fn expects_failure(phase: &str) -> bool {
    phase == "RED" || phase.starts_with("RED_")
}
