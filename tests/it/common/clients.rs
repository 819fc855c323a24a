//! Real payloads of other clients, and calls as their registrations make them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Outcome, Test, binary};

pub(crate) const CLIENTS: [&str; 4] = ["codex", "copilot", "qwen", "gemini"];

pub(crate) fn folder(client: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures").join(client)
}

/// The names of all captures of a client.
pub(crate) fn captures(client: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder(client)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".json")).collect();
    names.sort();
    names
}

/// A capture of a client, in the project of the test.
pub(crate) fn capture(client: &str, file: &str, test: &Test) -> Value {
    let text = std::fs::read_to_string(folder(client).join(file)).unwrap();
    serde_json::from_str(&text.replace("/home/me/project", test.root().to_str().unwrap())).unwrap()
}

/// Calls an event as it is registered with the client, in the project's folder.
pub(crate) fn call(client: &str, event: &str, test: Test, payload: &Value) -> Outcome {
    let test = test.stdin(payload.to_string());
    let mut command = test.program(binary());
    command.args(["--client", client, event]);
    test.run_as(command)
}

/// The event of a capture.
pub(crate) fn event_of(file: &str) -> &str {
    file.split('.').next().unwrap()
}

/// The name that a client has for our PreToolUse, PostToolUse, UserPromptSubmit or Stop.
pub(crate) fn event_name(client: &str, ours: &'static str) -> &'static str {
    match (client, ours) {
        ("gemini", "PreToolUse") => "BeforeTool",
        ("gemini", "PostToolUse") => "AfterTool",
        ("gemini", "UserPromptSubmit") => "BeforeAgent",
        ("gemini", "Stop") => "AfterAgent",
        _ => ours,
    }
}
