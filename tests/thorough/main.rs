//! Tables, corpora and comparisons of the whole program. Each test runs hundreds of cases, so they have a target of their own:
//! `cargo test --test thorough`.

#![allow(clippy::too_many_lines, reason = "a session or a table of cases is as long as it is")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

#[path = "../it/common/mod.rs"]
mod common;

mod audit_memory;
mod bounds;
mod client_payloads;
mod client_tool_calls;
mod corpus;
mod everyday_commands;
mod hostile_text;
mod imported_hooks;
mod pack_tables;
mod same_decisions;
mod sandbox_questions;
