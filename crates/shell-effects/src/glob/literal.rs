//! Rules a pattern out by its literal parts, without compiling it. Most rules do not concern the text at hand.

use memchr::memmem;

use super::program::{Kind, end_of_alternatives, end_of_class};

/// Whether a character has a special meaning in a pattern.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'{' | b'\\')
}

/// How many bytes of a pattern are literal at its start.
pub(super) fn head(pattern: &str) -> usize {
    pattern.bytes().position(|byte| is_special(byte) || byte == b'}').unwrap_or(pattern.len())
}

/// The characters that a match can start with: one bit for each ASCII character, all bits if they are unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstCharacters(u128);

impl FirstCharacters {
    const ANY: FirstCharacters = FirstCharacters(u128::MAX);

    pub(super) fn of(pattern: &str) -> FirstCharacters {
        if pattern.starts_with('{') {
            return FirstCharacters::of_alternatives(pattern, 1).0;
        }
        FirstCharacters(0).with(pattern.bytes().next())
    }

    /// The first characters of alternatives whose `{` is before this position, and the position after their `}`.
    fn of_alternatives(pattern: &str, mut at: usize) -> (FirstCharacters, usize) {
        let mut starts = FirstCharacters(0);
        loop {
            match pattern.as_bytes().get(at) {
                Some(b'{') => {
                    let (nested, end) = FirstCharacters::of_alternatives(pattern, at + 1);
                    starts.0 |= nested.0;
                    at = end;
                }
                first => starts = starts.with(first.copied().filter(|byte| *byte != b',')),
            }
            // Nothing more can be learnt.
            if starts.0 == u128::MAX {
                return (starts, end_of_alternatives(pattern, at));
            }
            at = end_of_alternative(pattern, at);
            if pattern.as_bytes().get(at) != Some(&b',') {
                return (starts, at + 1);
            }
            at += 1;
        }
    }

    /// In both cases, because some rules ignore case.
    fn with(self, first: Option<u8>) -> FirstCharacters {
        let bit = |byte: u8| 1 << byte;
        match first {
            Some(byte) if byte.is_ascii() && !is_special(byte) && byte != b'}' => {
                FirstCharacters(self.0 | bit(byte.to_ascii_lowercase()) | bit(byte.to_ascii_uppercase()))
            }
            _ => FirstCharacters::ANY,
        }
    }

    /// Whether a text can start with one of these characters. An empty text can.
    pub(super) fn has_first_of(self, text: &str) -> bool {
        text.as_bytes().first().is_none_or(|byte| self.has(*byte))
    }

    /// The same for any part of a path.
    pub(super) fn has_first_of_a_part(self, path: &str) -> bool {
        let mut is_first = true;
        let mut of_part = |byte| std::mem::replace(&mut is_first, byte == b'/') && self.has(byte);
        path.is_empty() || path.bytes().any(&mut of_part)
    }

    fn has(self, byte: u8) -> bool {
        !byte.is_ascii() || self.0 >> byte & 1 == 1
    }
}

/// Whether the text cannot match, because it does not contain the literal parts of the pattern in their order.
pub(super) fn rules_out(pattern: &str, head: usize, kind: Kind, text: &str) -> bool {
    if head == 0 && !could_start(pattern, text, false, false) {
        return true;
    }
    let (head, mut pattern) = pattern.split_at(head);
    let Some(mut text) = text.strip_prefix(head) else { return true };
    if pattern.is_empty() {
        return !text.is_empty();
    }
    loop {
        pattern = after_special(pattern, kind);
        let Some(end) = pattern.bytes().position(is_special) else { return !text.ends_with(pattern) };
        let (part, rest) = pattern.split_at(end);
        let Some(found) = memmem::find(text.as_bytes(), part.as_bytes()) else { return true };
        (text, pattern) = (text.get(found + part.len()..).unwrap_or_default(), rest);
    }
}

/// Whether a text could start like the pattern, or like one of the alternatives that it starts with. A partial text may continue.
pub(super) fn could_start(pattern: &str, text: &str, is_partial: bool, ignores_case: bool) -> bool {
    Comparison { pattern, is_partial, ignores_case }.sequence(0, text.as_bytes(), false)
}

struct Comparison<'p> {
    pattern: &'p str,
    is_partial: bool,
    ignores_case: bool,
}

impl Comparison<'_> {
    /// Whether a text could start like the pattern at this position, up to its first special character. Alternatives are
    /// examined, what follows them is not.
    fn sequence(&self, mut at: usize, text: &[u8], is_alternative: bool) -> bool {
        let mut rest = text.iter();
        loop {
            let Some(own) = self.pattern.as_bytes().get(at) else { return true };
            match own {
                b'{' => return self.alternatives(at + 1, rest.as_slice()),
                b',' if is_alternative => return true,
                b'*' | b'?' | b'[' | b'\\' | b'}' => return true,
                _ => {}
            }
            at += 1;
            let is_same = match rest.next() {
                None => self.is_partial,
                Some(byte) if self.ignores_case => byte.eq_ignore_ascii_case(own),
                Some(byte) => byte == own,
            };
            if !is_same {
                return false;
            }
        }
    }

    fn alternatives(&self, mut at: usize, text: &[u8]) -> bool {
        loop {
            if self.sequence(at, text, true) {
                return true;
            }
            at = end_of_alternative(self.pattern, at);
            if self.pattern.as_bytes().get(at) != Some(&b',') {
                return false;
            }
            at += 1;
        }
    }
}

/// The position of the `,` or `}` that ends an alternative.
fn end_of_alternative(pattern: &str, mut at: usize) -> usize {
    while let Some(byte) = pattern.as_bytes().get(at) {
        match byte {
            b',' | b'}' => break,
            b'{' => at = end_of_alternatives(pattern, at + 1),
            b'[' => at = end_of_class(pattern, at + 1),
            b'\\' => {
                at += 1 + pattern.get(at + 1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
            }
            _ => at += 1,
        }
    }
    at
}

/// The rest after the special character or group that a pattern starts with.
fn after_special(pattern: &str, kind: Kind) -> &str {
    let end = match pattern.chars().next() {
        Some('[') => end_of_class(pattern, 1),
        Some('{') => end_of_alternatives(pattern, 1),
        Some('\\') => 1 + pattern.chars().nth(1).map_or(0, char::len_utf8),
        _ => 1,
    };
    let rest = pattern.get(end..).unwrap_or_default();
    // In a path, `**/` also matches nothing.
    if kind == Kind::Path { rest.strip_prefix('/').unwrap_or(rest) } else { rest }
}
