//! The data that commands pass to each other: one prints it and another reads it, as far as it is known.

use std::ops::Range;
use std::rc::Rc;

use crate::analysis::field::{FOUND, Field, FieldBuilder, FieldKind};
use crate::{Access, Quoting, Target};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum Stream {
    #[default]
    Nothing,
    /// The input of the whole command. None of its own commands chose it.
    Inherited,
    Text(Rc<PrintedText>),
    /// The content of a file that existed before. It is not read.
    File,
    /// Like `File`, but the file is a copy of the one at this path, or a link to it.
    Copy(Rc<str>),
    /// One file per line.
    Files(Vec<Target>),
    /// Each line starts with a hash and a blank.
    HashLines,
    /// Each line starts with the name of one of these files and a colon.
    FileLines(Vec<Target>),
    Unknown,
}

/// A text that is printed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PrintedText {
    /// Literal, or with unknown parts.
    pub(crate) text: Field,
    /// Whether unknown text is printed too.
    pub(crate) and_more: bool,
    /// Whether it is printed once and in this order: not in one branch of several, and not in a loop.
    pub(crate) is_exact: bool,
}

/// The effects of redirections, before the command is known.
#[derive(Debug, Default)]
pub(crate) struct RedirectionEffects {
    pub(crate) touched: Vec<(Access, Field)>,
    pub(crate) input: Option<Stream>,
    /// The file that the standard input is read from.
    pub(crate) input_file: Option<Field>,
    pub(crate) to_file: bool,
    /// The files that receive the standard output, and whether it is appended.
    pub(crate) output: Vec<(Field, bool)>,
    /// Files that are opened for writing with another descriptor.
    pub(crate) opened: Vec<Field>,
    /// Whether another descriptor is opened for reading.
    pub(crate) opens_input: bool,
    /// Whether the standard output goes elsewhere.
    pub(crate) leaves: bool,
}

impl Stream {
    pub(crate) fn text(text: Field) -> Stream {
        Stream::Text(Rc::new(PrintedText { text, and_more: false, is_exact: true }))
    }

    /// Adds what is printed after it.
    pub(crate) fn add(&mut self, more: Stream) {
        *self = match (std::mem::take(self), more) {
            (Stream::Nothing, more) => more,
            (before, Stream::Nothing) => before,
            (Stream::Text(mut before), Stream::Text(more)) => {
                Rc::make_mut(&mut before).append(&more);
                Stream::Text(before)
            }
            (Stream::File, Stream::File) => Stream::File,
            (Stream::Files(mut files), Stream::Files(more)) => {
                files.extend(more.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>());
                Stream::Files(files)
            }
            (Stream::Text(mut text), _) | (_, Stream::Text(mut text)) => {
                Rc::make_mut(&mut text).and_more = true;
                Stream::Text(text)
            }
            _ => Stream::Unknown,
        }
    }

    /// Either this or another one.
    pub(crate) fn or(self, other: Stream) -> Stream {
        match (self, other) {
            (one, other) if one == other => one,
            (Stream::Nothing | Stream::Inherited, other) | (other, Stream::Nothing | Stream::Inherited) => {
                other
            }
            _ => Stream::Unknown,
        }
    }

    /// It may not be printed at all, or more than once.
    pub(crate) fn blur(&mut self) {
        if let Stream::Text(printed) = self {
            Rc::make_mut(printed).is_exact = false;
        }
    }

    /// Like `exactly`, but for output that may not be printed at all: the text that it is when it is printed once.
    pub(crate) fn if_printed(&self) -> Option<Field> {
        let mut output = self.clone();
        if let Stream::Text(printed) = &mut output {
            Rc::make_mut(printed).is_exact = true;
        }
        if output == Stream::Nothing { None } else { output.exactly() }
    }

    /// The whole output, if it is known, without the line breaks at its end.
    pub(crate) fn exactly(&self) -> Option<Field> {
        match self {
            Stream::Nothing => Some(Field::literal("")),
            Stream::Text(printed) if printed.is_exact && !printed.and_more => {
                let mut text = printed.text.clone();
                text.text.truncate(text.text.trim_end_matches('\n').len());
                Some(text)
            }
            _ => None,
        }
    }
}

impl PrintedText {
    fn append(&mut self, more: &PrintedText) {
        let at = self.text.text.len();
        self.text.text.push_str(&more.text.text);
        let moved = |(part, quoting): &(Range<usize>, Quoting)| (part.start + at..part.end + at, *quoting);
        self.text.holes.extend(more.text.holes.iter().map(moved));
        if more.text.kind == FieldKind::Unknown {
            self.text.kind = FieldKind::Unknown;
        }
        self.and_more |= more.and_more;
        self.is_exact &= more.is_exact;
    }
}

/// Words as one text. Parts of it may be unknown.
pub(crate) fn joined<'f>(words: impl IntoIterator<Item = &'f Field>, separator: &str) -> Field {
    joined_by(words, &Field::literal(separator))
}

/// Like `joined`, but the separator may be unknown.
pub(crate) fn joined_by<'f>(words: impl IntoIterator<Item = &'f Field>, separator: &Field) -> Field {
    let mut partial = FieldBuilder::default();
    for (index, word) in words.into_iter().enumerate() {
        if index > 0 {
            partial.value(separator);
        }
        match word.kind {
            FieldKind::Literal | FieldKind::Unknown => partial.value(word),
            FieldKind::Glob if is_sentence(word) => {
                let at = word.text.find(['*', '?', '[', '\\']).unwrap_or(word.text.len());
                let (start, pattern) = word.text.split_at(at);
                partial.quoted(start);
                partial.unknown(pattern, Quoting::Bare);
            }
            FieldKind::Glob | FieldKind::Tree => partial.unknown(&word.shown(), Quoting::Bare),
        }
    }
    partial.finish(false)
}

/// Whether a word with a pattern has several words in quotes. Whether or not it matches a file, what is printed starts like it:
/// `'.shell rm '[a]`.
fn is_sentence(word: &Field) -> bool {
    word.kind == FieldKind::Glob && word.text.contains(char::is_whitespace)
}

/// The parts of a text between separators. Unknown parts have no separators.
pub(crate) fn split(text: &Field, is_separator: impl Fn(char) -> bool) -> Vec<Field> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut holes = text.holes.iter().peekable();
    for (at, c) in text.text.char_indices().chain([(text.text.len(), '\0')]) {
        while holes.next_if(|(hole, _)| hole.end <= at).is_some() {}
        let is_unknown = holes.peek().is_some_and(|(hole, _)| hole.contains(&at));
        let is_end = at == text.text.len();
        if !is_end && (is_unknown || !is_separator(c)) {
            continue;
        }
        if at > start {
            parts.push(part(text, start..at));
        }
        start = at + c.len_utf8();
    }
    parts
}

pub(crate) fn part(text: &Field, range: Range<usize>) -> Field {
    let inside = |(hole, _): &&(Range<usize>, Quoting)| hole.start >= range.start && hole.end <= range.end;
    let moved = |(hole, quoting): &(Range<usize>, Quoting)| {
        (hole.start - range.start..hole.end - range.start, *quoting)
    };
    let holes: Vec<_> = text.holes.iter().filter(inside).map(moved).collect();
    let kind = if holes.is_empty() { FieldKind::Literal } else { FieldKind::Unknown };
    Field { holes, ..Field::new(text.text.get(range).unwrap_or_default(), kind) }
}

/// Words as names of files. Some words stand for several files.
pub(crate) fn files(words: &[Field]) -> Option<Stream> {
    let file = |word: &Field| match word.kind {
        FieldKind::Literal if !word.text.contains(char::is_whitespace) => {
            Some(Target::Path(word.text.clone()))
        }
        FieldKind::Glob if !word.shown().contains('$') && !is_sentence(word) => {
            Some(Target::Glob(word.text.clone()))
        }
        FieldKind::Tree if word.text == WORK_TREE => Some(Target::WorkTree),
        FieldKind::Tree => Some(Target::Tree(word.text.clone())),
        _ => None,
    };
    if words.iter().all(Field::is_literal) {
        return None;
    }
    Some(Stream::Files(words.iter().map(file).collect::<Option<Vec<Target>>>()?))
}

/// The word for the files of the work tree. No path is written so.
pub const WORK_TREE: &str = ":/";

/// The word for what a search finds below an unknown directory. Reading it is like any search.
pub(crate) const SEARCHED: &str = "what the search finds";

/// What a search found, as a word.
pub(crate) fn found(target: &Target) -> Field {
    match target {
        Target::Path(path) => Field::literal(path.as_str()),
        Target::Glob(pattern) => Field::new(pattern.as_str(), FieldKind::Glob),
        Target::Tree(root) => Field::new(root.as_str(), FieldKind::Tree),
        Target::WorkTree => Field::new(WORK_TREE, FieldKind::Tree),
        Target::Unknown(text) if text == SEARCHED => Field::unknown(SEARCHED),
        Target::Into { .. }
        | Target::Among { .. }
        | Target::Somewhere { .. }
        | Target::Trees(_)
        | Target::Unknown(_) => Field::unknown(FOUND),
    }
}
