//! Limits and versions of Claude Code that others are derived from.

use std::time::Duration;

/// Longer strings of an answer are cut; counted in UTF-16 units.
pub const MAX_ANSWER: usize = 10_000;

/// No line of a transcript is longer.
pub const MAX_TRANSCRIPT_LINE_BYTES: u64 = 32 << 20;

/// A hook that was asked to stop is killed after this.
pub const KILLED_AFTER: Duration = Duration::from_millis(1_400);

/// The version that all of this was observed in.
pub const TESTED_VERSION: &str = "2.1.325";

/// Since then the tool that starts agents is called `Agent`.
pub const OLDEST_VERSION: [u64; 3] = [2, 1, 63];
