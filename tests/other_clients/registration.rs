//! The registration with a client: every event that the sessions need, without matchers.

use serde_json::{Map, Value, json};

use crate::project::Project;

const SAME: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];

const GEMINI: &[&str] = &["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"];

pub(crate) fn register(client: &str, project: &Project) {
    let (file, events, timeout) = match client {
        "codex" => (".codex/hooks.json", SAME, 3_600),
        "copilot" => (".github/hooks/conclaude.json", SAME, 3_600),
        "qwen" => (".qwen/settings.json", SAME, 3_600_000),
        _ => (".gemini/settings.json", GEMINI, 3_600_000),
    };
    let hooks: Map<String, Value> = events
        .iter()
        .map(|event| {
            let command = format!("conclaude --client {client} {event}");
            let hook = json!({"type": "command", "command": command, "timeout": timeout});
            ((*event).to_owned(), json!([{"hooks": [hook]}]))
        })
        .collect();
    let mut settings = json!({"hooks": hooks});
    if client == "copilot" {
        settings["version"] = 1.into();
    }
    project.file(file, &settings.to_string());
}
