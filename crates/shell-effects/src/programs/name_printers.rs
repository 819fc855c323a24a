//! Programs that print names of files: `ls`, `basename`, `dirname`, `realpath`, `pwd`.

use crate::Target;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::arguments::Call;

/// Options of `ls` with which it prints only names, one per line if the output is not a terminal.
const PLAIN: &[&str] = &[
    "-1",
    "-A",
    "-a",
    "-d",
    "-r",
    "-S",
    "-t",
    "-U",
    "-v",
    "-X",
    "--all",
    "--almost-all",
    "--directory",
    "--reverse",
    "--color",
    "--sort",
    "-u",
    "-c",
    "-I",
    "--ignore",
    "--hide",
];

/// `ls`: the names of files, or of a directory's content.
pub(crate) fn list(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    if !analyzer.is_usual(call.name) {
        return;
    }
    if !arguments.flags.iter().all(|(flag, _)| PLAIN.contains(&flag.as_str())) {
        return;
    }
    let named_only = arguments.has(&["-d", "--directory"]);
    let mut files = Vec::new();
    for operand in &arguments.operands {
        match operand.kind {
            FieldKind::Literal => files.push(Target::Path(operand.text.clone())),
            FieldKind::Glob if operand.written.is_none() => files.push(Target::Glob(operand.text.clone())),
            _ => return,
        }
    }
    // A directory may have an extension too.
    let is_file =
        |operand: &Field| operand.kind == FieldKind::Glob && !analyzer.may_match_directory(&operand.text);
    let lists_directory = arguments.operands.is_empty() || !arguments.operands.iter().all(is_file);
    if lists_directory && !named_only {
        files.push(Target::Glob("*".to_owned()));
        if arguments.has(&["-a", "-A", "--all", "--almost-all"]) {
            files.push(Target::Glob(".*".to_owned()));
        }
    }
    analyzer.set_output(Stream::Files(files));
}

/// `basename PATH`, `basename PATH SUFFIX`.
pub(crate) fn basename(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let (path, suffix) = match arguments.operands.as_slice() {
        [path] => (path, arguments.value(&["-s", "--suffix"])),
        [path, suffix] if arguments.flags.is_empty() => (path, Some(suffix)),
        _ => return,
    };
    if suffix.is_some_and(|suffix| !suffix.is_literal()) {
        return;
    }
    let path_text = path.text.trim_end_matches('/');
    let name = path_text.rsplit('/').next().unwrap_or_default();
    let name = match suffix.and_then(|suffix| name.strip_suffix(suffix.text.as_str())) {
        Some(rest) if !rest.is_empty() => rest,
        _ => name,
    };
    print(analyzer, path, name);
}

/// `dirname PATH`.
pub(crate) fn dirname(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let [path] = call.arguments.operands.as_slice() else { return };
    // It may be `$PWD`, whose parent is meant.
    if path.text == "." {
        return;
    }
    let directory = match path.text.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory.trim_end_matches('/'),
        None => ".",
    };
    print(analyzer, path, directory);
}

/// Prints a part of a path. The path may be a pattern.
fn print(analyzer: &mut Analyzer<'_>, path: &Field, part: &str) {
    if part.is_empty() || !analyzer.is_usual("basename") || !analyzer.is_usual("dirname") {
        return;
    }
    match path.kind {
        FieldKind::Literal => analyzer.set_output(Stream::text(Field::literal(format!("{part}\n")))),
        // `**` crosses directories.
        FieldKind::Glob if !part.contains("**") && !part.contains('\\') => {
            analyzer.set_output(Stream::Files(vec![Target::Glob(part.to_owned())]));
        }
        _ => {}
    }
}

/// `pwd`, where the directory is known.
pub(crate) fn working_directory(analyzer: &mut Analyzer<'_>, _: &Call<'_>) {
    if let Some(directory) = analyzer.current_directory() {
        analyzer.set_output(Stream::text(Field::literal(format!("{}\n", directory.text))));
    }
}

/// `readlink -f FILE`: a file by its whole path.
pub(crate) fn read_link(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let follows = ["-f", "-e", "-m", "--canonicalize", "--canonicalize-existing", "--canonicalize-missing"];
    if call.arguments.has(&follows) {
        real_path(analyzer, call);
    }
}

/// `realpath FILE`: a file by its whole path.
pub(crate) fn real_path(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let [path] = call.arguments.operands.as_slice() else { return };
    let is_other = call.arguments.flags.iter().any(|(flag, _)| flag.starts_with("--relative"));
    // The location of the shell is not known.
    if !is_other && path.is_literal() && path.text != "bash" && analyzer.is_usual(call.name) {
        let path = analyzer.absolute(&path.text);
        analyzer.set_output(Stream::text(Field::literal(format!("{}\n", path.text))));
    }
}
