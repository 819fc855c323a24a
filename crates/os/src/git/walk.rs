//! Looks at every file of a work tree that no `.gitignore` hides, at every tracked one, and into nested repositories.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use super::file::{self, FileKind, FileState};
use super::index::{self, GITLINK, IndexEntries, IndexEntry};
use super::names::{name_of, path_of};
use super::repository::Repository;
use super::rules::{Rules, Stack};
use super::snapshot::Snapshot;
use crate::budget::Budget;
use crate::files;
use conclaude_core::dialect::claude::layout;

impl Snapshot {
    /// The work tree now; `None` outside of a repository. Compared with an earlier snapshot, only what its rules hid is hidden.
    ///
    /// # Errors
    /// When the tree is too large, or the repository cannot be read.
    pub fn take(work: &Path, before: Option<&Snapshot>, budget: &Budget) -> Result<Option<Snapshot>, String> {
        let Some(repository) = Repository::find(work, budget) else { return Ok(None) };
        let (found, rules) = Walk::run(&repository, before)?;
        let files =
            found.into_iter().map(|(path, file)| (repository.relative(&path).into_owned(), file)).collect();
        let head = repository.head_or_ask()?;
        let head = Some(head).filter(|head| !head.is_empty());
        Ok(Some(Snapshot { head, prefix: repository.prefix, files, rules }))
    }
}

impl Repository {
    /// What git tracks, and when that was written.
    pub(super) fn tracked(&self) -> Result<(IndexEntries, Option<SystemTime>), String> {
        let index = self.git_dir.join("index");
        let Ok(index_time) = index.metadata().and_then(|metadata| metadata.modified()) else {
            return Ok((IndexEntries::new(), None));
        };
        let bytes = files::read_bytes(&index, MAX_INDEX).map_err(|error| format!(".git/index: {error}"))?;
        let entries = match index::parse(&bytes) {
            Some(entries) => entries,
            None => self.listed_index()?,
        };
        Ok((entries, Some(index_time)))
    }

    /// The commit that is checked out, empty before the first one.
    fn head_or_ask(&self) -> Result<String, String> {
        match self.head() {
            Ok(head) => Ok(head.unwrap_or_default()),
            Err(_) if self.common_dir.join("reftable").is_dir() => Ok(self.asked_head().unwrap_or_default()),
            Err(error) => Err(error),
        }
    }
}

const MAX_FILES: usize = 250_000;
/// How much is read of files that git does not know, or has not compared.
const MAX_READ: u64 = 128 << 20;
const MAX_INDEX: u64 = 256 << 20;

/// What can make git run a program or hide a file later. `config` is git's own to write, too.
const WATCHED: [&str; 4] = ["config", "info/attributes", "info/exclude", "info/grafts"];

pub(super) struct Walk<'a> {
    repository: &'a Repository,
    /// The snapshot whose rules count, and whose unchanged files need not be read again.
    before: Option<&'a Snapshot>,
    rules: Rules,
    /// By path from the top level.
    tracked: BTreeMap<String, Tracked>,
    found: BTreeMap<String, FileState>,
    read: u64,
    start: SystemTime,
}

struct Tracked {
    /// The top level of its repository.
    top: Rc<Path>,
    /// Its path from there.
    below: Vec<u8>,
    entry: IndexEntry,
    index_time: Option<SystemTime>,
}

/// A folder still to be looked into.
struct Folder {
    path: PathBuf,
    /// From the top level, `src/`; empty for the top level itself.
    name: String,
    rules: Stack,
}

impl<'a> Walk<'a> {
    /// All files by their paths from the top level, and the rules that were applied.
    pub(super) fn run(
        repository: &'a Repository,
        before: Option<&'a Snapshot>,
    ) -> Result<(BTreeMap<String, FileState>, Rules), String> {
        let rules = before.map(|before| before.rules.clone()).unwrap_or_default();
        let start = SystemTime::now();
        let mut walk = Walk {
            repository,
            before,
            rules,
            tracked: BTreeMap::new(),
            found: BTreeMap::new(),
            read: 0,
            start,
        };
        walk.enter_repository(repository, "")?;
        let top = Folder { path: repository.top.clone(), name: String::new(), rules: Stack::default() };
        let mut folders = vec![top];
        while let Some(folder) = folders.pop() {
            walk.folder(folder, &mut folders)?;
        }
        walk.tracked_elsewhere()?;
        Ok((walk.found, walk.rules))
    }

    fn folder(&mut self, folder: Folder, folders: &mut Vec<Folder>) -> Result<(), String> {
        if self.before.is_none() {
            self.rules.read(&folder.name, &folder.path);
        }
        let rules = folder.rules.with(&folder.name, self.rules.of(&folder.name));
        let is_nested = !folder.name.is_empty() && self.nested(&folder)?;
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
            let name = format!("{}{}", folder.name, name_of(own_name.as_encoded_bytes()));
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
            if rules.hides(&name, metadata.is_dir()) {
                continue;
            }
            if metadata.is_dir() {
                folders.push(Folder { path, name: format!("{name}/"), rules: rules.clone() });
            } else {
                self.add(name, &path, &metadata)?;
            }
            self.check_limits(folders.len())?;
        }
        Ok(())
    }

    /// A repository below this one: its files are looked at like others, and its commit stands for its history.
    fn nested(&mut self, folder: &Folder) -> Result<bool, String> {
        let Some(nested) = Repository::at(&folder.path, String::new(), &self.repository.budget) else {
            return Ok(false);
        };
        self.enter_repository(&nested, &folder.name)?;
        let content = Some(nested.head_or_ask().unwrap_or_else(|error| error));
        let staged = self.tracked.remove(folder.name.trim_end_matches('/')).map(|tracked| tracked.entry.id);
        let file = FileState { kind: FileKind::Repository, content, staged, ..FileState::default() };
        self.found.insert(format!("{}.git", folder.name), file);
        Ok(true)
    }

    /// Reads what a repository tracks, and looks at the files that it is configured by.
    fn enter_repository(&mut self, repository: &Repository, name: &str) -> Result<(), String> {
        let (entries, index_time) = repository.tracked()?;
        let top: Rc<Path> = repository.top.as_path().into();
        for (below, entry) in entries {
            let name = format!("{name}{}", name_of(&below));
            self.tracked.insert(name, Tracked { top: Rc::clone(&top), below, entry, index_time });
        }
        let hooks = std::fs::read_dir(repository.common_dir.join("hooks")).into_iter().flatten().flatten();
        let hooks = hooks.map(|hook| format!("hooks/{}", hook.file_name().to_string_lossy()));
        let hooks = hooks.filter(|hook| !hook.ends_with(".sample"));
        for watched in WATCHED.iter().map(|watched| (*watched).to_owned()).chain(hooks) {
            let path = repository.common_dir.join(&watched);
            if let Ok(metadata) = path.symlink_metadata() {
                self.add(format!("{name}.git/{watched}"), &path, &metadata)?;
            }
        }
        Ok(())
    }

    /// Tracked files that a rule hides, that are gone, or that are submodules.
    fn tracked_elsewhere(&mut self) -> Result<(), String> {
        for (name, tracked) in std::mem::take(&mut self.tracked) {
            let staged = Some(tracked.entry.id.clone());
            if tracked.entry.mode == GITLINK {
                self.found.insert(format!("{name}/.git"), FileState { staged, ..FileState::default() });
                continue;
            }
            let path = tracked.top.join(path_of(&tracked.below));
            match path.symlink_metadata() {
                Ok(metadata) => {
                    self.tracked.insert(name.clone(), tracked);
                    self.add(name, &path, &metadata)?;
                }
                Err(_) => {
                    self.found.insert(name, FileState { staged, ..FileState::default() });
                }
            }
            self.check_limits(0)?;
        }
        Ok(())
    }

    fn add(&mut self, name: String, path: &Path, metadata: &Metadata) -> Result<(), String> {
        let mut file = FileState::of(metadata);
        let tracked = self.tracked.remove(&name);
        file.clean = tracked
            .as_ref()
            .is_some_and(|tracked| file.was_seen(&tracked.entry, metadata, tracked.index_time));
        file.staged = tracked.map(|tracked| tracked.entry.id);
        let before = self.before.and_then(|before| before.files.get(&*self.repository.relative(&name)));
        if let Some(before) = before.filter(|before| before.has_stamp_of(&file)) {
            file.content.clone_from(&before.content);
            file.clean = before.clean && before.staged == file.staged;
        } else {
            let is_fresh = file::is_fresh(metadata, self.start);
            if !file.clean || is_fresh {
                self.read_content(&mut file, path);
            }
            if is_fresh && file.content.is_some() {
                file.stamp.clear();
            }
        }
        self.found.insert(name, file);
        self.check_limits(0)
    }

    /// What is in there cannot be known, but that it is there can. What was deleted this moment is not.
    fn unreadable(&mut self, name: String, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.found.insert(name, FileState { kind: FileKind::Unreadable, ..FileState::default() });
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

    /// Our own folder, and the worktrees that Claude Code makes for agents.
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

    fn check_limits(&self, more: usize) -> Result<(), String> {
        let count = self.found.len() + more;
        if count > MAX_FILES {
            return Err(format!("there are more than {MAX_FILES} files that no .gitignore hides"));
        }
        if count.is_multiple_of(64) && self.repository.budget.is_over() {
            return Err(Budget::exceeded());
        }
        Ok(())
    }
}
