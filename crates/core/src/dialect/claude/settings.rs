//! Where hooks are registered with Claude Code.

use super::{layout, variables};
use crate::dialect::hook_settings::{HookConditions, HookSettings, HookTimeouts, UserSettings};

pub(super) const SETTINGS: HookSettings = HookSettings {
    project: layout::SETTINGS,
    local: Some(layout::LOCAL_SETTINGS),
    user: UserSettings {
        variable: Some(variables::CONFIG_DIR),
        folder: layout::FOLDER,
        file: layout::USER_SETTINGS,
    },
    others: &[],
    version: None,
    timeouts: HookTimeouts::OfEvents,
    review: None,
    folder_trust: None,
    runs_claudes: false,
    is_form_known: true,
    is_enforcing: true,
    conditions: HookConditions::NONE,
};
