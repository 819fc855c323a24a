//! Rules a pattern out by its literal parts, without compiling it. Most rules do not concern the text at hand.

use memchr::memmem;

use super::plain::{ENDS_LITERAL, STRUCTURE};
use super::program::{GlobKind, end_of_alternatives, end_of_class};

/// Whether a character has a special meaning in a pattern.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'{' | b'\\')
}

/// How many bytes of a pattern are literal at its start.
pub(super) fn head(pattern: &str) -> usize {
    ENDS_LITERAL.next(pattern.as_bytes(), 0)
}

/// What a match can start with: one bit for each ASCII character, all bits if they are unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstCharacters {
    first: u128,
    /// Like `first`, but for the first two characters: one bit for many pairs. `first` tells little about many alternatives, because
    /// their words start with nearly any letter.
    pairs: u128,
}

/// The bit of two characters, whatever their case is.
fn pair(first: u8, second: u8) -> u128 {
    1 << (((first | 0x20).wrapping_mul(5) ^ (second | 0x20)) & 0x7f)
}

impl FirstCharacters {
    pub(super) const NONE: FirstCharacters = FirstCharacters { first: 0, pairs: 0 };
    pub(super) const ANY: FirstCharacters = FirstCharacters { first: u128::MAX, pairs: u128::MAX };

    /// Those of a pattern that is not a plain one: only its first character is examined.
    pub(super) fn of(pattern: &str) -> FirstCharacters {
        FirstCharacters::NONE.with(pattern.as_bytes())
    }

    fn or(self, other: FirstCharacters) -> FirstCharacters {
        FirstCharacters { first: self.first | other.first, pairs: self.pairs | other.pairs }
    }

    /// With the start of a pattern or an alternative, in both cases, because some rules ignore case.
    pub(super) fn with(self, pattern: &[u8]) -> FirstCharacters {
        let is_literal = |byte: u8| !is_special(byte) && byte != b'}';
        let bit = |byte: u8| 1 << byte;
        match pattern {
            [first, rest @ ..] if first.is_ascii() && is_literal(*first) => {
                let first_bits = bit(first.to_ascii_lowercase()) | bit(first.to_ascii_uppercase());
                let pairs = match rest {
                    // A comma may end the alternative.
                    [second, ..] if is_literal(*second) && *second != b',' => pair(*first, *second),
                    _ => u128::MAX,
                };
                self.or(FirstCharacters { first: first_bits, pairs })
            }
            _ => FirstCharacters::ANY,
        }
    }

    /// With the start of a text.
    pub(super) fn with_text(self, text: &str) -> FirstCharacters {
        match text.as_bytes() {
            [first, ..] if !first.is_ascii() => FirstCharacters::ANY,
            [first, second, ..] => {
                self.or(FirstCharacters { first: 1 << first, pairs: pair(*first, *second) })
            }
            [first] => self.or(FirstCharacters { first: 1 << first, pairs: u128::MAX }),
            [] => FirstCharacters::ANY,
        }
    }

    /// Whether a text with one of these starts may start like the pattern.
    pub(super) fn has_one_of(self, texts: FirstCharacters) -> bool {
        self.first & texts.first != 0 && self.pairs & texts.pairs != 0
    }

    /// Whether a text can start with one of these characters. An empty text can.
    pub(super) fn has_first_of(self, text: &str) -> bool {
        text.as_bytes().first().is_none_or(|byte| self.has(*byte))
    }

    /// Like `has_first_of`, but for the first two characters. The whole text must match.
    pub(super) fn has_start_of(self, text: &str) -> bool {
        match text.as_bytes() {
            [first, second, ..] => self.has(*first) && self.pairs & pair(*first, *second) != 0,
            _ => self.has_first_of(text),
        }
    }

    /// Like `has_first_of`, but for any part of a path.
    pub(super) fn has_first_of_a_part(self, path: &str) -> bool {
        let bytes = path.as_bytes();
        let starts_part = |slash: usize| bytes.get(slash + 1).is_some_and(|byte| self.has(*byte));
        self.has_first_of(path) || memchr::memchr_iter(b'/', bytes).any(starts_part)
    }

    fn has(self, byte: u8) -> bool {
        !byte.is_ascii() || self.first >> byte & 1 == 1
    }
}

/// Whether the text cannot match, because it does not contain the literal parts of the pattern in their order.
pub(super) fn rules_out(pattern: &str, head: usize, kind: GlobKind, text: &str) -> bool {
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
pub(super) fn end_of_alternative(pattern: &str, mut at: usize) -> usize {
    loop {
        at = STRUCTURE.next(pattern.as_bytes(), at);
        match pattern.as_bytes().get(at) {
            Some(b'{') => at = end_of_alternatives(pattern, at + 1),
            Some(b'[') => at = end_of_class(pattern, at + 1),
            Some(b'\\') => {
                at += 1 + pattern.get(at + 1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
            }
            _ => return at,
        }
    }
}

/// The rest after the special character or group that a pattern starts with.
fn after_special(pattern: &str, kind: GlobKind) -> &str {
    let end = match pattern.chars().next() {
        Some('[') => end_of_class(pattern, 1),
        Some('{') => end_of_alternatives(pattern, 1),
        Some('\\') => 1 + pattern.chars().nth(1).map_or(0, char::len_utf8),
        _ => 1,
    };
    let rest = pattern.get(end..).unwrap_or_default();
    // In a path, `**/` also matches nothing.
    if kind == GlobKind::Path { rest.strip_prefix('/').unwrap_or(rest) } else { rest }
}
