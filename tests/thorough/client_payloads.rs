//! Bad arguments and payloads.

use serde_json::json;

use crate::common::clients::{CLIENTS, call, capture, captures, event_name, event_of};
use crate::common::{Test, binary};

#[test]
fn an_unknown_client_is_a_warning_and_the_payload_decides() {
    let config = "preToolUse: {toolUsageValidation: [{tool: Bash, action: block, message: NO}]}";
    for arguments in [vec!["--client", "copilt", "PreToolUse"], vec!["--client=copilt", "PreToolUse"]] {
        let test = Test::event("PreToolUse").config(config);
        let mut payload = capture("copilot", "PreToolUse.json", &test);
        payload["tool_name"] = "Bash".into();
        let test = test.stdin(payload.to_string());
        let mut command = test.program(binary());
        command.args(arguments);
        let done = test.run_as(command).status(0);
        assert_eq!(
            done.stderr,
            "conclaude: warn: `--client copilt` is not one of claude, codex, copilot, qwen, gemini: the payload decides\n"
        );
        assert!(done.stdout.contains("\"deny\""), "{}", done.stdout);
    }
}

#[test]
fn a_payload_that_is_no_object_is_an_error_in_the_clients_form() {
    for client in CLIENTS {
        for ours in ["PreToolUse", "Stop", "UserPromptSubmit"] {
            for stdin in ["", "nonsense", "[]", "7", "{\"cwd\": \"/\"}"] {
                let event = event_name(client, ours);
                let test = Test::event(ours).stdin(stdin);
                let mut command = test.program(binary());
                command.args(["--client", client, event]);
                let done = test.run_as(command);
                let exit = if client == "copilot" && ours == "PreToolUse" { 0 } else { 1 };
                let shown =
                    format!("{client} {event} {stdin:?}: {:?} {} {}", done.code, done.stdout, done.stderr);
                assert!(done.code == Some(exit) && done.stdout.is_empty(), "{shown}");
                assert!(done.stderr.starts_with("conclaude: "), "{shown}");
            }
        }
    }
}

#[test]
fn a_payload_that_copilot_cannot_be_told_about_is_queued_for_the_user() {
    for event in ["PreToolUse", "PermissionRequest"] {
        let test = Test::event(event).config("stop: {commands: []}").stdin("nonsense");
        let mut command = test.program(binary());
        command.args(["--client", "copilot", event]);
        let done = test.run_as(command).status(0);
        assert_eq!(done.stdout, "");
        let test = done.again();
        let prompt = capture("copilot", "UserPromptSubmit.json", &test);
        let done = call("copilot", "UserPromptSubmit", test, &prompt).status(0);
        assert!(done.stdout.contains("Tell the user: conclaude: "), "{event}: {}", done.stdout);
        assert!(done.stdout.contains(event), "{event}: {}", done.stdout);
        call("copilot", "UserPromptSubmit", done.again(), &prompt).silent();
    }
}

#[test]
fn what_is_missing_null_new_or_of_another_type_is_no_error() {
    for client in CLIENTS {
        for ours in ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"] {
            let event = event_name(client, ours);
            let test = Test::event(ours).config("stop: {commands: []}");
            let whole = capture(client, &format!("{event}.json"), &test);
            let mut test = Some(test);
            for (name, _) in whole.as_object().unwrap() {
                if matches!(name.as_str(), "session_id" | "sessionId") {
                    continue;
                }
                for value in [None, Some(json!(null)), Some(json!({"new": [1]}))] {
                    let mut payload = whole.clone();
                    payload["added_later"] = json!({"x": 1});
                    match value {
                        Some(value) => payload[name] = value,
                        None => drop(payload.as_object_mut().unwrap().remove(name)),
                    }
                    let done = call(client, event, test.take().unwrap(), &payload).silent();
                    test = Some(done.again());
                }
            }
        }
    }
}

#[test]
fn an_unknown_event_runs_the_commands_of_its_section() {
    for client in CLIENTS {
        let test = Test::event("Stop").config(
            "goalReached: {commands: [{run: touch ran}]}\ntodoCompleted: {commands: [{run: touch done}]}",
        );
        let mut payload = capture(client, &format!("{}.json", event_name(client, "Stop")), &test);
        payload["hook_event_name"] = "Other".into();
        let done = call(client, "GoalReached", test, &payload).silent();
        assert!(done.has("ran"), "{client}: {}", done.stderr);
        let done = call(client, "TodoCompleted", done.again(), &payload).silent();
        assert!(done.has("done"), "{client}: {}", done.stderr);
    }
}

#[test]
fn every_capture_is_recognised_and_passes_silently() {
    for client in CLIENTS {
        for file in captures(client) {
            let test =
                Test::event(event_of(&file)).config("subagentStop: {commands: {nobody: [{run: 'true'}]}}");
            let payload = capture(client, &file, &test);
            let recognised = conclaude_core::dialect::of(payload.as_object().unwrap()).name;
            assert_eq!(recognised, client, "{file}");
            let done = call(client, event_of(&file), test, &payload).silent();
            assert_eq!(done.stderr, "", "{client}: {file}");
            // Without `--client` the payload decides.
            let done = done.again().stdin(payload.to_string()).run().silent();
            assert_eq!(done.stderr, "", "{client}: {file}");
        }
    }
}
