//! The only access of subcommands to stdout and stderr. A message may contain foreign text (names, paths, patterns, reasons), so
//! all of it is cleaned, except for marked parts of ours: colours and literals.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstyle::Style;
use serde::Serialize;

use conclaude_core::text::{escaped_json, is_plain, printable, printable_untagged};

/// How much of a long output is written at once.
const BUFFER_BYTES: usize = 64 << 10;

thread_local! {
    /// Whether the text that is now being formatted is ours. It cannot be passed: `Display` has no other way to tell it to the writer.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

/// Formats something as ours. In a text that `format!` made earlier, it is cleaned like all the rest.
fn ours(format: impl FnOnce() -> fmt::Result) -> fmt::Result {
    let before = IS_OURS.replace(true);
    let done = format();
    IS_OURS.set(before);
    done
}

/// A colour: `{GOOD}` switches it on, `{GOOD:#}` off.
#[derive(Clone, Copy)]
pub(super) struct Paint(pub(super) Style);

impl fmt::Display for Paint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ours(|| fmt::Display::fmt(&self.0, f))
    }
}

/// A text of ours that would otherwise be cleaned as a tag.
#[derive(Clone, Copy)]
pub(super) struct LiteralText(pub(super) &'static str);

impl fmt::Display for LiteralText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ours(|| f.write_str(self.0))
    }
}

/// A text in which only the colours are ours. A renderer added them after it had made other escapes visible.
pub(super) struct ColouredText<'a>(pub(super) &'a str);

impl fmt::Display for ColouredText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.0.split("\u{1b}[");
        f.write_str(parts.next().unwrap_or_default())?;
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
            match part.get(end..).and_then(|rest| rest.strip_prefix('m')) {
                Some(text) => {
                    let colour = part.get(..end).unwrap_or_default();
                    ours(|| write!(f, "\u{1b}[{colour}m"))?;
                    f.write_str(text)?;
                }
                None => f.write_str(part)?,
            }
        }
        Ok(())
    }
}

/// A foreign text in which every visible character matters, such as a line of a diff. Its tags stay, even if a model may read it.
pub(super) struct ExactText<'a>(pub(super) &'a str);

impl fmt::Display for ExactText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ours(|| f.write_str(&printable(self.0)))
    }
}

/// Stdout or stderr. Colours are removed if it does not show them.
pub(super) struct Out<'a> {
    to: Box<dyn Write + 'a>,
    /// Whether the reader is a user: only a model interprets tags.
    keeps_tags: bool,
    /// The current message, before and after it is cleaned.
    parts: MessageParts,
    cleaned: String,
}

#[expect(clippy::disallowed_methods, reason = "this is what all others use instead")]
impl Out<'_> {
    pub(super) fn stdout() -> Out<'static> {
        Out::of(anstream::stdout(), io::stdout().is_terminal())
    }

    /// For many lines, which are written together. `flush` writes the last ones.
    pub(super) fn buffered_stdout() -> Out<'static> {
        let to = BufWriter::with_capacity(BUFFER_BYTES, anstream::stdout());
        Out::of(to, io::stdout().is_terminal())
    }

    pub(super) fn stderr() -> Out<'static> {
        Out::of(anstream::stderr(), io::stderr().is_terminal())
    }

    pub(super) fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    pub(super) fn stderr_is_terminal() -> bool {
        io::stderr().is_terminal()
    }

    /// Whether stdout is a terminal that shows colours.
    pub(super) fn shows_colours() -> bool {
        let stdout = io::stdout();
        stdout.is_terminal() && anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never
    }
}

impl<'a> Out<'a> {
    #[cfg(test)]
    pub(super) fn to(text: &'a mut Vec<u8>) -> Out<'a> {
        Out::of(anstream::StripStream::new(text), false)
    }

    fn of(to: impl Write + 'a, keeps_tags: bool) -> Out<'a> {
        Out { to: Box::new(to), keeps_tags, parts: MessageParts::default(), cleaned: String::new() }
    }

    /// `write!` and `writeln!` call this.
    pub(super) fn write_fmt(&mut self, message: fmt::Arguments<'_>) -> io::Result<()> {
        self.parts.clear();
        fmt::Write::write_fmt(&mut self.parts, message).map_err(io::Error::other)?;
        self.cleaned.clear();
        self.parts.clean_into(self.keeps_tags, &mut self.cleaned);
        self.to.write_all(self.cleaned.as_bytes())
    }

    /// Whether foreign tags are shown unchanged.
    pub(super) fn keeps_tags(&self) -> bool {
        self.keeps_tags
    }

    /// A value as JSON, without anything dangerous for a terminal or a model.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let json = serde_json::to_string_pretty(value)?;
        self.json_text(&json)
    }

    /// A line that is already JSON.
    pub(super) fn json_text(&mut self, json: &str) -> io::Result<()> {
        self.to.write_all(format!("{}\n", escaped_json(json)).as_bytes())
    }

    /// A document without foreign text: a schema, a script, a help text.
    pub(super) fn document(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())
    }

    /// Like `document`, for a document that is too large for memory. It is escaped while it is written.
    pub(super) fn document_of(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        write(&mut self.to)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A message, and the ends of its parts, each with whether it is ours.
#[derive(Default)]
struct MessageParts {
    text: String,
    ends: Vec<(bool, usize)>,
}

impl fmt::Write for MessageParts {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_ours = IS_OURS.get();
        self.text.push_str(text);
        match self.ends.last_mut() {
            Some((of_last, end)) if *of_last == is_ours => *end = self.text.len(),
            _ => self.ends.push((is_ours, self.text.len())),
        }
        Ok(())
    }
}

impl MessageParts {
    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    fn clean_into(&self, keeps_tags: bool, out: &mut String) {
        let mut start = 0;
        for (is_ours, end) in &self.ends {
            let text = self.text.get(start..*end).unwrap_or_default();
            start = *end;
            if *is_ours || is_plain(text) {
                out.push_str(text);
            } else if keeps_tags {
                out.push_str(&printable(text));
            } else {
                out.push_str(&closed(printable_untagged(text)));
            }
        }
    }
}

/// A bracket at the end would form a tag with the following text.
fn closed(mut text: String) -> String {
    if text.ends_with('<') {
        text.pop();
        text.push('‹');
    }
    text
}

/// Prints aligned columns; the first row is the heading.
pub(super) fn table<const N: usize>(
    out: &mut Out<'_>,
    rows: &[[String; N]],
    heading: Paint,
) -> io::Result<()> {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = cells.join("  ");
        match number {
            0 => writeln!(out, "{heading}{}{heading:#}", line.trim_end())?,
            _ => writeln!(out, "{}", line.trim_end())?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;

    use super::*;

    const GOOD: Paint = Paint(AnsiColor::Green.on_default());

    fn cleaned(message: fmt::Arguments<'_>) -> String {
        let (mut parts, mut cleaned) = (MessageParts::default(), String::new());
        fmt::Write::write_fmt(&mut parts, message).unwrap();
        parts.clean_into(false, &mut cleaned);
        cleaned
    }

    #[test]
    fn colours_are_ours_and_the_same_escapes_in_a_text_are_not() {
        let name = "\u{1b}[32mgreen\u{1b}[0m";
        assert_eq!(cleaned(format_args!("{GOOD}✓{GOOD:#} {name}")), "\u{1b}[32m✓\u{1b}[0m green");
        let made_before = format!("{GOOD}{name}{GOOD:#}");
        assert_eq!(cleaned(format_args!("{made_before}")), "green");
    }

    #[test]
    fn a_tag_is_none_whatever_parts_it_is_made_of() {
        let (open, name) = ("<", "system-reminder>");
        assert_eq!(cleaned(format_args!("{open}{name}")), "‹system-reminder>");
        assert_eq!(cleaned(format_args!("{open}{GOOD}{name}")), "‹\u{1b}[32msystem-reminder>");
        assert_eq!(cleaned(format_args!("{} x -->", LiteralText("<!--"))), "<!-- x -->");
    }

    #[test]
    fn of_a_rendered_text_the_colours_alone_are_kept() {
        let text = "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: <system-reminder> \u{1b}[2J\u{1b}]0;t\u{7}.";
        assert_eq!(
            cleaned(format_args!("{}", ColouredText(text))),
            "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: ‹system-reminder> 2J."
        );
    }
}
