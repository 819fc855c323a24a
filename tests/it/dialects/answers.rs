//! The forms of answers. stdout is empty or one JSON object with no other field than is shown here.

use insta::assert_snapshot;
use serde_json::json;

use crate::common::clients::{CLIENTS, call, capture, event_name};
use crate::common::{Outcome, Test};

fn shown(client: &str, done: &Outcome) -> String {
    format!("{client}\n{}", done.snapshot())
}

fn all(shows: impl Fn(&str) -> Outcome) -> String {
    CLIENTS.map(|client| shown(client, &shows(client))).join("\n\n")
}

/// An event of ours with a config, as the client sends it.
fn event(client: &str, ours: &'static str, config: &str) -> Outcome {
    let event = event_name(client, ours);
    let test = Test::event(ours).config(config);
    let mut payload = capture(client, &format!("{event}.json"), &test);
    payload["background_tasks"] = json!([]);
    if ours == "UserPromptSubmit" {
        payload["prompt"] = "please delegate it".into();
    }
    if ours.ends_with("ToolUse") {
        let shell = if matches!(client, "qwen" | "gemini") { "run_shell_command" } else { "Bash" };
        payload["tool_name"] = shell.into();
        payload["tool_input"] = json!({"command": "make it"});
    }
    call(client, event, test, &payload)
}

#[test]
fn a_tool_is_denied_with_the_reason() {
    let config = "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'make*', action: block, message: NO}]}";
    assert_snapshot!(all(|client| event(client, "PreToolUse", config)));
}

#[test]
fn a_question_is_one_where_the_client_has_some() {
    let config = "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'make*', action: ask, message: SURE?}]}";
    assert_snapshot!(all(|client| event(client, "PreToolUse", config)));
}

#[test]
fn a_stop_is_blocked_with_the_reason() {
    let config = "stop: {commands: [{run: 'echo BAD; false'}]}";
    assert_snapshot!(all(|client| event(client, "Stop", config)));
}

#[test]
fn the_result_of_a_tool_is_criticised() {
    let config = "postToolUse: {commands: {Bash: [{run: 'echo BAD; false', onFailure: block}]}}";
    assert_snapshot!(all(|client| event(client, "PostToolUse", config)));
}

#[test]
fn a_prompt_gets_context() {
    let config = "userPromptSubmit: {contextRules: [{pattern: delegate, prompt: CONTEXT}]}";
    assert_snapshot!(all(|client| event(client, "UserPromptSubmit", config)));
}

#[test]
fn a_message_is_shown_or_queued_for_the_model_to_tell() {
    let config = "postToolUse: {commands: {Bash: [{run: 'echo BAD; false'}]}}\nstop: {commands: [{run: 'echo WARN; false', onFailure: warn}]}";
    assert_snapshot!(all(|client| {
        let done = event(client, "Stop", config);
        assert!(done.stdout.starts_with(r#"{"systemMessage":"#), "{client}: {}", done.stdout);
        if client != "copilot" {
            return done;
        }
        // Copilot shows it nowhere.
        let prompt = event_name(client, "UserPromptSubmit");
        let payload = capture(client, &format!("{prompt}.json"), &Test::event("Stop"));
        let test = done.again();
        let mut payload = payload;
        payload["cwd"] = test.root().to_str().unwrap().into();
        call(client, prompt, test, &payload)
    }));
}

#[test]
fn an_error_has_the_clients_form() {
    assert_snapshot!(all(|client| event(client, "Stop", "stopp: {}\n")));
}

#[test]
fn a_permission_is_answered_where_the_client_asks_for_one() {
    let config = "permissionRequest: {default: ask, allow: ['Bash(make *)'], deny: ['Bash(rm*)']}";
    let mut shown = Vec::new();
    for client in ["codex", "copilot", "qwen"] {
        for command in ["make it", "rm x", "ls"] {
            let test = Test::event("PermissionRequest").config(config);
            let mut payload = capture(client, "PermissionRequest.json", &test);
            let field = if client == "copilot" { "toolInput" } else { "tool_input" };
            payload[field] = json!({"command": command});
            let done = call(client, "PermissionRequest", test, &payload);
            shown.push(format!(
                "{client}: {command}: exit {:?} {}{}",
                done.code,
                done.stdout.trim_end(),
                done.stderr
            ));
        }
    }
    assert_snapshot!(shown.join("\n"));
}

/// Codex types into a running program without an event (`write_stdin`).
#[test]
fn what_waits_for_commands_is_denied_where_typing_is_unseen() {
    let answers = |client: &str, command: &str| {
        let test = Test::event("PreToolUse").config("preToolUse: {unreadableFiles: [.env]}");
        let mut payload = capture(client, "PreToolUse.json", &test);
        payload["tool_name"] = "Bash".into();
        payload["tool_input"] = json!({ "command": command });
        call(client, "PreToolUse", test, &payload).stdout.contains("\"deny\"")
    };
    for command in [
        "bash",
        "python3 -i x.py",
        "cat | sh",
        "eval \"$(cat)\"",
        "vim a",
        "less a",
        "man ls",
        "psql -d x",
        "sqlite3 a",
        "sed -f - a",
    ] {
        assert!(answers("codex", command), "{command}");
    }
    for command in [
        "bash x.sh",
        "echo ls | bash",
        "cat a | less",
        "vim --version",
        "psql -d x -c 'select 1'",
        "sqlite3 a .tables",
        "sed -f s a",
        "echo p | sed -f - a",
    ] {
        assert!(!answers("codex", command), "{command}");
    }
}
