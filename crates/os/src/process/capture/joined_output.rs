//! The end of both streams together, in lines, in the order in which they were read.

use super::super::Stream;
use conclaude_core::text::printable_untagged;

/// The stored size before cleaning: colours and progress bars can be most of it.
const MAX_KEPT: usize = 16 << 10;

/// Marks missing lines or characters before it.
const CUT: &str = "…";

#[derive(Clone, Copy, Debug)]
pub struct ExcerptLimits {
    pub lines: usize,
    pub bytes: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedOutput {
    lines: Vec<u8>,
    /// The unfinished line of each stream. A line of the other stream does not split it.
    open_stdout: Vec<u8>,
    open_stderr: Vec<u8>,
    is_cut: bool,
}

impl JoinedOutput {
    /// Adds what a stream printed.
    pub fn push(&mut self, stream: Stream, chunk: &[u8]) {
        let open = match stream {
            Stream::Stdout => &mut self.open_stdout,
            Stream::Stderr => &mut self.open_stderr,
        };
        open.extend_from_slice(chunk);
        if let Some(end) = memchr::memrchr(b'\n', open) {
            self.lines.extend(open.drain(..=end));
        }
        self.is_cut |= keep_end(open);
        self.is_cut |= keep_end(&mut self.lines);
    }

    /// The last lines, cleaned. `None` if nothing was printed.
    #[must_use]
    pub fn excerpt(&self, limits: ExcerptLimits) -> Option<String> {
        let mut bytes = self.lines.clone();
        for open in [&self.open_stdout, &self.open_stderr].into_iter().filter(|open| !open.is_empty()) {
            bytes.extend_from_slice(open);
            bytes.push(b'\n');
        }
        let text = printable_untagged(&String::from_utf8_lossy(&bytes));
        let text = text.trim_end();
        let mut lines: Vec<&str> = text.lines().collect();
        let older = lines.len().saturating_sub(limits.lines);
        lines.drain(..older);
        if lines.is_empty() {
            return None;
        }
        let text = lines.join("\n");
        if text.len() <= limits.bytes && older == 0 && !self.is_cut {
            return Some(text);
        }
        Some(with_mark(&text, limits))
    }
}

/// The end of the text within the limits, after a line that says that something is missing.
fn with_mark(text: &str, limits: ExcerptLimits) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let room = limits.bytes.saturating_sub(CUT.len() + 1);
    // The mark is a line too.
    while lines.len() >= limits.lines.max(2) || (lines.len() > 1 && joined_len(&lines) > room) {
        lines.remove(0);
    }
    let end = lines.join("\n");
    let from = end.ceil_char_boundary(end.len().saturating_sub(room));
    format!("{CUT}\n{}", end.get(from..).unwrap_or_default())
}

fn joined_len(lines: &[&str]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum::<usize>().saturating_sub(1)
}

/// Removes the start of a text that is too long. Returns whether it did.
fn keep_end(bytes: &mut Vec<u8>) -> bool {
    // Not at every chunk: moving the rest costs as much as reading it.
    if bytes.len() <= MAX_KEPT * 2 {
        return false;
    }
    bytes.drain(..bytes.len() - MAX_KEPT);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ExcerptLimits = ExcerptLimits { lines: 4, bytes: 40 };

    fn joined(chunks: &[(Stream, &str)]) -> JoinedOutput {
        let mut joined = JoinedOutput::default();
        chunks.iter().for_each(|(stream, text)| joined.push(*stream, text.as_bytes()));
        joined
    }

    #[test]
    fn lines_of_both_streams_keep_their_order_and_are_not_cut_in_two() {
        let chunks = [
            (Stream::Stdout, "checking a"),
            (Stream::Stderr, "error in a\n"),
            (Stream::Stdout, ".rs\n"),
            (Stream::Stderr, "no end"),
        ];
        assert_eq!(joined(&chunks).excerpt(LIMITS).unwrap(), "error in a\nchecking a.rs\nno end");
        assert_eq!(joined(&[]).excerpt(LIMITS), None);
        assert_eq!(joined(&[(Stream::Stdout, "\n \u{1b}[0m\n")]).excerpt(LIMITS), None);
    }

    #[test]
    fn the_last_lines_are_kept_and_a_mark_says_that_others_are_missing() {
        let one = |text: &str| joined(&[(Stream::Stdout, text)]).excerpt(LIMITS).unwrap();
        assert_eq!(one("1\n2\n3\n4\n"), "1\n2\n3\n4");
        assert_eq!(one("1\n2\n3\n4\n5\n"), "…\n3\n4\n5");
        assert_eq!(one("\u{1b}[31m<system-reminder>\u{1b}[0m\u{202e}x\n"), "‹system-reminder>x");
        let long = one(&"é".repeat(100));
        assert!(long.len() <= LIMITS.bytes && long.starts_with("…\né"), "{long}");
        let lines = one(&format!("{}\nlast\n", "x".repeat(38)));
        assert_eq!(lines, "…\nlast");
    }

    #[test]
    fn a_flood_needs_little_memory() {
        let mut joined = JoinedOutput::default();
        for number in 0..10_000 {
            joined.push(Stream::Stdout, format!("{number} {}\n", "x".repeat(100)).as_bytes());
            joined.push(Stream::Stderr, &[b'y'; 1_000]);
            assert!(joined.lines.len() <= MAX_KEPT * 2 && joined.open_stderr.len() <= MAX_KEPT * 2);
        }
        let last = joined.excerpt(ExcerptLimits { lines: 40, bytes: 4_096 }).unwrap();
        assert!(last.len() <= 4_096 && last.starts_with("…\n"), "{last}");
    }
}
