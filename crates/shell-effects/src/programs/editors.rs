//! Editors, which may write the files that they open, and formatters.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::action::{Action, Formatting, Stdin, Subcommand, SubcommandAction};
use crate::programs::arguments::{self, Arguments, Call, Flags};
use crate::programs::harmless;
use crate::programs::interpreters::{is_descriptor, is_input};
use crate::programs::program::{Editor, Program, each, special};
use crate::programs::{start_up, table};
use crate::{Access, Doubt};

/// Vi and its variants, including the names in Debian.
#[rustfmt::skip]
const VI: &[&str] = &[
    "vi", "vim", "nvim", "editor", "elvis", "evim", "nvi", "rgview", "rgvim", "rview", "rvim", "vile", "view", "vim.basic", "vim.gtk3", "vim.nox",
    "vim.tiny", "vimdiff", "vimx",
];

#[rustfmt::skip]
pub(crate) const EDITORS: &[Program] = &[
    special(&["code", "helix", "hx", "micro", "nano", "pico", "subl"], "", edit),
    special(VI, SILENT_VI, edit).editor(Editor::Vi).takes_commands().harmless(harmless::VI).start_up(VIMRC),
    special(&["ed", "red"], "-p= --prompt=", edit).editor(Editor::Ed).stdin(Stdin::Code),
    special(&["emacs", "emacsclient"], "-l=r -f= -d= -u= --load=r --script=r --eval=e --execute=e --funcall= --directory= -e=e -s= --socket-name=", edit).takes_commands().harmless(harmless::EMACS),
    special(&["ex"], SILENT_VI, edit).editor(Editor::Vi).stdin(Stdin::Code).start_up(VIMRC),
    each(&["sudoedit", "visudo"], "", Access::Write, 0),
];

#[rustfmt::skip]
const VIMRC: &[&str] = &[
    "~/.vimrc", "~/.exrc", "~/.gvimrc", "~/.vim/vimrc", "~/.config/nvim/init.vim", "~/.config/nvim/init.lua", ".vimrc", ".exrc", "$MYVIMRC",
];

/// The options of `ex`, and of `vi -e`. There, `-s` is silent.
const SILENT_VI: Flags = "-c=e --cmd=e -S=r -u= -w=w -W=w -i=w -V? -T= -U= --startuptime=w";

/// The options of `vi` as a screen editor: after `-s` it reads keys from a file.
const SCREEN_VI: Flags = "-c=e --cmd=e -S=r -u= -s=r -w=w -W=w -i=w -V? -T= -U= --startuptime=w";

/// The options with which formatters change files.
#[rustfmt::skip]
const ASKED: Formatting = Formatting::If(&[
    "--write", "-w", "--fix", "-i", "--in-place", "-a", "-A", "--autocorrect", "--autocorrect-all",
    "--replace", "-F", "--apply", "--apply-unsafe", "-m", "-modify",
]);

/// Options of formatters.
const FORMATTER: Flags = "--cache --config= --config-path= --config-file= -c? --edition= -l? --line-length= --parser= --style= --stdin-filepath= \
    --ignore-path= --emit= --parser-path= --plugin=c --rulesdir=c --resolve-plugins-relative-to=c --cache-location=c --init-hook=c --target-version= --profile= --select= --ignore= --rules= \
    --output-file=w -o=c -ln= --filename= --settings-path= --settings-file=";

const fn formats(names: &'static [&'static str], formatting: Formatting) -> Program {
    Program::new(names).options(FORMATTER).action(Action::Format(formatting))
}

/// Formatters and linters: some change files unless they only check, others only with an option.
#[rustfmt::skip]
pub(crate) const FORMATTERS: &[Program] = &[
    formats(&[
        "autopep8", "clang-format", "cmake-format", "google-java-format",
        "ktlint", "oxlint", "shfmt", "standard", "tidy", "yapf",
    ], ASKED),
    formats(&["eslint"], ASKED).harmless(harmless::ESLINT),
    formats(&["gofmt", "gofumpt", "goimports"], ASKED).harmless(harmless::GOFMT),
    formats(&["prettier"], ASKED).harmless(harmless::PRETTIER),
    formats(&["rubocop"], ASKED).harmless(harmless::RUBOCOP),
    formats(&["stylelint"], ASKED).harmless(harmless::STYLELINT),
    formats(&["biome"], ASKED).subcommands(&[Subcommand::formats(&["check", "ci", "format", "lint"], ASKED)]),
    formats(&["black"], Formatting::Unless(&["--check", "--diff"])).harmless(harmless::BLACK),
    formats(&["buildifier"], Formatting::Unless(&["-mode", "--mode", "--lint"])),
    formats(&["dos2unix", "unix2dos"], Formatting::Unless(&["-i", "--info"])),
    formats(&["isort"], Formatting::Unless(&["-c", "--check", "--check-only", "--diff", "--stdout"])).harmless(harmless::ISORT),
    formats(&["mdformat"], Formatting::Unless(&["--check"])),
    formats(&["nixfmt", "stylua"], Formatting::Unless(&["-c", "--check"])),
    formats(&["ruff"], ASKED).harmless(harmless::RUFF).subcommands(&[
        Subcommand::formats(&["format"], Formatting::Unless(&["--check", "--diff"])),
        Subcommand::formats(&["check", "rule"], ASKED),
    ]),
    formats(&["rustfmt"], Formatting::Unless(&["--check", "--emit"])),
    formats(&["swiftformat"], Formatting::Unless(&["--dryrun", "--lint"])),
    formats(&["taplo"], ASKED).subcommands(&[
        Subcommand::formats(&["fmt", "format"], Formatting::Unless(&["--check"])),
        Subcommand::formats(&["check", "get", "lint"], ASKED),
    ]),
];

/// Editors may write the files that they open.
fn edit(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let is_vi = call.program.editor == Some(Editor::Vi);
    let is_silent = call.program.stdin == Stdin::Code || call.arguments.has(&["-e", "-E"]);
    let keys = if is_vi && !is_silent { Some(arguments::parse(SCREEN_VI, words)) } else { None };
    let arguments = keys.as_ref().unwrap_or(&call.arguments);
    for file in keys.iter().flat_map(|keys| keys.values(&["-s"])) {
        analyzer.reads(file, call.command);
    }
    let codes: Vec<String> = arguments.code(call.program.options).map(Field::shown).collect();
    let directory = codes.iter().flat_map(|code| code.split('|')).find_map(directory_in).map(Field::literal);
    let directory = if is_vi { directory.as_ref() } else { None };
    analyzer.in_directory(directory, |analyzer| {
        codes.into_iter().for_each(|code| analyzer.inline_code(call.name, code));
    });
    for file in arguments.values(&["-S", "-s", "-u", "-l", "--load", "--script"]) {
        if is_descriptor(file) {
            analyzer.code_from_process(call.name, Language::Other, &[]);
        } else if is_input(file) {
            analyzer.code_from_input(call.name, Language::Other);
        } else {
            analyzer.written_code(file, call.command, call.name, Language::Other);
        }
    }
    let (codes, files): (Vec<&Field>, Vec<&Field>) =
        arguments.operands.iter().partition(|field| field.text.starts_with('+'));
    for code in codes {
        let code = code.text.trim_start_matches('+').to_owned();
        analyzer.inline_code(call.name, code);
    }
    if call.program.stdin == Stdin::Code || is_vi && is_silent {
        analyzer.code_from_input(call.name, Language::Other);
    }
    if is_vi {
        start_up::files(analyzer, call);
    }
    opened(analyzer, call, arguments, &files);
}

/// The directory to which a command of vi goes.
fn directory_in(command: &str) -> Option<&str> {
    let (name, directory) = command.trim_start_matches([' ', ':']).split_once(' ')?;
    if matches!(name, "cd" | "chdir" | "lc" | "lcd" | "tc" | "tcd") { Some(directory.trim()) } else { None }
}

/// The files that an editor opens, and its log.
fn opened(analyzer: &mut Analyzer<'_>, call: &Call<'_>, arguments: &Arguments, files: &[&Field]) {
    // `-V9FILE` is a log.
    for log in arguments.values(&["-V"]) {
        let file = log.text.trim_start_matches(|c: char| c.is_ascii_digit());
        if !file.is_empty() {
            analyzer.touch(Access::Write, &log.with(file), call.command);
        }
    }
    for file in files {
        // `ed '!CODE'`.
        if let Some(code) = file.text.strip_prefix('!')
            && call.program.stdin == Stdin::Code
        {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&file.with(code), "sh")));
            continue;
        }
        analyzer.reads(file, call.command);
        analyzer.touch(Access::Write, file, call.command);
    }
}

/// Functions and commands of vi with code for a shell, besides `!`.
const RUNNING: &[&str] = &[
    "system(",
    "systemlist(",
    "job_start(",
    "jobstart(",
    "term_start(",
    "termopen(",
    "terminal ",
    "terminal! ",
    "ter ",
    "term ",
    "makeprg=",
    "mp=",
    "grepprg=",
    "gp=",
    "equalprg=",
    "ep=",
    "formatprg=",
    "fp=",
    "keywordprg=",
    "kp=",
    "shell=",
    "sh=",
    "printexpr=",
    "csprg=",
];

/// What an editor's own commands run.
pub(crate) fn run_commands(analyzer: &mut Analyzer<'_>, editor: &str, commands: &str) {
    let Some(of_editor) = table::by_name(editor).and_then(|program| program.editor) else { return };
    shell_commands(analyzer, commands);
    if of_editor != Editor::Vi {
        return;
    }
    opening_commands(analyzer, editor, commands);
    for start in RUNNING {
        for (at, start) in commands.match_indices(start) {
            let before = commands.get(..at).unwrap_or_default();
            let rest = commands.get(at + start.len()..).unwrap_or_default();
            if before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
                continue;
            }
            let line = rest.split('\n').next().unwrap_or_default();
            if let Some(list) = line.strip_prefix('[') {
                let texts = list.split(']').next().unwrap_or_default().split(['\'', '"']).skip(1).step_by(2);
                let words: Vec<Field> = texts.map(Field::literal).collect();
                analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
                continue;
            }
            let code = line.trim_start_matches(['\'', '"', ' ']);
            let code = code.split(['\'', '"']).next().unwrap_or_default().replace("\\ ", " ");
            analyzer.as_part(|analyzer| {
                analyzer.subshell(|analyzer| analyzer.code(&Field::literal(code), "sh"));
            });
        }
    }
}

/// Commands of vi that open each file that a pattern matches.
const OPENING: &[&str] = &[
    "ar", "arga", "argadd", "args", "badd", "e", "edit", "ex", "n", "new", "next", "r", "read", "sp",
    "split", "sv", "sview", "tabe", "tabedit", "tabnew", "vi", "view", "visual", "vnew", "vs", "vsplit",
];

/// Files that commands of vi open by a pattern, and scripts that they run: `args *.c`, `source FILE`.
fn opening_commands(analyzer: &mut Analyzer<'_>, editor: &str, commands: &str) {
    let mut patterns = Vec::new();
    for command in commands.split(['\n', '|']) {
        let command = command.trim_start_matches([' ', ':']);
        let Some((name, rest)) = command.split_once(' ') else { continue };
        let name = name.trim_end_matches('!');
        if OPENING.contains(&name) {
            let words = rest.split_whitespace().filter(|word| word.contains(['*', '?', '[', '{']));
            patterns.extend(words.map(str::to_owned));
        }
        if matches!(name, "so" | "sour" | "source" | "ru" | "runtime") {
            let command = analyzer.last_command();
            analyzer.written_code(&Field::literal(rest.trim()), command, "vim", Language::Other);
        }
    }
    if !patterns.is_empty() {
        let (words, bases) = (vec![editor.to_owned()], analyzer.state.bases().to_vec());
        analyzer.doubt(Doubt::UnknownProgram { words, patterns, bases });
    }
}

/// The commands for a shell among those of an editor: `!CODE`, `r !CODE`, `silent !CODE`. After a name, `!` only insists: `q!`.
fn shell_commands(analyzer: &mut Analyzer<'_>, commands: &str) {
    for line in commands.replace("\\\n", "").lines() {
        let starts = |(at, _): &(usize, &str)| {
            let before = line.get(..*at).unwrap_or_default();
            !before.ends_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '!' | '=' | '~' | '\\' | '\''))
        };
        let Some((at, _)) = line.match_indices('!').find(starts) else { continue };
        let code = Field::literal(line.get(at + 1..).unwrap_or_default());
        // `w !CODE`: the text is its input.
        let gets_text = line.get(..at).unwrap_or_default().trim_end().ends_with(['w', 'c', '%']);
        analyzer.as_part(|analyzer| {
            analyzer.subshell(|analyzer| {
                if gets_text {
                    analyzer.set_input(Stream::Unknown);
                }
                analyzer.code(&code, "sh");
            });
        });
    }
}

/// Whether a formatter with these words changes the files that it is given. No other program does.
#[must_use]
pub fn formats_files(words: &[&str]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    let Some(program) = table::by_name(name) else { return false };
    let Action::Format(mut formatting) = program.action else { return false };
    if let Some(subcommand) = rest.first().and_then(|first| program.subcommand(first))
        && let SubcommandAction::Format(of_subcommand) = subcommand.action
    {
        formatting = of_subcommand;
    }
    let has =
        |options: &[&str]| rest.iter().any(|word| options.contains(&word.split('=').next().unwrap_or(word)));
    match formatting {
        Formatting::If(asking) => has(asking),
        Formatting::Unless(looking) => !has(looking),
    }
}

/// A formatter, whose first operand may be a subcommand.
pub(crate) fn format(analyzer: &mut Analyzer<'_>, call: &Call<'_>, formatting: Formatting) {
    let (mut formatting, mut files) = (formatting, call.arguments.operands.as_slice());
    if let Some((first, rest)) = files.split_first()
        && let Some(subcommand) = call.program.subcommand(&first.text)
        && let SubcommandAction::Format(of_subcommand) = subcommand.action
    {
        (formatting, files) = (of_subcommand, rest);
    }
    let writes = match formatting {
        Formatting::If(asking) => call.arguments.has(asking),
        Formatting::Unless(looking) => !call.arguments.has(looking),
    };
    if let Formatting::If(asking) = formatting {
        let mut asked = call.arguments.flags.iter().filter(|(flag, _)| asking.contains(&flag.as_str()));
        if let Some((option, _)) = asked.next() {
            analyzer.acts_by(option, call.command);
        }
    }
    for file in files {
        if writes {
            // `find` prints the files themselves.
            let access = if file.kind == FieldKind::Tree { Access::Write } else { Access::Format };
            analyzer.touch(access, file, call.command);
        }
        analyzer.reads(file, call.command);
    }
}
