//! A work tree at one moment, and what changed until another.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::GitError;
use super::file::{self, FileKind, FileState};
use super::index::{GITLINK, name_of};
use super::repository::Repository;
use super::rules::Rules;
use crate::budget::Budget;

/// The ids of the empty tree, which git always knows. A repository without commits is compared with it.
const EMPTY_TREES: [&str; 2] = [
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];

/// By file name. A repository may have 100,000 files, and the hasher of the standard library is slower.
pub(super) type FileMap<T> = HashMap<String, T, foldhash::fast::RandomState>;

/// A work tree at one moment. Paths are relative to its directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The commit; `None` before the first one.
    pub(super) head: Option<String>,
    /// The directory below the top level of the repository.
    pub(super) prefix: String,
    /// Each file of a tree is looked up. A sorted map would compare long common prefixes at each step.
    pub(super) files: FileMap<FileState>,
    pub(super) rules: Rules,
}

impl Snapshot {
    /// This snapshot for an agent's worktree, which started clean at a commit that it shares with this snapshot.
    ///
    /// # Errors
    /// When git fails.
    pub fn in_worktree(&self, work: &Path, now: &Snapshot, budget: &Budget) -> Result<Snapshot, GitError> {
        let repository = Repository::find(work, budget).ok_or(GitError::WorktreeGone)?;
        let head = match (&self.head, &now.head) {
            (Some(before), Some(now)) if before != now => Some(repository.merge_base(before, now)?),
            (before, _) => before.clone(),
        };
        let entries = head.as_ref().map(|head| repository.files_of(head)).transpose()?.unwrap_or_default();
        let of_commit = entries.into_iter().map(|(name, entry)| {
            let (kind, suffix) = match entry.mode {
                0o100_755 => (FileKind::Program, ""),
                0o120_000 => (FileKind::Link, ""),
                GITLINK => (FileKind::Absent, "/.git"),
                _ => (FileKind::File, ""),
            };
            let file = FileState { kind, clean: true, staged: Some(entry.id), ..FileState::default() };
            (repository.relative(format!("{}{suffix}", name_of(&name))).into_owned(), file)
        });
        // All worktrees of a repository share its config and hooks.
        let shared = self.files.iter().filter_map(|(path, file)| {
            let name = path.trim_start_matches("../");
            if !name.starts_with(".git/") {
                return None;
            }
            Some((repository.relative(name).into_owned(), file.clone()))
        });
        let files = of_commit.chain(shared).collect();
        Ok(Snapshot { head, prefix: now.prefix.clone(), files, rules: self.rules.clone() })
    }

    /// The files that differ between this snapshot and a later one of the same directory: in the work tree, staged, or committed.
    /// A file that still has its old content does not count, whether it was committed or not.
    ///
    /// # Errors
    /// If the repository is another one, or git fails, as it does when the commit is gone.
    pub fn changed_until(
        &self,
        now: &Snapshot,
        work: &Path,
        budget: &Budget,
    ) -> Result<BTreeSet<String>, GitError> {
        if self.prefix != now.prefix {
            return Err(GitError::Gone);
        }
        let committed = self.committed_until(now, work, budget)?;
        let nothing = FileState::default();
        // In a large tree a lookup waits for memory, so each file is looked up only once. Files are rarely gone.
        let there: Vec<_> = now.files.iter().map(|(path, now)| (path, self.files.get(path), now)).collect();
        let kept = there.iter().filter(|(_, before, _)| before.is_some()).count();
        let there = there.into_iter().map(|(path, before, now)| (path, before.unwrap_or(&nothing), now));
        let is_any_gone = kept < self.files.len();
        let gone = self.files.iter().filter(|(path, _)| is_any_gone && !now.files.contains_key(*path));
        let gone = gone.map(|(path, before)| (path, before, &nothing));
        let is_elsewhere = |path: &&String| !self.files.contains_key(*path) && !now.files.contains_key(*path);
        let elsewhere = committed.keys().filter(is_elsewhere).map(|path| (path, &nothing, &nothing));
        let candidates = there.chain(gone).chain(elsewhere);
        let changed = candidates.filter(|(path, before, now)| {
            let file = || work.join(path);
            before.differs(now, file) || before.is_recorded_otherwise(now, committed.get(*path), file)
        });
        Ok(changed.map(|(path, _, _)| path.clone()).collect())
    }

    /// The files that may have been written since, also if they have their old content again.
    pub fn rewritten_until<'s>(&'s self, now: &'s Snapshot) -> impl Iterator<Item = &'s String> {
        let is_rewritten = |(path, before): &(&String, &FileState)| {
            now.files.get(*path).is_some_and(|now| now.stamp.is_none() || now.stamp != before.stamp)
        };
        self.files.iter().filter(is_rewritten).map(|(path, _)| path)
    }

    /// The files whose content differs in a later snapshot, each with our id of the new content. Changes that were only staged or
    /// committed do not count.
    pub fn written_until(&self, now: &Snapshot, work: &Path) -> BTreeMap<String, String> {
        let nothing = FileState::default();
        let is_written = |(path, file): &(&String, &FileState)| {
            self.files.get(*path).unwrap_or(&nothing).differs(file, || work.join(path))
        };
        let written = now.files.iter().filter(is_written);
        written.map(|(path, _)| (path.clone(), now.content(work, path))).collect()
    }

    /// Identifies the content of a file in this snapshot. A file that was not read is read now.
    #[must_use]
    pub fn content(&self, work: &Path, path: &str) -> String {
        let known = self.files.get(path).and_then(|file| file.content.clone());
        known.or_else(|| file::hash(&work.join(path))).unwrap_or_default()
    }

    /// The changes in a few lines, for a judge.
    #[must_use]
    pub fn summary_until(&self, now: &Snapshot, work: &Path, budget: &Budget) -> String {
        let changed = match self.changed_until(now, work, budget) {
            Ok(changed) => changed,
            Err(error) => return format!("unknown: {error}"),
        };
        let size = |snapshot: &Snapshot, path: &str| {
            snapshot
                .files
                .get(path)
                .filter(|file| file.kind != FileKind::Absent)
                .map(|file| file.size.unwrap_or(0))
        };
        let line = |path: &String| match (size(self, path), size(now, path)) {
            (None, Some(now)) => format!(" {path} (new, {now} bytes)\n"),
            (Some(_), None) => format!(" {path} (deleted)\n"),
            (Some(before), Some(now)) => format!(" {path} ({before} → {now} bytes)\n"),
            (None, None) => format!(" {path}\n"),
        };
        changed.iter().map(line).collect()
    }

    fn committed_until(
        &self,
        now: &Snapshot,
        work: &Path,
        budget: &Budget,
    ) -> Result<BTreeMap<String, String>, GitError> {
        if self.head == now.head {
            return Ok(BTreeMap::new());
        }
        let repository = Repository::find(work, budget).ok_or(GitError::Gone)?;
        let is_long = self.head.iter().chain(&now.head).any(|head| head.len() == 64);
        let empty = if is_long { EMPTY_TREES[1] } else { EMPTY_TREES[0] };
        let commit = |head: &Option<String>| head.clone().unwrap_or_else(|| empty.to_owned());
        let changed = repository.diff_of_commits(&commit(&self.head), &commit(&now.head))?;
        Ok(changed.into_iter().map(|(path, id)| (repository.relative(path).into_owned(), id)).collect())
    }
}
