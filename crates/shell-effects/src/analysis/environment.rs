//! Variables that programs are given, and those of them that make programs run something.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::syntax::tree::Assignment;

/// Their value is code for a shell, which some program runs.
const CODE: [&str; 17] = [
    "BROWSER",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "SSH_ASKPASS",
    "VISUAL",
];
/// A shell runs the file that they name.
const SCRIPTS: [&str; 2] = ["BASH_ENV", "ENV"];

impl Analyzer<'_> {
    /// What programs run because of variables that they are given, as `NAME=value`; `command` is the one that is given them.
    pub(crate) fn run_variables(&mut self, given: &[String], command: usize) {
        for variable in given {
            let Some((name, value)) = variable.split_once('=').filter(|(_, value)| *value != "…") else {
                continue;
            };
            let is_prompt = name == "PS4";
            if CODE.contains(&name) {
                let code = Field::literal(value.trim_start_matches(['|', '-', '@']));
                self.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
            } else if SCRIPTS.contains(&name) {
                self.touch(Access::Read, &Field::literal(value), command);
            } else if is_prompt {
                self.as_part(|analyzer| analyzer.evaluate(value));
            }
        }
    }

    /// Runs something that is part of a command's text, and whose output nobody gets.
    pub(crate) fn as_part(&mut self, run: impl FnOnce(&mut Self)) {
        let output = std::mem::take(&mut self.output);
        self.inside += 1;
        self.printing(run);
        self.inside -= 1;
        self.output = output;
    }

    /// `export` and `declare -x`: programs are given these variables from now on.
    pub(crate) fn export(&mut self, fields: &[Field], assigned: &[String]) {
        let Some((name, rest)) = fields.split_first() else { return };
        let is_export = |field: &Field| field.text.starts_with('-') && field.text.contains('x');
        if name.text != "export" && !rest.iter().any(is_export) {
            return;
        }
        let named = rest.iter().filter(|field| !field.text.starts_with('-'));
        let named: Vec<String> = named
            .map(|field| if field.text.contains('=') { field.shown() } else { self.variable(&field.text) })
            .collect();
        let given: Vec<String> = assigned.iter().cloned().chain(named).collect();
        self.run_variables(&given, self.script.commands.len().saturating_sub(1));
        self.state.exports.give(given);
    }

    /// How an assignment is shown that was made.
    pub(crate) fn assigned(&self, assignment: &Assignment) -> String {
        self.variable(&assignment.name)
    }

    /// A variable with its value, as far as that is known.
    pub(crate) fn variable(&self, name: &str) -> String {
        let value = match self.state.get(name) {
            Some(value) => value.single().map_or_else(|| "…".to_owned(), Field::shown),
            None => "…".to_owned(),
        };
        format!("{name}={value}")
    }
}
