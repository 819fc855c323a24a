//! Reads lines of files of any size, forwards or backwards, in pieces and in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::Path;

use conclaude_core::dialect::claude::{agents, limits};
use conclaude_os::files;
use conclaude_os::log;

/// Larger pieces are not faster, and would take memory in every hook.
pub(super) const CHUNK: usize = 64 << 10;

/// Reading from the end skips longer lines: no call is that long.
pub(super) const MAX_BACKWARD_BYTES: usize = 8 << 20;

/// What every Agent call contains.
pub(super) const CALL: &[u8] = agents::TYPE.as_bytes();

pub(super) const MAX_LINE_BYTES: u64 = limits::MAX_TRANSCRIPT_LINE_BYTES;

/// Whether a file contains these bytes. It is read in pieces.
pub(super) fn holds(file: &mut impl Read, needle: &[u8]) -> bool {
    let mut buffer = vec![0; CHUNK];
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
        // They may start at the end of this piece.
        let from = end.saturating_sub(needle.len().saturating_sub(1));
        buffer.copy_within(from..end, 0);
        kept = end - from;
    }
}

/// The next line. `None` at the end. A line that is too long is cut, with a warning.
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

/// A line that is read from the end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BackwardLine {
    Whole(Vec<u8>),
    /// The line is longer than [`MAX_BACKWARD_BYTES`]. The flag says whether it contains [`CALL`].
    TooLong(bool),
}

/// The lines of a file from the last to the first. It is read in chunks, and no further back than necessary.
pub(super) struct LinesFromEnd {
    file: File,
    /// The start of the part that was read.
    pub(super) start: u64,
    /// The bytes that were read and not yet returned.
    pending: Vec<u8>,
}

impl LinesFromEnd {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = files::open_regular(path)?;
        let start = file.metadata()?.len();
        Ok(LinesFromEnd { file, start, pending: Vec::new() })
    }

    pub(super) fn next_line(&mut self) -> io::Result<Option<BackwardLine>> {
        let mut searched = 0;
        // For a line that is too long: whether its dropped part contains a call.
        let mut dropped = None;
        loop {
            let unsearched = self.pending.len() - searched;
            if let Some(at) = self.pending.get(..unsearched).and_then(|part| memchr::memrchr(b'\n', part)) {
                let line = self.pending.split_off(at + 1);
                self.pending.truncate(at);
                return Ok(Some(finished(line, dropped)));
            }
            if self.start == 0 {
                let rest = std::mem::take(&mut self.pending);
                let is_line = !rest.is_empty() || dropped.is_some();
                return Ok(if is_line { Some(finished(rest, dropped)) } else { None });
            }
            if self.pending.len() > MAX_BACKWARD_BYTES {
                dropped = Some(dropped.unwrap_or(false) || has_call(&self.pending));
                // The text may start before this part and end in it.
                self.pending.truncate(CALL.len() - 1);
            }
            searched = self.pending.len();
            self.read_back(searched as u64)?;
        }
    }

    /// Reads the bytes before the pending part. For a long line the steps grow, so that the cost stays proportional to its
    /// length.
    fn read_back(&mut self, pending: u64) -> io::Result<()> {
        let step = (CHUNK as u64).max(pending).min(self.start);
        self.start -= step;
        self.file.seek(SeekFrom::Start(self.start))?;
        let mut chunk = Vec::with_capacity(CHUNK);
        (&self.file).take(step).read_to_end(&mut chunk)?;
        if (chunk.len() as u64) < step {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file became shorter while it was read",
            ));
        }
        chunk.append(&mut self.pending);
        self.pending = chunk;
        Ok(())
    }
}

fn finished(line: Vec<u8>, dropped: Option<bool>) -> BackwardLine {
    match dropped {
        None => BackwardLine::Whole(line),
        Some(found) => BackwardLine::TooLong(found || has_call(&line)),
    }
}

fn has_call(line: &[u8]) -> bool {
    memchr::memmem::find(line, CALL).is_some()
}
