//! Two registrations for the same event: one of them handles it.

use serde_json::{Value, json};

use crate::common::clients::{capture, event_name};
use crate::common::{Outcome, Test, binary, run_in as run};

const CONFIG: &str = "\
des: {enabled: false}
preToolUse: {toolUsageValidation: [{tool: Bash, action: block, message: NO-SHELL}]}
postToolUse: {commands: {'*': [{run: 'echo ran >> ran.txt'}]}}
";

/// A shell command of a client.
fn shell(client: &str, test: &Test) -> Value {
    let mut payload = capture(client, &format!("{}.json", event_name(client, "PreToolUse")), test);
    let name = if client == "copilot" { "Bash" } else { "run_shell_command" };
    payload["tool_name"] = name.into();
    payload["tool_input"] = json!({"command": "ls"});
    payload
}

fn called(test: Test, payload: &Value, arguments: &[&str]) -> Outcome {
    let root = test.root();
    let test = test.stdin(payload.to_string()).env("CLAUDE_PROJECT_DIR", root.to_str().unwrap());
    let mut command = test.program(binary());
    command.args(arguments);
    test.run_as(command)
}

fn install(test: &Test, client: &str) {
    let (code, _, stderr) = run(&test.root(), &["install", "--client", client]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_users_registration_defers_to_the_clients_own_file_alone() {
    for client in ["copilot", "qwen", "gemini"] {
        let event = event_name(client, "PreToolUse");
        let arguments = ["--client", client, event, "--if-trusted"];
        let test = Test::event("PreToolUse").config(CONFIG);
        install(&test, "claude");
        let payload = shell(client, &test);
        let done = called(test, &payload, &arguments);
        assert!(done.stdout.contains("NO-SHELL"), "{client}: {} {}", done.stdout, done.stderr);
        let test = done.again();
        install(&test, client);
        let done = called(test, &payload, &arguments).silent();
        let done = called(done.again(), &payload, &["--client", client, event]);
        assert!(done.stdout.contains("NO-SHELL"), "{client}: {}", done.stdout);
    }
}

#[test]
fn copilot_is_handled_once_with_both_registrations() {
    let test = Test::event("PreToolUse").config(CONFIG);
    install(&test, "claude");
    let payload = shell("copilot", &test);
    // Claude Code's registration alone guards it, in its own form.
    let done = called(test, &payload, &["PreToolUse"]).status(0);
    assert!(done.stdout.contains("NO-SHELL") && done.stderr.is_empty(), "{} {}", done.stdout, done.stderr);
    let test = done.again();
    install(&test, "copilot");
    let done = called(test, &payload, &["--client", "copilot", "PreToolUse"]).status(0);
    assert!(done.stdout.contains("NO-SHELL"), "{}", done.stdout);
    let records = run(&done.root(), &["audit", "show", "--json"]).1;
    assert!(records.contains("copilot"), "{records}");
    let done = called(done.again(), &payload, &["PreToolUse"]).silent();
    assert_eq!(run(&done.root(), &["audit", "show", "--json"]).1, records);
    // A command runs once as well.
    let test = done.again();
    let after = capture("copilot", "PostToolUse.json", &test);
    let done = called(test, &after, &["--client", "copilot", "PostToolUse"]).silent();
    let done = called(done.again(), &after, &["PostToolUse"]).silent();
    assert_eq!(done.read("ran.txt"), "ran\n");
}

#[test]
fn a_file_of_copilot_that_does_not_call_us_for_the_tool_is_not_deferred_to() {
    let line = |client: &str| format!("{} {client}PreToolUse", binary().display());
    for (matcher, command) in [
        ("^(Write)$", line("--client copilot ")),
        ("^(Bash)$", line("")),
        ("^(Bash)$", "./conclaude --client copilot PreToolUse".to_owned()),
        ("^(Bash)$", "echo conclaude".to_owned()),
    ] {
        let hooks = json!({"version": 1, "hooks": {"PreToolUse": [
            {"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 3600}]},
        ]}});
        let test =
            Test::event("PreToolUse").config(CONFIG).file(".github/hooks/conclaude.json", hooks.to_string());
        let payload = shell("copilot", &test);
        let done = called(test, &payload, &["PreToolUse"]);
        assert!(done.stdout.contains("NO-SHELL"), "{matcher} {command}: {}", done.stdout);
    }
}

/// Copilot compares Claude Code's name of a tool and its own.
#[test]
fn a_matcher_with_copilots_own_name_of_the_tool_is_deferred_to() {
    for (matcher, is_called) in
        [("^(bash)$", true), ("bash|create", true), (".*", true), ("^(create)$", false), ("^(ba)$", false)]
    {
        let command = format!("{} --client copilot PreToolUse", binary().display());
        let hooks = json!({"version": 1, "hooks": {"PreToolUse": [
            {"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 3600}]},
        ]}});
        let test =
            Test::event("PreToolUse").config(CONFIG).file(".github/hooks/conclaude.json", hooks.to_string());
        let payload = shell("copilot", &test);
        let done = called(test, &payload, &["PreToolUse"]);
        assert_eq!(done.stdout.is_empty(), is_called, "{matcher}: {}", done.stdout);
    }
}

#[test]
fn copilots_own_home_counts_too() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let command = format!("{} --client copilot PreToolUse --if-trusted", binary().display());
    let hooks = json!({"version": 1, "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}});
    std::fs::create_dir(home.join("hooks")).unwrap();
    std::fs::write(home.join("hooks/conclaude.json"), hooks.to_string()).unwrap();
    let test = Test::event("PreToolUse").config(CONFIG).env("COPILOT_HOME", home.to_str().unwrap());
    install(&test, "claude");
    let payload = shell("copilot", &test);
    let done = called(test, &payload, &["PreToolUse"]).silent();
    let done = called(done.again(), &payload, &["--client", "copilot", "PreToolUse", "--if-trusted"]);
    assert!(done.stdout.contains("NO-SHELL"), "{}", done.stdout);
}
