//! Ways out of the gates that a gated agent has tried, using its own tools.

use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::workflow::{MARKERS, codes, done, remembered_calls, todo};
use crate::common::{Outcome, Test, run_in};

/// A repository in which `coder` was called for a step that allows `src/**`, and has started.
fn at_work(config: &str) -> Test {
    let test = Test::stop().config(config).step(&todo()).file("src/a.rs", "1").file("README.md", "1");
    test.file("lib/b", "1").committed().call_agent(MARKERS).run().again().agent_files(MARKERS)
}

/// A step with these patterns, and otherwise as it is before the work.
fn allowing(patterns: &[&str]) -> Value {
    let mut step = todo();
    step["task_specification"]["allowed_file_patterns"] = json!(patterns);
    step
}

fn markers_of(step: &str) -> String {
    MARKERS.replace("steps/01-01.json", step)
}

/// The agent calls another one.
fn nested_call(test: Test, caller: &str, prompt: &str, call: &str) -> Test {
    test.call_agent(prompt).payload("agent_id", caller).payload("tool_use_id", call)
}

/// The agent of this call has started.
fn started(test: Test, agent: &str, call: &str) -> Test {
    let meta = json!({"agentType": "coder", "toolUseId": call, "spawnDepth": 2}).to_string();
    test.file(&format!("main/subagents/agent-{agent}.meta.json"), meta)
        .file(&format!("main/subagents/agent-{agent}.jsonl"), "")
}

fn writes(test: Test, agent: &str, path: &str) -> Outcome {
    test.writes("Write", "file_path", path).payload("agent_id", agent).run()
}

/// A line of a transcript in which a tool writes, and one with its result.
fn tool_use(id: &str, path: &str) -> String {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": path}}]}})
    .to_string()
}

fn tool_result(id: &str, is_error: bool) -> String {
    json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": "x"}]}})
    .to_string()
}

fn transcript(lines: &[String]) -> String {
    let prompt =
        json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": MARKERS}});
    format!("{prompt}\n{}\n", lines.join("\n"))
}

// ---- Markers

#[test]
fn a_marker_with_a_key_that_is_nearly_right_is_reported() {
    let denied = |written: &str| {
        let prompt = MARKERS.replace("DES-VALIDATION", written);
        Test::stop().step(&todo()).call_agent(&prompt).run().denied()
    };
    let shown =
        ["DES_VALIDATION", "DES\u{2011}VALIDATION", "DES-\u{200b}VALIDATION", "DESVALIDATION"].map(denied);
    assert_snapshot!(shown.join("\n"), @r"
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: `DES_VALIDATION` is not a marker, `DES-VALIDATION` is → write each marker once, on one line, as `<!-- DES-KEY: value -->`
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: `DES\u{2011}VALIDATION` is not a marker, `DES-VALIDATION` is → write each marker once, on one line, as `<!-- DES-KEY: value -->`
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: `DES-\u{200b}VALIDATION` is not a marker, `DES-VALIDATION` is → write each marker once, on one line, as `<!-- DES-KEY: value -->`
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: `DESVALIDATION` is not a marker, `DES-VALIDATION` is → write each marker once, on one line, as `<!-- DES-KEY: value -->`
    ");
    Test::stop().step(&todo()).call_agent("<!-- the DES validation of steps: see docs -->").run().silent();
}

// ---- Nested calls

#[test]
fn a_nested_call_with_markers_gets_at_most_its_callers_patterns() {
    let test = at_work("").file("src/free.json", allowing(&["**"]).to_string());
    let called = nested_call(test, "a1b2c3", &markers_of("src/free.json"), "toolu_5").run();
    let input = called.updated_input();
    let boundary =
        input["prompt"].as_str().unwrap().lines().find(|line| line.contains("write only")).unwrap();
    assert_snapshot!(boundary, @"- You may write only to `**`, as far as it is in the caller's `src/**`, and to the step file.");
    let test = started(called.again(), "c7", "toolu_5");
    let outside = writes(test, "c7", "README.md");
    assert_snapshot!(outside.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: README.md is outside the scope of src/free.json → write only to **, as far as it is in the caller's src/**; if that is too narrow, let the user widen allowed_file_patterns and call the agent again
    ");
    let inside = writes(outside.again(), "c7", "src/b.rs").silent();
    // One level deeper, with markers, and then without.
    let test = inside.again().file("src/deep.json", allowing(&["**"]).to_string());
    let called = nested_call(test, "c7", &markers_of("src/deep.json"), "toolu_6").run();
    called.updated_input();
    let test = started(called.again(), "d8", "toolu_6");
    let outside = writes(test, "d8", "README.md");
    assert_eq!(codes(&outside.denied()), ["SCOPE_VIOLATION"]);
    let called = nested_call(outside.again(), "d8", "Just help.", "toolu_7").run().silent();
    let test = started(called.again(), "e9", "toolu_7");
    let outside = writes(test, "e9", "README.md");
    assert_eq!(codes(&outside.denied()), ["SCOPE_VIOLATION"]);
    writes(outside.again(), "e9", "src/c.rs").silent();
}

#[test]
fn a_nested_call_cannot_open_a_file_outside_the_scope_as_its_step_file() {
    let test = at_work("").file("package.json", allowing(&[]).to_string());
    let denied = nested_call(test, "a1b2c3", &markers_of("package.json"), "toolu_5").run();
    assert_snapshot!(denied.denied(), @"
    conclaude denies this call of an agent:
    ✗ SCOPE_VIOLATION: the step file package.json is outside the scope of the agent that calls (src/**) → let the main thread call this agent, or name a step file inside the scope
    ");
}

#[test]
fn a_nested_agent_is_no_other_agent_that_excuses_what_its_caller_changed() {
    let test = at_work("").file("src/two.json", allowing(&["src/**"]).to_string());
    let called = nested_call(test, "a1b2c3", &markers_of("src/two.json"), "toolu_5").run();
    called.updated_input();
    let test = started(called.again(), "c7", "toolu_5").step(&done()).file("README.md", "2");
    assert_eq!(codes(&test.stops().run().blocked()), ["SCOPE_VIOLATION"]);
}

#[test]
fn a_nested_call_is_judged_by_its_callers_config() {
    let test =
        at_work("").config("des: {enabled: false}").file("src/free.json", allowing(&["**"]).to_string());
    let called = nested_call(test, "a1b2c3", &markers_of("src/free.json"), "toolu_5").run();
    called.updated_input();
    let outside = writes(started(called.again(), "c7", "toolu_5"), "c7", "README.md");
    assert_eq!(codes(&outside.denied()), ["SCOPE_VIOLATION"]);
}

// ---- What an agent wrote itself

#[test]
fn a_write_that_was_denied_is_not_the_agents_own() {
    let other =
        |test: Test| test.file("main/subagents/agent-other.jsonl", "{}\n").file("lib/b", "2").step(&done());
    let own = |test: Test, lines: &[String]| {
        test.file("main/subagents/agent-a1b2c3.jsonl", transcript(lines)).stops().run()
    };
    // Denied by somebody, or failed: the result says so.
    let lines = [tool_use("t1", "lib/b"), tool_result("t1", true)];
    let failed = own(other(at_work("")), &lines).message();
    // Denied by Gate 2, and the transcript does not say so yet.
    let denied = at_work("").writes("Write", "file_path", "lib/b").payload("tool_use_id", "t2").run();
    denied.denied();
    let denied = own(other(denied.again()), &[tool_use("t2", "lib/b")]).message();
    assert_snapshot!(crate::common::snapshot::same(&[failed, denied]), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: lib/b was changed while others worked in the same tree → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ");
    // What happened, and what may have happened.
    let lines = [tool_use("t1", "lib/b"), tool_result("t1", false)];
    assert_eq!(codes(&own(other(at_work("")), &lines).blocked()), ["SCOPE_VIOLATION"]);
    assert_eq!(codes(&own(other(at_work("")), &lines[..1]).blocked()), ["SCOPE_VIOLATION"]);
}

#[test]
fn a_transcript_that_is_gone_excuses_nothing() {
    let test = at_work("").writes("Write", "file_path", "src/a.rs").run().silent().again();
    std::fs::remove_file(test.root().join("main/subagents/agent-a1b2c3.jsonl")).unwrap();
    let test = test.file("main/subagents/agent-other.jsonl", "{}\n").file("lib/b", "2").step(&done());
    assert_eq!(codes(&test.stops().run().blocked()), ["SCOPE_VIOLATION"]);
}

// ---- The config

#[test]
fn a_config_that_is_loosened_after_the_call_changes_nothing_and_is_reported() {
    let loosened = "maxBlocks: 1\ndes: {enabled: false, onViolation: warn, scope: off, phases: [COMMIT], evidence: []}\n";
    let config = "des: {phases: tdd-3, evidence: {GREEN: 'true'}}\n";
    let phase = |name: &str| json!({"phase_name": name, "status": "EXECUTED", "outcome": "PASS"});
    let mut step = done();
    step["tdd_cycle"]["phase_execution_log"] = json!([phase("RED"), phase("GREEN"), phase("COMMIT")]);
    let test = at_work(config).config(loosened).step(&step).file("README.md", "2");
    assert_snapshot!(test.stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ⚠ RULES_CHANGED: the config has changed since the agent was called: des.enabled, des.onViolation, des.scope, des.phases, des.evidence, maxBlocks → the agent need not do anything: the config at the call counts; the user should know who changed it
    ✗ EVIDENCE_MISSING GREEN: there is no record of a real run → restore `GREEN: true` in des.evidence, then run it: conclaude des run steps/01-01.json GREEN
    ⚠ SCOPE_VIOLATION: .conclaude.yaml was changed meanwhile, which belongs to the gates → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let denied = at_work(config).config(loosened).writes("Write", "file_path", "README.md").run();
    assert_eq!(codes(&denied.denied()), ["SCOPE_VIOLATION"]);
}

#[test]
fn a_config_that_appears_below_the_root_does_not_start_another_memory() {
    let test = Test::stop().config("des: {}").step(&allowing(&["sub/**"])).file("sub/src/a", "1").committed();
    let sub = test.root().join("sub").display().to_string();
    let test = test.env("CLAUDE_PROJECT_DIR", &sub).payload("cwd", sub.as_str());
    let test = test.call_agent(MARKERS).run().again().agent_files(MARKERS);
    let denied = test.writes("Write", "file_path", ".conclaude.yaml").run();
    assert_snapshot!(denied.denied(), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: .conclaude.yaml belongs to the gates and is not for agents to write → leave it as it is
    ");
    // A shell may have written it.
    let test = denied
        .again()
        .file("sub/.conclaude.yaml", "des: {enabled: false}")
        .file("sub/steps/01-01.json", done().to_string());
    assert_snapshot!(test.stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ RULES_CHANGED: the project's root was [ROOT] when the agent was called, and is [ROOT]/sub now → remove the config that was added, or restore the one that was removed
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

// ---- The step file

#[cfg(unix)]
#[test]
fn a_step_file_that_becomes_a_link_excuses_nothing() {
    let test = at_work("").step(&done());
    let root = test.root();
    std::fs::rename(root.join("steps/01-01.json"), root.join("README.md")).unwrap();
    std::os::unix::fs::symlink("../README.md", root.join("steps/01-01.json")).unwrap();
    let denied = test.writes("Write", "file_path", "README.md").run();
    assert_eq!(codes(&denied.denied()), ["SCOPE_VIOLATION"]);
    assert_snapshot!(denied.again().stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ RULES_CHANGED: steps/01-01.json leads to README.md now → restore it: a step file stays where it was at the call
    ✗ SCOPE_VIOLATION: README.md was changed → revert it, or let the user widen allowed_file_patterns (now src/**) and call the agent again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_workflow_without_phases_in_a_worktree_removes_none() {
    let test = at_work("").git(&["worktree", "add", "-q", ".claude/worktrees/agent-a1b2c3", "-b", "agent"]);
    let worktree = test.root().join(".claude/worktrees/agent-a1b2c3").display().to_string();
    let escape = json!({"workflow_type": "configuration_setup", "state": {"status": "DONE"}, "allowed_file_patterns": ["src/**"]});
    let test = test.file(".claude/worktrees/agent-a1b2c3/steps/01-01.json", escape.to_string());
    let reason = test.stops().payload("cwd", worktree).run().blocked();
    assert_eq!(codes(&reason), ["MISSING_PHASE"; 14]);
    assert_snapshot!(reason.lines().nth(1).unwrap(), @"⚠ RULES_CHANGED: steps/01-01.json has changed since the agent was called: workflow_type → restore it; if the user wants the change, the agent must be called again");
}

#[test]
fn acceptance_criteria_are_those_of_the_call() {
    let mut step = todo();
    step["task_specification"]["acceptance_criteria"] = json!(["greets in French"]);
    let test = Test::stop().step(&step).committed().call_agent(MARKERS).run().again().agent_files(MARKERS);
    let mut rewritten = done();
    rewritten["task_specification"]["acceptance_criteria"] = json!(["exists"]);
    assert_snapshot!(test.step(&rewritten).stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ RULES_CHANGED: steps/01-01.json has changed since the agent was called: acceptance_criteria → restore it; if the user wants the change, the agent must be called again
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

// ---- What is remembered

#[test]
fn a_call_that_must_be_recorded_and_cannot_be_is_denied() {
    let test = Test::stop().config("audit: {required: true}").step(&todo()).file(".conclaude", "in the way");
    let done = test.call_agent(MARKERS).run();
    assert_snapshot!(done.denied(), @"
    conclaude denies this call of an agent:
    ✗ NOT_RECORDED: the audit trail cannot be written: [ROOT]/.conclaude is not a folder → let the user make the audit trail writable, or set audit.required to false
    ");
    // Nobody waits for the agent of a call that was not made.
    let calls = remembered_calls(&done.root());
    let is_open = |path: &PathBuf| {
        let call: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        call["stopped"] == false
    };
    assert_eq!(calls.iter().map(is_open).collect::<Vec<_>>(), [false]);
}

#[test]
fn removing_the_projects_state_changes_nothing() {
    let test = at_work("").step(&done()).file("README.md", "2");
    std::fs::remove_dir_all(test.root().join(".conclaude")).unwrap();
    assert_eq!(codes(&test.stops().run().blocked()), ["SCOPE_VIOLATION"]);
}

#[test]
fn an_agent_that_left_nothing_to_judge_it_by_is_blocked_once_and_reported() {
    let test = at_work("");
    for gone in [".conclaude", "main"] {
        std::fs::remove_dir_all(test.root().join(gone)).unwrap();
    }
    let first = test.stops().run();
    assert_snapshot!(first.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ NOT_JUDGED: an agent was called for steps/01-01.json, and this may be that agent: its transcript and the file next to it are gone, so its step cannot be checked → say in your report what became of them and what you did; the user must look at the step
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let second = first.again().payload("stop_hook_active", true).run();
    assert_snapshot!(second.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✗ NOT_JUDGED: an agent was called for steps/01-01.json, and this may be that agent: its transcript and the file next to it are gone, so its step cannot be checked → say in your report what became of them and what you did; the user must look at the step
    ⚠ coder (a1b2c3): stopped after 1 block
    ");
    assert_eq!(second.audit().pop().unwrap()["findings"][0]["code"], "NOT_JUDGED");
    // Another kind of agent is not meant.
    let test = second.again().stops().payload("agent_type", "tester").payload("agent_id", "b9");
    assert_eq!(codes(&test.run().message()), [""; 0]);
}

#[test]
fn removing_what_names_the_call_does_not_lose_it() {
    // The prompt still says whose it is.
    let test = at_work("").step(&done()).file("README.md", "2");
    std::fs::remove_file(test.root().join("main/subagents/agent-a1b2c3.meta.json")).unwrap();
    assert_eq!(codes(&test.stops().run().blocked()), ["SCOPE_VIOLATION"]);
}

#[cfg(unix)]
#[test]
fn what_is_remembered_of_calls_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let test = at_work("");
    let sessions = test.root().join(".state-home/conclaude/sessions");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let folder = std::fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
    assert_eq!(mode(&folder), 0o700);
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(mode(&file), 0o600);
}

const OTHER: &str = ".claude/worktrees/agent-other";

/// A folder that only has the name of a worktree was one: a step that was finished there counted.
#[test]
fn a_folder_that_git_does_not_know_is_no_worktree() {
    let own = ".claude/worktrees/agent-a1b2c3";
    let test = at_work("").file(&format!("{own}/steps/01-01.json"), done().to_string());
    let fake = test.root().join(own).display().to_string();
    let reason = test.stops().payload("cwd", fake).run().blocked();
    // The folder is one of the project, too.
    assert_eq!(codes(&reason), ["SILENT_COMPLETION", "SCOPE_VIOLATION"], "{reason}");
}

#[test]
fn an_agent_is_not_judged_in_the_worktree_of_another_one() {
    let test = at_work("").git(&["worktree", "add", "-q", OTHER, "-b", "other"]);
    let test = test.file(&format!("{OTHER}/steps/01-01.json"), done().to_string());
    let worktree = test.root().join(OTHER).display().to_string();
    let reason = test.stops().payload("cwd", worktree).run().blocked();
    assert_eq!(codes(&reason), ["SILENT_COMPLETION"], "{reason}");
}

#[test]
fn a_proof_that_was_made_in_another_work_tree_does_not_count() {
    let config = "des: {scope: off, evidence: [GREEN_UNIT]}\n";
    let test = at_work(config).git(&["worktree", "add", "-q", OTHER, "-b", "other"]);
    let worktree = test.root().join(OTHER);
    for phase in ["PREPARE", "RED_ACCEPTANCE", "RED_UNIT"] {
        run_in(&worktree, &["des", "start", "steps/01-01.json", phase]);
        run_in(&worktree, &["des", "finish", "steps/01-01.json", phase, "--pass"]);
    }
    let run = ["des", "run", "steps/01-01.json", "GREEN_UNIT", "--", "true"];
    assert_eq!(run_in(&worktree, &run).0, Some(0));
    let reason = test.step(&done()).stops().run().blocked();
    assert_eq!(codes(&reason), ["EVIDENCE_MISSING"], "{reason}");
}
