//! Code that a command runs: known, known in part, or not known before it runs.

use std::borrow::Cow;
use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::disk::WrittenFile;
use crate::analysis::field::{Field, FieldKind, UNKNOWN_WORD};
use crate::analysis::side_effects::{self, is_evaluated};
use crate::analysis::stream::{PrintedText, Stream};
use crate::analysis::variables::Value;
use crate::programs::arguments::Call;
use crate::programs::program::Stdin;
use crate::programs::{code_access, code_exclusions, inline_calls};
use crate::syntax::parser::{Parser, is_name};
use crate::syntax::tree::{Piece, Word};
use crate::{Access, CodeAccess, CodeLanguage, Doubt};

/// What it takes to evaluate a short text.
const EVALUATION_WORK: usize = 64;

/// The number of variables that are followed from one piece of arithmetic.
const MAX_EVALUATED: usize = 32;

/// What runs a code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Language {
    /// A shell of its own.
    NewShell,
    /// The shell that runs the script: what it changes stays.
    ThisShell,
    /// An interpreter of another language, which is not read here.
    Other,
}

/// Who runs a file that this script wrote.
#[derive(Clone, Copy)]
pub(crate) struct WrittenCode<'a> {
    pub(crate) command: usize,
    pub(crate) interpreter: &'a str,
    pub(crate) language: Language,
    pub(crate) arguments: &'a [Field],
}

impl Analyzer<'_> {
    /// Code in another language, whose effects are not known.
    pub(crate) fn inline_code(&mut self, interpreter: &str, text: String) {
        let text = if interpreter == "make" { inline_calls::with_make_variables(text) } else { text };
        inline_calls::run_calls(self, interpreter, &text);
        self.unpacked_by_code(&text);
        let text = self.with_given_values(interpreter, text);
        self.doubt_code(interpreter, CodeLanguage::Other, text);
    }

    /// Archives that code unpacks: `extractall()`, `shutil.unpack_archive(…)`.
    fn unpacked_by_code(&mut self, text: &str) {
        for name in ["extractall(", "unpack_archive("] {
            for (at, _) in text.match_indices(name) {
                let arguments = text.get(at + name.len()..).unwrap_or_default();
                let skipped = usize::from(name.starts_with("unpack"));
                let argument = arguments.split([')', ',']).nth(skipped).unwrap_or_default();
                let directory =
                    argument.trim().trim_start_matches("path=").trim_start_matches("extract_dir=");
                let quoted = directory.trim_matches(['"', '\'']);
                let command = self.last_command();
                if quoted.len() + 2 == directory.len() && !matches!(quoted, "" | "." | "./") {
                    self.touch_tree(Access::Write, &Field::literal(quoted), command);
                } else {
                    self.touch(Access::Write, &Field::unknown("the files in the archive"), command);
                }
            }
        }
    }

    /// Code with the values that it is given: those of exported variables that it names, and its input.
    fn with_given_values(&self, interpreter: &str, mut text: String) -> String {
        let mut given = String::new();
        for variable in self.state.exports.variables().iter() {
            if let Some((name, value)) = variable.split_once('=')
                && text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == name)
            {
                given.push('\n');
                given.push_str(value);
            }
        }
        let is_interpreter = self.program(interpreter).is_some_and(|program| program.stdin == Stdin::Code);
        let reads_names = is_interpreter || text.contains("getline") || text.contains("system(");
        if reads_names
            && let Stream::Text(printed) = &self.scope.input
            && !printed.text.text.contains(text.as_str())
        {
            given.push('\n');
            given.push_str(&printed.text.text);
        }
        text.push_str(&given);
        text
    }

    fn doubt_code(&mut self, interpreter: &str, language: CodeLanguage, text: String) {
        if self.scope.elsewhere > 0 {
            return;
        }
        let access = match language {
            CodeLanguage::Shell => CodeAccess { writes: true, runs: true },
            CodeLanguage::Other => code_access::of(interpreter, &text),
        };
        let text = match language {
            CodeLanguage::Shell => text,
            CodeLanguage::Other => {
                code_access::without_programs(&code_exclusions::without_exclusions(interpreter, &text))
            }
        };
        let bases = self.state.bases().to_vec();
        self.doubt(Doubt::InlineCode { interpreter: interpreter.to_owned(), language, text, access, bases });
    }

    /// Code in another language that the last command runs, and that is not known.
    pub(crate) fn unknown_code(&mut self, interpreter: &str, text: String) {
        self.runs_unknown(CodeLanguage::Other);
        self.inline_code(interpreter, text);
    }

    fn runs_unknown(&mut self, language: CodeLanguage) {
        if let Some(command) = self.script.commands.last_mut() {
            command.unknown_code = Some(language);
        }
    }

    /// Code for a shell that is not known at all: any command may run. A variable that this script does not set has been set by
    /// the user.
    fn unknown_script(&mut self, interpreter: &str, code: &Field) {
        self.runs_unknown(CodeLanguage::Shell);
        self.state.options.has_sourced = true;
        if self.is_made_here(code) {
            self.doubt_script(interpreter);
        } else {
            self.doubt_code(interpreter, CodeLanguage::Shell, code.text.clone());
        }
    }

    pub(crate) fn doubt_script(&mut self, interpreter: &str) {
        let command = self.script.commands.len().saturating_sub(1);
        self.doubt(Doubt::UnknownScript { interpreter: interpreter.to_owned(), command });
    }

    /// Whether a command of this script decides what the unknown parts of a word are.
    fn is_made_here(&self, word: &Field) -> bool {
        let is_set = |part: &str| match part.strip_prefix('$') {
            Some(name) if name.bytes().all(is_name) => {
                // `$_` is the last word of the command before.
                matches!(name, UNKNOWN_WORD | "_")
                    || self.state.get(name).is_some()
                    || self.state.exports.has(name)
            }
            // `$@` and its like, where the arguments are those of this script.
            Some(name) => {
                name.len() > 1 || self.state.positional.as_ref().is_none_or(|fields| !fields.is_empty())
            }
            None => true,
        };
        let mut parts = word.holes.iter().filter_map(|(part, _)| word.text.get(part.clone()));
        word.holes.is_empty() || parts.any(is_set)
    }

    /// Runs a word as a script.
    pub(crate) fn code(&mut self, code: &Field, interpreter: &str) {
        if is_wholly_unknown(code) {
            self.unknown_script(interpreter, code);
            self.streams.output = Stream::Unknown;
            return;
        }
        if code.kind == FieldKind::Unknown {
            self.runs_unknown(CodeLanguage::Shell);
        }
        let text = as_code(code);
        // Which shell `sh` is differs from machine to machine.
        if matches!(interpreter, "ash" | "dash" | "sh") && has_double_parentheses(&text) {
            self.subshell(|analyzer| analyzer.script_without_arithmetic(&text));
        }
        self.script_text(&text);
        // What it prints is printed by the commands in it.
        self.streams.output = Stream::Nothing;
    }

    /// Runs the substitutions in a text that is expanded when it is used: `${x@P}`, the index of an array.
    pub(crate) fn evaluate(&mut self, text: &str) {
        // The values of variables may name each other in texts: each level would evaluate all of them again.
        if !self.work(EVALUATION_WORK + text.len()) {
            return;
        }
        match Parser::expanded_text(text, self.scope.depth + 1) {
            Ok(word) => self.deeper(|analyzer| analyzer.substitutions(&word)),
            Err(error) => self.doubt(error.into()),
        }
    }

    /// The same of what is in quotes in a condition or in arithmetic, which also evaluates the values of variables.
    pub(crate) fn evaluate_hidden(&mut self, word: &Word, is_arithmetic: bool) {
        let texts: Vec<String> = side_effects::hidden(word).map(str::to_owned).collect();
        let used = word.iter().filter_map(|piece| match piece {
            Piece::Parameter { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let mut used: Vec<&str> = used.collect();
        if is_arithmetic {
            used.extend(side_effects::names(word));
        }
        let used = used.into_iter().map(str::to_owned).collect();
        for text in texts {
            self.evaluate(&text);
        }
        self.evaluate_values(used);
    }

    /// Arithmetic in an index, an offset or a value: what is in quotes there, and the values of the variables that it names.
    pub(crate) fn evaluate_index(&mut self, word: &Word) {
        let texts: Vec<String> = side_effects::substituted(word).map(str::to_owned).collect();
        for text in texts {
            self.evaluate(&text);
        }
        self.evaluate_hidden(word, true);
    }

    /// A text that is arithmetic.
    pub(crate) fn evaluate_number(&mut self, text: &str) {
        if is_evaluated(text) {
            self.evaluate(text);
        } else {
            self.evaluate_values(side_effects::names_in(text).map(str::to_owned).collect());
        }
    }

    /// The values of variables in arithmetic are arithmetic themselves, in which other variables are named.
    fn evaluate_values(&mut self, names: Vec<String>) {
        let (mut open, mut seen) = (names, Vec::new());
        while let Some(name) = open.pop() {
            if seen.len() >= MAX_EVALUATED || seen.contains(&name) {
                continue;
            }
            for text in self.literal_values(&name) {
                if is_evaluated(&text) {
                    self.evaluate(&text);
                } else {
                    open.extend(side_effects::names_in(&text).map(str::to_owned));
                }
            }
            seen.push(name);
        }
    }

    /// What is known of the values of a variable, or of an argument.
    fn literal_values(&self, name: &str) -> Vec<String> {
        let values: &[Field] = match self.state.get(name) {
            Some(Value::Options(values)) => values.as_slice(),
            Some(Value::Array(values)) => values,
            Some(Value::Unknown) => &[],
            None => match (&self.state.positional, name.parse::<usize>()) {
                (Some(fields), Ok(index)) => {
                    index.checked_sub(1).and_then(|at| fields.get(at)).map_or(&[], std::slice::from_ref)
                }
                _ => &[],
            },
        };
        values.iter().filter(|value| value.is_literal()).map(|value| value.text.clone()).collect()
    }

    /// Whether arithmetic sets harmless variables only, and evaluates nothing that a command of this script printed.
    pub(crate) fn is_harmless_arithmetic(&self, word: &Word) -> bool {
        let used = word.iter().filter_map(|piece| match piece {
            Piece::Parameter { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let is_fine = |name: &str| {
            side_effects::is_harmless(name)
                && match self.state.get(name) {
                    Some(Value::Options(values)) => {
                        values.as_slice().iter().all(|value| value.kind != FieldKind::Unknown)
                    }
                    Some(Value::Unknown | Value::Array(_)) => false,
                    None => true,
                }
        };
        !side_effects::hides_code(word)
            && side_effects::is_plain(word)
            && used.chain(side_effects::names(word)).all(is_fine)
    }

    pub(crate) fn code_from_input(&mut self, interpreter: &str, language: Language) {
        let input = self.scope.input.clone();
        self.code_of(input, interpreter, language, &[]);
    }

    /// The same for a shell of its own with arguments: `bash -s ARGUMENTS`.
    pub(crate) fn script_from_input(&mut self, interpreter: &str, arguments: &[Field]) {
        let input = self.scope.input.clone();
        self.code_of(input, interpreter, Language::NewShell, arguments);
    }

    /// Code from the last process substitution.
    pub(crate) fn code_from_process(&mut self, interpreter: &str, language: Language, arguments: &[Field]) {
        // Other descriptors are not followed.
        let input = if self.streams.has_process { self.streams.process.clone() } else { Stream::Unknown };
        self.code_of(input, interpreter, language, arguments);
    }

    fn code_of(&mut self, stream: Stream, interpreter: &str, language: Language, arguments: &[Field]) {
        match stream {
            Stream::Inherited => self.script.awaiting_code.push(interpreter.to_owned()),
            Stream::Nothing | Stream::File => {}
            Stream::Text(printed) => {
                if printed.and_more {
                    self.nothing_known(interpreter, language);
                }
                let printed = without_last_backslash(printed);
                match language {
                    Language::NewShell => self.scoped(|analyzer| {
                        analyzer.set_input(Stream::Inherited);
                        analyzer.new_shell(arguments.to_vec(), |analyzer| {
                            analyzer.code(&printed.text, interpreter)
                        });
                    }),
                    Language::ThisShell => self.code(&printed.text, interpreter),
                    Language::Other if is_wholly_unknown(&printed.text) => {
                        self.unknown_code(interpreter, printed.text.shown());
                    }
                    Language::Other => self.inline_code(interpreter, printed.text.shown()),
                }
            }
            Stream::Files(_) | Stream::Unknown => self.nothing_known(interpreter, language),
        }
    }

    fn nothing_known(&mut self, interpreter: &str, language: Language) {
        match language {
            Language::NewShell | Language::ThisShell => {
                self.unknown_script(interpreter, &Field::unknown(""));
            }
            Language::Other => self.unknown_code(interpreter, String::new()),
        }
    }

    /// A script in a file. Its content is known only if this command wrote it.
    pub(crate) fn script_file(&mut self, file: &Field, call: &Call<'_>, language: Language) {
        self.script_with_arguments(file, &[], call, language);
    }

    /// The same with arguments.
    pub(crate) fn script_with_arguments(
        &mut self,
        file: &Field,
        arguments: &[Field],
        call: &Call<'_>,
        language: Language,
    ) {
        self.reads(file, call.command);
        let code = WrittenCode { command: call.command, interpreter: call.name, language, arguments };
        self.run_file(file, &code);
    }

    /// A file that a shell runs when it starts, if this command wrote it.
    pub(crate) fn start_up_file(&mut self, file: &Field, command: usize) {
        self.as_part(|analyzer| {
            analyzer.written_code(file, command, "bash", Language::NewShell);
        });
    }

    /// The programs in a directory that this command wrote. Something else runs one of them.
    pub(crate) fn written_programs_in(&mut self, directory: &Field, command: usize) {
        if self.state.disk.is_untouched() {
            return;
        }
        let all = self.paths_of(directory);
        for path in all.iter().flat_map(|directory| self.state.disk.below(directory)).collect::<Vec<_>>() {
            self.start_up_file(&Field::literal(path), command);
        }
    }

    /// A program that is called only by its name, if this command wrote a file of that name and changed where programs are.
    pub(crate) fn program_on_path(&mut self, name: &str, command: usize) {
        let has_path = self.state.get("PATH").is_some() || self.state.exports.has("PATH");
        if has_path && !name.contains('/') {
            self.written_program(name, command);
        }
    }

    /// A program of this name that this command wrote, in any directory.
    pub(crate) fn written_program(&mut self, name: &str, command: usize) {
        if self.state.disk.is_untouched() {
            return;
        }
        for path in self.state.disk.named(name) {
            self.as_part(|analyzer| {
                analyzer.written_code(&Field::literal(path), command, name, Language::NewShell);
            });
        }
    }

    /// A program in a file, such as `./x`.
    pub(crate) fn program_file(&mut self, file: &Field, arguments: &[Field], command: usize) {
        let code = WrittenCode { command, interpreter: &file.text, language: Language::NewShell, arguments };
        if file.text.contains('/') && self.run_file(file, &code) {
            // Nobody knows which program it is.
            if let Some(command) = self.script.commands.get_mut(command) {
                command.is_known = false;
            }
        }
    }

    /// Runs what was written to a file before; whether that is not known.
    pub(crate) fn written_code(
        &mut self,
        file: &Field,
        command: usize,
        interpreter: &str,
        language: Language,
    ) -> bool {
        self.run_file(file, &WrittenCode { command, interpreter, language, arguments: &[] })
    }

    fn run_file(&mut self, file: &Field, code: &WrittenCode<'_>) -> bool {
        let Some(written) = self.written(file) else { return false };
        self.run_written(&written, code)
    }

    /// The same for files that are known already.
    pub(crate) fn run_written(&mut self, written: &WrittenFile, code: &WrittenCode<'_>) -> bool {
        let WrittenCode { command, interpreter, language, arguments } = *code;
        // None of the parts may be in it.
        let none = if written.parts().len() > 1 { Some(None) } else { None };
        self.one_of(written.parts().iter().map(Some).chain(none), |analyzer, content| {
            if let Some(content) = content {
                analyzer.code_of(content.clone(), interpreter, language, arguments);
            }
        });
        let is_unknown =
            self.script.commands.get(command).is_some_and(|command| command.unknown_code.is_some());
        if is_unknown {
            self.joined_with(written.by.clone(), command);
        }
        is_unknown
    }

    /// Source files that this script wrote and a program is given: a compiler, a test runner, or what runs them at once.
    pub(super) fn compiled(&mut self, fields: &[Field]) {
        if self.state.disk.is_untouched() {
            return;
        }
        let command = self.last_command();
        for file in fields.iter().skip(1).filter(|field| field.is_literal()) {
            if let Some(interpreter) = source_language(&file.text) {
                self.written_code(file, command, interpreter, Language::Other);
            }
        }
    }

    /// Modules that this script wrote and the code of an interpreter may load.
    pub(crate) fn imported(&mut self, call: &Call<'_>) {
        if self.state.disk.is_untouched() {
            return;
        }
        for (path, file) in self.state.disk.written_files() {
            let name = path.rsplit('/').next().unwrap_or(&path);
            let stem = name.split('.').next().unwrap_or(name);
            let is_script = call.arguments.operands.first().is_some_and(|script| script.text == *path);
            let is_named = call.fields.iter().skip(1).any(|field| field.text.contains(stem));
            let is_known =
                file.parts().iter().all(|part| matches!(part, Stream::Text(text) if !text.and_more));
            let same = source_language(name).is_some_and(|of| same_language(of, call.name));
            if same && !is_script && (is_named || is_known) {
                let code = WrittenCode {
                    command: call.command,
                    interpreter: call.name,
                    language: Language::Other,
                    arguments: &[],
                };
                self.as_part(|analyzer| {
                    analyzer.run_written(&file, &code);
                });
            }
        }
    }

    /// A command ran. Its substitutions are the commands from `start`, and it is the one at `own`. If it runs what they or
    /// earlier commands print, they are one pipeline.
    pub(crate) fn ran(&mut self, start: usize, own: usize) {
        let ran = self.script.commands.get(own..).unwrap_or_default();
        let Some(runs) = ran.iter().find(|command| command.unknown_code.is_some()) else { return };
        let used = runs
            .unknown
            .iter()
            .filter_map(|unknown| runs.words.get(unknown.word)?.get(unknown.part.clone())?.strip_prefix('$'));
        let mut before: Vec<usize> =
            used.flat_map(|name| self.state.variables.printed_by(name).to_vec()).collect();
        before.sort_unstable();
        before.dedup();
        if start < own || !before.is_empty() {
            self.joined_with(before, start);
        }
    }

    /// A command that is what other commands print.
    pub(crate) fn printed_command(&mut self, fields: &[Field]) {
        let Some(first) =
            fields.first().filter(|first| matches!(first.kind, FieldKind::Unknown | FieldKind::Tree))
        else {
            return;
        };
        let is_whole = is_wholly_unknown(first) && self.is_made_here(first);
        if is_whole || first.text.starts_with("$(") {
            self.runs_unknown(CodeLanguage::Shell);
        }
        let is_bare = first.holes.iter().all(|(_, quoting)| *quoting != crate::Quoting::Quoted);
        if is_whole && is_bare && (fields.len() == 1 || first.text == "$_") {
            self.doubt_script(&first.text);
        }
    }
}

/// The endings of source files, with what runs them or the language.
const SOURCES: &[(&str, &[&str])] = &[
    ("c", &["c", "cc", "cpp", "cxx", "h", "hpp", "m", "go", "java", "kt", "rs", "swift", "zig"]),
    ("node", &["cjs", "cts", "js", "jsx", "mjs", "mts", "ts", "tsx"]),
    ("perl", &["pl", "pm"]),
    ("php", &["php"]),
    ("python3", &["py"]),
    ("ruby", &["rb"]),
];

/// What runs a source file, from its name.
fn source_language(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    SOURCES.iter().find(|(_, endings)| endings.contains(&ending)).map(|(interpreter, _)| *interpreter)
}

fn same_language(language: &str, interpreter: &str) -> bool {
    match language {
        "node" => matches!(interpreter, "bun" | "deno" | "node" | "nodejs" | "ts-node" | "tsx"),
        "python3" => interpreter.starts_with("py"),
        language => language == interpreter,
    }
}

/// At the end of a file, a shell drops a backslash that escapes nothing.
fn without_last_backslash(mut printed: Rc<PrintedText>) -> Rc<PrintedText> {
    let text = &printed.text.text;
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    if backslashes % 2 == 1 && printed.text.is_literal() {
        Rc::make_mut(&mut printed).text.text.pop();
    }
    printed
}

/// Whether a text may have the command `((…))`; `$((…))` is not one.
fn has_double_parentheses(text: &str) -> bool {
    text.match_indices("((").any(|(at, _)| !text.get(..at).unwrap_or_default().ends_with('$'))
}

/// Whether nothing of a text is known.
pub(crate) fn is_wholly_unknown(text: &Field) -> bool {
    let mut at = 0;
    let mut is_blank = |end: usize, next: usize| {
        let known = text.text.get(at..end).unwrap_or_default();
        at = next;
        known.trim().is_empty()
    };
    text.kind == FieldKind::Tree
        || text.kind == FieldKind::Unknown
            && (text.holes.is_empty()
                || text.holes.iter().all(|(hole, _)| is_blank(hole.start, hole.end))
                    && is_blank(text.text.len(), text.text.len()))
}

/// A text as code, in which each unknown part is a variable.
pub(crate) fn as_code(text: &Field) -> Cow<'_, str> {
    if text.kind != FieldKind::Unknown {
        return text.shown().into();
    }
    let mut code = String::new();
    let mut at = 0;
    for (hole, _) in &text.holes {
        code.push_str(text.text.get(at..hole.start).unwrap_or_default());
        let name = text.text.get(hole.clone()).and_then(|part| part.strip_prefix('$'));
        let is_variable = |name: &&str| {
            name.bytes().all(is_name) && !name.starts_with(|first: char| first.is_ascii_digit())
        };
        let name = name.filter(is_variable).unwrap_or(UNKNOWN_WORD);
        code.push_str(&format!("${{{name}}}"));
        at = hole.end;
    }
    code.push_str(text.text.get(at..).unwrap_or_default());
    code.into()
}
