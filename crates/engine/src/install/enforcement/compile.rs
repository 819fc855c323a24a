//! Compiles the rules of a project for its settings.

use std::path::{Path, PathBuf};

use super::EnforcedSettings;
use conclaude_checks::enforce::{Compiled, EnforceRequest, OwnPath, SettingsPaths};
use conclaude_checks::guard::{GuardRules, Sources, rule_sources};
use conclaude_core::config::{ConclaudeConfig, Origins};
use conclaude_core::dialect::claude::layout;
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_os::git::{self, GitError, TreeEntry};
use conclaude_store::load::{self, LOCAL};
use conclaude_store::root::{FILE_NAMES, Root};
use conclaude_store::store;
use shell_effects::glob::GlobError;
use thiserror::Error;

/// Why rules are not compiled.
#[derive(Debug, Error)]
pub enum EnforcementError {
    #[error("a rule cannot be evaluated: {0}")]
    Rule(GlobError),
    #[error("the files of the project cannot be listed: {0}")]
    Files(#[from] GitError),
}

/// A config whose rules are compiled, and the project that it is for.
#[derive(Clone, Copy)]
pub struct EnforcedConfig<'a> {
    pub root: &'a Root,
    /// Where Claude Code looks for the project's settings.
    pub project: &'a Path,
    pub config: &'a ConclaudeConfig,
    pub origins: &'a Origins,
    /// The paths that its files extend.
    pub extended: &'a [PathBuf],
}

impl EnforcedConfig<'_> {
    /// Compiles the rules with the files that exist now. Settings that cannot be read have nothing of the user's.
    pub fn compile(&self, budget: &Budget) -> Result<Compiled, EnforcementError> {
        let settings = EnforcedSettings::read(self.project).ok();
        let denied = settings.map(|settings| settings.denied_by_user()).unwrap_or_default();
        let existing = git::entries(&self.root.folder, budget)?;
        self.compile_for(&existing, &denied)
    }

    /// The same with these files alone.
    pub fn compile_for(
        &self,
        existing: &[TreeEntry],
        denied_by_user: &[String],
    ) -> Result<Compiled, EnforcementError> {
        let folder = &self.root.folder;
        let sources = rule_sources(self.origins, folder);
        let rules = GuardRules::of(&self.config.guards, &Sources(&sources), files::home().as_deref())
            .map_err(EnforcementError::Rule)?;
        let (root, project) = (text(folder), text(self.project));
        Ok(Compiled::of(&EnforceRequest {
            rules: &rules,
            enforcers: self.config.enforcers(),
            paths: SettingsPaths { root: &root, project: &project },
            existing,
            own: &self.own_paths(),
            denied_by_user,
        }))
    }

    /// Our own files. A config that does not exist is among them: its commands would run outside of the sandbox.
    fn own_paths(&self) -> Vec<OwnPath> {
        let folder = &self.root.folder;
        let exists = |name: &&&str| folder.join(name).symlink_metadata().is_ok();
        let file = |name: &str| OwnPath::Relative { path: name.to_owned(), is_directory: false };
        let mut own: Vec<OwnPath> = FILE_NAMES.iter().filter(exists).map(|name| file(name)).collect();
        if own.is_empty() {
            own.extend(FILE_NAMES.iter().map(|name| file(name)));
        }
        own.push(file(LOCAL));
        own.push(OwnPath::Relative { path: store::FOLDER.to_owned(), is_directory: true });
        let settings = [layout::SETTINGS, layout::LOCAL_SETTINGS].map(|name| self.project.join(name));
        let mut others: Vec<PathBuf> = settings.to_vec();
        let outside =
            self.extended.iter().cloned().chain(load::user_file()).chain(store::user_state_folder());
        others.extend(outside.filter(|path| path.exists()));
        for path in others {
            let path = real(&path);
            let found = match path.strip_prefix(real(folder)) {
                Ok(below) => OwnPath::Relative {
                    path: below.to_string_lossy().into_owned(),
                    is_directory: path.is_dir(),
                },
                Err(_) => OwnPath::Absolute(path.to_string_lossy().into_owned()),
            };
            if !own.contains(&found) {
                own.push(found);
            }
        }
        own
    }
}

/// The path with links of its folder resolved: the file itself may not exist yet.
fn real(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name))
}

fn text(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}
