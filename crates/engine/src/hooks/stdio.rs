//! stdin and stdout of a call. One JSON value is read, with a deadline, because a pipe may never close. The answer is written.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use conclaude_core::dialect::Answer;
use conclaude_core::error::InputError;
use conclaude_core::event::EventKind;
use conclaude_os::budget::Budget;

/// No payload is larger.
const MAX_BYTES: usize = 64 << 20;

/// As much as a pipe holds.
const CHUNK: usize = 64 << 10;

/// Writes the answer. Returns whether stdout accepted it. If the reader is gone, the exit code stays the same.
pub(super) fn write(answer: &Answer) -> bool {
    #[expect(clippy::disallowed_methods, reason = "an answer was cleaned when it was made")]
    let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
    let is_written = put(stdout, &answer.stdout).is_ok();
    let _ = put(stderr, &answer.stderr);
    is_written
}

/// Writes a warning about the call itself, before anything else.
pub(super) fn warn(text: &str) {
    #[expect(clippy::disallowed_methods, reason = "the text is ours")]
    let _ = put(std::io::stderr(), &format!("conclaude: warn: {text}"));
}

/// Writes a text and a line break at once, if there is a text.
fn put(mut stream: impl Write, text: &str) -> std::io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    stream.write_all(format!("{text}\n").as_bytes())?;
    stream.flush()
}

/// Reads the payload of an event from stdin: one JSON value.
///
/// # Errors
/// Says why there is none, for the user.
pub(super) fn payload(event: EventKind) -> Result<Vec<u8>, InputError> {
    // Half of Claude Code's default timeout for a hook, so that we can still answer. The budget of a hook starts with the
    // payload, so it cannot limit this wait.
    let given = Duration::from_secs(event.row().default_timeout);
    read(Budget::unlimited().at_least((given / 2).min(Duration::from_secs(5))))
}

/// Reads one JSON value from stdin.
///
/// # Errors
/// Says why there is none, for the user.
fn read(wait: Duration) -> Result<Vec<u8>, InputError> {
    if is_terminal() {
        return Err(InputError::Terminal);
    }
    let deadline = Instant::now() + wait;
    let mut payload = Vec::with_capacity(CHUNK);
    let mut scanner = Scanner::default();
    loop {
        if !wait_for_input(deadline) {
            return Err(InputError::Unfinished { within: wait, bytes: payload.len() });
        }
        // Unbuffered: we could not wait for bytes in std's own buffer.
        let before = payload.len();
        match read_some(&mut payload) {
            Ok(0) => return Ok(payload),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(InputError::Unreadable(error)),
        }
        if payload.len() > MAX_BYTES {
            return Err(InputError::TooLarge { max: MAX_BYTES });
        }
        if scanner.ends_in(payload.get(before..).unwrap_or_default()) {
            return Ok(payload);
        }
    }
}

/// Without std's handle, which allocates a buffer.
#[cfg(unix)]
fn is_terminal() -> bool {
    rustix::stdio::stdin().is_terminal()
}

#[cfg(windows)]
fn is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

#[cfg(unix)]
fn wait_for_input(deadline: Instant) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(left_spec) = Timespec::try_from(left) else { return false };
        let stdin = rustix::stdio::stdin();
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut fds, Some(&left_spec)) {
            Ok(0) => return false,
            Err(rustix::io::Errno::INTR) if !left.is_zero() => {}
            // Reading will show and report any error.
            _ => return true,
        }
    }
}

/// Appends the available bytes. Returns how many there were.
#[cfg(unix)]
fn read_some(payload: &mut Vec<u8>) -> std::io::Result<usize> {
    payload.reserve(CHUNK);
    // Only bytes that arrive are written to: clearing the rest first would cost more than reading.
    Ok(rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(payload))?)
}

/// Windows cannot wait for a pipe with a deadline; the client closes it.
#[cfg(windows)]
fn wait_for_input(_: Instant) -> bool {
    true
}

#[cfg(windows)]
fn read_some(payload: &mut Vec<u8>) -> std::io::Result<usize> {
    let before = payload.len();
    payload.resize(before + CHUNK, 0);
    let read = std::io::Read::read(&mut std::io::stdin(), payload.get_mut(before..).unwrap_or_default());
    payload.truncate(before + read.as_ref().copied().unwrap_or(0));
    read
}

/// Finds the end of the first JSON value without parsing it.
#[derive(Default)]
struct Scanner {
    depth: u64,
    in_string: bool,
    escaped: bool,
    started: bool,
}

impl Scanner {
    /// Whether the value ends in this chunk. A value that is not an object or list ends at once: it will be refused.
    fn ends_in(&mut self, chunk: &[u8]) -> bool {
        chunk.iter().any(|byte| self.ends_at(*byte))
    }

    fn ends_at(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'{' | b'[' => {
                self.started = true;
                self.depth += 1;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            b'"' if self.started => self.in_string = true,
            // White space and a byte order mark may come before the value.
            b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf => {}
            _ => return !self.started,
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str) -> Option<usize> {
        let mut scanner = Scanner::default();
        text.bytes().position(|byte| scanner.ends_at(byte))
    }

    #[test]
    fn the_end_of_the_first_value_is_found() {
        assert_eq!(ends(r#"{"a": "}\"]", "b": [1, {}]} {"next": 1}"#), Some(26));
        assert_eq!(ends("\u{feff} \n{}"), Some("\u{feff} \n{".len()));
        assert_eq!(ends(r#"{"a": "never closed}"#), None);
        assert_eq!(ends(r#"{"a": "\\"}"#), Some(10));
    }

    #[test]
    fn what_is_no_object_ends_at_once() {
        assert_eq!(ends("nonsense"), Some(0));
        assert_eq!(ends("\"text\""), Some(0));
        assert_eq!(ends("}"), Some(0));
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(test_support::cases(20, 1_000)))]

        #[test]
        fn a_value_ends_where_serde_says(map: std::collections::BTreeMap<String, String>, junk in "[ -~]{0,9}") {
            let value = serde_json::to_string(&map).unwrap();
            proptest::prop_assert_eq!(ends(&format!("{value}{junk}")), Some(value.len() - 1));
        }
    }
}
