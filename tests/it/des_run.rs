//! `conclaude des run`: what a run records, and what counts as proof at the stop.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::des::{STEP, des, ok, phase, project, refused, shows};
use crate::common::snapshot::{pretty, steady};
use crate::common::workflow::{MARKERS, done};
use crate::common::{LEAVES_A_CHILD, Test, binary, conclaude_in, run_in};

#[test]
fn a_run_is_shown_recorded_and_ends_with_the_commands_code() {
    let test = project();
    assert_snapshot!(shows(&test, &["run", STEP, "PREPARE", "--", "sh", "-c", "echo out; echo err >&2"]), @"
    exit 0
    ----- stdout
    out
    ----- stderr
    err
    conclaude: PREPARE is EXECUTED: PASS (exit code 0)
    ");
    let mut recorded = phase(&test, "PREPARE");
    assert!(
        recorded["evidence"]["duration_ms"].take().is_u64()
            && recorded["duration_seconds"].take().is_number()
    );
    assert_snapshot!(steady(&pretty(&recorded), &test.root()), @r#"
    {
      "phase_name": "PREPARE",
      "phase_index": 0,
      "status": "EXECUTED",
      "started_at": "[TIME]",
      "outcome": "PASS",
      "ended_at": "[TIME]",
      "duration_seconds": null,
      "outcome_details": "`sh -c 'echo out; echo err >&2'` exited with 0",
      "evidence": {
        "command": "sh -c 'echo out; echo err >&2'",
        "exit_code": 0,
        "expected": "pass",
        "started_at": "[TIME]",
        "ended_at": "[TIME]",
        "duration_ms": null,
        "output_sha256": "[HASH]",
        "output_bytes": 8
      }
    }
    "#);
    // A red phase expects its command to fail.
    let output = des(&test, &["run", STEP, "RED_ACCEPTANCE", "--", "sh", "-c", "exit 3"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(phase(&test, "RED_ACCEPTANCE")["outcome"], "PASS");
    let output = des(&test, &["run", STEP, "RED_UNIT", "--", "true"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(phase(&test, "RED_UNIT")["outcome"], "FAIL", "a red test that is green proves nothing");
    des(&test, &["run", STEP, "RED_UNIT", "--expect", "pass", "--", "true"]);
    assert_eq!(phase(&test, "RED_UNIT")["outcome"], "PASS");
}

#[test]
fn what_cannot_run_or_is_killed_never_passes() {
    for (command, code) in [
        (&["no-such-program"][..], 127),
        (&["/etc/passwd"], 126),
        (&["sh", "-c", "exit 127"], 127),
        (&["sh", "-c", "kill -9 $$"], 137),
    ] {
        let test = project();
        ok(&test, &["start", STEP, "PREPARE"]);
        ok(&test, &["finish", STEP, "PREPARE", "--pass"]);
        let arguments: Vec<&str> =
            ["run", STEP, "RED_ACCEPTANCE", "--"].into_iter().chain(command.iter().copied()).collect();
        assert_eq!(des(&test, &arguments).status.code(), Some(code), "{command:?}");
        assert_eq!(phase(&test, "RED_ACCEPTANCE")["outcome"], "FAIL", "{command:?}");
    }
}

#[test]
fn a_second_agent_need_not_prove_what_the_first_one_proved() {
    let config = "des: {scope: off, phases: [RED_UNIT, GREEN_UNIT], evidence: [RED_UNIT, GREEN_UNIT]}";
    let test = Test::stop().config(config);
    ok(&test, &["new", STEP, "--task-id", "1", "--project-id", "p"]);
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
    des(&test, &["run", STEP, "RED_UNIT", "--", "false"]);
    ok(&test, &["fail", STEP, "--partial", "--reason", "later"]);
    let test = test.stops().run().status(0).again();
    // The same step, another call: what was red then cannot be red again.
    let test = test.call_agent(MARKERS).payload("tool_use_id", "toolu_2").run().again();
    let test = test.file("main/subagents/agent-b9.meta.json", r#"{"toolUseId":"toolu_2"}"#);
    des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]);
    test.stops().payload("agent_id", "b9").run().silent();
}

fn todo_of_one_phase() -> Value {
    serde_json::json!({"task_id": "1", "state": {"status": "TODO"}, "tdd_cycle": {"phase_execution_log": [
        {"phase_name": "GREEN_UNIT", "phase_index": 0, "status": "NOT_EXECUTED"}]}})
}

#[test]
fn evidence_counts_by_its_position_in_the_trail_also_when_the_clock_goes_back() {
    let config = "des: {scope: off, phases: [GREEN_UNIT], evidence: [GREEN_UNIT]}";
    let test = Test::stop().config(config);
    ok(&test, &["new", STEP, "--task-id", "1", "--project-id", "p"]);
    des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]);
    let test = test.step(&todo_of_one_phase());
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
    // The clock goes back after the call, as far as the call can tell.
    let state = test.root().join(".state-home/conclaude/sessions");
    let session = std::fs::read_dir(&state).unwrap().flatten().find(|e| e.file_name().len() == 64).unwrap();
    let call = std::fs::read_dir(session.path()).unwrap().flatten().map(|entry| entry.path());
    let call = call.into_iter().find(|path| path.to_string_lossy().contains("call-")).unwrap();
    let mut remembered: Value = serde_json::from_slice(&std::fs::read(&call).unwrap()).unwrap();
    remembered["time"] = "2999-01-01T00:00:00Z".into();
    std::fs::write(&call, remembered.to_string()).unwrap();
    let done = {
        let mut step = todo_of_one_phase();
        step["state"]["status"] = "DONE".into();
        let phase = &mut step["tdd_cycle"]["phase_execution_log"][0];
        (phase["status"], phase["outcome"]) = ("EXECUTED".into(), "PASS".into());
        step
    };
    let before = test.step(&done).stops().run();
    assert_snapshot!(before.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN_UNIT: there is no record of a real run → run it: conclaude des run steps/01-01.json GREEN_UNIT -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let test = before.again();
    des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]);
    assert_eq!(test.run().message(), "conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
}

#[test]
fn a_record_of_a_run_that_was_edited_proves_nothing_and_others_do_not_matter() {
    let config = "des: {scope: off, phases: [GREEN_UNIT], evidence: [GREEN_UNIT]}";
    let called = || {
        let test = Test::stop().config(config);
        ok(&test, &["new", STEP, "--task-id", "1", "--project-id", "p"]);
        test.call_agent(MARKERS).run().again().agent_files(MARKERS)
    };
    let trail = |test: &Test| test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    // A record that was copied, with another number and without its place in the chain.
    let test = called();
    des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]);
    let text = std::fs::read_to_string(trail(&test)).unwrap();
    let (before, run) = text.trim_end().rsplit_once('\n').unwrap();
    let forged = run.replace("\"seq\":4", "\"seq\":5");
    assert_ne!(forged, run);
    std::fs::write(trail(&test), format!("{before}\n{forged}\n")).unwrap();
    let reason = test.stops().run().blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN_UNIT: there is no record of a real run: record 4 of the audit trail was changed or removed: `conclaude audit verify` says more → run it: conclaude des run steps/01-01.json GREEN_UNIT -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // The record of the call was edited: the run after it counts all the same.
    let test = called();
    des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]);
    let text = std::fs::read_to_string(trail(&test)).unwrap();
    std::fs::write(trail(&test), text.replacen("allowed", "altered", 1)).unwrap();
    test.stops().run().silent();
}

#[test]
fn a_run_does_not_wait_for_what_its_command_left_behind() {
    let test = project().config("");
    let output = des(&test, &["run", STEP, "PREPARE", "--", "sh", "-c", LEAVES_A_CHILD]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "after\n");
    assert!(!test.root().join("late").exists(), "it waited");
}

/// In a process group of its own it would be stopped by the terminal as soon as it read from it.
#[cfg(target_os = "linux")]
#[test]
fn a_run_shares_our_stdin_and_process_group() {
    let test = project().file("input.txt", "input\n");
    let script = "cat; ours=$(cut -d' ' -f5 /proc/$PPID/stat); [ $(cut -d' ' -f5 /proc/$$/stat) = $ours ] && echo shared";
    let mut command = conclaude_in(&test.root());
    command.args(["des", "run", STEP, "PREPARE", "--", "sh", "-c", script]).current_dir(test.root());
    command.env("XDG_STATE_HOME", test.root().join(".state-home"));
    command.stdin(std::fs::File::open(test.root().join("input.txt")).unwrap());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "input\nshared\n");
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_records_no_result() {
    use std::os::unix::process::ExitStatusExt;
    let test = project();
    let output = des(&test, &["run", STEP, "PREPARE", "--", "sh", "-c", "kill -TERM $PPID"]);
    assert_eq!(output.status.signal(), Some(15));
    assert_eq!(phase(&test, "PREPARE")["status"], "IN_PROGRESS");
}

#[test]
fn evidence_is_what_the_trail_says_not_what_the_step_file_says() {
    let config = "des: {scope: off, evidence: [GREEN_UNIT]}";
    let reason = Test::gated_stop(&done()).config(config).run().blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN_UNIT: there is no record of a real run → run it: conclaude des run steps/01-01.json GREEN_UNIT -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // The fix that is named works, and the gate is content with it.
    let test = Test::stop().step(&done()).config(config);
    assert_eq!(des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]).status.code(), Some(0));
    let proof = phase(&test, "GREEN_UNIT")["evidence"].clone();
    assert!(proof["started_at"].is_string() && proof["duration_ms"].is_u64());
    test.agent_files(MARKERS).stops().run().silent();
    // A line that was appended by hand is no proof.
    let test = Test::stop().step(&done()).config(config);
    des(&test, &["run", STEP, "COMMIT", "--", "true"]);
    let trail = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let forged = format!(
        "{{\"seq\":9,\"time\":\"2999-01-01T00:00:00Z\",\"event\":\"des run\",\"step\":\"{STEP}\",\"phase\":\"GREEN_UNIT\",\"decision\":\"PASS\"}}\n"
    );
    std::fs::write(&trail, std::fs::read_to_string(&trail).unwrap() + &forged).unwrap();
    assert_snapshot!(test.agent_files(MARKERS).stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN_UNIT: there is no record of a real run → run it: conclaude des run steps/01-01.json GREEN_UNIT -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // Nor is leaving it out, unless somebody approved that.
    let skipped = |reason: &str| {
        crate::common::workflow::with(3, serde_json::json!({"status": "SKIPPED", "blocked_by": reason}))
    };
    let reason = Test::gated_stop(&skipped("NOT_APPLICABLE: x")).config(config).run().blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN_UNIT: it was skipped, though it needs the record of a real run → run it: conclaude des run steps/01-01.json GREEN_UNIT -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    Test::gated_stop(&skipped("APPROVED_SKIP: by Ada")).config(config).run().silent();
    let test = project().config(config);
    assert_snapshot!(refused(&test, &["finish", STEP, "GREEN_UNIT", "--pass"]), @"conclaude: GREEN_UNIT counts only with proof (des.evidence): use `conclaude des run`");
    // A run that failed, made to look as if it had passed.
    let test = project().config(config);
    for name in ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT"] {
        des(&test, &["run", STEP, name, "--", if name == "PREPARE" { "true" } else { "false" }]);
    }
    des(&test, &["run", STEP, "GREEN_UNIT", "--", "false"]);
    let test = test.step(&done()).agent_files(MARKERS).stops();
    let reason = test.run().blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN_UNIT: the step file says PASS, the record of the run FAIL → run it: conclaude des run steps/01-01.json GREEN_UNIT -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

/// The agents that records of this event name, with their sessions.
fn named_by(test: &Test, event: &str) -> Vec<(Value, Value)> {
    let trail = std::fs::read_to_string(test.root().join(".conclaude/audit/audit-0000000001.jsonl")).unwrap();
    let records = trail.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_event = records.filter(|record| record["event"] == event);
    of_event.map(|record| (record["agent"].clone(), record["session"].clone())).collect()
}

#[test]
fn a_run_names_the_agent_at_work_also_without_a_session_where_there_is_only_one() {
    let test = project().call_agent(MARKERS).run().again();
    assert!(des(&test, &["run", STEP, "PREPARE", "--", "true"]).status.success());
    assert_eq!(named_by(&test, "des run"), [(json!("coder"), json!("session-1"))]);
    // With a second one at work, nobody knows which of them it was.
    let second = test.payload("session_id", "session-2").payload("tool_use_id", "toolu_2");
    let test = second.call_agent(MARKERS).run().again();
    let _ = des(&test, &["run", STEP, "RED_ACCEPTANCE", "--", "false"]);
    assert_eq!(named_by(&test, "des run")[1], (Value::Null, Value::Null));
}

#[test]
fn a_run_that_expects_a_failure_proves_nothing_outside_of_red_phases() {
    let config = "des: {scope: off, phases: tdd-3, evidence: [RED, GREEN]}";
    let test = Test::stop().config(config);
    assert!(des(&test, &["new", STEP]).status.success());
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
    assert_eq!(des(&test, &["run", STEP, "RED", "--", "false"]).status.code(), Some(1));
    assert_snapshot!(shows(&test, &["run", STEP, "GREEN", "--expect", "fail", "--", "false"]), @"
    exit 1
    ----- stderr
    conclaude: GREEN counts only with proof (des.evidence), and a command that is expected to fail proves nothing outside of RED phases: leave `--expect fail` out
    ");
    assert_eq!(phase(&test, "GREEN")["status"], "NOT_EXECUTED");
    // One from the time before the config asked for proof.
    let test = test.config("des: {scope: off, phases: tdd-3}");
    let _ = des(&test, &["run", STEP, "GREEN", "--expect", "fail", "--", "false"]);
    assert!(des(&test, &["run", STEP, "COMMIT", "--", "true"]).status.success());
    let test = test.config(config).stops();
    let stopped = test.run();
    assert_snapshot!(stopped.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING GREEN: the last run, `false`, was expected to fail, which proves nothing outside of RED phases → run it: conclaude des run steps/01-01.json GREEN -- COMMAND
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let test = stopped.again();
    assert!(des(&test, &["run", STEP, "GREEN", "--", "true"]).status.success());
    assert_eq!(test.run().code, Some(0));
}

#[test]
fn the_output_of_a_run_that_fails_is_in_the_trail_and_not_in_the_step() {
    let test = project();
    let last = |test: &Test| -> Value {
        let shown = conclaude_in(&test.root()).args(["audit", "show", "--json"]).output().unwrap().stdout;
        serde_json::from_str(String::from_utf8(shown).unwrap().lines().last().unwrap()).unwrap()
    };
    des(&test, &["run", STEP, "PREPARE", "--", "sh", "-c", "echo 'a.ts: error TS1'; exit 1"]);
    assert_eq!(last(&test)["evidence"]["output"], "a.ts: error TS1");
    assert_eq!(phase(&test, "PREPARE")["evidence"].get("output"), None);
    for arguments in [&["audit", "show"][..], &["why"], &["why", "--all"]] {
        let shown = test.shows(arguments);
        assert!(shown.contains("a.ts: error TS1"), "{arguments:?}\n{shown}");
    }
    let exported = test.shows(&["audit", "export", "--jsonl"]);
    assert!(!exported.contains("a.ts: error TS1\\n") && !exported.contains("\"output\":"), "{exported}");
    let test = test.config("audit: {output: never}\n");
    des(&test, &["run", STEP, "PREPARE", "--", "sh", "-c", "echo no; exit 3"]);
    assert_eq!(last(&test)["evidence"]["exit_code"], 3);
    assert_eq!(last(&test)["evidence"].get("output"), None);
}

#[test]
fn with_a_sandbox_only_commands_of_the_config_are_run() {
    let test = project().config("enforce: [sandbox]\ndes: {evidence: [PREPARE]}\n");
    let said = refused(&test, &["run", STEP, "PREPARE", "--", "cat", ".env"]);
    assert!(
        said.contains("`des run` runs outside of the sandbox that the config asks for (enforce)"),
        "{said}"
    );
    assert!(said.contains("add `PREPARE: COMMAND` to the map `des.evidence`"), "{said}");
    let test = test.config("enforce: [sandbox]\ndes: {evidence: {PREPARE: 'true'}}\n");
    assert_eq!(des(&test, &["run", STEP, "PREPARE"]).status.code(), Some(0));
    assert_eq!(phase(&test, "PREPARE")["outcome"], "PASS");
}

/// These subcommands run outside of the sandbox, and Claude can make a folder with a config that names any command.
#[cfg(target_os = "linux")]
#[test]
fn in_an_enforced_session_only_its_own_config_names_commands() {
    let test = project().config("enforce: [sandbox]\ndes: {evidence: {PREPARE: 'true'}}\n");
    let test = test
        .file("evil/.conclaude.yaml", "des: {evidence: {PREPARE: 'echo escaped > found'}}\n")
        .file("evil/.git/HEAD", "");
    let root = test.root();
    std::fs::create_dir_all(root.join("evil/steps")).unwrap();
    std::fs::copy(root.join(STEP), root.join("evil").join(STEP)).unwrap();
    let client = root.join(".home/claude");
    std::fs::create_dir_all(root.join(".home")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", &client).unwrap();
    let run = |session: &str, folder: &str| {
        let mut command = test.program(&client);
        // The process of Claude Code stays where the session started.
        let script = format!("sh -c 'cd {folder} && \"$0\" des run \"$1\" PREPARE' \"$0\" \"$1\"; exit $?");
        command.args(["-c", &script]).arg(binary()).arg(STEP);
        let output =
            command.current_dir(root.join(session)).env_remove("CLAUDE_PROJECT_DIR").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run_in(&root, &["install", "--enforce"]).0, Some(0));
    let (code, said) = run("", "evil");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("this is not the project of the session"), "{said}");
    assert!(!root.join("evil/found").exists());
    let (code, said) = run("", "steps/..");
    assert_eq!(code, Some(0), "its own project: {said}");
    let (code, said) = run("evil", ".");
    assert_eq!(code, Some(0), "a session that the user started there: {said}");
    assert!(root.join("evil/found").exists());
}
