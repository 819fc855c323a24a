//! The phases of a step: the entries of its log, and their keywords.

use serde_json::Value;

use super::step::{lenient_number, lenient_text};

pub use conclaude_core::config::TDD_14;

/// The valid prefixes of a skip, each with a reason after it.
pub const SKIP_REASONS: [&str; 4] =
    ["BLOCKED_BY_DEPENDENCY:", "NOT_APPLICABLE:", "APPROVED_SKIP:", "CHECKPOINT_PENDING:"];

/// The prefix of a skip that is reported and does not block.
pub const DEFERRED: &str = "DEFERRED:";

/// Whether a command of this phase is expected to fail: a red test comes before the code that makes it green.
#[must_use]
pub fn expects_failure(phase: &str) -> bool {
    phase == "RED" || phase.starts_with("RED_")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseStatus {
    NotExecuted,
    InProgress,
    Executed,
    Skipped,
}

impl PhaseStatus {
    const ALL: [PhaseStatus; 4] =
        [PhaseStatus::NotExecuted, PhaseStatus::InProgress, PhaseStatus::Executed, PhaseStatus::Skipped];

    /// The word in step files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PhaseStatus::NotExecuted => "NOT_EXECUTED",
            PhaseStatus::InProgress => "IN_PROGRESS",
            PhaseStatus::Executed => "EXECUTED",
            PhaseStatus::Skipped => "SKIPPED",
        }
    }

    pub(super) fn named(name: &str) -> Option<PhaseStatus> {
        PhaseStatus::ALL.into_iter().find(|status| name.trim().eq_ignore_ascii_case(status.as_str()))
    }
}

/// An entry of the phase log, as far as it is valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    pub name: String,
    pub index: Option<i64>,
    /// `status` as written. `None` means NOT_EXECUTED.
    pub status: Option<String>,
    pub outcome: Option<String>,
    /// `blocked_by`: why it was skipped.
    pub blocked_by: Option<String>,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub duration_seconds: Option<f64>,
    pub turn_count: Option<f64>,
    /// Whether it carries the proof of a run.
    pub has_evidence: bool,
    /// The command that proves it, if that was the config's.
    pub proved_by: Option<String>,
}

impl Phase {
    pub(super) fn read(entry: &Value) -> Phase {
        let text = |name: &str| entry.get(name).and_then(lenient_text).filter(|text| !text.trim().is_empty());
        Phase {
            name: name_of(entry).unwrap_or_default(),
            index: entry.get("phase_index").and_then(Value::as_i64),
            status: text("status"),
            outcome: text("outcome"),
            blocked_by: text("blocked_by"),
            started_at: text("started_at"),
            ended_at: text("ended_at"),
            duration_seconds: entry.get("duration_seconds").and_then(lenient_number),
            turn_count: entry.get("turn_count").and_then(lenient_number),
            has_evidence: entry.get("evidence").is_some_and(|proof| !proof.is_null()),
            proved_by: entry.get("evidence").and_then(configured_command).map(str::to_owned),
        }
    }

    /// The status. `None` if it is unknown.
    #[must_use]
    pub fn status(&self) -> Option<PhaseStatus> {
        self.status.as_deref().map_or(Some(PhaseStatus::NotExecuted), PhaseStatus::named)
    }

    /// Whether the phase needs nothing more.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.status(), Some(PhaseStatus::Executed | PhaseStatus::Skipped))
    }

    /// The word of the outcome in capitals, without what follows a colon.
    #[must_use]
    pub fn verdict(&self) -> Option<String> {
        let word = self.outcome.as_deref()?.split(':').next()?.trim().to_ascii_uppercase();
        if word.is_empty() { None } else { Some(word) }
    }
}

/// The command of a recorded proof, if it came from the config and not from the agent.
#[must_use]
pub fn configured_command(evidence: &Value) -> Option<&str> {
    evidence.get("configured")?.as_bool().filter(|configured| *configured)?;
    evidence.get("command")?.as_str()
}

/// Whether a recorded proof is of a command that was expected to fail. It does not prove a phase that must pass.
#[must_use]
pub fn is_expected_to_fail(evidence: &Value) -> bool {
    evidence.get("expected").and_then(Value::as_str) == Some("fail")
}

pub(super) fn name_of(entry: &Value) -> Option<String> {
    entry
        .get("phase_name")
        .or_else(|| entry.get("phase"))
        .or_else(|| entry.get("name"))
        .and_then(lenient_text)
}
