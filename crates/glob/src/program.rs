//! A glob as a program: the instruction at each position of an NFA, and the compiler.

use std::fmt;

use super::plain::{BRACES, STRUCTURE};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobKind {
    /// A name: `*` is anything.
    Name,
    /// A path: `*`, `?` and classes stop at `/`; `**` crosses it as a whole part.
    Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobError(&'static str);

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The limit on nested braces.
pub(super) const MAX_DEPTH: usize = 10;

/// No real pattern is longer.
const MAX_CHARS: usize = 1_024;

#[derive(Clone, Debug)]
pub(super) enum Instruction {
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

impl Instruction {
    /// Whether it takes this one character.
    pub(super) fn takes(&self, c: char) -> bool {
        match self {
            Instruction::Char(own) => *own == c,
            Instruction::Any { slash } => *slash || c != '/',
            Instruction::Class { ranges, negated, slash } => {
                let inside = ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
                inside != *negated && (*slash || c != '/')
            }
            Instruction::Many { .. } | Instruction::Split(..) | Instruction::Jump(_) | Instruction::End => {
                false
            }
        }
    }
}

/// Compiles a pattern that is known to be valid.
pub(super) fn compile(pattern: &str, kind: GlobKind) -> Vec<Instruction> {
    Compiler::new(pattern, kind, Some(Vec::with_capacity(32))).run().unwrap_or_default()
}

/// Checks the length of a pattern.
pub(super) fn check_length(pattern: &str) -> Result<(), GlobError> {
    if pattern.len() > MAX_CHARS && pattern.chars().count() > MAX_CHARS {
        return Err(GlobError("it is longer than 1,024 characters"));
    }
    Ok(())
}

/// Says what is wrong with a pattern. Its first `head` bytes are literal.
pub(super) fn check(pattern: &str, head: usize, kind: GlobKind) -> Result<(), GlobError> {
    // Nothing can be wrong with the literal start.
    Compiler { at: head, ..Compiler::new(pattern, kind, None) }.run().map(drop)
}

fn char_at(pattern: &str, at: usize) -> Option<char> {
    pattern.get(at..)?.chars().next()
}

/// The position after the `}` that closes the alternatives. The search starts at the end of one of them.
pub(super) fn end_of_alternatives(pattern: &str, mut at: usize) -> usize {
    let mut depth = 1;
    while depth > 0 {
        at = BRACES.next(pattern.as_bytes(), at);
        let Some(byte) = pattern.as_bytes().get(at) else { break };
        at += 1;
        match byte {
            b'\\' => at += char_at(pattern, at).map_or(0, char::len_utf8),
            b'[' => at = end_of_class(pattern, at),
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    at
}

/// The position after the `]` of a class whose `[` is before this position. A `]` that comes first is a member.
pub(super) fn end_of_class(pattern: &str, mut at: usize) -> usize {
    at += usize::from(matches!(char_at(pattern, at), Some('!' | '^')));
    at += char_at(pattern, at).map_or(0, char::len_utf8);
    let inside = pattern.get(at..).unwrap_or_default();
    at + inside.find(']').map_or(inside.len(), |end| end + 1)
}

struct Compiler<'a> {
    pattern: &'a str,
    /// In bytes.
    at: usize,
    kind: GlobKind,
    /// `None` if the pattern is only checked.
    program: Option<Vec<Instruction>>,
    /// Whether this position is always at the start of a part of a path.
    opens: bool,
    /// A `**` at the end of alternatives before a `/`: if it matches no folder, that `/` is skipped too.
    skips: Vec<usize>,
}

impl<'a> Compiler<'a> {
    fn new(pattern: &'a str, kind: GlobKind, program: Option<Vec<Instruction>>) -> Self {
        Compiler { pattern, at: 0, kind, program, opens: true, skips: Vec::new() }
    }

    fn run(mut self) -> Result<Vec<Instruction>, GlobError> {
        self.sequence(0)?;
        if self.at < self.pattern.len() {
            return Err(GlobError("`}` without a `{` before it"));
        }
        self.push(Instruction::End);
        Ok(self.program.unwrap_or_default())
    }

    fn peek(&self) -> Option<char> {
        char_at(self.pattern, self.at)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += c.map_or(0, char::len_utf8);
        c
    }

    fn push(&mut self, op: Instruction) {
        if let Some(program) = &mut self.program {
            program.push(op);
        }
    }

    fn len(&self) -> usize {
        self.program.as_ref().map_or(0, Vec::len)
    }

    /// Compiles up to the end of the pattern or of an alternative.
    fn sequence(&mut self, depth: usize) -> Result<(), GlobError> {
        loop {
            if self.program.is_none() {
                self.at = STRUCTURE.next(self.pattern.as_bytes(), self.at);
            }
            let Some(c) = self.peek() else { return Ok(()) };
            match c {
                '}' => return Ok(()),
                ',' if depth > 0 => return Ok(()),
                _ => self.at += c.len_utf8(),
            }
            match c {
                '?' => self.single(Instruction::Any { slash: self.kind == GlobKind::Name }),
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
    }

    fn single(&mut self, op: Instruction) {
        self.push(op);
        self.opens = false;
    }

    fn character(&mut self, c: char) {
        self.push(Instruction::Char(c));
        self.opens = c == '/';
        let end = self.len();
        for skip in std::mem::take(&mut self.skips) {
            self.patch(skip, Instruction::Split(skip + 1, end));
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
        let crosses = self.kind == GlobKind::Path && self.at - start == 2 && is_part;
        let slash = crosses || self.kind == GlobKind::Name;
        if !crosses || follows.is_none() {
            return self.single(Instruction::Many { slash });
        }
        // Any number of folders, or none: (any* /)?
        let split = self.len();
        self.push(Instruction::Split(split + 1, split + 1));
        self.single(Instruction::Many { slash });
        self.skips.push(split);
        if self.peek() == Some('/') {
            self.at += 1;
            self.character('/');
        }
    }

    /// The character after the current alternatives. `None` at the end of the pattern.
    fn follows(&self, mut depth: usize) -> Option<char> {
        let mut at = self.at;
        loop {
            match char_at(self.pattern, at) {
                Some('}') if depth > 0 => at += 1,
                Some(',') if depth > 0 => at = end_of_alternatives(self.pattern, at),
                other => return other,
            }
            depth -= 1;
        }
    }

    fn patch(&mut self, at: usize, op: Instruction) {
        if let Some(old) = self.program.as_mut().and_then(|program| program.get_mut(at)) {
            *old = op;
        }
    }

    /// A class; its `[` has been read.
    fn class(&mut self) -> Result<(), GlobError> {
        const OPEN: GlobError = GlobError("`[` without a `]` after it");
        let negated = matches!(self.peek(), Some('!' | '^'));
        self.at += usize::from(negated);
        let mut ranges: Vec<(char, char)> = Vec::new();
        // A dash after a character opens a range that the next character ends. The first character may have ended another range.
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
        self.single(Instruction::Class { ranges, negated, slash: self.kind == GlobKind::Name });
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
            let split = self.len();
            self.push(Instruction::Split(split + 1, 0));
            self.opens = opens;
            self.sequence(depth)?;
            all_open &= self.opens;
            skips.append(&mut self.skips);
            if self.program.is_some() {
                jumps.push(self.len());
                self.push(Instruction::Jump(0));
            }
            let next = self.len();
            match self.next() {
                Some(',') => self.patch(split, Instruction::Split(split + 1, next)),
                Some(_) => {
                    // The last one: there is no other way.
                    self.patch(split, Instruction::Jump(split + 1));
                    break;
                }
                None => return Err(GlobError("`{` without a `}` after it")),
            }
        }
        self.opens = all_open;
        self.skips = skips;
        let end = self.len();
        for jump in jumps {
            self.patch(jump, Instruction::Jump(end));
        }
        Ok(())
    }
}
