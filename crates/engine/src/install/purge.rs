//! The files of a project that conclaude keeps besides its registration and its config, and their removal.

use std::path::{Path, PathBuf};

use super::backups::Backups;
use super::error::InstallError;
use super::registration;
use super::scope::{Scope, SettingsTarget};
use conclaude_checks::des::call::GatedCall;
use conclaude_core::dialect;
use conclaude_os::files;
use conclaude_store::audit::Trail;
use conclaude_store::root::FILE_NAMES;
use conclaude_store::store::spending::SpendingFolder;
use conclaude_store::store::{self, trust};

/// All files of a project that we may remove.
pub struct Leftovers {
    root: PathBuf,
    backups: Vec<Backups>,
}

/// An existing file or folder, and its purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    pub what: &'static str,
    pub path: PathBuf,
}

impl Leftovers {
    /// Of the project with this root, whose settings are in this folder.
    pub fn of(root: &Path, project: &Path) -> Leftovers {
        let own = [Scope::Project, Scope::Local].into_iter().filter_map(|scope| scope.path(project));
        let files = own.chain(files_of_others(project));
        Leftovers { root: root.to_owned(), backups: files.map(|path| Backups::of(&path)).collect() }
    }

    fn state(&self) -> PathBuf {
        self.root.join(store::FOLDER)
    }

    fn configs(&self) -> impl Iterator<Item = PathBuf> {
        FILE_NAMES.iter().map(|name| self.root.join(name))
    }

    pub fn existing(&self) -> Vec<Leftover> {
        let state = [("state, messages and audit trail", self.state())];
        let trusted = self.configs().filter_map(|config| trust::agreement_path(&config));
        let trusted = trusted.map(|path| ("your trust in the config", path));
        let trail = Trail::of(&self.root, None);
        let outside = trail.kept_outside().into_iter().map(|(what, path)| (what, path.to_owned()));
        let kept = self.only_copies();
        let copies = self.backups.iter().flat_map(Backups::existing).filter(|path| !kept.contains(path));
        let copies = copies.map(|path| ("a copy of the settings", path));
        let calls = GatedCall::folders(&self.root).into_iter().map(|path| ("calls of gated agents", path));
        let counts = SpendingFolder::of(&self.root)
            .map(|folder| ("what sessions used, for their budgets", folder.path().to_owned()));
        let all = state.into_iter().chain(calls).chain(counts).chain(trusted).chain(outside).chain(copies);
        let there = all.filter(|(_, path)| path.symlink_metadata().is_ok());
        there.map(|(what, path)| Leftover { what, path }).collect()
    }

    /// Copies of settings with hooks that are nowhere else. They always stay.
    pub fn only_copies(&self) -> Vec<PathBuf> {
        self.backups.iter().flat_map(Backups::only_copies).collect()
    }

    /// Removes all of it, but never through a link: its target is not ours.
    pub fn remove(&self) -> Result<(), InstallError> {
        for config in self.configs() {
            trust::revoke(&config)?;
        }
        Trail::of(&self.root, None).forget();
        for folder in GatedCall::folders(&self.root) {
            remove_folder(&folder)?;
        }
        if let Some(counts) = SpendingFolder::of(&self.root)
            && files::is_real_folder(counts.path())
        {
            remove_folder(counts.path())?;
        }
        self.backups.iter().for_each(Backups::forget_all);
        let state = self.state();
        if files::is_real_folder(&state) {
            remove_folder(&state)?;
        } else if state.symlink_metadata().is_ok() {
            return Err(InstallError::refused(&state, &"it is not a folder"));
        }
        Ok(())
    }
}

/// The settings files of other clients in which we are no longer registered.
fn files_of_others(project: &Path) -> impl Iterator<Item = PathBuf> {
    let others = dialect::ALL.into_iter().filter(|client| client.is_translated());
    let targets = others
        .flat_map(|client| [Scope::Project, Scope::Local].map(|scope| SettingsTarget { client, scope }));
    targets.filter_map(move |target| {
        let path = target.path(project).ok()?;
        let current = registration::current_of(target.client, project);
        let is_registered = registration::locations(&current).iter().any(|file| file.path == path);
        if is_registered { None } else { Some(path) }
    })
}

fn remove_folder(path: &Path) -> Result<(), InstallError> {
    std::fs::remove_dir_all(path).map_err(|error| InstallError::NotRemoved { path: path.to_owned(), error })
}
