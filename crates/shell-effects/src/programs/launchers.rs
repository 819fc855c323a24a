//! Commands that a subcommand runs: here in another environment, in a container, or on another machine.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::analysis::stream;
use crate::programs::arguments::{self, Arguments, Call};
use crate::programs::network;
use crate::programs::program::{Launch, Place, Program, ShellTexts, Subcommand, SubcommandAction};

/// The command of a subcommand, if that runs one.
pub(crate) fn launch(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let Some((subcommand, launch, rest)) = launcher(call.program, words) else {
        return analyzer.unknown_program(call.fields);
    };
    let (options, length) = arguments::parse_up_to(subcommand.options, rest, true);
    if let Some(code) = options.value(launch.code) {
        return analyzer.inside(call.command, launch.place != Place::Here, |analyzer| {
            analyzer.subshell(|analyzer| analyzer.code(code, "sh"));
        });
    }
    if launch.place == Place::Elsewhere {
        mounts(analyzer, &options, call.command);
    }
    if launch.place == Place::RemoteShell {
        network::ssh_options(analyzer, &options);
    }
    let command = command_of(&launch, rest, length);
    let before = call.fields.get(..call.fields.len() - command.len()).unwrap_or_default();
    let is_remote = launch.place == Place::RemoteShell;
    // A key is used by ssh, and shown to nobody.
    let is_key = |field: &Field| is_remote && options.values(&["-i"]).any(|key| key == field);
    let before: Vec<Field> = before.iter().filter(|field| !is_key(field)).cloned().collect();
    analyzer.unknown_program(&before);
    if is_remote && length < rest.len() {
        let code = stream::joined(command, " ");
        analyzer.inside(call.command, launch.place != Place::Here, |analyzer| {
            if command.is_empty() {
                // The shell over there reads what is sent.
                analyzer.code_from_input("ssh", Language::NewShell);
            } else {
                analyzer.subshell(|analyzer| analyzer.code(&code, "ssh"));
            }
        });
    } else if !command.is_empty() {
        analyzer.inside(call.command, launch.place != Place::Here, |analyzer| analyzer.run_fields(command));
    }
}

/// Files of this machine that a container is given: `-v /data:/data`, `--mount type=bind,source=/data,target=/data`.
fn mounts(analyzer: &mut Analyzer<'_>, options: &Arguments, command: usize) {
    let volumes = options
        .values(&["-v", "--volume"])
        .filter_map(|volume| Some((volume, volume.text.split(':').next()?)));
    let sources = options.values(&["--mount"]).filter_map(|mount| {
        let mut parts = mount.text.split(',').filter_map(|part| part.split_once('='));
        parts.find(|(key, _)| matches!(*key, "source" | "src")).map(|(_, source)| (mount, source))
    });
    for (field, source) in volumes.chain(sources) {
        // Others are the names of volumes.
        if field.is_literal() && source.starts_with(['/', '.', '~']) {
            analyzer.touch(Access::Mount, &Field::literal(source), command);
        }
    }
}

/// The subcommand that runs a command, and the words after it.
fn launcher<'f>(program: &Program, words: &'f [Field]) -> Option<(&'static Subcommand, Launch, &'f [Field])> {
    for subcommand in program.subcommands {
        let SubcommandAction::Launch(launch) = subcommand.action else { continue };
        for name in subcommand.names {
            if let Some(rest) = after(program, name, words) {
                return Some((subcommand, launch, rest));
            }
        }
    }
    None
}

/// The words after a subcommand, with the options of the program before it.
fn after<'f>(program: &Program, subcommand: &str, words: &'f [Field]) -> Option<&'f [Field]> {
    let mut rest = words;
    let mut options = program.subcommand_options.unwrap_or_default();
    for part in subcommand.split_whitespace() {
        let (_, length) = arguments::parse_up_to(options, rest, true);
        let (found, after) = rest.get(length..)?.split_first()?;
        if found.text != part {
            return None;
        }
        options = program.group_options(part).unwrap_or_default();
        rest = after;
    }
    Some(rest)
}

/// The words of the command: after `--` if that is given, else after the operands.
fn command_of<'f>(launch: &Launch, rest: &'f [Field], length: usize) -> &'f [Field] {
    let position = |names: &[&str], skipped: usize| {
        let found = rest.iter().skip(skipped).position(|field| names.contains(&field.text.as_str()));
        found.map(|at| skipped + at + 1)
    };
    let dashes = if launch.takes_dashes { position(&["--"], length) } else { None };
    let start = match dashes.or_else(|| position(launch.starts, 0)) {
        Some(start) => start,
        None if launch.starts.is_empty() => (length + launch.operands).min(rest.len()),
        None => rest.len(),
    };
    let command = rest.get(start..).unwrap_or_default();
    if !launch.takes_variables {
        return command;
    }
    let assigned = command.iter().take_while(|field| field.text.contains('=')).count();
    command.get(assigned..).unwrap_or_default()
}

/// Texts that a shell runs: `nix-shell --run CODE`, `hyperfine CODE`, `nodemon -x CODE`.
pub(crate) fn texts(analyzer: &mut Analyzer<'_>, call: &Call<'_>, texts: ShellTexts) {
    let mut codes: Vec<&Field> = call.arguments.values(texts.options).collect();
    if texts.are_operands {
        codes.extend(&call.arguments.operands);
    }
    if codes.is_empty() {
        return analyzer.unknown_program(call.fields);
    }
    for code in codes {
        analyzer.inside(call.command, texts.place != Place::Here, |analyzer| {
            analyzer.subshell(|analyzer| analyzer.code(code, "sh"));
        });
    }
}
