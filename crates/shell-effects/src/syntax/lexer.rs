//! A text and a position in it, with what the readers of words and commands share.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::MAX_DEPTH;
use crate::syntax::tree::{Error, Word};

pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    pub(crate) depth: usize,
    /// Here-documents whose body starts after the next line break.
    pub(crate) heredocs: Vec<Heredoc>,
    /// Whether double parentheses were looked for up to the end of the text, in vain.
    pub(crate) is_open: bool,
}

/// A here-document that was announced.
#[derive(Debug)]
pub(crate) struct Heredoc {
    pub(crate) delimiter: String,
    pub(crate) is_quoted: bool,
    pub(crate) strips_tabs: bool,
    pub(crate) body: Rc<OnceCell<Word>>,
}

pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(crate) fn is_operator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, depth: usize) -> Result<Lexer<'a>, Error> {
        if depth > MAX_DEPTH {
            return Err(Error::TooDeep);
        }
        Ok(Lexer { text, at: 0, depth, heredocs: Vec::new(), is_open: false })
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    pub(crate) fn next_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(crate) fn error<T>(&self, what: &str) -> Result<T, Error> {
        let before = self.text.get(..self.at.min(self.text.len())).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Err(Error::Syntax(format!("{what} (line {line})")))
    }

    /// Runs a reader one level deeper.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::TooDeep);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
