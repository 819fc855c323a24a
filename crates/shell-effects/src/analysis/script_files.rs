//! Scripts, programs and modules in files that the same command wrote.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::disk::WrittenFile;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::arguments::Call;
use crate::programs::inline_calls;

/// Who runs a file that this script wrote.
#[derive(Clone, Copy)]
pub(crate) struct WrittenCode<'a> {
    pub(crate) command: usize,
    pub(crate) interpreter: &'a str,
    pub(crate) language: Language,
    pub(crate) arguments: &'a [Field],
}

impl Analyzer<'_> {
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
        if file.is_literal()
            && let Some(command) = self.command_mut(call.command)
        {
            let words: Vec<String> = std::iter::once(file).chain(arguments).map(Field::shown).collect();
            command.script = Some(words.join(" "));
        }
        let code = WrittenCode { command: call.command, interpreter: call.name, language, arguments };
        if matches!(file.kind, FieldKind::Glob | FieldKind::Tree) {
            return self.any_written(&code);
        }
        self.run_named(file, &code);
    }

    /// The same as `run_file`, for a script that may ask for its own file.
    fn run_named(&mut self, file: &Field, code: &WrittenCode<'_>) -> bool {
        self.scope.script_file = Some(file.clone()).filter(Field::is_literal);
        let ran = self.run_file(file, code);
        self.scope.script_file = None;
        ran
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

    /// The scripts of a `package.json` that this script wrote, and the shell that runs them.
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
        for path in self.state.disk.named("package.json") {
            let Some(written) = self.state.disk.written(&path) else { continue };
            if let Stream::Text(printed) = written.content() {
                let (_, scripts) = printed.text.text.split_once("\"scripts\"").unwrap_or_default();
                for code in inline_calls::json_values(scripts) {
                    self.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
                }
            }
        }
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
    pub(crate) fn program_on_path(&mut self, fields: &[Field], command: usize) {
        let Some((name, arguments)) = fields.split_first() else { return };
        let name = name.text.as_str();
        if name.contains('/') || self.state.disk.is_untouched() {
            return;
        }
        let has_path = self.state.get("PATH").is_some() || self.state.exports.has("PATH");
        let is_searched = |path: &str| {
            has_path
                || path
                    .rsplit('/')
                    .nth(1)
                    .is_some_and(|directory| matches!(directory, ".bin" | "bin" | "sbin"))
        };
        let code = WrittenCode { command, interpreter: name, language: Language::NewShell, arguments };
        self.written_programs(&code, is_searched);
    }

    /// A program of this name that this command wrote, in any directory.
    pub(crate) fn written_program(&mut self, name: &str, arguments: &[Field], command: usize) {
        let code = WrittenCode { command, interpreter: name, language: Language::NewShell, arguments };
        self.written_programs(&code, |_| true);
    }

    fn written_programs(&mut self, code: &WrittenCode<'_>, is_searched: impl Fn(&str) -> bool) {
        for path in self.state.disk.named(code.interpreter).into_iter().filter(|path| is_searched(path)) {
            self.as_part(|analyzer| {
                analyzer.run_file(&Field::literal(path), code);
            });
        }
    }

    /// A program in a file, such as `./x`.
    pub(crate) fn program_file(&mut self, file: &Field, arguments: &[Field], command: usize) {
        let code = WrittenCode { command, interpreter: &file.text, language: Language::NewShell, arguments };
        if file.text.contains('/') && self.run_named(file, &code) {
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
