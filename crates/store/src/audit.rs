//! The audit trail: one record per decision, chained by hash, so that a changed, removed, inserted or reordered record
//! is found. `.conclaude/audit/audit-<first number>.jsonl`, a new file when one is full; the chain goes on across them.

use std::path::Path;

mod anchor;
mod append;
mod chain;
pub mod fields;
mod lines;
mod pending;
mod query;
mod read;
pub mod reasons;
mod record;
mod reset;
mod runs;
mod stats;
mod tail;
mod trace;
mod trail;
mod verify;
mod writer;

pub use query::Filter;
pub use read::last_session;
pub use read::{Mark, newest};
pub use read::{Reader, TrailEntry};
pub use record::{AppliedRule, Blocks, CommandRecord, Record, Skip, ToolRecord};
pub use record::{MAX_FILES, STILL_RUN, in_record};
pub use stats::Stats;
pub use trace::TraceParent;
pub use trail::{DEFAULT_MAX_FILE_BYTES, Trail};
pub use verify::{Verdict, verify};

use conclaude_core::config::AuditConfig;
use conclaude_os::budget::Budget;

/// Writes a record as the config asks for: `Ok` with what went wrong where that is only a warning.
///
/// # Errors
/// When the record cannot be written and must be.
pub fn write(
    root: &Path,
    config: Option<&AuditConfig>,
    record: &Record,
    budget: &Budget,
) -> Result<Option<String>, String> {
    let config = config.cloned().unwrap_or_default();
    if config.enabled == Some(false) {
        return Ok(None);
    }
    let trail = Trail::of(root, config.max_file_bytes.map(|bytes| bytes.get().into())).within(budget);
    match trail.append(record) {
        Ok(()) => Ok(None),
        Err(error) => {
            let what = format!("the audit trail cannot be written: {error}");
            if config.required == Some(true) { Err(what) } else { Ok(Some(what)) }
        }
    }
}

#[cfg(test)]
mod tests;
