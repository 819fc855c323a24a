//! Whole sessions of the real client, offline, with a scripted model: what the model was sent and what the user is
//! shown because of conclaude. See README.md in this folder.

#![allow(clippy::too_many_lines, reason = "a session or a table of cases is as long as it is")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, and prints what it found"
)]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod http;
#[cfg(target_os = "linux")]
mod mock;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
#[path = "../it/common/program.rs"]
mod program;
#[cfg(target_os = "linux")]
mod project;
#[cfg(target_os = "linux")]
mod runner;
#[cfg(target_os = "linux")]
mod scenarios;
#[cfg(target_os = "linux")]
mod script;
#[cfg(target_os = "linux")]
mod session_result;

use std::process::ExitCode;

/// Set to 1 where the client cannot be had: the suite then says that it was skipped, and succeeds.
const SKIP: &str = "CONCLAUDE_SKIP_REAL_CLIENT";

fn main() -> ExitCode {
    if std::env::var_os(SKIP).is_some_and(|value| value == "1") {
        println!("real_client: skipped, since {SKIP}=1 is set");
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(code) => code,
        Err(missing) => {
            eprintln!("real_client: {missing}\nreal_client: nothing was tested ({SKIP}=1 skips these tests)");
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
fn run() -> Result<ExitCode, String> {
    runner::run(&std::env::args().skip(1).collect::<Vec<_>>())
}

#[cfg(not(target_os = "linux"))]
fn run() -> Result<ExitCode, String> {
    Err("network namespaces are needed, and only Linux has them".into())
}
