//! The three gates of DES, from payload to answer.

use crate::common::snapshot::{pretty, same};
use crate::common::workflow::{MARKERS, codes, done, todo, with};
use crate::common::{Test, agent_call, capture, scratch};
use insta::assert_snapshot;
use serde_json::{Value, json};

// ---- Gate 1: before the call

fn called(step: &Value, prompt: &str) -> crate::common::Outcome {
    Test::stop().step(step).call_agent(prompt).run()
}

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
    ✗ MARKER_MISSING: DES-VALIDATION is required, but DES-STEP-FILE is missing → add `‹!-- DES-STEP-FILE: path/of/step.json -->` to the prompt; `conclaude des prompt` prints all markers
    ");
    let reason = called(&todo(), &MARKERS.replace("required", "requird")).denied();
    assert_snapshot!(reason, @"
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: DES-VALIDATION is `requird`, not `required`, `optional` or `none` → write each marker once, on one line, as `‹!-- DES-KEY: value -->`
    ");
    let reason = called(&todo(), &format!("{MARKERS}\n<!-- DES-STEP-FILE: other.json -->")).denied();
    assert_snapshot!(reason, @"
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: DES-STEP-FILE has two values, `steps/01-01.json` and `other.json` → write each marker once, on one line, as `‹!-- DES-KEY: value -->`
    ");
}

#[test]
fn step_files_that_are_missing_invalid_or_outside_deny_the_call() {
    let with_file = |file: &str| called(&todo(), &MARKERS.replace("steps/01-01.json", file));
    assert_snapshot!(with_file("steps/02.json").denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_FILE_MISSING: steps/02.json does not exist → name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`
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
    ✗ STEP_DONE: steps/01-01.json is DONE already → go on with the next step, or let the user reopen this one
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
    ✗ SECTION_MISSING: the prompt has no section BOUNDARIES → add a heading `## BOUNDARIES` or `‹!-- DES-SECTION: BOUNDARIES -->`
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
    assert_snapshot!(done.system_message(), @"conclaude: ✗ STEP_DONE: steps/01-01.json is DONE already → go on with the next step, or let the user reopen this one");
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
    ✗ STEP_DONE: steps/01-01.json is DONE already → go on with the next step, or let the user reopen this one
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
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ TURN_LIMIT_EXCEEDED GREEN_UNIT: it took 9 turns of 5 → split the step, or let the user raise max_turns and call the agent again; if you are done for now, `conclaude des fail --partial`
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_huge_phase_log_is_refused() {
    let entry = json!({"phase_name": "PREPARE", "status": "EXECUTED", "started_at": "2026-01-01T10:00:00Z", "ended_at": "2026-01-01T10:00:00Z"});
    let step =
        json!({"state": {"status": "DONE"}, "tdd_cycle": {"phase_execution_log": vec![entry; 20_000]}});
    assert_snapshot!(blocked(&step), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STEP_FILE_INVALID: steps/01-01.json: its phase log has 20000 entries, at most 500 are read → fix the JSON; `conclaude des new` makes a valid step file
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_broken_config_does_not_switch_the_gates_off() {
    let broken = "des: {enabld: false}";
    let denied = Test::stop().config(broken).step(&done()).call_agent(MARKERS).run();
    assert_snapshot!(denied.denied(), @"
    conclaude denies this call of an agent:
    ✗ STEP_DONE: steps/01-01.json is DONE already → go on with the next step, or let the user reopen this one
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    ");
    let shown = Test::stop().config(broken).step(&todo()).call_agent(MARKERS).run();
    shown.updated_input();
    assert_snapshot!(shown.system_message(), @"conclaude: the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem");
    let reason = Test::gated_stop(&todo()).config(broken).run().blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(Test::gated_stop(&done()).config(broken).run().snapshot(), @"
    exit 1
    ----- stderr
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
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_malformed_payload_of_a_tool_is_shown_and_never_blocks() {
    let done = Test::event("PreToolUse").payload("tool_name", "Agent").payload("tool_input", "text").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "systemMessage": "conclaude: invalid payload: `tool_input` is not an object"
    }
    ----- stderr
    conclaude: warn: invalid payload: `tool_input` is not an object
    "#);
}

#[test]
fn a_panic_in_a_tools_gate_is_a_deny() {
    let test = Test::stop().step(&todo()).call_agent(MARKERS).env("CONCLAUDE_TEST_PANIC", "gate");
    assert_snapshot!(test.run().denied(), @"conclaude: internal error at [SOURCE]: asked for by CONCLAUDE_TEST_PANIC. This is a bug in conclaude 0.1.0; please report it with this message. It is blocked, since a gate could not be evaluated.");
}

// ---- Gate 2: during the work

fn at_work() -> Test {
    at_work_with("")
}

fn at_work_with(config: &str) -> Test {
    let test = Test::stop().config(config).step(&todo()).file("src/x", "");
    test.call_agent(MARKERS).run().again().agent_files(MARKERS)
}

#[test]
fn writes_outside_the_scope_are_denied_for_every_tool_that_writes() {
    let mut shown = Vec::new();
    for (tool, field) in [
        ("Write", "file_path"),
        ("Edit", "file_path"),
        ("MultiEdit", "file_path"),
        ("NotebookEdit", "notebook_path"),
    ] {
        let reason = at_work().writes(tool, field, "README.md").run().denied();
        shown.push(reason);
        at_work().writes(tool, field, "src/main.rs").run().silent();
    }
    assert_snapshot!(same(&shown), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    let done = at_work().writes("Write", "file_path", "README.md").run();
    let record = done.audit().pop().unwrap();
    assert_eq!((record["decision"].as_str(), record["agent_id"].as_str()), (Some("denied"), Some("a1b2c3")));
}

#[test]
fn however_a_path_is_spelt_it_is_the_same_path() {
    let test = at_work();
    let root = test.root().display().to_string();
    let absolute = format!("{root}/README.md");
    let mut test = test;
    for path in ["src/../README.md", "./README.md", absolute.as_str(), "/etc/passwd", "src/../../x", "../x"] {
        let done = test.writes("Write", "file_path", path).run();
        assert_eq!(codes(&done.denied()), ["SCOPE_VIOLATION"], "{path}");
        test = done.again();
    }
    let inside = format!("{root}/lib/../src/a.rs");
    let done = test.writes("Write", "file_path", &inside).run().silent();
    // Relative to where the agent is.
    let src = format!("{root}/src");
    let done =
        done.again().payload("cwd", src.as_str()).writes("Write", "file_path", "deep/a.rs").run().silent();
    assert_snapshot!(done.again().writes("Write", "file_path", "../a.rs").run().denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: a.rs is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
}

#[cfg(unix)]
#[test]
fn a_link_inside_the_scope_that_leads_out_of_it_is_outside() {
    let test = at_work();
    std::os::unix::fs::symlink("..", test.root().join("src/up")).unwrap();
    let reason = test.writes("Write", "file_path", "src/up/README.md").run().denied();
    assert_snapshot!(reason, @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
}

#[test]
fn the_step_file_is_always_allowed_and_the_gates_own_files_never_are() {
    at_work().writes("Edit", "file_path", "steps/01-01.json").run().silent();
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let unlimited = || Test::stop().step(&free).call_agent(MARKERS).run().again().agent_files(MARKERS);
    unlimited().writes("Write", "file_path", "anything.txt").run().silent();
    unlimited().writes("Write", "file_path", "/tmp/elsewhere.txt").run().silent();
    let own = [
        ".conclaude.yaml",
        ".conclaude.yml",
        ".conclaude/audit/x",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ];
    let denied = |test: Test, path| test.writes("Write", "file_path", path).run().denied();
    for path in own {
        assert_eq!(denied(at_work(), path), denied(unlimited(), path));
    }
    assert_snapshot!(own.map(|path| denied(unlimited(), path)).join("\n"), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude.yml belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude/audit/x belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .claude/settings.json belongs to the gates and is not for agents to write → leave it as it is
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .claude/settings.local.json belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn a_broken_step_file_can_be_fixed_and_what_it_allows_is_not_guessed() {
    // Gate 1 knows what the step allowed.
    let test = at_work().file("steps/01-01.json", "{broken");
    let done = test.writes("Write", "file_path", "src/a.rs").run().silent();
    let done = done.again().writes("Write", "file_path", "README.md").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    done.again().writes("Write", "file_path", "steps/01-01.json").run().silent();
    // Without it nobody does.
    let test = Test::stop().file("steps/01-01.json", "{broken").agent_files(MARKERS);
    let done = test.writes("Write", "file_path", "src/a.rs").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ STEP_FILE_INVALID: steps/01-01.json: key must be a string at line 1 column 2 → fix the JSON; `conclaude des new` makes a valid step file
    ");
    done.again().writes("Write", "file_path", "steps/01-01.json").run().silent();
}

#[test]
fn an_agent_cannot_change_the_rules_that_it_is_judged_by() {
    let mut wider = todo();
    wider["task_specification"]["allowed_file_patterns"] = json!(["**"]);
    let done = at_work().step(&wider).writes("Write", "file_path", "README.md").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    let mut wider = crate::common::workflow::done();
    wider["task_specification"]["allowed_file_patterns"] = json!(["**"]);
    let reason = worked(|test| test.step(&wider).file("README.md", "2")).run().blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ RULES_CHANGED: steps/01-01.json differs from what it said when the agent was called: allowed_file_patterns → restore it; if the user wants the change, the agent must be called again
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let escape = json!({"workflow_type": "configuration_setup", "state": {"status": "DONE"}});
    assert_snapshot!(worked(|test|test.step(&escape)).run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ RULES_CHANGED: steps/01-01.json differs from what it said when the agent was called: allowed_file_patterns, workflow_type → restore it; if the user wants the change, the agent must be called again
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
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_gates_cannot_be_switched_off_from_inside() {
    // By the config, once a call was let in.
    let off = at_work().config("des: {enabled: false}").stops();
    assert_snapshot!(off.run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ⚠ RULES_CHANGED: the config has changed since the agent was called: des.enabled → nothing for the agent: what it said at the call counts; the user should know who changed it
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // By deleting what names the call, once the agent was seen.
    let test = at_work().writes("Write", "file_path", "src/a.rs").run().silent().again();
    for name in ["main/subagents/agent-a1b2c3.meta.json", "main/subagents/agent-a1b2c3.jsonl"] {
        std::fs::remove_file(test.root().join(name)).unwrap();
    }
    let done = test.writes("Write", "file_path", "README.md").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    assert_snapshot!(done.again().stops().run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_gates_own_files_are_protected_whatever_the_scope() {
    let mut shown = Vec::new();
    for config in ["des: {scope: off}", "des: {scope: warn}", "des: {onViolation: warn}"] {
        let test = at_work_with(config).writes("Write", "file_path", ".conclaude.yaml");
        shown.push(test.run().denied());
    }
    assert_snapshot!(same(&shown), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    ");
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let unlimited = || Test::stop().step(&free).call_agent(MARKERS).run().again().agent_files(MARKERS);
    let test = unlimited();
    let settings = test.root().join(".home/.claude/settings.json").display().to_string();
    assert_snapshot!(test.writes("Write", "file_path", &settings).run().denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: [ROOT]/.home/.claude/settings.json belongs to the gates and is not for agents to write → leave it as it is
    ");
    let test = unlimited();
    let head = test.root().join(".state-home/conclaude/x.json").display().to_string();
    assert_snapshot!(test.writes("Write", "file_path", &head).run().denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: [ROOT]/.state-home/conclaude/x.json belongs to the gates and is not for agents to write → leave it as it is
    ");
    // From a worktree, the files of the project around it.
    let test = unlimited().file(".claude/worktrees/agent-a1b2c3/x", "");
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3").display().to_string();
    let config = test.root().join(".conclaude.yaml").display().to_string();
    assert_snapshot!(test.payload("cwd", worktree)
            .writes("Write", "file_path", &config)
            .run()
            .denied(), @"
    conclaude denies this write:
    ✗ GUARD_DENIED: writing .conclaude.yaml: `worktreeFence`: it is outside of this agent's worktree → write below [ROOT]/.claude/worktrees/agent-a1b2c3
    ✗ SCOPE_VIOLATION: [ROOT]/.conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn the_settings_of_another_config_folder_are_protected_and_case_does_not_count() {
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let unlimited = || Test::stop().step(&free).call_agent(MARKERS).run().again().agent_files(MARKERS);
    let written = |path: &str| {
        let test = unlimited();
        let root = test.root().display().to_string();
        let test = test.env("CLAUDE_CONFIG_DIR", &format!("{root}/claude-home"));
        test.writes("Write", "file_path", &path.replace("[ROOT]", &root)).run()
    };
    for path in [
        "[ROOT]/claude-home/settings.json",
        "claude-home/Settings.Local.json",
        "[ROOT]/.home/.claude/settings.json",
        ".CONCLAUDE.yaml",
        ".conclaude.YML",
        ".Conclaude/state/x",
        ".claude/Settings.json",
        ".CLAUDE/settings.local.JSON",
        // What other file systems take for the same name.
        ".claude/\u{17f}ettings.json",
        ".concl\u{200c}aude.yaml",
        "[ROOT]/.STATE-HOME/Conclaude/x.json",
    ] {
        let denied = written(path).denied();
        assert!(
            denied.ends_with("belongs to the gates and is not for agents to write → leave it as it is"),
            "{path}: {denied}"
        );
    }
    for path in ["claude-home/agents/coder.md", "claude-home/settings/x.json", ".claude/settings.yaml"] {
        written(path).silent();
    }
}

#[cfg(unix)]
#[test]
fn a_config_behind_a_link_is_protected_under_both_names() {
    let mut free = todo();
    free["task_specification"]["allowed_file_patterns"] = json!([]);
    let mut shown = Vec::new();
    for name in [".conclaude.yaml", "cfg/c.yaml"] {
        let test = Test::stop().step(&free).file("cfg/c.yaml", "");
        std::os::unix::fs::symlink("cfg/c.yaml", test.root().join(".conclaude.yaml")).unwrap();
        let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
        let denied = test.writes("Write", "file_path", name).run().denied();
        shown.push(denied.replace(name, "[NAME]"));
    }
    assert_snapshot!(same(&shown), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: [NAME] belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn a_helper_works_within_the_boundaries_of_the_agent_that_called_it() {
    let test =
        at_work().call_agent("Just help me.").payload("agent_id", "a1b2c3").payload("tool_use_id", "toolu_5");
    let test = test.run().silent().again();
    let meta = json!({"toolUseId": "toolu_5", "spawnDepth": 2}).to_string();
    let test = test.file("main/subagents/agent-c7.meta.json", meta);
    let done = test.writes("Write", "file_path", "README.md").payload("agent_id", "c7").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    let done = done.again().writes("Write", "file_path", "src/b.rs").payload("agent_id", "c7").run().silent();
    // Its own stop is nobody's business.
    done.again().stops().payload("agent_id", "c7").run().silent();
}

#[test]
fn what_a_helper_wrote_counts_as_the_agents_own() {
    let change = |test: Test| {
        let test = test
            .call_agent("Help.")
            .payload("agent_id", "a1b2c3")
            .payload("tool_use_id", "toolu_5")
            .run()
            .silent()
            .again();
        let wrote = json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "x", "name": "Write", "input": {"file_path": "README.md"}}]}});
        test.file("main/subagents/agent-c7.meta.json", json!({"toolUseId": "toolu_5"}).to_string())
            .file("main/subagents/agent-c7.jsonl", format!("{wrote}\n"))
            .file("README.md", "2")
    };
    assert_snapshot!(worked(change).run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn agents_without_a_gate_write_what_they_like() {
    let ad_hoc = Test::stop().step(&todo()).agent_files("Just write it.");
    ad_hoc.writes("Write", "file_path", "README.md").run().silent();
    Test::stop().step(&todo()).writes("Write", "file_path", "README.md").run().silent();
    let off = at_work_with("des: {scope: off}");
    off.writes("Write", "file_path", "README.md").run().silent();
    let mut shown = Vec::new();
    for config in ["des: {scope: warn}", "des: {onViolation: warn}"] {
        let done = at_work_with(config).writes("Write", "file_path", "README.md").run();
        shown.push(done.message());
        assert_eq!(done.audit().pop().unwrap()["decision"], "warned");
    }
    assert_snapshot!(same(&shown), @"conclaude: ⚠ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again");
}

#[test]
fn two_agents_of_one_type_keep_their_own_steps() {
    let other = MARKERS.replace("01-01", "02-02");
    let mut second = todo();
    second["task_specification"]["allowed_file_patterns"] = json!(["docs/**"]);
    let test = at_work()
        .file("steps/02-02.json", second.to_string())
        .call_agent(&other)
        .payload("tool_use_id", "toolu_2");
    let test = test.run().again().file("main/subagents/agent-b9.meta.json", r#"{"toolUseId":"toolu_2"}"#);
    let done = test.writes("Write", "file_path", "src/a.rs").run().silent();
    let done = done.again().payload("agent_id", "b9").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: src/a.rs is outside the scope of steps/02-02.json → write only to docs/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    done.again().writes("Write", "file_path", "docs/a.md").payload("agent_id", "b9").run().silent();
}

// ---- Gate 3: after the work

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

fn blocked(step: &Value) -> String {
    Test::gated_stop(step).run().blocked()
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
    ✗ INCOMPLETE_PHASE COMMIT: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a reason that counts
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
    assert_snapshot!(stop(&MARKERS.replace("required", "requird")).run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ MARKER_INVALID: DES-VALIDATION is `requird`, not `required`, `optional` or `none` → write each marker once, on one line, as `‹!-- DES-KEY: value -->`
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop("<!-- DES-VALIDATION: required -->").run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ MARKER_MISSING: DES-VALIDATION is required, but DES-STEP-FILE is missing → add `‹!-- DES-STEP-FILE: path/of/step.json -->` to the prompt; `conclaude des prompt` prints all markers
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop(&MARKERS.replace("DES-AGENT: coder", "DES-AGENT: x")).run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ AGENT_MISMATCH: DES-AGENT is x, but this is coder → only that agent can finish this step
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop(&MARKERS.replace("01-01.json", "gone.json")).run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STEP_FILE_MISSING: steps/gone.json does not exist → name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop(MARKERS).file("steps/01-01.json", "{").run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STEP_FILE_INVALID: steps/01-01.json: EOF while parsing an object at line 1 column 1 → fix the JSON; `conclaude des new` makes a valid step file
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop(&MARKERS.replace("steps/01-01.json", "../x.json"))
            .run()
            .blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ STEP_FILE_OUTSIDE_PROJECT: ../x.json lies outside the project [ROOT] → name a step file inside the project, relative to its root
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_deferred_skip_is_shown_and_does_not_block() {
    let step = with(9, json!({"status": "SKIPPED", "blocked_by": "DEFERRED: next sprint"}));
    let done = Test::gated_stop(&step).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ DEFERRED_SKIP REFACTOR_L3: it was put off: DEFERRED: next sprint → see that it is done later
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ");
    assert_eq!(done.audit().pop().unwrap()["decision"], "warned");
}

#[test]
fn an_honest_failure_may_stop_and_is_reported() {
    let mut step = with(5, json!({"outcome": "FAIL"}));
    step["state"] = json!({"status": "FAILED", "failure_reason": "the <b>library</b> has a bug"});
    let done = Test::gated_stop(&step).config("des: {scope: off}").run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ the step steps/01-01.json failed, and says so: the ‹b>library‹/b> has a bug
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
    conclaude: coder (a1b2c3) may not stop yet (block [N] of 2):
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
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
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

// ---- Where the prompt is found

#[test]
fn what_gate_1_remembered_outranks_the_transcript() {
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again();
    // The agent's transcript says something else, or is gone.
    let done = test.agent_files("Just do it.").stops().run();
    assert_snapshot!(done.blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let test = done.again();
    std::fs::remove_file(test.root().join("main/subagents/agent-a1b2c3.jsonl")).unwrap();
    assert_snapshot!(test.run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 2 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_transcript_may_have_any_of_its_forms() {
    let forms = [
        json!({"role": "user", "content": MARKERS, "timestamp": "t"}),
        json!({"role": "user", "content": [{"type": "text", "text": MARKERS}]}),
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": MARKERS}]}}),
    ];
    let odd = [
        json!({"role": "user", "content": MARKERS, "timestamp": 17}).to_string(),
        format!(
            "{}\n{}",
            json!({"role": "system", "content": "x"}),
            json!({"role": "user", "content": MARKERS})
        ),
        format!(
            "{}\n{}",
            json!({"type": "note", "message": "text"}),
            json!({"role": "user", "content": MARKERS})
        ),
        format!("garbage\n{}", json!({"role": "user", "content": MARKERS})),
    ];
    for text in odd {
        let test = Test::stop().step(&todo()).file("main/subagents/agent-a1b2c3.jsonl", &text);
        assert_eq!(codes(&test.stops().run().blocked()), ["SILENT_COMPLETION"], "{text}");
    }
    for form in forms {
        let test = Test::stop()
            .step(&todo())
            .file("main/subagents/agent-a1b2c3.jsonl", format!("{form}\n{{truncated"));
        assert_eq!(codes(&test.stops().run().blocked()), ["SILENT_COMPLETION"], "{form}");
    }
    let test = Test::stop()
        .step(&todo())
        .file("main/subagents/agent-a1b2c3.jsonl", capture("transcript-subagent.jsonl"));
    assert_snapshot!(test.stops().run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn what_is_quoted_later_never_counts() {
    let lines = [
        json!({"type": "user", "message": {"role": "user", "content": "Read the docs."}}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": MARKERS}}),
        json!({"type": "user", "message": {"role": "user", "content": MARKERS}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let test = Test::stop().step(&todo()).file("main/subagents/agent-a1b2c3.jsonl", text);
    test.stops().run().silent();
    let only_assistant = format!("{}\n", lines[1]);
    Test::stop()
        .step(&todo())
        .file("main/subagents/agent-a1b2c3.jsonl", only_assistant)
        .stops()
        .run()
        .silent();
}

#[test]
fn without_its_own_transcript_the_call_in_the_main_one_counts() {
    let call = agent_call("Agent", "toolu_1", "coder").replace("do it", &MARKERS.replace('\n', "\\n"));
    let other = agent_call("Agent", "toolu_2", "coder");
    let test = Test::stop().step(&todo()).meta().file("main.jsonl", format!("{call}\n{other}\n"));
    assert_snapshot!(test.stops().run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // Without an id only the most recent call counts, and only if it is one of this agent.
    let older =
        |calls: String| Test::stop().step(&todo()).file("main.jsonl", calls).stops().without("agent_id");
    assert_snapshot!(older(format!("{other}\n{call}\n")).run().blocked(), @"
    conclaude: coder may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    older(format!("{call}\n{other}\n")).run().silent();
    older(call).payload("agent_type", "tester").run().silent();
}

#[test]
fn a_transcript_that_comes_late_is_waited_for() {
    let test = Test::stop().step(&todo()).file("main.jsonl", "{}\n").meta().stops();
    // The hook marks its arrival there, and looks for the prompt next.
    let test = test.file(".conclaude/state/last/.keep", "");
    let child = test.spawn();
    let started = std::time::Instant::now();
    while !test.root().join(".conclaude/state/last/SubagentStop").exists() {
        assert!(started.elapsed().as_secs() < 60, "the hook did not start");
        std::thread::yield_now();
    }
    let line = json!({"type": "user", "message": {"role": "user", "content": MARKERS}});
    std::fs::write(test.root().join("main/subagents/agent-a1b2c3.jsonl"), format!("{line}\n")).unwrap();
    assert_eq!(codes(&test.outcome_of(child).blocked()), ["SILENT_COMPLETION"]);
}

#[cfg(unix)]
#[test]
fn a_transcript_that_never_comes_does_not_hold_the_hook() {
    let test = Test::stop().step(&todo());
    // A main transcript that cannot be read, as if that were not enough.
    assert!(test.program("mkfifo").arg(test.root().join("main.jsonl")).status().unwrap().success());
    test.stops().run().silent();
}

// ---- Scope at the stop

fn worked(change: impl FnOnce(Test) -> Test) -> Test {
    worked_with("", change)
}

fn worked_with(config: &str, change: impl FnOnce(Test) -> Test) -> Test {
    let test =
        Test::stop().config(config).step(&todo()).file("src/a.rs", "1").file("README.md", "1").committed();
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS).step(&done());
    change(test).stops()
}

#[test]
fn changes_inside_the_scope_pass() {
    worked(|test| test.file("src/a.rs", "2").file("src/new/b.rs", "2")).run().silent();
}

#[test]
fn changes_outside_the_scope_block_however_they_were_made() {
    let changes: [fn(Test) -> Test; 4] = [
        |test| test.file("README.md", "2"),
        |test| test.file("untracked.txt", "2"),
        |test| test.file("README.md", "2").git(&["add", "README.md"]),
        |test| test.file("README.md", "2").git(&["commit", "-qam", "y"]),
    ];
    assert_snapshot!(changes.map(|change| worked(change).run().blocked()).join("\n"), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: untracked.txt was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn git_settings_do_not_hide_a_change() {
    let reason =
        worked(|test| test.git(&["update-index", "--assume-unchanged", "README.md"]).file("README.md", "2"))
            .run()
            .blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn what_was_dirty_before_the_call_does_not_count() {
    let test = Test::stop()
        .step(&todo())
        .file("README.md", "1")
        .committed()
        .file("README.md", "mine")
        .file("note", "mine");
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS).step(&done()).stops();
    let done = test.run().silent();
    assert_snapshot!(done.again().file("note", "changed").run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: note was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn scope_can_warn_or_be_off() {
    let change = |test: Test| test.file("README.md", "2");
    let done = worked_with("des: {scope: warn}", change).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
    worked_with("des: {scope: off}", change).run().silent();
}

#[test]
fn without_git_or_a_baseline_scope_only_warns() {
    let done = Test::gated_stop(&done()).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ");
    let done = Test::gated_stop(&crate::common::workflow::done()).committed().run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: Gate 1 did not see this call, so there is no baseline → look yourself at what was changed: the scope was not checked
    ");
}

#[test]
fn while_others_work_in_the_same_tree_only_own_writes_block() {
    let other = json!({"type": "user", "message": {"role": "user", "content": "x"}}).to_string();
    let both = |test: Test| test.file("README.md", "2").file("main/subagents/agent-other.jsonl", &other);
    let done = worked(both).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: README.md was changed while others worked in the same tree → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
    let wrote = json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "x", "name": "Edit", "input": {"file_path": "README.md"}}]}});
    let prompt = json!({"type": "user", "message": {"role": "user", "content": MARKERS}});
    let own =
        |test: Test| both(test).file("main/subagents/agent-a1b2c3.jsonl", format!("{prompt}\n{wrote}\n"));
    assert_snapshot!(worked(own).run().blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_main_thread_at_work_meanwhile_makes_scope_fair_too() {
    let background = |main: Value| {
        let test = Test::stop().step(&todo()).file("README.md", "1").committed().call_agent(MARKERS);
        let input = json!({"prompt": MARKERS, "subagent_type": "coder"});
        let test = test.payload("tool_input", input).run().again();
        test.agent_files(MARKERS)
            .step(&done())
            .file("main.jsonl", format!("{main}\n"))
            .file("README.md", "2")
            .stops()
            .run()
    };
    let edit = |time: &str| {
        json!({"type": "assistant", "timestamp": time, "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "x", "name": "Edit", "input": {"file_path": "README.md"}}]}})
    };
    assert_snapshot!(background(edit("2999-01-01T00:00:00.000Z")).message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: README.md was changed while others worked in the same tree → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
    assert_snapshot!(background(edit("2000-01-01T00:00:00.000Z")).blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let mut read = edit("2999-01-01T00:00:00.000Z");
    read["message"]["content"][0]["name"] = "Read".into();
    assert_snapshot!(background(read).blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn an_agent_in_a_worktree_is_judged_there() {
    let test = Test::stop().step(&todo()).file("src/a.rs", "1").file("README.md", "1").committed();
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
    let test = test.git(&["worktree", "add", "-q", ".claude/worktrees/agent-a1b2c3", "-b", "agent"]);
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3");
    // The main tree may change as it likes; the step in the worktree is the one that counts.
    let test =
        test.file("README.md", "the user's").stops().payload("cwd", worktree.join("src").to_str().unwrap());
    let done = test.run();
    assert_snapshot!(done.blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let step = format!("{:#}\n", crate::common::workflow::done());
    let test = done.again().file(".claude/worktrees/agent-a1b2c3/steps/01-01.json", step);
    let done = test.file(".claude/worktrees/agent-a1b2c3/src/a.rs", "2").run();
    assert_eq!(done.message(), "conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
    let done = done.again().file(".claude/worktrees/agent-a1b2c3/README.md", "2").run();
    assert_snapshot!(done.blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 2 of 3):
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert!(!done.has(".claude/worktrees/agent-a1b2c3/.conclaude"), "state stays at the root");
}

#[test]
fn a_resumed_agent_does_not_answer_for_what_happened_between_its_lives() {
    let stopped = worked(|test| test).run().silent();
    let edit = json!({"type": "assistant", "timestamp": "2999-01-01T00:00:00.000Z", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "x", "name": "Edit", "input": {"file_path": "README.md"}}]}});
    let test = stopped.again().file("main.jsonl", format!("{edit}\n")).file("README.md", "the user's");
    let test = test.starts().run().silent().again();
    assert_snapshot!(test.stops().run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: README.md was changed while others worked in the same tree → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
}

#[test]
fn what_configured_commands_write_is_not_the_agents_doing() {
    let config = "subagentStart: {commands: {'*': [{run: echo x > start.log}]}}\nsubagentStop: {commands: {'*': [{run: echo y > coverage.txt}]}}\n";
    let test = Test::stop().config(config).step(&todo()).file("src/a.rs", "1").committed();
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
    let test = test.starts().run().silent().again();
    let first = test.stops().run();
    assert_snapshot!(first.blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let done = first.again().step(&done()).run();
    assert_eq!(done.message(), "conclaude: ✓ coder (a1b2c3): the step passed after 1 block");
    let changed = done.again().file("start.log", "the agent's").run().blocked();
    assert_snapshot!(changed, @"
    conclaude: coder (a1b2c3) may not stop yet (block 2 of 3):
    ✗ SCOPE_VIOLATION: start.log was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn files_of_the_gates_that_someone_else_changed_are_reported_and_do_not_block() {
    let done = worked(|test| test.file(".claude/settings.local.json", "{}")).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: .claude/settings.local.json was changed meanwhile, which belongs to the gates → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
}

/// A `git` that is first on PATH and counts its starts.
#[cfg(unix)]
fn counting(test: Test) -> Test {
    let folder = test.root().join(".state-home/bin");
    let log = test.root().join(".state-home/git-calls");
    let script = format!("#!/bin/sh\necho \"$*\" >> {}\nPATH=${{PATH#*:}} exec git \"$@\"\n", log.display());
    crate::common::program::script(folder.join("git"), script);
    test.env("PATH", &format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()))
}

#[cfg(unix)]
#[track_caller]
fn git_calls(outcome: &crate::common::Outcome) -> usize {
    let log = outcome.root().join(".state-home/git-calls");
    let calls = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(log);
    calls.lines().count()
}

#[cfg(unix)]
#[test]
fn a_gate_starts_git_only_where_head_moved() {
    let config = "subagentStop: {commands: {'*': [{run: echo y > coverage.txt}]}}\n";
    let test = counting(Test::stop().step(&todo()).file("src/a.rs", "1").committed());
    let called = test.call_agent(MARKERS).run();
    assert_eq!(git_calls(&called), 0, "Gate 1");
    let worked = called.again().agent_files(MARKERS).step(&done()).file("src/a.rs", "2").stops();
    let stopped = worked.run().silent();
    assert_eq!(git_calls(&stopped), 0, "Gate 3");
    let with_command = stopped.again().config(config).run();
    assert_eq!(git_calls(&with_command), 0, "Gate 3 with a command: {}", with_command.stderr);
    let moved = with_command.again().git(&["add", "src"]).git(&["commit", "-qm", "y"]);
    // What the test itself started does not count.
    std::fs::remove_file(moved.root().join(".state-home/git-calls")).unwrap();
    assert_eq!(git_calls(&moved.run()), 1, "a moved HEAD costs a diff");
    let outside = counting(Test::stop().step(&todo())).call_agent(MARKERS).run();
    assert_eq!(git_calls(&outside), 0, "no repository, no git");
}

#[test]
fn what_a_sparse_checkout_leaves_out_was_not_touched() {
    let test = Test::stop().step(&todo()).file("src/a.rs", "1").file("other/b", "1").committed();
    let test = test.git(&["sparse-checkout", "set", "--cone", "src", "steps"]);
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS).step(&done());
    test.stops().run().silent();
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
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ INCOMPLETE_PHASE DO: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a reason that counts
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

// ---- Agents that never stop

#[test]
fn unfinished_agents_are_recorded_and_shown_once() {
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again().agent_files(MARKERS).then("Stop");
    // Still running in the background: not yet.
    let running = json!([{"id": "a1b2c3", "type": "subagent", "status": "running"}]);
    let done = test.payload("background_tasks", running).run().silent();
    let done = done.again().without("background_tasks").run().silent();
    let killed = json!([{"id": "a1b2c3", "type": "subagent", "status": "killed"}]);
    let done = done.again().payload("background_tasks", killed).run();
    assert_snapshot!(done.message(), @"conclaude: ⚠ UNFINISHED: coder (a1b2c3) was to do steps/01-01.json and never stopped → look at what it left; call it again if the step is not done");
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
    assert_snapshot!(done.message(), @"conclaude: ⚠ UNFINISHED: coder (a1b2c3) was to do steps/01-01.json and never stopped → look at what it left; call it again if the step is not done");
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
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ INCOMPLETE_PHASE CHECK: it is NOT_EXECUTED while others ran → do it and record it, or skip it with a reason that counts
    (the gates run with their defaults until the user fixes the config: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}
