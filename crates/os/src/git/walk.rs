//! Visits every file of a work tree that is tracked or not ignored, including nested repositories.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use super::error::GitError;
use super::excludes;
use super::file::{self, FileKind, FileState};
use super::index::{self, GITLINK, IndexEntries, IndexEntry, name_of, path_of};
use super::repository::Repository;
use super::rules::{RuleStack, Rules};
use super::snapshot::{FileMap, Snapshot};
use crate::budget::Budget;
use crate::files;
use conclaude_core::dialect::claude::layout;

impl Snapshot {
    /// The work tree now. `None` outside a repository. If there is an earlier snapshot, its ignore rules apply instead of the
    /// current ones.
    ///
    /// # Errors
    /// When the tree is too large, or the repository cannot be read.
    pub fn take(
        work: &Path,
        before: Option<&Snapshot>,
        budget: &Budget,
    ) -> Result<Option<Snapshot>, GitError> {
        let Some(repository) = Repository::find(work, budget) else { return Ok(None) };
        let (files, rules) = Walk::run(&repository, before)?;
        let head = repository.head_or_ask()?;
        Ok(Some(Snapshot { head, prefix: repository.prefix, files, rules }))
    }
}

/// The files that git tracks, and when the index was written.
#[derive(Default)]
pub(super) struct Index {
    pub(super) entries: IndexEntries,
    time: Option<SystemTime>,
}

impl Repository {
    /// Reads the index.
    pub(super) fn tracked(&self) -> Result<Index, GitError> {
        let index = self.git_dir.join("index");
        let Ok(index_time) = index.metadata().and_then(|metadata| metadata.modified()) else {
            return Ok(Index::default());
        };
        let bytes =
            files::read_bytes(&index, MAX_INDEX).map_err(|error| GitError::Index(error.to_string()))?;
        let entries = match index::parse(&bytes) {
            Some(entries) => entries,
            None => self.listed_index()?,
        };
        Ok(Index { entries, time: Some(index_time) })
    }

    /// The commit that is checked out; `None` before the first one.
    fn head_or_ask(&self) -> Result<Option<String>, GitError> {
        match self.head() {
            Err(GitError::Reftable) => Ok(self.asked_head()),
            head => head,
        }
    }
}

const MAX_FILES: usize = 250_000;
/// The limit on bytes that are read from files that git does not track or has not compared.
const MAX_READ: u64 = 128 << 20;
const MAX_INDEX: u64 = 256 << 20;

/// Files that can make git run a program or hide a file later. Git itself writes `config`, too.
const WATCHED: [&str; 4] = ["config", "info/attributes", "info/exclude", "info/grafts"];

pub(super) struct Walk<'a> {
    repository: &'a Repository,
    /// The snapshot whose rules apply, and whose unchanged files need not be read again.
    before: Option<&'a Snapshot>,
    rules: Rules,
    /// By path from the top level.
    tracked: FileMap<TrackedFile>,
    /// By the paths from the project, in the order of the visit. If a path occurs twice, the last one counts.
    found: FileMap<FileState>,
    read: u64,
    start: SystemTime,
}

struct TrackedFile {
    repository: Rc<TrackedRepository>,
    /// Its path from the top level of its repository, if it is not UTF-8 and so differs from its name.
    raw_path: Option<Vec<u8>>,
    entry: IndexEntry,
}

/// The repository of tracked files.
struct TrackedRepository {
    top: PathBuf,
    /// Its path from the outermost one: empty, or `vendor/lib/`.
    name: String,
    index_time: Option<SystemTime>,
}

impl TrackedFile {
    fn path(&self, name: &str) -> PathBuf {
        let TrackedRepository { top, name: above, .. } = &*self.repository;
        match &self.raw_path {
            Some(raw) => top.join(path_of(raw)),
            None => top.join(name.strip_prefix(above.as_str()).unwrap_or(name)),
        }
    }
}

/// A folder to visit.
struct Folder {
    path: PathBuf,
    /// From the top level, `src/`; empty for the top level itself.
    name: String,
    rules: RuleStack,
}

impl<'a> Walk<'a> {
    /// All files by their paths from the top level, and the rules that were applied.
    pub(super) fn run(
        repository: &'a Repository,
        before: Option<&'a Snapshot>,
    ) -> Result<(FileMap<FileState>, Rules), GitError> {
        let rules = before.map(|before| before.rules.clone()).unwrap_or_default();
        let start = SystemTime::now();
        let mut walk = Walk {
            repository,
            before,
            rules,
            tracked: FileMap::default(),
            found: FileMap::default(),
            read: 0,
            start,
        };
        if before.is_none() {
            walk.rules.read_users(excludes::file_of_user(repository).as_deref());
        }
        walk.enter_repository(repository, "")?;
        let rules =
            RuleStack::default().with("", walk.rules.of_user()).with("", walk.rules.of_repository(""));
        let top = Folder { path: repository.top.clone(), name: String::new(), rules };
        let mut folders = vec![top];
        while let Some(folder) = folders.pop() {
            walk.folder(folder, &mut folders)?;
        }
        walk.tracked_elsewhere()?;
        Ok((walk.found, walk.rules))
    }

    fn folder(&mut self, folder: Folder, folders: &mut Vec<Folder>) -> Result<(), GitError> {
        if self.before.is_none() {
            self.rules.read(&folder.name, &folder.path);
        }
        let is_nested = !folder.name.is_empty() && self.nested(&folder)?;
        let mut rules = folder.rules.clone();
        if is_nested {
            rules = rules.with(&folder.name, self.rules.of_repository(&folder.name));
        }
        let rules = rules.with(&folder.name, self.rules.of(&folder.name));
        let listed = match std::fs::read_dir(&folder.path) {
            Ok(listed) => listed,
            Err(error) => {
                self.unreadable(folder.name, &error);
                return Ok(());
            }
        };
        for entry in listed.flatten() {
            let own_name = entry.file_name();
            let path = folder.path.join(&own_name);
            let name = [folder.name.as_str(), &name_of(own_name.as_encoded_bytes())].concat();
            let is_git = own_name == ".git" && (folder.name.is_empty() || is_nested);
            if is_git || self.is_ours(&name, &path) {
                continue;
            }
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                Err(error) => {
                    self.unreadable(name, &error);
                    continue;
                }
            };
            // Git never ignores a tracked file. Most files are tracked, and comparing them with all rules would take long.
            let tracked = if metadata.is_dir() { None } else { self.tracked.remove(&name) };
            if tracked.is_none() && rules.hides(&name, metadata.is_dir()) {
                continue;
            }
            if metadata.is_dir() {
                folders.push(Folder { path, name: format!("{name}/"), rules: rules.clone() });
            } else {
                self.add(name, &path, &metadata, tracked)?;
            }
            self.check_limits(folders.len())?;
        }
        Ok(())
    }

    /// A repository below this one. Its files are visited like others; its commit stands for its history.
    fn nested(&mut self, folder: &Folder) -> Result<bool, GitError> {
        let Some(nested) = Repository::at(&folder.path, String::new(), &self.repository.budget) else {
            return Ok(false);
        };
        self.enter_repository(&nested, &folder.name)?;
        let content = match nested.head_or_ask() {
            Ok(head) => head.unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        let content = Some(content);
        let staged = self.tracked.remove(folder.name.trim_end_matches('/')).map(|tracked| tracked.entry.id);
        let file = FileState { kind: FileKind::Repository, content, staged, ..FileState::default() };
        self.find(format!("{}.git", folder.name), file);
        Ok(true)
    }

    /// Reads the tracked files of a repository, and visits its config files and hooks.
    fn enter_repository(&mut self, repository: &Repository, name: &str) -> Result<(), GitError> {
        if self.before.is_none() {
            self.rules.read_excludes(name, &repository.common_dir);
        }
        let index = repository.tracked()?;
        let tracked =
            TrackedRepository { top: repository.top.clone(), name: name.to_owned(), index_time: index.time };
        let tracked = Rc::new(tracked);
        self.tracked.reserve(index.entries.len());
        self.found.reserve(index.entries.len());
        for (path, entry) in index.entries {
            let (mut own_name, raw_path) = match String::from_utf8(path) {
                Ok(path) => (path, None),
                Err(error) => (name_of(error.as_bytes()).into_owned(), Some(error.into_bytes())),
            };
            own_name.insert_str(0, name);
            self.tracked.insert(own_name, TrackedFile { repository: Rc::clone(&tracked), raw_path, entry });
        }
        let hooks = std::fs::read_dir(repository.common_dir.join("hooks")).into_iter().flatten().flatten();
        let hooks = hooks.map(|hook| format!("hooks/{}", hook.file_name().to_string_lossy()));
        let hooks = hooks.filter(|hook| !hook.ends_with(".sample"));
        for watched in WATCHED.iter().map(|watched| (*watched).to_owned()).chain(hooks) {
            let path = repository.common_dir.join(&watched);
            if let Ok(metadata) = path.symlink_metadata() {
                self.add(format!("{name}.git/{watched}"), &path, &metadata, None)?;
            }
        }
        Ok(())
    }

    /// Tracked files that a rule hides, that are gone, or that are submodules.
    fn tracked_elsewhere(&mut self) -> Result<(), GitError> {
        let mut left: Vec<(String, TrackedFile)> = std::mem::take(&mut self.tracked).into_iter().collect();
        left.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, tracked) in left {
            let staged = Some(tracked.entry.id.clone());
            if tracked.entry.mode == GITLINK {
                self.find(format!("{name}/.git"), FileState { staged, ..FileState::default() });
                continue;
            }
            let path = tracked.path(&name);
            match path.symlink_metadata() {
                Ok(metadata) => {
                    self.add(name, &path, &metadata, Some(tracked))?;
                }
                Err(_) => {
                    self.find(name, FileState { staged, ..FileState::default() });
                }
            }
            self.check_limits(0)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        name: String,
        path: &Path,
        metadata: &Metadata,
        tracked: Option<TrackedFile>,
    ) -> Result<(), GitError> {
        let mut file = FileState::of(metadata);
        file.clean = tracked.as_ref().is_some_and(|tracked| {
            file.matches_index(&tracked.entry, metadata, tracked.repository.index_time)
        });
        file.staged = tracked.map(|tracked| tracked.entry.id);
        let name = self.repository.relative(name).into_owned();
        let before = self.before.and_then(|before| before.files.get(&name));
        if let Some(before) = before.filter(|before| before.has_stamp_of(&file)) {
            file.content.clone_from(&before.content);
            file.clean = before.clean && before.staged == file.staged;
        } else {
            let is_fresh = file::is_fresh(metadata, self.start);
            if !file.clean || is_fresh {
                self.read_content(&mut file, path);
            }
            if is_fresh && file.content.is_some() {
                file.stamp = None;
            }
        }
        self.found.insert(name, file);
        self.check_limits(0)
    }

    fn find(&mut self, name: String, file: FileState) {
        self.found.insert(self.repository.relative(name).into_owned(), file);
    }

    /// Records a file with unknown content, unless it was deleted a moment ago.
    fn unreadable(&mut self, name: String, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.find(name, FileState { kind: FileKind::Unreadable, ..FileState::default() });
        }
    }

    fn read_content(&mut self, file: &mut FileState, path: &Path) {
        let size = file.size.unwrap_or(0);
        if matches!(file.kind, FileKind::File | FileKind::Program | FileKind::Link)
            && self.read + size <= MAX_READ
        {
            self.read += size;
            file.content = file::hash(path);
        }
    }

    /// Our own folder, and Claude Code's worktrees for agents.
    fn is_ours(&self, name: &str, path: &Path) -> bool {
        let Some(below) = name.strip_prefix(&self.repository.prefix) else { return false };
        let is_worktree = || {
            let real = |path: &Path| path.canonicalize().ok();
            let worktrees = real(&self.repository.common_dir.join("worktrees"));
            let git_dir = Repository::at(path, String::new(), &self.repository.budget)
                .and_then(|found| real(&found.git_dir));
            worktrees.zip(git_dir).is_some_and(|(worktrees, git_dir)| git_dir.starts_with(worktrees))
        };
        below == ".conclaude" || (layout::inside_worktree(below).is_some() && is_worktree())
    }

    fn check_limits(&self, more: usize) -> Result<(), GitError> {
        let count = self.found.len() + more;
        if count > MAX_FILES {
            return Err(GitError::TooManyFiles(MAX_FILES));
        }
        if count.is_multiple_of(64) && self.repository.budget.is_over() {
            return Err(GitError::TimedOut(Budget::exceeded()));
        }
        Ok(())
    }
}
