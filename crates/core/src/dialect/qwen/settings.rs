//! Where hooks are registered with Qwen Code.

use crate::dialect::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};

pub(super) const SETTINGS: HookSettings = HookSettings {
    project: ".qwen/settings.json",
    local: None,
    user: UserSettings { variable: None, folder: ".qwen", file: "settings.json" },
    others: &[],
    version: None,
    // From 1000 on it is in milliseconds.
    timeouts: HookTimeouts::Fixed { usual: 3_600_000, short: &[("SessionEnd", 60_000)] },
    review: None,
    folder_trust: None,
    runs_claudes: false,
    is_form_known: false,
    is_enforcing: false,
    conditions: HookConditions { misread_timeout, ..HookConditions::NONE },
};

/// From 1000 on it is in milliseconds, and nobody means to give a hook less than 100 seconds.
fn misread_timeout(timeout: u64) -> Option<String> {
    if (1_000..100_000).contains(&timeout) {
        let (seconds, rest) = (timeout / 1_000, timeout % 1_000);
        let rest = format!("{rest:03}");
        let rest = rest.trim_end_matches('0');
        let point = if rest.is_empty() { "" } else { "." };
        Some(format!("{seconds}{point}{rest} s"))
    } else {
        None
    }
}
