//! New steps, and what `check` and `status` show of them.

use super::*;

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
    assert_snapshot!(ok(&test, &new), @"created steps/02-03.json");
    assert_snapshot!(refused(&test,&new), @"conclaude: steps/02-03.json exists already; --force overwrites it");
    ok(&test, &[&new[..], &["--force"]].concat());
    assert_snapshot!(refused(&test, &["new", "x.json", "--task-id", "1", "--project-id", "p", "--allow", "[a"]), @"conclaude: the pattern `[a` is broken: `[` without a `]` after it");
    let output = des(&test, &["check", "steps/02-03.json", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (json["ok"].as_bool(), json["findings"][0]["code"].as_str()),
        (Some(false), Some("SILENT_COMPLETION"))
    );
    let prompt = ok(&test, &["prompt", "steps/02-03.json", "--agent", "coder", "--command", "/nw:execute"]);
    assert_snapshot!(prompt, @r#"
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
      `conclaude des run steps/02-03.json PHASE -- COMMAND` runs a command and records PASS or FAIL from its exit code (RED and RED_* phases expect a failure);
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
    assert_snapshot!(shows(&test, &["check", STEP]), @"
    exit 1
    ----- stdout
    ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED with PASS or FAIL, or SKIPPED
    ");
    assert_snapshot!(shows(&test, &["check", "gone.json"]), @"
    exit 1
    ----- stdout
    ✗ STEP_FILE_MISSING: gone.json does not exist in [ROOT] → name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`
    ");
}

#[test]
fn status_is_a_table_of_all_steps() {
    let blocked: Outcome =
        Test::gated_stop(&todo()).file("steps/02.json", done().to_string()).file("package.json", "{}").run();
    blocked.blocked();
    let test = blocked.again();
    assert_snapshot!(ok(&test, &["status"]), @"
    STEP              TASK   STATE  PHASES  LAST AGENT  BLOCKS
    steps/01-01.json  01-01  TODO   0/14    coder       1
    steps/02.json     01-01  DONE   14/14   -           0
    ");
    assert_snapshot!(ok(&test, &["status", "main"]), @"no step files in [ROOT]/main; `conclaude des new` creates one");
    assert_snapshot!(refused(&test, &["status", "nowhere"]), @"conclaude: nowhere is not a folder");
}

#[test]
fn a_new_step_has_a_name_under_which_it_is_found() {
    let test = Test::stop().file("steps/.keep", "");
    assert_snapshot!(refused(&test, &["new", "steps/03"]), @"conclaude: `des status` finds only steps whose names end in .json: use steps/03.json");
    assert_snapshot!(refused(&test, &["new", "steps/", "--force"]), @"conclaude: steps is a folder: name a file in it, such as steps/01-01.json");
    assert!(!test.root().join("steps/03").exists());
}
