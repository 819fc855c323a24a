//! Exported variables, and those that make programs run something.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::{Field, FieldBuilder};
use crate::analysis::stream;
use crate::analysis::unknown_code::{as_code, is_wholly_unknown};
use crate::analysis::variables::Value;
use crate::programs::action::Stdin;
use crate::programs::arguments;
use crate::programs::interpreters::{is_descriptor, is_input};
use crate::programs::table;
use crate::programs::variables::{VariableUse, usage_of};
use crate::syntax::tree::Assignment;
use crate::{Access, Quoting};

/// The variables that programs get.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exports {
    /// As `NAME=value`. A variable with several possible values has an entry for each.
    variables: Rc<Vec<String>>,
    /// Whether each variable that is set is exported, after `set -a`.
    pub(crate) all: bool,
}

impl PartialEq for Exports {
    fn eq(&self, other: &Exports) -> bool {
        let has_all =
            |mine: &[String], theirs: &[String]| theirs.iter().all(|variable| mine.contains(variable));
        self.all == other.all
            && (self.variables == other.variables
                || has_all(&self.variables, &other.variables) && has_all(&other.variables, &self.variables))
    }
}

impl Eq for Exports {}

impl Exports {
    pub(crate) fn variables(&self) -> &Rc<Vec<String>> {
        &self.variables
    }

    /// The exports of a new shell.
    pub(super) fn child(&self) -> Exports {
        Exports { variables: Rc::clone(&self.variables), all: false }
    }

    /// Exports further variables, as `NAME=value`.
    pub(crate) fn give(&mut self, variables: impl IntoIterator<Item = String>) {
        let mut last = String::new();
        for variable in variables {
            let name = variable.split('=').next().unwrap_or_default();
            // One more possible value.
            if name == last {
                Rc::make_mut(&mut self.variables).push(variable);
                continue;
            }
            name.clone_into(&mut last);
            let known: Vec<usize> = positions(&self.variables, name).collect();
            let environment = Rc::make_mut(&mut self.variables);
            let Some((first, others)) = known.split_first() else {
                environment.push(variable);
                continue;
            };
            for at in others.iter().rev() {
                environment.remove(*at);
            }
            if let Some(old) = environment.get_mut(*first) {
                *old = variable;
            }
        }
    }

    /// Whether the variable is exported.
    pub(crate) fn has(&self, name: &str) -> bool {
        positions(&self.variables, name).next().is_some()
    }

    /// The possible values of a variable.
    pub(crate) fn values<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e str> {
        positions(&self.variables, name)
            .filter_map(|at| self.variables.get(at)?.split_once('=').map(|(_, value)| value))
    }

    /// The variables after two branches: those of this one, or those of the other.
    pub(crate) fn join(&self, other: &Exports) -> Exports {
        let all = self.all || other.all;
        if self.variables == other.variables {
            return Exports { variables: Rc::clone(&self.variables), all };
        }
        let mut variables = self.variables.to_vec();
        variables
            .extend(other.variables.iter().filter(|variable| !self.variables.contains(variable)).cloned());
        Exports { variables: Rc::new(variables), all }
    }

    #[cfg(test)]
    pub(super) fn covers(&self, other: &Exports) -> bool {
        other.variables.iter().all(|variable| self.variables.contains(variable)) && self.all >= other.all
    }
}

/// A variable that a program gets.
#[derive(Clone, Copy)]
struct ExportedVariable<'v> {
    name: &'v str,
    value: &'v str,
    /// What the `*` in its name in the table stands for.
    found: &'v str,
    /// The command that gets it.
    command: usize,
}

/// Whether the value of a variable is code for a program, or its options.
pub(crate) fn is_code(name: &str) -> bool {
    matches!(usage_of(name), Some((VariableUse::Code | VariableUse::Options(_), _)))
}

/// Whether a program or a tool for building runs the value of a variable.
pub(crate) fn is_runnable(name: &str) -> bool {
    matches!(usage_of(name), Some((VariableUse::Code | VariableUse::Tool, _)))
}

/// A value that names a file.
pub(crate) fn file_of(value: &str) -> Field {
    let mut file = FieldBuilder::default();
    let mut rest = value;
    while let Some((known, (name, after))) =
        rest.split_once("${").and_then(|(known, after)| Some((known, after.split_once('}')?)))
    {
        file.quoted(known);
        file.unknown(&format!("${name}"), Quoting::Quoted);
        rest = after;
    }
    file.quoted(rest);
    file.finish(false)
}

/// The positions of a variable.
fn positions<'v>(variables: &'v [String], name: &'v str) -> impl Iterator<Item = usize> + 'v {
    let is_of = move |variable: &str| variable.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    variables.iter().enumerate().filter(move |(_, variable)| is_of(variable)).map(|(at, _)| at)
}

impl Analyzer<'_> {
    /// What programs run because of their variables, as `NAME=value`. `command` gets these variables.
    pub(crate) fn run_variables(&mut self, given: &[String], command: usize) {
        for variable in given {
            let Some((name, value)) = variable.split_once('=').filter(|(_, value)| *value != "…") else {
                continue;
            };
            match usage_of(name) {
                Some((usage, found)) => {
                    self.run_variable(&ExportedVariable { name, value, found, command }, usage)
                }
                None if name.starts_with("GIT_TRACE") && value.starts_with('/') => {
                    self.touch(Access::Write, &file_of(value), command);
                }
                None => {}
            }
        }
    }

    fn run_variable(&mut self, given: &ExportedVariable<'_>, usage: VariableUse) {
        let ExportedVariable { name, value, found, command } = *given;
        match usage {
            // Which compiler a command printed is not known, and is mostly the usual one.
            VariableUse::Tool if value.starts_with("${") => {}
            VariableUse::Code | VariableUse::Tool => {
                self.shell_part(value.trim_start_matches(['|', '-', '@']), "sh");
            }
            VariableUse::Script(interpreter) => self.script_of_variable(value, interpreter, command),
            VariableUse::Source(interpreter) => self.inline_code(interpreter, value.to_owned()),
            VariableUse::Output | VariableUse::History => {
                // Below a directory that is not known, the name counts.
                let is_below = value.starts_with("${");
                let file = if is_below { Field::literal(value) } else { file_of(value) };
                if usage == VariableUse::History {
                    self.touch(Access::Read, &file, command);
                }
                self.touch(Access::Write, &file, command);
            }
            VariableUse::Options(program) => {
                self.shell_part(&format!("{program} {found} {value}"), "sh");
                // Programs split it at blanks and know quotes, but no operators.
                if value.contains([';', '&', '|', '<', '>', '(', ')', '#', '\n']) {
                    let words = arguments::words_in_quotes(value);
                    let words: Vec<String> = words.iter().map(|word| crate::quoted(word)).collect();
                    self.shell_part(&format!("{program} {found} {}", words.join(" ")), "sh");
                }
                // Some programs take it for one option.
                if value.starts_with('-') && value.contains('=') && value.contains(' ') {
                    self.shell_part(&format!("{program} {found} {}", crate::quoted(value)), "sh");
                }
            }
            VariableUse::Prompt => self.as_part(|analyzer| analyzer.evaluate(value)),
            VariableUse::Shell => self.chosen_shell(value),
            VariableUse::Keys => {
                // It prints what it does not understand.
                self.touch(Access::Read, &file_of(value), command);
                if self.written(&file_of(value)).is_some() {
                    self.doubt_script(name);
                }
            }
            // A shell defines the function. It runs like a function that was defined and not called.
            VariableUse::Function => {
                self.shell_part(&format!("{} {value}", found.trim_end_matches("%%")), "bash");
            }
        }
    }

    /// Runs a text as a part of the command at hand.
    fn shell_part(&mut self, code: &str, shell: &str) {
        let code = Field::literal(code);
        self.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, shell)));
    }

    /// A value that a shell expands before it takes it for a file.
    fn expanded_file(&mut self, value: &str) -> Field {
        let (home, rest) = match value.strip_prefix("~/") {
            Some(rest) => (self.home_here(), rest),
            None => (None, value),
        };
        if !rest.contains(['$', '`']) {
            return home
                .map_or_else(|| file_of(value), |home| stream::joined([&home, &Field::literal(rest)], "/"));
        }
        let mut fields = Vec::new();
        self.as_part(|analyzer| fields = analyzer.expanded(rest));
        let file = match fields.as_slice() {
            [file] => file.clone(),
            _ => Field::unknown(value),
        };
        home.map_or(file.clone(), |home| stream::joined([&home, &file], "/"))
    }

    /// A file that an interpreter runs when it starts.
    fn script_of_variable(&mut self, value: &str, interpreter: &str, command: usize) {
        let program = self.program(interpreter);
        let language = match program.map(|program| program.stdin) {
            Some(Stdin::Shell) => Language::NewShell,
            _ => Language::Other,
        };
        let file = match language {
            Language::NewShell => self.expanded_file(value),
            _ => file_of(value),
        };
        self.touch(Access::Read, &file, command);
        self.as_part(|analyzer| {
            if is_input(&file) {
                analyzer.code_from_input(interpreter, language);
            } else if is_descriptor(&file) {
                analyzer.code_from_process(interpreter, language, &[]);
            }
            analyzer.written_code(&file, command, interpreter, language);
        });
    }

    /// What editors and others start in the place of a shell.
    fn chosen_shell(&mut self, program: &str) {
        let known = table::by_name(table::name_of(program));
        if known.is_none_or(|program| program.stdin != Stdin::Shell) {
            let words = [file_of(program)];
            self.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
        }
    }

    /// `export` and `declare -x`: exports these variables from now on.
    pub(crate) fn export(&mut self, fields: &[Field], assigned: &[String]) {
        let Some((name, rest)) = fields.split_first() else { return };
        let is_export = |field: &Field| field.text.starts_with('-') && field.text.contains('x');
        if name.text != "export" && !rest.iter().any(is_export) {
            return;
        }
        let named = rest.iter().filter(|field| !field.text.starts_with('-'));
        let named: Vec<String> = named
            .flat_map(|field| {
                if field.text.contains('=') { vec![field.shown()] } else { self.variables(&field.text) }
            })
            .collect();
        let given: Vec<String> = assigned.iter().cloned().chain(named).collect();
        self.run_variables(&given, self.script.commands.len().saturating_sub(1));
        self.state.exports.give(given);
    }

    /// The text of an assignment, once for each possible value.
    pub(crate) fn assigned(&self, assignment: &Assignment) -> Vec<String> {
        self.variables(&assignment.name)
    }

    /// A variable with each of its known values.
    pub(crate) fn variables(&self, name: &str) -> Vec<String> {
        match self.state.get(name) {
            Some(Value::Options(options)) => {
                options.as_slice().iter().map(|value| format!("{name}={}", self.given(name, value))).collect()
            }
            Some(Value::Array(_) | Value::Unknown) | None => vec![format!("{name}=…")],
        }
    }

    /// The text of a value for a program. Its unknown parts stay variables: `cat ${file}`.
    fn given(&self, name: &str, value: &Field) -> String {
        if is_wholly_unknown(value) {
            return value.shown();
        }
        let code = as_code(value);
        // A last word that the user's environment sets is usually an option: `less $LESSFLAGS`.
        let last = value.holes.last().and_then(|(hole, _)| value.text.get(hole.clone()));
        let from_outside = last.and_then(|last| last.strip_prefix('$')).filter(|last| {
            self.state.get(last).is_none() && !self.state.exports.has(last) && !self.is_operated(last)
        });
        let before = from_outside.and_then(|last| code.strip_suffix(&format!(" ${{{last}}}")));
        match before {
            Some(before) if matches!(usage_of(name), Some((VariableUse::Code, _))) => before.to_owned(),
            _ => code.into_owned(),
        }
    }

    /// Runs something with further variables for programs.
    pub(crate) fn with_exports<T>(&mut self, variables: &[String], run: impl FnOnce(&mut Self) -> T) -> T {
        self.restoring(
            |analyzer| &mut analyzer.state.exports,
            |analyzer| {
                analyzer.state.exports.give(variables.iter().cloned());
                run(analyzer)
            },
        )
    }
}
