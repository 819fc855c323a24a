//! Redirections, and how commands pass data to each other: through pipes, substitutions and files.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::directories::moved;
use crate::analysis::disk::{SOMEWHERE, WrittenFile};
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::{self, RedirectionEffects, Stream};
use crate::programs::action::Output;
use crate::programs::interpreters::{is_connection, is_descriptor, is_input};
use crate::programs::table;
use crate::syntax::tree::{Redirect, Redirection, Word};
use crate::{Access, Base};

/// A redirection as one would write it.
pub(crate) fn shown((access, field): &(Access, Field)) -> String {
    format!("{} {}", if *access == Access::Read { '<' } else { '>' }, field.shown())
}

impl Analyzer<'_> {
    pub(crate) fn redirected(&mut self, redirects: &[Redirect]) -> RedirectionEffects {
        let mut found = RedirectionEffects::default();
        for redirect in redirects {
            self.apply_redirection(redirect, &mut found);
        }
        found
    }

    fn apply_redirection(&mut self, redirect: &Redirect, found: &mut RedirectionEffects) {
        let is_standard = redirect.is_standard;
        let (input, file) = match &redirect.kind {
            Redirection::Read(word) => {
                let (field, content) = self.opened_input(word, is_standard, found);
                (content, Some(field))
            }
            Redirection::ReadWrite(word) => {
                let (_, content) = self.opened_input(word, is_standard, found);
                self.writes(word, None, found);
                (content, None)
            }
            Redirection::Write { word, appends } => {
                let output = if is_standard { Some(*appends) } else { None };
                return self.writes(word, output, found);
            }
            Redirection::Duplicate(word) => return self.duplicates(word, is_standard, found),
            Redirection::DuplicateInput(word) => {
                let from = self.target(word);
                self.copies_descriptor(&from.text, true);
                match from.text.as_str() {
                    "0" => return,
                    "-" => (Stream::Nothing, None),
                    _ => (Stream::Unknown, None),
                }
            }
            Redirection::Text(body) => {
                let text = body.get().map_or(Stream::Nothing, |word| Stream::text(self.scalar(word)));
                (text, None)
            }
        };
        if is_standard {
            (found.input, found.input_file) = (Some(input), file);
        } else {
            found.opens_input = true;
        }
    }

    /// A file that is opened for reading, and its content.
    fn opened_input(
        &mut self,
        word: &Word,
        is_standard: bool,
        found: &mut RedirectionEffects,
    ) -> (Field, Stream) {
        let field = self.target(word);
        let content = self.content(&field);
        self.opens_input(&field, is_standard);
        found.touched.push((Access::Read, field.clone()));
        (field, content)
    }

    /// `>&WORD`.
    fn duplicates(&mut self, word: &Word, is_standard: bool, found: &mut RedirectionEffects) {
        let field = self.target(word);
        self.copies_descriptor(&field.text, false);
        let is_descriptor = field.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        // `>&$fd` may be a descriptor or a file.
        if field.kind == FieldKind::Unknown {
            found.to_file = true;
            self.to_opened(is_standard, found);
        } else if is_descriptor {
            found.leaves |= is_standard && field.text != "1";
            if !matches!(field.text.as_str(), "1" | "2" | "-") {
                self.to_opened(is_standard, found);
            }
        } else {
            let output = if is_standard { Some(false) } else { None };
            self.writes(word, output, found);
        }
    }

    /// The standard output goes to a descriptor: it is one of the files that `exec` opened.
    fn to_opened(&self, is_standard: bool, found: &mut RedirectionEffects) {
        if is_standard && !self.streams.opened.is_empty() {
            found.leaves = true;
            found.output = self.streams.opened.iter().map(|file| (file.clone(), true)).collect();
        }
    }

    /// Writes to a file. `output` says whether the standard output is appended, if that is known.
    fn writes(&mut self, word: &Word, output: Option<bool>, found: &mut RedirectionEffects) {
        let field = self.target(word);
        found.to_file |=
            !matches!(field.text.as_str(), "/dev/null" | "/dev/stderr" | "/dev/stdout" | "/dev/tty");
        if let Some(appends) = output
            && field.text != "/dev/stdout"
        {
            found.leaves = true;
            found.output = vec![(field.clone(), appends)];
        } else if output.is_none() {
            found.opened.push(field.clone());
        }
        found.touched.push((Access::Write, field));
    }

    fn target(&mut self, word: &Word) -> Field {
        let mut fields = self.fields(word);
        match (fields.pop(), fields.is_empty()) {
            (Some(field), true) => field,
            // Ambiguous: the shell refuses it.
            _ => Field::unknown("an ambiguous redirection"),
        }
    }

    /// The content that a command reads from a file.
    pub(crate) fn content(&self, file: &Field) -> Stream {
        if is_input(file) {
            return self.scope.input.clone();
        }
        if is_descriptor(file) {
            return self.process_output();
        }
        match self.written(file) {
            Some(written) => written.content(),
            None if is_connection(file) => Stream::Unknown,
            None if file.text == "/dev/tty" => Stream::Inherited,
            None => Stream::File,
        }
    }

    /// The redirections of a compound command: where its output goes.
    pub(crate) fn redirects_of_compound(&mut self, redirects: &[Redirect]) -> RedirectionEffects {
        let mut all = Vec::new();
        self.streams.process = Stream::Nothing;
        self.streams.has_process = false;
        self.each_choice(|analyzer| all.push(analyzer.redirected(redirects)));
        let mut last = RedirectionEffects::default();
        for mut redirected in all {
            if !redirected.touched.is_empty() {
                let command = self.add_command(&[], redirected.to_file);
                if let Some(command) = self.script.commands.get_mut(command) {
                    command.redirects = redirected.touched.iter().map(shown).collect();
                }
                for (access, field) in &redirected.touched {
                    self.touch(*access, field, command);
                }
            }
            self.scope.redirected += usize::from(redirected.to_file);
            if let Some(input) = redirected.input.take() {
                self.set_input(input);
            }
            last = redirected;
        }
        last
    }
}

/// Output and the content of files.
impl Analyzer<'_> {
    /// Runs something and returns its output.
    pub(crate) fn printing(&mut self, run: impl FnOnce(&mut Self)) -> Stream {
        let ((), printed) = self.with(|analyzer| &mut analyzer.streams.prints, Some(Stream::Nothing), run);
        printed.unwrap_or_default()
    }

    /// A command printed this.
    pub(crate) fn print(&mut self, name: &str, output: Stream) {
        if self.streams.prints.is_none() {
            return;
        }
        if let Stream::Text(printed) = &output {
            self.work(printed.text.text.len());
        }
        let is_silent = matches!(output, Stream::Unknown) && self.prints_nothing(name);
        let Some(prints) = &mut self.streams.prints else { return };
        if !is_silent {
            prints.add(output);
        }
    }

    /// Whether a program prints nothing, so that the others print all of the output.
    fn prints_nothing(&self, program: &str) -> bool {
        let program = table::called_name(program).and_then(|name| self.program(name));
        program.is_some_and(|program| matches!(program.output, Output::Nothing))
    }

    /// The output so far may have been printed differently.
    pub(crate) fn blur(&mut self) {
        if let Some(prints) = &mut self.streams.prints {
            prints.blur();
        }
    }

    /// Stores the content of a file that these commands wrote.
    pub(crate) fn wrote(&mut self, file: &Field, content: Stream, appends: bool, by: Vec<usize>) {
        let paths = self.paths_of(file);
        if let [path] = paths.as_slice()
            && !path.starts_with(SOMEWHERE)
        {
            self.state.disk.write(path, content, appends, by);
            return self.wrote_in_parallel(&paths);
        }
        // It is one of these files.
        let before = self.state.disk.clone();
        for path in &paths {
            self.state.disk.write(path, content.clone(), appends, by.clone());
        }
        self.state.disk = self.state.disk.join(&before);
        self.wrote_in_parallel(&paths);
    }

    /// Remembers that files were written whose names start so.
    pub(crate) fn wrote_pieces(&mut self, start: &Field) {
        let paths = self.paths_of(start);
        paths.iter().for_each(|path| self.state.disk.write_pieces(path));
        self.wrote_in_parallel(&paths);
    }

    /// A file gets what was written to another one.
    pub(crate) fn copy_content(&mut self, from: &Field, to: &Field) {
        if is_input(from) || is_descriptor(from) {
            let by = (self.scope.pipeline..self.script.commands.len()).collect();
            return self.wrote(to, self.content(from), false, by);
        }
        match self.written(from) {
            Some(written) => self.wrote(to, written.content(), false, written.by),
            None if from.is_literal() && to.is_literal() && self.state.disk.has_room() => {
                self.wrote(to, Stream::Copy(from.text.as_str().into()), false, Vec::new());
            }
            None => {}
        }
    }

    /// The files below a directory that this script wrote, by their paths in it.
    pub(crate) fn written_below(&self, directory: &Field) -> Vec<String> {
        if self.state.disk.is_untouched() || !directory.is_literal() {
            return Vec::new();
        }
        let mut names = Vec::new();
        for root in self.paths_of(directory) {
            let is_start = root.is_empty();
            let root = root.trim_end_matches('/');
            for (path, _) in self.state.disk.written_files() {
                let name = match path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
                    Some(name) if !is_start => name,
                    None if is_start && !path.starts_with(['/', '\0']) && !path.starts_with("../") => &path,
                    _ => continue,
                };
                names.push(name.to_owned());
            }
        }
        names.retain(|name| !name.contains('\0'));
        names
    }

    /// What was written to a file before.
    pub(crate) fn written(&self, file: &Field) -> Option<WrittenFile> {
        if self.state.disk.is_untouched() {
            return None;
        }
        let paths = self.paths_of(file);
        let is_somewhere = |path: &String| path.starts_with(SOMEWHERE);
        let may_be_any = paths.iter().any(is_somewhere);
        let mut others = self.state.disk.named(file.text.rsplit('/').next().unwrap_or_default());
        others.retain(|path| !paths.contains(path) && (may_be_any || is_somewhere(path)));
        let found = paths.iter().chain(&others).filter_map(|path| self.state.disk.written(path));
        found.reduce(|one, other| one.join(&other))
    }

    /// The files that another file or the standard input lists: one per line, or separated by NUL.
    pub(crate) fn listed_in(&self, list: &Field) -> Vec<Field> {
        let content = if list.text == "-" { self.scope.input.clone() } else { self.content(list) };
        match content {
            Stream::Text(printed) => {
                let mut files = stream::split(&printed.text, |c| matches!(c, '\n' | '\0'));
                if printed.and_more {
                    files.push(Field::unknown(format!("the files of {}", list.shown())));
                }
                files
            }
            Stream::Files(files) => files.iter().map(stream::found).collect(),
            _ => vec![Field::unknown(format!("the files of {}", list.shown()))],
        }
    }

    /// An absolute path, relative to the directory in which the command starts, if it is below that.
    fn relative_to_start(&self, path: String) -> String {
        if !path.starts_with('/') {
            return path;
        }
        let Some(start) = self.environment().directory("") else { return path };
        let below = path.strip_prefix(start.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
        below.map_or_else(|| path.clone(), str::to_owned)
    }

    /// All names of a file, relative to each possible current directory.
    pub(super) fn paths_of(&self, file: &Field) -> Vec<String> {
        let path = |base: &Base| match moved(base, file) {
            Base::At(at) | Base::IfMissing { at, .. } if file.kind == FieldKind::Literal => {
                self.relative_to_start(at)
            }
            _ if file.is_literal() => format!("{SOMEWHERE}{}", file.text),
            _ => file.text.clone(),
        };
        let mut paths: Vec<String> = self.state.bases().iter().map(path).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}
