//! What follows a `$`, and other expansions inside of words.

use crate::syntax::lexer::{Lexer, is_name};
use crate::syntax::quotes::{self, Arithmetic};
use crate::syntax::tree::{Error, List, Operation, Piece, Word};
use crate::syntax::words::{Until, push};

impl<'a> Lexer<'a> {
    pub(crate) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Error> {
        match self.peek_at(1) {
            Some(b'\'') if !quoted => {
                self.at += 2;
                let (text, length) = match quotes::ansi_c(self.rest()) {
                    Some(found) => found,
                    None => return self.error("a single quote is not closed"),
                };
                self.at += length;
                push(word, &text, true);
                Ok(())
            }
            Some(b'"') if !quoted => {
                self.at += 1;
                self.double_quoted(word)
            }
            Some(b'(') => self.parenthesis(word, quoted),
            Some(b'{') => self.nested(|lexer| lexer.braces(word, quoted)),
            Some(b'[') => {
                self.at += 2;
                let inner = self.nested(|lexer| lexer.pieces(Until::Bracket))?;
                self.at += 1;
                word.push(Piece::Arithmetic(inner));
                Ok(())
            }
            _ => {
                self.at += 1;
                match self.name() {
                    "" => push(word, "$", true),
                    name => word.push(Piece::Parameter { name: name.to_owned(), quoted, operation: None }),
                }
                Ok(())
            }
        }
    }

    /// A name, one digit or one of the special parameters.
    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let length = match rest.bytes().next() {
            Some(first) if first.is_ascii_digit() => 1,
            Some(first) if is_name(first) => {
                rest.bytes().position(|byte| !is_name(byte)).unwrap_or(rest.len())
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => 1,
            _ => 0,
        };
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// `$(…)` or `$((…))`.
    fn parenthesis(&mut self, word: &mut Word, quoted: bool) -> Result<(), Error> {
        if self.peek_at(2) == Some(b'(')
            && let Some(inner) = self.arithmetic(3)?
        {
            word.push(Piece::Arithmetic(inner));
            return Ok(());
        }
        self.at += 2;
        let start = self.at;
        let list = self.list_up_to(")")?;
        let text = self.text.get(start..self.at.saturating_sub(1)).unwrap_or_default().trim().to_owned();
        word.push(Piece::Substitution { list, quoted, text });
        Ok(())
    }

    /// The inside of double parentheses that are `opening` bytes long, if they are closed by two as well.
    pub(crate) fn arithmetic(&mut self, opening: usize) -> Result<Option<Word>, Error> {
        let text = self.text.get(self.at + opening..).unwrap_or_default();
        if self.is_open {
            return Ok(None);
        }
        let length = match quotes::arithmetic(text) {
            Arithmetic::Closed(length) => length,
            Arithmetic::None => return Ok(None),
            Arithmetic::Open => {
                self.is_open = true;
                return Ok(None);
            }
        };
        let inner = text.get(..length).unwrap_or_default();
        self.at += opening + inner.len() + 2;
        Lexer::expanded_text(inner, self.depth + 1).map(Some)
    }

    /// A list in a substitution, whose here-documents end inside of it.
    fn list_up_to(&mut self, end: &str) -> Result<List, Error> {
        let outer = std::mem::take(&mut self.heredocs);
        let list = self.nested(|lexer| lexer.list())?;
        self.heredocs = outer;
        if self.eat(end) { Ok(list) } else { self.error(&format!("`{end}` is missing")) }
    }

    pub(crate) fn process(&mut self, word: &mut Word) -> Result<(), Error> {
        let reads = self.peek() == Some(b'>');
        self.at += 2;
        word.push(Piece::Process { list: self.list_up_to(")")?, reads });
        Ok(())
    }

    pub(crate) fn backticks(&mut self, word: &mut Word, quoted: bool) -> Result<(), Error> {
        self.at += 1;
        let (inner, length) = match quotes::backticks(self.rest(), quoted) {
            Some(found) => found,
            None => return self.error("a backtick is not closed"),
        };
        self.at += length;
        let list = Lexer::new(&inner, self.depth + 1)?.whole()?;
        word.push(Piece::Substitution { list, quoted, text: inner.trim().to_owned() });
        Ok(())
    }

    /// `${…}`.
    fn braces(&mut self, word: &mut Word, quoted: bool) -> Result<(), Error> {
        self.at += 2;
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.at += 1;
            let start = self.at;
            let list = self.list_up_to("}")?;
            let text = self.text.get(start..self.at - 1).unwrap_or_default().trim().to_owned();
            word.push(Piece::Substitution { list, quoted, text });
            return Ok(());
        }
        let is_length = self.peek() == Some(b'#') && !matches!(self.peek_at(1), Some(b'}'));
        let is_indirect = self.peek() == Some(b'!') && self.peek_at(1).is_some_and(is_name);
        if is_length || is_indirect {
            self.at += 1;
        }
        let name = self.braced_name().to_owned();
        let mut operation = self.subscript()?;
        if self.peek() != Some(b'}') {
            let rest = self.operation(quoted)?;
            operation = Some(match operation {
                None => rest,
                Some(Operation::Other(mut inner)) => {
                    inner.extend(words_of(rest));
                    Operation::Other(inner)
                }
                Some(_) => Operation::Other(words_of(rest)),
            });
        }
        if !self.eat("}") {
            return self.error("`}` is missing");
        }
        if is_length {
            operation = Some(Operation::Length);
        } else if is_indirect {
            operation = Some(Operation::Other(operation.map(words_of).unwrap_or_default()));
        }
        word.push(Piece::Parameter { name, quoted, operation });
        Ok(())
    }

    fn braced_name(&mut self) -> &'a str {
        let rest = self.rest();
        let digits = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        if digits > 0 {
            self.at += digits;
            return rest.get(..digits).unwrap_or_default();
        }
        self.name()
    }

    fn subscript(&mut self) -> Result<Option<Operation>, Error> {
        if self.peek() != Some(b'[') {
            return Ok(None);
        }
        if self.eat("[@]") || self.eat("[*]") {
            return Ok(Some(Operation::All));
        }
        self.at += 1;
        let inner = self.nested(|lexer| lexer.pieces(Until::Bracket))?;
        if self.eat("]") { Ok(Some(Operation::Other(inner))) } else { self.error("`]` is missing") }
    }

    fn operation(&mut self, quoted: bool) -> Result<Operation, Error> {
        type Make = fn(Word) -> Operation;
        let operators: [(&str, Make); 6] = [
            (":-", Operation::Default),
            ("-", Operation::Default),
            (":=", Operation::Assign),
            ("=", Operation::Assign),
            (":+", Operation::Alternative),
            ("+", Operation::Alternative),
        ];
        for (operator, make) in operators {
            if self.eat(operator) {
                return Ok(make(self.pieces(Until::Brace { quoted })?));
            }
        }
        for (operator, suffix, longest) in
            [("##", false, true), ("#", false, false), ("%%", true, true), ("%", true, false)]
        {
            if self.eat(operator) {
                let pattern = self.pieces(Until::Brace { quoted: false })?;
                return Ok(Operation::Trim { suffix, longest, pattern });
            }
        }
        let quoted = quoted && self.eat(":?");
        Ok(Operation::Other(self.pieces(Until::Brace { quoted })?))
    }
}

fn words_of(operation: Operation) -> Word {
    match operation {
        Operation::Default(word)
        | Operation::Assign(word)
        | Operation::Alternative(word)
        | Operation::Other(word)
        | Operation::Trim { pattern: word, .. } => word,
        Operation::Length | Operation::All => Word::new(),
    }
}
