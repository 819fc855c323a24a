//! Ways out of the gates that a gated agent has tried, using its own tools.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::workflow::{MARKERS, codes, done, todo};
use crate::common::{Outcome, Test};

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
    let prompt = json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": MARKERS}});
    format!("{prompt}\n{}\n", lines.join("\n"))
}

// ---- Markers

#[test]
fn a_marker_with_a_key_that_is_nearly_right_is_reported() {
    let denied = |written: &str| {
        let prompt = MARKERS.replace("DES-VALIDATION", written);
        Test::stop().step(&todo()).call_agent(&prompt).run().denied()
    };
    let shown = ["DES_VALIDATION", "DES\u{2011}VALIDATION", "DES-\u{200b}VALIDATION", "DESVALIDATION"].map(denied);
    assert_snapshot!(shown.join("\n"), @r"
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: `DES_VALIDATION` is not a marker, `DES-VALIDATION` is → write each marker once, on one line, as `‹!-- DES-KEY: value -->`
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: `DES\u{2011}VALIDATION` is not a marker, `DES-VALIDATION` is → write each marker once, on one line, as `‹!-- DES-KEY: value -->`
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: `DES-\u{200b}VALIDATION` is not a marker, `DES-VALIDATION` is → write each marker once, on one line, as `‹!-- DES-KEY: value -->`
    conclaude denies this call of an agent:
    ✗ MARKER_INVALID: `DESVALIDATION` is not a marker, `DES-VALIDATION` is → write each marker once, on one line, as `‹!-- DES-KEY: value -->`
    ");
    Test::stop().step(&todo()).call_agent("<!-- the DES validation of steps: see docs -->").run().silent();
}

// ---- Nested calls

#[test]
fn a_nested_call_with_markers_gets_at_most_its_callers_patterns() {
    let test = at_work("").file("src/free.json", allowing(&["**"]).to_string());
    let called = nested_call(test, "a1b2c3", &markers_of("src/free.json"), "toolu_5").run();
    let input = called.updated_input();
    let boundary = input["prompt"].as_str().unwrap().lines().find(|line| line.contains("write only")).unwrap();
    assert_snapshot!(boundary, @"- You may write only to `**`, and to the step file.");
    let test = started(called.again(), "c7", "toolu_5");
    let outside = writes(test, "c7", "README.md");
    assert_snapshot!(outside.denied(), @"");
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
