//! Characters to words: quotes, escapes and expansions. One pass; only arithmetic is looked at twice.

use std::cell::OnceCell;
use std::rc::Rc;

use super::MAX_DEPTH;
use super::quotes::{self, Arithmetic};
use super::syntax::{Error, List, Operation, Piece, Word};

pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Here-documents whose body starts after the next line break.
    pub(super) heredocs: Vec<Heredoc>,
    /// Whether double parentheses were looked for up to the end of the text, in vain.
    is_open: bool,
}

/// A here-document that was announced.
#[derive(Debug)]
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    pub(super) is_quoted: bool,
    pub(super) strips_tabs: bool,
    pub(super) body: Rc<OnceCell<Word>>,
}

/// Where a word ends.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Until {
    /// At a blank or an operator.
    Blank,
    /// At the closing quote.
    Quote,
    /// At the `}` of an expansion; inside of double quotes or not.
    Brace { quoted: bool },
    /// At the `]` of a subscript.
    Bracket,
    /// Nowhere: the body of a here-document, arithmetic.
    End,
}

impl Until {
    fn is_quoted(self) -> bool {
        matches!(self, Until::Quote | Until::Brace { quoted: true } | Until::End)
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_operator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Result<Lexer<'a>, Error> {
        if depth > MAX_DEPTH {
            return Err(Error::TooDeep);
        }
        Ok(Lexer { text, at: 0, depth, heredocs: Vec::new(), is_open: false })
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    pub(super) fn next_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn error<T>(&self, what: &str) -> Result<T, Error> {
        let before = self.text.get(..self.at.min(self.text.len())).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Err(Error::Syntax(format!("{what} (line {line})")))
    }

    /// Runs a reader one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::TooDeep);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// One word up to a blank or an operator; nothing where none starts.
    pub(super) fn word(&mut self) -> Result<Word, Error> {
        self.pieces(Until::Blank)
    }

    /// A text that is expanded like the inside of double quotes.
    pub(super) fn expanded_text(text: &'a str, depth: usize) -> Result<Word, Error> {
        Lexer::new(text, depth)?.pieces(Until::End)
    }

    fn pieces(&mut self, until: Until) -> Result<Word, Error> {
        let mut word = Word::new();
        let quoted = until.is_quoted();
        while let Some(byte) = self.peek() {
            match byte {
                b'"' if until == Until::Quote => break,
                b'}' if matches!(until, Until::Brace { .. }) => break,
                b']' if until == Until::Bracket => break,
                b'\\' => self.escape(&mut word, until),
                b'\'' if !quoted => {
                    self.at += 1;
                    let text = self.up_to('\'', "a single quote is not closed")?;
                    push(&mut word, text, true);
                }
                b'"' if until != Until::End => self.double_quoted(&mut word)?,
                b'$' => self.dollar(&mut word, quoted)?,
                b'`' => self.backticks(&mut word, quoted)?,
                b'<' | b'>' if !quoted && self.peek_at(1) == Some(b'(') => self.process(&mut word)?,
                b'(' if until == Until::Blank && self.is_after_pattern_operator(&word) => {
                    self.extended_pattern(&mut word)?;
                }
                byte if until == Until::Blank && is_operator(byte) => break,
                _ => self.plain(&mut word, quoted),
            }
        }
        Ok(word)
    }

    /// The characters that mean nothing here, up to the next one that might.
    fn plain(&mut self, word: &mut Word, quoted: bool) {
        let rest = self.rest();
        let special = |c: char| {
            matches!(
                c,
                '\\' | '\''
                    | '"'
                    | '$'
                    | '`'
                    | '<'
                    | '>'
                    | '('
                    | ')'
                    | '}'
                    | ']'
                    | ' '
                    | '\t'
                    | '\n'
                    | ';'
                    | '&'
                    | '|'
            )
        };
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let (_, after) = rest.split_at_checked(first).unwrap_or(("", ""));
        let length = first + after.find(special).unwrap_or(after.len());
        push(word, rest.get(..length).unwrap_or_default(), quoted);
        self.at += length;
    }

    fn escape(&mut self, word: &mut Word, until: Until) {
        self.at += 1;
        let special = match until {
            Until::Blank | Until::Bracket | Until::Brace { quoted: false } => true,
            Until::Quote => matches!(self.peek(), Some(b'$' | b'`' | b'"' | b'\\' | b'\n')),
            Until::Brace { quoted: true } => {
                matches!(self.peek(), Some(b'$' | b'`' | b'"' | b'\\' | b'\n' | b'}'))
            }
            Until::End => matches!(self.peek(), Some(b'$' | b'`' | b'\\' | b'\n')),
        };
        if !special {
            push(word, "\\", true);
            return;
        }
        match self.next_char() {
            // A line that goes on.
            Some('\n') => {}
            Some(next) => push(word, next.encode_utf8(&mut [0; 4]), true),
            None => push(word, "\\", true),
        }
    }

    /// The text up to a character, which is skipped.
    fn up_to(&mut self, end: char, missing: &str) -> Result<&'a str, Error> {
        let rest = self.rest();
        match rest.split_once(end) {
            Some((text, _)) => {
                self.at += text.len() + end.len_utf8();
                Ok(text)
            }
            None => self.error(missing),
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), Error> {
        self.at += 1;
        let inner = self.pieces(Until::Quote)?;
        if !self.eat("\"") {
            return self.error("a double quote is not closed");
        }
        if inner.is_empty() {
            push(word, "", true);
        }
        word.extend(inner);
        Ok(())
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Error> {
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
    pub(super) fn arithmetic(&mut self, opening: usize) -> Result<Option<Word>, Error> {
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

    fn process(&mut self, word: &mut Word) -> Result<(), Error> {
        self.at += 2;
        word.push(Piece::Process(self.list_up_to(")")?));
        Ok(())
    }

    fn backticks(&mut self, word: &mut Word, quoted: bool) -> Result<(), Error> {
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
        let is_default = self.eat(":-") || self.eat(":=") || self.eat("-") || self.eat("=");
        let is_alternative = !is_default && (self.eat(":+") || self.eat("+"));
        if is_default || is_alternative {
            let word = self.pieces(Until::Brace { quoted })?;
            return Ok(if is_default { Operation::Default(word) } else { Operation::Alternative(word) });
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

    fn is_after_pattern_operator(&self, word: &Word) -> bool {
        match word.last() {
            Some(Piece::Plain(text)) => text.ends_with(['?', '*', '+', '@', '!']),
            _ => false,
        }
    }

    /// `@(a|b)` and the like.
    fn extended_pattern(&mut self, word: &mut Word) -> Result<(), Error> {
        let start = self.at;
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                b'\'' | b'"' | b'$' | b'`' | b'\\' | b'\n' => {
                    return self.error("an extended pattern with quotes is not understood");
                }
                _ => {}
            }
            self.next_char();
            if open == 0 {
                let text = self.text.get(start..self.at).unwrap_or_default();
                word.push(Piece::Pattern(text.to_owned()));
                return Ok(());
            }
        }
        self.error("`)` is missing")
    }
}

fn words_of(operation: Operation) -> Word {
    match operation {
        Operation::Default(word)
        | Operation::Alternative(word)
        | Operation::Other(word)
        | Operation::Trim { pattern: word, .. } => word,
        Operation::Length | Operation::All => Word::new(),
    }
}

/// Adds literal text, to the last piece where that is of the same kind.
fn push(word: &mut Word, text: &str, quoted: bool) {
    match word.last_mut() {
        Some(Piece::Quoted(last)) if quoted => last.push_str(text),
        Some(Piece::Plain(last)) if !quoted => last.push_str(text),
        _ if quoted => word.push(Piece::Quoted(text.to_owned())),
        _ => word.push(Piece::Plain(text.to_owned())),
    }
}
