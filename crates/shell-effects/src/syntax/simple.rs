//! Simple commands, assignments, function definitions and redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::syntax::lexer::{Heredoc, Lexer, is_operator};
use crate::syntax::quotes::{self, Index};
use crate::syntax::tree::{Assigned, Assignment, Command, Error, Kind, Piece, Redirect, Redirection, Word};

/// Builtins whose arguments are assignments.
const DECLARING: &[&str] = &["export", "declare", "local", "readonly", "typeset"];

impl Lexer<'_> {
    pub(crate) fn simple(&mut self) -> Result<Command, Error> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut declares = false;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if (words.is_empty() || declares)
                && let Some(assignment) = self.assignment()?
            {
                assignments.push(assignment);
                continue;
            }
            let start = self.at;
            let word = self.word()?;
            if word.is_empty() {
                break;
            }
            if words.is_empty() {
                let name = self.text.get(start..self.at).unwrap_or_default();
                declares = DECLARING.contains(&name);
                if assignments.is_empty() && redirects.is_empty() && self.is_definition() {
                    return self.nested(|lexer| lexer.definition(name.to_owned()));
                }
            }
            words.push(word);
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return self.error("a command is missing");
        }
        Ok(Command { kind: Kind::Simple { assignments, words }, redirects })
    }

    /// Whether `()` follows.
    fn is_definition(&self) -> bool {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        rest.strip_prefix('(').is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with(')'))
    }

    fn eat_parentheses(&mut self) {
        self.skip_blanks();
        if self.is_definition() {
            self.at += 1;
            self.skip_blanks();
            self.at += 1;
        }
    }

    pub(crate) fn function(&mut self) -> Result<Command, Error> {
        self.at += "function".len();
        self.skip_blanks();
        let name = self.bare_word();
        self.definition(name)
    }

    fn definition(&mut self, name: String) -> Result<Command, Error> {
        self.eat_parentheses();
        self.skip_lines()?;
        let body = Rc::new(self.command()?);
        Ok(Command { kind: Kind::Function { name, body }, redirects: Vec::new() })
    }

    fn assignment(&mut self) -> Result<Option<Assignment>, Error> {
        let rest = self.rest();
        let name = rest.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'));
        let Some(name) = name.and_then(|end| rest.get(..end)) else { return Ok(None) };
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let start = self.at;
        self.at += name.len();
        let mut index = None;
        if self.peek() == Some(b'[') {
            index = self.index()?;
            if index.is_none() {
                self.at = start;
                return Ok(None);
            }
        }
        let appends = self.eat("+=");
        if !appends && !self.eat("=") {
            self.at = start;
            return Ok(None);
        }
        let value = if self.eat("(") { Assigned::Array(self.array()?) } else { Assigned::Word(self.word()?) };
        let value = match (index, value) {
            // What is in the brackets runs as well.
            (Some(mut index), Assigned::Word(word)) => {
                index.extend(word);
                Assigned::Word(index)
            }
            (_, value) => value,
        };
        let partial = appends || rest.as_bytes().get(name.len()) == Some(&b'[');
        Ok(Some(Assignment { name: name.to_owned(), partial, value }))
    }

    /// The index of `name[index]=`; nothing where no assignment follows.
    fn index(&mut self) -> Result<Option<Word>, Error> {
        let rest = self.rest();
        let end = match quotes::index(rest) {
            Index::Closed(end) => end,
            Index::None => return Ok(None),
            // Some shells read it as an index, others as several words.
            Index::Ambiguous => return self.error("an index with blanks or operators is not understood"),
            Index::TooLong => return self.error("an index is too long"),
        };
        let depth = self.depth + 1;
        let inner = Lexer::expanded_text(rest.get(1..end).unwrap_or_default(), depth)?;
        self.at += end + 1;
        Ok(Some(inner))
    }

    fn array(&mut self) -> Result<Vec<Word>, Error> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                return Ok(words);
            }
            match self.word()? {
                word if word.is_empty() => return self.error("`)` is missing"),
                word => words.push(word),
            }
        }
    }

    pub(crate) fn redirect(&mut self) -> Result<Option<Redirect>, Error> {
        let rest = self.rest();
        let operator = rest.get(descriptor(rest)..).unwrap_or_default();
        let is_process = operator.starts_with("<(") || operator.starts_with(">(");
        if is_process || !(operator.starts_with(['<', '>']) || rest.starts_with("&>")) {
            return Ok(None);
        }
        let descriptor = rest.get(..rest.len() - operator.len()).unwrap_or_default();
        self.at += descriptor.len();
        let is_standard = match operator.starts_with('<') {
            true => matches!(descriptor, "" | "0"),
            false => matches!(descriptor, "" | "1"),
        };
        Ok(self.redirection()?.map(|kind| Redirect { kind, is_standard }))
    }

    fn redirection(&mut self) -> Result<Option<Redirection>, Error> {
        if self.eat("<<<") {
            let word = self.target()?;
            return Ok(Some(Redirection::Text(Rc::new(OnceCell::from(word)))));
        }
        if self.eat("<<") {
            return self.announce().map(Some);
        }
        type Make = fn(Word) -> Redirection;
        let operators: [(&str, Make); 9] = [
            ("&>>", |word| Redirection::Write { word, appends: true }),
            ("&>", |word| Redirection::Write { word, appends: false }),
            (">>", |word| Redirection::Write { word, appends: true }),
            (">|", |word| Redirection::Write { word, appends: false }),
            (">&", Redirection::Duplicate),
            ("<&", Redirection::DuplicateInput),
            ("<>", Redirection::ReadWrite),
            (">", |word| Redirection::Write { word, appends: false }),
            ("<", Redirection::Read),
        ];
        for (operator, make) in operators {
            if self.eat(operator) {
                return Ok(Some(make(self.target()?)));
            }
        }
        Ok(None)
    }

    fn target(&mut self) -> Result<Word, Error> {
        self.skip_blanks();
        match self.word()? {
            word if word.is_empty() => self.error("a redirection leads nowhere"),
            word => Ok(word),
        }
    }

    /// `<<` was read; its body starts after the line.
    fn announce(&mut self) -> Result<Redirection, Error> {
        let strips_tabs = self.eat("-");
        let delimiter = self.target()?;
        let is_quoted = !matches!(delimiter.as_slice(), [Piece::Plain(_)]);
        let mut text = String::new();
        for piece in &delimiter {
            match piece {
                Piece::Plain(part) | Piece::Quoted(part) => text.push_str(part),
                _ => return self.error("the end of a here-document is not literal"),
            }
        }
        let body = Rc::new(OnceCell::new());
        self.heredocs.push(Heredoc { delimiter: text, is_quoted, strips_tabs, body: Rc::clone(&body) });
        Ok(Redirection::Text(body))
    }

    /// The bodies that start here, after a line break.
    pub(crate) fn heredoc_bodies(&mut self) -> Result<(), Error> {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            let mut end = self.text.len();
            while self.at < self.text.len() {
                let line = self.rest().split('\n').next().unwrap_or_default();
                let plain = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { line };
                let line_start = self.at;
                self.at = (self.at + line.len() + 1).min(self.text.len());
                if plain == heredoc.delimiter {
                    end = line_start;
                    break;
                }
            }
            let text = self.text.get(start..end).unwrap_or_default();
            let word = if heredoc.is_quoted {
                vec![Piece::Quoted(text.to_owned())]
            } else {
                Lexer::expanded_text(text, self.depth + 1)?
            };
            // It is announced once, so it is set once.
            let _ = heredoc.body.set(word);
        }
        Ok(())
    }
}

/// How long the `3` or `{name}` before a redirection is; 0 where none follows.
fn descriptor(rest: &str) -> usize {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).take(10).count();
    let length = match rest.strip_prefix('{') {
        Some(inner) => inner.bytes().take(64).position(|byte| byte == b'}').map_or(0, |end| end + 2),
        None => digits,
    };
    let is_name = rest.bytes().take(length).all(|byte| !is_operator(byte) && byte != b',');
    let follows = matches!(rest.as_bytes().get(length), Some(b'<' | b'>'));
    if is_name && follows { length } else { 0 }
}
