//! `awk`: its program, the files that it reads, and what the program writes and runs.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::arguments::Call;
use crate::programs::code_access;
use crate::programs::interpreters::{is_descriptor, is_input};
use crate::programs::text::first_fields;

/// `awk PROGRAM FILES`.
pub(crate) fn awk(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    const FILES: &[&str] = &["-f", "-E", "--file", "--exec"];
    let arguments = &call.arguments;
    let mut files = arguments.operands.as_slice();
    let mut writes_own_files = false;
    let is_exec = |value: &Field| value.text == "exec";
    let next = if arguments.values(&["-W"]).any(is_exec) { files.first() } else { None };
    for file in arguments.values(FILES).chain(next) {
        if file.text == "-" || is_input(file) {
            analyzer.code_from_input("awk", Language::Other);
        } else if is_descriptor(file) {
            analyzer.code_from_process("awk", Language::Other, &[]);
        } else {
            analyzer.written_code(file, call.command, "awk", Language::Other);
        }
    }
    let codes: Vec<&Field> = arguments.code(call.program.options).collect();
    if next.is_none() && codes.is_empty() && !arguments.has(FILES) {
        let (program, rest) = files.split_first().map_or((None, files), |(first, rest)| (Some(first), rest));
        files = rest;
        if let Some(program) = program {
            writes_own_files = uses_own_names(&program.text);
            awk_program(analyzer, call, program, files);
        }
    }
    for program in codes {
        writes_own_files |= uses_own_names(&program.text);
        awk_program(analyzer, call, program, files);
    }
    let separator = match arguments.flags.as_slice() {
        [] => Some(Field::literal(" ")),
        [(flag, Some(separator))] if flag == "-F" => Some(separator.clone()),
        _ => None,
    };
    if let ([program], Some(separator)) = (arguments.operands.as_slice(), separator)
        && program.is_literal()
        && matches!(program.text.replace(' ', "").as_str(), "{print$1}" | "{print($1)}")
    {
        first_fields(analyzer, &separator);
    }
    awk_files(analyzer, call, files, writes_own_files);
}

/// The files that awk reads. Its program may write them if it uses their names.
fn awk_files(analyzer: &mut Analyzer<'_>, call: &Call<'_>, files: &[Field], writes_own_files: bool) {
    let mut libraries = call.arguments.values(&["-i", "--include"]);
    let in_place = libraries.any(|library| library.text == "inplace");
    for file in files.iter().filter(|file| !is_variable(file)) {
        if in_place {
            analyzer.by_option("-i", |analyzer| analyzer.touch(Access::Write, file, call.command));
        }
        if writes_own_files {
            analyzer.touch(Access::Write, file, call.command);
        }
        analyzer.reads(file, call.command);
    }
}

/// A program of awk, with the files and the variables after it.
fn awk_program(analyzer: &mut Analyzer<'_>, call: &Call<'_>, program: &Field, files: &[Field]) {
    let does = code_access::of("awk", &program.text);
    if does.runs || does.writes || is_wholly_unknown(program) {
        analyzer.acts_by(&program.shown(), call.command);
    }
    // All of it is what another command prints.
    if is_wholly_unknown(program) {
        analyzer.unknown_code("awk", program.shown());
    }
    // Values of variables may be the names of files.
    let variables = files.iter().filter(|file| is_variable(file));
    let given = call.arguments.values(&["-v", "--assign"]).chain(variables);
    let assigned = given.filter_map(|given| Some((given, given.text.split_once('=')?)));
    let mut text = program.shown();
    let mut values = Vec::new();
    for (given, (name, value)) in assigned {
        // The program may join it with other texts.
        if given.is_literal() {
            text = format!("{name}={};{text}", awk_text(value));
        }
        if runs_variable(&program.text, name) {
            text = format!("{text}\n{}", awk_call(value));
        }
        values.push(given.with(value));
    }
    if program.text.contains("ARGV") {
        values.extend(files.iter().cloned());
    }
    redirected_by_awk(analyzer, &program.text, &values, call.command);
    analyzer.inline_code_with("awk", text, values);
}

/// The files that a program of awk may write: `print > "FILE"`, and `print > x` for the values of its variables.
fn redirected_by_awk(analyzer: &mut Analyzer<'_>, program: &str, values: &[Field], command: usize) {
    let mut takes_variable = false;
    for (at, _) in program.match_indices('>') {
        let rest = program.get(at + 1..).unwrap_or_default().trim_start_matches(['>', ' ', '\t']);
        match rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            Some((name, _)) if !name.is_empty() => {
                analyzer.wrote(&Field::literal(name), Stream::Unknown, false, vec![command]);
            }
            _ => takes_variable |= rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
        }
    }
    let files = if takes_variable { values } else { &[] };
    for file in files.iter().filter(|file| file.is_literal()) {
        analyzer.wrote(file, Stream::Unknown, false, vec![command]);
    }
}

/// Whether a program of awk gives a variable to a shell: `system(x)`, `x | getline`, `print | x`.
fn runs_variable(program: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    program.match_indices(name).any(|(at, _)| {
        let before = program.get(..at).unwrap_or_default();
        let after = program.get(at + name.len()..).unwrap_or_default();
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        let (before, after) = (before.trim_end(), after.trim_start());
        is_whole
            && (before.ends_with("system(")
                || before.ends_with('|') && !before.ends_with("||")
                || after.starts_with('|') && !after.starts_with("||"))
    })
}

/// A call of a shell with this text.
fn awk_call(text: &str) -> String {
    format!("system({})", awk_text(text))
}

/// A text in the notation of awk.
fn awk_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether an awk program may write to its input files: it knows their names, and redirects something.
fn uses_own_names(program: &str) -> bool {
    ["FILENAME", "ARGV"].iter().any(|name| program.contains(name)) && program.contains(['>', '|'])
        || program.contains("system(") && (program.contains("FILENAME") || program.contains("ARGV"))
}

/// Whether an operand of `awk` sets a variable.
fn is_variable(operand: &Field) -> bool {
    operand.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
