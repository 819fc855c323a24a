//! Gates under a config that is broken.

use insta::assert_snapshot;
use serde_json::json;

use crate::common::Test;
use crate::common::workflow::{MARKERS, done, todo};

#[test]
fn a_broken_config_does_not_switch_the_gates_off() {
    let broken = "des: {enabld: false}";
    let denied = Test::stop().config(broken).step(&done()).call_agent(MARKERS).run();
    assert_snapshot!(denied.denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_DONE: steps/01-01.json is DONE already → continue with the next step, or let the user reopen this one
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    ");
    let shown = Test::stop().config(broken).step(&todo()).call_agent(MARKERS).run();
    shown.updated_input();
    assert_snapshot!(shown.system_message(), @"conclaude: the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem");
    let reason = Test::gated_stop(&todo()).config(broken).run().blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(Test::gated_stop(&done()).config(broken).run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `enabld` in `des`
     --> [ROOT]/.conclaude.yaml:1:7
      |
    1 | des: {enabld: false}
      |       ^^^^^^ not a key of this section
      |
      = help: did you mean `enabled`?
    ");
    let glob = "subagentStop: {commands: {'[a': [{run: 'true'}]}}";
    assert_snapshot!(Test::gated_stop(&todo()).config(glob).run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_config_that_breaks_during_the_work_is_reported_and_changes_no_phases() {
    let config = "des: {scope: off, phases: [PLAN, DO]}";
    let step = |status: &str| {
        json!({"state": {"status": status}, "tdd_cycle": {"phase_execution_log": [
        {"phase_name": "PLAN", "status": "EXECUTED", "outcome": "PASS"},
        {"phase_name": "DO", "status": if status == "DONE" { "EXECUTED" } else { "NOT_EXECUTED" }, "outcome": "PASS"}]}})
    };
    let test = Test::stop()
        .config(config)
        .step(&step("IN_PROGRESS"))
        .call_agent(MARKERS)
        .run()
        .again()
        .agent_files(MARKERS);
    let done = test.config("des: {scop: off}").stops().run();
    let reason = done.blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ INCOMPLETE_PHASE DO: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a valid reason
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let denied = done.again().writes("Write", "file_path", ".conclaude.yaml").run();
    assert_snapshot!(denied.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    ");
    let done = denied.again().step(&step("DONE")).stops().run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: ✓ coder (a1b2c3): the step passed after 1 block
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem
    ");
    // What the gate had to say is not lost for it.
    let test = done.again().then("Stop").payload("background_tasks", json!([]));
    assert_snapshot!(test.run().message(), @"
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `scop` in `des`
     --> [ROOT]/.conclaude.yaml:1:7
      |
    1 | des: {scop: off}
      |       ^^^^ not a key of this section
      |
      = help: did you mean `scope`?
    conclaude: ✓ coder (a1b2c3): the step passed after 1 block
    ");
}

#[test]
fn under_a_broken_config_a_step_with_phases_of_its_own_is_judged_by_those() {
    let step = json!({"task_id": "1", "state": {"status": "TODO"}, "tdd_cycle": {"phase_execution_log": [
        {"phase_name": "BUILD", "status": "NOT_EXECUTED"}, {"phase_name": "CHECK", "status": "NOT_EXECUTED"}]}});
    let broken = "des: {phases: [BUILD, CHECK]}\nsubagentStop: {comands: {}}\n";
    let call = Test::stop().step(&step).config(broken).call_agent(MARKERS).run();
    let input = call.updated_input();
    let prompt = input["prompt"].as_str().unwrap();
    assert_snapshot!(prompt.lines().find(|line| line.contains("Phases left")).unwrap(), @"- Phases left, in this order: BUILD, CHECK.");
    let mut half = step.clone();
    half["tdd_cycle"]["phase_execution_log"][0] =
        json!({"phase_name": "BUILD", "status": "EXECUTED", "outcome": "PASS"});
    let reason = call.again().step(&half).agent_files(MARKERS).stops().run().blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ INCOMPLETE_PHASE CHECK: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a valid reason
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}
