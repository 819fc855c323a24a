//! A broken config is shown in full once per session and content, and then in one line: every agent meets it at least twice.

use crate::config::ConfigError;
use crate::error::HookError;
use crate::log;
use crate::store::{self, Session};

/// The state that names the error which the session has shown.
const SHOWN: &str = "config-error";

/// The error as it is shown now. What cannot be remembered is shown in full again.
pub(super) fn shown(session: &Session, error: ConfigError) -> HookError {
    let content = store::hash(&error.to_string());
    if session.read::<String>(SHOWN).is_some_and(|shown| shown == content) {
        return HookError::KnownConfig(error.brief());
    }
    if let Err(problem) = session.write(SHOWN, &content) {
        log::warn(|| format!("cannot remember that the config's error was shown: {problem}"));
    }
    error.into()
}
