//! Errors of the arguments: the wrong word, and the right one.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::fail;
use super::out::Out;
use conclaude_core::exit::Exit;
use conclaude_core::text::printable_untagged;
use conclaude_engine::install::settings::ORIGINAL;

/// Wrong arguments are exit 1: clap's own 2 would block.
pub(super) fn refuse(error: &clap::Error, command: fn() -> clap::Command) -> Exit {
    let (is_help, text) =
        (matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion), error.render());
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        _ if is_help => {
            let _ = Out::stdout().document(&text.ansi().to_string());
            return Exit::Success;
        }
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(typed))) => {
            return fail(&unknown_subcommand(typed, command()));
        }
        _ => {}
    }
    // Clap repeats the arguments. Their escapes cannot be distinguished from those of clap.
    let is_plain = std::env::args().all(|word| printable_untagged(&word) == word);
    let _ = if is_plain {
        Out::stderr().document(&text.ansi().to_string())
    } else {
        write!(Out::stderr(), "{text}")
    };
    Exit::Failure
}

/// The message about an unknown subcommand, with a suggestion.
fn unknown_subcommand(typed: &str, mut command: clap::Command) -> String {
    let mut path = String::from("conclaude");
    // `conclaude audit shwo` is compared with the subcommands of `audit`.
    for word in std::env::args().skip(1).filter(|word| !word.starts_with('-')) {
        let Some(inner) = command.find_subcommand(&word).cloned() else { break };
        path = format!("{path} {word}");
        command = inner;
    }
    let is_nested = path != "conclaude";
    let what = if is_nested { "subcommand" } else { "event or command" };
    let names = command.get_subcommands().map(clap::Command::get_name).filter(|name| *name != ORIGINAL);
    let hint = match conclaude_core::text::nearest(typed, names) {
        _ if typed == "version" && !is_nested => "`conclaude --version` prints the version".into(),
        Some(near) if is_nested => format!("did you mean `{path} {near}`?"),
        Some(near) => format!("did you mean `{near}`?"),
        None if is_nested => format!("`{path} --help` lists its subcommands"),
        None => "`conclaude --help` lists the commands, `conclaude events` the events".into(),
    };
    format!("unknown {what} `{typed}`; {hint}")
}
