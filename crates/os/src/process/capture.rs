//! A command's output, captured while it streams. The start and the end stay in memory. Output that is too long to be
//! shown is also written to a file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

pub use self::joined_output::{ExcerptLimits, JoinedOutput};
use super::{Sink, Stream};
use conclaude_core::text::{clean, count, printable};

mod joined_output;

/// How much of a stream is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// It is counted and discarded.
    Nothing,
    /// Up to this many bytes are shown.
    Shown(usize),
}

/// Creates the file for a stream that is too long to be shown. The argument is the stream's name. Without it, nothing is saved,
/// and output that is not shown is discarded.
pub type SpillOpener<'a> = &'a mut (dyn FnMut(&'static str) -> io::Result<(File, PathBuf)> + Send);

/// The limit of a stream's file, so that a runaway command does not fill the disk.
const MAX_FILE: u64 = 16 << 20;

enum SpillState {
    NotYet,
    To { file: File, path: PathBuf, written: u64 },
    Failed(String),
}

/// Both streams of a command, captured as they come.
pub(super) struct OutputCapture<'a> {
    stdout: StreamCapture,
    stderr: StreamCapture,
    joined: JoinedOutput,
    spill: Option<SpillOpener<'a>>,
}

/// The streams of a command that has ended.
pub(super) struct CapturedStreams {
    pub(super) stdout: CapturedOutput,
    pub(super) stderr: CapturedOutput,
    pub(super) joined: JoinedOutput,
}

impl<'a> OutputCapture<'a> {
    pub(super) fn new(stdout: Retention, stderr: Retention, spill: Option<SpillOpener<'a>>) -> Self {
        OutputCapture {
            stdout: StreamCapture::new("stdout", stdout),
            stderr: StreamCapture::new("stderr", stderr),
            joined: JoinedOutput::default(),
            spill,
        }
    }

    pub(super) fn finish(self) -> CapturedStreams {
        CapturedStreams { stdout: self.stdout.finish(), stderr: self.stderr.finish(), joined: self.joined }
    }
}

impl Sink for OutputCapture<'_> {
    fn chunk(&mut self, stream: Stream, bytes: &[u8]) {
        self.joined.push(stream, bytes);
        let capture = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        match &mut self.spill {
            Some(spill) => capture.push(bytes, Some(*spill)),
            None => capture.push(bytes, None),
        }
    }
}

/// A stream that is being read.
struct StreamCapture {
    name: &'static str,
    keep: Retention,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    newlines: u64,
    last: Option<u8>,
    saved: SpillState,
}

impl StreamCapture {
    fn new(name: &'static str, keep: Retention) -> Self {
        StreamCapture {
            name,
            keep,
            head: Vec::new(),
            tail: VecDeque::new(),
            bytes: 0,
            newlines: 0,
            last: None,
            saved: SpillState::NotYet,
        }
    }

    fn push(&mut self, chunk: &[u8], spill: Option<SpillOpener<'_>>) {
        if chunk.is_empty() {
            return;
        }
        self.bytes += chunk.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', chunk).count() as u64;
        self.last = chunk.last().copied();
        let Retention::Shown(limit) = self.keep else { return };
        let room = limit.saturating_sub(self.head.len()).min(chunk.len());
        let (fits, rest) = chunk.split_at_checked(room).unwrap_or((chunk, &[]));
        if !rest.is_empty() {
            if matches!(self.saved, SpillState::NotYet)
                && let Some(spill) = spill
            {
                self.open(spill);
            }
            self.save(chunk);
        }
        self.head.extend_from_slice(fits);
        let tail_room = limit / 2;
        let rest = rest.get(rest.len().saturating_sub(tail_room)..).unwrap_or_default();
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(tail_room);
        self.tail.drain(..excess);
    }

    fn open(&mut self, spill: SpillOpener<'_>) {
        self.saved = match spill(self.name) {
            Ok((file, path)) => SpillState::To { file, path, written: 0 },
            Err(error) => SpillState::Failed(error.to_string()),
        };
        let head = std::mem::take(&mut self.head);
        self.save(&head);
        self.head = head;
    }

    fn save(&mut self, chunk: &[u8]) {
        let SpillState::To { file, written, .. } = &mut self.saved else { return };
        let room = usize::try_from(MAX_FILE.saturating_sub(*written)).unwrap_or(usize::MAX);
        let part = chunk.get(..room.min(chunk.len())).unwrap_or_default();
        *written += part.len() as u64;
        if let Err(error) = file.write_all(part) {
            self.saved = SpillState::Failed(error.to_string());
        }
    }

    fn finish(self) -> CapturedOutput {
        let lines = self.newlines + u64::from(self.last.is_some_and(|byte| byte != b'\n'));
        let limit = match self.keep {
            Retention::Nothing => 0,
            Retention::Shown(limit) => limit,
        };
        let mut captured = CapturedOutput {
            name: self.name,
            head: self.head,
            tail: self.tail.into(),
            bytes: self.bytes,
            lines,
            limit,
            ..CapturedOutput::default()
        };
        captured.note(self.saved);
        captured
    }
}

/// The captured part of a stream after the command has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    name: &'static str,
    head: Vec<u8>,
    tail: Vec<u8>,
    limit: usize,
    /// The file with the whole output, and the sentence that names it.
    file: Option<PathBuf>,
    saved: Option<String>,
    pub bytes: u64,
    pub lines: u64,
}

impl CapturedOutput {
    /// A stream of a command that is not executed.
    pub fn of_text(name: &'static str, text: &str, limit: usize) -> CapturedOutput {
        let mut capture = StreamCapture::new(name, Retention::Shown(limit));
        let mut nowhere =
            |_: &'static str| Err(io::Error::new(io::ErrorKind::Unsupported, "no command was executed"));
        capture.push(text.as_bytes(), Some(&mut nowhere));
        capture.finish()
    }

    fn note(&mut self, saved: SpillState) {
        (self.file, self.saved) = match saved {
            SpillState::NotYet => (None, None),
            SpillState::To { path, written, .. } => {
                let location = path.display();
                let how = if written < self.bytes {
                    format!("the first {written} bytes are in {location}")
                } else {
                    format!("all of it is in {location}")
                };
                (Some(path), Some(how))
            }
            SpillState::Failed(reason) => (None, Some(format!("it could not be saved: {reason}"))),
        };
    }

    /// Shows at most `limit` bytes. If that cuts the output, all of it is saved to a file, unless it was saved before.
    pub fn shrink(&mut self, limit: usize, spill: SpillOpener<'_>) {
        if limit >= self.limit {
            return;
        }
        self.limit = limit;
        if self.saved.is_none() && self.bytes > limit as u64 {
            let saved = spill(self.name).and_then(|(mut file, path)| {
                file.write_all(&self.head).map(|()| SpillState::To {
                    file,
                    path,
                    written: self.head.len() as u64,
                })
            });
            self.note(saved.unwrap_or_else(|error| SpillState::Failed(error.to_string())));
        }
    }

    /// The captured text, as it was printed. [`CapturedOutput::is_cut`] says whether it is complete.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.head).into_owned()
    }

    /// Whether the captured text is incomplete.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.bytes > self.head.len() as u64
    }

    /// Nothing of it is shown, so its file is not needed.
    pub fn discard(self) {
        if let Some(file) = self.file {
            let _ = std::fs::remove_file(file);
        }
    }

    /// The shown part: at most `max_lines` lines, the first and the last, with a line between them that says what is missing and
    /// where it is. `None` if the stream is empty or not shown.
    #[must_use]
    pub fn excerpt(&self, max_lines: Option<u32>) -> Option<String> {
        self.excerpt_with(max_lines, clean)
    }

    /// Like `excerpt`, for a user, for whom tags have no meaning.
    #[must_use]
    pub fn printable(&self) -> Option<String> {
        self.excerpt_with(None, printable)
    }

    fn excerpt_with(&self, max_lines: Option<u32>, clean: fn(&str) -> String) -> Option<String> {
        if self.bytes == 0 || self.limit == 0 {
            return None;
        }
        let whole = self.bytes <= self.limit as u64;
        let head =
            if whole { &self.head[..] } else { whole_lines(self.head.get(..self.limit / 2)?, Side::Head) };
        let end = if whole { Vec::new() } else { self.end() };
        let tail = whole_lines(&end, Side::Tail);
        let unshown = self.bytes.saturating_sub((head.len() + tail.len()) as u64);
        let (head, tail) = (clean(&String::from_utf8_lossy(head)), clean(&String::from_utf8_lossy(tail)));
        let (mut first, mut last): (Vec<&str>, Vec<&str>) = (head.lines().collect(), tail.lines().collect());
        // A carriage return makes a line too.
        let lines = self.lines.max((first.len() + last.len()) as u64);
        if let Some(max) = max_lines.map(|max| max as usize)
            && first.len() + last.len() > max
        {
            if whole {
                last = first.split_off(first.len() - max / 2);
            }
            first.truncate(max.div_ceil(2));
            last.drain(..last.len().saturating_sub(max / 2));
        }
        let shown = (first.len() + last.len()) as u64;
        let left_out = if lines > shown {
            Some(count(lines - shown, "line"))
        } else if whole {
            None
        } else {
            Some(count(unshown, "byte"))
        };
        let note = left_out.map(|what| match &self.saved {
            Some(location) => format!("… {what} left out; {location} …"),
            None => format!("… {what} left out …"),
        });
        let parts: Vec<&str> = first.into_iter().chain(note.as_deref()).chain(last).collect();
        Some(parts.join("\n"))
    }

    /// The last bytes. Some of them may be in the head.
    fn end(&self) -> Vec<u8> {
        let room = self.limit / 2;
        let tail = self.tail.get(self.tail.len().saturating_sub(room)..).unwrap_or_default();
        let from = self.head.len().saturating_sub(room - tail.len()).max(room);
        [self.head.get(from..).unwrap_or_default(), tail].concat()
    }
}

enum Side {
    Head,
    Tail,
}

/// Without the line that was cut, unless it is the only one.
fn whole_lines(bytes: &[u8], side: Side) -> &[u8] {
    let kept = match side {
        Side::Head => memchr::memrchr(b'\n', bytes).and_then(|at| bytes.get(..=at)),
        Side::Tail => memchr::memchr(b'\n', bytes).and_then(|at| bytes.get(at + 1..)),
    };
    kept.filter(|kept| !kept.is_empty()).unwrap_or(bytes)
}

#[cfg(test)]
mod tests;
