//! `des.evidence` as a map: the config owns the command that proves a phase; and steps of three phases, by short names.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::des::{STEP, ok, phase, shows};
use crate::common::snapshot::{pretty, steady};
use crate::common::workflow::MARKERS;
use crate::common::{Test, conclaude_in, run_in};

/// The tests of this project fail until the greeting is there.
const CONFIG: &str = "des:\n  scope: off\n  phases: tdd-3\n  evidence:\n    RED: grep -q hello greeting\n    GREEN: grep -q hello greeting\n";

fn project(config: &str) -> Test {
    let test = Test::stop().config(config).file("greeting", "");
    ok(&test, &["new", STEP, "--project-id", "greeting"]);
    test
}

/// The same, with the agent at work.
fn called(config: &str) -> Test {
    project(config).call_agent(MARKERS).run().again().agent_files(MARKERS)
}

fn des(test: &Test, arguments: &[&str]) -> Option<i32> {
    run_in(&test.root(), &[&["des"], arguments].concat()).0
}

fn step(test: &Test, path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(test.root().join(path)).unwrap()).unwrap()
}

#[test]
fn the_config_owns_the_command_that_proves_a_phase() {
    let test = called(CONFIG);
    // From anywhere in the project: the command runs at its top.
    std::fs::create_dir_all(test.root().join("src")).unwrap();
    let (code, _, stderr) = run_in(&test.root().join("src"), &["des", "run", "01", "RED"]);
    assert_snapshot!(format!("{code:?}\n{stderr}"), @"
    Some(1)
    conclaude: RED is EXECUTED: PASS (exit code 1)
    ");
    let test = test.file("greeting", "hello");
    assert_eq!(des(&test, &["run", "01", "GREEN"]), Some(0));
    let mut proof = phase(&test, "GREEN")["evidence"].clone();
    proof["duration_ms"].take();
    assert_snapshot!(steady(&pretty(&proof), &test.root()), @r#"
    {
      "command": "grep -q hello greeting",
      "exit_code": 0,
      "expected": "pass",
      "started_at": "[TIME]",
      "ended_at": "[TIME]",
      "duration_ms": null,
      "output_sha256": "[HASH]",
      "output_bytes": 0,
      "configured": true
    }
    "#);
    ok(&test, &["start", "01", "COMMIT"]);
    ok(&test, &["finish", "01", "COMMIT", "--pass"]);
    test.stops().run().silent();
}

#[test]
fn another_command_is_refused_with_the_one_that_counts() {
    let test = project(CONFIG);
    let mut shown = String::new();
    for arguments in [
        &["run", "01", "RED", "--", "false"][..],
        &["run", "01", "RED", "--expect", "pass"],
        &["run", "01", "GREEN", "--", "true"],
        &["run", "01", "GREEN", "--expect", "fail"],
        &["run", "01", "GREEN", "--expect", "fail", "--", "grep", "-q", "hello", "greeting"],
        &["finish", "01", "GREEN", "--pass"],
        &["skip", "01", "GREEN", "--reason", "NOT_APPLICABLE: x"],
        &["run", "01", "COMMIT"],
        &["run", "01", "COMMIT", "--", "touch", "ran"],
        &["run", "01", "GREN"],
    ] {
        shown.push_str(&format!("$ {}\n{}\n", arguments.join(" "), shows(&test, arguments)));
    }
    assert_snapshot!(shown, @"
    $ run 01 RED -- false
    exit 1
    ----- stderr
    conclaude: RED counts only with the config's command `grep -q hello greeting` (des.evidence): use `conclaude des run steps/01-01.json RED`, which runs it
    $ run 01 RED --expect pass
    exit 1
    ----- stderr
    conclaude: the command of RED, `grep -q hello greeting` (des.evidence), must fail: use `conclaude des run steps/01-01.json RED`; only RED and RED_* expect a failure
    $ run 01 GREEN -- true
    exit 1
    ----- stderr
    conclaude: GREEN counts only with the config's command `grep -q hello greeting` (des.evidence): use `conclaude des run steps/01-01.json GREEN`, which runs it
    $ run 01 GREEN --expect fail
    exit 1
    ----- stderr
    conclaude: the command of GREEN, `grep -q hello greeting` (des.evidence), must pass: use `conclaude des run steps/01-01.json GREEN`; only RED and RED_* expect a failure
    $ run 01 GREEN --expect fail -- grep -q hello greeting
    exit 1
    ----- stderr
    conclaude: the command of GREEN, `grep -q hello greeting` (des.evidence), must pass: use `conclaude des run steps/01-01.json GREEN`; only RED and RED_* expect a failure
    $ finish 01 GREEN --pass
    exit 1
    ----- stderr
    conclaude: GREEN counts only with proof (des.evidence): use `conclaude des run`, which runs `grep -q hello greeting`
    $ skip 01 GREEN --reason NOT_APPLICABLE: x
    exit 1
    ----- stderr
    conclaude: GREEN counts only with proof (des.evidence): use `conclaude des run`, which runs `grep -q hello greeting`
    $ run 01 COMMIT
    exit 1
    ----- stderr
    conclaude: the config has no command for COMMIT (des.evidence), and with commands there it runs no others: add `COMMIT: COMMAND` to that map, or record the phase without a run: `conclaude des start steps/01-01.json COMMIT`, then `conclaude des finish steps/01-01.json COMMIT --pass`
    $ run 01 COMMIT -- touch ran
    exit 1
    ----- stderr
    conclaude: the config has no command for COMMIT (des.evidence), and with commands there it runs no others: add `COMMIT: COMMAND` to that map, or record the phase without a run: `conclaude des start steps/01-01.json COMMIT`, then `conclaude des finish steps/01-01.json COMMIT --pass`
    $ run 01 GREN
    exit 1
    ----- stderr
    conclaude: there is no phase GREN; did you mean GREEN?
    ");
    assert_eq!(step(&test, STEP)["state"]["status"], "TODO", "nothing was recorded");
    assert!(!test.root().join("ran").exists());
    // The same command is not another one.
    assert_eq!(des(&test, &["run", "01", "RED", "--", "grep", "-q", "hello", "greeting"]), Some(1));
    assert_eq!(phase(&test, "RED")["outcome"], "PASS");
    assert_eq!(phase(&test, "RED")["evidence"]["configured"], true);
}

#[test]
fn an_agent_that_edits_the_config_gains_nothing() {
    let always = "des: {scope: off, phases: tdd-3, evidence: {RED: 'false', GREEN: 'true'}}";
    let mut shown = String::new();
    for edited in [
        always,
        "des: {scope: off, phases: tdd-3, evidence: [RED, GREEN]}",
        "des: {scope: off, phases: tdd-3}",
        "des: {scope: off, phases: [COMMIT]}",
    ] {
        let test = called(CONFIG);
        assert_eq!(des(&test, &["run", STEP, "RED"]), Some(1));
        let test = test.config(edited);
        if edited == always {
            des(&test, &["run", STEP, "GREEN"]);
        } else {
            // The same words, but somewhere else, where the file says what it must.
            let elsewhere = test.root().join("elsewhere");
            std::fs::create_dir_all(&elsewhere).unwrap();
            std::fs::write(elsewhere.join("greeting"), "hello").unwrap();
            let words = ["des", "run", "01", "GREEN", "--", "grep", "-q", "hello", "greeting"];
            run_in(&elsewhere, &words);
        }
        des(&test, &["start", STEP, "COMMIT"]);
        des(&test, &["finish", STEP, "COMMIT", "--pass"]);
        let reason = test.stops().run().blocked();
        shown.push_str(&format!("# {edited}\n{reason}\n"));
    }
    assert_snapshot!(shown, @"
    # des: {scope: off, phases: tdd-3, evidence: {RED: 'false', GREEN: 'true'}}
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ⚠ RULES_CHANGED: the config has changed since the agent was called: des.evidence → the agent need not do anything: the config at the call counts; the user should know who changed it
    ✗ EVIDENCE_MISSING GREEN: only the config's command `grep -q hello greeting` counts (des.evidence); the last run was `true` → restore `GREEN: grep -q hello greeting` in des.evidence, then run it: conclaude des run steps/01-01.json GREEN
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    # des: {scope: off, phases: tdd-3, evidence: [RED, GREEN]}
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ⚠ RULES_CHANGED: the config has changed since the agent was called: des.evidence → the agent need not do anything: the config at the call counts; the user should know who changed it
    ✗ EVIDENCE_MISSING GREEN: only the config's command `grep -q hello greeting` counts (des.evidence); the last run was `grep -q hello greeting` as the agent typed it → restore `GREEN: grep -q hello greeting` in des.evidence, then run it: conclaude des run steps/01-01.json GREEN
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    # des: {scope: off, phases: tdd-3}
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ⚠ RULES_CHANGED: the config has changed since the agent was called: des.evidence → the agent need not do anything: the config at the call counts; the user should know who changed it
    ✗ EVIDENCE_MISSING GREEN: only the config's command `grep -q hello greeting` counts (des.evidence); the last run was `grep -q hello greeting` as the agent typed it → restore `GREEN: grep -q hello greeting` in des.evidence, then run it: conclaude des run steps/01-01.json GREEN
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    # des: {scope: off, phases: [COMMIT]}
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ⚠ RULES_CHANGED: the config has changed since the agent was called: des.phases, des.evidence → the agent need not do anything: the config at the call counts; the user should know who changed it
    ✗ INCOMPLETE_PHASE GREEN: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a valid reason
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn what_was_proved_by_another_command_can_be_proved_again() {
    let test = project("des: {scope: off, phases: tdd-3}");
    des(&test, &["run", STEP, "RED", "--", "false"]);
    des(&test, &["run", STEP, "GREEN", "--", "true"]);
    let test = test.config(CONFIG).call_agent(MARKERS).run().again().agent_files(MARKERS);
    des(&test, &["start", STEP, "COMMIT"]);
    des(&test, &["finish", STEP, "COMMIT", "--pass"]);
    let blocked = test.stops().run();
    assert_snapshot!(blocked.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ EVIDENCE_MISSING RED: only the config's command `grep -q hello greeting` counts (des.evidence); the last run was `false` as the agent typed it → run it: conclaude des run steps/01-01.json RED
    ✗ EVIDENCE_MISSING GREEN: only the config's command `grep -q hello greeting` counts (des.evidence); the last run was `true` as the agent typed it → run it: conclaude des run steps/01-01.json GREEN
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let test = blocked.again();
    assert_eq!(des(&test, &["run", STEP, "RED"]), Some(1));
    let test = test.file("greeting", "hello");
    assert_eq!(des(&test, &["run", STEP, "GREEN"]), Some(0));
    assert_snapshot!(test.run().message(), @"conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
}

#[test]
fn the_prompt_shows_the_commands() {
    let test = project(CONFIG);
    assert_snapshot!(ok(&test, &["prompt", "01", "--agent", "coder"]), @r#"
    <!-- DES-VALIDATION: required -->
    <!-- DES-STEP-FILE: steps/01-01.json -->
    <!-- DES-AGENT: coder -->
    <!-- DES-PROJECT-ID: greeting -->

    You are the coder agent. Do step 01-01 of the project greeting.


    ---
    This task is gated by conclaude. Its step file is `steps/01-01.json`.
    - Phases left, in this order: RED, GREEN, COMMIT.
    - Record each phase as you do it; do not edit the JSON by hand:
      `conclaude des start steps/01-01.json PHASE`, then `conclaude des finish steps/01-01.json PHASE --pass|--fail --details "…"` for work without a command;
      `conclaude des skip steps/01-01.json PHASE --reason "NOT_APPLICABLE: …"`.
    - These phases count only with the command of the config, which is run as follows:
      `conclaude des run steps/01-01.json RED` runs `grep -q hello greeting`, which must fail;
      `conclaude des run steps/01-01.json GREEN` runs `grep -q hello greeting`;
      another command is refused.
    - You may stop when every phase is recorded and the step is DONE. If you cannot finish, say so honestly: `conclaude des fail steps/01-01.json --reason "…"`; an admitted failure may stop.
    "#);
}

#[test]
fn evidence_is_a_list_or_a_map() {
    for wrong in ["GREEN", "[{GREEN: npm test}]", "{GREEN: [npm, test]}", "{GREEN: ''}", "3"] {
        let test = Test::stop().config(&format!("des: {{evidence: {wrong}}}"));
        assert_eq!(run_in(&test.root(), &["validate"]).0, Some(1), "{wrong}");
    }
    for right in ["[GREEN_UNIT]", "{GREEN_UNIT: npm test}", "{GREEN_UNIT: null}", "{}", "null"] {
        let test = Test::stop().config(&format!("des: {{evidence: {right}}}"));
        assert_eq!(run_in(&test.root(), &["validate"]).0, Some(0), "{right}");
    }
    let test = Test::stop().config("des: {evidence: {GREN_UNIT: npm test}}");
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: des: `evidence` names the phase `GREN_UNIT`, which is not one of `phases`
     --> [ROOT]/.conclaude.yaml:1:7
      |
    1 | des: {evidence: {GREN_UNIT: npm test}}
      |       ^^^^^^^^

    valid: [ROOT]/.conclaude.yaml
      des: gates for prompts with markers, 14 phases, findings block
    ");
}

#[test]
fn a_new_step_needs_only_a_path() {
    let test = Test::stop().config("des: {phases: tdd-3}");
    let root = test.root();
    ok(&test, &["new", "steps/02-parser.json", "--criterion", "it parses", "--criterion", "it says why not"]);
    let mut made = step(&test, "steps/02-parser.json");
    assert_eq!(made["project_id"].take(), root.file_name().unwrap().to_str().unwrap());
    assert_eq!(made["task_id"], "02-parser");
    assert_eq!(made["task_specification"]["acceptance_criteria"], json!(["it parses", "it says why not"]));
    let log = made["tdd_cycle"]["phase_execution_log"].as_array().unwrap();
    let names: Vec<&str> = log.iter().map(|phase| phase["phase_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["RED", "GREEN", "COMMIT"]);
    // RED expects a failure.
    assert_eq!(des(&test, &["run", "02", "RED", "--", "false"]), Some(1));
    assert_eq!(des(&test, &["run", "02", "GREEN", "--", "true"]), Some(0));
    assert_eq!(des(&test, &["run", "02", "COMMIT", "--", "true"]), Some(0));
    assert_snapshot!(ok(&test, &["check", "02"]), @"✓ steps/02-parser.json is complete");
}

#[test]
fn the_files_of_the_gates_are_no_step_files() {
    let test = project(CONFIG).file(".claude/settings.json", "{}");
    assert_snapshot!(shows(&test, &["new", ".conclaude.yaml", "--force"]), @"
    exit 1
    ----- stderr
    conclaude: .conclaude.yaml belongs to the gates: it is not a step file
    ");
    assert_snapshot!(shows(&test, &["start", ".claude/settings.json", "RED"]), @"
    exit 1
    ----- stderr
    conclaude: .claude/settings.json belongs to the gates: it is not a step file
    ");
    assert_eq!(std::fs::read_to_string(test.root().join(".conclaude.yaml")).unwrap(), CONFIG);
    assert_eq!(std::fs::read_to_string(test.root().join(".claude/settings.json")).unwrap(), "{}");
}

#[test]
fn a_step_is_addressed_by_the_start_of_its_name() {
    let test = Test::stop().config("des: {phases: tdd-3}").file("01-package.json", "{}");
    for path in ["steps/01-01.json", "steps/01-02.json", "steps/02.json", "steps/02-01.json", "other/03.json"]
    {
        ok(&test, &["new", path]);
    }
    let mut shown = String::new();
    for short in ["01", "01-0", "01-02", "02", "03", "steps/01-01", "steps/01", "04", "04.json"] {
        shown.push_str(&format!("$ start {short}\n{}\n", shows(&test, &["start", short, "RED"])));
    }
    assert_snapshot!(shown, @"
    $ start 01
    exit 1
    ----- stderr
    conclaude: 01 may be one of steps/01-01.json, steps/01-02.json: say which
    $ start 01-0
    exit 1
    ----- stderr
    conclaude: 01-0 may be one of steps/01-01.json, steps/01-02.json: say which
    $ start 01-02
    exit 0
    ----- stdout
    RED is IN_PROGRESS
    $ start 02
    exit 0
    ----- stdout
    RED is IN_PROGRESS
    $ start 03
    exit 0
    ----- stdout
    RED is IN_PROGRESS
    $ start steps/01-01
    exit 0
    ----- stdout
    RED is IN_PROGRESS
    $ start steps/01
    exit 1
    ----- stderr
    conclaude: steps/01 may be one of steps/01-01.json, steps/01-02.json: say which
    $ start 04
    exit 1
    ----- stderr
    conclaude: no step file 04, and none whose name starts with that; `conclaude des status` lists them
    $ start 04.json
    exit 1
    ----- stderr
    conclaude: [ROOT]/04.json: No such file or directory (os error 2)
    ");
    assert_snapshot!(ok(&test, &["status"]), @"
    STEP              TASK   STATE        PHASES  LAST AGENT  BLOCKS
    other/03.json     03     IN_PROGRESS  0/3     -           0
    steps/01-01.json  01-01  IN_PROGRESS  0/3     -           0
    steps/01-02.json  01-02  IN_PROGRESS  0/3     -           0
    steps/02-01.json  02-01  TODO         0/3     -           0
    steps/02.json     02     IN_PROGRESS  0/3     -           0
    ");
}

/// A step of three phases in a repository. The first two are proved.
fn proved(config: &str) -> Test {
    let test = Test::stop().config(config).file("greeting", "");
    ok(&test, &["new", STEP, "--project-id", "greeting"]);
    let test = test.committed().call_agent(MARKERS).run().again().agent_files(MARKERS);
    assert_eq!(des(&test, &["run", "01", "RED"]), Some(1));
    let test = test.file("greeting", "hello");
    assert_eq!(des(&test, &["run", "01", "GREEN"]), Some(0));
    ok(&test, &["start", "01", "COMMIT"]);
    ok(&test, &["finish", "01", "COMMIT", "--pass"]);
    test
}

#[test]
fn a_change_after_the_last_proof_is_reported() {
    let config = CONFIG.replace("  scope: off\n", "");
    proved(&config).stops().run().silent();
    // Times have milliseconds.
    let late = |config: &str| {
        let test = proved(config);
        std::thread::sleep(std::time::Duration::from_millis(20));
        test.file("greeting", "hello, changed").stops().run()
    };
    assert_snapshot!(late(&config).message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ STALE_EVIDENCE GREEN: greeting was changed after the last run that proves anything → run it again: conclaude des run steps/01-01.json GREEN
    ");
    let reason = late(&config.replace("des:\n", "des:\n  staleEvidence: block\n")).blocked();
    assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STALE_EVIDENCE GREEN: greeting was changed after the last run that proves anything → run it again: conclaude des run steps/01-01.json GREEN
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

/// A proof of what is gone, or was undone since, proves nothing.
#[cfg(unix)]
#[test]
fn a_deletion_and_an_undone_change_after_the_last_proof_are_reported() {
    let config = CONFIG.replace("  scope: off\n", "");
    let deleted = proved(&config);
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::remove_file(deleted.root().join("greeting")).unwrap();
    let message = deleted.stops().run().message();
    assert!(message.contains("STALE_EVIDENCE GREEN: greeting was changed"), "{message}");

    let undone = proved(&config);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let message = undone.file("greeting", "").stops().run().message();
    assert!(message.contains("STALE_EVIDENCE GREEN: greeting was changed"), "{message}");
}

#[cfg(unix)]
#[test]
fn another_program_behind_a_launcher_or_another_command_is_recorded_too() {
    for command in
        ["true; grep -q hello greeting", "timeout 5 grep -q hello greeting", "sh -c 'grep -q hello greeting'"]
    {
        let test = called(&CONFIG.replace("grep -q hello greeting", command))
            .file("fake/grep", "#!/bin/sh\nexit 1\n");
        let root = test.root();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(root.join("fake/grep"), mode).unwrap();
        let path = format!("{}:{}", root.join("fake").display(), std::env::var("PATH").unwrap());
        let mut run = conclaude_in(&root);
        run.args(["des", "run", "01", "RED"]).env("HOME", root.join(".home")).env("PATH", path);
        let output = run.output().unwrap();
        let evidence = &phase(&test, "RED")["evidence"];
        assert!(
            evidence["program"].as_str().is_some_and(|program| program.ends_with("fake/grep")),
            "{command}: {evidence} {output:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_only_the_agents_path_finds_is_recorded_and_said() {
    let test = called(CONFIG).file("fake/grep", "#!/bin/sh\nexit 1\n");
    let root = test.root();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(root.join("fake/grep"), mode).unwrap();
    let path = format!("{}:{}", root.join("fake").display(), std::env::var("PATH").unwrap());
    let mut run = conclaude_in(&root);
    let output = run
        .args(["des", "run", "01", "RED"])
        .env("HOME", root.join(".home"))
        .env("PATH", path)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let in_hook = phase(&test, "RED")["evidence"]["hook_program"].as_str().unwrap().to_owned();
    assert_snapshot!(steady(&stderr, &root).replace(&in_hook, "[GREP]"), @"
    conclaude: warning: `grep` is [ROOT]/fake/grep here, and [GREP] for the hook: that is recorded
    conclaude: RED is EXECUTED: PASS (exit code 1)
    ");
    let evidence = &phase(&test, "RED")["evidence"];
    assert_snapshot!(steady(evidence["program"].as_str().unwrap(), &root), @"[ROOT]/fake/grep");
    assert!(
        evidence["path"].as_str().unwrap().starts_with(root.join("fake").to_str().unwrap()),
        "{evidence}"
    );
    assert!(!evidence["hook_path"].as_str().unwrap().contains("fake"), "{evidence}");
}

/// A launcher finds `test` on the `PATH`, and `env` the interpreter of a script.
#[cfg(unix)]
#[test]
fn another_interpreter_or_a_builtin_behind_a_launcher_is_recorded_too() {
    let mode = |path: std::path::PathBuf| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    for (command, fake) in [("timeout 5 test -s greeting", "test"), ("prettier greeting", "nodejs")] {
        let test = Test::stop().config(&CONFIG.replace("grep -q hello greeting", command));
        let test = test
            .file("bin/prettier", "#!/usr/bin/env nodejs\n")
            .file(&format!("fake/{fake}"), "#!/bin/sh\nexit 1\n");
        let root = test.root();
        mode(root.join("bin/prettier"));
        mode(root.join("fake").join(fake));
        ok(&test, &["new", STEP, "--project-id", "greeting"]);
        let path = format!("{}:{}", root.join("bin").display(), std::env::var("PATH").unwrap());
        let test = test.env("PATH", &path).call_agent(MARKERS).run().again().agent_files(MARKERS);
        let mut run = conclaude_in(&root);
        let path = format!("{}:{path}", root.join("fake").display());
        run.args(["des", "run", "01", "RED"]).env("HOME", root.join(".home")).env("PATH", path);
        let output = run.output().unwrap();
        let program = phase(&test, "RED")["evidence"]["program"].as_str().map(str::to_owned);
        assert!(
            program.is_some_and(|program| program.ends_with(&format!("fake/{fake}"))),
            "{command}: {output:?}"
        );
    }
}
