//! Programs that change files in place, or read one file and write another.

use super::Access;
use super::arguments::Call;
use super::state::{Field, FieldKind};
use super::walk::Walk;

pub(super) fn sed(walk: &mut Walk<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let in_place = arguments.has(&["-i", "--in-place", "-I"]);
    let mut files = arguments.operands.as_slice();
    // The other sed wants the suffix as a word: `sed -i '' …`.
    if in_place && files.first().is_some_and(|field| field.text.is_empty()) {
        files = files.get(1..).unwrap_or_default();
    }
    let mut scripts: Vec<&Field> = arguments.values(&["-e", "--expression"]).collect();
    if scripts.is_empty() && !arguments.has(&["-f", "--file"]) {
        scripts.extend(files.first());
        files = files.get(1..).unwrap_or_default();
    }
    for script in scripts.into_iter().filter(|script| names_files(&script.text)) {
        walk.inline_code("sed", script.shown());
    }
    for file in files {
        if in_place {
            walk.by_option("-i", |walk| walk.touch(Access::Write, file, call.command));
        }
        walk.reads(file, call.command);
    }
}

/// Whether a script of sed may have a command that reads or writes a file, or runs a program.
fn names_files(script: &str) -> bool {
    let pairs = script.as_bytes().windows(2);
    pairs.into_iter().any(|pair| matches!(pair, [b'r' | b'R' | b'w' | b'W' | b'e', b' ' | b'\t']))
        || script.ends_with("/e")
}

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
    for code in call.arguments.values(&["-c", "--cmd", "--eval", "--execute"]) {
        walk.inline_code(call.name, code.shown());
    }
    // With `-e` it is silent, and what follows `-s` is a file.
    for file in call.arguments.values(&["-s"]).filter(|_| call.arguments.has(&["-e", "-E"])) {
        walk.touch(Access::Write, file, call.command);
    }
    for file in call.arguments.operands.iter().filter(|field| !field.text.starts_with('+')) {
        walk.reads(file, call.command);
        walk.touch(Access::Write, file, call.command);
    }
}
