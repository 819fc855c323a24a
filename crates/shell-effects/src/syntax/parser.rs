//! Words to commands: the grammar of bash, by recursive descent with a limit on its depth.

use crate::syntax::lexer::{Lexer, is_blank, is_operator};
use crate::syntax::tree::{Command, Error, Item, Join, Kind, List, Pipeline};

/// Parses a whole script that is nested so deeply already.
pub(crate) fn parse(text: &str, depth: usize) -> Result<List, Error> {
    Lexer::new(text, depth)?.whole()
}

/// Words that end a list.
const CLOSING: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Lexer<'_> {
    /// A list that nothing follows.
    pub(crate) fn whole(mut self) -> Result<List, Error> {
        let list = self.list()?;
        if self.peek().is_none() {
            return Ok(list);
        }
        let found: String = self.rest().chars().take_while(|c| !c.is_whitespace()).take(20).collect();
        self.error(&format!("`{found}` is not expected here"))
    }

    /// Blanks, comments and continued lines; not line breaks.
    pub(crate) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                byte if is_blank(byte) => self.at += 1,
                b'\\' if self.peek_at(1) == Some(b'\n') => self.at += 2,
                b'#' => {
                    let rest = self.rest();
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => break,
            }
        }
    }

    /// Blanks and line breaks, with the here-documents that follow them.
    pub(crate) fn skip_lines(&mut self) -> Result<(), Error> {
        self.skip_blanks();
        while self.peek() == Some(b'\n') {
            self.at += 1;
            self.heredoc_bodies()?;
            self.skip_blanks();
        }
        Ok(())
    }

    /// A word without quotes or expansions at the start of the rest, if it is one that may be reserved.
    pub(crate) fn reserved(&self) -> &str {
        let rest = self.rest();
        let end = rest.bytes().take(10).position(is_operator).unwrap_or(rest.len());
        if end < 10 { rest.get(..end).unwrap_or_default() } else { "" }
    }

    pub(crate) fn eat_reserved(&mut self, word: &str) -> bool {
        let found = self.reserved() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    pub(crate) fn expect(&mut self, word: &str) -> Result<(), Error> {
        self.skip_lines()?;
        if self.eat_reserved(word) { Ok(()) } else { self.error(&format!("`{word}` is missing")) }
    }

    /// Commands up to what closes the list: `)`, `;;`, a reserved word or the end. The caller looks which.
    pub(crate) fn list(&mut self) -> Result<List, Error> {
        let mut list = List::new();
        loop {
            self.skip_lines()?;
            if self.is_at_end_of_list() {
                return Ok(list);
            }
            let mut item = self.item()?;
            self.skip_blanks();
            let is_separated = match self.peek() {
                Some(b'&') => {
                    item.background = true;
                    self.at += 1;
                    true
                }
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => {
                    self.at += 1;
                    true
                }
                Some(b'\n') => true,
                _ => false,
            };
            list.push(item);
            if !is_separated {
                // What is missing is reported by the caller, who knows what should follow.
                return Ok(list);
            }
        }
    }

    fn is_at_end_of_list(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            _ => CLOSING.contains(&self.reserved()),
        }
    }

    fn item(&mut self) -> Result<Item, Error> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let join = match () {
                () if self.eat("&&") => Join::And,
                () if self.eat("||") => Join::Or,
                () => return Ok(Item { first, rest, background: false }),
            };
            self.skip_lines()?;
            rest.push((join, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Error> {
        let mut has_prefix = false;
        loop {
            self.skip_blanks();
            if self.eat_reserved("time") {
                self.skip_blanks();
                self.eat_reserved("-p");
            } else if self.eat_reserved("coproc") {
                self.coprocess_name();
            } else if !self.eat_reserved("!") {
                break;
            }
            has_prefix = true;
        }
        let mut commands = Pipeline::new();
        // `time` and `!` may stand alone.
        let is_alone = self.is_at_end_of_list() || matches!(self.peek(), Some(b'\n' | b';'));
        if has_prefix && is_alone {
            return Ok(commands);
        }
        loop {
            commands.push(self.command()?);
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.eat("|") {
                return Ok(commands);
            }
            self.eat("&");
            self.skip_lines()?;
        }
    }

    /// The name of a coprocess, which only a compound command has.
    fn coprocess_name(&mut self) {
        const COMPOUND: [&str; 8] = ["{", "if", "while", "until", "for", "select", "case", "[["];
        self.skip_blanks();
        let start = self.at;
        let is_name = !COMPOUND.contains(&self.reserved()) && !self.bare_word().is_empty();
        self.skip_blanks();
        if !is_name || !(self.peek() == Some(b'(') || COMPOUND.contains(&self.reserved())) {
            self.at = start;
        }
    }

    pub(crate) fn command(&mut self) -> Result<Command, Error> {
        let kind = if self.peek() == Some(b'(') {
            self.parenthesised()?
        } else {
            match self.reserved() {
                "if" => self.nested(Self::conditional)?,
                "while" | "until" => self.nested(Self::repeated)?,
                "for" | "select" => self.nested(Self::for_each)?,
                "case" => self.nested(Self::case)?,
                "{" => self.nested(Self::group)?,
                "[[" => self.condition()?,
                "function" => return self.nested(Self::function),
                word if CLOSING.contains(&word) => {
                    let reason = format!("`{word}` is not expected here");
                    return self.error(&reason);
                }
                _ => return self.simple(),
            }
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Command { kind, redirects }),
            }
        }
    }

    fn parenthesised(&mut self) -> Result<Kind, Error> {
        if self.peek_at(1) == Some(b'(')
            && let Some(word) = self.arithmetic(2)?
        {
            return Ok(Kind::Expression { is_arithmetic: true, words: vec![word], body: List::new() });
        }
        self.at += 1;
        let body = self.nested(Self::list)?;
        if self.eat(")") { Ok(Kind::Subshell(body)) } else { self.error("`)` is missing") }
    }

    /// A word that is not expanded.
    pub(crate) fn bare_word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.bytes().position(is_operator).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default().to_owned()
    }
}
