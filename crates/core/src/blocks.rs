//! Blocks of a stop: what caused one, and what counting it came to.

use std::io;

use thiserror::Error;

use crate::messages;
use crate::outcome::{Outcome, Verdict};

/// What counting a block came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCount {
    /// It may block; this is how often it has.
    Blocks(u32),
    /// It has blocked as often as it may.
    Exhausted,
}

/// Why a block could not be counted.
#[derive(Debug, Error)]
pub enum CountError {
    #[error("there is no agent to count for")]
    NoAgent,
    #[error(transparent)]
    State(#[from] io::Error),
}

/// What a stop is blocked by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockCause {
    /// The checks, by name.
    pub checks: Vec<String>,
    /// One of them timed out.
    pub timeout: bool,
}

impl BlockCause {
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> BlockCause {
        let blocking = || outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Block);
        let mut checks: Vec<String> = blocking().filter_map(messages::check).collect();
        checks.dedup();
        BlockCause { checks, timeout: blocking().filter_map(Outcome::run).any(|run| run.is_timeout) }
    }
}
