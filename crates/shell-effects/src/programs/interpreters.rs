//! Programs that run code: shells, whose code is read, and others, whose code is not.

use std::rc::Rc;

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::{Language, is_wholly_unknown};
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::archives;
use crate::programs::arguments::{self, Arguments, Call, Flags};
use crate::programs::code_access;
use crate::programs::inline_calls;
use crate::programs::powershell;
use crate::programs::program::{Program, Stdin, special};
use crate::programs::start_up;

const SHELL: Flags = "-o= -O= --rcfile= --init-file=";
const NODE: Flags = "-e= -p= -r= --eval= --print= --require= --import= --loader= --env-file=r --env-file-if-exists=r -C= \
    --conditions=";

const GDB: Flags = "-x=r -ex= -iex= -ix=r -cd=d -p= -o= -O= -s=r -command=r --command=r -eval-command= --eval-command= -core=r --core=r -pid= --pid= \
    --one-line= --source=r --cd=d";

#[rustfmt::skip]
pub(crate) const INTERPRETERS: &[Program] = &[
    special(&["R", "Rscript", "elixir", "erl", "ghci", "groovy", "guile", "iex", "ipython", "ipython3", "irb", "jshell", "julia", "lua", "luajit", "ocaml", "osascript", "php", "racket", "scala", "swift", "tclsh"], "-r= -e= -d= -l= -f=r --eval=", interpreter).stdin(Stdin::Code),
    special(&["ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "zsh"], SHELL, shell).stdin(Stdin::Shell).quotes_like_sh(),
    special(&["csh", "fish", "nu", "tcsh", "xonsh"], SHELL, shell).stdin(Stdin::Shell),
    special(&["at", "batch"], "-f=r -q= -t=", later).stdin(Stdin::Shell),
    special(&["bun"], NODE, interpreter).before_subcommand("--cwd= -c= --config=").stdin(Stdin::Code),
    special(&["deno", "node", "nodejs", "ts-node", "tsx"], NODE, interpreter).stdin(Stdin::Code),
    special(&["perl"], "-e= -E= -i? -I= -M? -m? -F? -x? -C? -d? -D?", in_place).stdin(Stdin::Code),
    special(&[
        "pypy", "pypy3", "python", "python2", "python3", "python3.10", "python3.11", "python3.12", "python3.13",
        "python3.14", "python3.8", "python3.9",
    ], "-c= -W= -X= -Q= -m=", interpreter).stdin(Stdin::Code),
    special(&["c++", "cc", "clang", "clang++", "cpp", "g++"], "", compile),
    special(&["gdb", "lldb"], GDB, debug).stdin(Stdin::Code),
    special(&["powershell", "pwsh"], "-c= -Command= -f=r -File=r -ep= -ExecutionPolicy= -wd= -WorkingDirectory=", powershell::run).stdin(Stdin::Code),
    special(&["ruby"], "-e= -i? -I= -r= -F? -C= -x?", in_place).stdin(Stdin::Code),
];

/// Options of node that name what it writes.
const OUTPUTS: &[&str] = &[
    "--cpu-prof-dir",
    "--cpu-prof-name",
    "--diagnostic-dir",
    "--heap-prof-dir",
    "--heap-prof-name",
    "--redirect-warnings",
    "--report-directory",
    "--report-filename",
    "--trace-event-file-pattern",
];

/// `bash -c CODE`, `bash <<EOF`, `… | bash`, `bash FILE`.
fn shell(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = without_plus(call.fields.get(1..).unwrap_or_default());
    let (options, length) = arguments::parse_up_to(call.program.options, &words, true);
    let rest = without_dash(words.get(length..).unwrap_or_default());
    for file in options.values(&["--rcfile", "--init-file"]) {
        analyzer.reads(file, call.command);
        if is_descriptor(file) {
            analyzer.code_from_process(call.name, Language::NewShell, &[]);
        } else {
            analyzer.start_up_file(file, call.command);
        }
    }
    start_up_files(analyzer, &options, call.command);
    // It only checks the syntax, unless that is switched off again or it is interactive.
    let is_check = options.has(&["-n"]) && !options.has(&["-i"]) && words.len() + 1 == call.fields.len();
    if is_check {
        return rest
            .iter()
            .take(usize::from(!options.has(&["-c"])))
            .for_each(|file| analyzer.reads(file, call.command));
    }
    if options.has(&["-c"]) {
        let Some((code, positional)) = rest.split_first() else { return };
        let zero = positional.first().map(|zero| Rc::new(zero.clone()));
        let positional: Vec<Field> = positional.iter().skip(1).cloned().collect();
        let switched: Vec<String> = options.values(&["-O"]).map(|option| option.text.clone()).collect();
        let exports_all =
            options.has(&["-a"]) || options.values(&["-o"]).any(|option| option.text == "allexport");
        analyzer.new_shell(positional, |analyzer| {
            analyzer.state.exports.all = exports_all;
            analyzer.state.zero = zero;
            for names in analyzer.state.exports.variables().clone().iter() {
                let names = names.strip_prefix("BASHOPTS=").unwrap_or_default();
                names.split(':').for_each(|name| analyzer.state.options.switch_on(name));
            }
            switched.iter().for_each(|name| analyzer.state.options.switch_on(name));
            analyzer.code(code, call.name);
        });
        return;
    }
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
            // Its arguments are like those of a program that we do not know.
            analyzer.unknown_program(rest);
        }
        None => analyzer.code_from_input(call.name, Language::NewShell),
    }
}

/// The files that a shell runs at its start: one that is interactive, and one of a login.
fn start_up_files(analyzer: &mut Analyzer<'_>, options: &Arguments, command: usize) {
    let Some(home) = analyzer.home().map(|home| home.trim_end_matches('/').to_owned()) else { return };
    let names: &[&str] = if options.has(&["-l", "--login"]) {
        &[".bash_profile", ".bash_login", ".profile", ".zprofile", ".zshrc"]
    } else if options.has(&["-i"]) {
        &[".bashrc", ".zshrc"]
    } else {
        &[]
    };
    for name in names {
        analyzer.start_up_file(&Field::literal(format!("{home}/{name}")), command);
    }
}

/// `at` and `batch`: a shell runs their input later.
fn later(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    match call.arguments.value(&["-f"]) {
        Some(file) => analyzer.script_file(file, call, Language::NewShell),
        None => analyzer.code_from_input(call.name, Language::NewShell),
    }
}

/// Without the options that switch something off, such as `+x` and `+o posix`.
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

/// Options with code. Those of node have a module after `-r`.
const CODE: &[&str] = &["-c", "-e", "-E", "-p", "-r", "--eval", "--print", "--command", "-Command"];
const NODE_CODE: &[&str] = &["-c", "-e", "-E", "-p", "--eval", "--print", "--command"];

/// `python -c CODE`, `node -e CODE`, `python <<EOF`, `python FILE`.
fn interpreter(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let code: Vec<Field> = call
        .arguments
        .values(if call.program.options == NODE { NODE_CODE } else { CODE })
        .filter(|code| code.text != "-")
        .cloned()
        .collect();
    for text in &code {
        // All of it is what another command prints, or what a variable holds.
        if is_wholly_unknown(text) {
            analyzer.unknown_code(call.name, text.shown());
        } else {
            analyzer.inline_code(call.name, text.shown());
        }
    }
    preloaded(analyzer, call);
    analyzer.imported(call);
    for directory in call.arguments.values(OUTPUTS) {
        analyzer.touch(Access::Write, directory, call.command);
    }
    if let Some(module) = call.arguments.value(&["-m"]) {
        return python_module(analyzer, call, module);
    }
    let mut operands = call.arguments.operands.as_slice();
    // `deno run FILE`.
    let is_subcommand = |first: &Field| matches!(first.text.as_str(), "run" | "repl");
    if matches!(call.name, "bun" | "deno") && operands.first().is_some_and(is_subcommand) {
        operands = operands.get(1..).unwrap_or_default();
    }
    match operands.first() {
        _ if !code.is_empty() => operands_of_code(analyzer, call, &code, operands),
        Some(script) if matches!(script.text.as_str(), "eval" | "-") && operands.len() > 1 => {
            let text: Vec<String> = operands.iter().skip(1).map(Field::shown).collect();
            analyzer.inline_code(call.name, text.join(" "));
        }
        Some(script) if is_input(script) => analyzer.code_from_input(call.name, Language::Other),
        Some(script) if is_descriptor(script) => analyzer.code_from_process(call.name, Language::Other, &[]),
        Some(script) if script.text != "-" => {
            analyzer.script_file(script, call, Language::Other);
            analyzer.unknown_program(operands);
        }
        _ => analyzer.code_from_input(call.name, Language::Other),
    }
}

/// `python -m MODULE`: two modules unpack archives, and some run code or a script.
fn python_module(analyzer: &mut Analyzer<'_>, call: &Call<'_>, module: &Field) {
    let operands = &call.arguments.operands;
    match module.text.as_str() {
        "IPython" | "asyncio" | "code" => analyzer.code_from_input(call.name, Language::Other),
        "timeit" => operands.iter().for_each(|code| analyzer.inline_code(call.name, code.shown())),
        "cProfile" | "pdb" | "profile" | "runpy" | "trace" => {
            for script in operands {
                if is_descriptor(script) {
                    analyzer.code_from_process(call.name, Language::Other, &[]);
                } else {
                    analyzer.written_code(script, call.command, call.name, Language::Other);
                }
            }
        }
        _ => {}
    }
    let is_archive = matches!(module.text.as_str(), "tarfile" | "zipfile");
    if !is_archive || !call.arguments.has(&["-e", "--extract"]) {
        return analyzer.unknown_program(call.fields);
    }
    if let [archive, rest @ ..] = call.arguments.operands.as_slice() {
        analyzer.reads(archive, call.command);
        archives::extracted(analyzer, call, rest.first(), Some(archive));
    }
}

/// What follows `python -c CODE`, which the code may read as its arguments.
fn operands_of_code(analyzer: &mut Analyzer<'_>, call: &Call<'_>, code: &[Field], operands: &[Field]) {
    let runs = |code: &Field| {
        code_access::of(call.name, &code.text).runs && code.text.to_ascii_lowercase().contains("argv")
    };
    let runs_operands = code.iter().any(runs);
    let evaluates = |code: &Field| {
        code.text.contains("argv") && ["eval", "exec", "Function"].iter().any(|name| code.text.contains(name))
    };
    let evaluates_operands = code.iter().any(evaluates);
    for operand in operands {
        if let Some(code) = piped_operand(call, operand) {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
        }
        if evaluates_operands {
            analyzer.inline_code(call.name, operand.shown());
        }
        // It may be what the code runs.
        if runs_operands {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(operand, "sh")));
        }
        analyzer.unknown_words(&[Field::literal(call.name), operand.clone()]);
    }
}

/// What runs beside the script of an interpreter: a module that node loads first, and what it reads from its terminal afterwards.
fn preloaded(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is_node = call.program.options == NODE;
    if is_node {
        for module in call.arguments.values(&["-r", "--require", "--import", "--loader"]) {
            analyzer.inline_code(call.name, module.shown());
        }
    }
    if (is_node || call.name.starts_with("py")) && call.arguments.has(&["-i", "--interactive"]) {
        start_up::files(analyzer, "python3", call.command);
        analyzer.code_from_input(call.name, Language::Other);
    }
}

/// A compiler: source files that this script wrote are read as code, and so is its input.
fn compile(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.unknown_program(call.fields);
    // `-wrapper PROGRAM,ARGUMENT`.
    for words in call.fields.windows(2) {
        if let [option, wrapper] = words
            && matches!(option.text.as_str(), "-wrapper" | "--wrapper")
        {
            let words: Vec<Field> = wrapper.text.split(',').map(Field::literal).collect();
            analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
        }
    }
    if call.arguments.operands.iter().any(|operand| operand.text == "-")
        || call.fields.iter().any(|field| field.text == "-")
    {
        analyzer.code_from_input("c", Language::Other);
    }
}

/// `gdb -ex COMMAND --args PROGRAM ARGUMENTS`.
fn debug(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    const COMMANDS: &[&str] = &["-ex", "-iex", "-o", "-O", "-eval-command", "--eval-command", "--one-line"];
    let mut commands: Vec<String> = call.arguments.values(COMMANDS).map(|code| code.text.clone()).collect();
    for file in call.arguments.values(&["-x", "-ix", "-s", "-command", "--command", "--source"]) {
        if let Stream::Text(printed) = analyzer.content(file) {
            commands.extend(printed.text.text.lines().map(str::to_owned));
        }
    }
    if let Stream::Text(printed) = analyzer.input().clone() {
        commands.extend(printed.text.text.lines().map(str::to_owned));
    }
    commands.extend(
        start_up::texts(analyzer, "gdb").iter().flat_map(|text| text.text.lines()).map(str::to_owned),
    );
    for command in commands {
        let command = command.trim();
        if let Some(code) = command.strip_prefix("set exec-wrapper ") {
            let code = Field::literal(code);
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
        }
        let name = command.split([' ', '!', '|']).next().unwrap_or_default();
        let rest = command.strip_prefix(name).unwrap_or_default().trim_start_matches([' ', '!', '|']);
        match name {
            "shell" | "" | "pipe" | "platform" => {
                let code = Field::literal(rest.trim_start_matches("shell "));
                analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
            }
            "python" | "py" | "script" => analyzer.inline_code("python3", rest.to_owned()),
            _ => analyzer.inline_code(call.name, command.to_owned()),
        }
    }
    let program =
        call.fields.iter().position(|field| matches!(field.text.as_str(), "--args" | "-args" | "--"));
    match program.and_then(|at| call.fields.get(at + 1..)) {
        Some(words) if !words.is_empty() => {
            analyzer.wrap(call.command, |analyzer| analyzer.run_fields(words));
        }
        _ => analyzer.unknown_program(call.fields),
    }
    if !call.fields.iter().any(|field| matches!(field.text.as_str(), "-batch" | "--batch")) {
        analyzer.code_from_input(call.name, Language::Other);
    }
}

/// `perl -i -pe CODE FILES`, `ruby -i`.
fn in_place(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let loops = arguments.has(&["-n", "-p", "-i"]);
    let has_code = arguments.has(&["-e", "-E"]);
    if !(loops && has_code) {
        interpreter(analyzer, call);
        return;
    }
    for code in arguments.values(&["-e", "-E"]) {
        analyzer.inline_code(call.name, code.shown());
    }
    for file in &arguments.operands {
        if let Some(code) = piped_operand(call, file) {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
            continue;
        }
        if arguments.has(&["-i"]) {
            analyzer.by_option("-i", |analyzer| analyzer.touch(Access::Write, file, call.command));
        }
        analyzer.reads(file, call.command);
    }
}

/// A command that Perl runs in the place of a file: `perl -ne CODE 'ls |'`.
fn piped_operand(call: &Call<'_>, operand: &Field) -> Option<Field> {
    if call.program.name() == "perl" { inline_calls::piped_name(operand) } else { None }
}

/// Whether a file is the standard input.
pub(crate) fn is_input(file: &Field) -> bool {
    matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Whether bash takes a file for a connection to another machine.
pub(crate) fn is_connection(file: &Field) -> bool {
    file.text.starts_with("/dev/tcp/") || file.text.starts_with("/dev/udp/")
}

/// Whether a file is that of a process substitution.
pub(crate) fn is_descriptor(file: &Field) -> bool {
    file.text.starts_with("/dev/fd/")
}

/// Without a `-` that ends the options, or stands for one.
pub(crate) fn without_dash(words: &[Field]) -> &[Field] {
    words.split_first().filter(|(first, _)| first.text == "-").map_or(words, |(_, rest)| rest)
}
