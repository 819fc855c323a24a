//! Transcripts in other formats, of older versions, late or long.

use super::*;

#[test]
fn a_transcript_in_another_format_is_not_waited_for() {
    for (client, own) in [("codex", true), ("copilot", false)] {
        let test = Test::stop().env("CONCLAUDE_LOG", "debug");
        let transcript = std::fs::read(fixtures(client).join("transcript-subagent.jsonl")).unwrap();
        let test = test.file("main.jsonl", &transcript);
        let test = if own { test.file("main/subagents/agent-a1b2c3.jsonl", &transcript) } else { test };
        let done = test.run().silent();
        let stderr = done.steady(&done.stderr);
        assert!(!stderr.contains("waiting"), "{client}: {stderr}");
        // The task is in that of Codex.
        let is_missing = stderr.contains("debug: the agent's prompt was not found");
        assert_eq!(is_missing, client == "copilot", "{client}: {stderr}");
    }
}

#[test]
fn a_transcript_that_is_late_is_waited_for_only_where_an_agent_may_have_a_step() {
    const WAITS: &str = "debug: waiting for the agent's prompt";
    let test = || Test::stop().env("CONCLAUDE_LOG", "debug");
    let ungated = test().file("main.jsonl", "{}\n").run().silent();
    assert!(!ungated.stderr.contains("waiting"), "{}", ungated.stderr);
    let call = |prompt: &str| {
        let input = json!({ "subagent_type": "coder", "prompt": prompt });
        let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "Agent", "input": input });
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [call] } }).to_string()
            + "\n"
    };
    let called = test().file("main.jsonl", call("Say hello.")).run().silent();
    assert!(!called.stderr.contains("waiting"), "{}", called.stderr);
    let gated = || test().config("des: {onViolation: warn}").step(&todo());
    // There is no time to wait.
    let late = |test: Test| test.env("TEST_LIMIT_OF_CONCLAUDE", "0").run().stderr_has(WAITS);
    late(gated().file("main.jsonl", call(MARKERS)));
    let let_in = gated().call_agent(MARKERS).run().again();
    late(let_in.stops().file("main.jsonl", "{}\n"));
}

#[test]
fn the_prompt_in_a_transcript_of_qwen_is_found() {
    let text = std::fs::read_to_string(fixtures("qwen").join("transcript-subagent.jsonl")).unwrap();
    let text = text.replacen("TASK-GREETING:", &MARKERS.replace('\n', "\\n"), 1);
    let test = Test::stop().step(&todo()).file("main/subagents/agent-a1b2c3.jsonl", text);
    assert_eq!(codes(&test.stops().run().blocked()), ["SILENT_COMPLETION"]);
}

#[test]
fn a_prompt_that_is_not_found_is_reported_where_a_gate_could_apply() {
    let test = Test::stop().config("des: {}").step(&todo());
    assert_snapshot!(test.stops().run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ PROMPT_NOT_FOUND: the agent's prompt was not found in [ROOT]/main.jsonl: if it has a step, the step was not checked → look at its step; `conclaude des status` lists them all
    ");
    // A call that Gate 1 let in, and an agent that cannot be linked to it.
    let called = Test::stop().step(&todo()).call_agent(MARKERS).run().again();
    assert_snapshot!(called.stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ NOT_JUDGED: an agent was called for steps/01-01.json, and this may be that agent: its transcript and the file next to it are gone, so its step cannot be checked → say in your report what became of them and what you did; the user must look at the step
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    // Markers in a format that we cannot read.
    for client in ["codex", "copilot"] {
        let text = std::fs::read_to_string(fixtures(client).join("transcript-subagent.jsonl")).unwrap();
        let marked = format!("{text}{}\n", json!({"type": "user.message", "data": {"content": MARKERS}}));
        let done = Test::stop().file("main.jsonl", marked).run();
        insta::allow_duplicates! { assert_snapshot!(done.message(), @"
        conclaude: SubagentStop of coder (a1b2c3)
        ⚠ PROMPT_NOT_FOUND: the agent's prompt was not found in [ROOT]/main.jsonl: if it has a step, the step was not checked → look at its step; `conclaude des status` lists them all
        "); }
        Test::stop().file("main.jsonl", text).run().silent().nowhere("step was not checked");
    }
    // Where nobody uses steps there is nothing to miss.
    Test::stop().run().silent().nowhere("prompt");
    Test::stop().config("des: {enabled: false}").run().silent().nowhere("prompt");
}

#[test]
fn a_prompt_that_is_not_found_is_planned_recorded_and_explained() {
    let done = Test::stop().config("des: {}").step(&todo()).run();
    let record = done.audit().pop().unwrap();
    assert_eq!((&record["decision"], &record["findings"][0]["verdict"]), (&json!("warned"), &json!("warn")));
    assert_eq!(record["findings"][0]["code"], "PROMPT_NOT_FOUND");
    let test = done.again();
    let why: Value = serde_json::from_str(&run_in(&test.root(), &["why", "--json"]).1).unwrap();
    assert_snapshot!(why["today"]["missing"].as_str().unwrap(), @"the transcript, in which the agent's prompt is looked for, is not recorded");
    let payload = test.input();
    let test = test.file("payload.json", payload);
    let explained = |arguments: &[&str]| -> Value {
        let shown = run_in(&test.root(), &[&["explain", "--json"], arguments].concat()).1;
        serde_json::from_str(&shown).unwrap()
    };
    let same = explained(&["--payload", "payload.json"]);
    assert_eq!(same["gates"][0]["why"], "it is unknown whether it applies");
    assert_eq!(same["gates"][0]["findings"][0]["code"], "PROMPT_NOT_FOUND");
    assert_eq!((&same["no_gate"], &same["answers"][0]["decision"]), (&Value::Null, &json!("warned")));
    // An event that did not happen has no prompt that could have been missed.
    let sample = explained(&["SubagentStop", "--agent", "coder"]);
    assert_eq!((&sample["gates"], &sample["answers"][0]["decision"]), (&json!([]), &json!("allowed")));
}

fn times(done: &Outcome) -> (Value, Value) {
    let records = done.audit();
    let des = &records.last().unwrap()["des"];
    (des["start_time"].clone(), des["end_time"].clone())
}

#[test]
fn the_start_is_the_time_of_the_prompt_and_not_of_the_first_line() {
    let lines = [
        json!({"type": "note", "timestamp": "2026-01-01T09:00:00.000Z"}),
        json!({"type": "user", "timestamp": "2026-01-01T10:00:00.000Z", "message": {"role": "user", "content": MARKERS}}),
        json!({"type": "assistant", "timestamp": "2026-01-01T10:05:00.000Z", "message": {"role": "assistant", "content": "done"}}),
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    let test = Test::stop().step(&todo()).file("main/subagents/agent-a1b2c3.jsonl", text);
    let done = test.stops().run();
    assert_eq!(times(&done), (json!("2026-01-01T10:00:00.000Z"), json!("2026-01-01T10:05:00.000Z")));
}

#[test]
fn the_start_is_known_where_only_the_main_transcript_is() {
    let call = agent_call("Agent", "toolu_1", "coder").replace("do it", &MARKERS.replace('\n', "\\n"));
    let call = call.replacen('{', "{\"timestamp\":\"2026-01-01T11:00:00.000Z\",", 1);
    let test = Test::stop().step(&todo()).meta().file("main.jsonl", format!("{call}\n{{}}\n"));
    let done = test.stops().run();
    assert_eq!(codes(&done.blocked()), ["SILENT_COMPLETION"]);
    assert_eq!(times(&done), (json!("2026-01-01T11:00:00.000Z"), Value::Null));
    // Also where Gate 1 remembered the call.
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again();
    let done = test.meta().file("main.jsonl", format!("{call}\n")).stops().run();
    assert_eq!(times(&done).0, json!("2026-01-01T11:00:00.000Z"));
    // Without any transcript the time of Gate 1 counts.
    let done = Test::stop().step(&todo()).call_agent(MARKERS).run().again().meta().stops().run();
    assert!(times(&done).0.is_string());
}

#[cfg(target_os = "linux")]
#[test]
fn the_most_recent_call_counts_however_far_back_it_is() {
    let line = format!("{{\"type\":\"user\",\"text\":\"{}\"}}\n", "x".repeat(1 << 20));
    let transcript = format!(
        "{}\n{}\n{}",
        agent_call("Task", "t1", "tester"),
        agent_call("Task", "t2", "coder"),
        line.repeat(50)
    );
    let config = "subagentStop: {commands: {coder: [{run: touch ran.txt}]}}";
    let test = Test::stop().config(config).without("agent_type").without("agent_id");
    let test = test.file("main.jsonl", &transcript);
    drop(transcript);
    assert!(in_little_memory(test).status(0).has("ran.txt"));
}

#[test]
fn the_prompt_counts_however_many_lines_come_before_it() {
    let before = "{\"type\":\"note\",\"text\":\"for the user\"}\n".repeat(10_000);
    let prompt = json!({"type": "user", "message": {"role": "user", "content": MARKERS}});
    let test =
        Test::stop().step(&todo()).file("main/subagents/agent-a1b2c3.jsonl", format!("{before}{prompt}\n"));
    assert_eq!(codes(&test.stops().run().blocked()), ["SILENT_COMPLETION"]);
}

#[test]
fn a_transcript_of_one_line_that_is_not_json_is_a_warning() {
    let test = Test::stop().config("des: {enabled: false}").file("main.jsonl", "not json");
    let done = test.without("agent_type").without("agent_id").run().silent();
    assert_snapshot!(done.steady(&done.stderr), @"
    conclaude: warn: malformed transcript [ROOT]/main.jsonl: a line is not JSON
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=-, subagent_type=unknown
    ");
}
