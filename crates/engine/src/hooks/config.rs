//! The config of an event: also the usable part of a broken one, and whether its error concerns the event.

use std::path::PathBuf;

use super::Environment;
use super::context::Context;
use conclaude_core::config::{ConclaudeConfig, ConfigError, Origins, Patterns, UnusableRules};
use conclaude_core::event::EventKind;
use conclaude_core::outcome::Outcome;
use conclaude_core::rule::Rule;
use conclaude_os::log;
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;
use conclaude_store::store::{self, Session};

/// The config, or the defaults if it cannot be read.
#[derive(Default)]
pub(super) struct Config {
    pub(super) settings: ConclaudeConfig,
    /// The files and lines of its values.
    pub(super) origins: Origins,
    /// Why one of its files cannot be used.
    pub(super) error: Option<ConfigError>,
    /// Their unusable rules.
    pub(super) unusable: Vec<UnusableRules>,
    /// The files that they extend, even unused ones.
    pub(super) extended: Vec<PathBuf>,
}

impl Config {
    /// A broken config must not switch the gates off: they run with their defaults.
    pub(super) fn load(root: &Root, event: EventKind, environment: &Environment) -> Config {
        let patterns = match event {
            EventKind::SessionStart => Patterns::All,
            event => Patterns::Of(event),
        };
        let LoadedConfig { config: mut settings, mut origins, errors, unusable, extended } =
            match &root.config {
                Some(path) if environment.only_project => load::one(path, root),
                _ => load::all(root, patterns),
            };
        // An error that concerns this event has priority.
        let error = errors.iter().find(|error| concerns(error, event)).or(errors.first()).cloned();
        if environment.only_if_trusted && settings.needs_trust() {
            origins.check_trust(load::why_untrusted);
            settings.telemetry = origins.telemetry();
        }
        Config { settings, origins, error, unusable, extended }
    }

    /// The value below these keys. It has no position if the default applies.
    pub(super) fn rule(&self, keys: &[&str], root: &Root) -> Rule {
        Rule::key(keys.join(".")).located(&self.origins, keys, &root.folder)
    }

    /// Whether the event fails because the config is broken.
    pub(super) fn fails(&self, event: EventKind) -> bool {
        self.error.as_ref().is_some_and(|error| concerns(error, event))
    }
}

/// Whether a broken config is an error of the event: of the start of a session and of every event of a subagent, and of others if
/// the config has their section.
fn concerns(error: &ConfigError, event: EventKind) -> bool {
    let is_always = event == EventKind::SessionStart || event.is_of_agent();
    is_always || error.mentions(event.row().section)
}

/// The state with the error that the session has shown.
const SHOWN: &str = "config-error";

/// The error as it is shown now. If its state cannot be stored, it is shown in full again.
pub(super) fn report_error(context: &Context<'_>) -> Option<Outcome> {
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
