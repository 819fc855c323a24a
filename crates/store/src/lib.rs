//! Everything that conclaude stores and reads: state, config files, transcripts, the audit trail and its export.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "a table of cases is as long as it is"))]

pub mod audit;
pub mod export;
pub mod load;
pub mod root;
pub mod store;
pub mod transcript;
