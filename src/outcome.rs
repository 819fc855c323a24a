//! What handling a hook came to, between those who decide and the one who answers.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::config::ConfigError;
use crate::types::PayloadError;

/// What a hook decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing is in the way.
    Allow,
    /// The agent is sent back, with this reason.
    Block(String),
    /// The tool is not used, for this reason.
    Deny(String),
}

/// What a hook came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookResult {
    /// What was decided.
    pub decision: Decision,
    /// What is to be shown.
    pub message: Option<String>,
    /// What Claude is told beside it.
    pub context: Option<String>,
    /// What the tool is given instead.
    pub updated_input: Option<Map<String, Value>>,
    /// What waited in the outbox and is shown with this: it is removed once the answer was written.
    pub delivered: Vec<PathBuf>,
}

impl HookResult {
    /// Allowed, and nothing to show.
    #[must_use]
    pub fn success() -> Self {
        HookResult {
            decision: Decision::Allow,
            message: None,
            context: None,
            updated_input: None,
            delivered: Vec::new(),
        }
    }

    /// Allowed, with something to show.
    #[must_use]
    pub fn showing(message: impl Into<String>) -> Self {
        HookResult { message: Some(message.into()), ..HookResult::success() }
    }

    /// Blocked for this reason.
    #[must_use]
    pub fn blocked(reason: impl Into<String>) -> Self {
        HookResult { decision: Decision::Block(reason.into()), ..HookResult::success() }
    }

    /// A tool is not used, for this reason.
    #[must_use]
    pub fn denied(reason: impl Into<String>) -> Self {
        HookResult { decision: Decision::Deny(reason.into()), ..HookResult::success() }
    }
}

/// Why a hook could not be handled. Always exit 1, never a block.
#[derive(Debug)]
pub enum HookError {
    /// stdin did not give a payload.
    Input(String),
    /// The payload is not valid.
    Payload(PayloadError),
    /// The config is not valid.
    Config(Box<ConfigError>),
    /// We were told to stop.
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
            HookError::Config(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HookError {}

impl From<PayloadError> for HookError {
    fn from(error: PayloadError) -> Self {
        HookError::Payload(error)
    }
}

impl From<ConfigError> for HookError {
    fn from(error: ConfigError) -> Self {
        HookError::Config(Box::new(error))
    }
}

/// The result of handling a hook.
pub type Result<T, E = HookError> = std::result::Result<T, E>;
