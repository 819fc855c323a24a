//! The few questions that only git can answer. Git is started so that it runs nothing that the repository configures, writes
//! nothing and fetches nothing. No question reads a file of the work tree, so filters and attributes do not matter.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Tracking;
use super::error::GitError;
use super::index::{self, IndexEntries, name_of, split_nul, text};
use super::repository::Repository;
use crate::{environment, process};

/// Git must not delay a hook.
const GIT_WAIT: Duration = Duration::from_secs(5);

/// A waiting user sees progress.
const PATIENT_WAIT: Duration = Duration::from_secs(120);

/// More than the names of a million files.
const MAX_OUTPUT: usize = 256 << 20;

/// Programs that a repository can configure and that plumbing commands would run.
const OVERRIDES: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.alternateRefsCommand=",
    "diff.external=",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
];

impl Repository {
    /// Paths from the top level, each with the id of its new content; all zeros where it was deleted.
    pub(super) fn diff_of_commits(&self, before: &str, now: &str) -> Result<Vec<(String, String)>, GitError> {
        let arguments = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            before,
            now,
            "--",
        ];
        let output = self.git(&arguments)?;
        let mut parts = split_nul(&output);
        let mut changed = Vec::new();
        // Each file is two parts: `:100644 100644 OLD NEW M`, and its path.
        while let (Some(facts), Some(path)) = (parts.next(), parts.next()) {
            let id = text(facts).split(' ').nth(3).unwrap_or_default().to_owned();
            changed.push((name_of(path).into_owned(), id));
        }
        Ok(changed)
    }

    pub(super) fn merge_base(&self, one: &str, other: &str) -> Result<String, GitError> {
        Ok(text(&self.git(&["merge-base", one, other])?).trim().to_owned())
    }

    pub(super) fn files_of(&self, commit: &str) -> Result<IndexEntries, GitError> {
        Ok(index::parse_listed(&self.git(&["ls-tree", "-r", "-z", "--full-tree", commit])?))
    }

    /// The entries of these files in a commit. Its name may be anything.
    pub(super) fn committed(&self, commit: &str, names: &[String]) -> Result<IndexEntries, GitError> {
        let arguments = ["ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--"];
        let names = names.iter().map(String::as_str);
        Ok(index::parse_listed(&self.git(&arguments.into_iter().chain(names).collect::<Vec<_>>())?))
    }

    pub(super) fn listed_index(&self) -> Result<IndexEntries, GitError> {
        Ok(index::parse_listed(&self.git(&["ls-files", "--stage", "-z", "--full-name"])?))
    }

    /// For branches that are not plain files; `None` before the first commit.
    pub(super) fn asked_head(&self) -> Option<String> {
        let id = text(&self.git(&["rev-parse", "--quiet", "--verify", "HEAD"]).ok()?).trim().to_owned();
        if id.is_empty() { None } else { Some(id) }
    }

    pub(super) fn ignores(&self, path: &Path) -> bool {
        // Git prints the path if its rules ignore it, and fails if they do not.
        self.git(&["check-ignore", "--", &path.to_string_lossy()]).is_ok_and(|printed| !printed.is_empty())
    }

    /// Whether git tracks a file that exists.
    pub(super) fn tracking(&self, path: &Path) -> Result<Tracking, GitError> {
        let path = path.to_string_lossy();
        let lists = |kind: &[&str]| {
            let output = self.git(&[&["ls-files", "-z"], kind, &["--", &path]].concat())?;
            Ok::<bool, GitError>(!output.is_empty())
        };
        Ok(if lists(&["--cached"])? {
            Tracking::Tracked
        } else if lists(&["--others", "--exclude-standard"])? {
            Tracking::Untracked
        } else {
            Tracking::Ignored
        })
    }

    /// The files that differ from the last commit, staged or not, and untracked files that git does not ignore. This compares the
    /// work tree as git does, with filters: only if commands of the project may run.
    pub(super) fn changed_files(&self) -> Result<Vec<String>, GitError> {
        let arguments = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
        let output = self.git_within(&arguments, PATIENT_WAIT)?;
        // `XY`, a blank, and the path from the top level.
        Ok(split_nul(&output).filter_map(|line| Some(name_of(line.get(3..)?).into_owned())).collect())
    }

    /// The tracked files, and the untracked ones that git does not ignore.
    pub(super) fn all_files(&self) -> Result<Vec<String>, GitError> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name"];
        Ok(split_nul(&self.git_within(&arguments, PATIENT_WAIT)?)
            .map(|name| name_of(name).into_owned())
            .collect())
    }

    /// The untracked files: either the ignored ones, or the others. Nested repositories are left out.
    pub(super) fn other_files(&self, is_ignored: bool) -> Result<Vec<String>, GitError> {
        let mut arguments = vec!["ls-files", "-z", "--others", "--exclude-standard", "--full-name"];
        if is_ignored {
            arguments.push("--ignored");
        }
        let output = self.git(&arguments)?;
        Ok(split_nul(&output)
            .map(|name| name_of(name).into_owned())
            .filter(|name| !name.ends_with('/'))
            .collect())
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.git_within(arguments, self.budget.at_most(self.budget.at_least(GIT_WAIT)))
    }

    fn git_within(&self, arguments: &[&str], limit: Duration) -> Result<Vec<u8>, GitError> {
        let failed = |reason: &str| GitError::Command {
            subcommand: arguments.first().copied().unwrap_or_default().to_owned(),
            reason: reason.to_owned(),
        };
        let mut command = Command::new("git");
        // Set explicitly, so that git uses neither `core.worktree`, `core.bare` nor a folder with the layout of a repository.
        command.arg("--git-dir").arg(&self.git_dir).arg("--work-tree").arg(&self.top);
        command.args(["--no-pager", "--no-replace-objects"]);
        command.args(OVERRIDES.iter().flat_map(|setting| ["-c", setting]));
        command.args(arguments).current_dir(&self.top);
        for name in environment::names().filter(|name| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        // A repository can name a program that fetches missing objects.
        command
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        let output =
            process::output(command, b"", limit, MAX_OUTPUT).map_err(|error| failed(&error.to_string()))?;
        if output.status.is_success() {
            return Ok(output.stdout);
        }
        // Pages of usage may follow.
        let errors = text(&output.stderr);
        let first = errors.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it failed");
        Err(failed(first.trim_start_matches("fatal: ").trim_start_matches("error: ")))
    }
}
