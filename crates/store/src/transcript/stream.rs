//! Reads a whole transcript from start to end, in bounded memory, and counts read and unread lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::Path;

use super::lines::MAX_LINE_BYTES;
use conclaude_core::dialect::claude::transcript::{TranscriptEntry, TranscriptLine};
use conclaude_core::json::{is_whole_line, objects_of_line};
use conclaude_core::text::count;
use conclaude_os::files;

/// The size of one read. A longer line enlarges the buffer until the line is returned.
const BUFFER_BYTES: usize = 256 << 10;

/// Why a line was not read, in words that follow "a line".
const TOO_LONG: &str = "over 32 MB, skipped";
const MALFORMED: &str = "not JSON";
const OTHER_FORM: &str = "in a form that this version does not know";
const UNFINISHED: &str = "half-written at the end of a file, not read";

/// A file that is read line by line. Reading continues later where the file ended.
pub struct Stream<R = File> {
    file: R,
    /// The file's name in messages about its lines.
    name: String,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not yet returned.
    pending: Range<usize>,
    position: LinePosition,
    /// A message may be missing since the last returned line.
    has_gap: bool,
    /// Whether its last line has no end yet.
    is_unfinished: bool,
    pub counts: Counts,
}

/// The start of a line in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinePosition {
    pub byte: u64,
    /// The number of lines before it, if known.
    pub lines: Option<u64>,
}

impl LinePosition {
    pub const START: LinePosition = LinePosition { byte: 0, lines: Some(0) };
}

impl Stream {
    /// # Errors
    /// When it is not a regular file, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Stream> {
        Stream::open_at(path, LinePosition::START)
    }

    /// Opens a file at a position from [`Stream::position`].
    ///
    /// # Errors
    /// When it is not a regular file, or cannot be opened.
    pub fn open_at(path: &Path, position: LinePosition) -> io::Result<Stream> {
        let mut file = files::open_regular(path)?;
        file.seek(SeekFrom::Start(position.byte))?;
        Ok(Stream { position, ..Stream::of(file, path) })
    }
}

impl<R: Read> Stream<R> {
    pub fn of(file: R, path: &Path) -> Stream<R> {
        Stream {
            file,
            name: path.display().to_string(),
            buffer: vec![0; BUFFER_BYTES],
            pending: 0..0,
            position: LinePosition::START,
            has_gap: false,
            is_unfinished: false,
            counts: Counts::default(),
        }
    }

    /// The start of the next line. A half-written line is read again from there.
    pub fn position(&self) -> LinePosition {
        self.position
    }

    /// Whether a message may be missing since the last returned line.
    pub fn has_gap(&self) -> bool {
        self.has_gap || self.is_unfinished
    }

    /// Whether the last line is half-written.
    pub fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// Counts a half-written last line. If the file grows, the line is read once it is complete.
    pub fn at_end(&self) -> Counts {
        let mut counts = Counts::default();
        if self.is_unfinished {
            counts.note(UNFINISHED, &self.name, self.position.lines.map(|lines| lines + 1));
        }
        counts
    }

    /// Counts the last line as not understood.
    fn note(&mut self, what: &str, is_gap: bool) {
        self.has_gap |= is_gap;
        self.counts.note(what, &self.name, self.position.lines);
    }

    /// Calls `take` with every line that tells what happened, in order.
    ///
    /// # Errors
    /// When the file cannot be read, or `take` fails.
    pub fn each(&mut self, mut take: impl FnMut(&TranscriptEntry<'_>) -> io::Result<()>) -> io::Result<()> {
        self.until(|entry| take(entry).map(ControlFlow::Continue))
    }

    /// Like `each`, until `take` breaks.
    ///
    /// # Errors
    /// When the file cannot be read, or `take` fails.
    pub fn until(
        &mut self,
        mut take: impl FnMut(&TranscriptEntry<'_>) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        while let Some(line) = self.next_line()? {
            self.counts.lines += 1;
            if self.read_line(line, self.position.lines, &mut take)?.is_break() {
                return Ok(());
            }
        }
        let rest = self.pending.clone();
        let text = self.buffer.get(rest.clone()).unwrap_or_default();
        // A last line without a line break is complete if its objects are.
        if is_whole_line(text) {
            self.consume(rest.len());
            self.counts.lines += 1;
            // Its line break may still be written, and is counted then.
            return self.read_line(rest, self.position.lines.map(|lines| lines + 1), &mut take).map(drop);
        }
        self.is_unfinished = !text.trim_ascii().is_empty();
        Ok(())
    }

    fn read_line(
        &mut self,
        line: Range<usize>,
        number: Option<u64>,
        mut take: impl FnMut(&TranscriptEntry<'_>) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<ControlFlow<()>> {
        let line = self.buffer.get(line).unwrap_or_default();
        for object in objects_of_line(line) {
            let (unread, is_gap) = match TranscriptLine::read(object) {
                TranscriptLine::Entry(mut entry) => {
                    if let Some(version) = entry.version.text() {
                        self.counts.version(version);
                    }
                    (entry.follows_gap, entry.line) = (self.has_gap, number);
                    let mut last = None;
                    entry.each_unread(|what| {
                        // If a line has the same problem several times, it counts once.
                        if last.as_ref() != Some(&what) {
                            self.counts.note(&what, &self.name, number);
                        }
                        last = Some(what);
                    });
                    // Messages of an agent in between do not show whether this thread has gaps.
                    if entry.progress.is_none() {
                        self.has_gap = last.is_some() && entry.is_message();
                    }
                    if take(&entry)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
                TranscriptLine::Ignored => continue,
                TranscriptLine::Malformed if object.trim_ascii().is_empty() => continue,
                // New kinds come with every version, and are not messages.
                TranscriptLine::Unknown(what) => (what, false),
                TranscriptLine::OtherForm => (OTHER_FORM.into(), true),
                TranscriptLine::Malformed => (MALFORMED.into(), true),
            };
            self.has_gap |= is_gap;
            self.counts.note(&unread, &self.name, number);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The next whole line without its end.
    fn next_line(&mut self) -> io::Result<Option<Range<usize>>> {
        let mut searched = 0;
        loop {
            let pending = self.buffer.get(self.pending.clone()).unwrap_or_default();
            if let Some(at) = pending.get(searched..).and_then(|part| memchr::memchr(b'\n', part)) {
                let start = self.pending.start;
                let end = start + searched + at;
                self.consume(end + 1 - start);
                self.end_line();
                // The buffer grows in steps, so it may hold a complete line above the limit.
                if (end - start) as u64 > MAX_LINE_BYTES {
                    self.note(TOO_LONG, true);
                    searched = 0;
                    continue;
                }
                return Ok(Some(start..end));
            }
            searched = pending.len();
            if searched as u64 > MAX_LINE_BYTES {
                self.consume(searched);
                searched = 0;
                let has_end = self.skip_line()?;
                self.end_line();
                self.note(TOO_LONG, true);
                if !has_end {
                    return Ok(None);
                }
                continue;
            }
            if self.read_more()? == 0 {
                return Ok(None);
            }
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.pending.start += bytes;
        self.position.byte += bytes as u64;
        self.counts.bytes += bytes as u64;
    }

    fn end_line(&mut self) {
        self.position.lines = self.position.lines.map(|lines| lines + 1);
    }

    /// Moves the pending part to the start of the buffer and reads more after it. A full buffer grows.
    fn read_more(&mut self) -> io::Result<usize> {
        if self.pending.is_empty() && self.buffer.len() > BUFFER_BYTES {
            self.buffer = vec![0; BUFFER_BYTES];
            self.pending = 0..0;
        }
        self.buffer.copy_within(self.pending.clone(), 0);
        self.pending = 0..self.pending.len();
        if self.pending.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            let room = self.buffer.get_mut(self.pending.end..).unwrap_or_default();
            match self.file.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.pending.end += read;
                    return Ok(read);
                }
            }
        }
    }

    /// Skips the rest of a line without storing it. Returns whether the line has a line break.
    fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            if self.read_more()? == 0 {
                return Ok(false);
            }
            let pending = self.buffer.get(self.pending.clone()).unwrap_or_default();
            let end = memchr::memchr(b'\n', pending);
            let used = end.map_or(pending.len(), |at| at + 1);
            self.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

/// The limit on stored names of a kind, and on the bytes of each.
const MAX_NAMES: usize = 50;
const MAX_NAME_BYTES: usize = 120;

const OTHER_VERSIONS: &str = "(others)";
const OTHER_WORDS: &str = "with something else that this version does not know";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub bytes: u64,
    pub lines: u64,
    /// Lines by the version of Claude Code that wrote them.
    pub versions: BTreeMap<String, u64>,
    /// Unread lines by reason, in words that follow "a line".
    pub unread: BTreeMap<String, UnreadLines>,
}

/// Lines that were not read for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadLines {
    pub lines: u64,
    /// The file of the first such line, and its line number if known.
    pub first: (String, Option<u64>),
}

impl UnreadLines {
    pub fn first(&self) -> String {
        match &self.first {
            (file, Some(line)) => format!("{file}:{line}"),
            (file, None) => file.clone(),
        }
    }
}

impl Counts {
    pub fn version(&mut self, version: &str) {
        match self.versions.get_mut(version) {
            Some(lines) => *lines += 1,
            None => *entry(&mut self.versions, version, OTHER_VERSIONS) += 1,
        }
    }

    /// A line of this file was not read.
    pub fn note(&mut self, what: &str, file: &str, line: Option<u64>) {
        let known = entry(&mut self.unread, what, OTHER_WORDS);
        if known.lines == 0 {
            known.first = (file.to_owned(), line);
        }
        known.lines += 1;
    }

    pub fn add(&mut self, other: &Counts) {
        self.bytes += other.bytes;
        self.lines += other.lines;
        for (version, lines) in &other.versions {
            *entry(&mut self.versions, version, OTHER_VERSIONS) += lines;
        }
        for (what, unread) in &other.unread {
            self.add_unread(what, unread);
        }
    }

    pub fn add_unread(&mut self, what: &str, unread: &UnreadLines) {
        let known = entry(&mut self.unread, what, OTHER_WORDS);
        if known.lines == 0 || unread.first < known.first {
            known.first.clone_from(&unread.first);
        }
        known.lines += unread.lines;
    }

    /// The number of unread parts.
    pub fn unread(&self) -> u64 {
        self.unread.values().map(|unread| unread.lines).sum()
    }

    /// Whether no line could be read.
    pub fn has_nothing(&self) -> bool {
        self.unread() >= self.lines
    }

    /// Sentences about the unread parts. Empty if everything was read.
    pub fn problems(&self) -> Vec<String> {
        let problem = |(what, unread): (&String, &UnreadLines)| {
            format!("{} {what} (first: {})", count(unread.lines, "line"), unread.first())
        };
        self.unread.iter().map(problem).collect()
    }
}

/// The entry for this name, which may be cut. After `MAX_NAMES` names, all further ones share one entry.
fn entry<'m, T: Default>(names: &'m mut BTreeMap<String, T>, name: &str, others: &str) -> &'m mut T {
    let name = name.get(..name.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or_default();
    let name = if names.len() < MAX_NAMES || names.contains_key(name) { name } else { others };
    names.entry(name.to_owned()).or_default()
}

#[cfg(test)]
mod tests;
