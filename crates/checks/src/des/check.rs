//! Checks whether a step file proves that the work is done. All rules are checked and all findings returned at once.

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::phases::{DEFERRED, SKIP_REASONS};
use super::step::{Phase, PhaseStatus, Step};
use conclaude_core::finding::{Code, Finding};

/// Checks a step against the list of phases.
#[must_use]
pub fn check(step: &Step, phases: &[String]) -> Vec<Finding> {
    check_by(step, step, phases)
}

/// Like `check`, but the workflow and the limits are those of the version of the step that Gate 1 saw.
#[must_use]
pub fn check_by(rules: &Step, step: &Step, phases: &[String]) -> Vec<Finding> {
    let mut found = Vec::new();
    let log = if rules.has_phases() { step.phases().unwrap_or_default() } else { Vec::new() };
    let phases = if rules.has_phases() { phases } else { &[] };
    fit(&log, phases, &mut found);
    check_order(&log, phases, &mut found);
    let nothing_ran =
        !log.is_empty() && log.iter().all(|phase| phase.status() == Some(PhaseStatus::NotExecuted));
    if nothing_ran {
        found.push(Finding::new(
            Code::SilentCompletion,
            "every phase is NOT_EXECUTED: nothing was recorded",
            "do the work and record each phase, or set state.status to FAILED with a failure_reason",
        ));
    }
    for phase in &log {
        outcome(phase, nothing_ran, phases.last(), &mut found);
    }
    limits(rules, &log, &mut found);
    state(step, &log, phases, &mut found);
    if step.is_honest_failure() {
        // A gate that punishes an admitted failure teaches agents to fake success.
        let forgiven =
            [Code::StateMismatch, Code::FailedPhase, Code::IncompletePhase, Code::SilentCompletion];
        found.retain(|finding| !forgiven.contains(&finding.code));
    }
    found
}

fn fit(log: &[Phase], phases: &[String], found: &mut Vec<Finding>) {
    for known in phases {
        match log.iter().filter(|phase| phase.name == *known).count() {
            0 => found.push(
                Finding::new(
                    Code::MissingPhase,
                    "it is not in phase_execution_log",
                    "record it; do not remove phases",
                )
                .in_phase(known),
            ),
            1 => {}
            n => found.push(
                Finding::new(Code::DuplicatePhase, format!("it is in the log {n} times"), "keep one entry")
                    .in_phase(known),
            ),
        }
    }
    for phase in log {
        if !phases.contains(&phase.name) {
            let fix = format!("use the names of the list: {}", phases.join(", "));
            found.push(Finding::new(Code::UnknownPhase, "there is no such phase", fix).in_phase(&phase.name));
        }
        if phase.status().is_none() {
            let what = format!("its status is {:?}", phase.status.as_deref().unwrap_or_default());
            let fix = "use NOT_EXECUTED, IN_PROGRESS, EXECUTED or SKIPPED";
            found.push(Finding::new(Code::UnknownStatus, what, fix).in_phase(&phase.name));
        }
    }
}

fn outcome(phase: &Phase, nothing_ran: bool, last: Option<&String>, found: &mut Vec<Finding>) {
    let mut note =
        |code, what: String, fix: &str| found.push(Finding::new(code, what, fix).in_phase(&phase.name));
    match phase.status() {
        None => {}
        Some(PhaseStatus::NotExecuted) if nothing_ran => {}
        Some(PhaseStatus::NotExecuted) => note(
            Code::IncompletePhase,
            "it is NOT_EXECUTED while others ran".into(),
            "do it and record it, or skip it with a valid reason",
        ),
        Some(PhaseStatus::InProgress) => {
            note(
                Code::AbandonedPhase,
                "it is still IN_PROGRESS".into(),
                "finish it: EXECUTED with PASS or FAIL, or SKIPPED",
            );
        }
        Some(PhaseStatus::Executed) => {
            let word = phase.verdict();
            match word.as_deref() {
                None => {
                    note(Code::MissingOutcome, "it is EXECUTED without an outcome".into(), "say PASS or FAIL")
                }
                Some("PASS") => {}
                Some("FAIL") => note(
                    Code::FailedPhase,
                    format!("its outcome is {}", phase.outcome.as_deref().unwrap_or_default()),
                    "fix what failed and record the phase again, or set state.status to FAILED with a failure_reason",
                ),
                Some(_) => {
                    let what = format!("its outcome is {:?}", phase.outcome.as_deref().unwrap_or_default());
                    note(Code::InvalidOutcome, what, "say PASS or FAIL; words may follow after a colon");
                }
            }
        }
        Some(PhaseStatus::Skipped) => skip(phase, last, &mut note),
    }
    if phase.status() == Some(PhaseStatus::Skipped) && is_deferred(phase) && Some(&phase.name) != last {
        let what = format!("it was put off: {}", phase.blocked_by.as_deref().unwrap_or_default());
        found.push(
            Finding::new(Code::DeferredSkip, what, "make sure that it is done later")
                .in_phase(&phase.name)
                .warning(),
        );
    }
}

fn is_deferred(phase: &Phase) -> bool {
    phase.blocked_by.as_deref().is_some_and(|reason| has_reason(reason, DEFERRED))
}

fn has_reason(text: &str, prefix: &str) -> bool {
    text.trim_start().strip_prefix(prefix).is_some_and(|rest| !rest.trim().is_empty())
}

fn skip(phase: &Phase, last: Option<&String>, note: &mut impl FnMut(Code, String, &str)) {
    if Some(&phase.name) == last {
        note(Code::InvalidSkip, "the last phase cannot be skipped".into(), "do it and record it");
        return;
    }
    let reason = phase.blocked_by.as_deref().unwrap_or_default();
    if !SKIP_REASONS.iter().any(|prefix| has_reason(reason, prefix)) && !is_deferred(phase) {
        let what = if reason.is_empty() {
            "it is SKIPPED without blocked_by".into()
        } else {
            format!("blocked_by is {reason:?}")
        };
        let fix = format!("start blocked_by with {} and give a reason", SKIP_REASONS.join(", "));
        note(Code::InvalidSkip, what, &fix);
    }
}

fn limits(rules: &Step, log: &[Phase], found: &mut Vec<Finding>) {
    if let Some(max) = rules.max_turns() {
        for phase in log {
            if let Some(turns) = phase.turn_count.filter(|turns| *turns > max) {
                let fix = "split the step, or let the user raise max_turns and call the agent again; if you are done for now, `conclaude des fail --partial`";
                let what = format!("it took {turns} turns of {max}");
                found.push(Finding::new(Code::TurnLimitExceeded, what, fix).in_phase(&phase.name));
            }
        }
    }
    if let Some(minutes) = rules.allowance_minutes() {
        let spent: f64 = log.iter().filter_map(|phase| phase.duration_seconds).sum::<f64>() / 60.0;
        if spent > minutes {
            let what = format!("the phases took {spent:.1} minutes of {minutes}");
            let fix = "let the user grant more time in total_extensions_minutes and call the agent again; or `conclaude des fail --partial`";
            found.push(Finding::new(Code::TimeoutExceeded, what, fix));
        }
    }
}

fn state(step: &Step, log: &[Phase], phases: &[String], found: &mut Vec<Finding>) {
    let all_finished =
        phases.iter().all(|known| log.iter().any(|phase| phase.name == *known && phase.is_finished()));
    let state = step.state();
    if all_finished && state != "DONE" {
        let what = format!("all phases are finished, but state.status is {state}");
        let fix = "set state.status to DONE; `conclaude des finish` does it by itself. If it failed, FAILED with a failure_reason";
        found.push(Finding::new(Code::StateMismatch, what, fix));
    }
}

/// A phase of the list, with its position there.
type RankedPhase<'a> = (usize, &'a Phase);

fn check_order(log: &[Phase], phases: &[String], found: &mut Vec<Finding>) {
    let rank = |phase: &Phase| phases.iter().position(|known| *known == phase.name);
    let known: Vec<RankedPhase<'_>> = log.iter().filter_map(|phase| Some((rank(phase)?, phase))).collect();
    positions(&known, found);
    indices(&known, found);
    times(&known, found);
}

fn order_finding(phase: &Phase, what: String, fix: &str) -> Finding {
    Finding::new(Code::PhaseOrder, what, fix).in_phase(&phase.name)
}

fn positions(known: &[RankedPhase<'_>], found: &mut Vec<Finding>) {
    for pair in known.windows(2) {
        if let [(before, earlier), (after, later)] = pair
            && after < before
        {
            let what = format!("it comes after {}", earlier.name);
            found.push(order_finding(later, what, "keep the order of the list"));
        }
    }
}

fn indices(known: &[RankedPhase<'_>], found: &mut Vec<Finding>) {
    // Files count from 0 or from 1, but each file in one way.
    let first = known.iter().find_map(|(rank, phase)| Some(phase.index? - i64::try_from(*rank).ok()?));
    let offset = first.filter(|offset| matches!(offset, 0 | 1)).unwrap_or(0);
    for (rank, phase) in known {
        let expected = i64::try_from(*rank).unwrap_or(i64::MAX).saturating_add(offset);
        if let Some(index) = phase.index.filter(|index| *index != expected) {
            let what = format!("its phase_index is {index}, expected {expected}");
            found.push(order_finding(phase, what, "do not change phase_index"));
        }
    }
}

fn times(known: &[RankedPhase<'_>], found: &mut Vec<Finding>) {
    // The latest end so far, among times with a zone and among those without.
    let mut latest: [Option<(PhaseTime, &str)>; 2] = [None, None];
    for (_, phase) in known {
        let read = |time: &Option<String>| time.as_deref().and_then(PhaseTime::read);
        let started = read(&phase.started_at);
        let is_early = |ended: &PhaseTime| started.as_ref().is_some_and(|time| time.is_before(ended));
        if let Some((_, earlier)) = latest.iter().flatten().find(|(ended, _)| is_early(ended)) {
            let what = format!("it started before {earlier} had ended");
            let fix = "do one phase after the other; `conclaude des` takes the times from the clock";
            found.push(order_finding(phase, what, fix));
        }
        if let Some(ended) = read(&phase.ended_at)
            && let [zoned, civil] = &mut latest
        {
            let slot = if matches!(ended, PhaseTime::Zoned(_)) { zoned } else { civil };
            if slot.as_ref().is_none_or(|(last, _)| last.is_before(&ended)) {
                *slot = Some((ended, &phase.name));
            }
        }
    }
}

/// A time with a zone or without one; the two cannot be compared.
enum PhaseTime {
    Zoned(Timestamp),
    Civil(DateTime),
}

impl PhaseTime {
    fn read(text: &str) -> Option<PhaseTime> {
        let text = text.trim();
        text.parse().map(PhaseTime::Zoned).or_else(|_| text.parse().map(PhaseTime::Civil)).ok()
    }

    fn is_before(&self, other: &PhaseTime) -> bool {
        match (self, other) {
            (PhaseTime::Zoned(a), PhaseTime::Zoned(b)) => a < b,
            (PhaseTime::Civil(a), PhaseTime::Civil(b)) => a < b,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
