//! The lines of files that may be of any size: from either end, in pieces, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::Path;

use crate::{files, log};

/// How far back a call is searched for. What started a subagent that is stopping now is near the end.
const WINDOW: u64 = 8 << 20;
pub(super) const CHUNK: u64 = 256 << 10;

/// Claude Code writes no longer lines.
pub(super) const MAX_LINE_BYTES: u64 = 32 << 20;

/// The first lines of a file, read no further than needed.
pub(super) fn first_lines(path: &Path) -> io::Result<impl Iterator<Item = Vec<u8>>> {
    let file = files::open_regular(path)?;
    let reader = io::BufReader::with_capacity(16 << 10, file.take(WINDOW));
    Ok(BufRead::split(reader, b'\n').map_while(Result::ok))
}

/// Whether a file contains this; it is read in pieces.
pub(super) fn holds(file: &mut impl Read, needle: &[u8]) -> bool {
    let mut buffer = vec![0; 256 << 10];
    let mut kept = 0;
    loop {
        let Some(room) = buffer.get_mut(kept..) else { return false };
        let end = match file.read(room) {
            Ok(0) => return false,
            Ok(read) => kept + read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return false,
        };
        if memchr::memmem::find(buffer.get(..end).unwrap_or_default(), needle).is_some() {
            return true;
        }
        // It may start at the end of this piece.
        let from = end.saturating_sub(needle.len().saturating_sub(1));
        buffer.copy_within(from..end, 0);
        kept = end - from;
    }
}

/// The next line, none at the end. Of one that is too long only the start, with a warning: the rest is not read.
pub(super) fn bounded_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if Read::take(&mut *reader, MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && reader.skip_until(b'\n')? > 0 {
        log::warn(|| {
            format!("a line of a transcript is longer than {} MiB and is not read", MAX_LINE_BYTES >> 20)
        });
    }
    Ok(Some(line))
}

/// The lines of a file from the last to the first, read in chunks and no further back than [`WINDOW`].
pub(super) struct LinesFromEnd {
    file: File,
    /// Where the part that was read starts.
    pub(super) start: u64,
    floor: u64,
    /// What was read and not yet given out.
    pending: Vec<u8>,
}

impl LinesFromEnd {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = files::open_regular(path)?;
        let end = file.metadata()?.len();
        Ok(LinesFromEnd { file, start: end, floor: end.saturating_sub(WINDOW), pending: Vec::new() })
    }

    /// Whether the file goes further back than is looked.
    pub(super) fn left_out(&self) -> bool {
        self.floor > 0
    }

    pub(super) fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut searched = 0;
        loop {
            let unsearched = self.pending.len() - searched;
            if let Some(at) = self.pending.get(..unsearched).and_then(|part| memchr::memrchr(b'\n', part)) {
                let line = self.pending.split_off(at + 1);
                self.pending.truncate(at);
                return Ok(Some(line));
            }
            searched = self.pending.len();
            if self.start <= self.floor {
                // At the floor a line is whole only if the file starts there.
                let rest = std::mem::take(&mut self.pending);
                return Ok((self.floor == 0 && !rest.is_empty()).then_some(rest));
            }
            // A long line is read in ever larger steps, so that its length costs no more than itself.
            let step = CHUNK.max(searched as u64).min(self.start - self.floor);
            self.start -= step;
            self.file.seek(SeekFrom::Start(self.start))?;
            let mut chunk = Vec::new();
            (&self.file).take(step).read_to_end(&mut chunk)?;
            if (chunk.len() as u64) < step {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file became shorter while it was read",
                ));
            }
            chunk.append(&mut self.pending);
            self.pending = chunk;
        }
    }
}
