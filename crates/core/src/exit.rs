//! The exit codes of conclaude.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The event was handled, and nothing blocks.
    Success,
    /// Something is wrong with the arguments, the payload, the config or the machine. It never blocks.
    Failure,
    Blocked,
    /// The exit code of a command that was run for someone: `conclaude des run`.
    Of(u8),
}

impl Exit {
    /// The exit codes and their meanings.
    pub const MEANINGS: [(Exit, &str); 3] = [
        (Exit::Success, "success"),
        (Exit::Failure, "error in the arguments, the payload or the config"),
        (Exit::Blocked, "blocked on purpose"),
    ];

    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Blocked => 2,
            Exit::Of(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
