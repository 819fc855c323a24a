//! The cases of a file, played.

use std::path::PathBuf;
use std::time::Duration;

pub(super) struct CaseResult {
    pub(super) name: String,
    pub(super) line: usize,
    /// What differs, line by line; nothing if it passed.
    pub(super) difference: Vec<String>,
    pub(super) took: Duration,
}

pub(super) struct Suite {
    pub(super) path: PathBuf,
    pub(super) cases: Vec<CaseResult>,
}
