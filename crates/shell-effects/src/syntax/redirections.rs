//! The grammar of redirections and here-documents.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::syntax::continuations;
use crate::syntax::parser::{Heredoc, Parser, is_operator};
use crate::syntax::tree::{ParseError, Piece, Redirect, Redirection, Word};

impl Parser<'_> {
    pub(crate) fn redirect(&mut self) -> Result<Option<Redirect>, ParseError> {
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

    fn redirection(&mut self) -> Result<Option<Redirection>, ParseError> {
        if self.eat("<<<") {
            let mut word = self.target()?;
            word.push(Piece::Quoted("\n".to_owned()));
            return Ok(Some(Redirection::Text(Rc::new(OnceCell::from(word)))));
        }
        if self.eat("<<") {
            return self.announce().map(Some);
        }
        type MakeRedirection = fn(Word) -> Redirection;
        let operators: [(&str, MakeRedirection); 9] = [
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

    fn target(&mut self) -> Result<Word, ParseError> {
        self.skip_blanks();
        match self.word()? {
            word if word.is_empty() => self.error("a redirection leads nowhere"),
            word => Ok(word),
        }
    }

    /// `<<` has been read. The body starts after the line.
    fn announce(&mut self) -> Result<Redirection, ParseError> {
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
    pub(crate) fn heredoc_bodies(&mut self) -> Result<(), ParseError> {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            let mut end = self.text.len();
            while self.at < self.text.len() {
                let line =
                    if heredoc.is_quoted { first_line(self.rest()) } else { continued_line(self.rest()) };
                let plain = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { line };
                let line_start = self.at;
                self.at = (self.at + line.len() + 1).min(self.text.len());
                let is_end = plain == heredoc.delimiter
                    || !heredoc.is_quoted
                        && plain.contains("\\\n")
                        && plain.replace("\\\n", "") == heredoc.delimiter;
                if is_end {
                    end = line_start;
                    break;
                }
            }
            let text = self.text.get(start..end).unwrap_or_default();
            let word = if heredoc.is_quoted {
                vec![Piece::Quoted(text.to_owned())]
            } else {
                Parser::expanded_text(&continuations::joined_everywhere(text), self.depth + 1)?
            };
            // Each is announced once, so it is set once.
            let _ = heredoc.body.set(word);
        }
        Ok(())
    }
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

/// The first line with its continuations: a backslash before a line break removes both.
fn continued_line(text: &str) -> &str {
    let mut length = 0;
    loop {
        let line = first_line(text.get(length..).unwrap_or_default());
        length += line.len();
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        if backslashes.is_multiple_of(2) || length >= text.len() {
            return text.get(..length).unwrap_or(text);
        }
        length += 1;
    }
}

/// The length of the `3` or `{name}` before a redirection. 0 if no redirection follows.
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
