//! Agents of other clients: their names, their starts and stops, and the bound on blocks.

use serde_json::{Value, json};

use crate::common::clients::{CLIENTS, call, capture, event_name};
use crate::common::workflow::{MARKERS, done, todo};
use crate::common::{Outcome, Test};

/// An event of Gemini CLI in the session of its captures.
fn gemini(test: Test, event: &str, change: &Value) -> Outcome {
    let mut payload = capture("gemini", &format!("{event}.json"), &test);
    for (name, value) in change.as_object().unwrap() {
        payload[name] = value.clone();
    }
    call("gemini", event, test, &payload)
}

/// The call of an agent. Each has its own time.
fn invoke(test: Test, agent: &str, prompt: &str) -> Outcome {
    let time = format!("2026-11-16T07:40:09.{}Z", 100 + agent.len() + prompt.len());
    let input = json!({"agent_name": agent, "prompt": prompt});
    gemini(test, "BeforeTool", &json!({"tool_name": "invoke_agent", "tool_input": input, "timestamp": time}))
}

/// The result of that call.
fn invoked(test: Test, agent: &str, prompt: &str) -> Outcome {
    let input = json!({"agent_name": agent, "prompt": prompt});
    gemini(test, "AfterTool", &json!({"tool_name": "invoke_agent", "tool_input": input}))
}

fn complete(test: Test) -> Outcome {
    gemini(
        test,
        "BeforeTool",
        &json!({"tool_name": "complete_task", "tool_input": {"result": "It is done."}}),
    )
}

fn write(test: Test, file: &str) -> Outcome {
    let input = json!({"file_path": file, "content": "x"});
    gemini(test, "BeforeTool", &json!({"tool_name": "write_file", "tool_input": input}))
}

#[test]
fn the_gates_apply_to_the_open_call_of_gemini() {
    let test = Test::event("PreToolUse").step(&todo());
    let done_call = invoke(test, "coder", MARKERS).status(0);
    let answer: Value = serde_json::from_str(&done_call.stdout).unwrap();
    let prompt = answer["hookSpecificOutput"]["tool_input"]["prompt"].as_str().unwrap().to_owned();
    assert!(prompt.len() > MARKERS.len(), "its boundaries are added: {prompt}");

    let denied = write(done_call.again(), "elsewhere.rs").status(2);
    assert!(denied.stdout.contains(r#""decision":"deny""#), "{}", denied.stdout);
    let inside = write(denied.again(), "src/greeting.rs").silent();

    let stopped = complete(inside.again()).status(2);
    assert!(stopped.stdout.contains(r#"{"decision":"deny""#), "{}", stopped.stdout);
    assert!(stopped.stdout.contains("SILENT_COMPLETION"), "{}", stopped.stdout);
    let stopped = complete(stopped.again().step(&done())).status(0);

    let over = invoked(stopped.again(), "coder", &prompt).status(0);
    write(over.again(), "elsewhere.rs").silent();
}

#[test]
fn a_call_of_gemini_that_is_denied_opens_nothing() {
    let config = "preToolUse: {toolUsageValidation: [{tool: Agent, action: block, message: NO}]}\nsubagentStart: {commands: {'*': [{run: 'echo started >> seen'}]}}\nsubagentStop: {commands: {coder: [{run: 'echo stopped >> seen'}]}}";
    let test = Test::event("PreToolUse").config(config);
    let denied = invoke(test, "coder", "do it").status(2);
    let done = complete(denied.again()).silent();
    assert!(!done.has("seen"));
}

const AGENT_COMMANDS: &str = "subagentStart: {commands: {'*': [{run: 'echo start $CONCLAUDE_AGENT_NAME >> seen'}]}}\nsubagentStop: {commands: {coder: [{run: 'echo stop $CONCLAUDE_AGENT_NAME >> seen; false', onFailure: block}], tester: [{run: 'echo stop $CONCLAUDE_AGENT_NAME >> seen'}]}}\n";

#[test]
fn an_agent_of_gemini_starts_with_its_call_and_stops_at_complete_task() {
    let test = Test::event("PreToolUse").config(AGENT_COMMANDS);
    let mut done = invoke(test, "coder", "do it").silent();
    for _ in 0..3 {
        done = complete(done.again()).status(2);
        assert!(done.stdout.starts_with(r#"{"decision":"deny","reason""#), "{}", done.stdout);
    }
    let done = complete(done.again()).status(0);
    assert_eq!(done.read("seen"), "start coder\n".to_owned() + &"stop coder\n".repeat(4));
    let done = invoked(done.again(), "coder", "do it").status(0);
    let starts = done.again().shows(&["audit", "show", "--json"]);
    assert!(starts.contains("SubagentStart") && starts.contains("SubagentStop"), "{starts}");
}

#[test]
fn with_several_open_calls_the_rules_of_each_name_apply() {
    let config = format!(
        "{AGENT_COMMANDS}preToolUse: {{toolUsageValidation: [{{tool: Write, agent: coder, pattern: '**', action: block, message: NO}}]}}\n"
    );
    let test = Test::event("PreToolUse").config(&config);
    let done = write(test, "a").silent();
    let done = invoke(done.again(), "tester", "test it").silent();
    let done = write(done.again(), "a").silent();
    let done = invoke(done.again(), "coder", "do it").silent();
    let done = write(done.again(), "a").status(2);
    let done = complete(done.again()).status(2);
    let done = invoked(done.again(), "coder", "do it").status(0);
    let done = write(done.again(), "a").silent();
    let done = complete(done.again()).silent();
    let done = invoke(done.again(), "coder", "do more").silent();
    // The end of a turn closes all.
    let done = gemini(done.again(), "AfterAgent", &json!({})).silent();
    write(done.again(), "a").silent();
}

#[test]
fn two_agents_of_gemini_with_steps_of_their_own_work_at_the_same_time() {
    let other = MARKERS.replace("01-01", "01-02");
    let mut step = todo();
    step["task_specification"]["allowed_file_patterns"] = json!(["docs/**"]);
    let test = Test::event("PreToolUse").step(&todo()).file("steps/01-02.json", format!("{step:#}\n"));
    let done_call = invoke(test, "coder", MARKERS).status(0);
    let done_call = invoke(done_call.again(), "coder", &format!("{other} x")).status(0);
    let written = write(done_call.again(), "docs/a.md").status(0);
    let written = write(written.again(), "src/a.rs").status(0);
    let written = write(written.again(), "elsewhere").status(2);
    let stopped = complete(written.again()).status(2);
    // The first is done, the other is not.
    let stopped = complete(stopped.again().step(&done())).status(0);
    complete(stopped.again()).status(2);
}

/// An event of ours with this change, as the client sends it.
fn event(client: &str, test: Test, file: &str, change: &Value) -> Outcome {
    let mut payload = capture(client, file, &test);
    for (name, value) in change.as_object().unwrap() {
        payload[name] = value.clone();
    }
    call(client, file.split('.').next().unwrap(), test, &payload)
}

fn is_refused(done: &Outcome) -> bool {
    done.stdout.contains(r#""block""#) || done.stdout.contains(r#""deny""#)
}

#[test]
fn a_stop_is_blocked_three_times_in_each_client() {
    let config = "stop: {commands: [{run: 'echo BAD; false'}]}";
    for client in CLIENTS {
        let stop = format!("{}.json", event_name(client, "Stop"));
        let prompt = format!("{}.json", event_name(client, "UserPromptSubmit"));
        let test = Test::event("Stop").config(config);
        let mut done = event(client, test, &prompt, &json!({"prompt": "please"}));
        for turn in 0..3 {
            let change = json!({"background_tasks": [], "stop_hook_active": turn > 0});
            done = event(client, done.again(), &stop, &change);
            assert!(is_refused(&done), "{client}, {turn}: {}{}", done.stdout, done.stderr);
            assert!(done.stdout.contains(&format!("block {} of 3", turn + 1)), "{client}: {}", done.stdout);
            // The client sends the reason back as a prompt, or an empty one.
            let answer: Value = serde_json::from_str(&done.stdout).unwrap();
            if matches!(client, "copilot" | "qwen") {
                done = event(client, done.again(), &prompt, &json!({"prompt": answer["reason"]})).silent();
            }
            if client == "qwen" {
                done = event(client, done.again(), &prompt, &json!({"prompt": ""})).silent();
            }
            if client == "copilot" {
                done = event(client, done.again(), "Stop.subagent.json", &json!({})).silent();
            }
        }
        done = event(client, done.again(), &stop, &json!({"background_tasks": [], "stop_hook_active": true}));
        assert!(!is_refused(&done), "{client}: {}", done.stdout);
        // With the next prompt of the user they count from one again.
        done = event(client, done.again(), &prompt, &json!({"prompt": "and now?"}));
        done =
            event(client, done.again(), &stop, &json!({"background_tasks": [], "stop_hook_active": false}));
        assert!(is_refused(&done), "{client}: {}", done.stdout);
    }
}

#[test]
fn the_stop_of_an_agent_is_blocked_twice_in_each_client() {
    let config =
        "maxBlocks: 2\nsubagentStop: {commands: {coder: [{run: 'echo BAD; false', onFailure: block}]}}";
    for client in ["codex", "copilot", "qwen"] {
        let mut test = Test::event("SubagentStop").config(config);
        for turn in 0..3 {
            let done = event(client, test, "SubagentStop.json", &json!({"stop_hook_active": turn > 0}));
            assert_eq!(is_refused(&done), turn < 2, "{client}, {turn}: {}{}", done.stdout, done.stderr);
            test = done.again();
        }
    }
}

#[test]
fn an_agent_of_codex_that_is_dropped_is_reported_at_the_stop() {
    let test = Test::event("PreToolUse").step(&todo());
    let transcript = include_str!("../../fixtures/captures/codex/transcript-subagent.jsonl");
    let mut input = capture("codex", "PreToolUse.json", &test)["tool_input"].clone();
    input["message"] = MARKERS.into();
    let done = event("codex", test, "PreToolUse.json", &json!({"tool_input": input})).status(0);
    // Nobody has started yet.
    let done = event("codex", done.again(), "Stop.json", &json!({})).silent();
    let test = done.again().file("rollout-agent.jsonl", transcript);
    let own = test.root().join("rollout-agent.jsonl").display().to_string();
    let done = event("codex", test, "SubagentStart.json", &json!({"transcript_path": own})).status(0);
    let done = event("codex", done.again(), "Stop.json", &json!({})).status(0);
    assert!(done.system_message().contains("coder"), "{}", done.stdout);
    assert!(done.system_message().contains("never stopped"), "{}", done.stdout);
    event("codex", done.again(), "Stop.json", &json!({})).silent();
}

#[test]
fn the_name_of_an_agent_of_qwen_is_what_its_start_said() {
    let config = "preToolUse: {toolUsageValidation: [{tool: Write, agent: 'team:coder', pattern: '**', action: block, message: NO}]}";
    let write = json!({"tool_name": "write_file", "tool_input": {"file_path": "a", "content": ""}});
    let test = Test::event("PreToolUse").config(config);
    let done = event("qwen", test, "PreToolUse.subagent.json", &write).silent();
    let done =
        event("qwen", done.again(), "SubagentStart.json", &json!({"agent_type": "team:coder"})).silent();
    event("qwen", done.again(), "PreToolUse.subagent.json", &write).status(2);
}

#[test]
fn an_agent_without_a_step_is_not_reported_where_steps_are_used() {
    for client in ["codex", "copilot", "qwen"] {
        let test = Test::event("SubagentStop").config("des: {}\n");
        event(client, test, "SubagentStop.json", &json!({})).silent();
    }
    let test = Test::event("PreToolUse").config("des: {}\n");
    let done = invoke(test, "coder", "do it").silent();
    complete(done.again()).silent();
}
