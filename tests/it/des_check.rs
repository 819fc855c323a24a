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
    exit 0
    ----- stdout
    ⚠ MARKER_INVALID: DES-VALIDATION is `requird`, not `required`, `optional`, `none`, `false`, `no` or `off` → write each marker once, on one line, as `<!-- DES-KEY: value -->`
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

/// The hook of the specification of DES, with its validation script replaced.
const BASH_HOOK: &str = r#"#!/bin/bash
# SubagentStop hook for DES validation
# Location: ~/.claude/hooks/subagent-stop.sh

# Read hook input from stdin
input=$(cat)

# Extract transcript_path
transcript_path=$(echo "$input" | jq -r '.transcript_path')

# Parse transcript to check for DES markers
if grep -q "<!-- DES-VALIDATION: required -->" "$transcript_path"; then
    # DES validation required
    step_file=$(grep -oP '<!-- DES-STEP-FILE: \K[^\s]+' "$transcript_path")

    # Call Python validation script
    conclaude des check \
        --transcript "$transcript_path" \
        --step-file "$step_file"

    # Exit with validation result
    exit $?
else
    # No DES validation needed (ad-hoc Task)
    exit 0
fi
"#;

/// Runs the hook as Claude Code would: exit code, stdout and stderr.
fn hook(test: &Test, cwd: &str) -> (Option<i32>, String, String) {
    use std::io::Write;
    let folder = crate::common::binary().parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut bash = test.program("bash");
    bash.args(["-c", BASH_HOOK]).current_dir(test.root().join(cwd)).env("PATH", path);
    let mut child = bash.spawn().unwrap();
    let payload =
        json!({"hook_event_name": "SubagentStop", "transcript_path": test.root().join("agent.jsonl")});
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text =
        |bytes: Vec<u8>| crate::common::snapshot::steady(&String::from_utf8(bytes).unwrap(), &test.root());
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn has_tools(test: &Test) -> bool {
    let works = |program: &str, argument: &str| {
        test.program(program).arg(argument).output().is_ok_and(|output| output.status.success())
    };
    works("jq", "--version")
        && test
            .program("sh")
            .args(["-c", "echo a | grep -oP a"])
            .output()
            .is_ok_and(|output| output.status.success())
}

// Scenario: Bash hook with transcript parsing
#[cfg(target_os = "linux")]
#[test]
fn seed_004_line_449_the_bash_hook_of_the_specification_blocks_an_agent_with_exit_2() {
    let test = project(&with(3, json!({"status": "IN_PROGRESS"})), &plain(MARKERS));
    if !has_tools(&test) {
        eprintln!("skipped: jq or grep -P is not installed");
        return;
    }
    let (code, stdout, stderr) = hook(&test, "");
    assert_snapshot!(format!("{code:?}\n{stdout}{stderr}"), @"
    Some(2)
    steps/01-01.json is not complete
    Validation failed: the agent may not stop yet (block 1 of 3):
    ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED with PASS or FAIL, or SKIPPED
    Fix what is marked ✗, then give your complete report again.
    ");
    let finished = project(&done(), &plain(MARKERS));
    let (code, stdout, stderr) = hook(&finished, "");
    assert_snapshot!(format!("{code:?}\n{stdout}{stderr}"), @"
    Some(0)
    ✓ steps/01-01.json is complete
    ");
    assert_eq!(hook(&project(&done(), &plain("Just do it.")), ""), (Some(0), String::new(), String::new()));
    // The main thread's transcript names the step at each call of the agent.
    let mut lines = plain("Execute both.");
    for (id, step) in [("t1", "02-01.json"), ("t2", "01-01.json")] {
        let input = json!({"subagent_type": "coder", "prompt": MARKERS.replace("01-01.json", step)});
        lines.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Task", "input": input}]}));
        let result =
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]});
        if id == "t1" {
            lines.push(result);
        }
    }
    let main = project(&done(), &lines);
    assert_eq!(hook(&main, "").0, Some(0), "{:?}", hook(&main, ""));
    assert_eq!(hook(&project(&with(3, json!({"status": "IN_PROGRESS"})), &lines), "").0, Some(2));
}

fn hook_form(test: &Test, transcript: &str, step: &str) -> String {
    test.shows(&["des", "check", "--transcript", transcript, "--step-file", step])
}

#[test]
fn a_hook_is_answered_by_exit_2_at_most_max_blocks_times() {
    let test = project(&with(3, json!({"status": "IN_PROGRESS"})), &plain(MARKERS)).config("maxBlocks: 2");
    let shown: Vec<String> = (0..4).map(|_| hook_form(&test, "agent.jsonl", "steps/01-01.json")).collect();
    assert_snapshot!(format!("{}\n{}", shown[0], shown[2]), @"
    exit 2
    ----- stdout
    steps/01-01.json is not complete
    ----- stderr
    Validation failed: the agent may not stop yet (block 1 of 2):
    ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED with PASS or FAIL, or SKIPPED
    Fix what is marked ✗, then give your complete report again.
    exit 0
    ----- stderr
    ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED with PASS or FAIL, or SKIPPED
    This would have blocked, but the agent may stop: it was blocked 2 times already (maxBlocks).
    ");
    assert_eq!(shown[1], shown[0].replace("block 1 of 2", "block 2 of 2"));
    assert_eq!(shown[3], shown[2]);
    // A look that is not a hook's is not counted.
    assert!(shows(&test, &[]).starts_with("exit 1\n"));
    // A step that is complete starts the count again.
    let test = test.step(&done());
    assert!(hook_form(&test, "agent.jsonl", "steps/01-01.json").starts_with("exit 0\n"));
    let test = test.step(&with(3, json!({"status": "IN_PROGRESS"})));
    assert!(hook_form(&test, "agent.jsonl", "steps/01-01.json").starts_with("exit 2\n"));
}

#[test]
fn bad_input_of_a_hook_is_exit_1_and_never_a_block() {
    let test = project(&done(), &plain(MARKERS));
    let mut shown = String::new();
    for (transcript, step) in
        [("gone.jsonl", "steps/01-01.json"), ("agent.jsonl", ""), ("agent.jsonl", "a.json\nb.json")]
    {
        shown.push_str(&format!("{}\n", hook_form(&test, transcript, step)));
    }
    for arguments in [vec!["des", "check"], vec!["des", "check", "01", "--step-file", "steps/01-01.json"]] {
        shown.push_str(&format!("{}\n", test.shows(&arguments)));
    }
    shown.push_str(&test.shows(&["des", "check", "--step-file", "steps/01-01.json"]));
    assert_snapshot!(shown, @"
    exit 1
    ----- stderr
    conclaude: gone.jsonl: No such file or directory (os error 2)
    exit 1
    ----- stderr
    conclaude: --step-file is empty
    exit 1
    ----- stderr
    conclaude: --step-file names 2 files, and the agent's prompt none of them: a.json, b.json
    exit 1
    ----- stderr
    error: the following required arguments were not provided:
      <STEP|--step-file <FILE>>

    Usage: conclaude des check <STEP|--step-file <FILE>>

    For more information, try '--help'.
    exit 1
    ----- stderr
    error: the argument '[STEP]' cannot be used with '--step-file <FILE>'

    Usage: conclaude des check <STEP|--step-file <FILE>>

    For more information, try '--help'.
    exit 1
    ----- stderr
    error: the following required arguments were not provided:
      --transcript <FILE>

    Usage: conclaude des check --transcript <FILE> <STEP|--step-file <FILE>>

    For more information, try '--help'.
    ");
}

#[test]
fn a_step_file_that_is_missing_blocks_a_hook_and_says_where_it_was_looked_for() {
    let test = project(&done(), &plain(&MARKERS.replace("01-01.json", "gone.json")));
    assert_snapshot!(hook_form(&test, "agent.jsonl", "steps/gone.json"), @"
    exit 2
    ----- stdout
    steps/gone.json is not complete
    ----- stderr
    Validation failed: the agent may not stop yet (block 1 of 3):
    ✗ STEP_FILE_MISSING: steps/gone.json does not exist in [ROOT] → name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`
    Fix what is marked ✗, then give your complete report again.
    ");
}
