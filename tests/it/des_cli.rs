//! `conclaude des …`: recording phases honestly, and what orchestrators need.

mod help;
mod steps;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::des::{STEP, des, ok, phase, project, refused, shows, step};
use crate::common::snapshot::steady;
use crate::common::workflow::{MARKERS, PHASES, done, todo};
use crate::common::{Outcome, Test, run_in};

#[test]
fn a_phase_is_started_and_finished_with_times_from_the_clock() {
    let test = project();
    assert_snapshot!(ok(&test, &["start", STEP, "PREPARE"]), @"PREPARE is IN_PROGRESS");
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
    let mut errors = String::new();
    let mut refuses = |arguments: &[&str]| errors.push_str(&refused(&test, arguments));
    refuses(&["start", STEP, "RED_UNIT"]);
    refuses(&["finish", STEP, "PREPARE", "--pass"]);
    refuses(&["start", STEP, "PREPAR"]);
    ok(&test, &["start", STEP, "PREPARE"]);
    refuses(&["start", STEP, "PREPARE"]);
    refuses(&["start", STEP, "RED_ACCEPTANCE"]);
    ok(&test, &["finish", STEP, "PREPARE", "--fail"]);
    refuses(&["start", STEP, "RED_ACCEPTANCE"]);
    ok(&test, &["start", STEP, "PREPARE"]);
    ok(&test, &["finish", STEP, "PREPARE", "--pass"]);
    refuses(&["start", STEP, "PREPARE"]);
    refuses(&["skip", STEP, "RED_ACCEPTANCE", "--reason", "no time"]);
    ok(&test, &["skip", STEP, "RED_ACCEPTANCE", "--reason", "NOT_APPLICABLE: no acceptance test"]);
    assert_eq!(phase(&test, "RED_ACCEPTANCE")["blocked_by"], "NOT_APPLICABLE: no acceptance test");
    refuses(&["start", STEP, "RED_ACCEPTANCE"]);
    refuses(&["finish", STEP, "RED_UNIT"]);
    refuses(&["start", "../x.json", "PREPARE"]);
    refuses(&["start", "nowhere.json", "PREPARE"]);
    assert_snapshot!(errors, @"
    conclaude: PREPARE comes before RED_UNIT and is not finished
    conclaude: PREPARE was not started: `conclaude des start` comes first
    conclaude: there is no phase PREPAR; did you mean PREPARE?
    conclaude: PREPARE is IN_PROGRESS already: finish it
    conclaude: PREPARE comes before RED_ACCEPTANCE and is not finished
    conclaude: PREPARE failed: fix it and record it again before RED_ACCEPTANCE
    conclaude: PREPARE is EXECUTED already
    conclaude: the reason must start with one of BLOCKED_BY_DEPENDENCY:, NOT_APPLICABLE:, APPROVED_SKIP:, CHECKPOINT_PENDING:, DEFERRED: and say why
    conclaude: RED_ACCEPTANCE is SKIPPED already
    error: the following required arguments were not provided:
      <--pass|--fail>

    Usage: conclaude des finish <--pass|--fail> <STEP> <PHASE>

    For more information, try '--help'.
    conclaude: ../x.json is outside the project [ROOT]
    conclaude: [ROOT]/nowhere.json: No such file or directory (os error 2)
    ");
}

#[test]
fn a_step_is_done_by_itself_and_passes_its_gate() {
    let test = project();
    for name in PHASES {
        let expected = if name.starts_with("RED_") { "false" } else { "true" };
        des(&test, &["run", STEP, name, "--", expected]);
    }
    assert_eq!(step(&test)["state"]["status"], "DONE");
    assert_snapshot!(ok(&test, &["check", STEP]), @"✓ steps/01-01.json is complete");
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
    // The indentation is the file's own, and so is its end.
    assert_snapshot!(steady(&format!("{after}[END]"), &test.root()), @r#"
    {
        "zebra": 1.5,
        "state": {
            "status": "IN_PROGRESS",
            "own": [
                1,
                2
            ],
            "started_at": "[TIME]"
        },
        "tdd_cycle": {
            "phase_execution_log": [
                {
                    "phase_name": "PREPARE",
                    "status": "IN_PROGRESS",
                    "mine": null,
                    "started_at": "[TIME]",
                    "outcome": null,
                    "ended_at": null,
                    "duration_seconds": null
                }
            ],
            "alpha": true
        }
    }[END]
    "#);
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
                    let started = des(test, &["start", STEP, name]);
                    if started.status.success() {
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
    assert_snapshot!(refused(&test, &["fail", STEP, "--reason", " "]), @"conclaude: --reason must not be blank: say why the step failed");
    ok(&test, &["fail", STEP, "--reason", "no database here"]);
    assert_eq!(step(&test)["state"]["failure_reason"], "no database here");
    let done = test.agent_files(MARKERS).config("des: {scope: off}").stops().run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ the step steps/01-01.json failed, and says so: no database here
    ");
    let test = project();
    ok(&test, &["fail", STEP, "--partial", "--reason", "half of it"]);
    assert_eq!(step(&test)["state"]["status"], "PARTIAL");
}

#[test]
fn every_fix_that_the_gate_names_can_be_made_with_the_subcommands() {
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
    // A phase that was started fails with the step.
    let test = project();
    ok(&test, &["start", STEP, "PREPARE"]);
    ok(&test, &["fail", STEP, "--reason", "no database"]);
    ok(&test, &["check", STEP]);
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
fn hook_and_subcommands_agree_about_the_root() {
    // A project below the top level of its repository, and no config.
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again();
    std::fs::create_dir_all(test.root().join("deep/er")).unwrap();
    let (_, shown, _) = run_in(&test.root().join("deep/er"), &["audit", "show", "--json"]);
    assert_eq!(shown.lines().count(), 1);
}

#[test]
fn a_step_without_phases_is_set_to_done() {
    let mut setup = todo();
    setup["workflow_type"] = "configuration_setup".into();
    let test = Test::stop().step(&setup);
    assert_snapshot!(refused(&test, &["start", STEP, "PREPARE"]), @"conclaude: this step has no phases (workflow_type is configuration_setup): set its state with `des done` or `des fail`");
    ok(&test, &["done", STEP]);
    ok(&test, &["check", STEP]);
    assert_snapshot!(refused(&project(), &["done", STEP]), @"conclaude: this step has phases: it is DONE when the last of them is recorded");
}

// The whole of it, from outside: an orchestrator's prompt, the gates, an agent that is blocked and fixes its work.
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
    assert_snapshot!(denied.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: Cargo.toml is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    let test =
        denied.again().writes("Write", "file_path", "src/a.rs").run().silent().again().file("src/a.rs", "2");
    for name in PHASES.iter().take(13) {
        des(&test, &["run", STEP, name, "--", if name.starts_with("RED_") { "false" } else { "true" }]);
    }
    let blocked = test.stops().run();
    let reason = blocked.blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ INCOMPLETE_PHASE COMMIT: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a valid reason
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let test = blocked.again();
    des(&test, &["run", STEP, "COMMIT", "--", "true"]);
    let done = test.payload("stop_hook_active", true).run();
    assert_eq!(done.message(), "conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
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
    let (code, verified, _) = run_in(&test.root(), &["audit", "verify"]);
    assert_eq!(code, Some(0), "{verified}");
    let done = test.then("Stop").run();
    assert_eq!(done.message(), "conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
    done.again().run().silent();
}

#[test]
fn an_agent_can_admit_failure_and_record_phases_though_the_user_broke_the_config() {
    // The gates hold under a broken config: what they ask the agent to do must then work too.
    let step = json!({"task_id": "1", "state": {"status": "TODO"}, "tdd_cycle": {"phase_execution_log": [
        {"phase_name": "BUILD", "status": "NOT_EXECUTED"}, {"phase_name": "CHECK", "status": "NOT_EXECUTED"}]}});
    let test = Test::stop().step(&step).config("subagentStop: {comands: {}}\n");
    // Which commands the config allows is not known, so none is run: a mistake in it must not allow every command.
    assert_snapshot!(refused(&test, &["run", STEP, "BUILD", "--", "touch", "ran"]), @"conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem; `des run` runs nothing while the config does not say which commands count (des.evidence): fix the file, with the help of `conclaude validate`, or record the phase without a run: `conclaude des start steps/01-01.json BUILD`, then `conclaude des finish steps/01-01.json BUILD --pass`");
    assert!(!test.root().join("ran").exists());
    assert_eq!(phase(&test, "BUILD")["status"], "NOT_EXECUTED");
    assert_snapshot!(shows(&test, &["start", STEP, "BUILD"]), @"
    exit 0
    ----- stdout
    BUILD is IN_PROGRESS
    ----- stderr
    conclaude: warning: invalid config [ROOT]/.conclaude.yaml: 1 problem; using the step's own phases
    ");
    ok(&test, &["finish", STEP, "BUILD", "--pass"]);
    assert_eq!(phase(&test, "BUILD")["outcome"], "PASS");
    assert_snapshot!(ok(&test, &["fail", STEP, "--reason", "no compiler"]), @"steps/01-01.json is FAILED");
    // A new step would get the wrong phases.
    assert_snapshot!(refused(&test, &["new", "steps/02.json", "--task-id", "2", "--project-id", "p"]), @"
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `comands` in `subagentStop`
     --> [ROOT]/.conclaude.yaml:1:16
      |
    1 | subagentStop: {comands: {}}
      |                ^^^^^^^ not a key of this section
      |
      = help: did you mean `commands`?
    ");
}
