//! Gate 2: during the work.

use insta::assert_snapshot;
use serde_json::json;

use super::{at_work, at_work_with, worked};
use crate::common::Test;
use crate::common::snapshot::same;
use crate::common::workflow::{MARKERS, codes, remembered_calls, todo};

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

/// Gate 2 looked at the input that came, and the tool got another.
#[test]
fn an_input_that_a_hook_changes_is_judged_by_gate_2_again() {
    let config = |path: &str| {
        let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"file_path": path, "content": "x"}}});
        let hook = json!({"run": format!("cat <<'END'\n{answer}\nEND"), "protocol": "hook"});
        json!({"preToolUse": {"commands": {"Write": [hook]}}}).to_string()
    };
    let done = at_work_with(&config("README.md")).writes("Write", "file_path", "src/a.rs").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of steps/01-01.json → write only to src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    (`cat <<'END' …` changed the input of this tool: this applies to the changed input)
    ");
    assert_eq!(done.audit().pop().unwrap()["findings"][0]["code"], "SCOPE_VIOLATION");
    at_work_with(&config("src/b.rs")).writes("Write", "file_path", "src/a.rs").run().status(0);
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
fn a_helper_whose_boundaries_cannot_be_remembered_is_denied_and_recorded_so() {
    let test =
        at_work().call_agent("Just help me.").payload("agent_id", "a1b2c3").payload("tool_use_id", "toolu_5");
    let before = remembered_calls(&test.root());
    let test = test.run().silent().again();
    let helper = remembered_calls(&test.root()).into_iter().find(|path| !before.contains(path)).unwrap();
    std::fs::remove_file(&helper).unwrap();
    std::fs::create_dir_all(helper.join("in the way")).unwrap();
    std::fs::remove_dir_all(test.root().join(".conclaude/state")).unwrap();
    let done = test.file(".conclaude/state", "in the way").run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this call of an agent:
    ✗ NOT_REMEMBERED: the boundaries of its caller cannot be remembered: [ROOT]/.conclaude/state is not a folder → let the user make the state of conclaude writable
    ");
    let record = done.audit().pop().unwrap();
    assert_eq!(
        (&record["decision"], &record["findings"][0]["code"]),
        (&json!("denied"), &json!("NOT_REMEMBERED"))
    );
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
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
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
