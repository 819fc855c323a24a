//! Other processes of ours that read a part of the transcripts each. Not threads: the allocator of the static binary has one lock, and
//! judging an event allocates so often that two cores were slower than one.

use std::cell::Cell;
use std::io::{self, BufRead};
use std::process::Command;

use serde_json::Value;

use super::seen::Seen;
use super::state::Thread;
use super::wire::{self, Line};
use conclaude_core::order::sorted;
use conclaude_os::process::{self, Sink, Status, Stream};

/// How often a worker says how far it is.
const PROGRESS_BYTES: u64 = 4 << 20;

/// Parts of about the same size: the largest first, each to where the least is.
pub(super) fn parts(threads: &[Thread], count: usize) -> Vec<Vec<&Thread>> {
    let mut parts: Vec<(u64, Vec<&Thread>)> = (0..count.max(1)).map(|_| (0, Vec::new())).collect();
    for thread in sorted(threads.iter().collect(), |a: &&Thread, b| b.size.cmp(&a.size)) {
        if let Some((bytes, part)) = parts.iter_mut().min_by_key(|(bytes, part)| (*bytes, part.len())) {
            *bytes += thread.size;
            part.push(thread);
        }
    }
    parts.into_iter().map(|(_, part)| part).filter(|part| !part.is_empty()).collect()
}

/// Has a worker read its part.
///
/// # Errors
/// When it cannot be started or given its part, or does not come to its end.
pub(super) fn replay(command: Command, part: &[&Thread], read: &dyn Fn(u64)) -> io::Result<Seen> {
    let lines: Option<Vec<String>> =
        part.iter().map(|thread| Some(format!("{}\n", wire::of_thread(thread)?))).collect();
    let input = lines.ok_or_else(|| io::Error::other("the path of a transcript is no text"))?.concat();
    let mut replies =
        Replies { line: Vec::new(), seen: Seen::default(), has_ended: false, is_broken: false, read };
    let status = process::run_tool(command, input.as_bytes(), &mut replies)?;
    match replies.has_ended && !replies.is_broken && status == Status::Exited(0) {
        true => Ok(replies.seen),
        false => Err(io::Error::other("a process that reads transcripts did not come to its end")),
    }
}

/// Takes what a worker prints, line by line.
struct Replies<'a> {
    line: Vec<u8>,
    seen: Seen,
    has_ended: bool,
    /// It printed something else.
    is_broken: bool,
    read: &'a dyn Fn(u64),
}

impl Sink for Replies<'_> {
    fn chunk(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stderr {
            return;
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if !part.ends_with(b"\n") {
                return;
            }
            match wire::line(&self.line) {
                Some(Line::Read(bytes)) => (self.read)(bytes),
                Some(Line::Seen(seen)) => self.seen.add(*seen),
                Some(Line::End) => self.has_ended = true,
                None => self.is_broken = true,
            }
            self.line.clear();
        }
    }
}

/// The part that a worker is given on stdin.
///
/// # Errors
/// When it is none.
pub(super) fn part(stdin: impl BufRead) -> io::Result<Vec<Thread>> {
    let other = || io::Error::other("stdin is no list of transcripts: `--worker` is for conclaude itself");
    stdin.split(b'\n').map(|line| wire::thread(&line?).ok_or_else(other)).collect()
}

/// Says how much was read, now and then.
pub(super) fn progress(say: impl Fn(&Value)) -> impl Fn(u64) {
    let unsaid = Cell::new(0);
    move |bytes| {
        unsaid.set(unsaid.get() + bytes);
        if unsaid.get() >= PROGRESS_BYTES {
            say(&wire::of_progress(unsaid.take()));
        }
    }
}

/// What a worker prints at its end.
pub(super) fn replies(seen: Seen) -> impl Iterator<Item = Value> {
    wire::of_seen(seen).chain([wire::end()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(number: usize, size: u64) -> Thread {
        Thread {
            number,
            session: "s".into(),
            main: "/m".into(),
            path: "/p".into(),
            size,
            agent: None,
            root: None,
            mode: None,
        }
    }

    #[test]
    fn parts_are_about_as_large_as_each_other() {
        let threads: Vec<Thread> =
            [7, 100, 3, 50, 40, 0, 1].into_iter().enumerate().map(|(n, size)| thread(n, size)).collect();
        let sizes: Vec<Vec<u64>> =
            parts(&threads, 2).iter().map(|part| part.iter().map(|thread| thread.size).collect()).collect();
        assert_eq!(sizes, [vec![100, 1], vec![50, 40, 7, 3, 0]]);
        assert_eq!(parts(&threads, 50).len(), 7);
        assert!(parts(&[], 2).is_empty());
    }

    #[test]
    fn a_worker_that_fails_or_says_nothing_has_read_nothing() {
        let one = thread(0, 1);
        for program in ["false", "true", "/nowhere/at/all"] {
            assert!(replay(Command::new(program), &[&one], &|_| ()).is_err(), "{program}");
        }
    }
}
