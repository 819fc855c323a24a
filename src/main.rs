//! argv in, exit code out. Events are dispatched before any argument parser is touched: they come all day long.

use std::ffi::OsStr;
use std::process::ExitCode;

#[cfg(any(target_os = "linux", target_os = "macos"))]
use conclaude::arena::Arena;
use conclaude::events::Event;
use conclaude::registration::IF_TRUSTED;
use conclaude::{cli, command, hooks};

// Elsewhere a thread's own variables may themselves come from the allocator.
#[cfg(any(target_os = "linux", target_os = "macos"))]
#[global_allocator]
static MEMORY: Arena = Arena::new();

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    command::hear_of_children();
    let (first, second, third) = (arguments.next(), arguments.next(), arguments.next());
    if let Some(event) = first.as_deref().and_then(OsStr::to_str).and_then(Event::named) {
        match (second, third) {
            (None, _) => return hooks::call(event).into(),
            (Some(flag), None) if flag == IF_TRUSTED => return hooks::call_if_trusted(event).into(),
            _ => {}
        }
    }
    cli::run().into()
}
