//! Commands that a subcommand runs: in another environment here, in a container, or on another machine.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::analysis::stream;
use crate::programs::action::{Launch, Place, ShellTexts, Subcommand, SubcommandAction};
use crate::programs::arguments::{self, Arguments, Call};
use crate::programs::program::{OperandKind, Program};
use crate::programs::{network, own_programs};
use crate::{Access, Base};

/// The command of a subcommand, if it runs one.
pub(crate) fn launch(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    options_before(analyzer, call, words);
    let Some((subcommand, launch, rest)) = launcher(call.program, words) else {
        changes_other_directories(analyzer, call);
        return analyzer.in_directory(&directories_before(call), |analyzer| unlaunched(analyzer, call));
    };
    if !launch.own.is_empty() {
        // It may also be a script of the package.
        changes_other_directories(analyzer, call);
        analyzer.in_directory(&directories_before(call), |analyzer| unlaunched(analyzer, call));
    }
    let (options, length) = arguments::parse_up_to(subcommand.options, rest, true);
    let mut directories = directories_before(call);
    directories.extend(options.directories(subcommand.options));
    analyzer.files_of_flags(subcommand.options, &options, call.command);
    analyzer.in_directory(&directories, |analyzer| {
        run_launched(analyzer, call, &LaunchedCommand { launch, options: &options, rest, length });
    });
}

/// The options of the program, and those of a group of subcommands: `docker -H HOST compose -f FILE up`.
fn options_before(analyzer: &mut Analyzer<'_>, call: &Call<'_>, words: &[Field]) {
    let mut rest = words;
    let mut flags = call.program.subcommand_options;
    while let Some(known) = flags {
        let (options, length) = arguments::parse_up_to(known, rest, true);
        analyzer.files_of_flags(known, &options, call.command);
        let Some((subcommand, after)) = rest.get(length..).and_then(<[Field]>::split_first) else { return };
        flags = call.program.group_options(&subcommand.text);
        rest = after;
    }
}

/// A subcommand that is not known.
fn unlaunched(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is = |name: &str| call.fields.iter().any(|field| field.text == name);
    // A script that a later command runs.
    if is("pkg") && is("set") {
        let scripts = call.fields.iter().filter(|field| field.text.starts_with("scripts."));
        for code in scripts.filter_map(|script| Some(script.with(script.text.split_once('=')?.1))) {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
        }
    }
    if call.program.copies_from_containers
        && call.fields.iter().skip(1).take(2).any(|field| field.text == "cp")
    {
        return analyzer.unknown_program(&container_paths(call.fields));
    }
    let is_compose = call.program.composes || is("compose");
    if call.program.runs_package_scripts {
        changes_package(analyzer, call);
    }
    // Only `config` and `convert` show the variables that containers get.
    if !is_compose || is("config") || is("convert") {
        return analyzer.unknown_program(call.fields);
    }
    let mut words = Vec::new();
    let mut is_value = false;
    for field in call.fields {
        let is_given = is_value || field.text.starts_with("--env-file=");
        is_value = field.text == "--env-file";
        if !is_given {
            words.push(field.clone());
        }
    }
    analyzer.unknown_program(&words);
}

/// `npm pkg set` and `npm init` write the file of the package.
fn changes_package(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let file = Field::literal("package.json");
    let words: Vec<&str> = call.fields.iter().skip(1).map(|field| field.text.as_str()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.starts_with('-')).collect();
    match words.as_slice() {
        ["pkg", "set" | "delete" | "fix", ..] => analyzer.touch(Access::Write, &file, call.command),
        // In a directory that is not known it is most likely a new one.
        ["init", ..] if !analyzer.state.bases().contains(&Base::Unknown) => {
            analyzer.if_missing("package.json", |analyzer| analyzer.touch(Access::Write, &file, call.command))
        }
        _ => {}
    }
}

/// Subcommands that change nothing in the directory that they work in, whichever program has them.
const READING_SUBCOMMANDS: &[&str] =
    &["help", "info", "list", "ls", "outdated", "test", "vet", "view", "why"];

/// Subcommands that only show something if nothing else follows: `npm audit fix`, `npm version patch`.
const SHOWING_SUBCOMMANDS: &[&str] = &["audit", "config", "env", "version"];

/// What may follow those.
const SHOWS: &[&str] = &["get", "list", "ls"];
const SHOWING_OPTIONS: &[&str] =
    &["--images", "--json", "--production", "--profiles", "--quiet", "--services", "--volumes", "-q"];

/// Whether a program changes nothing in the directory that it works in.
pub(crate) fn only_reads(program: &Program, words: &[Field]) -> bool {
    let before = program.subcommand_options.unwrap_or_default();
    let flags = [program.options, before, program.harmless].join(" ");
    match program.operands {
        OperandKind::Subcommand => subcommand_only_reads(program, &flags, words),
        OperandKind::Target => targets_only_read(&flags, words),
        OperandKind::Directory => false,
    }
}

fn targets_only_read(flags: &str, words: &[Field]) -> bool {
    // `-j 4`, `CC=clang`.
    let is_target =
        |word: &&Field| !word.text.contains('=') && !word.text.bytes().all(|byte| byte.is_ascii_digit());
    let operands = arguments::parse(flags, words).operands;
    let mut targets = operands.iter().filter(is_target).peekable();
    targets.peek().is_some() && targets.all(|target| READING_SUBCOMMANDS.contains(&target.text.as_str()))
}

fn subcommand_only_reads(program: &Program, flags: &str, words: &[Field]) -> bool {
    let Some((subcommand, rest)) = first_operand(flags, words) else { return false };
    if let Some(options) = program.group_options(&subcommand.text) {
        // `npm config get`, `docker container ls`.
        return first_operand(options, rest).is_some_and(|(action, rest)| {
            SHOWS.contains(&action.text.as_str()) || shows(action, options, rest)
        });
    }
    let is_script = program.runs_package_scripts && matches!(subcommand.text.as_str(), "run" | "run-script");
    if is_script {
        return first_operand(flags, rest).is_some_and(|(script, _)| script.text == "test");
    }
    shows(subcommand, flags, rest)
}

/// The first operand, and the words after it. `None` if an option that is not known may take it as its value.
fn first_operand<'f>(flags: &str, words: &'f [Field]) -> Option<(&'f Field, &'f [Field])> {
    // `cargo +nightly test`.
    let words = match words {
        [first, rest @ ..] if first.text.starts_with('+') => rest,
        _ => words,
    };
    let (_, length) = arguments::parse_up_to(flags, words, true);
    let (operand, rest) = words.get(length..)?.split_first()?;
    let option = length.checked_sub(1).and_then(|last| words.get(last));
    let may_take = option.is_some_and(|option| {
        let is_described = |flag: &str| flag.split(['=', '?', '!']).next() == Some(option.text.as_str());
        option.text.starts_with('-')
            && !option.text.contains('=')
            && !flags.split_ascii_whitespace().any(is_described)
    });
    if may_take { None } else { Some((operand, rest)) }
}

fn shows(subcommand: &Field, flags: &str, rest: &[Field]) -> bool {
    let name = subcommand.text.as_str();
    if READING_SUBCOMMANDS.contains(&name) {
        return true;
    }
    let arguments = arguments::parse(flags, rest);
    let is_shown = match arguments.operands.first() {
        Some(action) => SHOWS.contains(&action.text.as_str()),
        None => {
            let is_directory = |flag: &str| matches!(arguments::file_access(flags, flag), Some(b'd' | b'p'));
            arguments
                .flags
                .iter()
                .all(|(flag, _)| SHOWING_OPTIONS.contains(&flag.as_str()) || is_directory(flag))
        }
    };
    SHOWING_SUBCOMMANDS.contains(&name) && is_shown
}

/// A program with many subcommands may change anything in the directory that an option names.
pub(crate) fn changes_other_directories(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if !only_reads(call.program, call.fields.get(1..).unwrap_or_default()) {
        let directories = directories_before(call);
        directories.iter().for_each(|directory| analyzer.touch(Access::Checkout, directory, call.command));
    }
}

/// The directories in options before the subcommand.
fn directories_before(call: &Call<'_>) -> Vec<Field> {
    let flags = call.program.subcommand_options.unwrap_or_default();
    let words = call.fields.get(1..).unwrap_or_default();
    if flags.contains("=d") {
        // Package managers also take them after the subcommand.
        let only_before = !call.program.runs_package_scripts;
        arguments::parse_up_to(flags, words, only_before).0.directories(flags)
    } else {
        Vec::new()
    }
}

/// A subcommand that runs a command.
struct LaunchedCommand<'f> {
    launch: Launch,
    options: &'f Arguments,
    /// The words after the subcommand, and how many of them are its options.
    rest: &'f [Field],
    length: usize,
}

fn run_launched(analyzer: &mut Analyzer<'_>, call: &Call<'_>, launched: &LaunchedCommand<'_>) {
    let LaunchedCommand { launch, options, rest, length } = launched;
    let length = *length;
    // On another machine the command may follow the machine's name.
    let is_remote = launch.place == Place::RemoteShell;
    let later = || if is_remote { call.arguments.value(launch.code) } else { None };
    if let Some(code) = options.value(launch.code).or_else(later) {
        return analyzer.inside(call.command, launch.place, |analyzer| {
            analyzer.subshell(|analyzer| analyzer.code(code, "sh"));
        });
    }
    if launch.place == Place::Elsewhere {
        mounts(analyzer, options, call.command);
    }
    if is_remote {
        network::ssh_options(analyzer, call.program, options);
    }
    let command = command_of(launch, rest, length);
    let before = call.fields.get(..call.fields.len() - command.len()).unwrap_or_default();
    // ssh uses a key, but does not show it.
    let is_key = |field: &Field| is_remote && options.values(&["-i"]).any(|key| key == field);
    let before: Vec<Field> = before.iter().filter(|field| !is_key(field)).cloned().collect();
    let is_container = launch.place == Place::Elsewhere;
    analyzer.unknown_program(&if is_container { on_this_machine(&before) } else { before });
    let mut words = words_before(launch, options, rest.get(length));
    words.extend(command.iter().cloned());
    if is_remote && length < rest.len() {
        let code = stream::joined(&words, " ");
        analyzer.inside(call.command, launch.place, |analyzer| {
            if words.is_empty() {
                // The shell on the other machine reads our input.
                analyzer.code_from_input("ssh", Language::NewShell);
            } else {
                analyzer.subshell(|analyzer| analyzer.code(&code, "ssh"));
            }
        });
    } else if !words.is_empty() {
        analyzer.inside(call.command, launch.place, |analyzer| analyzer.run_fields(&words));
    }
}

/// The words of the command that are not written as such: a fixed program, the program of a module, the entry point of a container.
fn words_before(launch: &Launch, options: &Arguments, first: Option<&Field>) -> Vec<Field> {
    let always = launch.program.iter().map(|word| Field::literal(*word));
    let module = options.value(launch.modules).and_then(own_programs::of_module);
    let in_container = match options.value(&["--entrypoint"]) {
        Some(program) if program.text.is_empty() => None,
        Some(program) => Some(program.clone()),
        None if launch.place == Place::Elsewhere => first.and_then(own_programs::of_image),
        None => None,
    };
    always.chain(module).chain(in_container).collect()
}

/// The path in a container that a word names: `web:/etc/app.conf`.
fn path_in_container(field: &Field) -> Option<&str> {
    let (name, path) = field.text.split_once(':')?;
    if name.is_empty() || name.starts_with(['/', '.', '~', '-']) { None } else { Some(path) }
}

/// The words of `docker cp` that concern this machine. A file from a container is written here under its own name.
fn container_paths(words: &[Field]) -> Vec<Field> {
    let mut kept = Vec::new();
    let target = words.last();
    for word in words {
        match (path_in_container(word), target) {
            (None, _) => kept.push(word.clone()),
            (Some(path), Some(target)) if path_in_container(target).is_none() => {
                kept.push(word.with(format!("--input={path}")));
                let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                kept.push(target.with(format!("{}/{name}", target.text)));
            }
            (Some(_), _) => {}
        }
    }
    kept
}

/// Options of containers whose value is a path in them.
const INSIDE: &[&str] = &["--entrypoint", "--tmpfs", "--workdir", "-w"];

/// The words without paths in the container.
fn on_this_machine(words: &[Field]) -> Vec<Field> {
    let mut kept = Vec::new();
    let mut before = "";
    for word in words {
        let (option, value) = match word.text.split_once('=') {
            Some((option, value)) if word.text.starts_with("--") => (option, value),
            _ => (before, word.text.as_str()),
        };
        before = word.text.as_str();
        if INSIDE.contains(&option) {
            continue;
        }
        kept.push(match option {
            "-v" | "--volume" => word.with(value.split(':').next().unwrap_or_default()),
            "--mount" => {
                let of_host =
                    value.split(',').find(|part| part.starts_with("source=") || part.starts_with("src="));
                word.with(of_host.unwrap_or_default())
            }
            _ => word.clone(),
        });
    }
    kept
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
        // Other names are volumes.
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
            if let Some(rest) = after(program, name, words)
                && (launch.own.is_empty() || names_another(subcommand, launch.own, rest))
            {
                return Some((subcommand, launch, rest));
            }
        }
    }
    None
}

/// Whether the first word is another program, and not a subcommand.
fn names_another(subcommand: &Subcommand, own: &[&str], rest: &[Field]) -> bool {
    let (_, length) = arguments::parse_up_to(subcommand.options, rest, true);
    rest.get(length).is_some_and(|first| first.is_literal() && !own.contains(&first.text.as_str()))
}

/// The words after a subcommand, with the options of the program before it.
pub(crate) fn after<'f>(program: &Program, subcommand: &str, words: &'f [Field]) -> Option<&'f [Field]> {
    let mut rest = words;
    let mut options = program.subcommand_options.unwrap_or_default();
    for part in subcommand.split_whitespace() {
        let (_, length) = arguments::parse_up_to(options, rest, true);
        let (found, after) = rest.get(length..)?.split_first()?;
        if found.text != part && !program.group_names(&found.text).contains(&part) {
            return None;
        }
        options = program.group_options(part).unwrap_or_default();
        rest = after;
    }
    Some(rest)
}

/// The words of the command: after `--` if there is one, else after the operands.
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
        analyzer.inside(call.command, texts.place, |analyzer| {
            analyzer.subshell(|analyzer| analyzer.code(code, "sh"));
        });
    }
}
