//! A work tree and its repository. One snapshot is taken when an agent is called and another when it stops; the
//! difference is what changed in between.
//!
//! We read the files ourselves and ask git only about its own objects. So nothing that a repository configures (filters, hooks,
//! fsmonitor, diff programs) can run or hide a file.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::budget::Budget;
use shell_effects::Extent;

mod entries;
mod error;
mod excludes;
mod file;
mod index;
mod process;
mod repository;
mod rules;
mod snapshot;
mod walk;

pub use entries::{EntryFilter, TreeEntry, entries};
pub use error::GitError;
use index::path_of;
use repository::Repository;
pub use snapshot::Snapshot;

/// The work tree of one event. Its snapshot is taken once, when it is first needed.
#[derive(Debug)]
pub struct WorkTree {
    pub path: PathBuf,
    /// The snapshot of the call that this event belongs to.
    pub baseline: Option<Snapshot>,
    /// How long a snapshot may take.
    pub budget: Budget,
    snapshot: OnceCell<Result<Option<Snapshot>, GitError>>,
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
    pub fn snapshot(&self) -> Result<Option<&Snapshot>, GitError> {
        match self.snapshot.get_or_init(|| Snapshot::take(&self.path, self.baseline.as_ref(), &self.budget)) {
            Ok(snapshot) => Ok(snapshot.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }
}

/// Whether git's rules ignore an untracked file: the rules of the work tree, or of a repository in it, such as a submodule.
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

/// The root in another work tree of its repository, if a folder is in one. Git is not started: the search goes up to `.git`.
#[must_use]
pub fn root_in_worktree(root: &Path, folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors().take_while(|above| *above != root);
    let top = above.find(|above| above.join(".git").symlink_metadata().is_ok())?;
    // Git is not started.
    let budget = &Budget::unlimited();
    let (other, own) = (Repository::at(top, String::new(), budget)?, Repository::find(root, budget)?);
    let is_same = other.common_dir.canonicalize().ok()? == own.common_dir.canonicalize().ok()?;
    if !is_same || top.canonicalize().ok()? == own.top {
        return None;
    }
    Some(top.join(own.prefix.trim_end_matches('/')))
}

/// Whether git knows this folder as a worktree of the project's repository. A folder with a similar name does not count.
#[must_use]
pub fn is_worktree_of(folder: &Path, project: &Path) -> bool {
    let budget = &Budget::unlimited();
    let (Some(tree), Some(own)) =
        (Repository::at(folder, String::new(), budget), Repository::find(project, budget))
    else {
        return false;
    };
    let is_same = |one: &Path, other: &Path| {
        one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
    };
    let back = repository::read_line(&tree.git_dir.join("gitdir")).map(|path| tree.git_dir.join(path));
    is_same(&tree.common_dir, &own.common_dir)
        && back.is_some_and(|back| is_same(&back, &folder.join(".git")))
}

/// Whether git tracks a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    Tracked,
    /// `git add --all` would add it.
    Untracked,
    Ignored,
}

/// Whether git tracks a file; `None` if git cannot answer.
#[must_use]
pub fn tracking(work: &Path, path: &Path, budget: &Budget) -> Option<Tracking> {
    let repository = Repository::find(work, budget)?;
    let folder = path.parent()?.canonicalize().ok()?;
    repository.tracking(&folder.join(path.file_name()?)).ok()
}

/// `info/exclude`: the files that git ignores only in this clone. Linked work trees share the file of their repository.
#[must_use]
pub fn exclude_file(work: &Path) -> Option<PathBuf> {
    Some(common_directory(work)?.join("info/exclude"))
}

/// The directory that all work trees of a repository share.
#[must_use]
pub fn common_directory(work: &Path) -> Option<PathBuf> {
    let common = Repository::find(work, &Budget::unlimited())?.common_dir;
    Some(common.canonicalize().unwrap_or(common))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSelection {
    /// The files that differ from the last commit.
    Changed,
    /// All files except those that git ignores.
    All,
}

/// The existing files below a directory, sorted and relative to it, including those of submodules and nested repositories. `None`
/// outside a repository.
///
/// # Errors
/// When git fails.
pub fn list(work: &Path, selection: FileSelection) -> Result<Option<Vec<String>>, GitError> {
    let Some(repository) = Repository::find(work, &Budget::unlimited()) else { return Ok(None) };
    let files = match selection {
        FileSelection::Changed => repository.changed_files()?,
        FileSelection::All => repository.all_files()?,
    };
    let mut existing = BTreeSet::new();
    for file in &files {
        let file = repository.relative(file);
        let path = work.join(&*file);
        match path.symlink_metadata() {
            _ if file.starts_with("../") => {}
            // A submodule, or an unregistered repository.
            Ok(found) if found.is_dir() => {
                let folder = file.trim_end_matches('/');
                let inside = inner(&repository, &path, selection)?;
                existing.extend(inside.iter().map(|file| format!("{folder}/{file}")));
            }
            Ok(_) => drop(existing.insert(file.into_owned())),
            Err(_) => {}
        }
    }
    Ok(Some(existing.into_iter().collect()))
}

/// The files of a repository inside another one.
fn inner(outer: &Repository, folder: &Path, selection: FileSelection) -> Result<Vec<String>, GitError> {
    let is_other = Repository::find(folder, &outer.budget)
        .is_some_and(|found| found.top != outer.top && found.prefix.is_empty());
    if is_other { Ok(list(folder, selection)?.unwrap_or_default()) } else { Ok(Vec::new()) }
}

/// The files of the repository around a folder that the extent selects; `None` outside a repository.
///
/// # Errors
/// When they cannot be read.
pub fn files_of(folder: &Path, extent: Extent, budget: &Budget) -> Result<Option<Vec<PathBuf>>, GitError> {
    let Some(repository) = Repository::find(folder, budget) else { return Ok(None) };
    let mut files = Vec::new();
    if extent.tracked {
        let entries = repository.tracked()?.entries;
        files.extend(entries.iter().map(|(name, _)| repository.top.join(path_of(name))));
        // Messages name the first relevant one.
        files.sort();
    }
    for (is_wanted, is_ignored) in [(extent.untracked, false), (extent.ignored, true)] {
        if is_wanted {
            files.extend(repository.other_files(is_ignored)?.iter().map(|name| repository.top.join(name)));
        }
    }
    Ok(Some(files))
}

/// Among some files of the repository around a folder, those that differ or may differ from a commit, such as `HEAD`.
///
/// # Errors
/// When git fails.
pub fn changed(
    folder: &Path,
    commit: &str,
    files: Vec<PathBuf>,
    budget: &Budget,
) -> Result<Vec<PathBuf>, GitError> {
    let Some(repository) = Repository::find(folder, budget) else { return Ok(files) };
    let name = |file: &Path| file.strip_prefix(&repository.top).ok()?.to_str().map(str::to_owned);
    let names: Vec<String> = files.iter().filter_map(|file| name(file)).collect();
    let staged: BTreeMap<_, _> = repository.tracked()?.entries.into_iter().collect();
    let committed: BTreeMap<_, _> = repository.committed(commit, &names)?.into_iter().collect();
    let is_same = |file: &PathBuf| {
        let Some(name) = name(file) else { return false };
        match (staged.get(name.as_bytes()), committed.get(name.as_bytes())) {
            (Some(staged), Some(committed)) => {
                (staged.mode, &staged.id) == (committed.mode, &committed.id)
                    && file::is_blob(file, &staged.id)
            }
            _ => false,
        }
    };
    Ok(files.into_iter().filter(|file| !is_same(file)).collect())
}

#[must_use]
pub fn is_repository(work: &Path) -> bool {
    Repository::find(work, &Budget::unlimited()).is_some()
}

#[cfg(test)]
mod tests;
