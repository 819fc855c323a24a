//! What the checks look at.

use std::io;
use std::path::PathBuf;

use conclaude_core::config::{ConclaudeConfig, Patterns};
use conclaude_engine::hooks::Environment;
use conclaude_engine::install::agents;
use conclaude_engine::install::registration::{self, ScopeSettings, locations};
use conclaude_engine::install::scope::{Scope, session_folder};
use conclaude_store::load::{self, Loaded};
use conclaude_store::root::Root;

/// What the checks look at, gathered once.
pub(super) struct Installation {
    pub(super) root: Root,
    /// Where Claude Code looks for the project's settings.
    pub(super) project: PathBuf,
    /// As far as its files can be read; the defaults are what the gates use otherwise.
    pub(super) loaded: Loaded,
    pub(super) settings_files: Vec<ScopeSettings>,
    /// The names of the project's own agents.
    pub(super) agents: Vec<String>,
}

impl Installation {
    pub(super) fn here() -> io::Result<Installation> {
        let root = crate::cli::root()?;
        let loaded = load::all(&root, Patterns::All);
        let project = session_folder(Environment::of_process().project_dir, &root.folder)?;
        let settings_files = registration::current(&project);
        let agents = agents::names(&project, Scope::Project);
        Ok(Installation { root, project, loaded, settings_files, agents })
    }

    /// The settings files in which conclaude is registered.
    pub(super) fn locations(&self) -> Vec<&ScopeSettings> {
        locations(&self.settings_files)
    }

    /// The command that registers again where conclaude is registered.
    pub(super) fn install_again(&self) -> String {
        let flag = self.locations().first().map_or("", |file| file.scope.flag());
        format!("conclaude install {flag}").trim_end().to_owned()
    }

    pub(super) fn effective_config(&self) -> ConclaudeConfig {
        self.loaded.config.clone()
    }

    /// The program that a registered command line starts in a session here, and whether it is this one.
    pub(super) fn program(&self, command: &str) -> Option<(PathBuf, bool)> {
        let real = registration::program_in(&self.project, command)?.canonicalize().ok()?;
        let is_own = own_program().is_some_and(|own| own == real);
        Some((real, is_own))
    }
}

pub(super) fn own_program() -> Option<PathBuf> {
    std::env::current_exe().and_then(|path| path.canonicalize()).ok()
}
