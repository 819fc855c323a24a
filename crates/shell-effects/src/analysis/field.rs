//! Words after all expansions, and how they are built.

use std::ops::Range;

use crate::Quoting;
use crate::analysis::spelling::may_print_sign;
use crate::syntax::parser::is_name;

/// The variable that stands for unknown text.
pub(crate) const UNKNOWN_WORD: &str = "unknown_output";

/// Like `UNKNOWN_WORD`, for text that may have an option or a sign.
pub(crate) const SPELLED_WORD: &str = "unknown_signs";

/// A file of a directory, as a part of a word.
pub(crate) const FOUND: &str = "what was found";

/// One word after all expansions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Field {
    pub(crate) text: String,
    pub(crate) kind: FieldKind,
    /// The unknown parts of the text, unless all of it is unknown.
    pub(crate) holes: Vec<(Range<usize>, Quoting)>,
    /// The script's text for a pattern that stands for unknown text.
    pub(crate) written: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FieldKind {
    Literal,
    /// The text is a pattern, in which a backslash precedes quoted characters.
    Glob,
    /// Any file in this directory.
    Tree,
    /// The text is as it is written.
    Unknown,
}

impl Field {
    pub(crate) fn new(text: impl Into<String>, kind: FieldKind) -> Field {
        Field { text: text.into(), kind, holes: Vec::new(), written: None }
    }

    pub(crate) fn literal(text: impl Into<String>) -> Field {
        Field::new(text, FieldKind::Literal)
    }

    pub(crate) fn unknown(text: impl Into<String>) -> Field {
        Field::new(text, FieldKind::Unknown)
    }

    pub(crate) fn glob(pattern: impl Into<String>) -> Field {
        Field::new(pattern, FieldKind::Glob)
    }

    pub(crate) fn is_literal(&self) -> bool {
        self.kind == FieldKind::Literal
    }

    /// The text as a user would write it.
    pub(crate) fn shown(&self) -> String {
        match (self.kind, &self.written) {
            (_, Some(written)) => written.clone(),
            (FieldKind::Glob, None) => unescaped(&self.text),
            _ => self.text.clone(),
        }
    }

    /// Unknown text that matches a pattern.
    pub(crate) fn like(pattern: impl Into<String>, written: impl Into<String>) -> Field {
        Field { written: Some(written.into()), ..Field::new(pattern, FieldKind::Glob) }
    }

    /// Whether it stands for any of many files: a pattern, or what a search finds.
    pub(crate) fn may_be_any_file(&self) -> bool {
        match self.kind {
            FieldKind::Glob | FieldKind::Tree => true,
            FieldKind::Unknown => self.text.contains(FOUND),
            FieldKind::Literal => false,
        }
    }

    /// Whether it may be several words, or none: an unquoted value, or a pattern.
    pub(crate) fn may_be_several(&self) -> bool {
        match self.kind {
            FieldKind::Literal => false,
            FieldKind::Glob | FieldKind::Tree => true,
            FieldKind::Unknown => self.holes.iter().any(|(_, quoting)| *quoting == Quoting::Bare),
        }
    }

    /// The text in quotes, as a word for a shell.
    pub(crate) fn quoted(&self) -> String {
        crate::quoted(&self.shown())
    }

    /// The text as a word of a script. Unknown parts stay unknown. A word that may be reserved is not quoted.
    pub(crate) fn as_word(&self) -> String {
        match self.kind {
            FieldKind::Literal => crate::quoted_if_needed(&self.text),
            FieldKind::Glob => {
                let is_plain = |c: char| c.is_alphanumeric() || "*?[]!^-._/\\".contains(c);
                let chars =
                    self.text.chars().map(|c| if is_plain(c) { c.to_string() } else { format!("\\{c}") });
                chars.collect()
            }
            FieldKind::Tree | FieldKind::Unknown => {
                let name =
                    self.text.strip_prefix('$').filter(|name| !name.is_empty() && name.bytes().all(is_name));
                let is_spelled = self.text.contains("$(") && may_print_sign(&self.text);
                let unknown = if is_spelled { SPELLED_WORD } else { UNKNOWN_WORD };
                format!("${{{}}}", name.unwrap_or(unknown))
            }
        }
    }

    /// A field of this kind with another text.
    pub(crate) fn with(&self, text: impl Into<String>) -> Field {
        Field::new(text, self.kind)
    }
}

fn unescaped(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

/// A field under construction.
#[derive(Default)]
pub(crate) struct FieldBuilder {
    pub(crate) literal: String,
    pub(crate) pattern: String,
    pub(crate) is_unknown: bool,
    pub(crate) is_tree: bool,
    pub(crate) is_started: bool,
    /// Whether one of its values is a pattern.
    has_pattern: bool,
    holes: Vec<(Range<usize>, Quoting)>,
}

impl FieldBuilder {
    pub(crate) fn plain(&mut self, text: &str) {
        self.literal.push_str(text);
        self.pattern.push_str(text);
        self.is_started = true;
    }

    pub(crate) fn quoted(&mut self, text: &str) {
        self.literal.push_str(text);
        for c in text.chars() {
            if matches!(c, '*' | '?' | '[' | ']' | '\\') {
                self.pattern.push('\\');
            }
            self.pattern.push(c);
        }
        self.is_started = true;
    }

    /// Unknown text that matches a pattern, as it is written.
    pub(crate) fn like(&mut self, pattern: &str, written: &str) {
        self.literal.push_str(written);
        self.pattern.push_str(pattern);
        self.has_pattern = true;
        self.is_started = true;
    }

    pub(crate) fn tree(&mut self, root: &str) {
        // With text before or after it, it does not name a found file.
        self.is_unknown |= self.is_started;
        self.quoted(root);
        self.is_tree = true;
    }

    pub(crate) fn value(&mut self, field: &Field) {
        match field.kind {
            FieldKind::Literal => self.quoted(&field.text),
            FieldKind::Glob => self.like(&field.text, &field.shown()),
            FieldKind::Tree => self.tree(&field.text),
            FieldKind::Unknown => self.unknown_value(field),
        }
    }

    fn unknown_value(&mut self, field: &Field) {
        let start = self.literal.len();
        if field.holes.is_empty() {
            return self.unknown(&field.text, Quoting::Quoted);
        }
        let moved =
            |(part, quoting): &(Range<usize>, Quoting)| (part.start + start..part.end + start, *quoting);
        self.holes.extend(field.holes.iter().map(moved));
        self.literal.push_str(&field.text);
        self.is_unknown = true;
        self.is_started = true;
    }

    pub(crate) fn unknown(&mut self, written: &str, quoting: Quoting) {
        let start = self.literal.len();
        self.literal.push_str(written);
        self.holes.push((start..self.literal.len(), quoting));
        self.is_unknown = true;
        self.is_started = true;
    }

    pub(crate) fn finish(self, globs: bool) -> Field {
        if self.is_unknown {
            Field { holes: self.holes, ..Field::unknown(self.literal) }
        } else if self.is_tree {
            Field::new(self.literal, FieldKind::Tree)
        } else if (globs || self.has_pattern) && is_glob(&self.pattern) {
            let written = if self.has_pattern { Some(self.literal) } else { None };
            Field { written, ..Field::new(without_quoted_members(self.pattern), FieldKind::Glob) }
        } else {
            Field::literal(self.literal)
        }
    }
}

/// A pattern in which a class with quoted members, such as `[a\]]`, matches any character.
fn without_quoted_members(pattern: String) -> String {
    if !pattern.contains('\\') {
        return pattern;
    }
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern.as_str();
    while let Some(c) = rest.chars().next() {
        let (taken, shown) = match c {
            '[' => match class_length(rest) {
                Some(length) if rest.get(..length).is_some_and(|class| class.contains('\\')) => (length, "?"),
                Some(length) => (length, rest.get(..length).unwrap_or_default()),
                None => (1, "["),
            },
            '\\' => {
                let length = 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
                (length, rest.get(..length).unwrap_or_default())
            }
            c => (c.len_utf8(), rest.get(..c.len_utf8()).unwrap_or_default()),
        };
        out.push_str(shown);
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// The length of the class at the start, in bytes. A `]` is a member if it comes first or after a backslash.
fn class_length(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    chars.next_if(|(_, c)| matches!(c, '!' | '^'));
    let (mut is_first, mut inner_end) = (true, 0);
    while let Some((at, c)) = chars.next() {
        match c {
            _ if at < inner_end => {}
            '\\' => drop(chars.next()),
            '[' => inner_end = at + 1 + name_length(text.get(at + 1..).unwrap_or_default()),
            ']' if !is_first => return Some(at + 1),
            _ => {}
        }
        is_first = false;
    }
    None
}

/// The length of what follows the inner `[` of `[:alpha:]`, `[.x.]` or `[=x=]`, whose `]` does not close the class.
fn name_length(text: &str) -> usize {
    let Some(kind) = text.chars().next().filter(|kind| ":.=".contains(*kind)) else { return 0 };
    let name = text.get(1..).unwrap_or_default();
    let end = name.find(&format!("{kind}]")).filter(|end| kind != ':' || is_lower(name.get(..*end)));
    end.map_or(0, |end| end + 3)
}

fn is_lower(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn is_glob(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    let mut open = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '*' | '?' => return true,
            '[' => open = true,
            ']' if open => return true,
            _ => {}
        }
    }
    false
}
