//! `des check --transcript`: Gate 3 without a session, as `validate_step` does it.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::Test;
use crate::common::workflow::{MARKERS, done, with};

/// The plain form of a transcript: a role, a text, a time.
fn plain(prompt: &str) -> Vec<Value> {
    vec![
        json!({"role": "user", "content": prompt, "timestamp": "2026-01-23T14:20:10.123456"}),
        json!({"role": "assistant", "content": "I'll execute the task...", "timestamp": "2026-01-23T14:23:15.234567"}),
    ]
}

/// The form of Claude Code: a write, and what came of it.
fn write(id: &str, file: &str, is_error: bool) -> Vec<Value> {
    vec![
        json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": file, "content": "x"}}]}}),
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": "x"}]}}),
    ]
}

fn project(step: &Value, lines: &[Value]) -> Test {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Test::stop().step(step).file("agent.jsonl", text)
}

fn shows(test: &Test, more: &[&str]) -> String {
    test.shows(&[&["des", "check", "01", "--transcript", "agent.jsonl"], more].concat())
}

#[test]
fn a_finished_step_passes_with_the_context_of_its_transcript() {
    let test = project(&done(), &plain(MARKERS));
    assert_snapshot!(shows(&test, &[]), @"
    exit 0
    ----- stdout
    ✓ steps/01-01.json is complete
    ");
    assert_snapshot!(shows(&test, &["--json"]), @r#"
    exit 0
    ----- stdout
    {
      "step": "steps/01-01.json",
      "ok": true,
      "findings": [],
      "context": {
        "validation_required": true,
        "step_file": "steps/01-01.json",
        "agent_name": "coder",
        "command": "/nw:execute",
        "project_id": "greeting",
        "start_time": "2026-01-23T14:20:10.123456",
        "end_time": "2026-01-23T14:23:15.234567"
      }
    }
    "#);
    assert!(!test.root().join(".conclaude/audit").exists(), "looking leaves no record");
}

#[test]
fn every_finding_of_the_stop_is_named_without_a_session() {
    let step = with(3, json!({"status": "IN_PROGRESS"}));
    let mut lines = plain(MARKERS);
    lines.extend(write("t1", "src/a.rs", false));
    lines.extend(write("t2", "Cargo.toml", false));
    // A write that was denied is none.
    lines.extend(write("t3", "README.md", true));
    let test = project(&step, &lines).config("des: {evidence: [RED_UNIT]}");
    let test = test.file("agent.meta.json", r#"{"agentType": "tester"}"#);
    assert_snapshot!(shows(&test, &[]), @"
    exit 1
    ----- stdout
    ✗ AGENT_MISMATCH: DES-AGENT is coder, but this is tester → only that agent can finish this step
    ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED with PASS or FAIL, or SKIPPED
    ✗ EVIDENCE_MISSING RED_UNIT: there is no record of a real run → run it: conclaude des run steps/01-01.json RED_UNIT -- COMMAND
    ✗ SCOPE_VIOLATION: Cargo.toml was written → revert it, or widen allowed_file_patterns (now src/**)
    ");
}

#[test]
fn a_transcript_of_another_step_or_without_a_gate_is_said_to_be_one() {
    let mut shown = String::new();
    let prompts = [
        MARKERS.replace("01-01.json", "02-01.json"),
        MARKERS.replace("required", "requird"),
        "<!-- DES-VALIDATION: required -->".to_owned(),
        "Just do it.".to_owned(),
    ];
    for prompt in prompts {
        shown.push_str(&format!("{}\n", shows(&project(&done(), &plain(&prompt)), &[])));
    }
    shown.push_str(&format!("{}\n", shows(&project(&done(), &[]), &[])));
    let missing = Test::stop().step(&done());
    shown.push_str(&shows(&missing, &[]));
    assert_snapshot!(shown, @"
    exit 1
    ----- stdout
    ✗ MARKER_INVALID: DES-STEP-FILE is steps/02-01.json, but this is steps/01-01.json → check that step, or take this one's transcript
    exit 1
    ----- stdout
    ✗ MARKER_INVALID: DES-VALIDATION is `requird`, not `required`, `optional` or `none` → write each marker once, on one line, as `<!-- DES-KEY: value -->`
    exit 1
    ----- stdout
    ✗ MARKER_MISSING: DES-VALIDATION is required, but DES-STEP-FILE is missing → add `<!-- DES-STEP-FILE: path/of/step.json -->` to the prompt; `conclaude des prompt` prints all markers
    exit 0
    ----- stdout
    ✓ no gate applies: the prompt does not say `DES-VALIDATION: required`. steps/01-01.json was not checked
    exit 1
    ----- stderr
    conclaude: agent.jsonl: there is no user message in it, so no prompt
    exit 1
    ----- stderr
    conclaude: agent.jsonl: No such file or directory (os error 2)
    ");
}
