//! Programs that run code: shells, whose code is read (`shells`), and interpreters, whose code is not.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::action::Stdin;
use crate::programs::archives;
use crate::programs::arguments::{self, Call, Flags};
use crate::programs::code_access;
use crate::programs::files::{self, keeps_copy};
use crate::programs::harmless;
use crate::programs::inline_calls;
use crate::programs::languages::SourceLanguage;
use crate::programs::own_programs;
use crate::programs::powershell;
use crate::programs::program::{Program, special};
use crate::programs::shells::{later, shell};
use crate::programs::start_up;

const SHELL: Flags = "-o= -O= --rcfile= --init-file=";
const FISH: Flags = "-c=e --command=e -C=b --init-command=b -d= --debug= -o=w --debug-output=w -f= --features= -p=w --profile=w --profile-startup=w";
const NUSHELL: Flags = "-c=e --commands=e -e=b --execute=b --config=f --env-config=f --plugin-config=r --plugins= -m= --table-mode= -I= \
    --include-path= --log-level= --log-target= --log-include= --log-exclude=";
const NODE: Flags = "--test -e=e -p=e -pe=e -r=m --eval=e --print=e --require=m --import=m --loader=m --experimental-loader=m --env-file=r \
    --env-file-if-exists=r -C= --conditions= --cpu-prof-dir=w --cpu-prof-name=w --diagnostic-dir=w --heap-prof-dir=w --heap-prof-name=w \
    --logfile=w --localstorage-file=w --report-dir=w --snapshot-blob=w --test-reporter-destination=w --redirect-warnings=w --report-directory=w --report-filename=w --trace-event-file-pattern=w";
const PYTHON: Flags = "-c=e -W= -X= -Q= -m=";
const IPYTHON: Flags = "-c=e -m= --InteractiveShellApp.code_to_run=e --InteractiveShellApp.exec_lines=e --TerminalIPythonApp.code_to_run=e \
    --TerminalIPythonApp.exec_lines=e --InteractiveShellApp.exec_files= --profile= --ext= --config=f --logfile=w --logappend=w";
const PHP: Flags = "-r=e --run=e -B=e --process-begin=e -R=e --process-code=e -E=e --process-end=e -F=f --process-file=f -f=f --file=f -d= \
    --define= -c= --php-ini= -z=c --zend-extension=c -S= --server= -t= --docroot= --rf= --rc= --re= --rz= --ri=";
const ELIXIR: Flags =
    "-e=b --eval=b --rpc-eval= -r=m -pr=m -S= -pa= -pz= --erl= --cookie= --name= --sname= --app= --dot-iex=f";
const GDB: Flags = "-x=r -ex=e -iex=e -ix=r -cd=d -p= -o=e -O=e -s=r -command=r --command=r -eval-command=e --eval-command=e -core=r --core=r -pid= --pid= \
    --one-line=e --source=r --cd=d";

#[rustfmt::skip]
pub(crate) const INTERPRETERS: &[Program] = &[
    special(&["R", "Rscript"], "-e=e -f=f --file=f -g= -d= --gui= --debugger= --encoding= --default-packages=", interpreter).interprets(SourceLanguage::R).start_up(&[".Rprofile", "~/.Rprofile", "$R_PROFILE_USER"]),
    special(&["elixir", "iex"], ELIXIR, interpreter).interprets(SourceLanguage::Elixir).start_up(&[".iex.exs", "~/.iex.exs"]),
    special(&["erl"], "- -eval=b -s= -run= -config=r -boot= -args_file=r -name= -sname= -setcookie= -pa= -pz=", interpreter).interprets(SourceLanguage::Erlang),
    special(&["ghc", "ghci", "runghc", "runhaskell"], "-e=e -ghci-script=f -package=", interpreter).interprets(SourceLanguage::Haskell),
    special(&["groovy", "groovysh"], "-e=e -c= -cp= -classpath= --classpath= --encoding=", interpreter).interprets(SourceLanguage::Groovy),
    special(&["guile"], "-c=e -e= -l=f -L= -C= -x= --listen?", interpreter).interprets(SourceLanguage::Scheme),
    special(&["ipython"], IPYTHON, interpreter).interprets(SourceLanguage::Python),
    special(&["irb", "pry"], "-e=e -r=m -I= -E=", interpreter).interprets(SourceLanguage::Ruby).start_up(&[".irbrc", "~/.irbrc", "$IRBRC", ".pryrc", "~/.pryrc", "$PRYRC"]),
    special(&["jshell"], "-R= -C= --startup=f --class-path= --module-path= --feedback= --execution=", interpreter).interprets(SourceLanguage::Compiled),
    special(&["julia"], "-e=e -E=e --eval=e --print=e -L=f --load=f -p= -t= -J= -C= -H= --procs= --threads= --sysimage= --home=", interpreter).interprets(SourceLanguage::Julia).start_up(&["~/.julia/config/startup.jl"]),
    special(&["lua", "luajit"], "-e=b -l=m -j= -b=", interpreter).interprets(SourceLanguage::Lua),
    special(&["ocaml", "utop"], "-e=e -init=f -I= -open=", interpreter).interprets(SourceLanguage::OCaml).start_up(&[".ocamlinit", "~/.ocamlinit"]),
    special(&["osascript"], "-e=e -l= -s=", interpreter).interprets(SourceLanguage::AppleScript),
    special(&["php"], PHP, interpreter).only_checks(&["-l", "--syntax-check"]).harmless(harmless::PHP).interprets(SourceLanguage::Php),
    special(&["racket"], "-e=b --eval=b -f=f --load=f -t=f --require=f -l= --lib= -p= -r=f --script=f -u=f --require-script=f -k= -I=", interpreter).interprets(SourceLanguage::Racket),
    special(&["scala"], "-e=e --script-snippet=e --execute-script=e -i=f -cp= -classpath=", interpreter).interprets(SourceLanguage::Scala),
    special(&["swift"], "-e=e -I= -L= -l= -D= -sdk= -target= -module-name=", interpreter).harmless(harmless::SWIFT).interprets(SourceLanguage::Swift).locks(&["Package.resolved"]),
    special(&["tclsh", "wish"], "-encoding= -name= -display= -geometry=", interpreter).interprets(SourceLanguage::Tcl).start_up(&["~/.tclshrc", "~/.wishrc"]),
    special(&["expect"], "-c=b -f=f -b=f", interpreter).interprets(SourceLanguage::Tcl).start_up(&["~/.expect.rc"]),
    special(&["bash", "hush", "ksh", "mksh", "loksh", "oksh", "osh", "pdksh", "rbash", "yash"], SHELL, shell).stdin(Stdin::Shell).quotes_like_sh(),
    special(&["zsh"], SHELL, shell).stdin(Stdin::Shell).quotes_like_sh().start_up(&["~/.zshenv"]),
    special(&["ash", "dash", "posh", "sh"], SHELL, shell).stdin(Stdin::Shell).quotes_like_sh().lacks_arithmetic(),
    special(&["csh", "elvish", "tcsh"], SHELL, shell).stdin(Stdin::Shell).start_up(&["~/.cshrc", "~/.tcshrc"]),
    special(&["fish"], FISH, shell).stdin(Stdin::Shell).ends_at_operand().start_up(&["~/.config/fish/config.fish"]),
    special(&["nu"], NUSHELL, shell).stdin(Stdin::Shell).ends_at_operand().start_up(&["~/.config/nushell/config.nu", "~/.config/nushell/env.nu"]),
    special(&["xonsh"], "-c=e --rc=f -D= --shell-type=", shell).stdin(Stdin::Shell).ends_at_operand(),
    special(&["at", "batch"], "-f=r -q= -t=", later).stdin(Stdin::Shell),
    special(&["bun"], NODE, bun).harmless(harmless::BUN).before_subcommand("--cwd= -c= --config=").interprets(SourceLanguage::JavaScript).runs_package_scripts().locks(&["bun.lock", "bun.lockb"]),
    special(&["deno"], NODE, deno).harmless(harmless::DENO).interprets(SourceLanguage::JavaScript).runs_package_scripts().locks(&["deno.lock"]),
    special(&["node", "nodejs"], NODE, interpreter).only_checks(&["-c", "--check"]).harmless(harmless::NODE).interprets(SourceLanguage::JavaScript).runs_package_scripts(),
    special(&["ts-node", "tsx"], NODE, interpreter).harmless(harmless::NODE).interprets(SourceLanguage::JavaScript).runs_package_scripts(),
    special(&["perl"], "-e=e -E=e -i? -I= -M? -m? -F? -x? -C? -d? -D?", in_place).harmless(harmless::PERL).interprets(SourceLanguage::Perl),
    special(&["pypy", "pypy3", "python", "python2", "python3"], PYTHON, interpreter).harmless(harmless::PYTHON).interprets(SourceLanguage::Python),
    special(&["gdb", "lldb"], GDB, debug).harmless(harmless::GDB).stdin(Stdin::Code)
        .start_up(&["~/.gdbinit", "~/.config/gdb/gdbinit", "~/.gdbearlyinit", ".gdbinit", "~/.lldbinit", ".lldbinit"]),
    special(&["powershell", "pwsh"], "-c=e -Command=e -f=r -File=r -ep= -ExecutionPolicy= -wd= -WorkingDirectory=", powershell::run).interprets(SourceLanguage::PowerShell),
    special(&["ruby"], "-e=e -i? -I= -r=m -F? -C= -x?", in_place).only_checks(&["-c"]).harmless(harmless::RUBY).interprets(SourceLanguage::Ruby),
];

/// `python -c CODE`, `node -e CODE`, `python <<EOF`, `python FILE`.
fn interpreter(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let code = code_in_options(analyzer, call);
    run_rest(analyzer, call, &code, &call.arguments.operands);
}

/// `deno run FILE`.
fn deno(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let code = code_in_options(analyzer, call);
    run_rest(analyzer, call, &code, without_run(&call.arguments.operands));
}

/// `bun run FILE`, or a program of the package.
fn bun(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let code = code_in_options(analyzer, call);
    if !own_programs::run_by_bun(analyzer, call) {
        run_rest(analyzer, call, &code, without_run(&call.arguments.operands));
    }
}

/// The operands without a subcommand that runs a script.
fn without_run(operands: &[Field]) -> &[Field] {
    match operands {
        [first, rest @ ..] if matches!(first.text.as_str(), "run" | "repl") => rest,
        _ => operands,
    }
}

/// The code in options, which is read.
fn code_in_options(analyzer: &mut Analyzer<'_>, call: &Call<'_>) -> Vec<Field> {
    let code = call.arguments.code(call.program.options).filter(|code| code.text != "-");
    let code: Vec<Field> = code.cloned().collect();
    for text in &code {
        // All of it is the output of another command, or the value of a variable.
        if is_wholly_unknown(text) {
            analyzer.unknown_code(call.name, text.shown());
        } else {
            analyzer.inline_code(call.name, text.shown());
        }
    }
    code
}

/// What an interpreter runs besides the code in its options: modules, a script or its input.
fn run_rest(analyzer: &mut Analyzer<'_>, call: &Call<'_>, code: &[Field], operands: &[Field]) {
    preloaded(analyzer, call);
    analyzer.imported(call);
    if call.program.language == Some(SourceLanguage::Python)
        && let Some(module) = call.arguments.value(&["-m"])
    {
        return python_module(analyzer, call, module);
    }
    if only_checks(call, operands) {
        return operands.iter().for_each(|file| analyzer.reads(file, call.command));
    }
    let flags = call.program.options;
    if call.arguments.values_of(flags, b'e').next().is_some() {
        return operands_of_code(analyzer, call, code, operands);
    }
    let has_code = !code.is_empty() || call.arguments.values_of(flags, b'f').next().is_some();
    run_operands(analyzer, call, operands, has_code);
}

/// Whether an option before the script says that it is only checked.
fn only_checks(call: &Call<'_>, operands: &[Field]) -> bool {
    let Some(script) = operands.first() else { return false };
    let words = call.fields.get(1..).unwrap_or_default();
    let end = words.iter().position(|word| word.text == script.text).unwrap_or_default();
    let options = arguments::parse(call.program.options, words.get(..end).unwrap_or_default());
    call.program.only_checks_in(&options)
}

/// Runs the script that the first operand is, or reads code from the input if there is no other.
fn run_operands(analyzer: &mut Analyzer<'_>, call: &Call<'_>, operands: &[Field], has_code: bool) {
    match operands.first() {
        Some(script) if script.text == "eval" && operands.len() > 1 => {
            let text: Vec<String> = operands.iter().skip(1).map(Field::shown).collect();
            analyzer.inline_code(call.name, text.join(" "));
        }
        Some(script) if is_input(script) || script.text == "-" => {
            let code = match analyzer.input() {
                Stream::Text(printed) => vec![printed.text.clone()],
                _ => Vec::new(),
            };
            analyzer.code_from_input(call.name, Language::Other);
            operands_of_code(analyzer, call, &code, operands.get(1..).unwrap_or_default());
        }
        Some(script) if is_descriptor(script) => {
            analyzer.code_from_process(call.name, Language::Other, &[]);
            operands_of_code(analyzer, call, &[], operands.get(1..).unwrap_or_default());
        }
        Some(script) => {
            analyzer.script_file(script, call, Language::Other);
            analyzer.unknown_program(operands);
        }
        None if has_code => {}
        None => analyzer.code_from_input(call.name, Language::Other),
    }
}

/// `python -m MODULE`: two modules unpack archives, and some run code or a script.
fn python_module(analyzer: &mut Analyzer<'_>, call: &Call<'_>, module: &Field) {
    let operands = &call.arguments.operands;
    match module.text.as_str() {
        "IPython" | "asyncio" | "code" => analyzer.code_from_input(call.name, Language::Other),
        "venv" | "virtualenv" => {
            for directory in operands.iter().filter(|directory| directory.is_literal()) {
                analyzer.touch(Access::MakeDirectory, directory, call.command);
                let settings = format!("{}/pyvenv.cfg", directory.text.trim_end_matches('/'));
                analyzer.touch(Access::Write, &directory.with(settings), call.command);
            }
        }
        // Its second operand is written.
        "json.tool" => {
            if let Some(output) = operands.get(1) {
                analyzer
                    .by_option(&output.text, |analyzer| analyzer.touch(Access::Write, output, call.command));
            }
        }
        "tarfile" | "zipfile" => created_archive(analyzer, call, module),
        "compileall" | "py_compile" => {
            for source in operands {
                let directory =
                    if module.text == "compileall" { source.clone() } else { files::directory_of(source) };
                let caches = format!("{}/__pycache__", directory.text.trim_end_matches('/'));
                analyzer.touch_tree(Access::Write, &source.with(caches), call.command);
            }
        }
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
    own_programs::run_module(analyzer, call, module);
    let is_archive = matches!(module.text.as_str(), "tarfile" | "zipfile");
    if !is_archive || !call.arguments.has(&["-e", "--extract"]) {
        return analyzer.unknown_program(call.fields);
    }
    if let [archive, rest @ ..] = call.arguments.operands.as_slice() {
        analyzer.reads(archive, call.command);
        archives::extracted(analyzer, call, rest.first(), Some(archive));
    }
}

/// `python -m zipfile -c ARCHIVE FILES`.
fn created_archive(analyzer: &mut Analyzer<'_>, call: &Call<'_>, module: &Field) {
    let words = call.fields.iter().skip_while(|field| *field != module).skip(1);
    let words: Vec<&Field> = words.collect();
    if let [option, archive, files @ ..] = words.as_slice()
        && matches!(option.text.as_str(), "-c" | "--create")
    {
        analyzer.touch(Access::Write, archive, call.command);
        files.iter().for_each(|file| analyzer.touch_tree(Access::Read, file, call.command));
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
        // The code may run it.
        if runs_operands {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(operand, "sh")));
        }
        analyzer.unknown_words(&[Field::literal(call.name), operand.clone()]);
    }
}

/// What an interpreter runs apart from its script: modules and files that it loads first, and later the input of its terminal.
fn preloaded(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let flags = call.program.options;
    for module in call.arguments.values_of(flags, b'm') {
        analyzer.inline_code(call.name, module.shown());
    }
    for file in call.arguments.values_of(flags, b'f') {
        if is_input(file) || file.text == "-" {
            analyzer.code_from_input(call.name, Language::Other);
        } else if is_descriptor(file) {
            analyzer.code_from_process(call.name, Language::Other, &[]);
        } else {
            analyzer.written_code(file, call.command, call.name, Language::Other);
        }
    }
    let may_be_interactive = call.program.language.is_some_and(SourceLanguage::has_interactive_option);
    if may_be_interactive && call.arguments.has(&["-i", "--interactive"]) {
        analyzer.code_from_input(call.name, Language::Other);
    }
    start_up::files(analyzer, call);
}

/// `gdb -ex COMMAND --args PROGRAM ARGUMENTS`.
fn debug(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let flags = call.program.options;
    let mut commands: Vec<String> = call.arguments.code(flags).map(|code| code.text.clone()).collect();
    for file in call.arguments.values(&["-x", "-ix", "-s", "-command", "--command", "--source"]) {
        if let Stream::Text(printed) = analyzer.content(file) {
            commands.extend(printed.text.text.lines().map(str::to_owned));
        }
    }
    if let Stream::Text(printed) = analyzer.input().clone() {
        commands.extend(printed.text.text.lines().map(str::to_owned));
    }
    commands.extend(
        start_up::texts(analyzer, call.program).iter().flat_map(|text| text.text.lines()).map(str::to_owned),
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
    // `-M'X; CODE'`: the module is a text in `use X`.
    let modules = arguments.values(&["-M", "-m"]).filter(|module| module.text.contains([';', '{', '(']));
    modules.for_each(|module| analyzer.inline_code(call.name, module.shown()));
    // Its debugger reads commands.
    let is_debugged = call.program.language == Some(SourceLanguage::Perl) && arguments.has(&["-d"]);
    if is_debugged && matches!(analyzer.input(), Stream::Text(_) | Stream::Unknown) {
        analyzer.doubt_script(call.name);
    }
    let loops = arguments.has(&["-n", "-p", "-i"]);
    let has_code = arguments.code(call.program.options).next().is_some();
    if !(loops && has_code) {
        interpreter(analyzer, call);
        return;
    }
    for code in arguments.code(call.program.options) {
        analyzer.inline_code(call.name, code.shown());
    }
    for file in &arguments.operands {
        if let Some(code) = piped_operand(call, file) {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
            continue;
        }
        if arguments.has(&["-i"]) {
            analyzer.by_option("-i", |analyzer| {
                analyzer.touch(Access::Write, file, call.command);
                for suffix in arguments.values(&["-i"]) {
                    keeps_copy(analyzer, file, &suffix.text, call.command);
                }
            });
        }
        analyzer.reads(file, call.command);
    }
}

/// A command that Perl runs instead of opening a file: `perl -ne CODE 'ls |'`.
fn piped_operand(call: &Call<'_>, operand: &Field) -> Option<Field> {
    if call.program.language == Some(SourceLanguage::Perl) { inline_calls::piped_name(operand) } else { None }
}

/// Whether a file is the standard input.
pub(crate) fn is_input(file: &Field) -> bool {
    file.text == "/dev/stdin" || descriptor(file) == Some("0")
}

/// Whether bash takes a file for a connection to another machine.
pub(crate) fn is_connection(file: &Field) -> bool {
    file.text.starts_with("/dev/tcp/") || file.text.starts_with("/dev/udp/")
}

/// Whether a file is an open one: that of a process substitution, or one that `exec` opened.
pub(crate) fn is_descriptor(file: &Field) -> bool {
    descriptor(file).is_some()
}

/// The descriptor in `/dev/fd/N`, `/proc/self/fd/N` or `/proc/PID/fd/N`.
fn descriptor(file: &Field) -> Option<&str> {
    let of_process = || {
        let (process, number) = file.text.strip_prefix("/proc/")?.rsplit_once("/fd/")?;
        if process.split('/').any(|part| part == "..") { None } else { Some(number) }
    };
    file.text.strip_prefix("/dev/fd/").or_else(of_process)
}

/// Without a `-` at the start, which ends the options or stands for one.
pub(crate) fn without_dash(words: &[Field]) -> &[Field] {
    words.split_first().filter(|(first, _)| first.text == "-").map_or(words, |(_, rest)| rest)
}
