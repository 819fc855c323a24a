//! Characters to words: quotes, escapes and expansions. One pass; only arithmetic is read twice.

use std::rc::Rc;

use crate::syntax::parser::{Parser, is_name, is_operator};
use crate::syntax::quotes::{self, Arithmetic};
use crate::syntax::tree::{List, Operation, ParseError, Piece, Word};

/// Where a word ends.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum WordEnd {
    /// At a blank or an operator.
    Blank,
    /// At the closing quote.
    Quote,
    /// At the closing quote, in an expansion that is quoted itself.
    InnerQuote,
    /// At the `}` of an expansion; inside of double quotes or not.
    Brace { quoted: bool },
    /// At the `]` of a subscript.
    Bracket,
    /// Nowhere: the body of a here-document, arithmetic.
    End,
}

impl WordEnd {
    fn is_quoted(self) -> bool {
        matches!(self, WordEnd::Quote | WordEnd::InnerQuote | WordEnd::Brace { quoted: true } | WordEnd::End)
    }
}

/// Words and quotes.
impl<'a> Parser<'a> {
    /// One word up to a blank or an operator. Empty if none starts here.
    pub(crate) fn word(&mut self) -> Result<Word, ParseError> {
        self.pieces(WordEnd::Blank)
    }

    /// A text that is expanded like text in double quotes.
    pub(crate) fn expanded_text(text: &'a str, depth: usize) -> Result<Word, ParseError> {
        Parser::new(text, depth)?.pieces(WordEnd::End)
    }

    /// Like `expanded_text`, for the value of a variable.
    pub(crate) fn expanded_value(text: &'a str, depth: usize) -> Result<Word, ParseError> {
        Parser { is_value: true, ..Parser::new(text, depth)? }.pieces(WordEnd::End)
    }

    pub(crate) fn pieces(&mut self, until: WordEnd) -> Result<Word, ParseError> {
        let mut word = Word::new();
        let quoted = until.is_quoted();
        // Brackets inside of a subscript.
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'[' if until == WordEnd::Bracket => {
                    open += 1;
                    self.plain(&mut word, quoted);
                }
                b']' if until == WordEnd::Bracket && open > 0 => {
                    open -= 1;
                    self.plain(&mut word, quoted);
                }
                b'"' if matches!(until, WordEnd::Quote | WordEnd::InnerQuote) => break,
                b'}' if matches!(until, WordEnd::Brace { .. }) => break,
                b']' if until == WordEnd::Bracket => break,
                b'\\' => self.escape(&mut word, until),
                b'\'' if !quoted => {
                    self.at += 1;
                    let text = self.up_to('\'', "a single quote is not closed")?;
                    push(&mut word, text, true);
                }
                b'"' if until == (WordEnd::Brace { quoted: true }) => {
                    self.quoted_up_to(WordEnd::InnerQuote, &mut word)?;
                }
                b'"' if until != WordEnd::End => self.double_quoted(&mut word)?,
                b'$' => self.dollar(&mut word, quoted)?,
                b'`' => self.backticks(&mut word, quoted)?,
                b'<' | b'>' if !quoted && self.peek_at(1) == Some(b'(') => self.process(&mut word)?,
                b'(' if until == WordEnd::Blank && self.is_after_pattern_operator(&word) => {
                    self.extended_pattern(&mut word)?;
                }
                byte if until == WordEnd::Blank && is_operator(byte) => break,
                _ => self.plain(&mut word, quoted),
            }
        }
        Ok(word)
    }

    /// Ordinary characters, up to the next one that may be special.
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
                    | '['
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

    fn escape(&mut self, word: &mut Word, until: WordEnd) {
        self.at += 1;
        let special = match until {
            WordEnd::Blank | WordEnd::InnerQuote | WordEnd::Bracket | WordEnd::Brace { quoted: false } => {
                true
            }
            WordEnd::Quote => matches!(self.peek(), Some(b'$' | b'`' | b'"' | b'\\' | b'\n')),
            WordEnd::Brace { quoted: true } => {
                matches!(self.peek(), Some(b'$' | b'`' | b'"' | b'\\' | b'\n' | b'}'))
            }
            WordEnd::End => matches!(self.peek(), Some(b'$' | b'`' | b'\\' | b'\n')),
        };
        if !special {
            push(word, "\\", true);
            return;
        }
        match self.next_char() {
            // A continued line.
            Some('\n') => {}
            Some(next) => push(word, next.encode_utf8(&mut [0; 4]), true),
            None => push(word, "\\", true),
        }
    }

    /// The text up to a character, which is skipped.
    fn up_to(&mut self, end: char, missing: &str) -> Result<&'a str, ParseError> {
        let rest = self.rest();
        match rest.split_once(end) {
            Some((text, _)) => {
                self.at += text.len() + end.len_utf8();
                Ok(text)
            }
            None => self.error(missing),
        }
    }

    pub(crate) fn double_quoted(&mut self, word: &mut Word) -> Result<(), ParseError> {
        self.quoted_up_to(WordEnd::Quote, word)
    }

    fn quoted_up_to(&mut self, end: WordEnd, word: &mut Word) -> Result<(), ParseError> {
        self.at += 1;
        let inner = self.pieces(end)?;
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
            _ if self.has_regex => false,
            Some(Piece::Plain(text)) => text.ends_with(['?', '*', '+', '@', '!']),
            _ => false,
        }
    }

    /// `@(a|b)` and the like.
    fn extended_pattern(&mut self, word: &mut Word) -> Result<(), ParseError> {
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

/// The part after a `$`, and other expansions in words.
impl<'a> Parser<'a> {
    pub(crate) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), ParseError> {
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
            Some(b'{') => self.nested(|parser| parser.braces(word, quoted)),
            Some(b'[') => {
                self.at += 2;
                let inner = self.nested(|parser| parser.pieces(WordEnd::Bracket))?;
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
    fn parenthesis(&mut self, word: &mut Word, quoted: bool) -> Result<(), ParseError> {
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
        word.push(Piece::Substitution { list: Rc::new(list), quoted, text });
        Ok(())
    }

    /// The content of double parentheses, whose opening is `opening` bytes long, if two parentheses close them.
    pub(crate) fn arithmetic(&mut self, opening: usize) -> Result<Option<Word>, ParseError> {
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
        let mut word = Parser::expanded_text(inner, self.depth + 1)?;
        if let Some(text) = quotes::without_quoted_parts(inner) {
            word.extend(Parser::expanded_text(&text, self.depth + 1)?);
        }
        Ok(Some(word))
    }

    /// A list in a substitution, whose here-documents end inside it.
    fn list_up_to(&mut self, end: &str) -> Result<List, ParseError> {
        let read = |parser: &mut Self| parser.nested(|parser| parser.list());
        let read = |parser: &mut Self| parser.with_own(|parser| &mut parser.has_regex, read);
        let list = self.with_own(|parser| &mut parser.heredocs, read)?;
        if self.eat(end) { Ok(list) } else { self.error(&format!("`{end}` is missing")) }
    }

    pub(crate) fn process(&mut self, word: &mut Word) -> Result<(), ParseError> {
        let reads = self.peek() == Some(b'>');
        self.at += 2;
        word.push(Piece::Process { list: self.list_up_to(")")?, reads });
        Ok(())
    }

    pub(crate) fn backticks(&mut self, word: &mut Word, quoted: bool) -> Result<(), ParseError> {
        self.at += 1;
        let (inner, length) = match quotes::backticks(self.rest(), quoted, !self.is_value) {
            Some(found) => found,
            None => return self.error("a backtick is not closed"),
        };
        self.at += length;
        let list = Parser::new(&inner, self.depth + 1)?.whole()?;
        word.push(Piece::Substitution { list: Rc::new(list), quoted, text: inner.trim().to_owned() });
        Ok(())
    }

    /// `${…}`.
    fn braces(&mut self, word: &mut Word, quoted: bool) -> Result<(), ParseError> {
        self.at += 2;
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            word.push(self.braced_substitution(quoted)?);
            return Ok(());
        }
        let is_length = self.peek() == Some(b'#') && !matches!(self.peek_at(1), Some(b'}'));
        let is_special = matches!(self.peek_at(1), Some(b'#' | b'@' | b'*' | b'?' | b'-' | b'$' | b'!'))
            && self.peek_at(2) == Some(b'}');
        let is_indirect = self.peek() == Some(b'!') && (self.peek_at(1).is_some_and(is_name) || is_special);
        if is_length || is_indirect {
            self.at += 1;
        }
        let name = self.braced_name().to_owned();
        let mut operation = self.subscript()?;
        if self.peek() != Some(b'}') {
            let rest = self.operation(quoted)?;
            operation = Some(match operation {
                None => rest,
                Some(Operation::Index(mut inner)) => {
                    if matches!(rest, Operation::Assign(_)) {
                        push(&mut inner, "=", false);
                    }
                    inner.extend(words_of(rest));
                    Operation::Index(inner)
                }
                Some(_) => Operation::Other(words_of(rest)),
            });
        }
        if !self.eat("}") {
            return self.error("`}` is missing");
        }
        // The index in `${#name[index]}` is evaluated like any other.
        if is_length && !matches!(&operation, Some(Operation::Index(index)) if !is_number(index)) {
            operation = Some(Operation::Length);
        } else if is_indirect {
            operation = Some(Operation::Indirect(operation.map(words_of).unwrap_or_default()));
        }
        word.push(Piece::Parameter { name, quoted, operation });
        Ok(())
    }

    /// `${ COMMANDS; }`, after the `{`.
    fn braced_substitution(&mut self, quoted: bool) -> Result<Piece, ParseError> {
        self.at += 1;
        let start = self.at;
        let list = self.list_up_to("}")?;
        let text = self.text.get(start..self.at - 1).unwrap_or_default().trim().to_owned();
        Ok(Piece::Substitution { list: Rc::new(list), quoted, text })
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

    fn subscript(&mut self) -> Result<Option<Operation>, ParseError> {
        if self.peek() != Some(b'[') {
            return Ok(None);
        }
        if self.eat("[@]") {
            return Ok(Some(Operation::All));
        }
        if self.eat("[*]") {
            return Ok(Some(Operation::Joined));
        }
        self.at += 1;
        let inner = self.nested(|parser| parser.pieces(WordEnd::Bracket))?;
        if self.eat("]") { Ok(Some(Operation::Index(inner))) } else { self.error("`]` is missing") }
    }

    fn operation(&mut self, quoted: bool) -> Result<Operation, ParseError> {
        type MakeOperation = fn(Word) -> Operation;
        let operators: [(&str, MakeOperation); 6] = [
            (":-", Operation::Default),
            ("-", Operation::Default),
            (":=", Operation::Assign),
            ("=", Operation::Assign),
            (":+", Operation::Alternative),
            ("+", Operation::Alternative),
        ];
        for (operator, make) in operators {
            if self.eat(operator) {
                return Ok(make(self.pieces(WordEnd::Brace { quoted })?));
            }
        }
        for (operator, suffix, longest) in
            [("##", false, true), ("#", false, false), ("%%", true, true), ("%", true, false)]
        {
            if self.eat(operator) {
                let pattern = self.pieces(WordEnd::Brace { quoted: false })?;
                return Ok(Operation::Trim { suffix, longest, pattern });
            }
        }
        let quoted = quoted && self.eat(":?");
        Ok(Operation::Other(self.pieces(WordEnd::Brace { quoted })?))
    }
}

/// Adds literal text. It extends the last piece if that has the same kind.
pub(crate) fn push(word: &mut Word, text: &str, quoted: bool) {
    match word.last_mut() {
        Some(Piece::Quoted(last)) if quoted => last.push_str(text),
        Some(Piece::Plain(last)) if !quoted => last.push_str(text),
        _ if quoted => word.push(Piece::Quoted(text.to_owned())),
        _ => word.push(Piece::Plain(text.to_owned())),
    }
}

fn words_of(operation: Operation) -> Word {
    match operation {
        Operation::Default(word)
        | Operation::Assign(word)
        | Operation::Alternative(word)
        | Operation::Index(word)
        | Operation::Indirect(word)
        | Operation::Other(word)
        | Operation::Trim { pattern: word, .. } => word,
        Operation::Length | Operation::All | Operation::Joined => Word::new(),
    }
}

/// Whether an index has no operator that could set a variable.
fn is_number(word: &Word) -> bool {
    word.iter().all(|piece| matches!(piece, Piece::Plain(text) if !text.contains(['=', '+', '-'])))
}
