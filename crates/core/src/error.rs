//! Why a hook could not be handled.

use thiserror::Error;

use crate::types::PayloadError;

/// Always exit 1, never a block.
#[derive(Debug, Error)]
pub enum HookError {
    /// There is no payload on stdin.
    #[error("{0}")]
    Input(String),
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// We were asked to stop.
    #[error("{0}")]
    Interrupted(String),
    /// A required record cannot be written.
    #[error("{0}")]
    Audit(String),
}

pub type Result<T, E = HookError> = std::result::Result<T, E>;
