//! The texts in code of other languages, and the arguments of a call.

use crate::Quoting;
use crate::analysis::field::{Field, FieldBuilder};
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::inline_calls::is_part;

/// The arguments of a call, as far as they are texts. Named arguments and other values at the end are left out.
#[derive(Default)]
pub(super) struct TextArguments {
    pub(super) words: Vec<Field>,
    /// Whether the first one is a list of words.
    pub(super) is_list: bool,
}

impl TextArguments {
    pub(super) fn read(mut rest: &str) -> TextArguments {
        let mut arguments = TextArguments::default();
        let mut word: Option<FieldBuilder> = None;
        let (mut depth, mut is_named) = (0_usize, false);
        while let Some(c) = rest.chars().next() {
            if let Some((text, after)) = literal(rest) {
                word.get_or_insert_default().value(&text);
                rest = after;
                continue;
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '[' | '(' | '{' if word.is_none() && !is_named => {
                    arguments.is_list |= arguments.words.is_empty();
                    depth += 1;
                }
                // A call or an index inside it is unknown.
                '[' | '(' | '{' => {
                    word.get_or_insert_default().unknown("$x", Quoting::Quoted);
                    rest = after_bracket(rest);
                }
                ',' | ']' | ')' | '}' | ';' | '\n' => {
                    arguments.add(word.take(), is_named);
                    is_named = false;
                    let closes = matches!(c, ']' | ')' | '}');
                    let ends = c == ';' || c == '\n' && depth == 0 && !arguments.words.is_empty();
                    if ends || closes && depth == 0 {
                        break;
                    }
                    depth -= usize::from(closes);
                }
                '=' | ':' => (word, is_named) = (None, true),
                c if c.is_whitespace() => {}
                _ => {
                    rest = rest.trim_start_matches(|c: char| is_part(c) || c == '.');
                    word.get_or_insert_default().unknown("$x", Quoting::Quoted);
                }
            }
        }
        arguments.add(word, is_named);
        arguments.without_callback()
    }

    fn add(&mut self, word: Option<FieldBuilder>, is_named: bool) {
        if !is_named {
            self.words.extend(word.map(|word| word.finish(false)));
        }
    }

    /// The texts are followed by a callback or options.
    fn without_callback(mut self) -> TextArguments {
        while self.words.len() > 1 && self.words.last().is_some_and(is_wholly_unknown) {
            self.words.pop();
        }
        self
    }
}

/// The rest after the bracket that closes one before it.
fn after_bracket(mut rest: &str) -> &str {
    let mut depth = 1_usize;
    while let Some(c) = rest.chars().next() {
        if let Some((_, after)) = literal(rest) {
            rest = after;
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    rest
}

/// A quoted text, and the rest after it: also with a prefix (`r"…"`), in three quotes, and with unknown parts.
pub(super) fn literal(code: &str) -> Option<(Field, &str)> {
    let letters = code.bytes().take(2).take_while(|byte| b"rRbBuUfF".contains(byte)).count();
    let (prefix, rest) = code.split_at_checked(letters)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let three = quote.to_string().repeat(3);
    let end = if rest.starts_with(&three) { three } else { quote.to_string() };
    let is_raw = prefix.contains(['r', 'R']);
    let is_format = prefix.contains(['f', 'F']);
    let mut text = FieldBuilder::default();
    text.quoted("");
    let mut rest = rest.get(end.len()..)?;
    loop {
        if let Some(after) = rest.strip_prefix(&end) {
            return Some((text.finish(false), after));
        }
        let c = rest.chars().next()?;
        rest = rest.get(c.len_utf8()..)?;
        let opens = match c {
            '{' if is_format => Some(rest),
            '$' if quote == '`' => rest.strip_prefix('{'),
            '#' if quote == '"' => rest.strip_prefix('{'),
            _ => None,
        };
        if let Some(inner) = opens {
            text.unknown("$x", Quoting::Bare);
            rest = after_bracket(inner);
        } else if c == '\\' && !is_raw {
            rest = escape(rest, &mut text);
        } else {
            text.quoted(c.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Adds the character of an escape. Returns the rest after it.
fn escape<'a>(rest: &'a str, text: &mut FieldBuilder) -> &'a str {
    let Some(c) = rest.chars().next() else { return rest };
    let after = rest.get(c.len_utf8()..).unwrap_or_default();
    let (digits, radix, start) = match c {
        'x' if after.starts_with('{') => (6, 16, after.trim_start_matches('{')),
        'x' => (2, 16, after),
        'u' => (4, 16, after.trim_start_matches('{')),
        'U' => (8, 16, after),
        '0'..='7' => (3, 8, rest),
        _ => (0, 0, after),
    };
    if digits == 0 {
        match c {
            'n' => text.quoted("\n"),
            't' => text.quoted("\t"),
            'r' => text.quoted("\r"),
            '\n' => {}
            c => text.quoted(c.encode_utf8(&mut [0; 4])),
        }
        return after;
    }
    let count = start.chars().take(digits).take_while(|c| c.is_digit(radix)).count();
    let (number, rest) = start.split_at_checked(count).unwrap_or((start, ""));
    if let Some(c) = u32::from_str_radix(number, radix).ok().and_then(char::from_u32) {
        text.quoted(c.encode_utf8(&mut [0; 4]));
    }
    if after.starts_with('{') { rest.strip_prefix('}').unwrap_or(rest) } else { rest }
}

/// Whether a text has characters that are written as numbers: `"\x2e"`.
fn has_numbered(written: &str) -> bool {
    let mut escapes = written.match_indices('\\');
    escapes.any(|(at, _)| {
        written
            .get(at + 1..)
            .is_some_and(|rest| rest.starts_with(|c: char| matches!(c, 'x' | 'u' | 'U' | '0'..='7')))
    })
}

/// Texts that code joins to one: `"a" "b"`, `"a" + "b"`, `"a" . "b"`; and those whose characters are written as numbers.
pub(crate) fn joined_texts(code: &str) -> Vec<String> {
    let (mut found, mut joined, mut count) = (Vec::new(), String::new(), 0_usize);
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        if let Some((text, after)) = literal(rest) {
            joined.push_str(&text.text);
            let written = rest.get(..rest.len() - after.len()).unwrap_or_default();
            count += if has_numbered(written) { 2 } else { 1 };
            rest = after;
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c.is_whitespace() || matches!(c, '+' | '.') {
            continue;
        }
        if count > 1 {
            found.push(std::mem::take(&mut joined));
        }
        joined.clear();
        count = 0;
    }
    if count > 1 {
        found.push(joined);
    }
    found
}

/// The texts after a name in a JSON object, up to its end.
pub(crate) fn json_values(text: &str) -> Vec<Field> {
    let (mut values, mut rest, mut is_value) = (Vec::new(), text, false);
    while let Some(c) = rest.chars().next() {
        if let Some((value, after)) = literal(rest) {
            if is_value {
                values.push(value);
            }
            (rest, is_value) = (after, false);
            continue;
        }
        match c {
            '}' => break,
            ':' => is_value = true,
            _ => {}
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    values
}
