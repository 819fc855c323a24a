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
    assert_eq!(codes(&with(0, json!({"outcome": "PASS: all 12 tests green", "status": " executed "}))), []);
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
        codes(&with(2, json!({"status": "DONE"}))).contains(&(Code::UnknownStatus, Some("RED_UNIT".into())))
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
