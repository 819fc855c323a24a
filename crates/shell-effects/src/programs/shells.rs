//! Shells, whose code is read: `bash -c CODE`, `bash FILE`, `… | bash`, and what they run when they start.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::arguments::{self, Arguments, Call};
use crate::programs::interpreters::{is_descriptor, is_input, without_dash};
use crate::programs::start_up;

/// `bash -c CODE`, `bash <<EOF`, `… | bash`, `bash FILE`.
pub(super) fn shell(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = without_plus(&with_two_dashes(call.fields.get(1..).unwrap_or_default()));
    let (options, length) = arguments::parse_up_to(call.program.options, &words, true);
    let rest = without_dash(words.get(length..).unwrap_or_default());
    for file in options.values(&["--rcfile", "--init-file"]) {
        analyzer.reads(file, call.command);
        if is_input(file) || is_descriptor(file) {
            let content = analyzer.content(file);
            analyzer.as_part(|analyzer| analyzer.code_of(content, call.name, Language::NewShell, &[]));
        }
        analyzer.start_up_file(file, call.command);
    }
    // Then an interactive shell runs the text after a `#`.
    let is_switched_off = |words: &[Field]| matches!(words, [off, name] if off.text == "+O" && name.text == "interactive_comments");
    if call.fields.windows(2).any(is_switched_off) {
        analyzer.doubt_script(call.name);
    }
    start_up_files(analyzer, &options, call);
    // It only checks the syntax, unless that is switched off again or it is interactive.
    let is_check = call.program.quotes_like_sh
        && options.has(&["-n"])
        && !options.has(&["-i"])
        && words.len() + 1 == call.fields.len();
    if is_check {
        let files = rest.iter().take(usize::from(!options.has(&["-c"])));
        files.for_each(|file| analyzer.reads(file, call.command));
    } else if call.arguments.code(call.program.options).next().is_some() {
        shell_with_code(analyzer, call, &options, rest);
    } else if !options.has(&["-c"]) {
        script(analyzer, call, &options, rest);
    } else {
        command_string(analyzer, call, &options, rest);
    }
}

/// `bash -c CODE ZERO ARGUMENTS`.
fn command_string(analyzer: &mut Analyzer<'_>, call: &Call<'_>, options: &Arguments, rest: &[Field]) {
    let Some((code, arguments)) = rest.split_first() else { return };
    let zero = arguments.first();
    // A word that may be several words, or none, may be `$1` too.
    let skipped = usize::from(zero.is_some_and(|zero| !zero.may_be_several()));
    let positional: Vec<Field> = arguments.iter().skip(skipped).cloned().collect();
    // Without a word for it, the name of the shell is `$0`.
    let names = if skipped == 0 { [call.fields.first(), analyzer.given_name()] } else { [None, None] };
    let zeros: Vec<Field> = zero.into_iter().chain(names.into_iter().flatten()).cloned().collect();
    let switched: Vec<String> = options.values(&["-O"]).map(|option| option.text.clone()).collect();
    let exports_all =
        options.has(&["-a"]) || options.values(&["-o"]).any(|option| option.text == "allexport");
    let run = |analyzer: &mut Analyzer<'_>, zero: Field| {
        analyzer.new_shell(positional.clone(), |analyzer| {
            analyzer.state.exports.all = exports_all;
            analyzer.state.zero = Some(Rc::new(zero));
            for names in analyzer.state.exports.variables().clone().iter() {
                let names = names.strip_prefix("BASHOPTS=").unwrap_or_default();
                names.split(':').for_each(|name| analyzer.state.options.switch_on(name));
            }
            switched.iter().for_each(|name| analyzer.state.options.switch_on(name));
            analyzer.code(code, call.name);
        })
    };
    analyzer.one_of(zeros, run);
}

/// Shells whose options hold code: `fish -c CODE`, and `fish -C CODE SCRIPT`, which runs both.
fn shell_with_code(analyzer: &mut Analyzer<'_>, call: &Call<'_>, options: &Arguments, rest: &[Field]) {
    let flags = call.program.options;
    for code in options.code(flags) {
        analyzer.new_shell(rest.to_vec(), |analyzer| analyzer.code(code, call.name));
    }
    let reads_more = !rest.is_empty() || !matches!(analyzer.input(), Stream::Inherited);
    if options.values_of(flags, b'e').next().is_none() && reads_more {
        script(analyzer, call, options, rest);
    }
}

/// The script that a shell runs: a file, or its input.
fn script(analyzer: &mut Analyzer<'_>, call: &Call<'_>, options: &Arguments, rest: &[Field]) {
    match rest.first() {
        _ if options.has(&["-s"]) => analyzer.script_from_input(call.name, rest),
        Some(file) if is_input(file) => {
            analyzer.script_from_input(call.name, rest.get(1..).unwrap_or_default());
        }
        Some(file) if is_descriptor(file) => {
            let arguments = rest.get(1..).unwrap_or_default();
            analyzer.code_from_process(call.name, Language::NewShell, arguments);
        }
        Some(file) => {
            let arguments = rest.get(1..).unwrap_or_default();
            analyzer.script_with_arguments(file, arguments, call, Language::NewShell);
            // Its arguments are those of an unknown program.
            analyzer.unknown_program(rest);
        }
        None => analyzer.code_from_input(call.name, Language::NewShell),
    }
}

/// The files that an interactive shell or a login shell runs when it starts.
fn start_up_files(analyzer: &mut Analyzer<'_>, options: &Arguments, call: &Call<'_>) {
    for code in start_up::texts(analyzer, call.program) {
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, call.name)));
    }
    if analyzer.state.disk.is_untouched() {
        return;
    }
    let names: &[&str] = if options.has(&["-l", "--login"]) {
        &[
            ".bash_profile",
            ".bash_login",
            ".profile",
            ".zprofile",
            ".zshrc",
            ".zlogin",
            ".bash_logout",
            ".zlogout",
        ]
    } else if options.has(&["-i"]) {
        &[".bashrc", ".zshrc"]
    } else {
        &[]
    };
    for file in names.iter().flat_map(|name| start_up::at_home(analyzer, name)).collect::<Vec<_>>() {
        analyzer.start_up_file(&file, call.command);
    }
}

/// `at` and `batch`: a shell runs their input later.
pub(super) fn later(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    match call.arguments.value(&["-f"]) {
        Some(file) => analyzer.script_file(file, call, Language::NewShell),
        None => analyzer.code_from_input(call.name, Language::NewShell),
    }
}

/// Bash's long options may have one dash: `bash -norc` is `bash --norc`, and not `-n`.
fn with_two_dashes(words: &[Field]) -> Vec<Field> {
    const LONG: &[&str] = &[
        "debug",
        "debugger",
        "dump-po-strings",
        "dump-strings",
        "help",
        "init-file",
        "login",
        "noediting",
        "noprofile",
        "norc",
        "posix",
        "pretty-print",
        "protected",
        "rcfile",
        "restricted",
        "verbose",
        "version",
        "wordexp",
    ];
    let doubled = |word: &Field| match word.text.strip_prefix('-') {
        Some(name) if word.is_literal() && LONG.contains(&name) => Field::literal(format!("-{}", word.text)),
        _ => word.clone(),
    };
    words.iter().map(doubled).collect()
}

/// Without options that switch something off, such as `+x` and `+o posix`.
fn without_plus(words: &[Field]) -> Vec<Field> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        let length = match word.text.as_str() {
            "+o" | "+O" | "-o" | "-O" | "--rcfile" | "--init-file" => 2,
            "--" => break,
            text if text.len() > 1 && text.starts_with(['+', '-']) => 1,
            _ => break,
        };
        if word.text.starts_with('-') {
            kept.extend(words.iter().skip(at).take(length).cloned());
        }
        at += length;
    }
    kept.extend(words.iter().skip(at).cloned());
    kept
}
