//! Redirections, and what commands hand to each other through them.

use super::Access;
use super::state::{Field, FieldKind, Input};
use super::syntax::{Redirect, Word};
use super::walk::Walk;

/// What the redirections of a command do, before it is known which command it is.
#[derive(Debug, Default)]
pub(super) struct Redirected {
    pub(super) touched: Vec<(Access, Field)>,
    pub(super) input: Option<Input>,
    pub(super) to_file: bool,
}

/// A redirection as one would write it.
pub(super) fn shown((access, field): &(Access, Field)) -> String {
    format!("{} {}", if *access == Access::Read { '<' } else { '>' }, field.shown())
}

impl Walk<'_> {
    pub(super) fn redirected(&mut self, redirects: &[Redirect]) -> Redirected {
        let mut found = Redirected::default();
        for redirect in redirects {
            match redirect {
                Redirect::Read(word) => {
                    let field = self.target(word);
                    found.touched.push((Access::Read, field));
                    found.input = Some(Input::Unknown);
                }
                Redirect::Write(word) => self.writes(word, &mut found),
                Redirect::ReadWrite(word) => {
                    let field = self.target(word);
                    found.touched.push((Access::Read, field));
                    self.writes(word, &mut found);
                }
                Redirect::Duplicate(word) => {
                    let field = self.target(word);
                    let is_descriptor = field.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                    // `>&$fd` is a descriptor as well, though nobody knows.
                    if field.kind == FieldKind::Unknown {
                        found.to_file = true;
                    } else if !is_descriptor {
                        self.writes(word, &mut found);
                    }
                }
                Redirect::Text(body) => {
                    let field = body.get().map(|word| self.scalar(word));
                    found.input = Some(match field {
                        Some(field) if field.is_literal() => Input::Text(field.text.into()),
                        Some(_) => Input::Unknown,
                        None => Input::Text("".into()),
                    });
                }
            }
        }
        found
    }

    fn writes(&mut self, word: &Word, found: &mut Redirected) {
        let field = self.target(word);
        found.to_file |=
            !matches!(field.text.as_str(), "/dev/null" | "/dev/stderr" | "/dev/stdout" | "/dev/tty");
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

    pub(super) fn redirects_of_compound(&mut self, redirects: &[Redirect]) {
        let mut all = Vec::new();
        self.each_choice(|walk| all.push(walk.redirected(redirects)));
        for redirected in all {
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
            if let Some(input) = redirected.input {
                self.input = input;
            }
        }
    }
}
