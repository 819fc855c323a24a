//! conclaude: one small binary that Claude Code calls for its hook events, and that makes subagents trustworthy.
//!
//! The path of one event is a straight line: read the payload, plan what applies, run it, answer. Plans and answers
//! are pure data; side effects live in `hooks::run`, `state` and `notify`.

pub mod agent;
pub mod agents;
pub mod answer;
pub mod arena;
pub mod audit;
pub mod cli;
pub mod command;
pub mod config;
pub mod des;
pub mod events;
pub mod files;
pub mod frontmatter;
pub mod glob;
pub mod hooks;
pub mod http;
pub mod log;
pub mod notify;
pub mod outbox;
pub mod outcome;
pub mod pattern;
pub mod registration;
pub mod settings;
pub mod starter;
pub mod state;
pub mod text;
pub mod transcript;
pub mod trust;
pub mod types;
