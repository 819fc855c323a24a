//! Globs: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `{foo,bar}`, `\` to escape the next character. A pattern is compiled to an NFA, and
//! all its states are followed at once. So the time is at most the length of the pattern times the length of the text.
//!
//! In a path, `**` crosses `/` if it is a whole part: it follows a `/` or starts the pattern, and a `/` follows it or it ends the
//! pattern. Braces do not change that: `{src/**,x}` and `src/{**,x}/y` cross, `src/**.rs` and `src/{**,x}.rs` do not. Elsewhere
//! `**` is `*`.
//!
//! ```
//! use conclaude_glob::{Glob, GlobKind};
//!
//! let glob = Glob::new("src/**/*.{rs,toml}", GlobKind::Path)?;
//! assert_eq!(glob.matches("src/a/b.rs"), Some(true));
//! assert_eq!(glob.matches("a/b.rs"), Some(false));
//! # Ok::<(), conclaude_glob::GlobError>(())
//! ```

use std::sync::{Arc, OnceLock};

mod alternatives;
mod fingerprint;
mod literal;
mod plain;
mod program;
mod states;
mod unknown_parts;

pub use fingerprint::Fingerprint;
use literal::FirstCharacters;
use program::Instruction;
pub use program::{GlobError, GlobKind};
pub use unknown_parts::{Hole, Part};

/// No real text is longer.
const MAX_TEXT_BYTES: usize = 4_096;

/// A valid glob. It is compiled when it is first needed: most rules do not concern the command or file at hand, and their literal
/// parts rule them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Arc<ValidPattern>);

#[derive(Debug)]
struct ValidPattern {
    pattern: Box<str>,
    kind: GlobKind,
    /// How many literal bytes every match starts with.
    head: usize,
    starts: FirstCharacters,
    program: OnceLock<Vec<Instruction>>,
}

impl PartialEq for ValidPattern {
    fn eq(&self, other: &ValidPattern) -> bool {
        (&self.pattern, self.kind) == (&other.pattern, other.kind)
    }
}

impl Eq for ValidPattern {}

/// Whether a shell would look for files that match this text, if nothing of it is quoted.
#[must_use]
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// A text as the glob that matches only it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let is_special = |byte: u8| b"*?[]{}\\!".contains(&byte);
    // Most texts are paths without such characters.
    if !text.bytes().any(is_special) {
        return text.to_owned();
    }
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if "*?[]{}\\!".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

impl Glob {
    /// Checks a glob.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn new(pattern: &str, kind: GlobKind) -> Result<Glob, GlobError> {
        program::check_length(pattern)?;
        let head = literal::head(pattern);
        let starts = match plain::starts(pattern, head) {
            Some(starts) => starts,
            None => {
                program::check(pattern, head, kind)?;
                FirstCharacters::of(pattern)
            }
        };
        Ok(Glob(Arc::new(ValidPattern {
            pattern: pattern.into(),
            kind,
            head,
            starts,
            program: OnceLock::new(),
        })))
    }

    pub fn as_str(&self) -> &str {
        &self.0.pattern
    }

    /// The patterns without braces that it stands for. `None` if they are more than `limit`.
    #[must_use]
    pub fn alternatives(&self, limit: usize) -> Option<Vec<String>> {
        alternatives::of(&self.0.pattern, limit)
    }

    /// Checks a pattern without keeping it.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn check(pattern: &str, kind: GlobKind) -> Result<(), GlobError> {
        Glob::new(pattern, kind).map(drop)
    }

    fn program(&self) -> &[Instruction] {
        // It is valid: `new` has checked it.
        self.0.program.get_or_init(|| program::compile(&self.0.pattern, self.0.kind))
    }

    /// Whether the whole text matches. `None` if it is too long.
    #[must_use]
    pub fn matches(&self, text: &str) -> Option<bool> {
        if text.len() <= MAX_TEXT_BYTES { Some(self.matches_long(text)) } else { None }
    }

    fn is_literal(&self) -> bool {
        self.0.head == self.0.pattern.len()
    }

    /// Whether the whole text matches, without a limit on its length: for a single text such as a shell command.
    #[must_use]
    pub fn matches_long(&self, text: &str) -> bool {
        if self.is_literal() {
            return *self.0.pattern == *text;
        }
        !self.rules_out(text) && states::run(self.program(), text)
    }

    /// Whether the text cannot match, because it does not contain the literal parts of the pattern in their order.
    #[must_use]
    pub fn rules_out(&self, text: &str) -> bool {
        !self.0.starts.has_start_of(text)
            || literal::rules_out(&self.0.pattern, self.0.head, self.0.kind, text)
    }

    /// Whether none of several texts can match, by their fingerprint.
    #[must_use]
    pub fn rules_out_all(&self, texts: &Fingerprint) -> bool {
        fingerprint::rules_out(&self.0.pattern, self.0.starts, self.0.kind, texts)
    }

    /// Whether the first characters show that neither the text nor any start of it matches.
    #[must_use]
    pub fn rules_out_starts_of(&self, text: &str) -> bool {
        let head = self.0.pattern.get(..self.0.head).unwrap_or_default();
        !self.0.starts.has_first_of(text) || !text.starts_with(head)
    }

    /// Whether the first characters of the parts of a path show that no part matches.
    #[must_use]
    pub fn rules_out_parts_of(&self, path: &str) -> bool {
        !self.0.starts.has_first_of_a_part(path)
    }

    /// Whether a text could start like the pattern, or like one of the alternatives that it starts with. A partial text may
    /// continue.
    #[must_use]
    pub fn could_start(&self, text: &str, is_partial: bool, ignores_case: bool) -> bool {
        self.0.starts.has_start_of(text)
            && literal::could_start(&self.0.pattern, text, is_partial, ignores_case)
    }

    /// Whether a text that differs from this one in its unknown parts matches.
    #[must_use]
    pub fn could_match(&self, parts: &[Part<'_>]) -> bool {
        unknown_parts::could_match(self.program(), parts)
    }

    /// Like `could_match`, but the pattern must spell a letter or digit of a known part: it must not match by unknown parts alone.
    #[must_use]
    pub fn could_match_by_known(&self, parts: &[Part<'_>]) -> bool {
        unknown_parts::could_match_by_known(self.program(), parts)
    }
}

#[cfg(test)]
mod tests;
