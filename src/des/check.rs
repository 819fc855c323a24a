//! Does a step file prove that the work is done? Every rule is looked at; all findings come at once.

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::findings::{Code, Finding};
use super::phases::{DEFERRED, SKIP_REASONS};
use super::step::{Phase, Status, Step};

/// Checks a step against the list of phases.
#[must_use]
pub fn check(step: &Step, phases: &[String]) -> Vec<Finding> {
    let mut found = Vec::new();
    let log = if step.has_phases() { step.phases().unwrap_or_default() } else { Vec::new() };
    let phases = if step.has_phases() { phases } else { &[] };
    fit(&log, phases, &mut found);
    order(&log, phases, &mut found);
    let nothing_ran = !log.is_empty() && log.iter().all(|phase| phase.status() == Some(Status::NotExecuted));
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
    limits(step, &log, &mut found);
    state(step, &log, phases, &mut found);
    if step.is_honest_failure() {
        // A gate that punishes an admitted failure teaches agents to fake success.
        let forgiven =
            [Code::StateMismatch, Code::FailedPhase, Code::IncompletePhase, Code::SilentCompletion];
        found.retain(|finding| !forgiven.contains(&finding.code));
    }
    found
}

/// The log fits the list.
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
                Finding::new(
                    Code::DuplicatePhase,
                    format!("it stands {n} times in the log"),
                    "keep one entry",
                )
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

fn order(log: &[Phase], phases: &[String], found: &mut Vec<Finding>) {
    let rank = |phase: &Phase| phases.iter().position(|known| *known == phase.name);
    let known: Vec<(usize, &Phase)> = log.iter().filter_map(|phase| Some((rank(phase)?, phase))).collect();
    for pair in known.windows(2) {
        if let [(before, earlier), (after, later)] = pair
            && after < before
        {
            let what = format!("it stands after {}", earlier.name);
            found.push(
                Finding::new(Code::PhaseOrder, what, "keep the order of the list").in_phase(&later.name),
            );
        }
    }
    // Files count from 0 or from 1, but each of them in one way.
    let first = known.iter().find_map(|(rank, phase)| Some(phase.index? - i64::try_from(*rank).ok()?));
    let offset = first.filter(|offset| matches!(offset, 0 | 1)).unwrap_or(0);
    for (rank, phase) in &known {
        let expected = i64::try_from(*rank).unwrap_or(i64::MAX).saturating_add(offset);
        if let Some(index) = phase.index.filter(|index| *index != expected) {
            let what = format!("its phase_index is {index}, expected {expected}");
            found.push(
                Finding::new(Code::PhaseOrder, what, "do not change phase_index").in_phase(&phase.name),
            );
        }
    }
    // The latest end so far, of times with a zone and of those without.
    let mut latest: [Option<(Time, &str)>; 2] = [None, None];
    for (_, phase) in &known {
        let read = |time: &Option<String>| time.as_deref().and_then(Time::read);
        let started = read(&phase.started_at);
        let is_early = |ended: &Time| started.as_ref().is_some_and(|time| time.is_before(ended));
        if let Some((_, earlier)) = latest.iter().flatten().find(|(ended, _)| is_early(ended)) {
            let what = format!("it started before {earlier} had ended");
            let fix = "do one phase after the other; `conclaude des` takes the times from the clock";
            found.push(Finding::new(Code::PhaseOrder, what, fix).in_phase(&phase.name));
        }
        if let Some(ended) = read(&phase.ended_at)
            && let [zoned, civil] = &mut latest
        {
            let slot = if matches!(ended, Time::Zoned(_)) { zoned } else { civil };
            if slot.as_ref().is_none_or(|(last, _)| last.is_before(&ended)) {
                *slot = Some((ended, &phase.name));
            }
        }
    }
}

/// A time with a zone or without one; the two cannot be compared.
enum Time {
    Zoned(Timestamp),
    Civil(DateTime),
}

impl Time {
    fn read(text: &str) -> Option<Time> {
        let text = text.trim();
        text.parse().map(Time::Zoned).or_else(|_| text.parse().map(Time::Civil)).ok()
    }

    fn is_before(&self, other: &Time) -> bool {
        match (self, other) {
            (Time::Zoned(a), Time::Zoned(b)) => a < b,
            (Time::Civil(a), Time::Civil(b)) => a < b,
            _ => false,
        }
    }
}

fn outcome(phase: &Phase, nothing_ran: bool, last: Option<&String>, found: &mut Vec<Finding>) {
    let mut note =
        |code, what: String, fix: &str| found.push(Finding::new(code, what, fix).in_phase(&phase.name));
    match phase.status() {
        None => {}
        Some(Status::NotExecuted) if nothing_ran => {}
        Some(Status::NotExecuted) => note(
            Code::IncompletePhase,
            "it is NOT_EXECUTED while others ran".into(),
            "do it and record it, or skip it with a reason that counts",
        ),
        Some(Status::InProgress) => {
            note(
                Code::AbandonedPhase,
                "it is still IN_PROGRESS".into(),
                "finish it: EXECUTED with PASS or FAIL, or SKIPPED",
            );
        }
        Some(Status::Executed) => {
            let word = phase.verdict();
            match word.as_deref() {
                None => {
                    note(Code::MissingOutcome, "it is EXECUTED without an outcome".into(), "say PASS or FAIL")
                }
                Some("PASS") => {}
                Some("FAIL") => note(
                    Code::FailedPhase,
                    format!("its outcome is {}", phase.outcome.as_deref().unwrap_or_default()),
                    "mend what failed and record the phase again, or set state.status to FAILED with a failure_reason",
                ),
                Some(_) => {
                    let what = format!("its outcome is {:?}", phase.outcome.as_deref().unwrap_or_default());
                    note(Code::InvalidOutcome, what, "say PASS or FAIL; words may follow after a colon");
                }
            }
        }
        Some(Status::Skipped) => skip(phase, last, &mut note),
    }
    if phase.status() == Some(Status::Skipped) && is_deferred(phase) && Some(&phase.name) != last {
        let what = format!("it was put off: {}", phase.blocked_by.as_deref().unwrap_or_default());
        found.push(
            Finding::new(Code::DeferredSkip, what, "see that it is done later")
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
        let fix = format!("begin blocked_by with {} and give a reason", SKIP_REASONS.join(", "));
        note(Code::InvalidSkip, what, &fix);
    }
}

fn limits(step: &Step, log: &[Phase], found: &mut Vec<Finding>) {
    if let Some(max) = step.max_turns() {
        for phase in log {
            if let Some(turns) = phase.turn_count.filter(|turns| *turns > max) {
                let fix = "split the step, or let a person raise max_turns and call the agent anew; if you are done for now, `conclaude des fail --partial`";
                let what = format!("it took {turns} turns of {max}");
                found.push(Finding::new(Code::TurnLimitExceeded, what, fix).in_phase(&phase.name));
            }
        }
    }
    if let Some(minutes) = step.allowance_minutes() {
        let spent: f64 = log.iter().filter_map(|phase| phase.duration_seconds).sum::<f64>() / 60.0;
        if spent > minutes {
            let what = format!("the phases took {spent:.1} minutes of {minutes}");
            let fix = "let a person grant more time in total_extensions_minutes and call the agent anew; or `conclaude des fail --partial`";
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::des::phases::TDD_14;

    fn phases() -> Vec<String> {
        TDD_14.iter().map(|name| (*name).to_owned()).collect()
    }

    /// A step in which every phase has passed.
    fn done() -> Value {
        let log: Vec<Value> = TDD_14
            .iter()
            .enumerate()
            .map(|(index, name)| json!({"phase_name": name, "phase_index": index, "status": "EXECUTED", "outcome": "PASS"}))
            .collect();
        json!({"task_id": "01-01", "state": {"status": "DONE"}, "tdd_cycle": {"phase_execution_log": log}})
    }

    fn codes(step: &Value) -> Vec<(Code, Option<String>)> {
        let step = Step::parse(&step.to_string()).unwrap();
        check(&step, &phases()).into_iter().map(|finding| (finding.code, finding.phase)).collect()
    }

    fn only(step: &Value, code: Code, phase: Option<&str>) {
        assert_eq!(codes(step), [(code, phase.map(str::to_owned))]);
    }

    /// The finished step with one phase changed.
    fn with(phase: usize, change: Value) -> Value {
        let mut step = done();
        let entry = step["tdd_cycle"]["phase_execution_log"][phase].as_object_mut().unwrap();
        entry.extend(change.as_object().unwrap().clone());
        step
    }

    #[test]
    fn a_finished_step_has_no_findings() {
        assert_eq!(codes(&done()), []);
        assert_eq!(
            codes(&with(0, json!({"outcome": "PASS: all 12 tests green", "status": " executed "}))),
            []
        );
    }

    #[test]
    fn silent_completion() {
        let mut step = done();
        for entry in step["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap() {
            entry["status"] = "NOT_EXECUTED".into();
        }
        step["state"]["status"] = "TODO".into();
        only(&step, Code::SilentCompletion, None);
    }

    #[test]
    fn abandoned_and_incomplete_phases() {
        only(&with(3, json!({"status": "IN_PROGRESS"})), Code::AbandonedPhase, Some("GREEN_UNIT"));
        only(&with(13, json!({"status": "NOT_EXECUTED"})), Code::IncompletePhase, Some("COMMIT"));
        only(&with(13, json!({"status": null})), Code::IncompletePhase, Some("COMMIT"));
    }

    #[test]
    fn a_log_that_does_not_fit_the_list() {
        let mut step = done();
        step["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().remove(6);
        only(&step, Code::MissingPhase, Some("REVIEW"));
        let mut step = done();
        step["tdd_cycle"]["phase_execution_log"]
            .as_array_mut()
            .unwrap()
            .push(json!({"phase_name": "PARTY", "status": "EXECUTED", "outcome": "PASS"}));
        only(&step, Code::UnknownPhase, Some("PARTY"));
        let mut step = done();
        let again = step["tdd_cycle"]["phase_execution_log"][5].clone();
        step["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().insert(6, again);
        only(&step, Code::DuplicatePhase, Some("GREEN_ACCEPTANCE"));
        assert!(
            codes(&with(2, json!({"status": "DONE"})))
                .contains(&(Code::UnknownStatus, Some("RED_UNIT".into())))
        );
        for empty in [
            json!({"state": {"status": "DONE"}}),
            json!({"tdd_cycle": {"phase_execution_log": []}}),
            json!({"tdd_cycle": {"phase_execution_log": "all done"}}),
        ] {
            assert_eq!(codes(&empty).iter().filter(|(code, _)| *code == Code::MissingPhase).count(), 14);
        }
    }

    #[test]
    fn phase_order() {
        let mut step = done();
        step["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().swap(3, 4);
        only(&step, Code::PhaseOrder, Some("GREEN_UNIT"));
        only(&with(4, json!({"phase_index": 9})), Code::PhaseOrder, Some("CHECK_ACCEPTANCE"));
        let mut from_one = done();
        for (index, entry) in
            from_one["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().iter_mut().enumerate()
        {
            entry["phase_index"] = (index + 1).into();
        }
        assert_eq!(codes(&from_one), [], "counting from one is fine");
        let mut overlapping = with(1, json!({"ended_at": "2026-01-01T10:00:00Z"}));
        overlapping["tdd_cycle"]["phase_execution_log"][2]["started_at"] = "2026-01-01T09:59:59Z".into();
        only(&overlapping, Code::PhaseOrder, Some("RED_UNIT"));
        overlapping["tdd_cycle"]["phase_execution_log"][2]["started_at"] = "2026-01-01T10:00:00".into();
        assert_eq!(codes(&overlapping), [], "times with and without a zone are not compared");
        overlapping["tdd_cycle"]["phase_execution_log"][1]["ended_at"] = "2026-01-01 11:00:00".into();
        only(&overlapping, Code::PhaseOrder, Some("RED_UNIT"));
        overlapping["tdd_cycle"]["phase_execution_log"][2]["started_at"] = "yesterday".into();
        assert_eq!(codes(&overlapping), [], "what is no time is not compared");
    }

    #[test]
    fn outcomes() {
        only(&with(5, json!({"outcome": null})), Code::MissingOutcome, Some("GREEN_ACCEPTANCE"));
        only(&with(5, json!({"outcome": " "})), Code::MissingOutcome, Some("GREEN_ACCEPTANCE"));
        only(&with(5, json!({"outcome": "fine"})), Code::InvalidOutcome, Some("GREEN_ACCEPTANCE"));
        only(&with(5, json!({"outcome": "FAIL: 2 tests"})), Code::FailedPhase, Some("GREEN_ACCEPTANCE"));
    }

    #[test]
    fn skips_need_a_reason_that_counts() {
        let skip = |phase: usize, reason: Value| {
            with(phase, json!({"status": "SKIPPED", "outcome": null, "blocked_by": reason}))
        };
        for good in [
            "NOT_APPLICABLE: no UI",
            "BLOCKED_BY_DEPENDENCY: 01-02",
            "APPROVED_SKIP: by Ada",
            "CHECKPOINT_PENDING: later today",
        ] {
            assert_eq!(codes(&skip(9, good.into())), [], "{good}");
        }
        for bad in [
            Value::Null,
            "".into(),
            "NOT_APPLICABLE:".into(),
            "NOT_APPLICABLE: ".into(),
            "no time".into(),
            "not_applicable: x".into(),
        ] {
            only(&skip(9, bad), Code::InvalidSkip, Some("REFACTOR_L3"));
        }
        only(&skip(13, "NOT_APPLICABLE: nothing to commit".into()), Code::InvalidSkip, Some("COMMIT"));
        let step = Step::parse(&skip(9, "DEFERRED: next sprint".into()).to_string()).unwrap();
        let found = check(&step, &phases());
        assert_eq!((found.len(), found[0].code, found[0].blocks()), (1, Code::DeferredSkip, false));
    }

    #[test]
    fn limits_on_turns_and_time() {
        let mut step = with(3, json!({"turn_count": 51, "duration_seconds": 1800}));
        step["tdd_cycle"]["max_turns"] = 50.into();
        only(&step, Code::TurnLimitExceeded, Some("GREEN_UNIT"));
        step["tdd_cycle"]["max_turns"] = 51.into();
        step["tdd_cycle"]["duration_minutes"] = 20.into();
        only(&step, Code::TimeoutExceeded, None);
        step["tdd_cycle"]["total_extensions_minutes"] = 10.into();
        assert_eq!(codes(&step), []);
    }

    #[test]
    fn the_state_must_follow() {
        let mut step = done();
        step["state"]["status"] = "IN_PROGRESS".into();
        only(&step, Code::StateMismatch, None);
        step.as_object_mut().unwrap().remove("state");
        only(&step, Code::StateMismatch, None);
    }

    #[test]
    fn an_honest_failure_is_forgiven_and_a_silent_one_is_not() {
        let mut step = with(5, json!({"outcome": "FAIL: 2 tests"}));
        step["tdd_cycle"]["phase_execution_log"][6]["status"] = "NOT_EXECUTED".into();
        for state in ["FAILED", "PARTIAL"] {
            step["state"] = json!({"status": state, "failure_reason": "the library has a bug"});
            assert_eq!(codes(&step), []);
            step["state"]["failure_reason"] = " ".into();
            assert_eq!(codes(&step).len(), 2);
        }
        step["state"] = json!({"status": "FAILED", "failure_reason": "stuck"});
        step["tdd_cycle"]["phase_execution_log"][6]["status"] = "IN_PROGRESS".into();
        only(&step, Code::AbandonedPhase, Some("REVIEW"));
    }

    #[test]
    fn a_workflow_without_phases_needs_its_state_alone() {
        let step = |state: &str| json!({"workflow_type": "configuration_setup", "state": {"status": state}});
        assert_eq!(codes(&step("DONE")), []);
        only(&step("TODO"), Code::StateMismatch, None);
    }

    #[test]
    fn fields_may_stand_inside_the_task_specification() {
        let inner = done();
        let step = json!({"task_specification": {"state": inner["state"], "tdd_cycle": inner["tdd_cycle"]}});
        assert_eq!(codes(&step), []);
    }

    #[test]
    fn another_list_of_phases_is_another_measure() {
        let step = Step::parse(r#"{"state":{"status":"DONE"},"tdd_cycle":{"phase_execution_log":[{"phase_name":"PLAN","status":"EXECUTED","outcome":"PASS"},{"phase_name":"DO","status":"EXECUTED","outcome":"PASS"}]}}"#).unwrap();
        assert_eq!(check(&step, &["PLAN".to_owned(), "DO".to_owned()]), []);
        assert!(!check(&step, &phases()).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn no_step_file_makes_the_check_panic(text in "[\\[\\]{}\":,a-zA-Z_0-9 \\-]{0,120}") {
            if let Ok(step) = Step::parse(&text) {
                let _ = check(&step, &phases());
            }
        }
    }
}
