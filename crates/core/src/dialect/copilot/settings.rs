//! Where hooks are registered with Copilot. It reads every file of its folder of hooks, so ours has its own.

use serde_json::Value;

use crate::dialect::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};

pub(super) const SETTINGS: HookSettings = HookSettings {
    project: ".github/hooks/conclaude.json",
    local: Some(".github/copilot/settings.local.json"),
    user: UserSettings { variable: Some("COPILOT_HOME"), folder: ".copilot", file: "hooks/conclaude.json" },
    others: &[".github/copilot/settings.json", ".copilot/settings.json"],
    version: Some(1),
    timeouts: HookTimeouts::Fixed { usual: 3_600, short: &[("SessionEnd", 60)] },
    review: None,
    folder_trust: Some(
        "Copilot runs hooks of a project in trusted folders only: start `copilot` here and trust the folder",
    ),
    runs_claudes: true,
    is_form_known: false,
    is_enforcing: false,
    conditions: HookConditions { ignored_claudes, ..HookConditions::NONE },
};

/// One such entry makes it ignore the whole file, with a line in its log only.
fn ignored_claudes(settings: &Value) -> Option<&'static str> {
    let groups = |event: &str| settings.pointer(&format!("/hooks/{event}"))?.as_array();
    let of = |event: &str| groups(event).into_iter().flatten();
    let is_empty = |group: &Value| group.get("matcher").and_then(Value::as_str) == Some("");
    let asks_a_model = |group: &Value| {
        let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
        hooks.into_iter().any(|hook| hook.get("type").and_then(Value::as_str) == Some("prompt"))
    };
    if of("PreToolUse").any(is_empty) {
        Some("an entry of PreToolUse has an empty matcher")
    } else if of("SubagentStart").any(is_empty) {
        Some("an entry of SubagentStart has an empty matcher")
    } else if of("PreToolUse").any(asks_a_model) {
        Some("a hook of PreToolUse has the type `prompt`")
    } else {
        None
    }
}
