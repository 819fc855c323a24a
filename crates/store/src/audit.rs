//! The audit trail: one record per decision. Records are chained by hash, so that a changed, removed, inserted or reordered
//! record is found. They are in `.conclaude/audit/audit-<first number>.jsonl`. A full file is followed by a new one; the
//! chain continues across files.

use std::io;
use std::path::Path;

use thiserror::Error;

mod append;
mod chain;
mod lines;
mod read;
pub mod reasons;
mod record;
mod runs;
mod stats;
mod trail;
mod verify;
mod writer;

pub use read::{Filter, Mark, Reader, TrailEntry, last_session, newest};
pub use record::{
    ADDED, AppliedRule, Blocks, CommandRecord, MAX_FILES, MAX_OUTPUT_BYTES, OUTPUT_LIMITS, Record, STILL_RUN,
    Skip, ToolRecord, TraceParent, fields, in_record, remove_output, words,
};
pub use stats::{CommandStats, Stats};
pub use trail::{DEFAULT_MAX_FILE_BYTES, Trail};
pub use verify::{Verdict, verify};

use conclaude_core::config::AuditConfig;
use conclaude_os::budget::Budget;

#[derive(Debug, Error)]
#[error("the audit trail cannot be written: {0}")]
pub struct AuditError(#[from] io::Error);

/// Writes a record if the config asks for it. A failure is returned as a warning, `Ok(Some(…))`, unless the config
/// requires the trail.
///
/// # Errors
/// When the record cannot be written and `required` is set.
pub fn write(
    root: &Path,
    config: Option<&AuditConfig>,
    record: &Record,
    budget: &Budget,
) -> Result<Option<AuditError>, AuditError> {
    let config = config.cloned().unwrap_or_default();
    if config.enabled == Some(false) {
        return Ok(None);
    }
    let trail = Trail::of(root, config.max_file_bytes.map(|bytes| bytes.get().into())).within(budget);
    match trail.append(record) {
        Ok(()) => Ok(None),
        Err(error) if config.required == Some(true) => Err(error.into()),
        Err(error) => Ok(Some(error.into())),
    }
}

#[cfg(test)]
mod tests;
