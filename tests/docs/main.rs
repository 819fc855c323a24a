//! The pages of the site and the README: their examples run, their reference is what the program says, their sentences are short.
//!
//! With `UPDATE_DOCS=1` the reference, the pictures and the output of `console` blocks are written again.
//! `DOCS_PAGE=how-to/rust` runs the examples of one page.

#![allow(clippy::too_many_lines, reason = "a session or a table of cases is as long as it is")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

mod channels;
#[cfg(unix)]
#[path = "../it/common/mod.rs"]
mod common;
mod english;
#[cfg(unix)]
mod examples;
mod pages;
#[cfg(unix)]
mod pictures;
#[cfg(unix)]
mod reference;
