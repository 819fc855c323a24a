//! Globs: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `{foo,bar}`, `\` to escape the next character. A pattern is compiled to an NFA
//! and all its states are followed at once, so no pattern needs more time than its length times that of the text.
//!
//! In a path, `**` crosses `/` where it is a whole part: at the start or behind a `/`, and at the end or before a `/`. Braces
//! do not change that: `{src/**,x}` and `src/{**,x}/y` cross, `src/**.rs` and `src/{**,x}.rs` do not. Elsewhere `**` is `*`.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name: `*` is anything.
    Name,
    /// A path: `*`, `?` and classes stop at `/`; `**` crosses it as a whole part.
    Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlobError(&'static str);

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The nesting of braces.
const MAX_DEPTH: usize = 10;

/// No real pattern or text is longer.
const MAX_PATTERN_CHARS: usize = 1_024;
const MAX_TEXT_BYTES: usize = 4_096;

#[derive(Clone, Debug)]
enum Op {
    Char(char),
    /// Any character; `/` only with `slash`.
    Any {
        slash: bool,
    },
    Class {
        ranges: Vec<(char, char)>,
        negated: bool,
        slash: bool,
    },
    /// Any number of characters; `/` only with `slash`.
    Many {
        slash: bool,
    },
    /// Continue at both positions.
    Split(usize, usize),
    Jump(usize),
    /// The text must end here.
    End,
}

impl Op {
    /// Whether it is one character, and this is it.
    fn takes(&self, c: char) -> bool {
        match self {
            Op::Char(own) => *own == c,
            Op::Any { slash } => *slash || c != '/',
            Op::Class { ranges, negated, slash } => {
                let inside = ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
                inside != *negated && (*slash || c != '/')
            }
            Op::Many { .. } | Op::Split(..) | Op::Jump(_) | Op::End => false,
        }
    }
}

/// A compiled glob.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    program: Vec<Op>,
}

impl Glob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(crate) fn new(pattern: &str, kind: Kind) -> Result<Glob, GlobError> {
        let chars: Vec<char> = pattern.chars().collect();
        if chars.len() > MAX_PATTERN_CHARS {
            return Err(GlobError("it is longer than 1,024 characters"));
        }
        let mut compiler =
            Compiler { chars: &chars, at: 0, kind, program: Vec::new(), opens: true, skips: Vec::new() };
        compiler.sequence(0)?;
        if compiler.at < chars.len() {
            return Err(GlobError("`}` without a `{` before it"));
        }
        compiler.program.push(Op::End);
        Ok(Glob { program: compiler.program })
    }

    /// Whether the whole text matches; none if it is too long to be compared.
    #[must_use]
    pub(crate) fn matches(&self, text: &str) -> Option<bool> {
        (text.len() <= MAX_TEXT_BYTES).then(|| self.matches_long(text))
    }

    /// The same for a text of which one is compared, such as a shell command.
    #[must_use]
    pub(crate) fn matches_long(&self, text: &str) -> bool {
        let mut now = States::new(self.program.len());
        let mut next = States::new(self.program.len());
        now.add(&self.program, 0);
        for c in text.chars() {
            for at in &now.list {
                match self.program.get(*at) {
                    Some(Op::Many { slash }) if *slash || c != '/' => next.add(&self.program, *at),
                    Some(op) if op.takes(c) => next.add(&self.program, at + 1),
                    _ => {}
                }
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
            if now.list.is_empty() {
                return false;
            }
        }
        now.list.iter().any(|at| matches!(self.program.get(*at), Some(Op::End)))
    }
}

/// A set of positions in a program.
struct States {
    list: Vec<usize>,
    has: Vec<bool>,
    /// Positions that are still to be added.
    open: Vec<usize>,
}

impl States {
    fn new(size: usize) -> States {
        States { list: Vec::new(), has: vec![false; size], open: Vec::new() }
    }

    fn clear(&mut self) {
        for at in self.list.drain(..) {
            if let Some(has) = self.has.get_mut(at) {
                *has = false;
            }
        }
    }

    /// Adds a position, and those that are reached from it without a character.
    fn add(&mut self, program: &[Op], at: usize) {
        self.open.push(at);
        while let Some(at) = self.open.pop() {
            match self.has.get_mut(at) {
                Some(has) if !*has => *has = true,
                _ => continue,
            }
            self.list.push(at);
            match program.get(at) {
                Some(Op::Split(one, other)) => self.open.extend([*other, *one]),
                Some(Op::Jump(to)) => self.open.push(*to),
                Some(Op::Many { .. }) => self.open.push(at + 1),
                _ => {}
            }
        }
    }
}

struct Compiler<'a> {
    chars: &'a [char],
    at: usize,
    kind: Kind,
    program: Vec<Op>,
    /// Whether every way to this position is at the start of a part of a path.
    opens: bool,
    /// The `**` at the end of alternatives that a `/` follows: no folder at all also skips that `/`.
    skips: Vec<usize>,
}

impl Compiler<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    /// Compiles up to the end of the pattern or of an alternative.
    fn sequence(&mut self, depth: usize) -> Result<(), GlobError> {
        while let Some(c) = self.peek() {
            match c {
                '}' => return Ok(()),
                ',' if depth > 0 => return Ok(()),
                _ => self.at += 1,
            }
            match c {
                '?' => self.single(Op::Any { slash: self.kind == Kind::Name }),
                '*' => self.stars(depth),
                '[' => self.class()?,
                '{' => self.alternatives(depth + 1)?,
                '\\' => {
                    let meant = self.next().ok_or(GlobError("`\\` at the end, with nothing after it"))?;
                    self.character(meant);
                }
                other => self.character(other),
            }
        }
        Ok(())
    }

    fn single(&mut self, op: Op) {
        self.program.push(op);
        self.opens = false;
    }

    fn character(&mut self, c: char) {
        self.program.push(Op::Char(c));
        self.opens = c == '/';
        let end = self.program.len();
        for skip in std::mem::take(&mut self.skips) {
            self.patch(skip, Op::Split(skip + 1, end));
        }
    }

    /// One star or several; the first has been read.
    fn stars(&mut self, depth: usize) {
        let start = self.at - 1;
        while self.peek() == Some('*') {
            self.at += 1;
        }
        let follows = self.follows(depth);
        let is_part = self.opens && matches!(follows, None | Some('/'));
        let crosses = self.kind == Kind::Path && self.at - start == 2 && is_part;
        let slash = crosses || self.kind == Kind::Name;
        if !crosses || follows.is_none() {
            return self.single(Op::Many { slash });
        }
        // Any number of folders, also none: (any* /)?
        let split = self.program.len();
        self.program.push(Op::Split(split + 1, split + 1));
        self.single(Op::Many { slash });
        self.skips.push(split);
        if self.peek() == Some('/') {
            self.at += 1;
            self.character('/');
        }
    }

    /// The character that follows wherever the current alternatives end. None at the end of the pattern.
    fn follows(&self, mut depth: usize) -> Option<char> {
        let mut at = self.at;
        loop {
            match self.chars.get(at) {
                Some('}') if depth > 0 => at += 1,
                Some(',') if depth > 0 => at = self.end_of_alternatives(at),
                other => return other.copied(),
            }
            depth -= 1;
        }
    }

    /// The position behind the `}` that ends the alternatives of which one ends here.
    fn end_of_alternatives(&self, mut at: usize) -> usize {
        let mut depth = 1;
        while let Some(c) = self.chars.get(at) {
            at += 1;
            match c {
                '\\' => at += 1,
                // A `]` is a member of the class where it comes first.
                '[' => {
                    at += usize::from(matches!(self.chars.get(at), Some('!' | '^'))) + 1;
                    while self.chars.get(at).is_some_and(|c| *c != ']') {
                        at += 1;
                    }
                    at += 1;
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        at
    }

    fn patch(&mut self, at: usize, op: Op) {
        if let Some(old) = self.program.get_mut(at) {
            *old = op;
        }
    }

    /// A class; its `[` has been read.
    fn class(&mut self) -> Result<(), GlobError> {
        const OPEN: GlobError = GlobError("`[` without a `]` after it");
        let negated = matches!(self.peek(), Some('!' | '^'));
        self.at += usize::from(negated);
        let mut ranges: Vec<(char, char)> = Vec::new();
        // A dash after a character opens a range that the next character ends, also where the first one ended another range.
        let mut is_open = false;
        loop {
            let c = self.next().ok_or(OPEN)?;
            match ranges.last_mut() {
                Some(_) if c == ']' => break,
                Some(_) if c == '-' && !is_open => is_open = true,
                Some((from, to)) if is_open => {
                    if c < *from {
                        return Err(GlobError("a range in `[…]` that runs backward"));
                    }
                    (*to, is_open) = (c, false);
                }
                _ => ranges.push((c, c)),
            }
        }
        if is_open {
            ranges.push(('-', '-'));
        }
        self.single(Op::Class { ranges, negated, slash: self.kind == Kind::Name });
        Ok(())
    }

    /// Alternatives; their `{` has been read.
    fn alternatives(&mut self, depth: usize) -> Result<(), GlobError> {
        if depth > MAX_DEPTH {
            return Err(GlobError("braces are nested too deeply"));
        }
        let opens = self.opens;
        let mut jumps = Vec::new();
        let mut skips = Vec::new();
        let mut all_open = true;
        loop {
            let split = self.program.len();
            self.program.push(Op::Split(split + 1, 0));
            self.opens = opens;
            self.sequence(depth)?;
            all_open &= self.opens;
            skips.append(&mut self.skips);
            jumps.push(self.program.len());
            self.program.push(Op::Jump(0));
            let next = self.program.len();
            match self.next() {
                Some(',') => self.patch(split, Op::Split(split + 1, next)),
                Some(_) => {
                    // The last one: there is no other way.
                    self.patch(split, Op::Jump(split + 1));
                    break;
                }
                None => return Err(GlobError("`{` without a `}` after it")),
            }
        }
        self.opens = all_open;
        self.skips = skips;
        let end = self.program.len();
        for jump in jumps {
            self.patch(jump, Op::Jump(end));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
