//! Agents that never stop.

use insta::assert_snapshot;
use serde_json::json;

use super::worked;
use crate::common::Test;
use crate::common::workflow::{MARKERS, todo};

#[test]
fn unfinished_agents_are_recorded_and_shown_once() {
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again().agent_files(MARKERS).then("Stop");
    // Still running in the background: not yet.
    let running = json!([{"id": "a1b2c3", "type": "subagent", "status": "running"}]);
    let done = test.payload("background_tasks", running).run().silent();
    let done = done.again().without("background_tasks").run().silent();
    let killed = json!([{"id": "a1b2c3", "type": "subagent", "status": "killed"}]);
    let done = done.again().payload("background_tasks", killed).run();
    assert_snapshot!(done.message(), @"conclaude: ⚠ UNFINISHED: coder (a1b2c3) was called for steps/01-01.json and never stopped → look at what it left; call it again if the step is not done");
    let record = done.audit().pop().unwrap();
    assert_eq!((record["event"].as_str(), record["decision"].as_str()), (Some("Stop"), Some("unfinished")));
    let records = done.audit().len();
    let done = done.again().run().silent();
    assert_eq!(done.audit().len(), records);
    done.again().then("SessionEnd").run().silent();
}

#[test]
fn the_end_of_a_session_records_unfinished_agents_too() {
    let test =
        Test::stop().step(&todo()).call_agent(MARKERS).run().again().agent_files(MARKERS).then("SessionEnd");
    let done = test.run().silent();
    assert_eq!(done.audit().pop().unwrap()["decision"], "unfinished");
}

#[test]
fn agents_that_stopped_or_never_started_are_not_unfinished() {
    let stopped = worked(|test| test).run().silent();
    stopped.again().then("Stop").payload("background_tasks", json!([])).run().silent();
    let never = Test::stop().step(&todo()).call_agent(MARKERS).run();
    never.again().then("Stop").payload("background_tasks", json!([])).run().silent();
}

#[test]
fn an_agent_that_is_resumed_and_never_stops_is_unfinished() {
    let stopped = worked(|test| test).run().silent();
    let resumed = stopped
        .again()
        .then("SubagentStart")
        .payload("agent_id", "a1b2c3")
        .payload("agent_type", "coder")
        .run()
        .silent();
    let done = resumed.again().then("Stop").payload("background_tasks", json!([])).run();
    assert_snapshot!(done.message(), @"conclaude: ⚠ UNFINISHED: coder (a1b2c3) was called for steps/01-01.json and never stopped → look at what it left; call it again if the step is not done");
}

/// The error of one record ended the stop: no command ran.
#[test]
fn one_that_cannot_be_recorded_does_not_keep_the_commands_of_a_stop_from_running() {
    let config = "audit: {required: true}\nstop: {commands: [{run: 'touch ran; exit 1'}]}\n";
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again().agent_files(MARKERS).then("Stop");
    std::fs::remove_dir_all(test.root().join(".conclaude/audit")).unwrap();
    let test =
        test.config(config).file(".conclaude/audit", "in the way").payload("background_tasks", json!([]));
    let done = test.run();
    assert_snapshot!(done.blocked(), @"
    conclaude: you may not stop yet (block 1 of 3):
    ⚠ UNFINISHED: coder (a1b2c3) was called for steps/01-01.json and never stopped → look at what it left; call it again if the step is not done
    ✗ `touch ran; exit 1` exited with code 1
    Fix what is marked ✗, then finish again.
    (the audit trail cannot be written: [ROOT]/.conclaude/audit is not a folder)
    ");
    assert!(done.has("ran"));
    // Without anything that blocks, the stop fails.
    let done = done.again().config("audit: {required: true}\n").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: ⚠ UNFINISHED: coder (a1b2c3) was called for steps/01-01.json and never stopped → look at what it left; call it again if the step is not done
        ⚠ main thread: stopped after 1 block; not run again: `touch ran; exit 1`
        conclaude: the audit trail cannot be written: [ROOT]/.conclaude/audit is not a folder"
    }
    ----- stderr: the same
    "#);
}
