//! conclaude: one small binary that Claude Code calls for its hook events, and that makes subagents trustworthy.
//!
//! The path of one event is a straight line: parse the payload, plan what applies, run it, decide, render the answer.
//! ARCHITECTURE.md is a tour of the modules; those that tests, benchmarks and fuzz targets need are public.

pub mod agent;
pub mod audit;
pub mod cli;
pub mod config;
pub(crate) mod deadline;
pub(crate) mod decide;
pub mod des;
pub mod dialect;
pub(crate) mod error;
pub mod event;
pub(crate) mod exit;
pub(crate) mod export;
pub(crate) mod file_pattern;
pub mod files;
pub mod finding;
pub(crate) mod git;
pub(crate) mod glob;
pub(crate) mod guard;
pub mod hooks;
pub(crate) mod http;
pub mod install;
pub(crate) mod json;
pub(crate) mod lint;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod messages;
pub(crate) mod notify;
pub(crate) mod outcome;
pub(crate) mod packs;
pub(crate) mod pattern;
pub(crate) mod permission;
pub(crate) mod plan;
pub mod process;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod root;
pub mod rule;
pub mod shell;
pub mod store;
pub mod text;
pub mod transcript;
pub mod types;
pub(crate) mod watch;
pub(crate) mod yaml;

#[cfg(test)]
#[path = "../tests/it/common/cases.rs"]
mod cases;
