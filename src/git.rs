//! A work tree as git sees it: a snapshot when an agent is called, another when it stops, and what changed in between.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{deadline, process};

mod index;
mod repository;

use repository::Repository;

/// Git must not hold a hook up.
const GIT_WAIT: Duration = Duration::from_secs(20);

/// More than the names of a million files.
const MAX_OUTPUT: usize = 256 << 20;

/// The tree without files: the head of a repository without commits.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Larger files are compared by size and time instead of content.
const MAX_HASHED_BYTES: u64 = 64 << 20;

const STATUS: [&str; 8] = [
    "status",
    "--porcelain=v2",
    "--branch",
    "--no-ahead-behind",
    "-z",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=all",
];

/// Options of every `git diff`: no program of the repository's configuration runs.
const DIFF: [&str; 4] = ["diff", "--no-renames", "--no-ext-diff", "--no-textconv"];

/// What never counts as a change: our own directory and Claude Code's worktrees.
fn is_ignored(path: &str) -> bool {
    path.starts_with(".conclaude/") || path.starts_with(".claude/worktrees/")
}

/// A work tree at one moment: its commit, and all that differs from it. Paths are relative to the directory it was taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub head: String,
    /// Files that differ from the commit in the index or the work tree, untracked files, and files that git was told not to
    /// look at; with what identifies their content.
    pub dirty: BTreeMap<String, String>,
}

impl Snapshot {
    /// The work tree now, by one `git status`; `None` outside of a repository.
    ///
    /// # Errors
    /// When git fails.
    pub fn take(work: &Path) -> Result<Option<Snapshot>, String> {
        let Some(repository) = Repository::find(work) else { return Ok(None) };
        let output = match git(work, &STATUS) {
            Err(error) if is_no_work_tree(&error) => return Ok(None),
            output => output?,
        };
        let Status { head, mut paths } = Status::parse(&output, &repository);
        if index::may_hide_files(&repository.git_dir.join("index"), head.len() / 2) {
            paths.extend(hidden_files(work, &repository)?);
        }
        // It says which untracked files git does not list.
        let exclude = ".git/info/exclude";
        if repository.is_at_top() && work.join(exclude).exists() {
            paths.insert(exclude.to_owned());
        }
        paths.retain(|path| !is_ignored(path));
        let dirty = paths.into_iter().map(|path| (path.clone(), content_of(&work.join(path)))).collect();
        Ok(Some(Snapshot { head, dirty }))
    }

    /// For the worktree of an agent, which started clean at a commit that it shares with this snapshot.
    #[must_use]
    pub fn in_worktree(&self, work: &Path, now: &Snapshot) -> Snapshot {
        let head = if self.head == now.head {
            self.head.clone()
        } else {
            let shared = git(work, &["merge-base", &self.head, &now.head]);
            shared.map_or_else(|_| self.head.clone(), |out| text(&out).trim().to_owned())
        };
        Snapshot { head, dirty: BTreeMap::new() }
    }

    /// The files that differ between this snapshot and a later one of the same directory: over commits, staged, unstaged
    /// and untracked. What was dirty before and has the same content still, committed or not, does not count.
    ///
    /// # Errors
    /// When git fails, as it does when the commit is gone.
    pub fn changed_until(&self, now: &Snapshot, work: &Path) -> Result<BTreeSet<String>, String> {
        let committed = self.committed_until(now, work)?;
        let candidates = self.dirty.keys().chain(now.dirty.keys()).chain(&committed);
        // Clean before, and in a commit or the index since then: changed, even if the work tree was reverted.
        let is_changed =
            |path: &&String| self.dirty.get(*path).is_none_or(|before| *before != now.content(work, path));
        Ok(candidates.filter(is_changed).filter(|path| !is_ignored(path)).cloned().collect())
    }

    /// What identifies the content of a file in this snapshot; one that is not dirty is looked at now.
    #[must_use]
    pub fn content(&self, work: &Path, path: &str) -> String {
        self.dirty.get(path).cloned().unwrap_or_else(|| content_of(&work.join(path)))
    }

    fn committed_until(&self, now: &Snapshot, work: &Path) -> Result<BTreeSet<String>, String> {
        if self.head == now.head {
            return Ok(BTreeSet::new());
        }
        let Some(repository) = Repository::find(work) else { return Err("the repository is gone".into()) };
        let arguments = [&DIFF[..], &["--name-only", "-z", &self.head, &now.head, "--"]].concat();
        Ok(entries(&git(work, &arguments)?).map(|path| repository.relative(&text(path))).collect())
    }
}

/// The work tree of one event: its snapshot is taken when it is first needed, and once.
#[derive(Debug)]
pub struct WorkTree {
    pub path: PathBuf,
    snapshot: OnceCell<Result<Option<Snapshot>, String>>,
}

impl WorkTree {
    #[must_use]
    pub fn at(path: &Path) -> WorkTree {
        WorkTree { path: path.to_owned(), snapshot: OnceCell::new() }
    }

    /// The snapshot of this event; `None` outside of a repository.
    ///
    /// # Errors
    /// When git failed.
    pub fn snapshot(&self) -> Result<Option<&Snapshot>, String> {
        match self.snapshot.get_or_init(|| Snapshot::take(&self.path)) {
            Ok(snapshot) => Ok(snapshot.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }
}

/// Whether the directory is in a repository, without starting git.
#[must_use]
pub(crate) fn is_repository(work: &Path) -> bool {
    Repository::find(work).is_some()
}

/// What changed since a commit, in a few lines for a judge.
#[must_use]
pub(crate) fn diff_stat(work: &Path, head: &str) -> String {
    let stat = git(work, &[&DIFF[..], &["--stat", head, "--"]].concat()).unwrap_or_default();
    let new =
        git(work, &["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]).unwrap_or_default();
    let Some(repository) = Repository::find(work) else { return String::new() };
    let new: Vec<String> = entries(&new)
        .map(|path| repository.relative(&text(path)))
        .filter(|path| !is_ignored(path))
        .map(|path| format!(" {path} (new)"))
        .collect();
    format!("{}{}", text(&stat), new.join("\n"))
}

/// What `git status --porcelain=v2 --branch -z` prints.
struct Status {
    head: String,
    paths: BTreeSet<String>,
}

impl Status {
    fn parse(output: &[u8], repository: &Repository) -> Status {
        let mut head = EMPTY_TREE.to_owned();
        let mut paths = BTreeSet::new();
        for entry in entries(output) {
            let entry = text(entry);
            // The number of fields before the path, which may contain blanks itself.
            let fields = match entry.chars().next() {
                Some('#') => {
                    let id = entry.strip_prefix("# branch.oid ").filter(|id| *id != "(initial)");
                    head = id.map_or(head, str::to_owned);
                    continue;
                }
                Some('?') => 1,
                Some('1') => 8,
                Some('u') => 10,
                _ => continue,
            };
            let Some(path) = entry.splitn(fields + 1, ' ').nth(fields) else { continue };
            let path = repository.relative(path);
            // Untracked files beside the project are not its own.
            if fields > 1 || !path.starts_with("../") {
                paths.insert(path);
            }
        }
        Status { head, paths }
    }
}

/// Files that git was told to take for unchanged.
fn hidden_files(work: &Path, repository: &Repository) -> Result<Vec<String>, String> {
    let listed = git(work, &["ls-files", "-v", "--full-name", "-z", "--", ":/"])?;
    let flagged = entries(&listed)
        .filter(|entry| entry.first().is_some_and(|tag| tag.is_ascii_lowercase() || *tag == b'S'))
        .filter_map(|entry| Some(repository.relative(&text(entry.get(2..)?))));
    // What a sparse checkout leaves out does not exist, and nobody has touched it.
    Ok(flagged.filter(|path| work.join(path).symlink_metadata().is_ok()).collect())
}

fn is_no_work_tree(error: &str) -> bool {
    error.contains("not a git repository") || error.contains("must be run in a work tree")
}

fn entries(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// What identifies the content of a file: our own hash, so that nothing is written to the repository and no process is
/// started per file.
fn content_of(path: &Path) -> String {
    let Ok(metadata) = path.symlink_metadata() else { return "deleted".into() };
    if metadata.is_symlink() {
        return format!("link:{}", path.read_link().unwrap_or_default().display());
    }
    if !metadata.is_file() {
        return "folder".into();
    }
    let by_size = || format!("size:{}:{:?}", metadata.len(), metadata.modified().ok());
    if metadata.len() > MAX_HASHED_BYTES {
        return by_size();
    }
    match std::fs::read(path) {
        Ok(bytes) => Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
        Err(_) => by_size(),
    }
}

/// Calls git so that nothing of the repository's own configuration runs, and nothing is written.
fn git(work: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let failed = |reason: String| format!("git {}: {reason}", arguments.first().unwrap_or(&""));
    let mut command = Command::new("git");
    command.args([
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.quotePath=false",
        "-c",
        "diff.external=",
    ]);
    command.args(arguments).current_dir(work);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    let output = process::output(command, b"", deadline::at_most(GIT_WAIT), MAX_OUTPUT)
        .map_err(|error| failed(error.to_string()))?;
    if output.status.is_success() {
        Ok(output.stdout)
    } else {
        Err(failed(text(&output.stderr).trim().to_owned()))
    }
}

#[cfg(test)]
mod tests;
