//! Exported variables, and those that make programs run something.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::assignments::PROMPTS;
use crate::analysis::code::{Language, as_code, is_wholly_unknown};
use crate::analysis::field::{Field, FieldBuilder};
use crate::analysis::variables::Value;
use crate::programs::interpreters::is_descriptor;
use crate::programs::program::Stdin;
use crate::programs::table;
use crate::syntax::tree::Assignment;
use crate::{Access, Quoting};

/// Variables whose value is shell code that some program runs.
const CODE: [&str; 20] = [
    "BROWSER",
    "EDITOR",
    "FCEDIT",
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
    "NPM_CONFIG_SCRIPT_SHELL",
    "PAGER",
    "PROMPT_COMMAND",
    "SSH_ASKPASS",
    "VISUAL",
    "npm_config_script_shell",
];
/// Variables that name a file that a shell runs.
const SCRIPTS: [&str; 2] = ["BASH_ENV", "ENV"];

/// Variables that name a file or directory that a program writes.
#[rustfmt::skip]
const OUTPUTS: [&str; 14] = [
    "COVERAGE_FILE", "GCOV_PREFIX", "GIT_INDEX_FILE", "GMON_OUT_PREFIX", "HISTFILE", "LD_DEBUG_OUTPUT", "LESSHISTFILE", "LLVM_PROFILE_FILE",
    "MALLOC_TRACE", "NODE_REDIRECT_WARNINGS", "NODE_REPL_HISTORY", "NODE_V8_COVERAGE", "PYTHONPYCACHEPREFIX", "SQLITE_HISTORY",
];

/// Variables whose value a program reads as its options. The program gets no code if the option would make it run something else.
const OPTIONS: [(&str, &str); 8] = [
    ("NODE_OPTIONS", "node -e 0"),
    ("PERL5OPT", "perl -e 0"),
    ("RUBYOPT", "ruby -e 0"),
    ("GREP_OPTIONS", "grep"),
    ("TAR_OPTIONS", "tar"),
    ("UNZIP", "unzip"),
    ("UNZIPOPT", "unzip"),
    ("ZIPOPT", "zip"),
];

/// The exported variables.
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

    /// Those of a new shell.
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

    /// Either these or others.
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

/// Whether the value of a variable is code or options for a program.
pub(crate) fn is_code(name: &str) -> bool {
    CODE.contains(&name) || OPTIONS.iter().any(|(known, _)| *known == name)
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
    /// What programs run because of their variables, as `NAME=value`. `command` is the one that gets them.
    pub(crate) fn run_variables(&mut self, given: &[String], command: usize) {
        for variable in given {
            let Some((name, value)) = variable.split_once('=').filter(|(_, value)| *value != "…") else {
                continue;
            };
            let options = OPTIONS.iter().find(|(known, _)| *known == name);
            if CODE.contains(&name) {
                let code = Field::literal(value.trim_start_matches(['|', '-', '@']));
                self.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
            } else if SCRIPTS.contains(&name) {
                let file = file_of(value);
                self.touch(Access::Read, &file, command);
                self.as_part(|analyzer| analyzer.evaluate(value));
                if is_descriptor(&file) {
                    self.as_part(|analyzer| {
                        analyzer.code_from_process("bash", Language::NewShell, &[]);
                    });
                }
                self.start_up_file(&file, command);
            } else if PROMPTS.contains(&name) {
                self.as_part(|analyzer| analyzer.evaluate(value));
            } else if OUTPUTS.contains(&name) || name.starts_with("GIT_TRACE") && value.starts_with('/') {
                // In an unknown directory, the name counts.
                let is_below = value.starts_with("${");
                let file = if is_below { Field::literal(value) } else { file_of(value) };
                self.touch(Access::Write, &file, command);
            } else if matches!(name, "EXINIT" | "GVIMINIT" | "VIMINIT") {
                self.inline_code("vim", value.to_owned());
            } else if name == "SHELL" {
                self.chosen_shell(value);
            } else if name == "PERL5DB" {
                self.inline_code("perl", value.to_owned());
            } else if name == "INPUTRC" {
                // Its keys may run commands.
                if self.written(&file_of(value)).is_some() {
                    self.doubt_script(name);
                }
            } else if let Some((_, program)) = options {
                let code = Field::literal(format!("{program} {value}"));
                self.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
            } else if let Some(function) = name.strip_prefix("BASH_FUNC_") {
                // A shell defines it. It runs like a function that was defined and not called.
                let code = Field::literal(format!("{} {value}", function.trim_end_matches("%%")));
                self.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "bash")));
            }
        }
    }

    /// The program that editors and others start instead of a shell.
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
            self.state.get(last).is_none()
                && !self.state.exports.has(last)
                && !self.operated.iter().any(|known| known == last)
        });
        let before = from_outside.and_then(|last| code.strip_suffix(&format!(" ${{{last}}}")));
        match before {
            Some(before) if CODE.contains(&name) => before.to_owned(),
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
