//! What the literal parts of a pattern tell without compiling it: of many rules few are for the text at hand.

use memchr::memmem;

use super::program::{Kind, end_of_alternatives, end_of_class};

/// Whether a character is not itself in a pattern.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'{' | b'\\')
}

/// How many bytes of a pattern are literal at its start.
pub(super) fn head(pattern: &str) -> usize {
    pattern.bytes().position(|byte| is_special(byte) || byte == b'}').unwrap_or(pattern.len())
}

/// Whether the literal parts of the pattern, which a match contains in their order, tell that the text is none.
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

/// Whether a text could start as the pattern does, or as one of the alternatives that it starts with. Of a partial text more
/// may follow.
pub(super) fn could_start(pattern: &str, text: &str, is_partial: bool, ignores_case: bool) -> bool {
    let pattern = pattern.as_bytes();
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
fn after_special(pattern: &str, kind: Kind) -> &str {
    let end = match pattern.chars().next() {
        Some('[') => end_of_class(pattern, 1),
        Some('{') => end_of_alternatives(pattern, 1),
        Some('\\') => 1 + pattern.chars().nth(1).map_or(0, char::len_utf8),
        _ => 1,
    };
    let rest = pattern.get(end..).unwrap_or_default();
    // In a path, `**/` may be nothing, with its `/`.
    if kind == Kind::Path { rest.strip_prefix('/').unwrap_or(rest) } else { rest }
}
