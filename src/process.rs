//! Running one command: a shell script with its own process group, a time limit, and output captured in bounded
//! memory.

use std::path::Path;
use std::time::Duration;

mod capture;
#[cfg(target_os = "linux")]
mod descendants;
#[cfg(target_os = "linux")]
mod spawn;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use capture::{Captured, Keep, Spill};

/// The shell when the config names none.
pub const DEFAULT_SHELL: &str = if cfg!(windows) { "sh" } else { "/bin/sh" };

/// The environment variable that tells the processes of one command from all others.
pub const ID_VARIABLE: &str = "CONCLAUDE_COMMAND_ID";

/// How long a command has between being asked to end and being killed.
pub const GRACE: Duration = Duration::from_secs(1);

/// The same when we are told to stop ourselves: the client kills us 1.4 s after asking.
pub const GRACE_WHEN_STOPPED: Duration = Duration::from_millis(500);

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec<'a> {
    /// The script.
    pub script: &'a str,
    /// The program that runs it, with `-c`.
    pub shell: &'a str,
    /// Where it runs.
    pub cwd: &'a Path,
    /// The variables that it gets beside our own environment; `None` takes one away.
    pub env: &'a [(&'static str, Option<String>)],
    /// What it reads.
    pub stdin: &'a [u8],
    /// When it is terminated.
    pub timeout: Option<Duration>,
    /// What is kept of its stdout.
    pub stdout: Keep,
    /// What is kept of its stderr.
    pub stderr: Keep,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that we did not send.
    Killed(i32),
    /// It ran into its limit and was terminated with all its children.
    TimedOut(Duration),
    /// It could not be started.
    NotStarted(String),
    /// We were told to stop by this signal, and it was terminated with all its children.
    Interrupted(&'static str),
}

impl Status {
    /// Whether the command did what it should.
    #[must_use]
    pub fn is_success(&self) -> bool {
        *self == Status::Exited(0)
    }

    /// The exit code, if it had one.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        match self {
            Status::Exited(code) => Some(*code),
            _ => None,
        }
    }

    /// The status in words, to follow "it".
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Status::Exited(code) => format!("exited with code {code}"),
            Status::Killed(signal) => format!("was killed by signal {signal}"),
            Status::TimedOut(limit) => format!("timed out after {} s and was terminated", limit.as_secs()),
            Status::NotStarted(reason) => format!("could not be started: {reason}"),
            Status::Interrupted(signal) => format!("was terminated, since conclaude received {signal}"),
        }
    }
}

/// What came of a command.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub status: Status,
    /// What it printed to stdout.
    pub stdout: Captured,
    /// What it printed to stderr.
    pub stderr: Captured,
    /// How long it took.
    pub duration: Duration,
}

/// Runs the command and waits for it. Never fails: what went wrong is the status.
#[must_use]
pub fn run(spec: &CommandSpec<'_>, spill: Spill<'_>) -> Finished {
    platform::run(spec, spill)
}

/// Makes sure that we hear how a child has ended, whatever whoever started us did to that signal.
pub fn hear_of_children() {
    platform::hear_of_children();
}

/// The signal that told us to stop, if one came while commands ran.
#[must_use]
pub fn stop_signal() -> Option<&'static str> {
    platform::stop_signal()
}
