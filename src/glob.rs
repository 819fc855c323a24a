//! Globs: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `{foo,bar}`, `\` to escape the next character. A pattern is compiled to an NFA
//! and all its states are followed at once, so no pattern needs more time than its length times that of the text.
//!
//! In a path, `**` crosses `/` where it is a whole part: at the start or behind a `/`, and at the end or before a `/`. Braces
//! do not change that: `{src/**,x}` and `src/{**,x}/y` cross, `src/**.rs` and `src/{**,x}.rs` do not. Elsewhere `**` is `*`.

mod partly;

pub(crate) use partly::{Hole, Part};

use std::fmt;
use std::sync::{Arc, OnceLock};

use memchr::memmem;

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

/// A glob that is known to be valid. It is compiled when it is first needed: of many rules few are for the command or the file
/// at hand, and their literal parts rule out most of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob(Arc<Checked>);

#[derive(Debug)]
struct Checked {
    pattern: Box<str>,
    kind: Kind,
    /// How many bytes of the pattern every match starts with.
    head: usize,
    program: OnceLock<Vec<Op>>,
}

impl PartialEq for Checked {
    fn eq(&self, other: &Checked) -> bool {
        (&self.pattern, self.kind) == (&other.pattern, other.kind)
    }
}

impl Eq for Checked {}

impl Glob {
    /// Checks a glob.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(crate) fn new(pattern: &str, kind: Kind) -> Result<Glob, GlobError> {
        let head = head(pattern);
        check(pattern, head, kind)?;
        Ok(Glob(Arc::new(Checked { pattern: pattern.into(), kind, head, program: OnceLock::new() })))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0.pattern
    }

    /// The same for a pattern that is only kept.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(crate) fn check(pattern: &str, kind: Kind) -> Result<(), GlobError> {
        check(pattern, head(pattern), kind)
    }

    fn program(&self) -> &[Op] {
        self.0.program.get_or_init(|| {
            let compiler = Compiler::new(&self.0.pattern, self.0.kind, Some(Vec::with_capacity(32)));
            // It is valid, or it would not be here.
            compiler.run().unwrap_or_default()
        })
    }

    /// Whether the whole text matches; none if it is too long to be compared.
    #[must_use]
    pub(crate) fn matches(&self, text: &str) -> Option<bool> {
        (text.len() <= MAX_TEXT_BYTES).then(|| self.matches_long(text))
    }

    /// Whether the literal parts of the pattern, which a match contains in their order, tell that the text is none.
    #[must_use]
    pub(crate) fn rules_out(&self, text: &str) -> bool {
        if self.0.head == 0 && !self.could_start(text, false, false) {
            return true;
        }
        let (head, mut pattern) = self.0.pattern.split_at(self.0.head);
        let Some(mut text) = text.strip_prefix(head) else { return true };
        if pattern.is_empty() {
            return !text.is_empty();
        }
        loop {
            pattern = self.after_special(pattern);
            let Some(end) = pattern.bytes().position(is_special) else { return !text.ends_with(pattern) };
            let (part, rest) = pattern.split_at(end);
            let Some(found) = memmem::find(text.as_bytes(), part.as_bytes()) else { return true };
            (text, pattern) = (text.get(found + part.len()..).unwrap_or_default(), rest);
        }
    }

    /// Whether a text could start as the pattern does, or as one of the alternatives that it starts with. Of a partial text more
    /// may follow.
    #[must_use]
    pub(crate) fn could_start(&self, text: &str, is_partial: bool, ignores_case: bool) -> bool {
        let pattern = self.0.pattern.as_bytes();
        let mut at = usize::from(pattern.first() == Some(&b'{'));
        let has_alternatives = at > 0;
        let mut rest = text.as_bytes().iter();
        loop {
            let Some(own) = pattern.get(at) else { return true };
            match own {
                b',' | b'}' if has_alternatives => return true,
                b'*' | b'?' | b'[' | b'{' | b'\\' | b'}' => return true,
                _ => {}
            }
            at += 1;
            let is_same = match rest.next() {
                None => is_partial,
                Some(byte) if ignores_case => byte.eq_ignore_ascii_case(own),
                Some(byte) => byte == own,
            };
            if is_same {
                continue;
            }
            if !has_alternatives {
                return false;
            }
            // The next alternative; what is nested is not looked into.
            loop {
                at += 1;
                match pattern.get(at - 1) {
                    Some(b',') => break,
                    Some(b'}') | None => return false,
                    Some(b'{' | b'[' | b'\\') => return true,
                    Some(_) => {}
                }
            }
            rest = text.as_bytes().iter();
        }
    }

    /// What follows the special character or group that a pattern starts with.
    fn after_special<'p>(&self, pattern: &'p str) -> &'p str {
        let end = match pattern.chars().next() {
            Some('[') => end_of_class(pattern, 1),
            Some('{') => end_of_alternatives(pattern, 1),
            Some('\\') => 1 + pattern.chars().nth(1).map_or(0, char::len_utf8),
            _ => 1,
        };
        let rest = pattern.get(end..).unwrap_or_default();
        // In a path, `**/` may be nothing, with its `/`.
        if self.0.kind == Kind::Path { rest.strip_prefix('/').unwrap_or(rest) } else { rest }
    }

    fn is_literal(&self) -> bool {
        self.0.head == self.0.pattern.len()
    }

    /// The same for a text of which one is compared, such as a shell command.
    #[must_use]
    pub(crate) fn matches_long(&self, text: &str) -> bool {
        if self.is_literal() {
            return *self.0.pattern == *text;
        }
        !self.rules_out(text) && run(self.program(), text)
    }
}

/// Whether a character is not itself in a pattern.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'{' | b'\\')
}

/// How many bytes of a pattern are literal at its start.
fn head(pattern: &str) -> usize {
    pattern.bytes().position(|byte| is_special(byte) || byte == b'}').unwrap_or(pattern.len())
}

fn check(pattern: &str, head: usize, kind: Kind) -> Result<(), GlobError> {
    if pattern.len() > MAX_PATTERN_CHARS && pattern.chars().count() > MAX_PATTERN_CHARS {
        return Err(GlobError("it is longer than 1,024 characters"));
    }
    // Nothing can be wrong without these, nor with the literal start.
    if !pattern.bytes().any(|byte| matches!(byte, b'[' | b'{' | b'}' | b'\\')) {
        return Ok(());
    }
    Compiler { at: head, ..Compiler::new(pattern, kind, None) }.run().map(drop)
}

fn char_at(pattern: &str, at: usize) -> Option<char> {
    pattern.get(at..)?.chars().next()
}

/// The position behind the `}` that ends the alternatives of which one ends here.
fn end_of_alternatives(pattern: &str, mut at: usize) -> usize {
    let mut depth = 1;
    while let Some(c) = char_at(pattern, at) {
        at += c.len_utf8();
        match c {
            '\\' => at += char_at(pattern, at).map_or(0, char::len_utf8),
            '[' => at = end_of_class(pattern, at),
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

/// The position behind the `]` of a class whose `[` is before this one. A `]` is a member where it comes first.
fn end_of_class(pattern: &str, mut at: usize) -> usize {
    at += usize::from(matches!(char_at(pattern, at), Some('!' | '^')));
    at += char_at(pattern, at).map_or(0, char::len_utf8);
    let inside = pattern.get(at..).unwrap_or_default();
    at + inside.find(']').map_or(inside.len(), |end| end + 1)
}

/// Follows all states of a program at once.
fn run(program: &[Op], text: &str) -> bool {
    let mut now = States::new(program.len());
    let mut next = States::new(program.len());
    now.add(program, 0);
    for c in text.chars() {
        for at in &now.list {
            match program.get(*at) {
                Some(Op::Many { slash }) if *slash || c != '/' => next.add(program, *at),
                Some(op) if op.takes(c) => next.add(program, at + 1),
                _ => {}
            }
        }
        std::mem::swap(&mut now, &mut next);
        next.clear();
        if now.list.is_empty() {
            return false;
        }
    }
    now.list.iter().any(|at| matches!(program.get(*at), Some(Op::End)))
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
    pattern: &'a str,
    /// In bytes.
    at: usize,
    kind: Kind,
    /// None where the pattern is only checked.
    program: Option<Vec<Op>>,
    /// Whether every way to this position is at the start of a part of a path.
    opens: bool,
    /// The `**` at the end of alternatives that a `/` follows: no folder at all also skips that `/`.
    skips: Vec<usize>,
}

impl<'a> Compiler<'a> {
    fn new(pattern: &'a str, kind: Kind, program: Option<Vec<Op>>) -> Self {
        Compiler { pattern, at: 0, kind, program, opens: true, skips: Vec::new() }
    }

    fn run(mut self) -> Result<Vec<Op>, GlobError> {
        self.sequence(0)?;
        if self.at < self.pattern.len() {
            return Err(GlobError("`}` without a `{` before it"));
        }
        self.push(Op::End);
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

    fn push(&mut self, op: Op) {
        if let Some(program) = &mut self.program {
            program.push(op);
        }
    }

    fn len(&self) -> usize {
        self.program.as_ref().map_or(0, Vec::len)
    }

    /// Compiles up to the end of the pattern or of an alternative.
    fn sequence(&mut self, depth: usize) -> Result<(), GlobError> {
        while let Some(c) = self.peek() {
            match c {
                '}' => return Ok(()),
                ',' if depth > 0 => return Ok(()),
                _ => self.at += c.len_utf8(),
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
        self.push(op);
        self.opens = false;
    }

    fn character(&mut self, c: char) {
        self.push(Op::Char(c));
        self.opens = c == '/';
        let end = self.len();
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
        let split = self.len();
        self.push(Op::Split(split + 1, split + 1));
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
            match char_at(self.pattern, at) {
                Some('}') if depth > 0 => at += 1,
                Some(',') if depth > 0 => at = end_of_alternatives(self.pattern, at),
                other => return other,
            }
            depth -= 1;
        }
    }

    fn patch(&mut self, at: usize, op: Op) {
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
            let split = self.len();
            self.push(Op::Split(split + 1, 0));
            self.opens = opens;
            self.sequence(depth)?;
            all_open &= self.opens;
            skips.append(&mut self.skips);
            jumps.push(self.len());
            self.push(Op::Jump(0));
            let next = self.len();
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
        let end = self.len();
        for jump in jumps {
            self.patch(jump, Op::Jump(end));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
