//! Cleans untrusted text. Escape sequences are removed first. Then tags are neutralised by a reader that ignores invisible
//! characters, because one of them inside a tag would hide the tag.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use crate::dialect::claude::tags;

/// Replaces the `<` of a tag.
const NOT_A_TAG: char = '‹';

/// Markers as our own messages show them, so that they can be copied. They are examples without effect.
pub const MARKER: &str = "<!-- DES-KEY: value -->";
pub const STEP_FILE_MARKER: &str = "<!-- DES-STEP-FILE: path/of/step.json -->";
pub const SECTION_MARKER: &str = "<!-- DES-SECTION: NAME -->";
const OWN_MARKERS: [&str; 3] = [MARKER, STEP_FILE_MARKER, SECTION_MARKER];

/// Text for a model, as it was printed, but without anything that could control a terminal, deceive the user, or imitate markup
/// of Claude Code. Escape sequences and control characters are removed. Characters that reorder or smuggle text are escaped. Tags
/// with a meaning for Claude Code are neutralised. Zero-width characters stay: a linter may complain about one.
#[must_use]
pub fn clean(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { neutralised(&without_controls(text, Formats::Kept)) }
}

/// Whether there is nothing to clean, as in most text. Other text takes the slow path, even if it needs no change.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (byte.is_ascii_graphic() && byte != b'<') || matches!(byte, b' ' | b'\n' | b'\t'))
}

/// The text for a terminal or a file: without control and deceptive characters, but with its tags, which only a model reads as
/// instructions.
#[must_use]
pub fn printable(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { without_controls(text, Formats::Removed) }
}

/// Like `printable`, without tags, for a pipe that a model may read.
#[must_use]
pub fn printable_untagged(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { neutralised(&without_controls(text, Formats::Removed)) }
}

/// [`printable`] on one line.
#[must_use]
pub fn printable_line(text: &str) -> String {
    on_one_line(Cow::Borrowed(text)).into_owned()
}

/// Like `printable_line`, without a copy for most texts.
#[must_use]
pub fn on_one_line(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return text;
    }
    printable(&text).replace(['\n', '\t'], " ").into()
}

/// [`printable_untagged`] on one line: for names and paths inside a sentence.
#[must_use]
pub fn clean_line(text: &str) -> String {
    printable_untagged(text).replace(['\n', '\t'], " ")
}

/// The text with invisible characters escaped, except line breaks: for a user who must decide about it.
#[must_use]
pub fn visible(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return text.to_owned();
    }
    let shown = |c: char| match c {
        '\n' | '"' | '\'' | '\\' => c.to_string(),
        c if is_invisible(c) && !c.is_control() => c.escape_unicode().to_string(),
        other => other.escape_debug().to_string(),
    };
    text.chars().map(shown).collect()
}

/// The text with invisible characters escaped, except white space: for shown lines of a file.
#[must_use]
pub fn revealed(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        c if is_invisible(c) => c.escape_unicode().to_string(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Like `revealed`, with one character for each, so that columns stay the same.
#[must_use]
pub fn pictured(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        c if is_invisible(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(shown).collect()
}

/// JSON with escapes for everything that [`clean`] would remove or replace. For programs it means the same.
#[must_use]
pub fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    // Reports have megabytes of text, and nearly all of it is plain.
    let is_plain = |byte: u8| matches!(byte, b'\n' | b' '..=b'~') && byte != b'<';
    while let Some(at) = rest.bytes().position(|byte| !is_plain(byte)) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            Some(c) if c == '<' || is_invisible(c) => out.push_str(&escape(c)),
            c => out.extend(c),
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out
}

fn escape(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// How invisible characters are handled that control nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Formats {
    Kept,
    Removed,
}

/// The text without escape sequences and control characters. No text is lost: a carriage return, with which progress bars restart
/// a line, becomes a line break.
fn without_controls(text: &str, formats: Formats) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {
                if !matches!(chars.peek(), Some('\n' | '\r')) {
                    out.push('\n');
                }
            }
            '\u{1b}' | '\u{80}'..='\u{9f}' => skip_escape(c, &mut chars),
            c if c.is_control() => {}
            c if formats == Formats::Kept => out.push(c),
            // A line break here would create a line that its author never saw.
            '\u{2028}' | '\u{2029}' => out.push(' '),
            // An emoji may have one. More of them, or one after another character, can hide text.
            '\u{fe0e}' | '\u{fe0f}' if out.chars().next_back().is_some_and(may_vary) => out.push(c),
            c if is_invisible(c) => {}
            c => out.push(c),
        }
    }
    out
}

fn may_vary(c: char) -> bool {
    !c.is_ascii() && !is_invisible(c)
}

/// Whether the character shows the user something else than the model reads: it reorders text, or contains invisible text.
fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e0fff}')
}

/// Names of people and places need one of them after a character.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{e0100}'..='\u{e01ef}')
}

/// The text with another character for the `<` of each tag that a client interprets, and of the markers of a step. Every other
/// `<` stays: compilers print types, and a reader must find them in the code. Deceptive characters are escaped.
fn neutralised(text: &str) -> String {
    let is_ours = |rest: &str| OWN_MARKERS.iter().any(|marker| rest.starts_with(marker));
    let mut chars = text.chars();
    let mut out = String::with_capacity(text.len());
    loop {
        let rest = chars.as_str();
        let Some(c) = chars.next() else { return out };
        let before = out.chars().next_back();
        if c == '<' && !is_ours(rest) && means_something(before, chars.as_str()) {
            out.push(NOT_A_TAG);
        } else if is_deceptive(c) && !(is_selector(c) && before.is_some_and(may_vary)) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
}

/// Whether a `<` between these starts a tag that a client interprets, or a marker. A model ignores spaces, case and the kind of
/// dash.
fn means_something(before: Option<char>, after: &str) -> bool {
    let mut after = after.chars().filter(|c| matches!(c, '\n' | '\t') || !is_invisible(*c)).peekable();
    let is_closing = after.peek() == Some(&'/');
    let is_skipped = |c: &char| {
        let is_odd = !c.is_ascii() && !c.is_alphanumeric() && *c != NOT_A_TAG;
        c.is_whitespace() || matches!(c, '/' | '\\') || is_odd
    };
    while after.next_if(is_skipped).is_some() {}
    if after.next_if_eq(&'!').is_some() {
        let is_comment = after.next() == Some('-') && after.next() == Some('-');
        let word: String = after.skip_while(|c| c.is_whitespace()).take(3).collect();
        return is_comment && word.eq_ignore_ascii_case("DES");
    }
    let is_of_name = |c: &char| match *c {
        NOT_A_TAG => false,
        c if c.is_ascii() => c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'),
        c => !c.is_whitespace(),
    };
    let name: String = after.take_while(is_of_name).collect();
    let folded: String =
        name.chars().map(|c| if is_dash(c) { '-' } else { c.to_ascii_lowercase() }).collect();
    if tags::COMPOUND.contains(&folded.as_str()) || folded.starts_with(tags::PREFIX) {
        return true;
    }
    if !folded.is_ascii() {
        // Letters of other alphabets look like Latin ones.
        return folded.contains('-');
    }
    let is_type = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':'));
    tags::SIMPLE.contains(&name.as_str()) && (is_closing || !is_type)
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '_' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}')
}

/// Invisible characters: controls, formats, fillers, and variant selectors. Visible format characters, such as the Arabic number
/// signs, are not among them.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Skips the rest of an escape sequence that starts with this character: CSI up to its final byte, strings (OSC, DCS, …) up to
/// their terminator.
fn skip_escape(start: char, chars: &mut Peekable<Chars<'_>>) {
    let on_this_line = |c: &char| !matches!(c, '\n' | '\r');
    let kind = match start {
        '\u{1b}' => chars.next_if(on_this_line),
        // The single character for a sequence of ESC and another one.
        c1 => char::from_u32(u32::from(c1) - 0x40),
    };
    match kind {
        Some('[') => while chars.next_if(on_this_line).is_some_and(|c| !('@'..='~').contains(&c)) {},
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if matches!(c, '\u{7}' | '\u{9c}') || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
