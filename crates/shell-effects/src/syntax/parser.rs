//! The parser: a text with a position, and the grammar of lists and pipelines. It uses recursive descent, in one pass, with a
//! limit on its depth. Commands and words have files of their own.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::MAX_DEPTH;
use crate::syntax::continuations;
use crate::syntax::tree::{AndOrList, Command, CommandKind, Join, List, ParseError, Piece, Pipeline, Word};

/// Parses a whole script that is nested at this depth.
pub(crate) fn parse(text: &str, depth: usize) -> Result<List, ParseError> {
    Parser::new(&continuations::joined(text), depth)?.whole()
}

/// Parses a script for a shell whose only arithmetic is `$((…))`: `((` opens two subshells in dash.
pub(crate) fn parse_without_arithmetic(text: &str, depth: usize) -> Result<List, ParseError> {
    let text = continuations::joined(text);
    Parser { has_arithmetic: false, ..Parser::new(&text, depth)? }.whole()
}

/// Words that end a list.
const CLOSING: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

pub(crate) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Here-documents whose body starts after the next line break.
    pub(super) heredocs: Vec<Heredoc>,
    /// Whether a search for closing double parentheses reached the end of the text in vain.
    pub(super) is_open: bool,
    /// Whether `((…))` is a command.
    pub(super) has_arithmetic: bool,
    /// Whether `=~` was before: `+(` starts no pattern of the shell.
    pub(super) has_regex: bool,
    /// Whether this is a value that a shell expands: there, a backslash before a line break continues no line.
    pub(super) is_value: bool,
}

/// An announced here-document.
#[derive(Debug)]
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    pub(super) is_quoted: bool,
    pub(super) strips_tabs: bool,
    pub(super) body: Rc<OnceCell<Word>>,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(crate) fn is_operator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The functions that the readers of words and commands share.
impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str, depth: usize) -> Result<Parser<'a>, ParseError> {
        if depth > MAX_DEPTH {
            return Err(ParseError::TooDeep);
        }
        Ok(Parser {
            text,
            at: 0,
            depth,
            heredocs: Vec::new(),
            is_open: false,
            has_arithmetic: true,
            has_regex: false,
            is_value: false,
        })
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

    pub(crate) fn error<T>(&self, what: &str) -> Result<T, ParseError> {
        let before = self.text.get(..self.at.min(self.text.len())).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Err(ParseError::Syntax(format!("{what} (line {line})")))
    }

    /// Runs a reader with a part that starts empty, and then restores the part.
    pub(super) fn with_own<P: Default, T>(
        &mut self,
        part: fn(&mut Self) -> &mut P,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = std::mem::take(part(self));
        let result = read(self);
        *part(self) = outer;
        result
    }

    /// Runs a reader one level deeper.
    pub(crate) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth >= MAX_DEPTH {
            return Err(ParseError::TooDeep);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

/// Lists and pipelines.
impl Parser<'_> {
    /// A list with nothing after it.
    pub(crate) fn whole(mut self) -> Result<List, ParseError> {
        let list = self.list()?;
        if self.peek().is_none() {
            return Ok(list);
        }
        let found: String = self.rest().chars().take_while(|c| !c.is_whitespace()).take(20).collect();
        self.error(&format!("`{found}` is not expected here"))
    }

    /// Skips blanks, comments and continued lines, but not line breaks.
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

    /// Skips blanks and line breaks, and reads the here-documents after them.
    pub(crate) fn skip_lines(&mut self) -> Result<(), ParseError> {
        self.skip_blanks();
        while self.peek() == Some(b'\n') {
            self.at += 1;
            self.heredoc_bodies()?;
            self.skip_blanks();
        }
        Ok(())
    }

    /// The word at the start of the rest, without quotes or expansions, if it may be a reserved one.
    pub(crate) fn reserved(&self) -> &str {
        let rest = self.rest();
        let end = rest.bytes().take(10).position(is_operator).unwrap_or(rest.len());
        // A line is continued after the word.
        let end = if rest.get(..end).is_some_and(|word| word.ends_with('\\'))
            && rest.as_bytes().get(end) == Some(&b'\n')
        {
            end - 1
        } else {
            end
        };
        if end < 10 { rest.get(..end).unwrap_or_default() } else { "" }
    }

    pub(crate) fn eat_reserved(&mut self, word: &str) -> bool {
        let found = self.reserved() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    pub(crate) fn expect(&mut self, word: &str) -> Result<(), ParseError> {
        self.skip_lines()?;
        if self.eat_reserved(word) { Ok(()) } else { self.error(&format!("`{word}` is missing")) }
    }

    /// Commands up to what closes the list: `)`, `;;`, a reserved word or the end. The caller checks which.
    pub(crate) fn list(&mut self) -> Result<List, ParseError> {
        let mut list = List::new();
        loop {
            self.skip_lines()?;
            if self.is_at_end_of_list() {
                return Ok(list);
            }
            let mut item = self.and_or_list()?;
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
                // The caller reports what is missing, because it knows what should follow.
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

    fn and_or_list(&mut self) -> Result<AndOrList, ParseError> {
        let (first, mut negates) = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let join = if self.eat("&&") {
                Join::And
            } else if self.eat("||") {
                Join::Or
            } else {
                return Ok(AndOrList { first, rest, negates, background: false });
            };
            self.skip_lines()?;
            let (pipeline, is_negated) = self.pipeline()?;
            negates |= is_negated;
            rest.push((join, pipeline));
        }
    }

    /// A pipeline, and whether `!` is before it.
    fn pipeline(&mut self) -> Result<(Pipeline, bool), ParseError> {
        let Prefix { negates, mut is_coprocess, has_words } = self.prefix();
        let mut commands = Pipeline::new();
        // `time` and `!` may stand alone.
        let is_alone = self.is_at_end_of_list() || matches!(self.peek(), Some(b'\n' | b';'));
        if has_words && is_alone {
            return Ok((commands, negates));
        }
        loop {
            commands.push(self.command()?);
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.eat("|") {
                break;
            }
            self.eat("&");
            self.skip_lines()?;
            while self.eat_reserved("coproc") {
                self.coprocess_name();
                self.skip_blanks();
                is_coprocess = true;
            }
        }
        Ok((if is_coprocess { with_ends_of_coprocess(commands) } else { commands }, negates))
    }

    /// The reserved words before a pipeline.
    fn prefix(&mut self) -> Prefix {
        let mut prefix = Prefix::default();
        loop {
            self.skip_blanks();
            if !self.times_program() && self.eat_reserved("time") {
                self.skip_blanks();
                if self.eat_reserved("-p") {
                    self.skip_blanks();
                }
                self.eat_reserved("--");
            } else if self.eat_reserved("coproc") {
                self.coprocess_name();
                prefix.is_coprocess = true;
            } else if self.eat_reserved("!") {
                prefix.negates = true;
            } else {
                return prefix;
            }
            prefix.has_words = true;
        }
    }

    /// Whether `time` may be a program: shells without the reserved word pass it options, in quotes too.
    fn times_program(&self) -> bool {
        let Some(rest) = after_word(self.rest(), "time") else { return false };
        let rest = after_word(rest, "-p").unwrap_or(rest);
        let rest = after_word(rest, "--").unwrap_or(rest);
        rest.starts_with(['-', '\\', '\'', '"', '$', '`'])
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

    pub(crate) fn command(&mut self) -> Result<Command, ParseError> {
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

    fn parenthesised(&mut self) -> Result<CommandKind, ParseError> {
        if self.has_arithmetic
            && self.peek_at(1) == Some(b'(')
            && let Some(word) = self.arithmetic(2)?
        {
            return Ok(CommandKind::Expression { is_arithmetic: true, words: vec![word], body: List::new() });
        }
        self.at += 1;
        let body = self.nested(Self::list)?;
        if self.eat(")") { Ok(CommandKind::Subshell(body)) } else { self.error("`)` is missing") }
    }

    /// A word that is not expanded.
    pub(crate) fn bare_word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.bytes().position(is_operator).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default().to_owned()
    }
}

/// The reserved words before a pipeline.
#[derive(Default)]
struct Prefix {
    negates: bool,
    is_coprocess: bool,
    has_words: bool,
}

/// Bash continues at the other ends of a coprocess's pipes: it writes what the first command reads.
fn with_ends_of_coprocess(mut commands: Pipeline) -> Pipeline {
    let bash = |words: Vec<Word>| {
        let kind = CommandKind::Simple { assignments: Vec::new(), words };
        Command { kind, redirects: Vec::new() }
    };
    commands.insert(0, bash(vec![vec![Piece::Plain("coproc".to_owned())]]));
    commands.push(bash(Vec::new()));
    commands
}

/// What follows a word and blanks at the start of a text. A continued line is a blank too.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    let mut after = rest;
    while let Some(next) = [" ", "\t", "\\\n"].iter().find_map(|blank| after.strip_prefix(blank)) {
        after = next;
    }
    if after.len() < rest.len() { Some(after) } else { None }
}
