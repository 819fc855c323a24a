//! A payload of six fields, with the agent's plain transcript.

use super::*;

/// The SubagentStop of the specification of DES.
fn six_fields(step: &Value, transcript: &str) -> Test {
    let test = Test::stop().step(step).file("session.jsonl", transcript);
    let payload = json!({
        "hook_event_name": "SubagentStop",
        "session_id": "cb67a406-fd98-47ca-9b03-fcca9cc43e8d",
        "transcript_path": test.root().join("session.jsonl"),
        "stop_hook_active": false,
        "cwd": test.root(),
        "permission_mode": "auto",
    });
    test.stdin(payload.to_string())
}

/// The plain transcript of an agent that was called with this prompt, and called a helper itself.
fn plain(prompt: &str) -> String {
    let lines = [
        json!({"role": "system", "content": "You are an agent.", "timestamp": "2026-01-23T14:20:09.000000"}),
        json!({"role": "user", "content": prompt, "timestamp": "2026-01-23T14:20:10.123456"}),
        json!({"role": "assistant", "content": "I'll execute the task...", "timestamp": "2026-01-23T14:21:00.000000"}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "name": "Task", "input": {"subagent_type": "helper", "prompt": "help"}}]}),
        json!({"role": "assistant", "content": "Done.", "timestamp": "2026-01-23T14:23:15.234567"}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

#[test]
fn a_payload_of_six_fields_is_gated_and_recorded_with_its_start_time() {
    let done = six_fields(&todo(), &plain(MARKERS)).run();
    assert_snapshot!(done.blocked(), @"
    Validation failed: coder may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let record = &done.audit()[0];
    assert_eq!(
        (record["agent"].as_str(), record["step"].as_str()),
        (Some("coder"), Some("steps/01-01.json"))
    );
    assert_snapshot!(format!("{:#}", record["des"]), @r#"
    {
      "validation_required": true,
      "step_file": "steps/01-01.json",
      "agent_name": "coder",
      "command": "/nw:execute",
      "project_id": "greeting",
      "start_time": "2026-01-23T14:20:10.123456",
      "end_time": "2026-01-23T14:23:15.234567"
    }
    "#);
    six_fields(&todo(), &plain("Just do it.")).run().silent();
}

#[test]
fn a_finished_step_is_not_blocked_because_nothing_but_its_marker_names_the_agent() {
    let finished = six_fields(&done(), &plain(MARKERS)).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.audit()[0]["agent"], "coder");
    // An id, and a transcript of its own, but no type.
    let config = "subagentStop: {commands: {coder: [{run: touch ran.txt}]}}";
    let test = Test::stop().config(config).step(&done()).file(
        "main/subagents/agent-a1b2c3.jsonl",
        format!("{}\n", json!({"role": "user", "content": MARKERS})),
    );
    let finished = test.stops().without("agent_type").run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.has("ran.txt"), "patterns are compared with that name");
    let log = finished.stderr.lines().next().unwrap().to_owned();
    assert_snapshot!(log, @"conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder");
}

#[test]
fn an_older_client_with_one_transcript_is_gated_by_the_call_in_it() {
    let user = json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": "Execute the step."}});
    let call = agent_call("Task", "t1", "coder").replace("do it", &MARKERS.replace('\n', "\\n"));
    let test = six_fields(&todo(), &format!("{user}\n{call}\n"));
    assert_eq!(codes(&test.run().blocked()), ["SILENT_COMPLETION"]);
}

/// A call of `coder` on the main thread, for a step of this name.
fn call_for(id: &str, step: &str) -> String {
    let prompt = MARKERS.replace("01-01.json", step).replace('\n', "\\n");
    agent_call("Task", id, "coder").replace("do it", &prompt) + "\n"
}

// Scenario: `tool_use_id` correlates the hook with its subagent
#[test]
fn seed_004_line_71_tool_use_id_says_which_of_several_calls_the_agent_is_of() {
    let user = json!({"type": "user", "message": {"role": "user", "content": "Execute both steps."}});
    let calls = format!("{user}\n{}{}", call_for("t1", "01-01.json"), call_for("t2", "02-01.json"));
    let stop = |id: &str| {
        let test = six_fields(&done(), &calls).file("steps/02-01.json", format!("{:#}\n", todo()));
        let mut payload: Value = serde_json::from_slice(&test.input()).unwrap();
        payload["tool_use_id"] = id.into();
        test.stdin(payload.to_string()).run()
    };
    let finished = stop("t1");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.audit()[0]["step"], "steps/01-01.json");
    assert_eq!(codes(&stop("t2").blocked()), ["SILENT_COMPLETION"]);
    // One that nobody knows says nothing: the most recent call counts.
    assert_eq!(codes(&stop("t9").blocked()), ["SILENT_COMPLETION"]);
}

#[test]
fn seed_004_line_299_tool_use_id_names_the_agent_for_patterns_and_the_call_that_gate_1_remembered() {
    let config = "subagentStop: {commands: {tester: [{run: touch ran.txt}]}}";
    let calls = format!("{}\n{}\n", agent_call("Task", "t1", "tester"), agent_call("Task", "t2", "coder"));
    let test = Test::stop().config(config).file("main.jsonl", calls).payload("tool_use_id", "t1");
    assert!(test.without("agent_type").without("agent_id").run().status(0).has("ran.txt"));
    // Two calls that Gate 1 let in, of agents that nothing else tells apart.
    let second = MARKERS.replace("01-01.json", "02-01.json");
    let test = Test::stop().step(&todo()).file("steps/02-01.json", format!("{:#}\n", todo()));
    let test = test.call_agent(MARKERS).run().again().call_agent(&second).payload("tool_use_id", "toolu_2");
    let test = test.run().again().step(&done()).stops().without("agent_id");
    let finished = test.payload("tool_use_id", "toolu_1").run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let other = finished.again().payload("tool_use_id", "toolu_2").run();
    assert_eq!(codes(&other.blocked()), ["SILENT_COMPLETION"]);
}

// Scenario: the plain form of a transcript, of the thread that calls the agent
#[test]
fn seed_004_line_229_a_plain_transcript_with_an_unanswered_call_is_gated_as_one_of_claude_code_is() {
    let user =
        json!({"role": "user", "content": "Execute the step.", "timestamp": "2026-01-23T14:20:10.123456"});
    let prompt = |text: &str| json!({"subagent_type": "coder", "prompt": text});
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": prompt(MARKERS)}]});
    let other = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t0", "name": "Task", "input": prompt("Look around.")}]});
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]});
    let lines = |lines: &[&Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let unanswered = lines(&[&user, &other, &result("t0"), &call]);
    let blocked = six_fields(&todo(), &unanswered).run();
    assert_eq!(codes(&blocked.blocked()), ["SILENT_COMPLETION"]);
    assert_eq!(blocked.audit()[0]["agent"], "coder");
    let finished = six_fields(&done(), &unanswered).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.audit()[0]["step"], "steps/01-01.json");
    // A later call that was answered does not hide it.
    let later = lines(&[&user, &call, &other, &result("t0")]);
    assert_eq!(codes(&six_fields(&todo(), &later).run().blocked()), ["SILENT_COMPLETION"]);
    // An agent whose helper has answered is not the helper.
    six_fields(&todo(), &lines(&[&user, &call, &result("t1")])).run().silent();
}
