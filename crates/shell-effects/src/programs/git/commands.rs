//! Commands that git runs: those in its arguments, and the steps of `git rebase -i`, to which an editor may add some.

use super::GitCall;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::{self, Stream};
use crate::programs::arguments;

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
            if subcommand == "rebase" {
                self.strategies(analyzer);
                edited_by_variables(analyzer);
            }
            let options = arguments::parse("-x= --exec= --extcmd=", &self.rest);
            for code in options.values(&["-x", "--exec", "--extcmd"]) {
                analyzer.subshell(|analyzer| analyzer.code(code, "sh"));
            }
        }
    }

    /// `merge -s NAME` runs the program `git-merge-NAME`, which this command may have written.
    pub(super) fn strategies(&self, analyzer: &mut Analyzer<'_>) {
        for strategy in self.arguments.values(&["-s", "--strategy"]) {
            analyzer.written_program(&format!("git-merge-{}", strategy.text), &[], self.command);
        }
    }

    /// `filter-branch`: each filter is code for a shell.
    pub(super) fn filters(&self, analyzer: &mut Analyzer<'_>) {
        for (option, code) in &self.arguments.flags {
            if let Some(code) = code
                && (option.ends_with("-filter") || option == "--setup")
            {
                analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(code, "sh")));
            }
        }
    }

    /// Another repository, and the programs that connect to it.
    pub(super) fn connects(&self, analyzer: &mut Analyzer<'_>) {
        let is_clone = self.subcommand == "clone";
        for program in self
            .arguments
            .values(&["--upload-pack", "--receive-pack", "--exec"])
            .chain(self.arguments.values(if is_clone { &["-u"] } else { &[] }))
        {
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(program, "sh")));
        }
        for operand in &self.rest {
            let address = match operand.text.rsplit_once('=') {
                Some((option, value)) if option.starts_with("--") => value,
                _ => &operand.text,
            };
            analyzer.connected(&operand.with(address));
        }
    }

    /// `send-email`: programs in its options.
    pub(super) fn mails(&self, analyzer: &mut Analyzer<'_>) {
        self.arguments.operands.iter().for_each(|file| analyzer.reads(file, self.command));
    }
}

/// The file that the editor gets.
const TODO: &str = "git-rebase-todo";
const EDITORS: [&str; 4] = ["GIT_SEQUENCE_EDITOR", "GIT_EDITOR", "EDITOR", "VISUAL"];

/// The editors that the script names in variables.
fn edited_by_variables(analyzer: &mut Analyzer<'_>) {
    let exports = &analyzer.state.exports;
    let editors: Vec<String> =
        EDITORS.iter().flat_map(|name| exports.values(name)).map(str::to_owned).collect();
    editors.iter().for_each(|editor| edited_by(analyzer, editor));
}

/// The steps that an editor writes.
pub(super) fn edited_by(analyzer: &mut Analyzer<'_>, editor: &str) {
    let mut steps = steps_in_code(editor);
    let mut is_unknown = false;
    let code = Field::literal(format!("{editor} {TODO}"));
    // What the editor does to other files counts where it is set.
    analyzer.only_commands(|analyzer| {
        analyzer.subshell(|analyzer| {
            analyzer.code(&code, "sh");
            let written = analyzer.written(&Field::literal(TODO));
            for part in written.iter().flat_map(|written| written.parts()) {
                match part {
                    Stream::Text(printed) => steps.extend(steps_in_list(&printed.text)),
                    part => is_unknown |= *part == Stream::Unknown,
                }
            }
        });
    });
    if is_unknown {
        analyzer.doubt_script("git");
    }
    for code in steps {
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    }
}

/// The commands of the steps `exec COMMAND` and `x COMMAND` in a list of steps. A step whose start is unknown may be one.
fn steps_in_list(text: &Field) -> Vec<Field> {
    let command = |line: &Field| {
        let start = line.text.len() - line.text.trim_start().len();
        let rest = line.text.get(start..)?;
        let name = match line.holes.first() {
            Some((hole, _)) if hole.start == start => line.text.get(hole.clone())?,
            _ => ["exec", "x"].into_iter().find(|name| rest.strip_prefix(name).is_some_and(is_step))?,
        };
        Some(stream::part(line, start + name.len()..line.text.len()))
    };
    stream::split(text, |c| c == '\n').iter().filter_map(command).collect()
}

/// Whether the name of a step ends before this text.
fn is_step(rest: &str) -> bool {
    rest.starts_with([' ', '\t'])
}

/// The same in the text of an editor's command, which writes them.
fn steps_in_code(text: &str) -> Vec<Field> {
    let text = text.replace("\\ ", " ");
    let command = |at: usize| {
        let rest = text.get(at..).unwrap_or_default().split('\n').next().unwrap_or_default();
        Field::literal(rest.split(['\'', '"']).next().unwrap_or(rest))
    };
    let long = text.match_indices("exec ").map(|(at, name)| command(at + name.len()));
    let is_start = |at: usize| !text.get(..at).unwrap_or_default().ends_with(|c: char| c.is_alphanumeric());
    let short =
        text.match_indices("x ").filter(|(at, _)| is_start(*at)).map(|(at, name)| command(at + name.len()));
    long.chain(short).collect()
}
