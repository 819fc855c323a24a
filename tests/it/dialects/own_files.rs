//! The settings of every client are protected, whichever client works here, and whether or not they exist.

use serde_json::{Value, json};

use crate::common::clients::{CLIENTS, call, capture, event_name};
use crate::common::{Outcome, Test};

const FILES: [&str; 8] = [
    ".codex/hooks.json",
    ".codex/config.toml",
    ".github/hooks/conclaude.json",
    ".github/copilot/settings.local.json",
    ".github/copilot/settings.json",
    ".qwen/settings.json",
    ".gemini/settings.json",
    ".claude/settings.json",
];

fn is_refused(done: &Outcome) -> bool {
    done.stdout.contains("conclaude's own config, state or registration")
        && ["\"deny\"", "\"ask\""].iter().any(|word| done.stdout.contains(word))
}

fn shell(test: Test, command: &str) -> Outcome {
    test.payload("tool_name", "Bash").payload("tool_input", json!({"command": command})).run()
}

fn tool() -> Test {
    Test::event("PreToolUse").without("agent_id").config("stop: {commands: []}")
}

#[test]
fn the_settings_of_other_clients_are_not_written_in_claude_code() {
    let mut test = tool();
    let root = test.root();
    for file in FILES {
        for (name, input) in [
            ("Write", json!({"file_path": root.join(file), "content": "{}"})),
            ("Edit", json!({"file_path": root.join(file), "old_string": "a", "new_string": "b"})),
        ] {
            let done = test.payload("tool_name", name).payload("tool_input", input).run();
            assert!(is_refused(&done), "{name} {file}: {}", done.stdout);
            test = done.again();
        }
        for command in [format!("rm -f {file}"), format!("echo '{{}}' > {file}"), format!("cp a {file}")] {
            let done = shell(test, &command);
            assert!(is_refused(&done), "{command}: {}", done.stdout);
            test = done.again();
        }
    }
    for command in ["cat .codex/hooks.json", "mkdir -p .github/workflows", "echo x > .github/workflows/a.yml"]
    {
        let done = shell(test, command).silent();
        test = done.again();
    }
}

#[test]
fn a_folder_goes_only_without_settings_in_it() {
    let mut test = tool().file(".github/hooks/conclaude.json", "{}").file(".github/workflows/a.yml", "");
    for (command, refused) in [
        ("rm -rf .github", true),
        ("rm -r .github/hooks", true),
        ("mv other .gemini", true),
        ("rm -r .github/workflows", false),
    ] {
        let done = shell(test, command);
        assert_eq!(is_refused(&done), refused, "{command}: {}", done.stdout);
        test = done.again();
    }
}

#[test]
fn the_settings_of_a_user_are_protected_where_they_are() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let mut test = tool()
        .env("HOME", home.to_str().unwrap())
        .env("CODEX_HOME", home.join("elsewhere").to_str().unwrap());
    for file in [
        ".copilot/hooks/conclaude.json",
        ".copilot/settings.json",
        ".qwen/settings.json",
        ".gemini/settings.json",
        "elsewhere/hooks.json",
        "elsewhere/config.toml",
    ] {
        let done = shell(test, &format!("echo x > {}", home.join(file).display()));
        assert!(is_refused(&done), "{file}: {}", done.stdout);
        test = done.again();
    }
}

#[test]
fn no_client_changes_the_settings_of_any() {
    for client in CLIENTS {
        let event = event_name(client, "PreToolUse");
        let mut test = Test::event("PreToolUse").config("stop: {commands: []}");
        for file in FILES {
            let (name, input): (&str, Value) = match client {
                "codex" => (
                    "apply_patch",
                    json!({"command": format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n")}),
                ),
                "copilot" => ("Write", json!({"path": file, "file_text": "x"})),
                _ => ("write_file", json!({"file_path": file, "content": "x"})),
            };
            let mut payload = capture(client, &format!("{event}.json"), &test);
            payload["tool_name"] = name.into();
            payload["tool_input"] = input;
            let done = call(client, event, test, &payload);
            assert!(is_refused(&done), "{client} {file}: {}", done.stdout);
            test = done.again();
        }
    }
}

#[test]
fn a_patch_of_codex_neither_deletes_nor_moves_settings() {
    let mut test = Test::event("PreToolUse").config("stop: {commands: []}");
    for body in [
        "*** Delete File: .codex/hooks.json",
        "*** Add File: .codex/config.toml\n+x",
        "*** Update File: a\n*** Move to: .codex/hooks.json\n@@\n-a\n+b",
        "*** Update File: .codex/hooks.json\n*** Move to: a\n@@\n-a\n+b",
    ] {
        let mut payload = capture("codex", "PreToolUse.json", &test);
        payload["tool_name"] = "apply_patch".into();
        payload["tool_input"] = json!({"command": format!("*** Begin Patch\n{body}\n*** End Patch\n")});
        let done = call("codex", "PreToolUse", test, &payload);
        assert!(is_refused(&done) && done.code == Some(2), "{body}: {}", done.stdout);
        test = done.again();
    }
}
