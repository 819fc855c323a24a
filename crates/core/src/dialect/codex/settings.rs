//! Where hooks are registered with Codex. Its `config.toml` also holds the user's trust: we never write that.

use crate::dialect::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};

pub(super) const SETTINGS: HookSettings = HookSettings {
    project: ".codex/hooks.json",
    local: None,
    user: UserSettings { variable: Some("CODEX_HOME"), folder: ".codex", file: "hooks.json" },
    others: &[".codex/config.toml"],
    version: None,
    // More is cut, with a warning.
    timeouts: HookTimeouts::Fixed { usual: 3_600, short: &[("SessionEnd", 3), ("Interrupt", 3)] },
    review: Some(
        "Codex skips hooks that were not reviewed, without a message: start `codex` here and trust them (`/hooks`); again after each change",
    ),
    // Since 0.169.0 also with --dangerously-bypass-hook-trust.
    folder_trust: None,
    runs_claudes: false,
    is_form_known: false,
    is_enforcing: false,
    conditions: HookConditions { trust: Some(super::trust::TRUST), ..HookConditions::NONE },
};
