//! `make`: its variables, and the makefiles that this command wrote.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::exports::is_runnable;
use crate::analysis::field::Field;
use crate::analysis::script_files::WrittenCode;
use crate::analysis::side_effects::is_harmless;
use crate::programs::arguments::{Call, Flags};
use crate::programs::interpreters::{is_descriptor, is_input};
use crate::programs::table;

pub(crate) const MAKE: Flags =
    "-C=p -f=c -I=c -o= -W= -E=c --directory=p --file=c --makefile=c --include-dir=c --eval=c";

/// Whether a variable of make chooses a program or its options: `CC=./x`, `NODE_OPTIONS=-r ./x`. `CC=clang` and `CFLAGS=-O2` do not.
fn is_of_programs(setting: &str) -> bool {
    const FLAGS: [&str; 6] = ["ARGS", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "RUSTFLAGS"];
    let Some((name, value)) = setting.split_once('=') else { return false };
    let name = name.trim_end_matches([':', '+', '?']);
    if is_harmless(name) || FLAGS.contains(&name) && !value.contains("plugin") {
        return false;
    }
    value.contains(['/', '=', '`']) || value.starts_with('-') || name.starts_with("LD_")
}

/// `make` runs its makefile, which is known if this command wrote it.
pub(crate) fn make(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    // A shell in a variable is only run.
    let is_shell = |field: &&Field| {
        let shell = field.text.strip_prefix("SHELL=").map(table::name_of).and_then(table::by_name);
        shell.is_some_and(|program| program.quotes_like_sh)
    };
    let words: Vec<Field> = call.fields.iter().filter(|field| !is_shell(field)).cloned().collect();
    analyzer.unknown_program(&words);
    for shell in words.iter().filter_map(|word| Some(word.with(word.text.strip_prefix("SHELL=")?))) {
        analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&[shell])));
    }
    make_variables(analyzer, call);
    let files = makefiles(analyzer, call);
    analyzer.in_directory(call.arguments.values(&["-C", "--directory"]), |analyzer| {
        for code in call.arguments.values(&["-E", "--eval"]) {
            analyzer.inline_code("make", code.shown());
        }
        for file in &files {
            if file.text == "-" || is_input(file) {
                analyzer.code_from_input("make", Language::Other);
            } else if is_descriptor(file) {
                analyzer.code_from_process("make", Language::Other, &[]);
            } else {
                analyzer.written_code(file, call.command, "make", Language::Other);
            }
        }
        included_makefiles(analyzer, call.command);
    });
}

/// `make NAME=VALUE`.
fn make_variables(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for operand in &call.arguments.operands {
        // Before each line of a recipe.
        if let Some(flags) = operand.text.strip_prefix(".SHELLFLAGS=") {
            let code = operand.with(format!("sh {flags} :"));
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
        }
        // A makefile may run it: `make CC='gcc -O2'`.
        let Some((name, value)) = operand.text.split_once('=').filter(|(_, value)| value.contains(' '))
        else {
            continue;
        };
        let code = operand.with(value);
        let run = |analyzer: &mut Analyzer<'_>| {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
        };
        // Make's own rules run these.
        if is_runnable(name) || ["COMPILE.", "LINK."].iter().any(|start| name.starts_with(start)) {
            analyzer.in_directory(call.arguments.values(&["-C", "--directory"]), run);
        } else {
            analyzer.only_commands(run);
        }
    }
    // The value of a variable is expanded, and after `!=` it is a command.
    for operand in call.arguments.operands.iter().filter(|operand| operand.text.contains('=')) {
        if operand.text.contains(['$', '!']) {
            analyzer.inline_code("make", operand.shown());
        }
        let is_shell =
            ["SHELL", ".SHELLFLAGS", "MAKE", "GNUMAKE"].iter().any(|name| operand.text.starts_with(name));
        if is_shell || operand.text.contains(['$', '!']) || is_of_programs(&operand.text) {
            analyzer.acts_by(&operand.text, call.command);
        }
    }
}

/// The makefiles that are named, else the usual ones, and those in `$MAKEFILES`.
fn makefiles(analyzer: &Analyzer<'_>, call: &Call<'_>) -> Vec<Field> {
    let mut files: Vec<Field> = call.arguments.values(&["-f", "--file", "--makefile"]).cloned().collect();
    if files.is_empty() {
        files.extend(["GNUmakefile", "makefile", "Makefile"].map(Field::literal));
    }
    let lists = analyzer.state.exports.values("MAKEFILES");
    files.extend(lists.flat_map(str::split_whitespace).map(Field::literal));
    files
}

/// Files that this command wrote and that a makefile may include: other makefiles, or any file if a written makefile includes
/// something.
fn included_makefiles(analyzer: &mut Analyzer<'_>, command: usize) {
    let is_makefile = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        name.contains("makefile")
            || !name.contains('.')
            || [".mk", ".make", ".inc"].iter().any(|end| name.ends_with(end))
    };
    let written = analyzer.state.disk.written_files();
    let includes_any = written.iter().any(|(path, file)| is_makefile(path) && file.contains("include"));
    for (path, file) in &written {
        if includes_any || is_makefile(path) {
            analyzer.run_written(
                file,
                &WrittenCode { command, interpreter: "make", language: Language::Other, arguments: &[] },
            );
        }
    }
}
