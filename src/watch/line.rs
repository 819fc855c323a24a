//! One line of activity: cleaned and of bounded length.

use jiff::Timestamp;

use conclaude_core::text::{printable, printable_line};

/// The longest text of a line, and of one of its details, in characters.
pub(super) const MAX_TEXT: usize = 300;
pub(super) const MAX_DETAIL: usize = 2_000;

/// The mark of a line, in addition to its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Good,
    Bad,
    Warning,
    Running,
    Quiet,
    None,
}

/// Something that happened in a thread.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ActivityLine {
    pub(super) number: u64,
    pub(super) time: Timestamp,
    pub(super) mark: Mark,
    pub(super) text: String,
    /// How long it took, if that is known.
    pub(super) took: Option<i64>,
    pub(super) details: Details,
    /// The lines below it: its commands.
    pub(super) parts: Vec<Part>,
    /// The tool call that it is about.
    pub(super) call: Option<String>,
    /// Whether it is from a transcript: a record of the same call says more.
    pub(super) is_said: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) mark: Mark,
    pub(super) text: String,
    pub(super) took: Option<i64>,
}

/// The details of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Details {
    Known(Vec<Detail>),
    /// The record as written, and why it was tampered with.
    Record(Box<str>, Option<Box<str>>),
}

/// A named value of the details. Without a name, a continued text.
pub(super) type Detail = (&'static str, String);

/// A foreign text on one line, cleaned and cut to `max` characters.
pub(super) fn cut(text: &str, max: usize) -> String {
    shorten(printable_line(start(text, max)), max)
}

/// Like `cut`, with its lines.
pub(super) fn cut_lines(text: &str, max: usize) -> String {
    shorten(printable(start(text, max)).replace('\t', " "), max)
}

/// The rest is cut in any case, and need not be cleaned.
fn start(text: &str, max: usize) -> &str {
    text.char_indices().nth(max * 8).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn shorten(text: String, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
