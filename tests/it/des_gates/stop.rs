//! Gate 3: after the work.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::blocked;
use crate::common::snapshot::same;
use crate::common::workflow::{MARKERS, codes, done, todo, with};
use crate::common::{Test, capture};

#[test]
fn a_huge_phase_log_is_refused() {
    let entry = json!({"phase_name": "PREPARE", "status": "EXECUTED", "started_at": "2026-01-01T10:00:00Z", "ended_at": "2026-01-01T10:00:00Z"});
    let step =
        json!({"state": {"status": "DONE"}, "tdd_cycle": {"phase_execution_log": vec![entry; 20_000]}});
    assert_snapshot!(blocked(&step), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STEP_FILE_INVALID: steps/01-01.json: its phase log has 20000 entries, at most 500 are read → fix the JSON; `conclaude des new` makes a valid step file
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_step_that_is_done_may_stop_without_a_word() {
    let done = Test::gated_stop(&done()).config("des: {scope: off}").run().silent();
    let record = done.audit().pop().unwrap();
    assert_eq!(
        (record["event"].as_str(), record["decision"].as_str()),
        (Some("SubagentStop"), Some("allowed"))
    );
    assert_eq!(
        record["des"],
        json!({"validation_required": true, "step_file": "steps/01-01.json", "agent_name": "coder", "command": "/nw:execute",
               "project_id": "greeting", "start_time": "2026-01-01T10:00:00.000Z", "end_time": "2026-01-01T10:05:00.000Z"})
    );
}

#[test]
fn every_finding_of_a_step_file_blocks_with_its_phase_and_fix() {
    let mut missing = done();
    missing["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().remove(6);
    let mut unknown = done();
    unknown["tdd_cycle"]["phase_execution_log"]
        .as_array_mut()
        .unwrap()
        .push(json!({"phase_name": "PARTY", "status": "EXECUTED", "outcome": "PASS"}));
    let mut duplicate = done();
    let again = duplicate["tdd_cycle"]["phase_execution_log"][5].clone();
    duplicate["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().insert(6, again);
    let mut order = done();
    order["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().swap(3, 4);
    let mut turns = with(3, json!({"turn_count": 9}));
    turns["tdd_cycle"]["max_turns"] = 5.into();
    let mut time = with(3, json!({"duration_seconds": 900}));
    time["tdd_cycle"]["duration_minutes"] = 5.into();
    let mut state = done();
    state["state"]["status"] = "IN_PROGRESS".into();
    let steps = [
        todo(),
        with(3, json!({"status": "IN_PROGRESS"})),
        with(13, json!({"status": "NOT_EXECUTED"})),
        missing,
        unknown,
        duplicate,
        with(3, json!({"status": "FINE"})),
        order,
        with(3, json!({"outcome": null})),
        with(3, json!({"outcome": "good"})),
        with(3, json!({"outcome": "FAIL: red"})),
        with(3, json!({"status": "SKIPPED", "blocked_by": "lazy"})),
        turns,
        time,
        state,
    ];
    let findings = steps.iter().map(|step| {
        blocked(step).lines().filter(|line| line.starts_with("✗")).collect::<Vec<_>>().join("\n")
    });
    assert_snapshot!(findings.collect::<Vec<_>>().join("\n"), @r#"
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED with PASS or FAIL, or SKIPPED
    ✗ INCOMPLETE_PHASE COMMIT: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a valid reason
    ✗ MISSING_PHASE REVIEW: it is not in phase_execution_log → record it; do not remove phases
    ✗ UNKNOWN_PHASE PARTY: there is no such phase → use the names of the list: PREPARE, RED_ACCEPTANCE, RED_UNIT, GREEN_UNIT, CHECK_ACCEPTANCE, GREEN_ACCEPTANCE, REVIEW, REFACTOR_L1, REFACTOR_L2, REFACTOR_L3, REFACTOR_L4, POST_REFACTOR_REVIEW, FINAL_VALIDATE, COMMIT
    ✗ DUPLICATE_PHASE GREEN_ACCEPTANCE: it is in the log 2 times → keep one entry
    ✗ UNKNOWN_STATUS GREEN_UNIT: its status is "FINE" → use NOT_EXECUTED, IN_PROGRESS, EXECUTED or SKIPPED
    ✗ PHASE_ORDER GREEN_UNIT: it comes after CHECK_ACCEPTANCE → keep the order of the list
    ✗ MISSING_OUTCOME GREEN_UNIT: it is EXECUTED without an outcome → say PASS or FAIL
    ✗ INVALID_OUTCOME GREEN_UNIT: its outcome is "good" → say PASS or FAIL; words may follow after a colon
    ✗ FAILED_PHASE GREEN_UNIT: its outcome is FAIL: red → fix what failed and record the phase again, or set state.status to FAILED with a failure_reason
    ✗ INVALID_SKIP GREEN_UNIT: blocked_by is "lazy" → start blocked_by with BLOCKED_BY_DEPENDENCY:, NOT_APPLICABLE:, APPROVED_SKIP:, CHECKPOINT_PENDING: and give a reason
    ✗ TURN_LIMIT_EXCEEDED GREEN_UNIT: it took 9 turns of 5 → split the step, or let the user raise max_turns and call the agent again; if you are done for now, `conclaude des fail --partial`
    ✗ TIMEOUT_EXCEEDED: the phases took 15.0 minutes of 5 → let the user grant more time in total_extensions_minutes and call the agent again; or `conclaude des fail --partial`
    ✗ STATE_MISMATCH: all phases are finished, but state.status is IN_PROGRESS → set state.status to DONE; `conclaude des finish` does it by itself. If it failed, FAILED with a failure_reason
    "#);
}

#[test]
fn markers_and_step_files_that_went_wrong_meanwhile_block() {
    let stop = |prompt: &str| Test::stop().step(&done()).agent_files(prompt).stops();
    assert_snapshot!(stop("<!-- DES-VALIDATION: required -->").run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ MARKER_MISSING: DES-VALIDATION is required, but DES-STEP-FILE is missing → add `<!-- DES-STEP-FILE: path/of/step.json -->` to the prompt; `conclaude des prompt` prints all markers
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop(&MARKERS.replace("DES-AGENT: coder", "DES-AGENT: x")).run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ AGENT_MISMATCH: DES-AGENT is x, but this is coder → only that agent can finish this step
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop(&MARKERS.replace("01-01.json", "gone.json")).run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STEP_FILE_MISSING: steps/gone.json does not exist in [ROOT] → name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop(MARKERS).file("steps/01-01.json", "{").run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STEP_FILE_INVALID: steps/01-01.json: EOF while parsing an object at line 1 column 1 → fix the JSON; `conclaude des new` makes a valid step file
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop(&MARKERS.replace("steps/01-01.json", "../x.json"))
            .run()
            .blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STEP_FILE_OUTSIDE_PROJECT: ../x.json lies outside the project [ROOT] → name a step file inside the project, relative to its root
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

// Scenario: a value of DES-VALIDATION other than `required`
#[test]
fn seed_004_line_142_validation_that_is_off_is_an_ad_hoc_task_and_what_is_unclear_is_only_reported() {
    let stop = |prompt: &str| Test::stop().step(&todo()).agent_files(prompt).stops();
    for word in ["false", "no", "off", "none", "optional", "OFF", "None", "FALSE", "No"] {
        stop(&MARKERS.replace("required", word)).run().silent();
        Test::stop().step(&todo()).call_agent(&MARKERS.replace("required", word)).run().silent();
    }
    // The agent cannot change its prompt, and nobody knows whether a gate was meant.
    let reported = stop(&MARKERS.replace("required", "requird")).run();
    assert_snapshot!(reported.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ MARKER_INVALID: DES-VALIDATION is `requird`, not `required`, `optional`, `none`, `false`, `no` or `off` → write each marker once, on one line, as `<!-- DES-KEY: value -->`
    ⚠ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ");
    assert_eq!(reported.audit().pop().unwrap()["decision"], "warned");
    let near = stop(&MARKERS.replace("DES-VALIDATION", "DES_VALIDATION")).run();
    assert_eq!(near.code, Some(0), "{}", near.stderr);
    let called = Test::stop().step(&todo()).call_agent(&MARKERS.replace("required", "requird")).run();
    assert_eq!(codes(&called.denied()), ["MARKER_INVALID"]);
}

#[test]
fn seed_004_line_336_validation_failed_opens_the_reason() {
    let reason = Test::gated_stop(&todo()).run().blocked();
    assert!(reason.starts_with("Validation failed: "), "{reason}");
}

#[test]
fn a_deferred_skip_is_shown_and_does_not_block() {
    let step = with(9, json!({"status": "SKIPPED", "blocked_by": "DEFERRED: next sprint"}));
    let done = Test::gated_stop(&step).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ DEFERRED_SKIP REFACTOR_L3: it was put off: DEFERRED: next sprint → make sure that it is done later
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ");
    assert_eq!(done.audit().pop().unwrap()["decision"], "warned");
}

#[test]
fn an_honest_failure_may_stop_and_is_reported() {
    let mut step = with(5, json!({"outcome": "FAIL"}));
    step["state"] = json!({"status": "FAILED", "failure_reason": "the <bash-input>library</bash-input> of Vec<T> has a bug"});
    let done = Test::gated_stop(&step).config("des: {scope: off}").run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ the step steps/01-01.json failed, and says so: the ‹bash-input>library‹/bash-input> of Vec<T> has a bug
    ");
    assert_eq!(done.audit().pop().unwrap()["decision"], "allowed_failed");
}

#[test]
fn the_limit_on_blocks_is_shared_with_commands() {
    let config = "maxBlocks: 2\nsubagentStop: {commands: {coder: [{run: 'exit 1', onFailure: block}]}}\n";
    let mut test = Test::gated_stop(&todo()).config(config);
    let mut shown = Vec::new();
    for nth in 1..=2 {
        let done = test.run();
        let reason = done.blocked();
        shown.push(reason.replace(&format!("block {nth} "), "block [N] "));
        test = done.again();
    }
    assert_snapshot!(same(&shown), @"
    Validation failed: coder (a1b2c3) may not stop yet (block [N] of 2):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ✗ `exit 1` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let done = test.run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ✗ `exit 1` exited with code 1
    This would have blocked, but the agent may stop: it was blocked 2 times already (maxBlocks).
    ");
    let decisions: Vec<Value> = done.audit().iter().map(|record| record["decision"].clone()).collect();
    assert_eq!(decisions, ["blocked", "blocked", "allowed_despite_failure"]);
}

#[test]
fn on_violation_warn_never_blocks() {
    let done = Test::gated_stop(&todo()).config("des: {onViolation: warn}").run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ");
    assert_eq!(done.audit().pop().unwrap()["decision"], "warned");
}

#[test]
fn another_list_of_phases_can_be_asked_for() {
    let step = json!({"state": {"status": "DONE"}, "tdd_cycle": {"phase_execution_log": [
        {"phase_name": "PLAN", "status": "EXECUTED", "outcome": "PASS"}, {"phase_name": "DO", "status": "EXECUTED", "outcome": "PASS"}]}});
    Test::gated_stop(&step).config("des: {phases: [PLAN, DO]}").run().silent();
    assert_snapshot!(Test::gated_stop(&step)
            .config("des: {phases: tdd-14}")
            .run()
            .blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ MISSING_PHASE PREPARE: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE RED_ACCEPTANCE: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE RED_UNIT: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE GREEN_UNIT: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE CHECK_ACCEPTANCE: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE GREEN_ACCEPTANCE: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE REVIEW: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE REFACTOR_L1: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE REFACTOR_L2: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE REFACTOR_L3: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE REFACTOR_L4: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE POST_REFACTOR_REVIEW: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE FINAL_VALIDATE: it is not in phase_execution_log → record it; do not remove phases
    ✗ MISSING_PHASE COMMIT: it is not in phase_execution_log → record it; do not remove phases
    ✗ UNKNOWN_PHASE PLAN: there is no such phase → use the names of the list: PREPARE, RED_ACCEPTANCE, RED_UNIT, GREEN_UNIT, CHECK_ACCEPTANCE, GREEN_ACCEPTANCE, REVIEW, REFACTOR_L1, REFACTOR_L2, REFACTOR_L3, REFACTOR_L4, POST_REFACTOR_REVIEW, FINAL_VALIDATE, COMMIT
    ✗ UNKNOWN_PHASE DO: there is no such phase → use the names of the list: PREPARE, RED_ACCEPTANCE, RED_UNIT, GREEN_UNIT, CHECK_ACCEPTANCE, GREEN_ACCEPTANCE, REVIEW, REFACTOR_L1, REFACTOR_L2, REFACTOR_L3, REFACTOR_L4, POST_REFACTOR_REVIEW, FINAL_VALIDATE, COMMIT
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn phantoms_pass() {
    Test::gated_stop(&todo()).payload("agent_id", "hook-agent-1").run().silent();
    Test::stop().stdin(capture("variants/SubagentStop.compaction.json")).run().silent();
}

#[test]
fn commands_find_the_step_in_their_environment() {
    let config = "subagentStop: {commands: {coder: [{run: 'env | grep ^CONCLAUDE_DES_ | sort > env.txt'}]}}\ndes: {scope: off}\n";
    let done = Test::gated_stop(&done()).config(config).run().silent();
    assert_eq!(
        done.read("env.txt"),
        "CONCLAUDE_DES_AGENT=coder\nCONCLAUDE_DES_COMMAND=/nw:execute\nCONCLAUDE_DES_PROJECT_ID=greeting\nCONCLAUDE_DES_STEP_FILE=steps/01-01.json\n"
    );
}
