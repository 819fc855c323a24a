//! The grammar of commands: simple ones with their assignments, functions, groups, conditions, loops and `case`.

use std::rc::Rc;

use crate::programs::table;
use crate::syntax::parser::Parser;
use crate::syntax::quotes::{self, ArrayIndex};
use crate::syntax::tree::{AssignedValue, Assignment, Command, CommandKind, List, ParseError, Piece, Word};

/// Simple commands and functions.
impl Parser<'_> {
    pub(crate) fn simple(&mut self) -> Result<Command, ParseError> {
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
            if self.is_element_as_descriptor(start) {
                return self.error("an element of an array as a descriptor is not understood");
            }
            if words.is_empty() {
                let name = self.text.get(start..self.at).unwrap_or_default();
                declares = table::by_name(name).is_some_and(|program| program.builtin.declares);
                if assignments.is_empty() && redirects.is_empty() && self.is_definition() {
                    return self.nested(|parser| parser.definition(name.to_owned()));
                }
            }
            words.push(word);
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return self.error("a command is missing");
        }
        Ok(Command { kind: CommandKind::Simple { assignments, words }, redirects })
    }

    /// Whether the word that starts there is an element of an array for the descriptor of a redirection: `{a[x]}>FILE`.
    fn is_element_as_descriptor(&self, start: usize) -> bool {
        let word = self.text.get(start..self.at).unwrap_or_default();
        word.starts_with('{')
            && word.ends_with("]}")
            && word.contains('[')
            && matches!(self.peek(), Some(b'<' | b'>'))
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

    pub(crate) fn function(&mut self) -> Result<Command, ParseError> {
        self.at += "function".len();
        self.skip_blanks();
        let name = self.bare_word();
        self.definition(name)
    }

    fn definition(&mut self, name: String) -> Result<Command, ParseError> {
        self.eat_parentheses();
        self.skip_lines()?;
        let body = Rc::new(self.command()?);
        Ok(Command { kind: CommandKind::Function { name, body }, redirects: Vec::new() })
    }

    fn assignment(&mut self) -> Result<Option<Assignment>, ParseError> {
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
        let value = if self.eat("(") {
            let mut words = self.array()?;
            // What follows directly belongs to the same word, even a `#`.
            let rest = self.word()?;
            if !rest.is_empty() {
                words.push(rest);
            }
            AssignedValue::Array(words)
        } else {
            AssignedValue::Word(self.word()?)
        };
        Ok(Some(Assignment { name: name.to_owned(), index, appends, value }))
    }

    /// The index of `name[index]=`. `None` if no assignment follows.
    fn index(&mut self) -> Result<Option<Word>, ParseError> {
        let rest = self.rest();
        let end = match quotes::index(rest) {
            ArrayIndex::Closed(end) => end,
            ArrayIndex::None => return Ok(None),
            // Some shells read it as an index, others as several words.
            ArrayIndex::Ambiguous => {
                return self.error("an index with blanks or operators is not understood");
            }
            ArrayIndex::TooLong => return self.error("an index is too long"),
        };
        let depth = self.depth + 1;
        let inner = Parser::expanded_text(rest.get(1..end).unwrap_or_default(), depth)?;
        self.at += end + 1;
        Ok(Some(inner))
    }

    fn array(&mut self) -> Result<Vec<Word>, ParseError> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                return Ok(words);
            }
            let start = self.at;
            if self.peek() == Some(b'[') {
                self.index()?;
                self.at = start;
            }
            match self.word()? {
                word if word.is_empty() => return self.error("`)` is missing"),
                word => words.push(word),
            }
        }
    }
}

/// Compound commands.
impl Parser<'_> {
    pub(crate) fn group(&mut self) -> Result<CommandKind, ParseError> {
        self.at += 1;
        let body = self.list()?;
        self.expect("}")?;
        Ok(CommandKind::Group(body))
    }

    pub(crate) fn conditional(&mut self) -> Result<CommandKind, ParseError> {
        self.at += "if".len();
        let mut branches = Vec::new();
        loop {
            let condition = self.list()?;
            self.expect("then")?;
            branches.push((Some(condition), self.list()?));
            self.skip_lines()?;
            if self.eat_reserved("elif") {
                continue;
            }
            if self.eat_reserved("else") {
                branches.push((None, self.list()?));
            }
            self.expect("fi")?;
            return Ok(CommandKind::If(branches));
        }
    }

    pub(crate) fn repeated(&mut self) -> Result<CommandKind, ParseError> {
        self.at += "while".len();
        let condition = self.list()?;
        Ok(CommandKind::While { condition, body: self.body()? })
    }

    /// `do …; done`, or braces, which bash also accepts.
    fn body(&mut self) -> Result<List, ParseError> {
        self.skip_lines()?;
        if self.eat(";") {
            self.skip_lines()?;
        }
        if self.eat_reserved("{") {
            let body = self.list()?;
            self.expect("}")?;
            return Ok(body);
        }
        self.expect("do")?;
        let body = self.list()?;
        self.expect("done")?;
        Ok(body)
    }

    pub(crate) fn for_each(&mut self) -> Result<CommandKind, ParseError> {
        self.at += self.reserved().len();
        self.skip_blanks();
        if self.rest().starts_with("((") {
            let Some(word) = self.arithmetic(2)? else { return self.error("`))` is missing") };
            return Ok(CommandKind::Expression {
                is_arithmetic: true,
                words: vec![word],
                body: self.body()?,
            });
        }
        let name = self.bare_word();
        self.skip_lines()?;
        let words = if self.eat_reserved("in") { Some(self.words()?) } else { None };
        Ok(CommandKind::For { name, words, body: self.body()? })
    }

    /// Words up to the end of the command.
    fn words(&mut self) -> Result<Vec<Word>, ParseError> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.word()? {
                word if word.is_empty() => return Ok(words),
                word => words.push(word),
            }
        }
    }

    pub(crate) fn case(&mut self) -> Result<CommandKind, ParseError> {
        self.at += "case".len();
        self.skip_blanks();
        let word = self.word()?;
        self.expect("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_reserved("esac") {
                return Ok(CommandKind::Case { word, arms });
            }
            self.eat("(");
            let patterns = self.patterns()?;
            let body = self.list()?;
            arms.push((patterns, body));
            self.skip_lines()?;
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                self.expect("esac")?;
                return Ok(CommandKind::Case { word, arms });
            }
        }
    }

    /// `a | b)`.
    fn patterns(&mut self) -> Result<Vec<Word>, ParseError> {
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            let pattern = self.word()?;
            if pattern.is_empty() {
                return self.error("a pattern is missing");
            }
            patterns.push(pattern);
            self.skip_blanks();
            if self.eat(")") {
                return Ok(patterns);
            }
            if !self.eat("|") {
                return self.error("`)` is missing");
            }
        }
    }

    /// `[[ … ]]`, in which `<`, `>` and parentheses are operators.
    pub(crate) fn condition(&mut self) -> Result<CommandKind, ParseError> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_reserved("]]") {
                self.has_regex = false;
                return Ok(CommandKind::Expression { is_arithmetic: false, words, body: List::new() });
            }
            let word = self.word()?;
            match self.peek() {
                _ if !word.is_empty() => {
                    self.has_regex |= matches!(word.as_slice(), [Piece::Plain(text)] if text == "=~");
                    words.push(word);
                }
                Some(b'<' | b'>' | b'(' | b')' | b'&' | b'|') => self.at += 1,
                _ => return self.error("`]]` is missing"),
            }
        }
    }
}
