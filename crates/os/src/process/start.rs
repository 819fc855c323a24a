//! A process that is about to be started.

use std::process::Command;

/// The environment variable that tells the processes of one command from all others. Where a command calls us again, its
/// mark is part of the marks inside: `outer/inner`.
pub(super) const ID_VARIABLE: &str = "CONCLAUDE_COMMAND_ID";

/// How a process is tied to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProcessKind {
    /// A command of a hook, with its id: a process group of its own. It is terminated with all its descendants, also when
    /// we are asked to stop, and dies when we are killed.
    Command(String),
    /// A program that we need the output of: the same, but nobody looks for processes that left its group. A signal
    /// that asks us to stop keeps its default action until the first command has run.
    Tool,
    /// A program that shares our process group, so that it may read from the terminal and gets its Ctrl-C.
    Attached,
}

pub(super) struct Start<'a> {
    pub(super) command: Command,
    #[cfg_attr(windows, expect(dead_code, reason = "a job object holds processes of every kind"))]
    pub(super) kind: ProcessKind,
    /// What it reads; our own stdin if there is none.
    pub(super) stdin: Option<&'a [u8]>,
}
