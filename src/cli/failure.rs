//! What every subcommand that fails prints.

use super::out::Out;
use crate::exit::Exit;

pub(super) fn fail(what: &str) -> Exit {
    let _ = writeln!(Out::stderr(), "conclaude: {what}");
    Exit::Failure
}
