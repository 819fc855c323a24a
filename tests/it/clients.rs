//! Payloads and transcripts of other clients, of older versions and of odd forms.

mod six_fields;
mod transcripts;

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::environment::run_in;
use crate::common::snapshot::pretty;
use crate::common::workflow::{MARKERS, codes, done, todo};
use crate::common::{Outcome, Test, agent_call, binary, in_little_memory};
use conclaude_core::event::EventKind;

// ---- Other clients run the hooks of `.claude/settings.json` too

fn fixtures(client: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures").join(client)
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
    Notification.json: 
    PermissionRequest.camel.json: 
    PermissionRequest.json: 
    PermissionRequest.subagent.json: 
    PostToolUse.camel.json: 
    PostToolUse.camel.subagent.json: 
    PostToolUse.json: 
    PostToolUse.subagent.json: 
    PostToolUseFailure.json: 
    PreCompact.json: 
    PreToolUse.camel.json: 
    PreToolUse.camel.subagent.json: 
    PreToolUse.json: 
    PreToolUse.subagent.json: 
    SessionEnd.camel.json: 
    SessionEnd.json: 
    SessionStart.camel.json: 
    SessionStart.json: 
    Stop.camel.json: 
    Stop.camel.subagent.json: 
    Stop.json: 
    Stop.subagent.json: 
    SubagentStart.camel.json: 
    SubagentStart.json: 
    SubagentStop.camel.json: 
    SubagentStop.json: 
    UserPromptSubmit.camel.json: 
    UserPromptSubmit.camel.subagent.json: 
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

/// Calls an event in the folder of the project, as clients do.
fn in_project(test: Test, event: &str) -> Outcome {
    let mut command = test.program(binary());
    command.arg(event);
    test.run_as(command)
}

#[test]
fn the_stop_of_another_client_runs_the_commands_of_its_agent() {
    for client in ["copilot", "codex", "qwen"] {
        let test = Test::stop().config("subagentStop: {commands: {coder: [{run: touch ran.txt}]}}");
        let payload = capture_of(client, "SubagentStop.json", &test);
        assert!(in_project(test.stdin(payload), "SubagentStop").silent().has("ran.txt"), "{client}");
    }
}

#[test]
fn what_is_not_a_payload_of_a_client_is_exit_0_and_a_log_line_at_every_event() {
    for name in conclaude_core::event::names() {
        for stdin in ["{}", r#"{"cwd": "/", "source": "x"}"#] {
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

/// Copilot's call of an agent with markers, without the session.
fn foreign_call(test: Test) -> Outcome {
    let mut payload: Value =
        serde_json::from_str(&capture_of("copilot", "PreToolUse.camel.json", &test)).unwrap();
    payload["toolArgs"]["prompt"] = MARKERS.into();
    payload.as_object_mut().unwrap().remove("sessionId");
    test.stdin(payload.to_string()).run()
}

#[test]
fn a_payload_that_nobody_understands_does_not_get_past_a_gate() {
    let done = foreign_call(Test::event("PreToolUse").step(&todo()));
    let answer: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_snapshot!(answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap(), @"
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
          "fix": "use Claude Code for steps with DES markers, or remove the markers",
          "rule": {
            "key": "built-in",
            "pattern": "a gate that cannot be evaluated never allows"
          },
          "verdict": "block"
        }
      ],
      "event": "PreToolUse",
      "decision": "denied"
    }
    "#);
    foreign_call(Test::event("PreToolUse").step(&todo()).config("des: {enabled: false}")).silent();
    // An agent that a gate let in is known by its id.
    let test = Test::stop().step(&todo()).call_agent(MARKERS).run().again().agent_files(MARKERS);
    let test = test.writes("Write", "file_path", "src/a.rs").run().again();
    let unread = json!({"session_id": "session-1", "agent_id": "a1b2c3", "tool_name": "Write"}).to_string();
    let done = test.stdin(unread.clone()).run();
    done.denied();
    let done = done.again().stops().stdin(unread).run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid payload: missing required field `hook_event_name`: expected a non-empty string
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
    assert!(call("tester").status(0).stdout.contains("AGENT_MISMATCH"));
}

// ---- Blocks of a stop, where the client makes a prompt of the reason

const BLOCKS: &str = "\
stop: {commands: [{run: 'touch stopped.txt; false'}]}
userPromptSubmit:
  contextRules: [{pattern: tests, prompt: Run them.}]
  commands: [{run: touch prompted.txt}]
";

/// An event of a client in the project of the test, with these fields.
fn event_of(client: &str, file: &str, test: Test, fields: &Value) -> Outcome {
    let event = file.split('.').next().unwrap();
    let mut payload: Value = serde_json::from_str(&capture_of(client, file, &test)).unwrap();
    payload["session_id"] = "s".into();
    for (name, value) in fields.as_object().unwrap() {
        payload[name] = value.clone();
    }
    in_project(test.stdin(payload.to_string()), event)
}

#[test]
fn the_reason_of_a_block_that_comes_back_as_a_prompt_does_not_start_the_count_again() {
    for client in ["copilot", "qwen", "codex"] {
        let mut test = Test::event("Stop").config(BLOCKS).file("main.jsonl", "{}\n");
        for nth in 1..=3 {
            let done = event_of(
                client,
                "Stop.json",
                test,
                &json!({"stop_hook_active": nth > 1, "background_tasks": []}),
            );
            let answer: Value = serde_json::from_str(&done.stdout).unwrap();
            let Some(reason) = answer["reason"].as_str() else { panic!("{client}: {answer}") };
            assert!(reason.contains(&format!("(block {nth} of 3)")), "{client}: {reason}");
            let prompt = format!("{}\n", reason.replace("\n", "\r\n"));
            let done =
                event_of(client, "UserPromptSubmit.json", done.again(), &json!({"prompt": prompt})).silent();
            assert!(!done.has("prompted.txt"), "{client}: no rule applies to it");
            test = done.again();
        }
        let done = event_of(client, "Stop.json", test, &json!({"background_tasks": []})).status(0);
        // A prompt of the user starts it again.
        let fields = json!({"prompt": "Run the tests."});
        let done = event_of(client, "UserPromptSubmit.json", done.again(), &fields).status(0);
        assert!(done.has("prompted.txt"));
        let done = event_of(client, "Stop.json", done.again(), &json!({"background_tasks": []}));
        assert!(done.stdout.contains("(block 1 of 3)"), "{client}: {}", done.stdout);
    }
}

#[test]
fn a_stop_inside_a_subagent_of_copilot_runs_nothing_and_counts_nothing() {
    let done = Test::event("Stop").config(BLOCKS);
    let done = event_of("copilot", "Stop.subagent.json", done, &json!({})).silent();
    assert!(!done.has("stopped.txt") && done.audit().is_empty());
    let done = event_of("copilot", "Stop.json", done.again(), &json!({}));
    assert!(done.stdout.contains("(block 1 of 3)"), "{}", done.stdout);
}

// ---- The file tools of Copilot, with the registration for Claude Code

const GUARDED: &str = "\
preToolUse:
  uneditableFiles: [Cargo.lock]
  unreadableFiles: [.env]
  preventRootAdditions: true
";

/// A tool of Copilot, as its PreToolUse has it.
fn copilot_tool(name: &str, input: Value) -> Outcome {
    let test = Test::event("PreToolUse").config(GUARDED).file("src/a.rs", "a").file("Cargo.lock", "");
    event_of("copilot", "PreToolUse.json", test, &json!({"tool_name": name, "tool_input": input}))
}

#[test]
fn an_innocent_file_tool_of_copilot_is_not_asked_about() {
    for (name, input) in [
        ("Read", json!({"path": "src/a.rs"})),
        ("Write", json!({"path": "src/b.rs", "file_text": "b"})),
        ("Edit", json!({"path": "src/a.rs", "old_str": "a", "new_str": "b"})),
        ("Read", json!({"path": "src"})),
    ] {
        copilot_tool(name, input).silent();
    }
}

#[test]
fn a_file_tool_of_copilot_is_denied_what_the_guards_protect() {
    for (name, input, part) in [
        ("Read", json!({"path": ".env"}), "Reading .env"),
        ("Write", json!({"path": "new.rs", "file_text": ""}), "new.rs would be new"),
        ("Edit", json!({"path": "./Cargo.lock", "old_str": "a"}), "Writing Cargo.lock"),
    ] {
        let done = copilot_tool(name, input);
        assert!(done.stdout.contains("\"deny\"") && done.stdout.contains(part), "{name}: {}", done.stdout);
    }
}
