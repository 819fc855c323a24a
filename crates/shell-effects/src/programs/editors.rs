//! Editors, which may write what they open, and formatters.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::arguments::{self, Call, Flags};
use crate::programs::interpreters::{is_descriptor, is_input};
use crate::programs::program::{
    Action, Formatting, Program, Stdin, Subcommand, SubcommandAction, each, special,
};

#[rustfmt::skip]
pub(crate) const EDITORS: &[Program] = &[
    special(&["code", "helix", "hx", "micro", "nano", "nvim", "pico", "subl", "vi", "vim"], "-c= --cmd= -S=r -u= -s=r -w=w", edit),
    special(&["ed", "red"], "-p= --prompt=", edit).stdin(Stdin::Code),
    special(&["emacs", "emacsclient"], "-l=r -f= -d= -u= --load=r --eval= --execute= --funcall= --directory= -e= -s= --socket-name=", edit),
    special(&["ex"], SILENT_VI, edit).stdin(Stdin::Code),
    each(&["sudoedit", "visudo"], "", Access::Write, 0),
];

/// The options of `ex`, and of `vi -e`.
const SILENT_VI: Flags = "-c= --cmd= -S=r -u= -w=w";

/// What asks a formatter to change files.
#[rustfmt::skip]
const ASKED: Formatting = Formatting::If(&[
    "--write", "-w", "--fix", "-i", "--in-place", "-a", "-A", "--autocorrect", "--autocorrect-all",
    "--replace", "-F", "--apply", "--apply-unsafe", "-m", "-modify",
]);

/// Options of formatters.
const FORMATTER: Flags = "--config= --config-path= --config-file= -c? --edition= -l? --line-length= --parser= --style= --stdin-filepath= \
    --ignore-path= --emit= --parser-path= --plugin=c --rulesdir=c --resolve-plugins-relative-to=c --cache-location=c --init-hook=c --target-version= --profile= --select= --ignore= --rules= \
    --output-file=w -o=c -ln= --filename= --settings-path= --settings-file=";

const fn formats(names: &'static [&'static str], formatting: Formatting) -> Program {
    Program::new(names).options(FORMATTER).action(Action::Format(formatting))
}

/// Formatters and linters: some change files unless they only check, others only when they are asked to.
#[rustfmt::skip]
pub(crate) const FORMATTERS: &[Program] = &[
    formats(&[
        "autopep8", "clang-format", "cmake-format", "eslint", "gofmt", "gofumpt", "goimports", "google-java-format",
        "ktlint", "oxlint", "prettier", "rubocop", "shfmt", "standard", "stylelint", "tidy", "yapf",
    ], ASKED),
    formats(&["biome"], ASKED).subcommands(&[Subcommand::formats(&["check", "ci", "format", "lint"], ASKED)]),
    formats(&["black"], Formatting::Unless(&["--check", "--diff"])),
    formats(&["buildifier"], Formatting::Unless(&["-mode", "--mode", "--lint"])),
    formats(&["dos2unix", "unix2dos"], Formatting::Unless(&["-i", "--info"])),
    formats(&["isort"], Formatting::Unless(&["-c", "--check", "--check-only", "--diff", "--stdout"])),
    formats(&["mdformat"], Formatting::Unless(&["--check"])),
    formats(&["nixfmt", "stylua"], Formatting::Unless(&["-c", "--check"])),
    formats(&["ruff"], ASKED).subcommands(&[
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

/// Editors: what they open they may write.
fn edit(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    // With `-e`, `-s` is silent and takes no file of commands.
    let is_silent = |field: &Field| field.text.starts_with("-e") || field.text.starts_with("-E");
    let is_vi = matches!(call.name, "ex" | "vi" | "vim" | "nvim");
    let silent =
        if is_vi && words.iter().any(is_silent) { Some(arguments::parse(SILENT_VI, words)) } else { None };
    let arguments = silent.as_ref().unwrap_or(&call.arguments);
    let runs_shell = is_vi || call.program.stdin == Stdin::Code;
    for code in arguments.values(&["-c", "--cmd", "--eval", "--execute", "-e"]) {
        analyzer.inline_code(call.name, code.shown());
        if runs_shell {
            shell_commands(analyzer, &code.text);
        }
    }
    for file in arguments.values(&["-S", "-s", "-u", "-l", "--load"]) {
        if is_descriptor(file) {
            analyzer.code_from_process(call.name, Language::Other, &[]);
        } else if is_input(file) {
            analyzer.code_from_input(call.name, Language::Other);
        } else {
            if let Stream::Text(printed) = analyzer.content(file)
                && runs_shell
            {
                shell_commands(analyzer, &printed.text.text);
            }
            analyzer.written_code(file, call.command, call.name, Language::Other);
        }
    }
    let (codes, files): (Vec<&Field>, Vec<&Field>) =
        arguments.operands.iter().partition(|field| field.text.starts_with('+'));
    for code in codes {
        let code = code.text.trim_start_matches('+').to_owned();
        if runs_shell {
            shell_commands(analyzer, &code);
        }
        analyzer.inline_code(call.name, code);
    }
    if call.program.stdin == Stdin::Code || silent.is_some() {
        if let Stream::Text(printed) = analyzer.input().clone() {
            shell_commands(analyzer, &printed.text.text);
        }
        analyzer.code_from_input(call.name, Language::Other);
    }
    for file in files {
        analyzer.reads(file, call.command);
        analyzer.touch(Access::Write, file, call.command);
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
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
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
            // What `find` prints are the files themselves.
            let access = if file.kind == FieldKind::Tree { Access::Write } else { Access::Format };
            analyzer.touch(access, file, call.command);
        }
        analyzer.reads(file, call.command);
    }
}
