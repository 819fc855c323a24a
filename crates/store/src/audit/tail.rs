//! The tail of a file of the trail: its last whole record, repaired where a killed process left half of another.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::chain::ChainLink;
use super::lines::MAX_LINE_BYTES;
use super::pending::MAX_BATCH_BYTES;
use super::trail::{TRUNCATED, Trail, name_of};
use conclaude_os::files;

/// How much of a file is read for its last record: nearly always the first is enough, however long the trail is.
const TAIL_BYTES: [u64; 3] = [2 << 10, 64 << 10, MAX_LINE_BYTES as u64 * 2];

/// Room for all records that may have been written at once.
const BATCH_BYTES: u64 = MAX_BATCH_BYTES as u64 * 2;

/// A file of the trail, open for more.
pub(super) struct Tail {
    pub(super) file: File,
    pub(super) name: String,
    pub(super) bytes: u64,
    /// Number and hash of the last record, if the last line is one.
    pub(super) last: Option<(u64, String)>,
}

impl Trail {
    /// The tail of a file, repaired; none if there is no such file.
    pub(super) fn tail(&self, path: &Path) -> io::Result<Option<Tail>> {
        let mut options = files::no_links();
        // Appending alone keeps what others wrote, should one have removed the lock. On Windows it could not be cut.
        match options.read(true).write(true).append(cfg!(unix)).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => self.repaired(file?, path).map(Some),
        }
    }

    /// The same of a file that is created if need be.
    pub(super) fn new_tail(&self, name: &str) -> io::Result<Tail> {
        let path = self.folder.join(name);
        let mut options = files::no_links();
        let file =
            options.read(true).write(true).append(cfg!(unix)).create(true).truncate(false).open(&path)?;
        self.repaired(file, &path)
    }

    fn repaired(&self, mut file: File, path: &Path) -> io::Result<Tail> {
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        files::make_private(path);
        let mut end = ByteRange::last_record_of(&mut file)?;
        let whole = end.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut bytes = end.start + whole as u64;
        let mut last = None;
        if whole == 0 && end.start > 0 {
            // No record is that long: someone else wrote this. It stays, for `verify` to name it.
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

    /// The number of the last record that can be read, as the files are.
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

    /// The last line of a file: where it starts, and the line before it. None if it has none, or they are longer than records.
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
    /// The end of the file, in which all is that may have been written at once.
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
    /// Where in the file they start.
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

    /// The last line that is whole at both ends.
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
