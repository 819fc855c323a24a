//! Code that a command runs: known, partly known, or unknown before it runs.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind, SPELLED_WORD, UNKNOWN_WORD};
use crate::analysis::stream::{PrintedText, Stream};
use crate::analysis::unknown_code::{as_code_with, is_wholly_unknown, starts_inside_unknown};
use crate::analysis::variables::Value;
use crate::programs::action::Stdin;
use crate::programs::languages::SourceLanguage;
use crate::programs::{attributes, code_access, code_exclusions, code_prose, editors, inline_calls};
use crate::syntax::parser::is_name;
use crate::{Access, CodeAccess, CodeLanguage, Doubt, Target};

/// The limit on copies of copies: loops multiply them.
const MAX_COPIES: usize = 2;

/// What runs a code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Language {
    /// A shell of its own.
    NewShell,
    /// The shell that runs the script: its changes stay.
    ThisShell,
    /// An interpreter of another language, which is not parsed here.
    Other,
}

impl Analyzer<'_> {
    /// Code in another language, whose effects are not known.
    pub(crate) fn inline_code(&mut self, interpreter: &str, mut text: String) {
        let is_makefile = SourceLanguage::of(interpreter) == Some(SourceLanguage::Make);
        if is_makefile && text.contains('$') {
            match inline_calls::with_make_variables(&text) {
                Some(expanded) if expanded != text => text = format!("{text}\n{expanded}"),
                Some(_) => {}
                None => self.doubt(Doubt::TooMany("variables of make")),
            }
        }
        let text = inline_calls::with_joined_lines(interpreter, &text).unwrap_or(text);
        self.inline_code_with(interpreter, text, Vec::new());
    }

    /// Like `inline_code`, but the code gets further values from its arguments.
    pub(crate) fn inline_code_with(&mut self, interpreter: &str, mut text: String, more: Vec<Field>) {
        if let Some(directory) = inline_calls::directory_of(&text) {
            // It may go there before or after.
            let again = text.replacen("chdir", "chdir to", 1);
            self.in_directory([&Field::literal(directory)], |analyzer| {
                analyzer.inline_code_with(interpreter, again, more.clone());
            });
        }
        let mut given = self.given_values(interpreter, &text);
        given.extend(more);
        let computed = self.computed_by_code(interpreter, &text, &given);
        let texts: Vec<Field> =
            given.iter().cloned().chain(computed.iter().map(|text| Field::literal(text.as_str()))).collect();
        inline_calls::run_calls(self, interpreter, &text, &texts);
        editors::run_commands(self, interpreter, &text);
        self.unpacked_by_code(&text);
        self.run_by_code(interpreter, &text);
        let joined = inline_calls::joined_texts(&text);
        let computed = computed.into_iter().filter(|text| !joined.contains(text));
        let values: Vec<String> =
            given.iter().map(Field::shown).chain(joined.iter().cloned()).chain(computed).collect();
        if !values.is_empty() {
            text = format!("{text}\n{}{}", attributes::END, values.join("\n"));
        }
        self.doubt_code(interpreter, CodeLanguage::Other, text);
    }

    /// Texts that code computes, and the files that it finds by them.
    fn computed_by_code(&mut self, interpreter: &str, text: &str, given: &[Field]) -> Vec<String> {
        if !self.work(text.len()) {
            return Vec::new();
        }
        // It may evaluate what it is given.
        let all: Vec<String> =
            std::iter::once(text.to_owned()).chain(given.iter().map(Field::shown)).collect();
        let computed = inline_calls::computed(&all.join("\n"));
        if computed.is_cut {
            self.doubt(Doubt::TooMany("texts in code"));
        }
        let command = self.last_command();
        let access = code_access::of(interpreter, text);
        for pattern in computed.patterns.iter().filter(|pattern| !inline_calls::is_whole_tree(pattern)) {
            self.touch(Access::Read, &Field::glob(pattern.clone()), command);
        }
        let mut patterns = computed.removed;
        patterns.extend(computed.patterns);
        if access.writes && !patterns.is_empty() {
            let (words, bases) = (vec![interpreter.to_owned()], self.state.bases().to_vec());
            self.doubt(Doubt::UnknownProgram { words, patterns, bases });
        }
        if computed.opens_hidden {
            let file = Field::unknown("a file whose name the code computes");
            self.touch(Access::Read, &file, command);
            if access.writes {
                self.touch(Access::Write, &file, command);
            }
        }
        computed.texts
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

    /// The values that code gets: the exported variables that it names, and its input.
    fn given_values(&self, interpreter: &str, text: &str) -> Vec<Field> {
        let mut given = Vec::new();
        for variable in self.state.exports.variables().iter() {
            if let Some((name, value)) = variable.split_once('=')
                && text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == name)
            {
                given.push(Field::literal(value));
            }
        }
        let program = self.program(interpreter);
        let is_interpreter = program.is_some_and(|program| program.stdin == Stdin::Code);
        let is_awk = program.is_some_and(|program| program.language == Some(SourceLanguage::Awk));
        let reads_names = is_interpreter
            || is_awk && ["getline", "system(", ">", "|"].iter().any(|name| text.contains(name));
        if reads_names
            && let Stream::Text(printed) = &self.scope.input
            && !printed.text.text.contains(text)
        {
            given.push(printed.text.clone());
        }
        given
    }

    fn doubt_code(&mut self, interpreter: &str, language: CodeLanguage, text: String) {
        if self.scope.elsewhere > 0 {
            return;
        }
        let access = match language {
            CodeLanguage::Shell => CodeAccess { writes: true, moves: true, runs: true },
            CodeLanguage::Other => code_access::of(interpreter, &text.replace(attributes::END, "")),
        };
        if language == CodeLanguage::Other && access.writes {
            self.code_in_parallel(&text);
        }
        let bases = self.state.bases().to_vec();
        let doubt = |text: String| {
            let interpreter = interpreter.to_owned();
            Doubt::InlineCode { interpreter, language, text, access, bases: bases.clone() }
        };
        let names = |text: &str| {
            let text = code_exclusions::without_exclusions(interpreter, text);
            attributes::without_attributes(interpreter, &code_access::without_programs(&text))
        };
        if language == CodeLanguage::Shell {
            return self.doubt(doubt(text));
        }
        // What is in a loop may come before its own code.
        let may_repeat = self.scope.loops > 0 || self.scope.unordered > 0;
        let plain = if may_repeat { text.clone() } else { code_prose::without_prose(interpreter, &text) };
        if plain != text {
            self.prose.push((self.script.commands.len(), doubt(names(&text))));
        }
        self.doubt(doubt(names(&plain)));
    }

    /// Unknown code in another language that the last command runs.
    pub(crate) fn unknown_code(&mut self, interpreter: &str, text: String) {
        self.runs_unknown(CodeLanguage::Other);
        self.inline_code(interpreter, text);
    }

    fn runs_unknown(&mut self, language: CodeLanguage) {
        if let Some(command) = self.script.commands.last_mut() {
            command.unknown_code = Some(language);
        }
    }

    /// Unknown code for a shell: any command may run. A variable that this script does not set has been set by the user.
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

    /// Runs something whose commands count, but whose effects and doubts do not, except on files that patterns match.
    pub(crate) fn only_commands(&mut self, run: impl FnOnce(&mut Self)) {
        let (effects, doubts) = (self.script.effects.len(), self.script.doubts.len());
        let side_effects = self.script.side_effects.len();
        let prose = self.prose.len();
        run(self);
        self.prose.truncate(prose);
        let mut at = 0;
        self.script.effects.retain(|effect| {
            at += 1;
            at <= effects || matches!(effect.target, Target::Glob(_) | Target::Trees(_))
        });
        self.script.side_effects.truncate(side_effects);
        // A doubt that ends the analysis stays.
        let mut at = 0;
        self.script.doubts.retain(|doubt| {
            at += 1;
            at <= doubts
                || matches!(doubt, Doubt::TooLong | Doubt::TooDeep | Doubt::OutOfTime | Doubt::TooMany(_))
        });
    }

    /// Whether a command of this script decides the unknown parts of a word.
    pub(super) fn is_made_here(&self, word: &Field) -> bool {
        let is_set = |part: &str| match part.strip_prefix('$') {
            Some(name)
                if name.bytes().all(is_name) && !name.starts_with(|first: char| first.is_ascii_digit()) =>
            {
                // `$_` is the last word of the command before.
                matches!(name, UNKNOWN_WORD | SPELLED_WORD | "_")
                    || self.state.get(name).is_some()
                    || self.state.exports.has(name)
            }
            // `$1`, `$@` and similar, if the arguments are those of this script.
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
            // What starts with it may be any command, which ends inside of it: `eval "$x"f`.
            if starts_inside_unknown(code) && self.is_made_here(code) {
                self.doubt_script(interpreter);
            }
        }
        // The variable of an array would be all of it, and not the unknown element.
        let text = as_code_with(code, |name| !matches!(self.state.get(name), Some(Value::Array(_))));
        // Which shell `sh` is differs from machine to machine.
        if has_double_parentheses(&text) && self.may_lack_arithmetic(interpreter, &text) {
            self.subshell(|analyzer| analyzer.script_without_arithmetic(&text));
        }
        self.script_text(&text);
        // The commands in it print its output.
        self.streams.output = Stream::Nothing;
    }

    /// Whether the shell that runs a text may take `((` for two subshells. A program that is called by its own name may be a
    /// script for any shell.
    fn may_lack_arithmetic(&self, interpreter: &str, text: &str) -> bool {
        let names_other = || {
            let first = text.lines().next().unwrap_or_default();
            first.starts_with("#!") && ["bash", "ksh", "zsh"].iter().any(|shell| first.contains(shell))
        };
        self.program(interpreter).is_none_or(|program| program.lacks_arithmetic) && !names_other()
    }

    pub(crate) fn code_from_input(&mut self, interpreter: &str, language: Language) {
        let input = self.scope.input.clone();
        self.code_of(input, interpreter, language, &[]);
    }

    /// Like `code_from_input`, but for a separate shell with arguments: `bash -s ARGUMENTS`.
    pub(crate) fn script_from_input(&mut self, interpreter: &str, arguments: &[Field]) {
        let input = self.scope.input.clone();
        self.code_of(input, interpreter, Language::NewShell, arguments);
    }

    /// Code from the last process substitution.
    pub(crate) fn code_from_process(&mut self, interpreter: &str, language: Language, arguments: &[Field]) {
        let input = self.process_output();
        self.code_of(input, interpreter, language, arguments);
    }

    /// What the last process substitution prints. Other descriptors are not followed.
    pub(super) fn process_output(&self) -> Stream {
        let is_other = !self.streams.has_process || self.streams.has_inputs;
        if is_other { Stream::Unknown } else { self.streams.process.clone() }
    }

    pub(crate) fn code_of(
        &mut self,
        stream: Stream,
        interpreter: &str,
        language: Language,
        arguments: &[Field],
    ) {
        if !matches!(stream, Stream::Text(_)) {
            self.scope.script_file = None;
        }
        match stream {
            Stream::Inherited => self.script.awaiting_code.push(interpreter.to_owned()),
            Stream::Nothing | Stream::File => {}
            // A program or a script under another name.
            Stream::Copy(path) => {
                let words: Vec<Field> =
                    std::iter::once(Field::literal(&*path)).chain(arguments.iter().cloned()).collect();
                if !self.copied(|analyzer| analyzer.run_fields(&words)) {
                    self.nothing_known(interpreter, language);
                }
            }
            Stream::Text(printed) => {
                if printed.and_more {
                    self.nothing_known(interpreter, language);
                }
                let printed = without_last_backslash(printed);
                self.text_as_code(&printed.text, interpreter, language, arguments);
            }
            Stream::Files(_) | Stream::FileLines(_) | Stream::HashLines | Stream::Unknown => {
                self.nothing_known(interpreter, language)
            }
        }
    }

    /// Runs a text, which is that of the script's file if there is one.
    fn text_as_code(&mut self, text: &Field, interpreter: &str, language: Language, arguments: &[Field]) {
        let file = self.scope.script_file.take();
        match language {
            Language::NewShell => self.scoped(|analyzer| {
                analyzer.set_input(Stream::Inherited);
                analyzer.new_shell(arguments.to_vec(), |analyzer| {
                    if let Some(file) = file {
                        analyzer.set_script_name(file, interpreter, text);
                    }
                    analyzer.code(text, interpreter)
                });
            }),
            Language::ThisShell => self.code(text, interpreter),
            Language::Other if is_wholly_unknown(text) => self.unknown_code(interpreter, text.shown()),
            Language::Other => self.scoped(|analyzer| {
                // These read all of their code first: what it runs finds an empty input.
                let reads_all = matches!(
                    SourceLanguage::of(interpreter),
                    Some(SourceLanguage::Python | SourceLanguage::JavaScript)
                );
                if reads_all {
                    analyzer.set_input(Stream::Nothing);
                }
                analyzer.inline_code(interpreter, text.shown());
            }),
        }
    }

    /// Runs a program or a script under another name. Returns false if such names follow each other too often.
    pub(super) fn copied(&mut self, run: impl FnOnce(&mut Self)) -> bool {
        if self.scope.copies >= MAX_COPIES {
            return false;
        }
        let copies: fn(&mut Self) -> &mut usize = |analyzer| &mut analyzer.scope.copies;
        self.restoring(copies, |analyzer| {
            analyzer.scope.copies += 1;
            analyzer.as_part(|analyzer| analyzer.deeper(run));
        });
        true
    }

    /// A script is read from a file: `$0`, and in bash `${BASH_SOURCE[0]}`.
    fn set_script_name(&mut self, file: Field, interpreter: &str, text: &Field) {
        let first = text.text.lines().next().unwrap_or_default();
        let is_bash = interpreter == "bash"
            || interpreter.contains('/') && first.starts_with("#!") && first.contains("bash");
        let file = Rc::new(file);
        self.state.source = if is_bash { Some(Rc::clone(&file)) } else { None };
        self.state.zero = Some(file);
    }

    fn nothing_known(&mut self, interpreter: &str, language: Language) {
        match language {
            Language::NewShell | Language::ThisShell => {
                self.unknown_script(interpreter, &Field::unknown(""));
            }
            Language::Other => self.unknown_code(interpreter, String::new()),
        }
    }

    /// A command ran. Its substitutions are the commands from `start`, and its own index is `own`. If it runs the output of these
    /// or of earlier commands, they form one pipeline.
    pub(crate) fn join_with_printers(&mut self, start: usize, own: usize) {
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

    /// A command whose words are the output of other commands.
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
