//! The phases of a step.

/// The fourteen phases of test-driven development, in order.
pub const TDD_14: [&str; 14] = [
    "PREPARE",
    "RED_ACCEPTANCE",
    "RED_UNIT",
    "GREEN_UNIT",
    "CHECK_ACCEPTANCE",
    "GREEN_ACCEPTANCE",
    "REVIEW",
    "REFACTOR_L1",
    "REFACTOR_L2",
    "REFACTOR_L3",
    "REFACTOR_L4",
    "POST_REFACTOR_REVIEW",
    "FINAL_VALIDATE",
    "COMMIT",
];

/// Prefixes that make a skip count, each with a reason after it.
pub const SKIP_REASONS: [&str; 4] =
    ["BLOCKED_BY_DEPENDENCY:", "NOT_APPLICABLE:", "APPROVED_SKIP:", "CHECKPOINT_PENDING:"];

/// The prefix of a skip that is told and does not block.
pub const DEFERRED: &str = "DEFERRED:";

/// Whether a command of this phase is expected to fail: a red test comes before the code that makes it green.
#[must_use]
pub fn expects_failure(phase: &str) -> bool {
    phase.starts_with("RED_")
}
