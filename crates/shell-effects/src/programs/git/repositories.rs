//! Which repository and work tree a call of git is about, what it changes there for later commands, and new ones.

use super::GitCall;
use super::changes::is_last_commit;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::exports::file_of;
use crate::analysis::field::Field;
use crate::{Access, AdditionalFiles, LAST_COMMIT};

/// Variables that choose the work tree.
pub(super) const ELSEWHERE: &[&str] = &[
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
];

/// Subcommands after which nothing differs from before.
#[rustfmt::skip]
const READING: &[&str] = &[
    "annotate", "archive", "blame", "cat-file", "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "cherry", "clean",
    "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "format-patch", "fsck", "gc", "grep", "help",
    "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "push", "range-diff", "rev-list", "rev-parse", "shortlog", "show",
    "show-ref", "status", "var", "verify-commit", "version", "whatchanged",
];

/// What a git command changes in the repository.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum RepositoryChange {
    #[default]
    Nothing,
    /// What names of commits mean. A file that is as in the last commit still is.
    Revisions,
    Anything,
}

impl RepositoryChange {
    /// Whether files can still be compared with a commit.
    pub(crate) fn keeps(self, commit: &str) -> bool {
        match self {
            RepositoryChange::Nothing => true,
            RepositoryChange::Revisions => matches!(commit, LAST_COMMIT | "@"),
            RepositoryChange::Anything => false,
        }
    }
}

impl GitCall {
    /// What it may change for later commands.
    pub(super) fn repository_change(&self, analyzer: &mut Analyzer<'_>) -> RepositoryChange {
        if READING.contains(&self.subcommand.as_str()) {
            return RepositoryChange::Nothing;
        }
        let keeps = match self.subcommand.as_str() {
            "add" | "commit" | "reflog" | "remote" | "stage" | "stash" | "switch" | "tag" => true,
            "branch" => !self.arguments.has(&["-C", "-M", "-f", "--force"]),
            "checkout" | "reset" | "restore" => self.revision(analyzer).is_none_or(is_last_commit),
            "config" => self.arguments.operands.len() < 2 && self.arguments.flags.is_empty(),
            "fetch" => !self.arguments.has(&["-u", "--update-head-ok"]),
            _ => false,
        };
        if keeps && !self.is_elsewhere(analyzer) && !has_index_variable(analyzer) {
            RepositoryChange::Revisions
        } else {
            RepositoryChange::Anything
        }
    }

    /// Whether it works on another repository or work tree than that of its directory.
    pub(super) fn is_elsewhere(&self, analyzer: &mut Analyzer<'_>) -> bool {
        let is_set = |name: &&str| analyzer.state.get(name).is_some() || analyzer.state.exports.has(name);
        ELSEWHERE.iter().any(is_set) || self.has_other_tree(analyzer)
    }

    /// Whether options choose another work tree.
    pub(super) fn has_other_tree(&self, analyzer: &mut Analyzer<'_>) -> bool {
        const OPTIONS: &[&str] = &["--work-tree", "--git-dir", "--bare", "core.worktree"];
        let is_such = |word: &String| {
            let word = word.to_ascii_lowercase();
            OPTIONS.iter().any(|option| word.starts_with(option)) || word.starts_with("--config-env")
        };
        analyzer.command_mut(self.command).is_none_or(|command| command.words.iter().any(is_such))
    }

    /// `clone`, `init` and `worktree`.
    pub(super) fn create(&self, analyzer: &mut Analyzer<'_>) {
        self.connects(analyzer);
        self.settings(analyzer);
        for directory in self.arguments.values(&["--separate-git-dir"]) {
            let brings = AdditionalFiles { directory: true, names: false };
            analyzer.with_additional_files(brings, |analyzer| {
                analyzer.touch(Access::Write, directory, self.command)
            });
        }
        self.arguments.values(&["--template"]).for_each(|template| analyzer.template(template));
        let named: Vec<Field> = analyzer.state.exports.values("GIT_DIR").map(file_of).collect();
        if self.subcommand == "init" {
            named.iter().for_each(|directory| analyzer.touch_tree(Access::Write, directory, self.command));
        }
        self.directory(analyzer);
    }

    /// The directory that a subcommand makes. Another branch may be checked out in another directory, whose files then differ from it.
    pub(super) fn changes_branch(&self, analyzer: &mut Analyzer<'_>) {
        let operands = &self.arguments.operands;
        let Some(name) = operands.first().filter(|name| name.text != "HEAD") else { return };
        if operands.len() > 1 || self.arguments.has(&["-d", "--delete"]) {
            let checkout = Field::unknown(format!("the checkout of {}", name.shown()));
            analyzer.touch(Access::Checkout, &checkout, self.command);
        }
    }

    /// A worktree that is given by the last part of its path.
    fn named_worktree(&self, analyzer: &mut Analyzer<'_>, name: &Field) {
        if !name.text.starts_with(['.', '/', '~']) {
            let worktree = Field::unknown(format!("the worktree {}", name.shown()));
            analyzer.touch(Access::Checkout, &worktree, self.command);
        }
    }

    fn directory(&self, analyzer: &mut Analyzer<'_>) {
        let operands = &self.arguments.operands;
        let directory = match (self.subcommand.as_str(), operands.as_slice()) {
            ("init", [directory, ..]) | ("clone", [_, directory, ..]) => directory.clone(),
            ("clone", [url]) => {
                let name = url.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
                url.with(name.trim_end_matches(".git"))
            }
            ("worktree", [action, directory, ..]) if action.text == "add" => directory.clone(),
            ("worktree", [action, from, to, ..]) if action.text == "move" => {
                analyzer.touch_tree(Access::Delete, from, self.command);
                self.named_worktree(analyzer, from);
                to.clone()
            }
            ("worktree", [action, directory, ..]) if action.text == "remove" => {
                analyzer.touch_tree(Access::Delete, directory, self.command);
                self.named_worktree(analyzer, directory);
                return;
            }
            ("worktree", [action, others @ ..]) if action.text == "repair" => {
                others.iter().for_each(|other| analyzer.touch(Access::Checkout, other, self.command));
                return;
            }
            _ => return,
        };
        let brings = AdditionalFiles { directory: self.subcommand != "init", names: false };
        analyzer.with_additional_files(brings, |analyzer| {
            analyzer.touch(Access::MakeDirectory, &directory, self.command)
        });
    }
}

pub(super) fn has_index_variable(analyzer: &Analyzer<'_>) -> bool {
    const NAME: &str = "GIT_INDEX_FILE";
    analyzer.state.get(NAME).is_some() || analyzer.state.exports.has(NAME)
}
