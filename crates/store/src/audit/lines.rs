//! The lines of a file of the trail, one at a time: a trail of any length is read in the memory of one record. A last line that a
//! killed process left unfinished is repaired.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::append::MAX_BATCH_BYTES;
use super::chain::ChainLink;
use super::trail::{TRUNCATED, Trail, name_of};
use conclaude_os::files::{self, FileError};

/// The size of a record is bounded: a longer line is not ours.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;

const BUFFER_BYTES: usize = 64 << 10;

/// A line without its end.
pub(super) struct TrailLine<'a> {
    /// Empty for a line that is too long for a record.
    pub(super) text: Cow<'a, str>,
    /// The position of the next line in the file.
    pub(super) end: u64,
    /// Whether the line has its line break. Without one it is truncated, or still being written.
    pub(super) is_whole: bool,
}

pub(super) struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    at: u64,
}

impl Lines {
    pub(super) fn open(path: &Path, offset: u64) -> io::Result<Lines> {
        let mut file = files::open_regular(path)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(Lines { reader: BufReader::with_capacity(BUFFER_BYTES, file), line: Vec::new(), at: offset })
    }

    /// The next line; none at the end of the file.
    pub(super) fn next(&mut self) -> io::Result<Option<TrailLine<'_>>> {
        self.line.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = (&mut self.reader).take(limit).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        let mut is_whole = self.line.last() == Some(&b'\n');
        self.at += read as u64;
        if is_whole {
            self.line.pop();
        } else if read as u64 == limit {
            self.line.clear();
            is_whole = self.skip_rest()?;
        }
        // Validating the whole text first is several times as fast as converting it.
        let text = std::str::from_utf8(&self.line)
            .map_or_else(|_| String::from_utf8_lossy(&self.line), Cow::Borrowed);
        Ok(Some(TrailLine { text, end: self.at, is_whole }))
    }

    /// Skips the rest of a line without storing it. Returns whether the line has a line break.
    fn skip_rest(&mut self) -> io::Result<bool> {
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let newline = memchr::memchr(b'\n', buffer);
            let used = newline.map_or(buffer.len(), |at| at + 1);
            self.reader.consume(used);
            self.at += used as u64;
            if newline.is_some() {
                return Ok(true);
            }
        }
    }
}

/// How much of a file is read for its last record. The first size is nearly always enough.
const TAIL_BYTES: [u64; 3] = [2 << 10, 64 << 10, MAX_LINE_BYTES as u64 * 2];

/// Room for all records that may have been written at once.
const BATCH_BYTES: u64 = MAX_BATCH_BYTES as u64 * 2;

/// A file of the trail, open for appending.
pub(super) struct Tail {
    pub(super) file: File,
    pub(super) name: String,
    pub(super) bytes: u64,
    /// Number and hash of the last record, if the last line is one.
    pub(super) last: Option<(u64, String)>,
}

impl Trail {
    /// The tail of a file, repaired. `None` if there is no such file.
    pub(super) fn tail(&self, path: &Path) -> io::Result<Option<Tail>> {
        let mut options = files::no_links();
        // If someone removed the lock, appending does not overwrite what others wrote. Windows cannot truncate a file in this mode.
        match options.read(true).write(true).append(cfg!(unix)).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => self.repaired(file?, path).map(Some),
        }
    }

    /// Like `tail`, but creates a missing file.
    pub(super) fn new_tail(&self, name: &str) -> io::Result<Tail> {
        let path = self.folder.join(name);
        let mut options = files::no_links();
        let file =
            options.read(true).write(true).append(cfg!(unix)).create(true).truncate(false).open(&path)?;
        self.repaired(file, &path)
    }

    fn repaired(&self, mut file: File, path: &Path) -> io::Result<Tail> {
        if !file.metadata()?.is_file() {
            return Err(FileError::NotRegular.into());
        }
        files::make_private(path);
        let mut end = ByteRange::last_record_of(&mut file)?;
        let whole = end.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut bytes = end.start + whole as u64;
        let mut last = None;
        if whole == 0 && end.start > 0 {
            // No record is that long: someone else wrote this. It stays, and `verify` reports it.
            bytes = file.seek(SeekFrom::End(0))? + 1;
            file.write_all(b"\n")?;
        } else {
            let truncated = end.bytes.split_off(whole);
            if !truncated.is_empty() {
                self.quarantine(truncated)?;
                file.set_len(bytes)?;
            }
            file.seek(SeekFrom::End(0))?;
            last = end.last_line().and_then(ChainLink::read).map(|link| (link.seq, link.hash.to_owned()));
        }
        Ok(Tail { file, name: name_of(path).unwrap_or_default().to_owned(), bytes, last })
    }

    /// The number of the last readable record in the files.
    pub(super) fn last_in_files(&self) -> io::Result<u64> {
        for number in self.files()?.into_iter().rev() {
            let recent =
                ByteRange::tail_of(&mut files::open_regular(&self.file(number))?, BATCH_BYTES)?.bytes;
            if let Some((seq, _)) = last_record_in(&recent) {
                return Ok(seq);
            }
        }
        Ok(0)
    }

    /// The position of the last line of a file, and the line before it. `None` if there is none, or if they are too long.
    pub(super) fn last_two(&self, number: u64) -> io::Result<Option<(u64, Option<String>)>> {
        let mut file = files::open_regular(&self.file(number))?;
        for size in TAIL_BYTES.map(|size| size * 2) {
            let ByteRange { start, bytes } = ByteRange::tail_of(&mut file, size)?;
            let newline = |end: usize| bytes.get(..end)?.iter().rposition(|byte| *byte == b'\n');
            let Some(end) = newline(bytes.len()) else { continue };
            let (from, before) = match newline(end) {
                Some(at) => (at + 1, Some((newline(at), at))),
                None => (0, None),
            };
            let is_cut = start > 0 && before.is_none_or(|(newline, _)| newline.is_none());
            if !is_cut {
                let line =
                    |(newline, at): (Option<usize>, usize)| bytes.get(newline.map_or(0, |at| at + 1)..at);
                let line = before.and_then(line).map(|line| String::from_utf8_lossy(line).into_owned());
                return Ok(Some((start + from as u64, line)));
            }
        }
        Ok(None)
    }

    fn quarantine(&self, mut truncated: Vec<u8>) -> io::Result<()> {
        truncated.push(b'\n');
        let path = self.folder.join(TRUNCATED);
        files::no_links().append(true).create(true).open(path)?.write_all(&truncated)
    }
}

impl Tail {
    /// The end of the file, with all records of the last write.
    pub(super) fn recent(&mut self) -> io::Result<Vec<u8>> {
        let recent = ByteRange::tail_of(&mut self.file, BATCH_BYTES)?.bytes;
        self.file.seek(SeekFrom::End(0))?;
        Ok(recent)
    }

    /// The last record that can be read in a damaged file.
    pub(super) fn last_readable(&mut self) -> io::Result<Option<(u64, String)>> {
        Ok(last_record_in(&self.recent()?))
    }
}

fn last_record_in(lines: &[u8]) -> Option<(u64, String)> {
    lines.split(|byte| *byte == b'\n').rev().find_map(|line| {
        let link = ChainLink::read(std::str::from_utf8(line).ok()?)?;
        Some((link.seq, link.hash.to_owned()))
    })
}

struct ByteRange {
    /// Their position in the file.
    start: u64,
    bytes: Vec<u8>,
}

impl ByteRange {
    fn tail_of(file: &mut File, size: u64) -> io::Result<ByteRange> {
        let length = file.metadata()?.len();
        let size = size.min(length);
        let start = length - size;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(size).read_to_end(&mut bytes)?;
        Ok(ByteRange { start, bytes })
    }

    /// Enough to hold the last record, if there is one.
    fn last_record_of(file: &mut File) -> io::Result<ByteRange> {
        let mut tail = ByteRange { start: 0, bytes: Vec::new() };
        for size in TAIL_BYTES {
            tail = ByteRange::tail_of(file, size)?;
            if tail.start == 0 || tail.last_line().and_then(ChainLink::read).is_some() {
                break;
            }
        }
        Ok(tail)
    }

    /// The last complete line.
    fn last_line(&self) -> Option<&str> {
        let newline = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n');
        let lines = self.bytes.get(..newline(&self.bytes)?)?;
        let from = match newline(lines) {
            Some(at) => at + 1,
            None if self.start == 0 => 0,
            None => return None,
        };
        std::str::from_utf8(lines.get(from..)?).ok()
    }
}
