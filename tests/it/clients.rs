//! Payloads and transcripts of other clients, of older versions and of odd forms.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::environment::run_in;
use crate::common::snapshot::pretty;
use crate::common::workflow::{MARKERS, codes, done, todo};
use crate::common::{Outcome, Test, agent_call, in_little_memory};
use conclaude::event::EventKind;

// ---- Other clients run the hooks of `.claude/settings.json` too

fn fixtures(client: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otherclients").join(client)
}

/// A capture of another client in the project of the test.
fn capture_of(client: &str, file: &str, test: &Test) -> String {
    let text = std::fs::read_to_string(fixtures(client).join(file)).unwrap();
    text.replace("/home/me/project", test.root().to_str().unwrap())
}

/// What is answered to every capture of a client whose event we know, one line each.
fn answers(client: &str) -> String {
    let mut files: Vec<String> = std::fs::read_dir(fixtures(client))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .filter(|name| EventKind::named(name.split('.').next().unwrap()).is_some())
        .collect();
    files.sort();
    let answer = |file: &String| {
        let test = Test::event(file.split('.').next().unwrap());
        let payload = capture_of(client, file, &test);
        let done = test.stdin(payload).run().silent();
        let lines = done.stderr.lines().filter(|line| !line.contains("info: Processing "));
        let lines: Vec<&str> = lines.filter_map(|line| line.strip_prefix("conclaude: ")).collect();
        format!("{file}: {}", lines.join(" "))
    };
    files.iter().map(answer).collect::<Vec<_>>().join("\n")
}

#[test]
fn no_payload_of_copilot_ends_in_an_error() {
    assert_snapshot!(answers("copilot"), @"
    Notification.json: info: the payload of Notification is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    PermissionRequest.camel.json: info: the payload of PermissionRequest is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    PermissionRequest.json: info: the payload of PermissionRequest is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    PermissionRequest.subagent.json: info: the payload of PermissionRequest is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    PostToolUse.camel.json: info: the payload of PostToolUse is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    PostToolUse.camel.subagent.json: info: the payload of PostToolUse is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    PostToolUse.json: 
    PostToolUse.subagent.json: 
    PostToolUseFailure.json: 
    PreCompact.json: 
    PreToolUse.camel.json: info: the payload of PreToolUse is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    PreToolUse.camel.subagent.json: info: the payload of PreToolUse is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    PreToolUse.json: 
    PreToolUse.subagent.json: 
    SessionEnd.camel.json: info: the payload of SessionEnd is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    SessionEnd.json: 
    SessionStart.camel.json: info: the payload of SessionStart is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    SessionStart.json: 
    Stop.camel.json: info: the payload of Stop is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    Stop.camel.subagent.json: info: the payload of Stop is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    Stop.json: 
    Stop.subagent.json: 
    SubagentStart.camel.json: info: the payload of SubagentStart is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    SubagentStart.json: info: the payload of SubagentStart is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    SubagentStop.camel.json: info: the payload of SubagentStop is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    SubagentStop.json: 
    UserPromptSubmit.camel.json: info: the payload of UserPromptSubmit is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    UserPromptSubmit.camel.subagent.json: info: the payload of UserPromptSubmit is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do
    UserPromptSubmit.json: 
    UserPromptSubmit.subagent.json:
    ");
}

#[test]
fn no_payload_of_codex_or_qwen_ends_in_an_error() {
    assert_snapshot!([answers("codex"), answers("qwen")].join("\n"), @"
    PermissionRequest.json: 
    PostCompact.json: 
    PostToolUse.json: 
    PostToolUse.subagent.json: 
    PreCompact.json: 
    PreToolUse.json: 
    PreToolUse.subagent.json: 
    SessionEnd.json: 
    SessionStart.json: 
    Stop.json: 
    SubagentStart.json: 
    SubagentStop.json: 
    UserPromptSubmit.json: 
    InstructionsLoaded.json: 
    MessageDisplay.json: 
    Notification.json: 
    PermissionRequest.json: 
    PostToolBatch.json: 
    PostToolBatch.subagent.json: 
    PostToolUse.json: 
    PostToolUse.subagent.json: 
    PostToolUseFailure.json: 
    PostToolUseFailure.subagent.json: 
    PreCompact.json: 
    PreToolUse.json: 
    PreToolUse.subagent.json: 
    SessionEnd.json: 
    SessionStart.json: 
    Stop.json: 
    SubagentStart.json: 
    SubagentStop.json: 
    UserPromptExpansion.json: 
    UserPromptSubmit.json:
    ");
}

#[test]
fn the_stop_of_another_client_runs_the_commands_of_its_agent() {
    for client in ["copilot", "codex", "qwen"] {
        let test = Test::stop().config("subagentStop: {commands: {coder: [{run: touch ran.txt}]}}");
        let payload = capture_of(client, "SubagentStop.json", &test);
        assert!(test.stdin(payload).run().silent().has("ran.txt"), "{client}");
    }
}

#[test]
fn what_is_not_a_payload_of_a_client_is_exit_0_and_a_log_line_at_every_event() {
    for name in conclaude::event::names() {
        for stdin in ["{}", r#"{"sessionId": "s", "cwd": "/", "hook_event_name": "x"}"#] {
            let done = Test::event(name).config("des: {}").stdin(stdin).run().silent();
            assert_eq!(
                done.stderr,
                format!(
                    "conclaude: info: the payload of {name} is not one of Claude Code (it has no `hook_event_name` and `session_id`): nothing to do\n"
                )
            );
            assert!(!done.has(".conclaude"));
        }
    }
}

#[test]
fn a_missing_field_of_a_tool_or_a_prompt_is_never_a_non_zero_exit() {
    let mut shown = Vec::new();
    for event in ["PreToolUse", "PermissionRequest", "UserPromptSubmit"] {
        for field in ["session_id", "transcript_path", "cwd", "hook_event_name", "tool_name"] {
            let test = Test::event(event).payload("tool_name", "Bash").without(field);
            let done = test.run().status(0);
            shown.push(format!("{event} without {field}: {}", done.stdout.trim_end()));
        }
        for stdin in ["", "nonsense", "[]"] {
            let done = Test::event(event).stdin(stdin).run().status(0);
            shown.push(format!("{event} of {stdin:?}: {}", done.stdout.trim_end()));
        }
    }
    assert_snapshot!(shown.join("\n"), @r#"
    PreToolUse without session_id: {"systemMessage":"conclaude: invalid payload: missing required field `session_id`: expected a non-empty string"}
    PreToolUse without transcript_path: 
    PreToolUse without cwd: {"systemMessage":"conclaude: invalid payload: missing required field `cwd`: expected a non-empty string"}
    PreToolUse without hook_event_name: {"systemMessage":"conclaude: invalid payload: missing required field `hook_event_name`: expected a non-empty string"}
    PreToolUse without tool_name: {"systemMessage":"conclaude: invalid payload: missing required field `tool_name`: expected a non-empty string"}
    PreToolUse of "": {"systemMessage":"conclaude: no payload on stdin: expected one JSON object"}
    PreToolUse of "nonsense": {"systemMessage":"conclaude: the payload is not valid JSON: expected ident at line 1 column 2"}
    PreToolUse of "[]": {"systemMessage":"conclaude: invalid payload: expected a JSON object, found a list"}
    PermissionRequest without session_id: 
    PermissionRequest without transcript_path: 
    PermissionRequest without cwd: 
    PermissionRequest without hook_event_name: 
    PermissionRequest without tool_name: 
    PermissionRequest of "": 
    PermissionRequest of "nonsense": 
    PermissionRequest of "[]": 
    UserPromptSubmit without session_id: {"systemMessage":"conclaude: invalid payload: missing required field `session_id`: expected a non-empty string"}
    UserPromptSubmit without transcript_path: 
    UserPromptSubmit without cwd: {"systemMessage":"conclaude: invalid payload: missing required field `cwd`: expected a non-empty string"}
    UserPromptSubmit without hook_event_name: {"systemMessage":"conclaude: invalid payload: missing required field `hook_event_name`: expected a non-empty string"}
    UserPromptSubmit without tool_name: 
    UserPromptSubmit of "": {"systemMessage":"conclaude: no payload on stdin: expected one JSON object"}
    UserPromptSubmit of "nonsense": {"systemMessage":"conclaude: the payload is not valid JSON: expected ident at line 1 column 2"}
    UserPromptSubmit of "[]": {"systemMessage":"conclaude: invalid payload: expected a JSON object, found a list"}
    "#);
}

#[test]
fn a_relative_cwd_of_a_tool_is_shown_and_not_a_refusal() {
    let done = Test::event("PreToolUse").payload("tool_name", "Bash").payload("cwd", ".").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "systemMessage": "conclaude: invalid payload: `cwd` is \".\", expected an absolute path"
    }
    ----- stderr
    conclaude: warn: invalid payload: `cwd` is ".", expected an absolute path
    "#);
}

/// Copilot's call of an agent with markers, under the names that it gives to everything.
fn foreign_call(test: Test) -> Outcome {
    let mut payload: Value =
        serde_json::from_str(&capture_of("copilot", "PreToolUse.camel.json", &test)).unwrap();
    payload["toolArgs"]["prompt"] = MARKERS.into();
    test.stdin(payload.to_string()).run()
}

#[test]
fn a_payload_that_nobody_understands_does_not_get_past_a_gate() {
    let done = foreign_call(Test::event("PreToolUse").step(&todo()));
    assert_snapshot!(done.denied(), @"
    conclaude denies this tool:
    ✗ PAYLOAD_INVALID: a gate applies to this tool and cannot be evaluated: invalid payload: missing required field `session_id`: expected a non-empty string → use Claude Code for steps with DES markers, or remove the markers
    ");
    let mut record = done.audit().pop().unwrap();
    for field in ["time", "prev", "hash"] {
        record.as_object_mut().unwrap().remove(field);
    }
    assert_snapshot!(pretty(&record), @r#"
    {
      "seq": 1,
      "findings": [
        {
          "code": "PAYLOAD_INVALID",
          "weight": "block",
          "what": "a gate applies to this tool and cannot be evaluated: invalid payload: missing required field `session_id`: expected a non-empty string",
          "fix": "use Claude Code for steps with DES markers, or remove the markers"
        }
      ],
      "event": "PreToolUse",
      "session": "cae784c9-5878-49df-863f-bb033b0783e8",
      "decision": "denied"
    }
    "#);
    foreign_call(Test::event("PreToolUse").step(&todo()).config("des: {enabled: false}")).silent();
    // An agent that a gate let in is known by its id.
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again().agent_files(MARKERS);
    let test = test.writes("Write", "file_path", "src/a.rs").run().again();
    let unread = json!({"sessionId": "session-1", "agentId": "a1b2c3", "toolName": "create"}).to_string();
    let done = test.stdin(unread.clone()).run();
    done.denied();
    let done = done.again().stops().stdin(unread).run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid payload: missing required field `session_id`: expected a non-empty string
    ");
}

#[test]
fn a_call_of_copilot_is_gated_like_any_other() {
    let call = |agent: &str| {
        let test = Test::event("PreToolUse").step(&todo());
        let mut payload: Value =
            serde_json::from_str(&capture_of("copilot", "PreToolUse.json", &test)).unwrap();
        payload["tool_input"]["prompt"] = MARKERS.into();
        payload["tool_input"]["agent_type"] = agent.into();
        test.stdin(payload.to_string()).run()
    };
    assert!(call("coder").updated_input()["prompt"].as_str().unwrap().starts_with(MARKERS));
    assert_eq!(codes(&call("tester").denied()), ["AGENT_MISMATCH"]);
}

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
        assert!(stderr.contains("debug: the agent's prompt was not found"), "{client}: {stderr}");
    }
}

#[test]
fn a_transcript_that_is_late_is_waited_for_only_where_an_agent_may_have_a_step() {
    const WAITS: &str = "debug: waiting for the agent's prompt";
    let test = || Test::stop().env("CONCLAUDE_LOG", "debug").env("TEST_LIMIT_OF_CONCLAUDE", "3");
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
    gated().file("main.jsonl", call(MARKERS)).run().stderr_has(WAITS);
    let let_in = gated().call_agent(MARKERS).run().again();
    let_in.stops().file("main.jsonl", "{}\n").run().stderr_has(WAITS);
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
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ NOT_JUDGED: an agent was called for steps/01-01.json, and this may be the one: its transcript and the file beside it are gone, so its step cannot be checked → say in your report what became of them and what you did; the user must look at the step
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
    assert_eq!(same["gates"][0]["why"], "whether it applies is not known");
    assert_eq!(same["gates"][0]["findings"][0]["code"], "PROMPT_NOT_FOUND");
    assert_eq!((&same["no_gate"], &same["answers"][0]["decision"]), (&Value::Null, &json!("warned")));
    // An event that did not happen has no prompt that could have been missed.
    let sample = explained(&["SubagentStop", "--agent", "coder"]);
    assert_eq!((&sample["gates"], &sample["answers"][0]["decision"]), (&json!([]), &json!("allowed")));
}

// ---- A payload of six fields, with the agent's plain transcript

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

// ---- Times

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

// ---- Long transcripts

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
