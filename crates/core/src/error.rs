//! Why a hook could not be handled.

use std::fmt;

use crate::types::PayloadError;

/// Always exit 1, never a block.
#[derive(Debug)]
pub enum HookError {
    /// stdin did not give a payload.
    Input(String),
    Payload(PayloadError),
    /// We were asked to stop.
    Interrupted(String),
    /// A record that must be written cannot be.
    Audit(String),
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookError::Input(reason) | HookError::Interrupted(reason) | HookError::Audit(reason) => {
                f.write_str(reason)
            }
            HookError::Payload(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HookError {}

impl From<PayloadError> for HookError {
    fn from(error: PayloadError) -> Self {
        HookError::Payload(error)
    }
}

pub type Result<T, E = HookError> = std::result::Result<T, E>;
