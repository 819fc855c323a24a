//! How a process ended.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that we did not send.
    Killed(i32),
    /// It ran into its limit and was terminated with all its children.
    TimedOut(Duration),
    NotStarted(String),
    /// We were asked to stop by this signal, and it was terminated with all its children.
    Interrupted(&'static str),
}

impl Status {
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
