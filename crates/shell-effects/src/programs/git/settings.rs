//! `git config`, and the commands that git runs: aliases, the programs that settings name, and what a subcommand is given.

use super::GitCall;
use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::is_wholly_unknown;
use crate::analysis::field::Field;
use crate::programs::arguments::{self, Arguments};

/// Settings with a program that a shell runs: section, and name after any subsection.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("browser", &["cmd"]),
    ("core", &["alternaterefscommand", "askpass", "editor", "fsmonitor", "gitproxy", "pager", "sshcommand"]),
    ("diff", &["command", "external", "textconv"]),
    ("difftool", &["cmd"]),
    ("filter", &["clean", "process", "smudge"]),
    ("gpg", &["program"]),
    ("interactive", &["difffilter"]),
    ("man", &["cmd"]),
    ("merge", &["driver"]),
    ("mergetool", &["cmd"]),
    ("remote", &["receivepack", "uploadpack"]),
    ("sequence", &["editor"]),
    ("trailer", &["cmd", "command"]),
    ("uploadpack", &["packobjectshook"]),
];

/// Options that only look at settings.
const LOOKING: &[&str] = &[
    "-l",
    "--list",
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
];
const CHANGING: &[&str] = &[
    "--add",
    "--unset",
    "--unset-all",
    "--replace-all",
    "--rename-section",
    "--remove-section",
    "-e",
    "--edit",
];

impl GitCall {
    /// Commands that a subcommand runs.
    pub(super) fn runs(&self, analyzer: &mut Analyzer<'_>) {
        let subcommand = self.subcommand.as_str();
        let operands = &self.arguments.operands;
        let is = |name: &str| operands.first().is_some_and(|first| first.text == name);
        if subcommand == "bisect" && is("run") {
            let words = self.rest.iter().skip_while(|field| field.text != "run").skip(1);
            let words: Vec<Field> = words.cloned().collect();
            analyzer.deeper(|analyzer| analyzer.run_fields(&words));
        } else if subcommand == "submodule" && is("foreach") {
            let words = self.rest.iter().skip_while(|field| field.text != "foreach").skip(1);
            let words: Vec<Field> = words.skip_while(|field| field.text.starts_with('-')).cloned().collect();
            analyzer.subshell(|analyzer| {
                // In each of the submodules.
                analyzer.state.directories.lose();
                match words.as_slice() {
                    [code] => analyzer.code(code, "sh"),
                    words => analyzer.deeper(|analyzer| analyzer.run_fields(words)),
                }
            });
        } else if matches!(subcommand, "rebase" | "difftool") {
            let options = arguments::parse("-x= --exec= --extcmd=", &self.rest);
            for code in options.values(&["-x", "--exec", "--extcmd"]) {
                analyzer.subshell(|analyzer| analyzer.code(code, "sh"));
            }
        }
    }

    /// `git clone -c KEY=VALUE`.
    pub(super) fn settings(&self, analyzer: &mut Analyzer<'_>) {
        let options = arguments::parse("-c= --config=", &self.rest);
        for setting in options.values(&["-c", "--config"]) {
            if let Some((key, value)) = setting.text.split_once('=') {
                analyzer.git_setting(key, &setting.with(value));
            }
        }
    }

    /// `ext::COMMAND` as the address of a repository: a command talks to it. A blank in one of its words is `% `.
    pub(super) fn connects(&self, analyzer: &mut Analyzer<'_>) {
        const BLANK: char = '\u{1}';
        for operand in &self.rest {
            let Some((_, command)) =
                operand.text.split_once("ext::").filter(|(option, _)| is_address(option))
            else {
                continue;
            };
            let command = command.replace("% ", &BLANK.to_string());
            let words = command.split_whitespace().map(|word| operand.with(word.replace(BLANK, " ")));
            let words: Vec<Field> = words.collect();
            analyzer.deeper(|analyzer| analyzer.run_fields(&words));
        }
    }
}

/// Whether an address follows: it is the whole word, or the value of an option.
fn is_address(before: &str) -> bool {
    before.is_empty() || before.starts_with("--") && before.ends_with('=')
}

impl Analyzer<'_> {
    /// An alias with the words after it.
    pub(super) fn git_alias(&mut self, alias: &str, rest: &[Field]) {
        match alias.strip_prefix('!') {
            Some(code) => {
                let words: Vec<String> = rest.iter().map(Field::quoted).collect();
                let code = Field::literal(format!("{code} {}", words.join(" ")));
                self.subshell(|analyzer| analyzer.code(&code, "sh"));
            }
            None => {
                let words = std::iter::once("git").chain(alias.split_whitespace()).map(Field::literal);
                let words: Vec<Field> = words.chain(rest.iter().cloned()).collect();
                self.deeper(|analyzer| analyzer.run_fields(&words));
            }
        }
    }

    /// What a setting lets git run: a program, or an alias, which is run now as far as we know.
    pub(super) fn git_setting(&mut self, key: &str, value: &Field) {
        let key = key.to_ascii_lowercase();
        let (section, name) =
            (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
        let names_program = section == "pager"
            || PROGRAMS.iter().any(|(known, names)| *known == section && names.contains(&name));
        self.as_part(|analyzer| match section {
            "alias" if value.is_literal() => {
                analyzer.subshell(|analyzer| analyzer.git_alias(&value.text, &[]))
            }
            "credential" if name == "helper" => {
                if let Some(code) = value.text.strip_prefix('!') {
                    analyzer.subshell(|analyzer| analyzer.code(&value.with(code), "sh"));
                }
            }
            _ if names_program => analyzer.subshell(|analyzer| analyzer.code(value, "sh")),
            _ => {}
        });
    }
}

impl GitCall {
    /// It writes where a value is given, or something is removed or renamed.
    pub(super) fn config(&self, analyzer: &mut Analyzer<'_>) {
        let arguments = &self.arguments;
        let file = arguments.value(&["-f", "--file"]);
        if let Some(file) = file {
            analyzer.reads(file, self.command);
        }
        let Some(operands) = changed(arguments) else { return };
        match file {
            Some(file) => {
                analyzer.by_option("--file", |analyzer| analyzer.touch(Access::Write, file, self.command))
            }
            None => self.scoped(analyzer, arguments),
        }
        if let [key, value, ..] = operands {
            analyzer.git_setting(&key.text, value);
        }
    }

    /// The file of the user or of the machine. That of the repository is git's own.
    fn scoped(&self, analyzer: &mut Analyzer<'_>, arguments: &Arguments) {
        // Git takes what is short for one option.
        let has = |option: &str| {
            arguments.flags.iter().any(|(flag, _)| flag.len() > 3 && option.starts_with(flag.as_str()))
        };
        let home = analyzer.home().map(|home| format!("{}/.gitconfig", home.trim_end_matches('/')));
        let of_user = || home.map_or_else(|| Field::unknown("~/.gitconfig"), Field::literal);
        // A word directly after `config` that is not known may be the option.
        let unknown = || self.rest.first().filter(|first| is_wholly_unknown(first)).cloned();
        let (option, file) = if has("--global") {
            ("--global", Some(of_user()))
        } else if has("--system") {
            ("--system", Some(Field::literal("/etc/gitconfig")))
        } else {
            ("", unknown())
        };
        if let Some(file) = file {
            analyzer.by_option(option, |analyzer| analyzer.touch(Access::Write, &file, self.command));
        }
    }
}

/// What is changed: key and value. None where settings are only shown.
fn changed(arguments: &Arguments) -> Option<&[Field]> {
    let (action, operands) = match arguments.operands.split_first() {
        Some((first, rest)) if matches!(first.text.as_str(), "get" | "list") => (None, rest),
        Some((first, rest))
            if matches!(
                first.text.as_str(),
                "set" | "unset" | "rename-section" | "remove-section" | "edit"
            ) =>
        {
            (Some(true), rest)
        }
        _ => (Some(false), arguments.operands.as_slice()),
    };
    let may_be_several = |field: &Field| is_wholly_unknown(field) && !field.holes.is_empty();
    let changes =
        action? || arguments.has(CHANGING) || operands.len() > 1 || operands.iter().any(may_be_several);
    if changes && !arguments.has(LOOKING) { Some(operands) } else { None }
}
