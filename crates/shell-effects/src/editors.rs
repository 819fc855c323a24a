//! Programs that change files in place, or read one file and write another.

use super::Access;
use super::arguments::{self, Call};
use super::state::{Field, FieldKind};
use super::stream::Stream;
use super::walk::Walk;

pub(super) fn awk(walk: &mut Walk<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let mut files = arguments.operands.as_slice();
    if !arguments.has(&["-f", "--file"]) {
        if let Some(program) = files.first() {
            walk.inline_code("awk", program.shown());
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
            walk.by_option("-i", |walk| walk.touch(Access::Write, file, call.command));
        }
        walk.reads(file, call.command);
    }
}

/// `uniq IN OUT`, `xxd IN OUT`.
pub(super) fn filter(walk: &mut Walk<'_>, call: &Call<'_>) {
    let is_plain =
        call.name == "uniq" && call.arguments.operands.is_empty() && !call.arguments.has(&["-c", "--count"]);
    if is_plain && matches!(walk.input, Stream::Files(_)) {
        walk.output = walk.input.clone();
    }
    if let Some(input) = call.arguments.operands.first() {
        walk.reads(input, call.command);
    }
    if let Some(output) = call.arguments.operands.get(1) {
        walk.touch(Access::Write, output, call.command);
    }
}

/// `split FILE PREFIX`, `csplit -f PREFIX FILE`: files whose names start with a prefix.
pub(super) fn pieces(walk: &mut Walk<'_>, call: &Call<'_>) {
    let operands = &call.arguments.operands;
    if let Some(file) = operands.first() {
        walk.reads(file, call.command);
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
    walk.touch(Access::Write, &target, call.command);
}

/// `ssh-keygen`: it shows a key, or makes one.
pub(super) fn keys(walk: &mut Walk<'_>, call: &Call<'_>) {
    let shows = call.arguments.has(&["-l", "-y", "-e", "-B", "-L", "-F", "-Q", "-Y"]);
    for file in call.arguments.values(&["-f"]) {
        if !shows {
            walk.touch(Access::Write, file, call.command);
        }
        walk.reads(file, call.command);
    }
}

/// `jq`, `yq`: a program, then files.
pub(super) fn query(walk: &mut Walk<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let words = call.fields.get(1..).unwrap_or_default();
    // Options with two values: the second one is a file, or taken for an operand.
    let mut taken: Vec<&Field> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(value) = words.get(at + 2) else { break };
        match word.text.as_str() {
            "--rawfile" | "--slurpfile" => {
                walk.reads(value, call.command);
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
            walk.by_option("-i", |walk| walk.touch(Access::Write, file, call.command));
        }
        walk.reads(file, call.command);
    }
}

pub(super) fn patch(walk: &mut Walk<'_>, call: &Call<'_>) {
    if call.arguments.has(&["--dry-run"]) {
        return;
    }
    match call.arguments.operands.first() {
        Some(file) => {
            if !call.arguments.has(&["-o", "--output"]) {
                walk.touch(Access::Write, file, call.command);
            }
            if let Some(changes) = call.arguments.operands.get(1) {
                walk.reads(changes, call.command);
            }
        }
        None if call.arguments.has(&["-o", "--output"]) => {}
        None => {
            let files = Field::unknown("the files of the patch");
            walk.touch(Access::Write, &files, call.command);
        }
    }
}

/// Editors: what they open they may write.
pub(super) fn edit(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    // With `-e`, `-s` is silent and takes no file of commands.
    let is_silent = |field: &Field| field.text.starts_with("-e") || field.text.starts_with("-E");
    let is_vi = matches!(call.name, "ex" | "vi" | "vim" | "nvim");
    let silent =
        (is_vi && words.iter().any(is_silent)).then(|| arguments::parse("-c= --cmd= -S=r -u= -w=w", words));
    let arguments = silent.as_ref().unwrap_or(&call.arguments);
    for code in arguments.values(&["-c", "--cmd", "--eval", "--execute", "-e"]) {
        walk.inline_code(call.name, code.shown());
    }
    let (codes, files): (Vec<&Field>, Vec<&Field>) =
        arguments.operands.iter().partition(|field| field.text.starts_with('+'));
    for code in codes {
        walk.inline_code(call.name, code.text.trim_start_matches('+').to_owned());
    }
    // Their input is a list of commands.
    if matches!(call.name, "ed" | "ex" | "red") || silent.is_some() {
        walk.code_from_input(call.name, false);
    }
    for file in files {
        walk.reads(file, call.command);
        walk.touch(Access::Write, file, call.command);
    }
}
