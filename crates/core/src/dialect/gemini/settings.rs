//! Where hooks are registered with Gemini CLI.

use serde_json::Value;

use crate::dialect::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};

pub(super) const SETTINGS: HookSettings = HookSettings {
    project: ".gemini/settings.json",
    local: None,
    user: UserSettings { variable: None, folder: ".gemini", file: "settings.json" },
    others: &[],
    version: None,
    // In milliseconds.
    timeouts: HookTimeouts::Fixed { usual: 3_600_000, short: &[("SessionEnd", 60_000)] },
    review: None,
    folder_trust: Some(
        "Gemini CLI runs hooks of a project in trusted folders only: start `gemini` here and trust the folder",
    ),
    runs_claudes: false,
    is_form_known: false,
    is_enforcing: false,
    conditions: HookConditions { switched_off, ..HookConditions::NONE },
};

fn switched_off(settings: &Value) -> Option<&'static str> {
    if settings.pointer("/hooksConfig/enabled") == Some(&Value::Bool(false)) {
        Some("`hooksConfig.enabled` is false")
    } else {
        None
    }
}
