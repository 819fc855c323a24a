//! Blocks of a stop: their causes and their count.

use std::io;

use thiserror::Error;

use crate::messages;
use crate::outcome::{CommandRun, Obstacle, Outcome, Verdict};

/// The result of counting a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCount {
    /// It may block. The number of blocks so far.
    Blocks(u32),
    /// The limit on blocks is reached.
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

/// The cause of a block of a stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockCause {
    /// The names of the checks.
    pub checks: Vec<String>,
    /// Why some of them could not check anything.
    pub obstacles: Vec<Obstacle>,
}

impl BlockCause {
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> BlockCause {
        let blocking = || outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Block);
        let mut checks: Vec<String> = blocking().filter_map(messages::check).collect();
        checks.dedup();
        let obstacles = blocking().filter_map(Outcome::run).filter_map(CommandRun::obstacle).collect();
        BlockCause { checks, obstacles }
    }
}
