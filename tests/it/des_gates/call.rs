//! Gate 1: before the call.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{blocked, called};
use crate::common::snapshot::pretty;
use crate::common::workflow::{MARKERS, codes, done, todo, with};
use crate::common::{Test, capture, scratch};

#[test]
fn a_sound_call_gets_its_boundaries_and_keeps_its_input() {
    let done = called(&todo(), MARKERS);
    let input = done.updated_input();
    assert_snapshot!(pretty(&input), @r#"
    {
      "description": "d",
      "prompt": "<!-- DES-VALIDATION: required -->
        <!-- DES-STEP-FILE: steps/01-01.json -->
        <!-- DES-AGENT: coder -->
        <!-- DES-COMMAND: /nw:execute -->
        <!-- DES-PROJECT-ID: greeting -->

        Do step 01-01.

        ---
        This task is gated by conclaude. Its step file is `steps/01-01.json`.
        - Phases left, in this order: PREPARE, RED_ACCEPTANCE, RED_UNIT, GREEN_UNIT, CHECK_ACCEPTANCE, GREEN_ACCEPTANCE, REVIEW, REFACTOR_L1, REFACTOR_L2, REFACTOR_L3, REFACTOR_L4, POST_REFACTOR_REVIEW, FINAL_VALIDATE, COMMIT.
        - Record each phase as you do it; do not edit the JSON by hand:
          `conclaude des run steps/01-01.json PHASE -- COMMAND` runs a command and records PASS or FAIL from its exit code (RED and RED_* phases expect a failure);
          `conclaude des start steps/01-01.json PHASE`, then `conclaude des finish steps/01-01.json PHASE --pass|--fail --details \"…\"` for work without a command;
          `conclaude des skip steps/01-01.json PHASE --reason \"NOT_APPLICABLE: …\"`.
        - You may write only to `src/**`, and to the step file.
        - You may stop when every phase is recorded and the step is DONE. If you cannot finish, say so honestly: `conclaude des fail steps/01-01.json --reason \"…\"`; an admitted failure may stop.
        ",
      "subagent_type": "coder",
      "run_in_background": false
    }
    "#);
    let records = done.audit();
    assert_eq!(
        (records[0]["event"].as_str(), records[0]["decision"].as_str()),
        (Some("PreToolUse"), Some("allowed"))
    );
    assert_eq!(records[0]["des"]["step_file"], "steps/01-01.json");
}

#[test]
fn the_call_of_claude_code_is_understood_under_either_name() {
    let test = Test::event("PreToolUse").step(&todo());
    let root = test.root().display().to_string();
    let payload = String::from_utf8(capture("PreToolUse.json")).unwrap().replace("/home/user/project", &root);
    let done = test.stdin(payload.clone()).run();
    assert!(done.updated_input()["prompt"].is_string());
    let done =
        done.again().stdin(payload.replace("\"tool_name\": \"Agent\"", "\"tool_name\": \"Task\"")).run();
    done.updated_input();
}

#[test]
fn ad_hoc_calls_and_other_tools_pass_untouched() {
    for prompt in [
        "Just do it.",
        "<!-- DES-VALIDATION: none -->",
        "<!-- DES-VALIDATION: optional -->",
        "<!-- DES-STEP-FILE: nowhere.json -->",
    ] {
        let done = called(&todo(), prompt).silent();
        assert!(!done.has(".conclaude"));
    }
    for file in ["Bash", "Read", "mcp", "main-thread", "session-agent", "Write", "Edit"] {
        Test::event("PreToolUse").stdin(capture(&format!("variants/PreToolUse.{file}.json"))).run().silent();
    }
    called(&todo(), MARKERS).again().config("des: {enabled: false}").run().silent();
}

#[test]
fn marker_missing_and_marker_invalid_deny_the_call() {
    let reason = called(&todo(), "<!-- DES-VALIDATION: required -->").denied();
    assert_snapshot!(reason, @"
    conclaude denies this call of an agent:
    ✗ MARKER_MISSING: DES-VALIDATION is required, but DES-STEP-FILE is missing → add `<!-- DES-STEP-FILE: path/of/step.json -->` to the prompt; `conclaude des prompt` prints all markers
    ");
    let reason = called(&todo(), &MARKERS.replace("required", "requird")).denied();
    assert_snapshot!(reason, @"
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: DES-VALIDATION is `requird`, not `required`, `optional`, `none`, `false`, `no` or `off` → write each marker once, on one line, as `<!-- DES-KEY: value -->`
    ");
    let reason = called(&todo(), &format!("{MARKERS}\n<!-- DES-STEP-FILE: other.json -->")).denied();
    assert_snapshot!(reason, @"
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: DES-STEP-FILE has two values, `steps/01-01.json` and `other.json` → write each marker once, on one line, as `<!-- DES-KEY: value -->`
    ");
}

#[test]
fn step_files_that_are_missing_invalid_or_outside_deny_the_call() {
    let with_file = |file: &str| called(&todo(), &MARKERS.replace("steps/01-01.json", file));
    assert_snapshot!(with_file("steps/02.json").denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_MISSING: steps/02.json does not exist in [ROOT] → name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`
    ");
    let outside = ["../x.json", "/etc/passwd", "steps/../../x.json"];
    assert_snapshot!(outside.map(|file| with_file(file).denied()).join("\n"), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_OUTSIDE_PROJECT: ../x.json lies outside the project [ROOT] → name a step file inside the project, relative to its root
    conclaude denies this call of an agent:
    ✗ STEP_FILE_OUTSIDE_PROJECT: /etc/passwd lies outside the project [ROOT] → name a step file inside the project, relative to its root
    conclaude denies this call of an agent:
    ✗ STEP_FILE_OUTSIDE_PROJECT: steps/../../x.json lies outside the project [ROOT] → name a step file inside the project, relative to its root
    ");
    let test = Test::stop().file("steps/01-01.json", "{broken").call_agent(MARKERS);
    assert_snapshot!(test.run().denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_INVALID: steps/01-01.json: key must be a string at line 1 column 2 → fix the JSON; `conclaude des new` makes a valid step file
    ");
    let test = Test::stop().file("steps/01-01.json", "[1]").call_agent(MARKERS);
    assert_snapshot!(test.run().denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_INVALID: steps/01-01.json: it is not a JSON object → fix the JSON; `conclaude des new` makes a valid step file
    ");
    let mut step = todo();
    step["task_specification"]["allowed_file_patterns"] = json!(["src/[a"]);
    assert_snapshot!(called(&step,MARKERS).denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_INVALID: steps/01-01.json: the pattern `src/[a` is broken: `[` without a `]` after it → fix allowed_file_patterns
    ");
}

#[cfg(unix)]
#[test]
fn a_step_file_behind_a_link_that_leaves_the_project_is_outside() {
    let outside = scratch();
    std::fs::write(outside.path().join("x.json"), todo().to_string()).unwrap();
    let test = Test::stop().file("steps/x", "");
    std::os::unix::fs::symlink(outside.path().join("x.json"), test.root().join("steps/01-01.json")).unwrap();
    assert_snapshot!(test.call_agent(MARKERS).run().denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_OUTSIDE_PROJECT: steps/01-01.json lies outside the project [ROOT] → name a step file inside the project, relative to its root
    ");
}

#[test]
fn another_agent_than_the_marker_names_is_denied() {
    let reason = called(&todo(), &MARKERS.replace("DES-AGENT: coder", "DES-AGENT: tester")).denied();
    assert_snapshot!(reason, @"
    conclaude denies this call of an agent:
    ✗ AGENT_MISMATCH: DES-AGENT is tester, but this is coder → call that agent, or change the marker
    ");
}

#[test]
fn a_step_that_is_done_or_unsafe_is_denied() {
    assert_snapshot!(called(&done(),MARKERS).denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_DONE: steps/01-01.json is DONE already → continue with the next step, or let the user reopen this one
    ");
    let safety = |safety: Value| {
        let mut step = todo();
        step["safety"] = safety;
        called(&step, MARKERS)
    };
    assert_snapshot!(safety(json!({"affects_production": true}))
            .denied(), @"
    conclaude denies this call of an agent:
    ✗ UNSAFE_STEP: steps/01-01.json: safety.affects_production is true → the user must look at this step: it is not started by an agent
    ");
    assert_snapshot!(safety(json!({"is_destructive": true, "rollback_plan": " "})).denied(), @"
    conclaude denies this call of an agent:
    ✗ UNSAFE_STEP: steps/01-01.json: safety.is_destructive is true and there is no rollback_plan → the user must look at this step: it is not started by an agent
    ");
    safety(json!({"is_destructive": true, "rollback_plan": "git revert"})).updated_input();
}

#[test]
fn required_sections_are_headings_or_markers() {
    let config = "des: {requiredSections: [GOAL, BOUNDARIES]}";
    let call = |prompt: &str| Test::stop().config(config).step(&todo()).call_agent(prompt).run();
    let reason = call(&format!("{MARKERS}\n## Goal\nx")).denied();
    assert_snapshot!(reason, @"
    conclaude denies this call of an agent:
    ✗ SECTION_MISSING: the prompt has no section BOUNDARIES → add a heading `## BOUNDARIES`, or a marker `<!-- DES-SECTION: NAME -->` with this name
    ");
    call(&format!("{MARKERS}\n# GOAL\n<!-- DES-SECTION: BOUNDARIES -->\n")).updated_input();
}

#[test]
fn all_findings_of_a_call_come_in_one_reason() {
    let mut step = done();
    step["safety"] = json!({"affects_production": true});
    let reason = called(&step, &MARKERS.replace("DES-AGENT: coder", "DES-AGENT: x")).denied();
    assert_eq!(codes(&reason), ["AGENT_MISMATCH", "STEP_DONE", "UNSAFE_STEP"]);
    assert_eq!(reason.matches(" → ").count(), 3, "each has its fix");
}

#[test]
fn on_violation_warn_reports_and_allows() {
    let done = Test::stop().config("des: {onViolation: warn}").step(&done()).call_agent(MARKERS).run();
    assert!(done.updated_input()["prompt"].is_string());
    assert_snapshot!(done.system_message(), @"conclaude: ✗ STEP_DONE: steps/01-01.json is DONE already → continue with the next step, or let the user reopen this one");
    assert_eq!(done.audit()[0]["decision"], "warned");
}

#[test]
fn a_second_agent_on_a_live_step_is_a_warning() {
    let first = called(&todo(), MARKERS);
    first.updated_input();
    // Not started yet, and perhaps never: nobody is at work.
    let second = first.again().payload("tool_use_id", "toolu_2").run();
    assert_snapshot!(second.system_message(), @"");
    let third = second.again().agent_files(MARKERS).payload("tool_use_id", "toolu_3").run();
    third.updated_input();
    assert_snapshot!(third.system_message(), @"conclaude: ⚠ STEP_BUSY: coder has been called for steps/01-01.json already and has not stopped → let one agent work on a step at a time");
}

#[test]
fn a_deny_stands_whatever_becomes_of_its_record() {
    let required = "audit: {required: true}";
    let test = Test::stop().config(required).step(&done()).file(".conclaude", "in the way");
    assert_snapshot!(test.call_agent(MARKERS).run().denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_DONE: steps/01-01.json is DONE already → continue with the next step, or let the user reopen this one
    (the audit trail cannot be written: [ROOT]/.conclaude is not a folder)
    ");
    let test =
        Test::stop().config(required).step(&todo()).agent_files(MARKERS).file(".conclaude", "in the way");
    assert_snapshot!(test.writes("Write", "file_path", "README.md").run().denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    (the audit trail cannot be written: [ROOT]/.conclaude is not a folder)
    ");
}

#[test]
fn restrictions_that_cannot_be_understood_are_not_taken_for_none() {
    let change = |field: &str, value: Value| {
        let mut step = todo();
        *step.pointer_mut(field).unwrap() = value;
        called(&step, MARKERS).denied()
    };
    let odd = json!([{"glob": "src/**"}]);
    assert_snapshot!(change("/task_specification/allowed_file_patterns", odd), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_INVALID: steps/01-01.json: allowed_file_patterns is not a list of texts → fix allowed_file_patterns
    ");
    let mut step = todo();
    step["safety"] = json!({"affects_production": "true"});
    assert_snapshot!(called(&step,MARKERS).denied(), @"
    conclaude denies this call of an agent:
    ✗ UNSAFE_STEP: steps/01-01.json: safety.affects_production is true → the user must look at this step: it is not started by an agent
    ");
    let mut step = with(3, json!({"turn_count": "9"}));
    step["tdd_cycle"]["max_turns"] = "5".into();
    assert_snapshot!(blocked(&step), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ TURN_LIMIT_EXCEEDED GREEN_UNIT: it took 9 turns of 5 → split the step, or let the user raise max_turns and call the agent again; if you are done for now, `conclaude des fail --partial`
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

/// An input that is no object names nothing: it is like an empty one.
#[test]
fn an_input_that_is_no_object_is_asked_about_where_a_guard_needs_its_file_or_command() {
    for input in [json!("text"), json!(["rm .env"]), json!(5), json!(true)] {
        for tool in ["Bash", "Read", "Write"] {
            let test = Test::event("PreToolUse")
                .config("preToolUse: {uneditableFiles: [.env], unreadableFiles: [.env]}");
            let done = test.payload("tool_name", tool).payload("tool_input", input.clone()).run();
            assert!(done.status(0).stdout.contains("\"ask\""), "{tool} {input}");
        }
    }
    Test::event("PreToolUse").payload("tool_name", "Agent").payload("tool_input", "text").run().silent();
}

#[test]
fn a_panic_in_a_tools_gate_is_a_deny() {
    let test = Test::stop().step(&todo()).call_agent(MARKERS).env("CONCLAUDE_TEST_PANIC", "gate");
    assert_snapshot!(test.run().denied(), @"conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated.");
}
