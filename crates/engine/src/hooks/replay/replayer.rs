//! A config that is read once and compared with many events.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use super::rules::{self, EVENTS};
use conclaude_checks::guard::{GuardRules, Sources};
use conclaude_checks::permission;
use conclaude_core::config::{DesConfig, Layer, file_name};
use conclaude_core::event::EventKind;
use conclaude_core::rule::Rule;
use conclaude_os::files;
use conclaude_store::load::LoadedConfig;
use shell_effects::glob::GlobError;

/// A config, ready to be compared with many events.
pub struct Replayer {
    pub(super) loaded: LoadedConfig,
    pub(super) guards: GuardRules,
    /// The names of the config's files, and their layers.
    pub(super) sources: Vec<(Arc<str>, Layer)>,
    /// The folder that these names are relative to.
    pub(super) base: PathBuf,
    pub(super) des: DesConfig,
    /// Every rule that could concern the events of a transcript.
    pub rules: Vec<Rule>,
    /// The events that these rules concern.
    with_rules: Vec<EventKind>,
}

/// A rule cannot be compared with anything.
#[derive(Debug, Error)]
#[error("a rule cannot be evaluated: {0}")]
pub struct InvalidRule(GlobError);

impl Replayer {
    /// # Errors
    /// When a rule cannot be evaluated.
    pub fn new(loaded: LoadedConfig, root: &Path) -> Result<Replayer, InvalidRule> {
        let used = loaded.origins.sources().iter();
        let sources: Vec<(Arc<str>, Layer)> =
            used.map(|source| (file_name(&source.path, Some(root)).into(), source.layer)).collect();
        let home = files::home();
        let guards = GuardRules::of(&loaded.config.guards, &Sources(&sources), home.as_deref())
            .map_err(InvalidRule)?;
        let permissions =
            permission::PermissionRules::of(&loaded.config.permissions, &Sources(&sources), home.as_deref())
                .map_err(InvalidRule)?;
        let rules = rules::all(&loaded, &guards, &permissions, root);
        let des = loaded.config.des.clone().unwrap_or_default();
        let is_of = |event: &EventKind| {
            let section = event.row().section;
            let key = |rule: &Rule| rule.key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
            rules.iter().any(key)
        };
        let with_rules = EVENTS.into_iter().filter(is_of).collect();
        Ok(Replayer { loaded, guards, sources, base: root.to_owned(), des, rules, with_rules })
    }

    /// Whether a rule could concern this event. Most configs have none for some events, which then need no judgement.
    pub fn has_rules(&self, event: EventKind) -> bool {
        self.with_rules.contains(&event)
    }

    /// Sections of the config for events that no transcript shows.
    pub fn other_sections(&self) -> Vec<&'static str> {
        let sections = self.loaded.config.sections.iter();
        let others = sections
            .filter(|(event, section)| !EVENTS.contains(event) && section.commands().next().is_some());
        others.map(|(event, _)| event.row().section).collect()
    }

    /// Whether the config has a budget, which is not replayed.
    pub fn has_budget(&self) -> bool {
        self.loaded.config.budget.as_ref().is_some_and(|budget| budget.limits().next().is_some())
    }

    pub fn has_gates(&self) -> bool {
        self.des.is_enabled()
    }

    pub fn has_permissions(&self) -> bool {
        self.loaded.config.permissions.has_rules()
            || self.loaded.config.section(EventKind::PermissionRequest).is_some()
    }

    /// Whether a command at a stop is limited to the files that were written.
    pub fn asks_for_files(&self) -> bool {
        let stops = [EventKind::Stop, EventKind::SubagentStop];
        stops.into_iter().any(|event| self.loaded.config.asks_for_files(event))
    }
}
