//! The fault suite: what happens when everything goes wrong at once. Minutes long, so that it has a target of its own;
//! `README.md` beside this file says what is in it and how to run it.

#![allow(clippy::too_many_lines, reason = "a session or a table of cases is as long as it is")]
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its figure"
)]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

#[path = "../it/common/mod.rs"]
mod common;
mod support;

mod configs;
mod floods;
mod leftovers;
mod long_trail;
mod machine;
mod payloads;
mod report;
mod signals;
mod timeouts;
mod trail;
mod transcripts;
