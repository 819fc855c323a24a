//! The one table of the settings that need the user's trust. Commands need it as well.

use super::ConclaudeConfig;

/// The keys of the setting that asks a server, and of the one that makes Claude continue.
pub const JUDGE: [&str; 2] = ["des", "judge"];
pub const INFINITE: [&str; 2] = ["stop", "infinite"];

/// The section that is merged again without the files that nobody trusts.
pub(super) const TELEMETRY: &str = "telemetry";

/// A setting other than commands that does nothing unless its file is trusted.
pub(super) struct TrustedSetting {
    /// Its name in messages.
    pub(super) name: &'static str,
    pub(super) keys: &'static [&'static str],
    pub(super) is_used: fn(&ConclaudeConfig) -> bool,
}

pub(super) const SETTINGS: [TrustedSetting; 5] = [
    TrustedSetting { name: "the judge", keys: &JUDGE, is_used: |config| config.judge().is_some() },
    TrustedSetting {
        name: "permissions",
        keys: &["permissionRequest", "allow"],
        is_used: |config| config.permissions.may_allow(),
    },
    TrustedSetting {
        name: "context for prompts",
        keys: &["userPromptSubmit", "contextRules"],
        is_used: |config| config.prompts.rules().next().is_some(),
    },
    TrustedSetting {
        name: "`stop.infinite`",
        keys: &INFINITE,
        is_used: |config| config.stop.infinite().is_some(),
    },
    TrustedSetting { name: TELEMETRY, keys: &[TELEMETRY], is_used: |config| config.endpoint().is_some() },
];
