//! `conclaude des …`: recording phases honestly, and what orchestrators need.

use std::process::Output;

use crate::common::workflow::{MARKERS, PHASES, done, todo};
use crate::common::{Outcome, Test, conclaude};
use serde_json::{Value, json};

const STEP: &str = "steps/01-01.json";

/// Calls a verb in the project.
fn des(test: &Test, arguments: &[&str]) -> Output {
    let mut command = conclaude();
    command
        .arg("des")
        .args(arguments)
        .current_dir(test.root())
        .env("XDG_STATE_HOME", test.root().join(".state-home"));
    command.output().unwrap()
}

#[track_caller]
fn ok(test: &Test, arguments: &[&str]) -> String {
    let output = des(test, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn refused(test: &Test, arguments: &[&str]) -> String {
    let output = des(test, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn step(test: &Test) -> Value {
    serde_json::from_str(&std::fs::read_to_string(test.root().join(STEP)).unwrap()).unwrap()
}

fn phase(test: &Test, name: &str) -> Value {
    let step = step(test);
    step["tdd_cycle"]["phase_execution_log"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["phase_name"] == name)
        .unwrap()
        .clone()
}

fn project() -> Test {
    Test::stop().step(&todo())
}

#[test]
fn a_phase_is_started_and_finished_with_times_from_the_clock() {
    let test = project();
    assert_eq!(ok(&test, &["start", STEP, "PREPARE"]), "PREPARE is IN_PROGRESS\n");
    assert_eq!(phase(&test, "PREPARE")["status"], "IN_PROGRESS");
    assert_eq!(step(&test)["state"]["status"], "IN_PROGRESS");
    ok(&test, &["finish", STEP, "PREPARE", "--pass", "--details", "ready", "--turns", "3"]);
    let phase = phase(&test, "PREPARE");
    assert_eq!((phase["status"].as_str(), phase["outcome"].as_str()), (Some("EXECUTED"), Some("PASS")));
    assert_eq!((phase["outcome_details"].as_str(), phase["turn_count"].as_i64()), (Some("ready"), Some(3)));
    let time = |name: &str| phase[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(time("started_at") <= time("ended_at"));
    assert!(phase["duration_seconds"].is_number());
}

#[test]
fn order_and_transitions_are_enforced() {
    let test = project();
    let says = |arguments: &[&str], part: &str| {
        let error = refused(&test, arguments);
        assert!(error.contains(part), "{arguments:?}: {error}");
    };
    says(&["start", STEP, "RED_UNIT"], "PREPARE comes before RED_UNIT and is not finished");
    says(&["finish", STEP, "PREPARE", "--pass"], "PREPARE was not started");
    says(&["start", STEP, "PREPAR"], "there is no phase PREPAR; did you mean PREPARE?");
    ok(&test, &["start", STEP, "PREPARE"]);
    says(&["start", STEP, "PREPARE"], "IN_PROGRESS already");
    says(&["start", STEP, "RED_ACCEPTANCE"], "PREPARE comes before");
    ok(&test, &["finish", STEP, "PREPARE", "--fail"]);
    says(&["start", STEP, "RED_ACCEPTANCE"], "PREPARE failed: fix it and record it again");
    ok(&test, &["start", STEP, "PREPARE"]);
    ok(&test, &["finish", STEP, "PREPARE", "--pass"]);
    says(&["start", STEP, "PREPARE"], "PREPARE is EXECUTED already");
    says(&["skip", STEP, "RED_ACCEPTANCE", "--reason", "no time"], "the reason must start with one of");
    ok(&test, &["skip", STEP, "RED_ACCEPTANCE", "--reason", "NOT_APPLICABLE: no acceptance test"]);
    assert_eq!(phase(&test, "RED_ACCEPTANCE")["blocked_by"], "NOT_APPLICABLE: no acceptance test");
    says(&["start", STEP, "RED_ACCEPTANCE"], "SKIPPED already");
    says(&["finish", STEP, "RED_UNIT"], "--pass");
    says(&["start", "../x.json", "PREPARE"], "lies outside the project");
    says(&["start", "nowhere.json", "PREPARE"], "nowhere.json");
}

#[test]
fn a_run_is_shown_recorded_and_ends_with_the_commands_code() {
    let test = project();
    let output = des(&test, &["run", STEP, "PREPARE", "--", "sh", "-c", "echo out; echo err >&2"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "out\n");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("err\n") && stderr.contains("PREPARE is EXECUTED: PASS"), "{stderr}");
    let recorded = phase(&test, "PREPARE");
    assert_eq!(recorded["outcome"], "PASS");
    assert_eq!(recorded["evidence"]["command"], "sh -c 'echo out; echo err >&2'");
    assert_eq!(recorded["evidence"]["exit_code"], 0);
    assert_eq!(recorded["evidence"]["output_bytes"], 8);
    assert_eq!(recorded["evidence"]["output_sha256"].as_str().unwrap().len(), 64);
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
fn a_step_is_done_by_itself_and_passes_its_gate() {
    let test = project();
    for name in PHASES {
        let expected = if name.starts_with("RED_") { "false" } else { "true" };
        des(&test, &["run", STEP, name, "--", expected]);
    }
    assert_eq!(step(&test)["state"]["status"], "DONE");
    assert_eq!(ok(&test, &["check", STEP]), format!("✓ {STEP} is complete\n"));
    test.agent_files(MARKERS)
        .config("des: {scope: off, evidence: [RED_UNIT, COMMIT]}")
        .stops()
        .run()
        .silent();
}

#[test]
fn what_we_did_not_mean_to_change_stays_as_it_was() {
    let text = "{\n    \"zebra\": 1.50,\n    \"state\": {\"status\": \"TODO\", \"own\": [1, 2]},\n    \"tdd_cycle\": {\"phase_execution_log\": [\n        {\"phase_name\": \"PREPARE\", \"status\": \"NOT_EXECUTED\", \"mine\": null}\n    ], \"alpha\": true}\n}";
    let test = Test::stop().file(STEP, text);
    ok(&test, &["start", STEP, "PREPARE"]);
    let after = std::fs::read_to_string(test.root().join(STEP)).unwrap();
    let (before, after_json): (Value, Value) =
        (serde_json::from_str(text).unwrap(), serde_json::from_str(&after).unwrap());
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&before), keys(&after_json), "order and unknown fields");
    assert_eq!(after_json["state"]["own"], before["state"]["own"]);
    assert!(after_json["tdd_cycle"]["phase_execution_log"][0].as_object().unwrap().contains_key("mine"));
    assert!(after.contains("\n    \"zebra\": 1.5"), "the indentation is the file's own: {after}");
    assert!(!after.ends_with('\n'), "and so is its end");
}

#[test]
fn parallel_writers_lose_no_update() {
    let test = project();
    // Each may only come after the one before, so all try until it is their turn.
    std::thread::scope(|scope| {
        for name in PHASES {
            let test = &test;
            scope.spawn(move || {
                for _ in 0..2_000 {
                    let begun = des(test, &["start", STEP, name]);
                    if begun.status.success() {
                        ok(test, &["finish", STEP, name, "--pass"]);
                        return;
                    }
                }
                panic!("{name} never had its turn");
            });
        }
    });
    assert_eq!(step(&test)["state"]["status"], "DONE");
    ok(&test, &["check", STEP]);
}

#[test]
fn an_honest_failure_can_be_admitted() {
    let test = project();
    ok(&test, &["start", STEP, "PREPARE"]);
    ok(&test, &["finish", STEP, "PREPARE", "--fail"]);
    assert!(refused(&test, &["fail", STEP, "--reason", " "]).contains("must say why"));
    ok(&test, &["fail", STEP, "--reason", "no database here"]);
    assert_eq!(step(&test)["state"]["failure_reason"], "no database here");
    let done = test.agent_files(MARKERS).config("des: {scope: off}").stops().run();
    assert!(done.message().contains("failed, and says so: no database here"));
    let test = project();
    ok(&test, &["fail", STEP, "--partial", "--reason", "half of it"]);
    assert_eq!(step(&test)["state"]["status"], "PARTIAL");
}

#[test]
fn every_fix_that_the_gate_names_can_be_made_with_the_verbs() {
    let fixed = |change: Value, arguments: &[&str]| {
        let test = Test::stop().step(&crate::common::workflow::with(5, change));
        assert_eq!(des(&test, &["check", STEP]).status.code(), Some(1));
        ok(&test, arguments);
        ok(&test, &["check", STEP]);
    };
    let phase = "GREEN_ACCEPTANCE";
    fixed(serde_json::json!({"outcome": null}), &["finish", STEP, phase, "--pass"]);
    fixed(serde_json::json!({"outcome": "fine"}), &["finish", STEP, phase, "--pass"]);
    fixed(serde_json::json!({"outcome": "fine"}), &["run", STEP, phase, "--", "true"]);
    fixed(serde_json::json!({"outcome": "FAIL"}), &["run", STEP, phase, "--", "true"]);
    fixed(serde_json::json!({"status": "IN_PROGRESS"}), &["finish", STEP, phase, "--pass"]);
    fixed(
        serde_json::json!({"status": "SKIPPED", "blocked_by": "lazy"}),
        &["skip", STEP, phase, "--reason", "NOT_APPLICABLE: x"],
    );
    fixed(serde_json::json!({"status": "NOT_EXECUTED"}), &["run", STEP, phase, "--", "true"]);
    // A phase that was begun fails with the step.
    let test = project();
    ok(&test, &["start", STEP, "PREPARE"]);
    ok(&test, &["fail", STEP, "--reason", "no database"]);
    ok(&test, &["check", STEP]);
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
fn evidence_counts_by_its_place_in_the_trail_also_when_the_clock_goes_back() {
    let config = "des: {scope: off, phases: [GREEN_UNIT], evidence: [GREEN_UNIT]}";
    for by_older_version in [false, true] {
        let test = Test::stop().config(config);
        ok(&test, &["new", STEP, "--task-id", "1", "--project-id", "p"]);
        des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]);
        let test = test.step(&todo_of_one_phase());
        let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
        // The clock goes back after the call, as far as the call can tell.
        let state = test.root().join(".conclaude/state");
        let session =
            std::fs::read_dir(&state).unwrap().flatten().find(|e| e.file_name().len() == 64).unwrap();
        let call = std::fs::read_dir(session.path()).unwrap().flatten().map(|entry| entry.path());
        let call = call.into_iter().find(|path| path.to_string_lossy().contains("call-")).unwrap();
        let mut remembered: Value = serde_json::from_slice(&std::fs::read(&call).unwrap()).unwrap();
        remembered["time"] = "2999-01-01T00:00:00Z".into();
        if by_older_version {
            assert!(remembered.as_object_mut().unwrap().remove("position").unwrap().is_object());
        }
        std::fs::write(&call, remembered.to_string()).unwrap();
        let done = {
            let mut step = todo_of_one_phase();
            step["state"]["status"] = "DONE".into();
            let phase = &mut step["tdd_cycle"]["phase_execution_log"][0];
            (phase["status"], phase["outcome"]) = ("EXECUTED".into(), "PASS".into());
            step
        };
        let before = test.step(&done).stops().run();
        assert!(before.blocked().contains("EVIDENCE_MISSING"), "a run before the call proves nothing");
        let test = before.again();
        des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]);
        test.run().silent();
    }
}

#[test]
fn evidence_is_looked_up_after_the_call_or_in_the_whole_trail_if_that_place_is_gone() {
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
    assert!(reason.contains("EVIDENCE_MISSING GREEN_UNIT: there is no record of a real run"), "{reason}");
    // The record of the call was edited: the run after it counts all the same.
    let test = called();
    des(&test, &["run", STEP, "GREEN_UNIT", "--", "true"]);
    let text = std::fs::read_to_string(trail(&test)).unwrap();
    std::fs::write(trail(&test), text.replacen("allowed", "altered", 1)).unwrap();
    let done = test.stops().run().status(0);
    done.stderr_has("the audit trail is read from its beginning for evidence: record 2 is not where it was");
}

#[test]
fn fixing_a_phase_keeps_the_times_of_the_work() {
    let mut step = done();
    for (index, entry) in
        step["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().iter_mut().enumerate()
    {
        entry["started_at"] = format!("2026-01-01T10:{index:02}:00Z").into();
        entry["ended_at"] = format!("2026-01-01T10:{index:02}:30Z").into();
    }
    for (change, arguments) in [
        (
            serde_json::json!({"status": "SKIPPED", "blocked_by": "lazy"}),
            &["skip", STEP, "RED_UNIT", "--reason", "NOT_APPLICABLE: x"][..],
        ),
        (serde_json::json!({"outcome": null}), &["finish", STEP, "RED_UNIT", "--pass"]),
        (serde_json::json!({"outcome": null}), &["run", STEP, "RED_UNIT", "--", "false"]),
    ] {
        let mut broken = step.clone();
        broken["tdd_cycle"]["phase_execution_log"][2]
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let test = Test::stop().step(&broken);
        des(&test, arguments);
        ok(&test, &["check", STEP]);
    }
}

#[test]
fn a_run_does_not_wait_for_what_its_command_left_behind() {
    let test = project();
    let started = std::time::Instant::now();
    let output = des(&test, &["run", STEP, "PREPARE", "--", "sh", "-c", "sleep 60 & echo hi"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "hi\n");
    assert!(started.elapsed() < std::time::Duration::from_secs(40));
}

/// In a process group of its own it would be stopped by the terminal as soon as it read from it.
#[cfg(target_os = "linux")]
#[test]
fn a_run_shares_our_stdin_and_process_group() {
    let test = project().file("input.txt", "input\n");
    let script = "cat; ours=$(cut -d' ' -f5 /proc/$PPID/stat); [ $(cut -d' ' -f5 /proc/$$/stat) = $ours ] && echo shared";
    let mut command = conclaude();
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
fn hook_and_verbs_agree_about_the_root() {
    // A project below the top level of its repository, and no config.
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again();
    std::fs::create_dir_all(test.root().join("deep/er")).unwrap();
    let output = conclaude()
        .args(["audit", "show", "--json"])
        .current_dir(test.root().join("deep/er"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
}

#[test]
fn a_step_without_phases_is_set_to_done() {
    let mut setup = todo();
    setup["workflow_type"] = "configuration_setup".into();
    let test = Test::stop().step(&setup);
    assert!(refused(&test, &["start", STEP, "PREPARE"]).contains("this step has no phases"));
    ok(&test, &["done", STEP]);
    ok(&test, &["check", STEP]);
    assert!(refused(&project(), &["done", STEP]).contains("this step has phases"));
}

#[test]
fn evidence_is_what_the_trail_says_not_what_the_step_file_says() {
    let config = "des: {scope: off, evidence: [GREEN_UNIT]}";
    let reason = Test::gated_stop(&done()).config(config).run().blocked();
    assert!(reason.contains("✗ EVIDENCE_MISSING GREEN_UNIT: there is no record of a real run → run it: conclaude des run steps/01-01.json GREEN_UNIT -- COMMAND"), "{reason}");
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
    assert!(test.agent_files(MARKERS).stops().run().blocked().contains("EVIDENCE_MISSING GREEN_UNIT"));
    // Nor is leaving it out, unless somebody approved that.
    let skipped = |reason: &str| {
        crate::common::workflow::with(3, serde_json::json!({"status": "SKIPPED", "blocked_by": reason}))
    };
    let reason = Test::gated_stop(&skipped("NOT_APPLICABLE: x")).config(config).run().blocked();
    assert!(reason.contains("EVIDENCE_MISSING GREEN_UNIT: it was skipped"), "{reason}");
    Test::gated_stop(&skipped("APPROVED_SKIP: by Ada")).config(config).run().silent();
    let test = project().config(config);
    assert!(refused(&test, &["finish", STEP, "GREEN_UNIT", "--pass"]).contains("counts only with proof"));
    // A run that failed, made to look as if it had passed.
    let test = project().config(config);
    for name in ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT"] {
        des(&test, &["run", STEP, name, "--", if name == "PREPARE" { "true" } else { "false" }]);
    }
    des(&test, &["run", STEP, "GREEN_UNIT", "--", "false"]);
    let test = test.step(&done()).agent_files(MARKERS).stops();
    let reason = test.run().blocked();
    assert!(reason.contains("the step file says PASS, the record of the run FAIL"), "{reason}");
}

#[test]
fn new_makes_a_step_that_the_gates_accept() {
    let test = Test::stop();
    let new = [
        "new",
        "steps/02-03.json",
        "--task-id",
        "02-03",
        "--project-id",
        "greeting",
        "--name",
        "Say hello",
        "--allow",
        "src/**",
        "--allow",
        "docs/",
    ];
    assert_eq!(ok(&test, &new), "made steps/02-03.json\n");
    assert!(refused(&test, &new).contains("steps/02-03.json exists already; --force overwrites it"));
    ok(&test, &[&new[..], &["--force"]].concat());
    assert!(
        refused(&test, &["new", "x.json", "--task-id", "1", "--project-id", "p", "--allow", "[a"])
            .contains("`[a` is broken")
    );
    let output = des(&test, &["check", "steps/02-03.json", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (json["ok"].as_bool(), json["findings"][0]["code"].as_str()),
        (Some(false), Some("SILENT_COMPLETION"))
    );
    let prompt = ok(&test, &["prompt", "steps/02-03.json", "--agent", "coder", "--command", "/nw:execute"]);
    insta::assert_snapshot!(prompt, @r#"
    <!-- DES-VALIDATION: required -->
    <!-- DES-STEP-FILE: steps/02-03.json -->
    <!-- DES-AGENT: coder -->
    <!-- DES-COMMAND: /nw:execute -->
    <!-- DES-PROJECT-ID: greeting -->

    You are the coder agent. Do step 02-03 of the project greeting.
    It is about: Say hello


    ---
    This task is gated by conclaude. Its step file is `steps/02-03.json`.
    - Phases left, in this order: PREPARE, RED_ACCEPTANCE, RED_UNIT, GREEN_UNIT, CHECK_ACCEPTANCE, GREEN_ACCEPTANCE, REVIEW, REFACTOR_L1, REFACTOR_L2, REFACTOR_L3, REFACTOR_L4, POST_REFACTOR_REVIEW, FINAL_VALIDATE, COMMIT.
    - Record each phase as you do it; do not edit the JSON by hand:
      `conclaude des run steps/02-03.json PHASE -- COMMAND` runs a command and records PASS or FAIL from its exit code (RED_* phases expect a failure);
      `conclaude des start steps/02-03.json PHASE`, then `conclaude des finish steps/02-03.json PHASE --pass|--fail --details "…"` for work without a command;
      `conclaude des skip steps/02-03.json PHASE --reason "NOT_APPLICABLE: …"`.
    - You may write only to `src/**`, `docs/`, and to the step file.
    - You may stop when every phase is recorded and the step is DONE. If you cannot finish, say so honestly: `conclaude des fail steps/02-03.json --reason "…"`; an admitted failure may stop.
    "#);
    let given = test.call_agent(&prompt).run().updated_input();
    let text = given["prompt"].as_str().unwrap();
    assert_eq!(text.matches("gated by conclaude").count(), 1, "what is in the prompt is not appended again");
}

#[test]
fn check_prints_each_finding_with_its_fix() {
    let test =
        Test::stop().step(&crate::common::workflow::with(3, serde_json::json!({"status": "IN_PROGRESS"})));
    let output = des(&test, &["check", STEP]);
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        shown,
        "✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED with PASS or FAIL, or SKIPPED\n"
    );
    assert!(
        String::from_utf8(des(&test, &["check", "gone.json"]).stdout).unwrap().contains("STEP_FILE_MISSING")
    );
}

#[test]
fn status_is_a_table_of_all_steps() {
    let blocked: Outcome =
        Test::gated_stop(&todo()).file("steps/02.json", done().to_string()).file("package.json", "{}").run();
    blocked.blocked();
    let test = blocked.again();
    insta::assert_snapshot!(ok(&test, &["status"]), @"
    STEP              TASK   STATE  PHASES  LAST AGENT  BLOCKS
    steps/01-01.json  01-01  TODO   0/14    coder       1
    steps/02.json     01-01  DONE   14/14   -           0
    ");
    assert!(ok(&test, &["status", "main"]).starts_with("no step files in "));
    assert!(refused(&test, &["status", "nowhere"]).contains("nowhere is not a folder"));
}

#[test]
fn every_verb_has_help() {
    for verb in ["start", "finish", "skip", "run", "fail", "done", "new", "prompt", "check", "status"] {
        let output = conclaude().args(["des", verb, "--help"]).output().unwrap();
        assert!(
            output.status.success()
                && String::from_utf8(output.stdout).unwrap().contains("Usage: conclaude des"),
            "{verb}"
        );
    }
}

// The whole of it, as the seed describes: an orchestrator's prompt, the gates, an agent that is blocked and fixes its work.
#[test]
fn the_whole_workflow_from_prompt_to_verified_trail() {
    let test = Test::stop().file("src/a.rs", "1").committed();
    ok(&test, &["new", STEP, "--task-id", "01-01", "--project-id", "greeting", "--allow", "src/**"]);
    let prompt = ok(&test, &["prompt", STEP, "--agent", "coder"]);
    let called = test.call_agent(&prompt).run();
    let given = called.updated_input()["prompt"].as_str().unwrap().to_owned();
    let started =
        called.again().agent_files(&given).then("SubagentStart").payload("agent_id", "a1b2c3").run().silent();
    let denied = started.again().writes("Write", "file_path", "Cargo.toml").run();
    assert!(denied.denied().contains("SCOPE_VIOLATION"));
    let test =
        denied.again().writes("Write", "file_path", "src/a.rs").run().silent().again().file("src/a.rs", "2");
    for name in PHASES.iter().take(13) {
        des(&test, &["run", STEP, name, "--", if name.starts_with("RED_") { "false" } else { "true" }]);
    }
    let sent_back = test.stops().run();
    let reason = sent_back.blocked();
    assert!(reason.contains("✗ INCOMPLETE_PHASE COMMIT"), "{reason}");
    let test = sent_back.again();
    des(&test, &["run", STEP, "COMMIT", "--", "true"]);
    let done = test.payload("stop_hook_active", true).run().silent();
    let decisions: Vec<String> = done
        .audit()
        .iter()
        .filter(|record| !record["event"].as_str().unwrap().starts_with("des"))
        .map(|record| {
            format!("{} {}", record["event"].as_str().unwrap(), record["decision"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        decisions,
        ["PreToolUse allowed", "PreToolUse denied", "SubagentStop blocked", "SubagentStop allowed"]
    );
    let test = done.again();
    let verify = conclaude()
        .args(["audit", "verify"])
        .current_dir(test.root())
        .env("XDG_STATE_HOME", test.root().join(".state-home"))
        .output()
        .unwrap();
    assert_eq!(verify.status.code(), Some(0), "{}", String::from_utf8_lossy(&verify.stdout));
    test.then("Stop").run().silent();
}

#[test]
fn an_agent_can_admit_failure_and_record_phases_though_a_person_broke_the_config() {
    // The gates hold under a broken config: what they tell the agent to do must then work too.
    let step = json!({"task_id": "1", "state": {"status": "TODO"}, "tdd_cycle": {"phase_execution_log": [
        {"phase_name": "BUILD", "status": "NOT_EXECUTED"}, {"phase_name": "CHECK", "status": "NOT_EXECUTED"}]}});
    let test = Test::stop().step(&step).config("subagentStop: {comands: {}}\n");
    let output = des(&test, &["run", STEP, "BUILD", "--", "true"]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(err.contains("warning: invalid config") && err.contains("the step's own phases count"), "{err}");
    assert_eq!(phase(&test, "BUILD")["outcome"], "PASS");
    assert_eq!(ok(&test, &["fail", STEP, "--reason", "no compiler"]), "steps/01-01.json is FAILED\n");
    let new = refused(&test, &["new", "steps/02.json", "--task-id", "2", "--project-id", "p"]);
    assert!(new.contains("comands"), "a new step would get the wrong phases: {new}");
}
