//! conclaude: one small binary that Claude Code calls for its hook events, and that makes subagents trustworthy.
//!
//! The layers below the program are separate crates: see ARCHITECTURE.md. This crate has the subcommands, and the names from the
//! specification.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "a table of cases is as long as it is"))]

pub mod cli;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod watch;

pub use conclaude_core::{config, event, types};
pub use conclaude_engine::hooks;
