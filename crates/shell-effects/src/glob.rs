//! Globs: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `{foo,bar}`, `\` to escape the next character. A pattern is compiled to an NFA
//! and all its states are followed at once, so no pattern needs more time than its length times that of the text.
//!
//! In a path, `**` crosses `/` where it is a whole part: at the start or after a `/`, and at the end or before a `/`. Braces
//! do not change that: `{src/**,x}` and `src/{**,x}/y` cross, `src/**.rs` and `src/{**,x}.rs` do not. Elsewhere `**` is `*`.

use std::sync::{Arc, OnceLock};

mod literal;
mod partly;
mod program;
mod states;

use literal::Starts;
pub use partly::{Hole, Part};
use program::Op;
pub use program::{GlobError, Kind};

/// No real text is longer.
const MAX_TEXT_BYTES: usize = 4_096;

/// A glob that is known to be valid. It is compiled when it is first needed: of many rules few are for the command or the file
/// at hand, and their literal parts rule out most of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Arc<Checked>);

#[derive(Debug)]
struct Checked {
    pattern: Box<str>,
    kind: Kind,
    /// How many bytes of the pattern every match starts with.
    head: usize,
    starts: Starts,
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
    pub fn new(pattern: &str, kind: Kind) -> Result<Glob, GlobError> {
        let head = literal::head(pattern);
        program::check(pattern, head, kind)?;
        let starts = Starts::of(pattern);
        Ok(Glob(Arc::new(Checked { pattern: pattern.into(), kind, head, starts, program: OnceLock::new() })))
    }

    pub fn as_str(&self) -> &str {
        &self.0.pattern
    }

    /// The same for a pattern that is only kept.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn check(pattern: &str, kind: Kind) -> Result<(), GlobError> {
        program::check(pattern, literal::head(pattern), kind)
    }

    fn program(&self) -> &[Op] {
        // It is valid, or it would not be here.
        self.0.program.get_or_init(|| program::compile(&self.0.pattern, self.0.kind))
    }

    /// Whether the whole text matches; none if it is too long to be compared.
    #[must_use]
    pub fn matches(&self, text: &str) -> Option<bool> {
        if text.len() <= MAX_TEXT_BYTES { Some(self.matches_long(text)) } else { None }
    }

    fn is_literal(&self) -> bool {
        self.0.head == self.0.pattern.len()
    }

    /// The same for a text of which one is compared, such as a shell command.
    #[must_use]
    pub fn matches_long(&self, text: &str) -> bool {
        if self.is_literal() {
            return *self.0.pattern == *text;
        }
        !self.rules_out(text) && states::run(self.program(), text)
    }

    /// Whether the literal parts of the pattern, which a match contains in their order, tell that the text is none.
    #[must_use]
    pub fn rules_out(&self, text: &str) -> bool {
        !self.0.starts.has_first_of(text)
            || literal::rules_out(&self.0.pattern, self.0.head, self.0.kind, text)
    }

    /// Whether the first character of a text tells that neither it nor what it starts with is a match.
    #[must_use]
    pub fn rules_out_first_of(&self, text: &str) -> bool {
        !self.0.starts.has_first_of(text)
    }

    /// Whether that of each part of a path tells that no part is one.
    #[must_use]
    pub fn rules_out_parts_of(&self, path: &str) -> bool {
        !self.0.starts.has_first_of_a_part(path)
    }

    /// Whether a text could start as the pattern does, or as one of the alternatives that it starts with. Of a partial text more
    /// may follow.
    #[must_use]
    pub fn could_start(&self, text: &str, is_partial: bool, ignores_case: bool) -> bool {
        self.0.starts.has_first_of(text)
            && literal::could_start(&self.0.pattern, text, is_partial, ignores_case)
    }

    /// Whether some text matches that differs from this one in its unknown parts.
    #[must_use]
    pub fn could_match(&self, parts: &[Part<'_>]) -> bool {
        partly::could_match(self.program(), parts)
    }
}

#[cfg(test)]
mod tests;
