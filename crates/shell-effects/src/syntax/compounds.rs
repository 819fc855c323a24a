//! The grammar of compound commands: groups, conditions, loops and `case`.

use crate::syntax::lexer::Lexer;
use crate::syntax::tree::{Error, Kind, List, Word};

impl Lexer<'_> {
    pub(crate) fn group(&mut self) -> Result<Kind, Error> {
        self.at += 1;
        let body = self.list()?;
        self.expect("}")?;
        Ok(Kind::Group(body))
    }

    pub(crate) fn conditional(&mut self) -> Result<Kind, Error> {
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
            return Ok(Kind::If(branches));
        }
    }

    pub(crate) fn repeated(&mut self) -> Result<Kind, Error> {
        self.at += "while".len();
        let condition = self.list()?;
        Ok(Kind::While { condition, body: self.body()? })
    }

    /// `do …; done`, or the braces that bash takes as well.
    fn body(&mut self) -> Result<List, Error> {
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

    pub(crate) fn for_each(&mut self) -> Result<Kind, Error> {
        self.at += self.reserved().len();
        self.skip_blanks();
        if self.rest().starts_with("((") {
            let Some(word) = self.arithmetic(2)? else { return self.error("`))` is missing") };
            return Ok(Kind::Expression { is_arithmetic: true, words: vec![word], body: self.body()? });
        }
        let name = self.bare_word();
        self.skip_lines()?;
        let words = if self.eat_reserved("in") { Some(self.words()?) } else { None };
        Ok(Kind::For { name, words, body: self.body()? })
    }

    /// Words up to the end of the command.
    fn words(&mut self) -> Result<Vec<Word>, Error> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.word()? {
                word if word.is_empty() => return Ok(words),
                word => words.push(word),
            }
        }
    }

    pub(crate) fn case(&mut self) -> Result<Kind, Error> {
        self.at += "case".len();
        self.skip_blanks();
        let word = self.word()?;
        self.expect("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_reserved("esac") {
                return Ok(Kind::Case { word, arms });
            }
            self.eat("(");
            let patterns = self.patterns()?;
            let body = self.list()?;
            arms.push((patterns, body));
            self.skip_lines()?;
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                self.expect("esac")?;
                return Ok(Kind::Case { word, arms });
            }
        }
    }

    /// `a | b)`.
    fn patterns(&mut self) -> Result<Vec<Word>, Error> {
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

    /// `[[ … ]]`, in which `<`, `>` and parentheses are no redirections and subshells.
    pub(crate) fn condition(&mut self) -> Result<Kind, Error> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_reserved("]]") {
                return Ok(Kind::Expression { is_arithmetic: false, words, body: List::new() });
            }
            let word = self.word()?;
            match self.peek() {
                _ if !word.is_empty() => words.push(word),
                Some(b'<' | b'>' | b'(' | b')' | b'&' | b'|') => self.at += 1,
                _ => return self.error("`]]` is missing"),
            }
        }
    }
}
