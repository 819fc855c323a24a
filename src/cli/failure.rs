//! What every subcommand that fails prints.

use super::out::Out;
use conclaude_core::exit::Exit;

pub(super) fn fail(what: &str) -> Exit {
    let _ = writeln!(Out::stderr(), "conclaude: {what}");
    Exit::Failure
}
