//! Compiles the rules of a project for its settings.

use std::path::{Path, PathBuf};

use super::EnforcedSettings;
use crate::install::registration;
use conclaude_checks::enforce::{self, CompiledRules, EnforceRequest, Machine, OwnPath, SettingsPaths};
use conclaude_checks::guard::own_commands::NAME;
use conclaude_checks::guard::{GuardRules, Sources, rule_sources};
use conclaude_core::config::{ConclaudeConfig, Enforcers, Origins};
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::sandbox::{self, SettingsEntry};
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_os::git::{self, EntryFilter, GitError, TreeEntry};
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

/// The inputs of the entries besides the rules.
#[derive(Clone, Default)]
pub struct CompileInput {
    /// The files and directories of the project.
    pub existing: Vec<TreeEntry>,
    /// Those of them that are listed already.
    pub listed: Vec<String>,
    /// The user's own entries of `denyRead`.
    pub denied_by_user: Vec<String>,
}

impl EnforcedConfig<'_> {
    /// Compiles the rules with the files that exist now. Unreadable settings count as empty.
    pub fn compile(&self, budget: &Budget) -> Result<CompiledRules, EnforcementError> {
        match EnforcedSettings::read(self.project) {
            Ok(settings) => self.compile_with(&settings, budget),
            Err(_) => {
                let existing = self.existing(&[], budget)?;
                self.compile_for(&CompileInput { existing, ..CompileInput::default() })
            }
        }
    }

    /// Like `compile`, with settings that were read.
    pub fn compile_with(
        &self,
        settings: &EnforcedSettings,
        budget: &Budget,
    ) -> Result<CompiledRules, EnforcementError> {
        let listed = self.listed(settings);
        let existing = self.existing(&listed, budget)?;
        self.compile_for(&CompileInput { existing, listed, denied_by_user: settings.denied_by_user() })
    }

    /// Like `compile_with`, as if the config enabled everything, and the user had no entries. The config may now enable less.
    pub fn compile_fully(&self) -> Result<CompiledRules, EnforcementError> {
        let existing = self.existing(&[], &Budget::unlimited())?;
        let input = CompileInput { existing, ..CompileInput::default() };
        self.compile_as(&input, Enforcers { sandbox: true, permissions: true })
    }

    /// Like `compile_with`, with these files and those that are already listed.
    pub fn compile_files(
        &self,
        settings: &EnforcedSettings,
        files: Vec<TreeEntry>,
    ) -> Result<CompiledRules, EnforcementError> {
        let listed = self.listed(settings);
        let mut existing = files;
        existing.extend(listed.iter().filter_map(|path| TreeEntry::at(&self.root.folder, path)));
        existing.sort();
        existing.dedup();
        self.compile_for(&CompileInput { existing, listed, denied_by_user: settings.denied_by_user() })
    }

    /// The files of the project in our entries, relative to the root.
    fn listed(&self, settings: &EnforcedSettings) -> Vec<String> {
        let (root, project) = (text(&self.root.folder), text(self.project));
        let paths = SettingsPaths { root: &root, project: &project };
        let named = settings.ours().iter().filter(|entry| entry.in_list).filter_map(SettingsEntry::text);
        let below = named.filter_map(|spelled| paths.from_root(spelled));
        below.filter(|path| !sandbox::is_pattern(path)).map(str::to_owned).collect()
    }

    /// The files and directories of the project, including ignored directories that a rule for writing names.
    fn existing(&self, listed: &[String], budget: &Budget) -> Result<Vec<TreeEntry>, EnforcementError> {
        let (rules, root) = (self.rules()?, text(&self.root.folder));
        let looks_into = |path: &str| enforce::looks_into(&rules.uneditable, &root, path);
        let filter = EntryFilter { known: listed, looks_into: &looks_into };
        Ok(git::entries(&self.root.folder, &filter, budget)?)
    }

    fn rules(&self) -> Result<GuardRules, EnforcementError> {
        let sources = rule_sources(self.origins, &self.root.folder);
        GuardRules::of(&self.config.guards, &Sources(&sources), files::home().as_deref())
            .map_err(EnforcementError::Rule)
    }

    pub fn compile_for(&self, input: &CompileInput) -> Result<CompiledRules, EnforcementError> {
        self.compile_as(input, self.config.enforcers())
    }

    fn compile_as(
        &self,
        input: &CompileInput,
        enforcers: Enforcers,
    ) -> Result<CompiledRules, EnforcementError> {
        let folder = &self.root.folder;
        let rules = self.rules()?;
        let (root, project) = (text(folder), text(self.project));
        Ok(CompiledRules::of(&EnforceRequest {
            rules: &rules,
            enforcers,
            paths: SettingsPaths { root: &root, project: &project },
            existing: &input.existing,
            listed: &input.listed,
            machine: &Disk,
            own: &self.own_paths(),
            own_names: &self.own_names(&root, &project),
            denied_by_user: &input.denied_by_user,
        }))
    }

    /// Our own files in the root, including a missing config: its commands would run outside of the sandbox.
    fn own_in_root(&self) -> Vec<&'static str> {
        let exists = |name: &&str| self.root.folder.join(name).symlink_metadata().is_ok();
        let mut own: Vec<&str> = FILE_NAMES.into_iter().filter(exists).collect();
        if own.is_empty() {
            own.extend(FILE_NAMES);
        }
        own.extend([LOCAL, store::FOLDER]);
        own
    }

    /// Our other files.
    fn own_elsewhere(&self) -> Vec<PathBuf> {
        let settings = [layout::SETTINGS, layout::LOCAL_SETTINGS].map(|name| self.project.join(name));
        let outside =
            self.extended.iter().cloned().chain(load::user_file()).chain(store::user_state_folder());
        let outside = outside.chain(self.own_programs());
        settings.into_iter().chain(outside.filter(|path| path.exists())).collect()
    }

    /// This program, if commands could replace it: hooks run it outside of the sandbox.
    fn own_programs(&self) -> impl Iterator<Item = PathBuf> {
        let folder = real(&self.root.folder);
        let programs = std::env::current_exe().ok().into_iter().chain(registration::on_path(NAME));
        programs.filter(move |path| real(path).starts_with(&folder))
    }

    /// The absolute paths of our own files, below the real root or project, with links in these as they are.
    fn own_names(&self, root: &str, project: &str) -> Vec<String> {
        let in_root = self.own_in_root().into_iter().map(|name| self.root.folder.join(name));
        let real = |path: PathBuf| {
            let starts = [(&*self.root.folder, root), (self.project, project)];
            let below =
                |(start, real): (&Path, &str)| Some(Path::new(real).join(path.strip_prefix(start).ok()?));
            starts.into_iter().find_map(below).unwrap_or_else(|| path.clone())
        };
        let all = in_root.chain(self.own_elsewhere()).map(real);
        all.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Our own files, with links of their folders resolved.
    fn own_paths(&self) -> Vec<OwnPath> {
        let folder = &self.root.folder;
        let in_root =
            |name: &str| OwnPath::Relative { path: name.to_owned(), is_directory: name == store::FOLDER };
        let mut own: Vec<OwnPath> = self.own_in_root().into_iter().map(in_root).collect();
        for path in self.own_elsewhere() {
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

/// The machine that we run on.
struct Disk;

/// The limit on names of a directory.
const MAX_NAMES: usize = 10_000;

impl Machine for Disk {
    fn names_in(&self, directory: &str) -> Vec<String> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().take(MAX_NAMES);
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    fn is_plain_file(&self, path: &str) -> bool {
        files::is_plain_file(Path::new(path))
    }

    fn link_in(&self, folder: &str, path: &str) -> Option<String> {
        let below = Path::new(path).strip_prefix(folder).ok()?;
        let mut current = PathBuf::from(folder);
        for name in below {
            current.push(name);
            if current.is_symlink() {
                return Some(current.to_string_lossy().into_owned());
            }
        }
        None
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
