//! Redirections, and what commands hand to each other through them.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::{Redirected, Stream};
use crate::programs::interpreters::{is_descriptor, is_input};
use crate::syntax::tree::{Redirect, Redirection, Word};

/// A redirection as one would write it.
pub(crate) fn shown((access, field): &(Access, Field)) -> String {
    format!("{} {}", if *access == Access::Read { '<' } else { '>' }, field.shown())
}

impl Analyzer<'_> {
    pub(crate) fn redirected(&mut self, redirects: &[Redirect]) -> Redirected {
        let mut found = Redirected::default();
        for redirect in redirects {
            let input = match &redirect.kind {
                Redirection::Read(word) => {
                    let field = self.target(word);
                    let content = self.content(&field);
                    found.touched.push((Access::Read, field));
                    content
                }
                Redirection::Write { word, appends } => {
                    self.writes(word, redirect.is_standard.then_some(*appends), &mut found);
                    continue;
                }
                Redirection::ReadWrite(word) => {
                    let field = self.target(word);
                    let content = self.content(&field);
                    found.touched.push((Access::Read, field));
                    self.writes(word, None, &mut found);
                    content
                }
                Redirection::Duplicate(word) => {
                    self.duplicates(word, redirect.is_standard, &mut found);
                    continue;
                }
                Redirection::DuplicateInput(word) => match self.target(word).text.as_str() {
                    "0" => continue,
                    "-" => Stream::Nothing,
                    _ => Stream::Unknown,
                },
                Redirection::Text(body) => {
                    body.get().map_or(Stream::Nothing, |word| Stream::text(self.scalar(word)))
                }
            };
            if redirect.is_standard {
                found.input = Some(input);
            }
        }
        found
    }

    /// `>&WORD`.
    fn duplicates(&mut self, word: &Word, is_standard: bool, found: &mut Redirected) {
        let field = self.target(word);
        let is_descriptor = field.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        // `>&$fd` is a descriptor as well, though nobody knows.
        if field.kind == FieldKind::Unknown {
            found.to_file = true;
        } else if is_descriptor {
            found.leaves |= is_standard && field.text != "1";
        } else {
            self.writes(word, is_standard.then_some(false), found);
        }
    }

    /// Writes to a file: the standard output, if it is known whether that is appended.
    fn writes(&mut self, word: &Word, output: Option<bool>, found: &mut Redirected) {
        let field = self.target(word);
        found.to_file |=
            !matches!(field.text.as_str(), "/dev/null" | "/dev/stderr" | "/dev/stdout" | "/dev/tty");
        if let Some(appends) = output.filter(|_| field.text != "/dev/stdout") {
            found.leaves = true;
            found.output = Some((field.clone(), appends));
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

    /// What a command reads from a file.
    pub(crate) fn content(&self, file: &Field) -> Stream {
        if is_input(file) {
            return self.input.clone();
        }
        if is_descriptor(file) {
            return self.process.clone();
        }
        match self.written(file) {
            Some(written) => written.content(),
            None => Stream::File,
        }
    }

    /// The redirections of a command that is not simple: what becomes of its output.
    pub(crate) fn redirects_of_compound(&mut self, redirects: &[Redirect]) -> Redirected {
        let mut all = Vec::new();
        self.process = Stream::Nothing;
        self.each_choice(|analyzer| all.push(analyzer.redirected(redirects)));
        let mut last = Redirected::default();
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
            self.redirected += usize::from(redirected.to_file);
            if let Some(input) = redirected.input.take() {
                self.input = input;
            }
            last = redirected;
        }
        last
    }
}
