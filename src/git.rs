//! A work tree as git sees it: what was there when an agent was called, and what has changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::process;

/// Git must not hold a hook up.
const GIT_WAIT: Duration = Duration::from_secs(20);

/// More than the names of a million files.
const MAX_OUTPUT: usize = 256 << 20;

/// The tree of no files, from which everything is new in a repository without commits.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Files of this size are told apart by size and time, not by content.
const LARGE: u64 = 64 << 20;

/// What never counts as a change: our own folder and the client's worktrees.
fn is_ignored(path: &str) -> bool {
    path.starts_with(".conclaude/") || path.starts_with(".claude/worktrees/")
}

/// A tree as it was: the commit, and what was not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The commit.
    pub head: String,
    /// Files that differed from it, with a hash of their content.
    pub dirty: BTreeMap<String, String>,
}

impl Baseline {
    /// The tree as it is now; `None` where git knows nothing of it.
    ///
    /// # Errors
    /// When git fails.
    pub fn take(work: &Path) -> Result<Option<Baseline>, String> {
        if !is_repository(work) {
            return Ok(None);
        }
        let head = head_of(work);
        let dirty =
            differing(work, &head)?.into_iter().map(|path| (path.clone(), content(work, &path))).collect();
        Ok(Some(Baseline { head, dirty }))
    }

    /// For the worktree of an agent, which began clean at a commit that it shares with this baseline.
    #[must_use]
    pub fn in_worktree(&self, work: &Path) -> Baseline {
        let shared = git(work, &["merge-base", &self.head, "HEAD"]).map(|out| text(&out).trim().to_owned());
        Baseline { head: shared.unwrap_or_else(|_| self.head.clone()), dirty: BTreeMap::new() }
    }

    /// The files that are not as they were, relative to the work tree: over commits, staged, unstaged and untracked.
    ///
    /// # Errors
    /// When git fails, as it does when the commit is gone.
    pub fn changed(&self, work: &Path) -> Result<BTreeSet<String>, String> {
        let now = differing(work, &self.head)?;
        let mut changed: BTreeSet<String> = now
            .iter()
            .filter(|path| self.dirty.get(*path).is_none_or(|before| *before != content(work, path)))
            .cloned()
            .collect();
        // What was dirty and is so no more was taken back, or deleted.
        changed.extend(self.dirty.keys().filter(|path| !now.contains(*path)).cloned());
        // What was committed or staged, and then taken back in the work tree alone.
        let committed =
            paths(work, &["diff", "--name-only", "-z", "--no-renames", &self.head, &head_of(work), "--"])?;
        let staged =
            paths(work, &["diff", "--cached", "--name-only", "-z", "--no-renames", &self.head, "--"])?;
        changed.extend(
            committed
                .union(&staged)
                .filter(|path| !now.contains(*path) && !self.dirty.contains_key(*path))
                .cloned(),
        );
        changed.retain(|path| !is_ignored(path));
        Ok(changed)
    }
}

/// Whether git knows the folder.
#[must_use]
pub fn is_repository(work: &Path) -> bool {
    git(work, &["rev-parse", "--is-inside-work-tree"]).is_ok_and(|out| out.starts_with(b"true"))
}

/// What changed since the baseline, in few words for a judge.
#[must_use]
pub fn diff_stat(work: &Path, head: &str) -> String {
    let stat =
        git(work, &["diff", "--stat", "--no-renames", "--no-ext-diff", head, "--"]).unwrap_or_default();
    let new =
        paths(work, &["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]).unwrap_or_default();
    let new: Vec<String> =
        new.iter().filter(|path| !is_ignored(path)).map(|path| format!(" {path} (new)")).collect();
    format!("{}{}", text(&stat), new.join("\n"))
}

fn head_of(work: &Path) -> String {
    let head =
        git(work, &["rev-parse", "--verify", "--quiet", "HEAD"]).map(|out| text(&out).trim().to_owned());
    head.ok().filter(|head| !head.is_empty()).unwrap_or_else(|| EMPTY_TREE.to_owned())
}

/// The files of the work tree that differ from the commit, and those that git does not know.
fn differing(work: &Path, base: &str) -> Result<BTreeSet<String>, String> {
    let mut all = paths(
        work,
        &[
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--ignore-submodules=all",
            base,
            "--",
        ],
    )?;
    all.extend(paths(work, &["ls-files", "--others", "--exclude-standard", "--full-name", "-z"])?);
    // Git can be told not to look at a file. Those are looked at here, before and after alike.
    all.extend(hidden(work)?);
    all.retain(|path| !is_ignored(path));
    Ok(all)
}

/// Files that git was told to take for unchanged, and the list of what it is told not to see.
fn hidden(work: &Path) -> Result<BTreeSet<String>, String> {
    let listed = git(work, &["ls-files", "-v", "--full-name", "-z"])?;
    let flagged: Vec<u8> = listed
        .split(|byte| *byte == 0)
        .filter(|entry| entry.first().is_some_and(|tag| tag.is_ascii_lowercase() || *tag == b'S'))
        .filter_map(|entry| entry.get(2..))
        .flat_map(|path| path.iter().copied().chain([0]))
        .collect();
    let mut found = in_work_tree(work, &flagged)?;
    // What a sparse checkout leaves out is not there, and nobody has touched it.
    found.retain(|path| work.join(path).symlink_metadata().is_ok());
    let exclude =
        git(work, &["rev-parse", "--git-path", "info/exclude"]).map(|out| text(&out).trim().to_owned());
    found.extend(exclude.ok().filter(|path| path == ".git/info/exclude" && work.join(path).exists()));
    Ok(found)
}

/// A list of paths as git prints it, made relative to the work tree: git counts from the top level of the repository.
fn paths(work: &Path, arguments: &[&str]) -> Result<BTreeSet<String>, String> {
    in_work_tree(work, &git(work, arguments)?)
}

fn in_work_tree(work: &Path, list: &[u8]) -> Result<BTreeSet<String>, String> {
    if list.is_empty() {
        return Ok(BTreeSet::new());
    }
    let prefix = git(work, &["rev-parse", "--show-prefix"])?;
    let prefix = text(&prefix).trim_end_matches('\n').to_owned();
    let up = "../".repeat(prefix.matches('/').count());
    let named = list.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(|path| {
        let path = text(path);
        path.strip_prefix(prefix.as_str()).map_or_else(|| format!("{up}{path}"), str::to_owned)
    });
    Ok(named.collect())
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// What tells the content of a file from another.
pub(crate) fn content(work: &Path, path: &str) -> String {
    let path = work.join(path);
    let Ok(metadata) = path.symlink_metadata() else { return "deleted".into() };
    if metadata.is_symlink() {
        return format!("link:{}", path.read_link().unwrap_or_default().display());
    }
    if !metadata.is_file() {
        return "folder".into();
    }
    let by_size = || format!("size:{}:{:?}", metadata.len(), metadata.modified().ok());
    if metadata.len() > LARGE {
        return by_size();
    }
    match std::fs::read(&path) {
        Ok(bytes) => crate::store::hex(&Sha256::digest(&bytes)),
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
    ]);
    command.args(arguments).current_dir(work);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    let output =
        process::output(command, b"", GIT_WAIT, MAX_OUTPUT).map_err(|error| failed(error.to_string()))?;
    if output.status.is_success() {
        Ok(output.stdout)
    } else {
        Err(failed(text(&output.stderr).trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new() -> Self {
            let repository = Repository(tempfile::tempdir().unwrap());
            repository.git(&["init", "-q"]);
            repository
        }

        fn path(&self) -> &Path {
            self.0.path()
        }

        fn git(&self, arguments: &[&str]) {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
            let status =
                Command::new("git").args(identity).args(arguments).current_dir(self.path()).status().unwrap();
            assert!(status.success(), "{arguments:?}");
        }

        fn write(&self, name: &str, content: &str) {
            let path = self.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }

        fn commit(&self) {
            self.git(&["add", "-A"]);
            self.git(&["commit", "-q", "-m", "x"]);
        }

        fn baseline(&self) -> Baseline {
            Baseline::take(self.path()).unwrap().unwrap()
        }

        fn changed(&self, baseline: &Baseline) -> Vec<String> {
            baseline.changed(self.path()).unwrap().into_iter().collect()
        }
    }

    #[test]
    fn changes_are_found_over_commits_staged_unstaged_and_untracked() {
        let repository = Repository::new();
        for name in ["committed", "staged", "unstaged", "deleted", "untouched"] {
            repository.write(name, "1");
        }
        repository.commit();
        let baseline = repository.baseline();
        assert_eq!(repository.changed(&baseline), Vec::<String>::new());
        repository.write("committed", "2");
        repository.commit();
        repository.write("staged", "2");
        repository.git(&["add", "staged"]);
        repository.write("unstaged", "2");
        repository.write("new/untracked ü", "2");
        std::fs::remove_file(repository.path().join("deleted")).unwrap();
        repository.write("untouched", "1");
        assert_eq!(
            repository.changed(&baseline),
            ["committed", "deleted", "new/untracked ü", "staged", "unstaged"]
        );
    }

    #[test]
    fn what_was_dirty_before_and_did_not_change_does_not_count() {
        let repository = Repository::new();
        repository.write("a", "1");
        repository.commit();
        repository.write("a", "the user's");
        repository.write("note", "the user's");
        repository.write("gone", "the user's");
        let baseline = repository.baseline();
        assert_eq!(repository.changed(&baseline), Vec::<String>::new());
        repository.commit();
        assert_eq!(repository.changed(&baseline), Vec::<String>::new(), "committing it changes nothing");
        repository.write("note", "the agent's");
        repository.write("a", "1");
        std::fs::remove_file(repository.path().join("gone")).unwrap();
        assert_eq!(repository.changed(&baseline), ["a", "gone", "note"], "taking it back does");
    }

    #[test]
    fn a_commit_that_was_taken_back_in_the_tree_alone_is_still_seen() {
        let repository = Repository::new();
        repository.write("a", "1");
        repository.commit();
        let baseline = repository.baseline();
        repository.write("a", "2");
        repository.commit();
        repository.write("a", "1");
        assert_eq!(repository.changed(&baseline), ["a"]);
    }

    #[test]
    fn our_own_folder_and_worktrees_never_count() {
        let repository = Repository::new();
        let baseline = repository.baseline();
        repository.write(".conclaude/state/x", "1");
        repository.write(".claude/worktrees/agent-1/x", "1");
        repository.write("real", "1");
        assert_eq!(repository.changed(&baseline), ["real"]);
    }

    #[test]
    fn a_project_below_the_top_level_names_its_own_paths() {
        let repository = Repository::new();
        let work = repository.path().join("packages/web");
        std::fs::create_dir_all(&work).unwrap();
        repository.write("packages/web/a", "1");
        repository.commit();
        let baseline = Baseline::take(&work).unwrap().unwrap();
        repository.write("packages/web/a", "2");
        repository.write("root", "2");
        let changed: Vec<String> = baseline.changed(&work).unwrap().into_iter().collect();
        assert!(changed.contains(&"a".to_owned()), "{changed:?}");
    }

    #[test]
    fn without_git_there_is_no_baseline_and_a_lost_commit_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Baseline::take(folder.path()).unwrap(), None);
        let repository = Repository::new();
        let lost = Baseline { head: "1".repeat(40), ..Baseline::default() };
        assert!(lost.changed(repository.path()).is_err());
    }
}
