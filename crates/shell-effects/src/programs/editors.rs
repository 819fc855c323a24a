//! Programs that change files in place, or read one file and write another.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::arguments::{self, Call};

pub(crate) fn awk(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let mut files = arguments.operands.as_slice();
    if !arguments.has(&["-f", "--file"]) {
        if let Some(program) = files.first() {
            analyzer.inline_code("awk", program.shown());
        }
        files = files.get(1..).unwrap_or_default();
    }
    let in_place = arguments.values(&["-i", "--include"]).any(|library| library.text == "inplace");
    for file in files {
        let is_variable = file.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        if is_variable {
            continue;
        }
        if in_place {
            analyzer.by_option("-i", |analyzer| analyzer.touch(Access::Write, file, call.command));
        }
        analyzer.reads(file, call.command);
    }
}

/// `uniq IN OUT`, `xxd IN OUT`.
pub(crate) fn filter(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is_plain =
        call.name == "uniq" && call.arguments.operands.is_empty() && !call.arguments.has(&["-c", "--count"]);
    if is_plain && matches!(analyzer.input, Stream::Files(_)) {
        analyzer.output = analyzer.input.clone();
    }
    if let Some(input) = call.arguments.operands.first() {
        analyzer.reads(input, call.command);
    }
    if let Some(output) = call.arguments.operands.get(1) {
        analyzer.touch(Access::Write, output, call.command);
    }
}

/// `split FILE PREFIX`, `csplit -f PREFIX FILE`: files whose names start with a prefix.
pub(crate) fn pieces(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let operands = &call.arguments.operands;
    if let Some(file) = operands.first() {
        analyzer.reads(file, call.command);
    }
    let default = if call.name == "split" { "x" } else { "xx" };
    let prefix = match call.name {
        "split" => operands.get(1).cloned(),
        _ => call.arguments.value(&["-f", "--prefix"]).cloned(),
    };
    let prefix = prefix.unwrap_or_else(|| Field::literal(default));
    let target = match prefix.kind {
        FieldKind::Literal => Field::new(format!("{}*", prefix.text), FieldKind::Glob),
        _ => prefix,
    };
    analyzer.touch(Access::Write, &target, call.command);
}

/// `ssh-keygen`: it shows a key, or makes one.
pub(crate) fn keys(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let shows = call.arguments.has(&["-l", "-y", "-e", "-B", "-L", "-F", "-Q", "-Y"]);
    for file in call.arguments.values(&["-f"]) {
        if !shows {
            analyzer.touch(Access::Write, file, call.command);
        }
        analyzer.reads(file, call.command);
    }
}

/// `jq`, `yq`: a program, then files.
pub(crate) fn query(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let words = call.fields.get(1..).unwrap_or_default();
    // Options with two values: the second one is a file, or taken for an operand.
    let mut taken: Vec<&Field> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(value) = words.get(at + 2) else { break };
        match word.text.as_str() {
            "--rawfile" | "--slurpfile" => {
                analyzer.reads(value, call.command);
                taken.push(value);
            }
            "--arg" | "--argjson" => taken.push(value),
            _ => {}
        }
    }
    let operands = arguments.operands.iter().filter(|operand| !taken.contains(operand));
    let operands: Vec<&Field> = operands.collect();
    let skipped = usize::from(!arguments.has(&["-f", "--from-file"]));
    let evaluates = call.name == "yq"
        && operands
            .first()
            .is_some_and(|field| matches!(field.text.as_str(), "eval" | "e" | "eval-all" | "ea"));
    for file in operands.into_iter().skip(skipped + usize::from(evaluates)) {
        if call.name == "yq" && arguments.has(&["-i", "--inplace"]) {
            analyzer.by_option("-i", |analyzer| analyzer.touch(Access::Write, file, call.command));
        }
        analyzer.reads(file, call.command);
    }
}

pub(crate) fn patch(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if call.arguments.has(&["--dry-run"]) {
        return;
    }
    match call.arguments.operands.first() {
        Some(file) => {
            if !call.arguments.has(&["-o", "--output"]) {
                analyzer.touch(Access::Write, file, call.command);
            }
            if let Some(changes) = call.arguments.operands.get(1) {
                analyzer.reads(changes, call.command);
            }
        }
        None if call.arguments.has(&["-o", "--output"]) => {}
        None => {
            let files = Field::unknown("the files of the patch");
            analyzer.touch(Access::Write, &files, call.command);
        }
    }
}

/// Editors: what they open they may write.
pub(crate) fn edit(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    // With `-e`, `-s` is silent and takes no file of commands.
    let is_silent = |field: &Field| field.text.starts_with("-e") || field.text.starts_with("-E");
    let is_vi = matches!(call.name, "ex" | "vi" | "vim" | "nvim");
    let silent =
        (is_vi && words.iter().any(is_silent)).then(|| arguments::parse("-c= --cmd= -S=r -u= -w=w", words));
    let arguments = silent.as_ref().unwrap_or(&call.arguments);
    for code in arguments.values(&["-c", "--cmd", "--eval", "--execute", "-e"]) {
        analyzer.inline_code(call.name, code.shown());
    }
    let (codes, files): (Vec<&Field>, Vec<&Field>) =
        arguments.operands.iter().partition(|field| field.text.starts_with('+'));
    for code in codes {
        analyzer.inline_code(call.name, code.text.trim_start_matches('+').to_owned());
    }
    // Their input is a list of commands.
    if matches!(call.name, "ed" | "ex" | "red") || silent.is_some() {
        analyzer.code_from_input(call.name, false);
    }
    for file in files {
        analyzer.reads(file, call.command);
        analyzer.touch(Access::Write, file, call.command);
    }
}
