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
    conclaude: coder may not stop yet (block 1 of 3):
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
