//! Continued lines: a backslash with a line break is removed before anything else is read, even inside a name or an operator.

use std::borrow::Cow;

use crate::syntax::quotes::ansi_c;

/// The text as the shell reads it, if a line is continued inside a token or after it. Elsewhere the parser skips the two characters
/// as blanks.
pub(crate) fn joined(text: &str) -> Cow<'_, str> {
    let is_inside = |(at, _): (usize, &str)| {
        let before = text.get(..at).and_then(|before| before.bytes().next_back());
        !before.is_none_or(|byte| byte.is_ascii_whitespace())
    };
    if text.match_indices("\\\n").any(is_inside) {
        Cow::Owned(Joiner { text, at: 0, out: String::with_capacity(text.len()), ..Joiner::default() }.run())
    } else {
        Cow::Borrowed(text)
    }
}

/// Like `joined`, for a text that is expanded: its quotes and `#` are characters like others, except in its substitutions.
pub(crate) fn joined_in_text(text: &str) -> Cow<'_, str> {
    if !text.contains("\\\n") {
        return Cow::Borrowed(text);
    }
    let joiner = Joiner {
        text,
        at: 0,
        out: String::with_capacity(text.len()),
        parts: vec![Region::Text],
        ..Joiner::default()
    };
    Cow::Owned(joiner.run())
}

/// The body of a here-document with its continued lines joined, also inside of quotes and substitutions.
pub(crate) fn joined_everywhere(text: &str) -> Cow<'_, str> {
    if !text.contains("\\\n") {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some('\n')) => drop(chars.next()),
            ('\\', Some(next)) => {
                joined.extend([c, next]);
                chars.next();
            }
            _ => joined.push(c),
        }
    }
    Cow::Owned(joined)
}

/// What a part of a text is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Region {
    /// Up to this character; up to the end at the outermost level.
    Code(Option<u8>),
    /// `((…))`, in which `<<` is an operator.
    Arithmetic,
    DoubleQuotes,
    /// A whole text that is expanded like the inside of double quotes.
    Text,
}

#[derive(Default)]
struct Joiner<'t> {
    text: &'t str,
    at: usize,
    out: String,
    parts: Vec<Region>,
    /// The ends of here-documents whose bodies start after the line, and whether tabs before them count.
    heredocs: Vec<(String, bool)>,
}

impl Joiner<'_> {
    fn run(mut self) -> String {
        while let Some(byte) = self.peek(0) {
            if byte == b'\\' && self.peek(1) == Some(b'\n') {
                self.at += 2;
                continue;
            }
            match (self.parts.last().copied().unwrap_or(Region::Code(None)), byte) {
                (_, b'\\') => {
                    self.copy(1);
                    self.copy(1);
                }
                (Region::DoubleQuotes, b'"') => self.close(),
                (Region::Text, b'"') => self.copy(1),
                (_, b'"') => self.open(Region::DoubleQuotes),
                (Region::Code(Some(b'`')), b'`') => self.close(),
                (_, b'`') => self.open(Region::Code(Some(b'`'))),
                (_, b'$') if matches!(self.peek(1), Some(b'(' | b'{')) => {
                    self.copy(1);
                    self.bracket();
                }
                (Region::DoubleQuotes | Region::Text, _) => self.copy(1),
                (_, b'\'') => self.single_quotes(),
                (_, b'(') => self.bracket(),
                (Region::Code(Some(end)), byte) if byte == end => self.close(),
                (Region::Arithmetic, b')') => self.close(),
                (Region::Code(_), b'#') if self.is_at_word() => self.copy_line(),
                (Region::Code(_), b'<') if self.rest().starts_with("<<<") => self.copy(3),
                (Region::Code(_), b'<') if self.rest().starts_with("<<") => self.heredoc(),
                (_, b'\n') => {
                    self.copy(1);
                    self.bodies();
                }
                _ => self.copy(1),
            }
        }
        self.out
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Copies characters as they are.
    fn copy(&mut self, count: usize) {
        let length = self.rest().chars().take(count).map(char::len_utf8).sum::<usize>();
        let part = self.text.get(self.at..self.at + length).unwrap_or_default();
        self.out.push_str(part);
        self.at += length;
    }

    fn open(&mut self, part: Region) {
        self.parts.push(part);
        self.copy(1);
    }

    fn close(&mut self) {
        self.parts.pop();
        self.copy(1);
    }

    /// At a `(` or `{` that opens something.
    fn bracket(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (Some(b'('), Some(b'(')) => self.open(Region::Arithmetic),
            (Some(b'('), _) if self.parts.last() == Some(&Region::Arithmetic) => {
                self.open(Region::Arithmetic)
            }
            (Some(b'('), _) => self.open(Region::Code(Some(b')'))),
            _ => self.open(Region::Code(Some(b'}'))),
        }
    }

    fn single_quotes(&mut self) {
        let has_escapes = self.out.ends_with('$');
        self.copy(1);
        while let Some(byte) = self.peek(0) {
            if byte == b'\\' && has_escapes {
                self.copy(1);
            }
            self.copy(1);
            if byte == b'\'' {
                return;
            }
        }
    }

    fn is_at_word(&self) -> bool {
        let is_opened = self.parts.last() == Some(&Region::Code(Some(b'`')));
        self.out.bytes().next_back().is_none_or(|byte| match byte {
            b'`' => is_opened,
            byte => byte.is_ascii_whitespace() || matches!(byte, b';' | b'&' | b'|' | b'(' | b')'),
        })
    }

    fn copy_line(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.copy_bytes(length);
    }

    /// At `<<`: the word that ends the body.
    fn heredoc(&mut self) {
        self.copy(2);
        let strips_tabs = self.peek(0) == Some(b'-');
        if strips_tabs {
            self.copy(1);
        }
        let mut end = String::new();
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' if self.peek(1) == Some(b'\n') => self.at += 2,
                b' ' | b'\t' if end.is_empty() => self.copy(1),
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'$' if self.peek(1) == Some(b'\'') => {
                    let (text, length) = ansi_c(self.rest().get(2..).unwrap_or_default()).unwrap_or_default();
                    end.push_str(&text);
                    self.copy_bytes(length + 2);
                }
                b'\'' | b'"' => end.push_str(&self.quoted_part(byte)),
                b'\\' => {
                    self.copy(1);
                    end.push_str(&self.copied(1));
                }
                _ => end.push_str(&self.copied(1)),
            }
        }
        self.heredocs.push((end, strips_tabs));
    }

    /// Copies a quoted part and returns it without its quotes.
    fn quoted_part(&mut self, quote: u8) -> String {
        self.copy(1);
        let mut part = String::new();
        while let Some(byte) = self.peek(0) {
            if byte == quote {
                self.copy(1);
                break;
            }
            if byte == b'\\' && quote == b'"' && matches!(self.peek(1), Some(b'"' | b'\\' | b'$' | b'`')) {
                self.copy(1);
            }
            part.push_str(&self.copied(1));
        }
        part
    }

    /// Copies characters as they are, and returns them.
    fn copied(&mut self, count: usize) -> String {
        let start = self.out.len();
        self.copy(count);
        self.out.get(start..).unwrap_or_default().to_owned()
    }

    fn copy_bytes(&mut self, length: usize) {
        let count = self.rest().get(..length).unwrap_or_default().chars().count();
        self.copy(count);
    }

    /// The bodies of the here-documents that the last line announced. The parser itself joins their continued lines.
    fn bodies(&mut self) {
        for (end, strips_tabs) in std::mem::take(&mut self.heredocs) {
            while self.at < self.text.len() {
                let line = self.rest().split('\n').next().unwrap_or_default();
                let is_end = if strips_tabs { line.trim_start_matches('\t') == end } else { line == end };
                self.copy_line();
                self.copy(1);
                if is_end {
                    break;
                }
            }
        }
    }
}

impl Default for Region {
    fn default() -> Region {
        Region::Code(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on_everywhere_but_in_single_quotes_comments_and_here_documents() {
        for (text, expected) in [
            ("x\\\n=1; ca\\\nt $\\\nx", "x=1; cat $x"),
            ("a \\\n  b", "a \\\n  b"),
            ("true &\\\n& 'a\\\nb' \"c\\\nd\"", "true && 'a\\\nb' \"cd\""),
            ("x # a\\\nb\\\nc", "x # a\\\nbc"),
            ("cat <<'E'\na\\\nb\nE\nc\\\nd", "cat <<'E'\na\\\nb\nE\ncd"),
            ("m \"$(cat <<'E'\nit's a\\\nb\nE\n)\"\nc\\\nd", "m \"$(cat <<'E'\nit's a\\\nb\nE\n)\"\ncd"),
            ("echo \"$(echo 'a\\\nb')\" c\\\nd", "echo \"$(echo 'a\\\nb')\" cd"),
            ("echo $((1 << 2)) c\\\nd", "echo $((1 << 2)) cd"),
            ("echo $'a\\'\\\nb' c\\\nd", "echo $'a\\'\\\nb' cd"),
            ("e\\\\\nx y\\\nz", "e\\\\\nx yz"),
            ("for x\\\n in a", "for x in a"),
            ("`a`#b\\\nc `#a\\\nb`", "`a`#bc `#a\\\nb`"),
            ("cat <<$'E\\x46'\nx\\\ny\nEF\na\\\nb", "cat <<$'E\\x46'\nx\\\ny\nEF\nab"),
            ("cat <<'E F'\nx\nE F\na\\\nb", "cat <<'E F'\nx\nE F\nab"),
            ("cat <<\"E\\\"F\"\nx\nE\"F\na\\\nb", "cat <<\"E\\\"F\"\nx\nE\"F\nab"),
        ] {
            assert_eq!(joined(text), expected, "{text:?}");
        }
    }
}
