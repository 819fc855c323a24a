//! A command's output, captured while it streams: the beginning and the end stay in memory, the whole of what is to
//! be shown goes to a file once it is too long to be shown.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::text::{clean, count};

/// What is kept of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// It is counted, and otherwise thrown away.
    Nothing,
    /// Up to so many bytes are shown.
    Shown(usize),
}

/// Makes the file for a stream that is too long to be shown, given the stream's name.
pub type Spill<'a> = &'a mut dyn FnMut(&'static str) -> io::Result<(File, PathBuf)>;

/// The file of a stream stops here, so that a runaway command does not fill the disk.
const MAX_FILE: u64 = 16 << 20;

enum Saved {
    NotYet,
    To { file: File, path: PathBuf, written: u64 },
    Failed(String),
}

/// A stream that is being read.
pub(super) struct Capture {
    name: &'static str,
    keep: Keep,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    newlines: u64,
    last: Option<u8>,
    saved: Saved,
}

impl Capture {
    pub(super) fn new(name: &'static str, keep: Keep) -> Self {
        Capture {
            name,
            keep,
            head: Vec::new(),
            tail: VecDeque::new(),
            bytes: 0,
            newlines: 0,
            last: None,
            saved: Saved::NotYet,
        }
    }

    pub(super) fn push(&mut self, chunk: &[u8], spill: Spill<'_>) {
        if chunk.is_empty() {
            return;
        }
        self.bytes += chunk.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', chunk).count() as u64;
        self.last = chunk.last().copied();
        let Keep::Shown(limit) = self.keep else { return };
        let room = limit.saturating_sub(self.head.len()).min(chunk.len());
        let (fits, rest) = chunk.split_at_checked(room).unwrap_or((chunk, &[]));
        if !rest.is_empty() {
            if matches!(self.saved, Saved::NotYet) {
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

    fn open(&mut self, spill: Spill<'_>) {
        self.saved = match spill(self.name) {
            Ok((file, path)) => Saved::To { file, path, written: 0 },
            Err(error) => Saved::Failed(error.to_string()),
        };
        let head = std::mem::take(&mut self.head);
        self.save(&head);
        self.head = head;
    }

    fn save(&mut self, chunk: &[u8]) {
        let Saved::To { file, written, .. } = &mut self.saved else { return };
        let room = usize::try_from(MAX_FILE.saturating_sub(*written)).unwrap_or(usize::MAX);
        let part = chunk.get(..room.min(chunk.len())).unwrap_or_default();
        *written += part.len() as u64;
        if let Err(error) = file.write_all(part) {
            self.saved = Saved::Failed(error.to_string());
        }
    }

    pub(super) fn finish(self) -> Captured {
        let lines = self.newlines + u64::from(self.last.is_some_and(|byte| byte != b'\n'));
        let limit = match self.keep {
            Keep::Nothing => 0,
            Keep::Shown(limit) => limit,
        };
        let saved = match self.saved {
            Saved::NotYet => None,
            Saved::To { path, written, .. } if written < self.bytes => {
                Some(format!("the first {written} bytes are in {}", path.display()))
            }
            Saved::To { path, .. } => Some(format!("all of it is in {}", path.display())),
            Saved::Failed(reason) => Some(format!("it could not be saved: {reason}")),
        };
        Captured { head: self.head, tail: self.tail.into(), bytes: self.bytes, lines, limit, saved }
    }
}

/// What is left of a stream after the command has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    limit: usize,
    saved: Option<String>,
    /// How many bytes there were.
    pub bytes: u64,
    /// How many lines there were.
    pub lines: u64,
}

impl Captured {
    /// What is shown: at most `max_lines` lines, the first and the last, with a line between that says what is
    /// missing and where it is. Nothing for a stream that is empty or not shown.
    #[must_use]
    pub fn excerpt(&self, max_lines: Option<u32>) -> Option<String> {
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
        let left_out = if self.lines > shown {
            Some(count(self.lines - shown, "line"))
        } else {
            (!whole).then(|| count(unshown, "byte"))
        };
        let note = left_out.map(|what| match &self.saved {
            Some(place) => format!("… {what} left out; {place} …"),
            None => format!("… {what} left out …"),
        });
        let parts: Vec<&str> = first.into_iter().chain(note.as_deref()).chain(last).collect();
        Some(parts.join("\n"))
    }

    /// The last bytes, of which some may still stand in the head.
    fn end(&self) -> Vec<u8> {
        let missing = (self.limit / 2).saturating_sub(self.tail.len());
        let from = self.head.len().saturating_sub(missing).max(self.limit / 2);
        [self.head.get(from..).unwrap_or_default(), &self.tail].concat()
    }
}

enum Side {
    Head,
    Tail,
}

/// Without the line that was cut in two, unless it is the only one.
fn whole_lines(bytes: &[u8], side: Side) -> &[u8] {
    let kept = match side {
        Side::Head => memchr::memrchr(b'\n', bytes).and_then(|at| bytes.get(..=at)),
        Side::Tail => memchr::memchr(b'\n', bytes).and_then(|at| bytes.get(at + 1..)),
    };
    kept.filter(|kept| !kept.is_empty()).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_file(_: &'static str) -> io::Result<(File, PathBuf)> {
        Err(io::Error::other("no room"))
    }

    fn captured(limit: usize, chunks: &[&str]) -> Captured {
        let mut capture = Capture::new("stdout", Keep::Shown(limit));
        for chunk in chunks {
            capture.push(chunk.as_bytes(), &mut no_file);
        }
        capture.finish()
    }

    #[test]
    fn short_output_is_shown_whole() {
        assert_eq!(captured(100, &["one\ntw", "o\n"]).excerpt(None).as_deref(), Some("one\ntwo"));
        assert_eq!(captured(100, &["no newline"]).excerpt(Some(1)).as_deref(), Some("no newline"));
        assert_eq!(captured(100, &[]).excerpt(None), None);
    }

    #[test]
    fn max_lines_keeps_first_and_last_and_counts_the_rest() {
        let lines: String = (1..=10).map(|n| format!("{n}\n")).collect();
        let shown = |max| captured(1000, &[&lines]).excerpt(Some(max)).unwrap();
        assert_eq!(shown(10), "1\n2\n3\n4\n5\n6\n7\n8\n9\n10");
        assert_eq!(shown(5), "1\n2\n3\n… 5 lines left out …\n9\n10");
        assert_eq!(shown(9), "1\n2\n3\n4\n5\n… 1 line left out …\n7\n8\n9\n10");
        assert_eq!(shown(1), "1\n… 9 lines left out …");
    }

    #[test]
    fn long_output_keeps_both_ends_in_whole_lines_and_says_where_the_rest_is() {
        let lines: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let text = captured(60, &[&lines]).excerpt(None).unwrap();
        assert_eq!(
            text,
            "line 1\nline 2\nline 3\nline 4\n… 993 lines left out; it could not be saved: no room …\nline 998\nline 999\nline 1000"
        );
        let text = captured(60, &[&lines]).excerpt(Some(2)).unwrap();
        assert!(text.starts_with("line 1\n… 998 lines left out") && text.ends_with("line 1000"), "{text}");
    }

    #[test]
    fn one_endless_line_is_cut_by_bytes() {
        let text = captured(20, &[&"x".repeat(1000)]).excerpt(None).unwrap();
        assert_eq!(text, "xxxxxxxxxx\n… 980 bytes left out; it could not be saved: no room …\nxxxxxxxxxx");
    }

    #[test]
    fn bytes_that_grow_when_cleaned_do_not_upset_the_count() {
        let mut capture = Capture::new("stdout", Keep::Shown(20));
        capture.push(&[0xff; 1000], &mut no_file);
        assert!(capture.finish().excerpt(None).unwrap().contains("… 980 bytes left out"));
    }

    #[test]
    fn output_just_over_the_limit_shows_its_end() {
        let text = captured(20, &["0123456789abcdefghij", "k"]).excerpt(None).unwrap();
        assert_eq!(text, "0123456789\n… 1 byte left out; it could not be saved: no room …\nbcdefghijk");
    }

    #[test]
    fn the_file_holds_all_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let mut capture = Capture::new("stdout", Keep::Shown(10));
        let mut spill = |_: &'static str| File::create(&path).map(|file| (file, path.clone()));
        for chunk in ["12345", "67890", "abc", "def"] {
            capture.push(chunk.as_bytes(), &mut spill);
        }
        let captured = capture.finish();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1234567890abcdef");
        assert!(captured.excerpt(None).unwrap().contains(&format!("all of it is in {}", path.display())));
    }

    #[test]
    fn what_is_not_shown_is_counted_alone() {
        let mut capture = Capture::new("stdout", Keep::Nothing);
        capture.push(b"secret\nlines", &mut no_file);
        let captured = capture.finish();
        assert_eq!((captured.bytes, captured.lines, captured.excerpt(None)), (12, 2, None));
    }

    proptest::proptest! {
        #[test]
        fn an_excerpt_never_shows_more_lines_than_allowed(
            bytes: Vec<u8>, text in "[<a\n\u{1b}\rü]{0,200}", limit in 1usize..80, max in 1u32..12, step in 1usize..9,
        ) {
            let text = [bytes, text.into_bytes()].concat();
            let mut capture = Capture::new("stdout", Keep::Shown(limit));
            for chunk in text.chunks(step) {
                capture.push(chunk, &mut no_file);
            }
            let captured = capture.finish();
            proptest::prop_assert!(captured.head.len() <= limit && captured.tail.len() <= limit / 2);
            if let Some(shown) = captured.excerpt(Some(max)) {
                let lines = shown.lines().filter(|line| !line.starts_with('…')).count();
                proptest::prop_assert!(lines <= max as usize, "{} of {}", lines, max);
            }
        }
    }
}
