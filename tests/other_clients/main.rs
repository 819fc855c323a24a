//! Whole sessions of Codex, Copilot, Qwen Code and Gemini CLI, offline, with a scripted model. See README.md in this folder.

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
#[path = "../real_client/http.rs"]
mod http;
#[cfg(target_os = "linux")]
mod model;
#[cfg(target_os = "linux")]
#[path = "../real_client/namespace.rs"]
mod namespace;
#[cfg(target_os = "linux")]
#[path = "../it/common/program.rs"]
mod program;
#[cfg(target_os = "linux")]
mod project;
#[cfg(target_os = "linux")]
mod registration;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod sessions;
#[cfg(target_os = "linux")]
mod wire;

use std::process::ExitCode;

/// Set to 1 where the clients cannot be had: the suite then says that it was skipped, and succeeds.
const SKIP: &str = "CONCLAUDE_SKIP_REAL_CLIENT";

fn main() -> ExitCode {
    if std::env::var_os(SKIP).is_some_and(|value| value == "1") {
        println!("other_clients: skipped, since {SKIP}=1 is set");
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(code) => code,
        Err(missing) => {
            eprintln!(
                "other_clients: {missing}\nother_clients: nothing was tested ({SKIP}=1 skips these tests)"
            );
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
fn run() -> Result<ExitCode, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !namespace::is_inside() {
        // The clients are fetched here, where there still is a network.
        return namespace::enter(&client::Client::fetch_all()?, &arguments);
    }
    namespace::prepare()?;
    Ok(sessions::play(&client::Client::given()?, &arguments))
}

#[cfg(not(target_os = "linux"))]
fn run() -> Result<ExitCode, String> {
    Err("network namespaces are needed, and only Linux has them".into())
}
