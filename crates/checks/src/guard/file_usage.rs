//! How a call uses a file, if a rule may treat that use differently.

use std::ffi::OsStr;
use std::path::Path;

use super::file_checks::writes;
use super::resolve::{Effects, Touch};
use super::rules::FileUsage;
use shell_effects::{Access, SimpleCommand, locks_of, program_name, reads_variables, restores};

/// How a call uses a file.
pub(super) fn usage(effects: &Effects, touch: &Touch) -> FileUsage {
    let command = touch.command.and_then(|index| effects.commands.get(index));
    let words = command.map_or(&[][..], |command| command.words.as_slice());
    let (program, arguments) = match words.split_first() {
        Some((program, arguments)) => (program.as_str(), arguments),
        None => ("", words),
    };
    if matches!(touch.access, Access::Write | Access::Update) && is_set_back(program, arguments) {
        return FileUsage::Restores;
    }
    if writes(touch.access)
        && touch.access != Access::Link
        && !touch.exists
        && !effects.link_makers.may_redirect(touch)
    {
        return FileUsage::Creates;
    }
    let (Some(index), Some(file)) = (touch.command, Path::new(touch.named()).file_name()) else {
        return FileUsage::Other;
    };
    let later = effects.commands.get(index + 1..).unwrap_or_default();
    match touch.access {
        Access::Read if is_sourced(command, file) => FileUsage::Sources,
        Access::Delete if is_written_again(file, later) => FileUsage::Restores,
        _ => FileUsage::Other,
    }
}

/// Whether a shell reads the file as its own commands, or a program its variables. Input that is redirected to `.` is not run.
fn is_sourced(command: Option<&SimpleCommand>, file: &OsStr) -> bool {
    let Some(command) = command else { return false };
    let Some((program, arguments)) = command.words.split_first() else { return false };
    if command.sources() {
        return arguments.iter().any(|word| Path::new(word).file_name() == Some(file));
    }
    gives_variables(program, arguments, file)
}

/// Whether a program is given the variables in a file, and names it for nothing else: `node --env-file=.env server.js`.
fn gives_variables(program: &str, arguments: &[String], file: &OsStr) -> bool {
    let is_file = |text: &str| Path::new(text).file_name() == Some(file);
    let (mut uses, mut given) = (0, 0);
    let before = std::iter::once("").chain(arguments.iter().map(String::as_str));
    for (before, word) in before.zip(arguments) {
        let (option, value) = word.split_once('=').unwrap_or((before, word));
        if is_file(value) || is_file(word) {
            uses += 1;
            given += usize::from(reads_variables(program_name(program), option));
        }
    }
    uses > 0 && uses == given
}

/// Whether the program writes a committed version of the file: `git restore FILE`, `git checkout --theirs FILE`.
fn is_set_back(program: &str, arguments: &[String]) -> bool {
    arguments.first().is_some_and(|subcommand| restores(program_name(program), subcommand))
}

/// Whether a later command runs the program that writes the file: `rm package-lock.json && npm install`.
fn is_written_again(file: &OsStr, later: &[SimpleCommand]) -> bool {
    let programs = later.iter().filter_map(|command| command.words.first());
    programs.flat_map(|word| locks_of(program_name(word))).any(|lock| file == *lock)
}
