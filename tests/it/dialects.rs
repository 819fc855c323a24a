//! Other clients: their real payloads, their tools under our rules, and answers in their forms.

mod agents;
mod answers;
mod deferral;
mod doctor;
mod own_files;
mod possible;
mod records;
mod registration;
mod steps;
mod validate;

use std::path::Path;

use serde_json::Value;

use crate::common::Test;
use crate::common::clients::{call, capture, event_of};

#[test]
fn no_capture_of_claude_code_is_taken_for_that_of_another_client() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures");
    let mut count = 0;
    for path in ["", "variants"].iter().flat_map(|name| std::fs::read_dir(folder.join(name)).unwrap()) {
        let path = path.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let payload: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            if payload.get("hook_event_name").is_some() {
                let recognised = conclaude_core::dialect::of(payload.as_object().unwrap()).name;
                assert_eq!(recognised, "claude", "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 33, "{count}");
}

/// The variables that every command gets, whatever the client.
#[test]
fn commands_get_the_client_and_its_name_of_the_tool() {
    let config = "postToolUse: {commands: {'*': [{run: 'echo $CONCLAUDE_CLIENT $CONCLAUDE_TOOL_NAME $CONCLAUDE_CLIENT_TOOL_NAME > seen'}]}}";
    for (client, file, expected) in [
        ("codex", "PostToolUse.subagent.json", "codex Edit apply_patch"),
        ("copilot", "PostToolUse.subagent.json", "copilot Write Write"),
        ("copilot", "PostToolUse.camel.subagent.json", "copilot Write create"),
        ("qwen", "PostToolUse.json", "qwen Agent agent"),
        ("gemini", "AfterTool.json", "gemini Write write_file"),
    ] {
        let test = Test::event("PostToolUse").config(config);
        let payload = capture(client, file, &test);
        let done = call(client, event_of(file), test, &payload);
        assert_eq!(done.read("seen").trim_end(), expected, "{client}: {}", done.stderr);
    }
}

/// What is displayed of a result is for the screen.
#[test]
fn the_result_of_a_tool_is_what_the_model_reads_of_it() {
    let config = "postToolUse: {commands: {'*': [{run: 'echo \"$CONCLAUDE_TOOL_OUTPUT\" > seen'}]}}";
    for (client, file, expected) in [
        ("qwen", "PostToolUse.subagent.json", "Command: python3"),
        ("gemini", "AfterTool.json", "Successfully created"),
        ("codex", "PostToolUse.subagent.json", ""),
    ] {
        let test = Test::event("PostToolUse").config(config);
        let payload = capture(client, file, &test);
        let done = call(client, event_of(file), test, &payload);
        let seen = done.read("seen");
        assert!(seen.trim_start_matches('"').starts_with(expected), "{client}: {seen}");
        assert!(!seen.contains("returnDisplay"), "{client}: {seen}");
    }
}

#[test]
fn files_are_all_that_a_patch_writes_and_leaves() {
    let config = "postToolUse: {commands: {Write: [{run: 'echo $CONCLAUDE_FILE_PATH: {files} >> seen', files: ['**']}]}}";
    let patch = "*** Begin Patch\n*** Add File: a.rs\n+x\n*** Update File: b.rs\n*** Move to: c.rs\n@@\n-x\n+y\n*** Delete File: d.rs\n*** End Patch\n";
    let test = Test::event("PostToolUse").config(config).file("a.rs", "").file("c.rs", "");
    let mut payload = capture("codex", "PostToolUse.subagent.json", &test);
    payload["tool_input"]["command"] = patch.into();
    let done = call("codex", "PostToolUse", test, &payload).silent();
    assert_eq!(done.read("seen").trim_end(), "a.rs: a.rs c.rs");
}

#[test]
fn the_project_of_codex_is_where_the_hook_runs() {
    let test = Test::bash("preToolUse: {uneditableFiles: [kept.txt]}", "").file("sub/x", "");
    let elsewhere = tempfile::tempdir().unwrap();
    let mut payload = capture("codex", "PreToolUse.json", &test);
    payload["tool_name"] = "Bash".into();
    payload["cwd"] = elsewhere.path().to_str().unwrap().into();
    payload["tool_input"] =
        serde_json::json!({"command": format!("echo x > {}/kept.txt", test.root().display())});
    // A variable of Claude Code is inherited where Codex runs inside it.
    let test = test.env("CLAUDE_PROJECT_DIR", elsewhere.path().to_str().unwrap());
    assert!(call("codex", "PreToolUse", test, &payload).status(2).stdout.contains("kept.txt"));
}
