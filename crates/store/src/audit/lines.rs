//! The lines of a file, one at a time: a trail of any length is read in the memory of one record.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use conclaude_os::files;

/// What a record holds is bounded, and so is its line: a longer one is none of ours.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;

const BUFFER_BYTES: usize = 64 << 10;

/// A line without its end.
pub(super) struct TrailLine<'a> {
    /// Empty for a line that is too long for a record.
    pub(super) text: Cow<'a, str>,
    /// Where the next one starts in the file.
    pub(super) end: u64,
    /// A record is written with the end of its line: what has none is truncated, or still being written.
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
        // Of a whole text, that it is one is found several times as fast.
        let text = std::str::from_utf8(&self.line)
            .map_or_else(|_| String::from_utf8_lossy(&self.line), Cow::Borrowed);
        Ok(Some(TrailLine { text, end: self.at, is_whole }))
    }

    /// Passes over the rest of a line without holding it; whether the line has an end.
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
