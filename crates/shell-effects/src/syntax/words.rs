//! Characters to words: quotes, escapes and expansions. One pass; only arithmetic is looked at twice.

use crate::syntax::lexer::{Lexer, is_operator};
use crate::syntax::tree::{Error, Piece, Word};

/// Where a word ends.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Until {
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

impl<'a> Lexer<'a> {
    /// One word up to a blank or an operator; nothing where none starts.
    pub(crate) fn word(&mut self) -> Result<Word, Error> {
        self.pieces(Until::Blank)
    }

    /// A text that is expanded like the inside of double quotes.
    pub(crate) fn expanded_text(text: &'a str, depth: usize) -> Result<Word, Error> {
        Lexer::new(text, depth)?.pieces(Until::End)
    }

    pub(crate) fn pieces(&mut self, until: Until) -> Result<Word, Error> {
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

    pub(crate) fn double_quoted(&mut self, word: &mut Word) -> Result<(), Error> {
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

/// Adds literal text, to the last piece where that is of the same kind.
pub(crate) fn push(word: &mut Word, text: &str, quoted: bool) {
    match word.last_mut() {
        Some(Piece::Quoted(last)) if quoted => last.push_str(text),
        Some(Piece::Plain(last)) if !quoted => last.push_str(text),
        _ if quoted => word.push(Piece::Quoted(text.to_owned())),
        _ => word.push(Piece::Plain(text.to_owned())),
    }
}
