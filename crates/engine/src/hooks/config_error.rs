//! A broken config is shown in full once per session and content, and then in one line: every agent meets it at least twice.

use super::context::Context;
use conclaude_core::config::ConfigError;
use conclaude_core::outcome::Outcome;
use conclaude_os::log;
use conclaude_store::store::{self, Session};

/// The state that names the error which the session has shown.
const SHOWN: &str = "config-error";

/// The error as it is shown now. What cannot be remembered is shown in full again.
pub(super) fn report(context: &Context<'_>) -> Option<Outcome> {
    let error = context.config.error.as_ref()?;
    Some(if is_known(&context.session, error) {
        Outcome::config_error(error.brief(), error.summary())
    } else {
        let text = error.to_string();
        Outcome::config_error(text.clone(), text)
    })
}

fn is_known(session: &Session, error: &ConfigError) -> bool {
    let content = store::hash(&error.to_string());
    if session.read::<String>(SHOWN).is_some_and(|shown| shown == content) {
        return true;
    }
    if let Err(problem) = session.write(SHOWN, &content) {
        log::warn(|| format!("cannot remember that the config's error was shown: {problem}"));
    }
    false
}
