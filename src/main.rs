//! argv in, exit code out. Events are dispatched before the argument parser is built, because they are frequent.

use std::ffi::OsString;
use std::process::ExitCode;

use conclaude::cli;
use conclaude_core::dialect::HookCall;
use conclaude_core::event::EventKind;
use conclaude_engine::hooks::call;
use conclaude_engine::install::settings::{Caller, IF_TRUSTED, PLUGIN};
use conclaude_os::process;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    process::set_signal_actions();
    match hook_call(&arguments) {
        Some((call, Caller::Project)) => call::call(&call).into(),
        Some((call, Caller::User)) => call::call_if_trusted(&call).into(),
        Some((call, Caller::Plugin)) => call::call_of_plugin(&call).into(),
        None => cli::run().into(),
    }
}

/// `[--client NAME] EVENT [--if-trusted | --plugin]`, and the caller. An event of a newer client is handled like any other.
fn hook_call(arguments: &[OsString]) -> Option<(HookCall, Caller)> {
    let words: Option<Vec<&str>> = arguments.iter().take(5).map(|word| word.to_str()).collect();
    let (client, rest) = match words?.as_slice() {
        [CLIENT, name, rest @ ..] => (Some((*name).to_owned()), rest.to_vec()),
        [first, rest @ ..] if first.starts_with(CLIENT_IS) => {
            (first.strip_prefix(CLIENT_IS).map(str::to_owned), rest.to_vec())
        }
        rest => (None, rest.to_vec()),
    };
    let (name, caller) = match rest.as_slice() {
        [name] => (*name, Caller::Project),
        [name, IF_TRUSTED] => (*name, Caller::User),
        [name, PLUGIN] => (*name, Caller::Plugin),
        _ => return None,
    };
    let event = EventKind::named_or_future(name)?;
    Some((call::of(client.as_deref(), event), caller))
}

const CLIENT: &str = "--client";
const CLIENT_IS: &str = "--client=";
