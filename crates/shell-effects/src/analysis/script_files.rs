//! Scripts, programs and modules in files that the same command wrote.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::disk::{SOMEWHERE, WrittenFile};
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::analysis::variables::Value;
use crate::programs::arguments::Call;
use crate::programs::inline_calls;
use crate::programs::languages::SourceLanguage;
use crate::programs::table;
use crate::{CodeLanguage, Doubt};

/// Files with the scripts of a package, and the key of those.
const PACKAGES: [(&str, &str); 3] =
    [("package.json", "\"scripts\""), ("deno.json", "\"tasks\""), ("deno.jsonc", "\"tasks\"")];

/// What runs a file that this script wrote.
#[derive(Clone, Copy)]
pub(crate) struct WrittenCode<'a> {
    pub(crate) command: usize,
    pub(crate) interpreter: &'a str,
    pub(crate) language: Language,
    pub(crate) arguments: &'a [Field],
}

/// The interpreter that the first line of a program names, with its argument, unless it is a shell without one.
fn other_interpreter(content: &Stream) -> Option<Vec<Field>> {
    let Stream::Text(printed) = content else { return None };
    let line = printed.text.text.lines().next()?;
    let is_known = printed.text.holes.iter().all(|(hole, _)| hole.start >= line.len());
    let line = line.strip_prefix("#!")?.trim();
    let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let runs_shell = |word: &str| {
        let program = table::by_name(table::name_of(word));
        program.is_some_and(|program| program.quotes_like_sh)
    };
    let argument = argument.trim();
    let is_option = argument.starts_with('-') && !argument.contains(['c', 's', ' ']);
    let is_shell = runs_shell(interpreter) && (argument.is_empty() || is_option)
        || table::name_of(interpreter) == "env" && runs_shell(argument);
    if !is_known || interpreter.is_empty() || is_shell {
        return None;
    }
    let argument = Some(argument).filter(|argument| !argument.is_empty());
    Some(std::iter::once(interpreter).chain(argument).map(Field::literal).collect())
}

impl Analyzer<'_> {
    /// A script in a file. Its content is known only if this command wrote it.
    pub(crate) fn script_file(&mut self, file: &Field, call: &Call<'_>, language: Language) {
        self.script_with_arguments(file, &[], call, language);
    }

    /// Like `script_file`, but with arguments.
    pub(crate) fn script_with_arguments(
        &mut self,
        file: &Field,
        arguments: &[Field],
        call: &Call<'_>,
        language: Language,
    ) {
        self.reads(file, call.command);
        if file.is_literal()
            && let Some(command) = self.command_mut(call.command)
        {
            let words: Vec<String> = std::iter::once(file).chain(arguments).map(Field::shown).collect();
            command.script = Some(words.join(" "));
        }
        let code = WrittenCode { command: call.command, interpreter: call.name, language, arguments };
        if file.may_be_any_file() {
            return self.any_written(&code);
        }
        if language != Language::Other && !file.text.contains('/') && !self.state.disk.is_untouched() {
            self.script_on_path(&WrittenCode { interpreter: &file.text, ..code });
        }

        self.run_named(file, &code);
    }

    /// Like `run_file`, but for a script that may ask for its own file.
    fn run_named(&mut self, file: &Field, code: &WrittenCode<'_>) -> bool {
        self.scope.script_file = Some(file.clone()).filter(Field::is_literal);
        let ran = self.run_file(file, code);
        self.scope.script_file = None;
        ran
    }

    /// A script that a shell looks for where programs are, since its name has no `/`.
    fn script_on_path(&mut self, code: &WrittenCode<'_>) {
        let mut paths = self.written_on_path(code.interpreter);
        let here = self.paths_of(&Field::literal(code.interpreter));
        paths.retain(|path| !here.contains(path));
        self.one_of(paths.iter().map(Some).chain([None]), |analyzer, path| {
            if let Some(path) = path {
                analyzer.as_part(|analyzer| {
                    analyzer.run_file(&Field::literal(path.as_str()), code);
                });
            }
        });
    }

    /// One of the files that this script wrote.
    pub(crate) fn any_written(&mut self, code: &WrittenCode<'_>) {
        if self.state.disk.is_untouched() {
            return;
        }
        for (_, written) in self.state.disk.written_files() {
            self.as_part(|analyzer| {
                analyzer.run_written(&written, code);
            });
        }
    }

    /// The scripts of a package that this script wrote, and the shell that runs them.
    pub(crate) fn package_scripts(&mut self, fields: &[Field]) {
        let attached =
            fields.iter().filter_map(|field| Some(field.with(field.text.strip_prefix("--script-shell=")?)));
        let next = fields.windows(2).filter_map(|words| match words {
            [name, shell] if matches!(name.text.as_str(), "--script-shell" | "script-shell") => {
                Some(shell.clone())
            }
            _ => None,
        });
        for shell in attached.chain(next).collect::<Vec<_>>() {
            self.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&[shell])));
        }
        if self.state.disk.is_untouched() {
            return;
        }
        if self.state.disk.is_full() {
            self.doubt(Doubt::TooMany("files"));
        }
        for (file, key) in PACKAGES {
            for path in self.state.disk.named(file) {
                self.scripts_of(&path, key);
            }
        }
        for settings in self.state.disk.named(".npmrc") {
            self.script_shell_in(&settings);
        }
    }

    /// The scripts in a file that this script wrote.
    fn scripts_of(&mut self, path: &str, key: &str) {
        let Some(written) = self.state.disk.written(path) else { return };
        let Stream::Text(printed) = written.content() else { return };
        let (_, scripts) = printed.text.text.split_once(key).unwrap_or_default();
        for code in inline_calls::json_values(scripts) {
            self.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
        }
    }

    /// `script-shell=PROGRAM` in the settings of npm.
    fn script_shell_in(&mut self, path: &str) {
        let Some(written) = self.state.disk.written(path) else { return };
        let Stream::Text(printed) = written.content() else { return };
        for line in printed.text.text.lines() {
            let Some((name, shell)) = line.split_once('=') else { continue };
            if name.trim() == "script-shell" {
                let shell = Field::literal(shell.trim().trim_matches(['"', '\'']));
                self.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&[shell])));
            }
        }
    }

    /// A file that a shell runs when it starts, if this command wrote it.
    pub(crate) fn start_up_file(&mut self, file: &Field, command: usize) {
        self.as_part(|analyzer| {
            analyzer.written_code(file, command, "bash", Language::NewShell);
        });
    }

    /// The programs in a directory that this command wrote. Another program runs one of them.
    pub(crate) fn written_programs_in(&mut self, directory: &Field, command: usize) {
        if self.state.disk.is_untouched() {
            return;
        }
        let all = self.paths_of(directory);
        for path in all.iter().flat_map(|directory| self.state.disk.below(directory)).collect::<Vec<_>>() {
            self.start_up_file(&Field::literal(path), command);
        }
    }

    /// A program that is called by its bare name, if this command wrote a file of that name and changed where programs are
    /// searched.
    pub(crate) fn program_on_path(&mut self, fields: &[Field], command: usize) {
        let Some((name, arguments)) = fields.split_first() else { return };
        let name = name.text.as_str();
        if name.contains('/') || self.state.disk.is_untouched() {
            return;
        }
        let code = WrittenCode { command, interpreter: name, language: Language::NewShell, arguments };
        self.written_programs(&code, self.written_on_path(name));
    }

    /// The files of a name that this script wrote where programs are looked for.
    fn written_on_path(&self, name: &str) -> Vec<String> {
        let has_path = self.state.get("PATH").is_some() || self.state.exports.has("PATH");
        let is_of_programs = |path: &str| {
            let directory = path.rsplit('/').nth(1);
            directory.is_some_and(|directory| matches!(directory, ".bin" | "bin" | "sbin"))
        };
        let mut paths = self.state.disk.perhaps_named(name);
        paths.retain(|path| has_path || is_of_programs(path));
        paths
    }

    /// Programs that this command wrote into a directory of its own `PATH`. Any program may run them, as tar runs gzip.
    pub(crate) fn programs_of_path(&mut self, command: usize) {
        if self.state.disk.is_untouched() {
            return;
        }
        let paths = self.written_in_path();
        if !paths.is_empty() {
            let code =
                WrittenCode { command, interpreter: "PATH", language: Language::NewShell, arguments: &[] };
            self.copied(|analyzer| analyzer.written_programs(&code, paths));
        }
    }

    /// The files that this script wrote into the known directories of `PATH`, if they look like programs.
    fn written_in_path(&self) -> Vec<String> {
        let mut values: Vec<String> = self.state.exports.values("PATH").map(str::to_owned).collect();
        if let Some(Value::Options(options)) = self.state.get("PATH") {
            values.extend(options.as_slice().iter().map(|value| value.text.clone()));
        }
        let directories: Vec<&str> =
            values.iter().flat_map(|value| value.split(':')).filter(|part| !part.contains('$')).collect();
        let is_in = |path: &str, directory: &&str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let file = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
            !name.contains('.') && self.paths_of(&Field::literal(file)).iter().any(|known| known == path)
        };
        let written = self.state.disk.written_files().into_iter().map(|(path, _)| path.as_ref().to_owned());
        if directories.is_empty() {
            return Vec::new();
        }
        written.filter(|path| directories.iter().any(|directory| is_in(path, directory))).collect()
    }

    /// A program of this name that this command wrote, in any directory.
    pub(crate) fn written_program(&mut self, name: &str, arguments: &[Field], command: usize) {
        let code = WrittenCode { command, interpreter: name, language: Language::NewShell, arguments };
        self.written_programs(&code, self.state.disk.perhaps_named(name));
    }

    fn written_programs(&mut self, code: &WrittenCode<'_>, paths: Vec<String>) {
        for path in paths {
            self.as_part(|analyzer| {
                analyzer.run_written_program(&Field::literal(path), code);
            });
        }
    }

    /// A program in a file, such as `./x`.
    pub(crate) fn program_file(&mut self, file: &Field, arguments: &[Field], command: usize) {
        let code = WrittenCode { command, interpreter: &file.text, language: Language::NewShell, arguments };
        if file.text.contains('/') && self.run_written_program(file, &code) {
            // It is unknown which program it is.
            if let Some(command) = self.script.commands.get_mut(command) {
                command.is_known = false;
            }
        }
    }

    /// Runs the code that was written to a file earlier. Returns whether it is unknown.
    pub(crate) fn written_code(
        &mut self,
        file: &Field,
        command: usize,
        interpreter: &str,
        language: Language,
    ) -> bool {
        self.run_file(file, &WrittenCode { command, interpreter, language, arguments: &[] })
    }

    /// Runs a program in a file that was written before, with the interpreter of its first line. Returns whether its effects are
    /// unknown.
    fn run_written_program(&mut self, file: &Field, code: &WrittenCode<'_>) -> bool {
        let Some(written) = self.written(file) else { return self.run_file(file, code) };
        let others: Vec<Vec<Field>> = written.parts().iter().filter_map(other_interpreter).collect();
        for mut words in others.iter().cloned() {
            words.push(file.clone());
            words.extend(code.arguments.iter().cloned());
            self.copied(|analyzer| analyzer.run_fields(&words));
        }
        if others.len() == written.parts().len() { false } else { self.run_written(&written, code) }
    }

    /// Runs the content that was written to a file before. Returns whether it is unknown.
    fn run_file(&mut self, file: &Field, code: &WrittenCode<'_>) -> bool {
        let Some(written) = self.written(file) else {
            // Code in another language wrote it, so the content is unknown.
            let is_unknown = code.language != Language::Other && self.is_written_by_code(file);
            if is_unknown {
                self.code_of(Stream::Unknown, code.interpreter, code.language, code.arguments);
            }
            return is_unknown;
        };
        self.run_written(&written, code)
    }

    /// Whether code in another language that ran before names this file, and writes some.
    fn is_written_by_code(&mut self, file: &Field) -> bool {
        let name = file.text.rsplit('/').next().unwrap_or_default();
        if name.is_empty() || !file.is_literal() {
            return false;
        }
        let is_quote = |c: Option<char>| c.is_some_and(|c| "\"'`".contains(c));
        let names = |text: &str| {
            text.match_indices(name).any(|(at, _)| {
                let (before, after) =
                    (text.get(..at).unwrap_or_default(), text.get(at + name.len()..).unwrap_or_default());
                is_quote(after.chars().next())
                    // Perl: `open F, ">x"`.
                    && (is_quote(before.chars().next_back()) || before.trim_end().ends_with(['/', '>']))
            })
        };
        let mut length = 0;
        let is_named = self.script.doubts.iter().any(|doubt| match doubt {
            Doubt::InlineCode { text, language: CodeLanguage::Other, access, .. } if access.writes => {
                length += text.len();
                names(text)
            }
            _ => false,
        });
        let is_named_later = self.parallel.code().iter().any(|text| names(text));
        self.work(length / 8);
        is_named || is_named_later
    }

    /// Like `run_file`, but for a file that was looked up before.
    pub(crate) fn run_written(&mut self, written: &WrittenFile, code: &WrittenCode<'_>) -> bool {
        let WrittenCode { command, interpreter, language, arguments } = *code;
        // Perhaps the file has none of these parts.
        let none = if written.parts().len() > 1 { Some(None) } else { None };
        self.one_of(written.parts().iter().map(Some).chain(none), |analyzer, content| {
            if let Some(content) = content {
                // What was typed at the terminal while the file was written is still unknown when the file runs.
                let content = if *content == Stream::Inherited { Stream::Unknown } else { content.clone() };
                analyzer.code_of(content, interpreter, language, arguments);
            }
        });
        let is_unknown =
            self.script.commands.get(command).is_some_and(|command| command.unknown_code.is_some());
        if is_unknown {
            self.joined_with(written.by.clone(), command);
        }
        is_unknown
    }

    /// Source files that this script wrote and that a program gets: a compiler, a test runner, or a program that runs them
    /// directly.
    pub(super) fn compiled(&mut self, fields: &[Field]) {
        if self.state.disk.is_untouched() {
            return;
        }
        let command = self.last_command();
        for file in fields.iter().skip(1).filter(|field| field.is_literal()) {
            if let Some((_, interpreter)) = SourceLanguage::of_file(&file.text) {
                self.written_code(file, command, interpreter, Language::Other);
            }
        }
    }

    /// A program that is built from the project. It does what its sources say, so those that this script wrote are read.
    pub(super) fn built(&mut self, program: &Field, command: usize) {
        for (path, _) in self.state.disk.written_files() {
            if *path == *SOMEWHERE {
                return self.wrote(program, Stream::Unknown, false, vec![command]);
            }
            if let Some((SourceLanguage::Compiled, interpreter)) = SourceLanguage::of_file(&path) {
                self.as_part(|analyzer| {
                    analyzer.written_code(&Field::literal(&*path), command, interpreter, Language::Other);
                });
            }
        }
        self.wrote(program, Stream::File, false, vec![command]);
    }

    /// Code that runs what is in a file which this script wrote: `os.system(open("x").read())`.
    pub(crate) fn run_by_code(&mut self, interpreter: &str, text: &str) {
        const RUNNING: &[&str] = &[
            "system(open(",
            "system(`cat ",
            "popen(open(",
            "run(open(",
            "call(open(",
            "output(open(",
            "execSync(fs.readFileSync(",
            "execSync(require(\"fs\").readFileSync(",
            "execSync(require('fs').readFileSync(",
            "system(File.read(",
            "system(IO.read(",
        ];
        if self.state.disk.is_untouched() || !RUNNING.iter().any(|start| text.contains(start)) {
            return;
        }
        let command = self.last_command();
        for (path, written) in self.state.disk.written_files() {
            let name = path.rsplit('/').next().unwrap_or(&path);
            if text.split(|c: char| !(c.is_alphanumeric() || "._-".contains(c))).any(|word| word == name) {
                let code = WrittenCode { command, interpreter, language: Language::NewShell, arguments: &[] };
                self.as_part(|analyzer| {
                    analyzer.run_written(&written, &code);
                });
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
            let same = SourceLanguage::of_file(name)
                .is_some_and(|(language, _)| call.program.language == Some(language));
            let may_be_any = *path == *SOMEWHERE;
            if may_be_any || same && !is_script && (is_named || is_known) {
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
}
