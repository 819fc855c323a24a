//! Why a hook failed.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::pattern::PatternError;
use crate::types::PayloadError;

/// Always exit 1, never a block.
#[derive(Debug, Error)]
pub enum HookError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// A pattern of the event's section cannot be evaluated.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// conclaude received a signal.
    #[error("{0}")]
    Interrupted(String),
    /// A required record cannot be written.
    #[error("{0}")]
    Audit(String),
}

/// Why there is no payload on stdin.
#[derive(Debug, Error)]
pub enum InputError {
    #[error("expected the payload of the hook on stdin, as Claude Code sends it; `conclaude demo` shows one")]
    Terminal,
    #[error("the payload on stdin did not end within {} s ({bytes} bytes came)", .within.as_secs_f32())]
    Unfinished { within: Duration, bytes: usize },
    #[error("the payload on stdin is larger than {} MiB", .max >> 20)]
    TooLarge { max: usize },
    #[error("cannot read the payload from stdin: {0}")]
    Unreadable(io::Error),
}

pub type Result<T, E = HookError> = std::result::Result<T, E>;
