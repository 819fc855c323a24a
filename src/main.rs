//! argv in, exit code out. Events are dispatched before any argument parser is touched: they come all day long.

use std::process::ExitCode;

use conclaude::events::Event;
use conclaude::{cli, hooks};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if let (Some(first), None) = (arguments.next(), arguments.next())
        && let Some(event) = first.to_str().and_then(Event::named)
    {
        return hooks::call(event).into();
    }
    cli::run().into()
}
