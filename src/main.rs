//! argv in, exit code out. Events are dispatched before the argument parser is built, since they are frequent.

use std::ffi::OsStr;
use std::process::ExitCode;

use conclaude::event::EventKind;
use conclaude::install::settings::IF_TRUSTED;
use conclaude::{cli, hooks, process};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    process::set_signal_actions();
    let (first, second, third) = (arguments.next(), arguments.next(), arguments.next());
    if let Some(event) = first.as_deref().and_then(OsStr::to_str).and_then(EventKind::named) {
        match (second, third) {
            (None, _) => return hooks::call(event).into(),
            (Some(flag), None) if flag == IF_TRUSTED => return hooks::call_if_trusted(event).into(),
            _ => {}
        }
    }
    cli::run().into()
}
