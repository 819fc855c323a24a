//! What the guards allow is run by the real bash: nothing that is guarded may happen. See README.md in this folder.

#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "the sandbox is made of namespaces"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, and prints its figures"
)]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

#[cfg(target_os = "linux")]
mod generator;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod project;
#[cfg(target_os = "linux")]
mod runner;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod shrink;
#[cfg(target_os = "linux")]
mod worker;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = if arguments.first().is_some_and(|first| first == sandbox::WORKER) {
        worker::run()
    } else {
        runner::run(&arguments)
    };
    match run {
        Ok(code) => code,
        Err(error) => {
            eprintln!("differential: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("differential: only on Linux");
    ExitCode::SUCCESS
}
