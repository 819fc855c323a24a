//! Why a work tree could not be compared.

use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GitError {
    #[error("git {subcommand}: {reason}")]
    Command { subcommand: String, reason: String },
    #[error(".git/index: {0}")]
    Index(String),
    #[error("branches are kept as reftable")]
    Reftable,
    #[error("{0} is neither a commit nor a branch")]
    Reference(String),
    #[error("HEAD refers to itself")]
    CircularHead,
    #[error("there are more than {0} files that no .gitignore hides")]
    TooManyFiles(usize),
    /// The message of the deadline.
    #[error("{0}")]
    TimedOut(String),
    /// `rm -rf .git`, or `git init` somewhere else.
    #[error("the git repository is gone: .git was deleted or moved after the agent was called")]
    Gone,
    #[error("the worktree is no longer a git repository")]
    WorktreeGone,
}
