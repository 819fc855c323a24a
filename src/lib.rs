//! conclaude: one small binary that Claude Code calls for its hook events, and that makes subagents trustworthy.
//!
//! The path of one event is a straight line: read the payload, plan what applies, run it, answer. Plans and answers
//! are pure data; side effects live in `hooks::run`, `state` and `notify`.

pub mod agent;
pub mod audit;
pub mod cli;
pub mod config;
pub mod decide;
pub mod des;
pub mod dialect;
pub mod error;
pub mod event;
pub mod exit;
pub mod files;
pub mod git;
pub mod glob;
pub mod hooks;
pub mod http;
pub mod install;
pub mod log;
pub mod messages;
pub mod notify;
pub mod outcome;
pub mod pattern;
pub mod plan;
pub mod process;
pub mod root;
pub mod store;
pub mod text;
pub mod transcript;
pub mod types;

#[cfg(test)]
#[path = "../tests/it/common/cases.rs"]
mod cases;
