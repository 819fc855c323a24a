//! argv in, exit code out. Events are dispatched before the argument parser is built, since they are frequent.

use std::ffi::OsStr;
use std::process::ExitCode;

use conclaude::cli;
use conclaude_core::event::EventKind;
use conclaude_engine::hooks::call;
use conclaude_engine::install::settings::IF_TRUSTED;
use conclaude_os::process;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    process::set_signal_actions();
    let (first, second, third) = (arguments.next(), arguments.next(), arguments.next());
    // An event of a newer client is handled like any other.
    let event = first.as_deref().and_then(OsStr::to_str).and_then(EventKind::named_or_future);
    match (event, second.as_deref(), third) {
        (Some(event), None, _) => call::call(event).into(),
        (Some(event), Some(flag), None) if flag == IF_TRUSTED => call::call_if_trusted(event).into(),
        _ => cli::run().into(),
    }
}
