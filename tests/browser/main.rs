//! The page of `conclaude report` in a real browser: it is clicked, filtered, typed into, printed and photographed. Needs Debian's
//! `chromium`; run by name: `cargo test --test browser`. The pictures are in `target/tmp/browser`.

#![allow(clippy::too_many_lines, reason = "a session or a table of cases is as long as it is")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its figures"
)]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

#[path = "../it/common/mod.rs"]
mod common;

#[cfg(target_os = "linux")]
mod chromium;
#[cfg(target_os = "linux")]
mod documented;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
mod site;
