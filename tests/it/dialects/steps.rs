//! Gates of DES in other clients: the call of an agent leads to its stop.

use serde_json::{Value, json};

use crate::common::Test;
use crate::common::clients::{call, capture};
use crate::common::workflow::{MARKERS, todo};

/// The call of an agent with a step, as the client makes it, and the test for what follows.
fn called(client: &str, fields: &Value) -> (Test, String) {
    let test = Test::event("PreToolUse").step(&todo());
    let mut payload = capture(client, "PreToolUse.json", &test);
    for (name, value) in fields.as_object().unwrap() {
        payload["tool_input"][name] = value.clone();
    }
    let done = call(client, "PreToolUse", test, &payload).status(0);
    let task = serde_json::from_str::<Value>(&done.stdout).ok();
    let task = task.and_then(|answer| {
        let input = &answer["hookSpecificOutput"]["updatedInput"];
        input["prompt"].as_str().or(input["message"].as_str()).map(str::to_owned)
    });
    (done.again(), task.unwrap_or_else(|| MARKERS.to_owned()))
}

fn is_judged(client: &str, test: Test, change: impl Fn(&mut Value)) {
    let mut payload = capture(client, "SubagentStop.json", &test);
    change(&mut payload);
    let done = call(client, "SubagentStop", test, &payload);
    assert!(
        done.stdout.contains("\"block\"") && done.stdout.contains("SILENT_COMPLETION"),
        "{client}: {}{}",
        done.stdout,
        done.stderr
    );
}

#[test]
fn the_agent_of_copilot_is_known_by_its_task() {
    let (test, task) = called("copilot", &json!({"prompt": MARKERS}));
    assert!(task.len() > MARKERS.len(), "its boundaries are added");
    let mut prompt = capture("copilot", "UserPromptSubmit.subagent.json", &test);
    prompt["prompt"] = task.into();
    let done = call("copilot", "UserPromptSubmit", test, &prompt).silent();
    is_judged("copilot", done.again(), |_| {});
}

#[test]
fn the_agent_of_qwen_is_known_by_its_id() {
    let (test, _) = called("qwen", &json!({"prompt": MARKERS}));
    is_judged("qwen", test, |_| {});
}

#[test]
fn the_agent_of_codex_is_known_by_the_name_of_its_task() {
    let (test, _) = called("codex", &json!({"message": MARKERS}));
    let transcript = include_str!("../../fixtures/captures/codex/transcript-subagent.jsonl");
    let test = test.file("rollout-agent.jsonl", transcript);
    let own = test.root().join("rollout-agent.jsonl").display().to_string();
    is_judged("codex", test, |payload| payload["agent_transcript_path"] = own.clone().into());
}

/// Calls that are made at once have the same time.
#[test]
fn two_agents_of_copilot_keep_their_own_steps() {
    let mut step = todo();
    step["task_specification"]["allowed_file_patterns"] = json!(["docs/**"]);
    let mut test = Test::event("PreToolUse").step(&todo()).file("steps/01-02.json", format!("{step:#}\n"));
    for (agent, step) in [("a", "01-01"), ("b", "01-02")] {
        let mut payload = capture("copilot", "PreToolUse.json", &test);
        payload["tool_input"]["prompt"] = MARKERS.replace("01-01", step).into();
        let done = call("copilot", "PreToolUse", test, &payload).status(0);
        let answer: Value = serde_json::from_str(&done.stdout).unwrap();
        let test_of_prompt = done.again();
        let mut prompt = capture("copilot", "UserPromptSubmit.subagent.json", &test_of_prompt);
        prompt["agent_id"] = agent.into();
        prompt["session_id"] = agent.into();
        prompt["prompt"] = answer["hookSpecificOutput"]["updatedInput"]["prompt"].clone();
        test = call("copilot", "UserPromptSubmit", test_of_prompt, &prompt).silent().again();
    }
    for (agent, path, is_inside) in
        [("a", "src/x", true), ("a", "docs/x", false), ("b", "docs/x", true), ("b", "src/x", false)]
    {
        let mut payload = capture("copilot", "PreToolUse.subagent.json", &test);
        payload["agent_id"] = agent.into();
        payload["session_id"] = agent.into();
        payload["tool_input"] = json!({"path": path, "file_text": "x"});
        let done = call("copilot", "PreToolUse", test, &payload);
        assert_eq!(done.stdout.is_empty(), is_inside, "{agent} {path}: {}", done.stdout);
        test = done.again();
    }
}

#[test]
fn an_agent_of_codex_that_gate_1_did_not_see_is_known_by_its_transcript() {
    let transcript = include_str!("../../fixtures/captures/codex/transcript-subagent.jsonl");
    let task = serde_json::to_string(MARKERS).unwrap();
    let text =
        transcript.replace("TASK-GREETING: write greeting.txt in the project.", task.trim_matches('"'));
    let test = Test::event("SubagentStop").step(&todo()).file("rollout-agent.jsonl", text);
    let own = test.root().join("rollout-agent.jsonl").display().to_string();
    is_judged("codex", test, |payload| payload["agent_transcript_path"] = own.clone().into());
}
