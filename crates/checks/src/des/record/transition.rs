//! Which changes of a phase are allowed, given the others.

use serde_json::Value;

use crate::des::phases::{DEFERRED, SKIP_REASONS};
use crate::des::step::{Phase, PhaseStatus, configured_command};

/// What is recorded of a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum PhaseChange {
    Start,
    Finish {
        pass: bool,
        details: Option<String>,
        turns: Option<i64>,
        /// What was run for it.
        evidence: Option<Value>,
    },
    /// It was executed already, and is now proved.
    Prove {
        pass: bool,
        details: String,
        /// What was run for it.
        evidence: Value,
        /// What it was proved by is lost.
        again: bool,
    },
    Skip {
        /// Starts with one of the prefixes that count.
        reason: String,
    },
}

/// A phase that is about to change.
pub(super) struct Transition<'a> {
    pub(super) log: &'a [Phase],
    pub(super) phases: &'a [String],
    /// The position of the phase in the list.
    pub(super) rank: usize,
    pub(super) name: &'a str,
    pub(super) phase: &'a Phase,
    pub(super) change: &'a PhaseChange,
}

impl Transition<'_> {
    /// The error says what to do instead.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.is_repair()? {
            return Ok(());
        }
        if let PhaseChange::Skip { reason } = self.change {
            self.check_skip(reason)?;
        }
        if matches!(self.change, PhaseChange::Finish { .. }) {
            return Ok(());
        }
        self.check_earlier()
    }

    /// Whether an executed phase gets what it lacks, whatever the others say. An error if its status does not allow the change.
    fn is_repair(&self) -> Result<bool, String> {
        let Transition { name, phase, change, .. } = self;
        let status =
            phase.status().ok_or_else(|| format!("{name} has an unknown status: fix the step file"))?;
        match (change, status) {
            (PhaseChange::Prove { evidence, .. }, _)
                if can_be_proved(phase, configured_command(evidence)) =>
            {
                Ok(true)
            }
            (PhaseChange::Prove { again: true, .. }, PhaseStatus::Executed) => Ok(true),
            // A phase without a verdict can be finished again, whoever wrote it.
            (PhaseChange::Finish { .. }, PhaseStatus::Executed) if !is_good(phase) && !has_failed(phase) => {
                Ok(true)
            }
            (_, PhaseStatus::Executed) if is_good(phase) => Err(format!("{name} is EXECUTED already")),
            (_, PhaseStatus::Skipped) if is_good(phase) => Err(format!("{name} is SKIPPED already")),
            (PhaseChange::Start, PhaseStatus::InProgress) => {
                Err(format!("{name} is IN_PROGRESS already: finish it"))
            }
            (PhaseChange::Finish { .. } | PhaseChange::Prove { .. }, status)
                if status != PhaseStatus::InProgress =>
            {
                Err(format!("{name} was not started: `conclaude des start` comes first"))
            }
            _ => Ok(false),
        }
    }

    fn check_skip(&self, reason: &str) -> Result<(), String> {
        if self.rank + 1 == self.phases.len() {
            return Err(format!("{} is the last phase, which cannot be skipped", self.name));
        }
        if !is_reason(reason) {
            let list: Vec<&str> = SKIP_REASONS.iter().chain([&DEFERRED]).copied().collect();
            return Err(format!("the reason must start with one of {} and say why", list.join(", ")));
        }
        Ok(())
    }

    /// All phases before this one are finished, and no other is in progress.
    fn check_earlier(&self) -> Result<(), String> {
        let name = self.name;
        for earlier in self.phases.iter().take(self.rank) {
            match self.log.iter().find(|phase| phase.name == *earlier) {
                Some(phase) if is_good(phase) => {}
                Some(phase) if has_failed(phase) => {
                    return Err(format!("{earlier} failed: fix it and record it again before {name}"));
                }
                _ => return Err(format!("{earlier} comes before {name} and is not finished")),
            }
        }
        let open = self
            .log
            .iter()
            .find(|phase| phase.name != name && phase.status() == Some(PhaseStatus::InProgress));
        match open {
            Some(other) => Err(format!("{} is IN_PROGRESS: finish it before {name}", other.name)),
            None => Ok(()),
        }
    }
}

fn has_failed(phase: &Phase) -> bool {
    phase.status() == Some(PhaseStatus::Executed) && phase.verdict().as_deref() == Some("FAIL")
}

/// Whether a phase is finished in a way that the gate accepts.
pub(super) fn is_good(phase: &Phase) -> bool {
    match phase.status() {
        Some(PhaseStatus::Skipped) => phase.blocked_by.as_deref().is_some_and(is_reason),
        Some(PhaseStatus::Executed) => phase.verdict().as_deref() == Some("PASS"),
        _ => false,
    }
}

fn is_reason(reason: &str) -> bool {
    let counts =
        |prefix: &&str| reason.trim_start().strip_prefix(*prefix).is_some_and(|rest| !rest.trim().is_empty());
    SKIP_REASONS.iter().chain([&DEFERRED]).any(counts)
}

/// Whether a phase can be proved after the fact: it was executed, and nothing shows that it really was, or only another
/// command than the one that counts.
#[must_use]
pub fn can_be_proved(phase: &Phase, counts: Option<&str>) -> bool {
    let by_another = counts.is_some() && phase.proved_by.as_deref() != counts;
    phase.status() == Some(PhaseStatus::Executed)
        && (!phase.has_evidence || by_another || !is_good(phase))
        && !has_failed(phase)
}
