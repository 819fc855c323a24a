//! Gates of DES in other clients: the call of an agent leads to its stop.

use serde_json::{Value, json};

use super::{call, capture};
use crate::common::Test;
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
