//! All pure code of conclaude: payloads, configs, plans, decisions, messages. No files, processes, environment or clock.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests read fixtures and take times"
    ),
    allow(clippy::too_many_lines, reason = "a table of cases is as long as it is")
)]

pub mod agent;
pub mod blocks;
pub mod config;
pub mod coverage;
pub mod decide;
pub mod dialect;
pub mod error;
pub mod event;
pub mod exit;
pub mod file_pattern;
pub mod finding;
pub mod json;
pub mod messages;
pub mod outcome;
pub mod packs;
pub mod pattern;
pub mod permit;
pub mod plan;
pub mod prices;
pub mod rule;
pub mod spending;
pub mod text;
pub mod types;
pub mod variables;
pub mod yaml;
