//! A work tree and its repository: a snapshot when an agent is called, another when it stops, and what changed in between.
//!
//! Files are looked at by ourselves, and git is only asked about its own objects: what a repository configures (filters, hooks,
//! fsmonitor, diff programs) neither runs nor hides anything.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::budget::Budget;
use shell_effects::Extent;

mod file;
mod index;
mod names;
mod process;
mod repository;
mod rules;
mod snapshot;
mod walk;

use names::path_of;
use repository::Repository;
pub use snapshot::{GONE, Snapshot};

/// The work tree of one event: its snapshot is taken when it is first needed, and once.
#[derive(Debug)]
pub struct WorkTree {
    pub path: PathBuf,
    /// The snapshot of the call that this event belongs to.
    pub baseline: Option<Snapshot>,
    /// How long a look at it may take.
    pub budget: Budget,
    snapshot: OnceCell<Result<Option<Snapshot>, String>>,
}

impl WorkTree {
    #[must_use]
    pub fn at(path: &Path, baseline: Option<Snapshot>, budget: &Budget) -> WorkTree {
        WorkTree { path: path.to_owned(), baseline, budget: budget.clone(), snapshot: OnceCell::new() }
    }

    /// The snapshot of this event; `None` outside of a repository.
    ///
    /// # Errors
    /// When it could not be taken.
    pub fn snapshot(&self) -> Result<Option<&Snapshot>, String> {
        match self.snapshot.get_or_init(|| Snapshot::take(&self.path, self.baseline.as_ref(), &self.budget)) {
            Ok(snapshot) => Ok(snapshot.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }
}

/// Whether git's rules ignore a file that is not tracked: those of the work tree, or of a repository in it, such as a submodule.
#[must_use]
pub fn ignores(work: &Path, path: &Path, budget: &Budget) -> bool {
    let Some(repository) = Repository::find(work, budget) else { return false };
    let nested = || {
        let folder = path.ancestors().skip(1).find(|folder| folder.is_dir())?;
        Repository::find(folder, budget)
            .filter(|nested| nested.top != repository.top && nested.top.starts_with(&repository.top))
    };
    repository.ignores(path) || nested().is_some_and(|nested| nested.ignores(path))
}

/// Where the root is in another work tree of its repository, if a folder is in one. Without git: it looks for `.git` above the folder.
#[must_use]
pub fn root_in_worktree(root: &Path, folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors().take_while(|above| *above != root);
    let top = above.find(|above| above.join(".git").symlink_metadata().is_ok())?;
    // Git is not started.
    let budget = &Budget::unlimited();
    let (other, own) = (Repository::at(top, String::new(), budget)?, Repository::find(root, budget)?);
    let is_same = other.common_dir.canonicalize().ok()? == own.common_dir.canonicalize().ok()?;
    (is_same && top.canonicalize().ok()? != own.top).then(|| top.join(own.prefix.trim_end_matches('/')))
}

/// What git makes of a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    Tracked,
    /// It would be added with all others.
    Untracked,
    Ignored,
}

/// What git makes of a file; `None` where it cannot say.
#[must_use]
pub fn tracking(work: &Path, path: &Path, budget: &Budget) -> Option<Tracking> {
    let repository = Repository::find(work, budget)?;
    let folder = path.parent()?.canonicalize().ok()?;
    repository.tracking(&folder.join(path.file_name()?)).ok()
}

/// The list of files that git ignores in this clone alone: linked work trees share that of their repository.
#[must_use]
pub fn exclude_file(work: &Path) -> Option<PathBuf> {
    let common = Repository::find(work, &Budget::unlimited())?.common_dir;
    Some(common.canonicalize().unwrap_or(common).join("info/exclude"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSelection {
    /// What differs from the last commit.
    Changed,
    /// What git knows or does not ignore.
    All,
}

/// The files below a directory that exist, relative to it, in order, also those of submodules and of other repositories inside; `None`
/// outside of a repository.
///
/// # Errors
/// When git fails.
pub fn list(work: &Path, listed: FileSelection) -> Result<Option<Vec<String>>, String> {
    let Some(repository) = Repository::find(work, &Budget::unlimited()) else { return Ok(None) };
    let files = match listed {
        FileSelection::Changed => repository.changed_files()?,
        FileSelection::All => repository.all_files()?,
    };
    let mut existing = BTreeSet::new();
    for file in &files {
        let file = repository.relative(file);
        let path = work.join(&*file);
        match path.symlink_metadata() {
            _ if file.starts_with("../") => {}
            // A submodule, or a repository that git does not know.
            Ok(found) if found.is_dir() => {
                let folder = file.trim_end_matches('/');
                let inside = inner(&repository, &path, listed)?;
                existing.extend(inside.iter().map(|file| format!("{folder}/{file}")));
            }
            Ok(_) => drop(existing.insert(file.into_owned())),
            Err(_) => {}
        }
    }
    Ok(Some(existing.into_iter().collect()))
}

/// The files of a repository in another one.
fn inner(outer: &Repository, folder: &Path, listed: FileSelection) -> Result<Vec<String>, String> {
    let is_other = Repository::find(folder, &outer.budget)
        .is_some_and(|found| found.top != outer.top && found.prefix.is_empty());
    if is_other { Ok(list(folder, listed)?.unwrap_or_default()) } else { Ok(Vec::new()) }
}

/// The files of these kinds in the work tree around a folder, as far as they are files of its repository; `None` outside of one.
///
/// # Errors
/// When they cannot be read.
pub fn files_of(folder: &Path, extent: Extent, budget: &Budget) -> Result<Option<Vec<PathBuf>>, String> {
    let Some(repository) = Repository::find(folder, budget) else { return Ok(None) };
    let mut files = Vec::new();
    if extent.tracked {
        files.extend(repository.tracked()?.0.keys().map(|name| repository.top.join(path_of(name))));
    }
    for (is_wanted, is_ignored) in [(extent.untracked, false), (extent.ignored, true)] {
        if is_wanted {
            files.extend(repository.other_files(is_ignored)?.iter().map(|name| repository.top.join(name)));
        }
    }
    Ok(Some(files))
}

#[must_use]
pub fn is_repository(work: &Path) -> bool {
    Repository::find(work, &Budget::unlimited()).is_some()
}

#[cfg(test)]
mod tests;
