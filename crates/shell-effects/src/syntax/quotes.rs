//! Quoting that is decoded before it is read: `$'…'`, backticks. Also finds the ends of arithmetic and indices, and quotes a text.

use crate::syntax::parser::is_operator;

/// Decodes `$'…'` after its opening quote. Returns the text, and its length in bytes with the closing quote.
pub(crate) fn ansi_c(text: &str) -> Option<(String, usize)> {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => {
                // The shell ends the text at a NUL.
                let end = out.iter().position(|byte| *byte == 0).unwrap_or(out.len());
                out.truncate(end);
                return Some((String::from_utf8_lossy(&out).into_owned(), at + 1));
            }
            '\\' => {
                let (_, next) = chars.next()?;
                escape(next, &mut chars, &mut out);
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    None
}

/// A text with its escapes decoded, like `printf` and `echo -e`. For `echo`, a `0` precedes the digits.
pub(crate) fn decoded(text: &str, is_echo: bool) -> String {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        match (c, chars.peek().map(|(_, next)| *next)) {
            ('\\', Some('c')) => break,
            ('\\', Some('0')) if is_echo => {
                chars.next();
                let value = digits(&mut chars, 8, 3, 0).0;
                out.push((value & 0xff) as u8);
            }
            ('\\', Some(next)) => {
                chars.next();
                escape(next, &mut chars, &mut out);
            }
            (c, _) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

type Chars<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

/// The byte that a character stands for after a backslash, if it is complete without more characters.
fn simple_escape(next: char) -> Option<u8> {
    match next {
        'a' => Some(7),
        'b' => Some(8),
        'e' | 'E' => Some(27),
        'f' => Some(12),
        'n' => Some(10),
        'r' => Some(13),
        't' => Some(9),
        'v' => Some(11),
        '\\' | '\'' | '"' | '?' => u8::try_from(u32::from(next)).ok(),
        _ => None,
    }
}

/// Adds what a backslash and the character after it stand for.
fn escape(next: char, chars: &mut Chars<'_>, out: &mut Vec<u8>) {
    if let Some(byte) = simple_escape(next) {
        return out.push(byte);
    }
    match next {
        '0'..='7' => {
            let first = next.to_digit(8).unwrap_or_default();
            let value = digits(chars, 8, 2, first).0;
            out.push((value & 0xff) as u8);
        }
        'x' => {
            let braced = chars.next_if(|(_, c)| *c == '{').is_some();
            match digits(chars, 16, if braced { 8 } else { 2 }, 0) {
                (value, true) => out.push((value & 0xff) as u8),
                (_, false) => out.extend_from_slice(b"\\x"),
            }
            if braced {
                chars.next_if(|(_, c)| *c == '}');
            }
        }
        'u' | 'U' => {
            let (value, any) = digits(chars, 16, if next == 'u' { 4 } else { 8 }, 0);
            match char::from_u32(value) {
                Some(c) if any => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                _ => out.extend_from_slice(if next == 'u' { b"\\u" } else { b"\\U" }),
            }
        }
        'c' => {
            let control = chars.next().map_or(0, |(_, c)| (u32::from(c) & 0x1f) as u8);
            out.push(control);
        }
        other => {
            out.push(b'\\');
            out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// A number of at most `most` digits, and whether there was one.
fn digits(chars: &mut Chars<'_>, radix: u32, most: usize, first: u32) -> (u32, bool) {
    let (mut value, mut any) = (first, false);
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(radix)) else { break };
        chars.next();
        value = value.wrapping_mul(radix).wrapping_add(digit);
        any = true;
    }
    (value, any)
}

/// Decodes a script in backticks after the opening one. Returns the script, and its length in bytes with the closing one.
pub(crate) fn backticks(text: &str, quoted: bool, joins_lines: bool) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => return Some((out, at + 1)),
            '\\' => {
                let (_, next) = chars.next()?;
                // A continued line, even in single quotes.
                if joins_lines && next == '\n' {
                    continue;
                }
                if !(matches!(next, '`' | '\\' | '$') || (quoted && next == '"')) {
                    out.push('\\');
                }
                out.push(next);
            }
            c => out.push(c),
        }
    }
    None
}

/// What follows two opening parentheses.
pub(crate) enum Arithmetic {
    /// Arithmetic of this length in bytes, then `))`.
    Closed(usize),
    /// One parenthesis closes alone, as in `$((a); (b))`.
    None,
    /// Nothing closes it.
    Open,
}

pub(crate) fn arithmetic(text: &str) -> Arithmetic {
    let bytes = text.as_bytes();
    let (mut at, mut open) = (0, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' | b'"' => {
                let mut rest = bytes.get(at + 1..).unwrap_or_default().iter();
                match rest.position(|next| next == byte) {
                    Some(length) => at += length + 1,
                    None => return Arithmetic::Open,
                }
            }
            b'(' => open += 1,
            b')' if open > 0 => open -= 1,
            b')' if bytes.get(at + 1) == Some(&b')') => return Arithmetic::Closed(at),
            b')' => return Arithmetic::None,
            _ => {}
        }
        at += 1;
    }
    Arithmetic::Open
}

/// Arithmetic with an index, without its parts in single quotes. Bash expands an index once more, and there single quotes hide
/// what is in them, such as the start of a substitution. `None` if nothing can be hidden so.
pub(crate) fn without_quoted_parts(text: &str) -> Option<String> {
    let substitutes = text.contains('`') || text.contains("$(");
    if !substitutes || !text.contains('[') || !text.contains('\'') {
        return None;
    }
    let parts: Vec<&str> = text.split('\'').collect();
    // The last quote is not closed if their number is odd.
    let closed = parts.len() - usize::from(parts.len().is_multiple_of(2));
    let kept = parts.iter().enumerate().filter(|(at, _)| at % 2 == 0 || *at >= closed);
    Some(kept.map(|(_, part)| *part).collect())
}

/// A longer array index is not read.
const MAX_INDEX: usize = 1024;

/// What follows a name and `[` at the start of a command.
pub(crate) enum ArrayIndex {
    /// An index up to the `]` at this position, then `=` or `+=`.
    Closed(usize),
    /// It may be an index with blanks or operators. Bash reads them as a part of the word, even if no assignment follows.
    Ambiguous,
    /// It is not an assignment.
    None,
    /// It is not closed within [`MAX_INDEX`] bytes.
    TooLong,
}

/// Where the index at the start of a text ends.
pub(crate) fn index(text: &str) -> ArrayIndex {
    let bytes = text.as_bytes();
    let mut closing: Vec<u8> = Vec::new();
    let (mut is_plain, mut is_closed) = (true, false);
    // Whether there are operators at any depth.
    let mut has_operators = false;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        has_operators |= is_operator(*byte);
        if at > MAX_INDEX {
            return ArrayIndex::TooLong;
        }
        match byte {
            b'\\' => at += 1,
            b'\'' | b'"' | b'`' => {
                let rest = bytes.get(at + 1..).unwrap_or_default();
                let Some(length) = rest.iter().position(|next| next == byte) else {
                    return ArrayIndex::Ambiguous;
                };
                at += length + 1;
            }
            b'[' => closing.push(b']'),
            b'(' => closing.push(b')'),
            b'{' => closing.push(b'}'),
            byte if closing.last() == Some(byte) => {
                closing.pop();
                is_closed = closing.is_empty();
                if is_closed {
                    break;
                }
            }
            byte if closing.len() == 1 && is_operator(*byte) => is_plain = false,
            _ => {}
        }
        at += 1;
    }
    match bytes.get(at + 1..).unwrap_or_default() {
        [b'=', ..] | [b'+', b'=', ..] if is_plain => ArrayIndex::Closed(at),
        _ if !is_plain || !is_closed && has_operators => ArrayIndex::Ambiguous,
        _ => ArrayIndex::None,
    }
}

/// A text as one word of a shell, in single quotes.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A text as one word of a shell, in single quotes where it needs them.
#[must_use]
pub fn quoted_if_needed(text: &str) -> String {
    let is_plain =
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@+,".contains(c));
    if is_plain { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word() {
        assert_eq!(quoted("a"), "'a'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        for (text, expected) in
            [("a/b.rs", "a/b.rs"), ("", "''"), ("a b", "'a b'"), ("$x", "'$x'"), ("ä", "'ä'")]
        {
            assert_eq!(quoted_if_needed(text), expected);
        }
    }
}
