//! A whole transcript from its start to its end, in bounded memory, however long it is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::Path;

use super::lines::MAX_LINE_BYTES;
use crate::dialect::claude::transcript::{Entry, Line};
use crate::files;

/// How much is read at once. A longer line makes the buffer grow, until it is given back.
const BUFFER_BYTES: usize = 256 << 10;

/// How many names of a kind are remembered, and how many bytes of each.
const MAX_NAMES: usize = 50;
const MAX_NAME_BYTES: usize = 60;

/// What was read, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub bytes: u64,
    pub lines: u64,
    /// Lines that are longer than any that Claude Code writes; they are skipped.
    pub too_long: u64,
    /// Last lines without an end, which were being written, and are not read.
    pub unfinished: u64,
    pub malformed: u64,
    /// Lines that are JSON, and not in the form that this version knows.
    pub other_form: u64,
    /// Lines of kinds that this version does not know, by kind.
    pub unknown: BTreeMap<String, u64>,
    /// Lines by the version of Claude Code that wrote them.
    pub versions: BTreeMap<String, u64>,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.too_long += other.too_long;
        self.unfinished += other.unfinished;
        self.malformed += other.malformed;
        self.other_form += other.other_form;
        for (into, from) in [(&mut self.unknown, &other.unknown), (&mut self.versions, &other.versions)] {
            for (name, lines) in from {
                count(into, name, *lines);
            }
        }
    }

    /// Sentences for what was not read; none if everything was.
    pub fn problems(&self) -> Vec<String> {
        let lines = |n: u64| crate::text::count(n, "line");
        let of = |n: u64, what: &str| (n > 0).then(|| format!("{} {what}", lines(n)));
        let mut found: Vec<String> = [
            of(self.too_long, "over 32 MB skipped"),
            of(self.malformed, "not JSON"),
            of(self.other_form, "in a form that this version does not know"),
            of(self.unfinished, "at the end of a file half-written, and not read"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !self.unknown.is_empty() {
            let kinds: Vec<String> = self.unknown.iter().map(|(kind, n)| format!("{kind} ({n})")).collect();
            found.push(format!(
                "{} of kinds that this version does not know: {}",
                lines(self.unknown.values().sum()),
                kinds.join(", ")
            ));
        }
        found
    }
}

fn count(names: &mut BTreeMap<String, u64>, name: &str, lines: u64) {
    if let Some(known) = names.get_mut(name) {
        *known += lines;
        return;
    }
    let name = if names.len() < MAX_NAMES { name } else { "(others)" };
    let end = name.floor_char_boundary(MAX_NAME_BYTES);
    *names.entry(name.get(..end).unwrap_or_default().to_owned()).or_default() += lines;
}

/// A file that is read line by line, and later on from where it ended.
pub struct Stream<R = File> {
    file: R,
    buffer: Vec<u8>,
    /// What of the buffer was read and not yet given out.
    pending: Range<usize>,
    /// Where in the file the pending part starts.
    position: u64,
    pub counts: Counts,
}

impl Stream {
    /// # Errors
    /// When it is no regular file, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Stream> {
        Stream::open_at(path, 0)
    }

    /// From a position that [`Stream::position`] gave.
    ///
    /// # Errors
    /// When it is no regular file, or cannot be opened.
    pub(crate) fn open_at(path: &Path, position: u64) -> io::Result<Stream> {
        let mut file = files::open_regular(path)?;
        file.seek(SeekFrom::Start(position))?;
        Ok(Stream { position, ..Stream::of(file) })
    }
}

impl<R: Read> Stream<R> {
    pub fn of(file: R) -> Stream<R> {
        Stream { file, buffer: vec![0; BUFFER_BYTES], pending: 0..0, position: 0, counts: Counts::default() }
    }

    /// Where the next line starts. A line that is still being written is read the next time from there.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Gives every line that says what happened, in order.
    ///
    /// # Errors
    /// When the file cannot be read, or the one who takes the lines fails.
    pub fn each(&mut self, mut take: impl FnMut(&Entry<'_>) -> io::Result<()>) -> io::Result<()> {
        self.until(|entry| take(entry).map(ControlFlow::Continue))
    }

    /// The same, until the one who takes the lines has enough.
    ///
    /// # Errors
    /// When the file cannot be read, or the one who takes the lines fails.
    pub fn until(
        &mut self,
        mut take: impl FnMut(&Entry<'_>) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        while let Some(line) = self.next_line()? {
            let line = self.buffer.get(line).unwrap_or_default();
            self.counts.lines += 1;
            match Line::read(line) {
                Line::Entry(entry) => {
                    if let Some(version) = entry.version.text() {
                        count(&mut self.counts.versions, version, 1);
                    }
                    if take(&entry)?.is_break() {
                        return Ok(());
                    }
                }
                Line::Ignored => {}
                Line::Unknown(kind) => count(&mut self.counts.unknown, &kind, 1),
                Line::OtherForm => self.counts.other_form += 1,
                Line::Malformed if line.trim_ascii().is_empty() => {}
                Line::Malformed => self.counts.malformed += 1,
            }
        }
        // What has no end is being written, or never will be finished.
        let rest = self.buffer.get(self.pending.clone()).unwrap_or_default();
        self.counts.unfinished = u64::from(!rest.trim_ascii().is_empty());
        Ok(())
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
                // The buffer grows in steps, so a line may be longer and whole.
                if (end - start) as u64 > MAX_LINE_BYTES {
                    self.counts.too_long += 1;
                    searched = 0;
                    continue;
                }
                return Ok(Some(start..end));
            }
            searched = pending.len();
            if searched as u64 > MAX_LINE_BYTES {
                self.consume(searched);
                searched = 0;
                if !self.skip_line()? {
                    return Ok(None);
                }
                self.counts.too_long += 1;
                continue;
            }
            if self.read_more()? == 0 {
                return Ok(None);
            }
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.pending.start += bytes;
        self.position += bytes as u64;
        self.counts.bytes += bytes as u64;
    }

    /// Reads behind the pending part, which is moved to the start of the buffer; that grows if it is full.
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

    /// Passes over the rest of a line without holding it; whether the line has an end.
    fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            if self.read_more()? == 0 {
                self.counts.too_long += 1;
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

#[cfg(test)]
mod tests;
