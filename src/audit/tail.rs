//! The tail of the trail: its last whole record, repaired where a killed process left half of another.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::{Map, Value};

use super::chain::{GENESIS, Link};
use super::{Position, Trail, name_of};
use crate::{files, log};

/// What a record holds is bounded, and so is its line.
pub(super) const MAX_LINE_BYTES: u64 = 1 << 20;

/// How much of a file is read for its last record: nearly always the first is enough, however long the trail is.
const TAIL_BYTES: [u64; 3] = [2 << 10, 64 << 10, MAX_LINE_BYTES * 2];

/// Room for all records that may have been written at once.
const BATCH_BYTES: u64 = MAX_LINE_BYTES * 4;

/// The field of a record that was queued first.
pub(super) const QUEUED: &str = "queued";

/// The last file of the trail, and the record that the next one follows.
pub(super) struct Tail {
    pub(super) file: File,
    pub(super) seq: u64,
    pub(super) hash: String,
}

/// The last record of a trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// Its number, 0 if there is none.
    pub seq: u64,
    /// Where it is; none if it is not at the end of the trail, as in a damaged one.
    pub position: Option<Position>,
}

impl Trail {
    /// The tail of a file of the trail, repaired.
    pub(super) fn repair(&self, path: &Path) -> io::Result<Tail> {
        let mut options = files::no_links();
        files::make_private(path);
        // Appending alone keeps what others wrote, should one have removed the lock. On Windows it could not be cut.
        let mut file = options.read(true).write(true).append(cfg!(unix)).open(path)?;
        let mut tail = Bytes::last_record_of(&mut file)?;
        let whole = tail.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (seq, hash) = if whole == 0 && tail.start > 0 {
            // No record is that long: someone else wrote this. It stays, for `verify` to name it.
            file.seek(SeekFrom::End(0))?;
            file.write_all(b"\n")?;
            self.after_damage(b"")
        } else {
            let truncated = tail.bytes.split_off(whole);
            if !truncated.is_empty() {
                self.quarantine(truncated)?;
                file.set_len(tail.start + whole as u64)?;
            }
            match tail.last_line() {
                // The first record of this file was truncated: the one before it is in the file before.
                None if tail.bytes.is_empty() => self.before(path)?,
                line => match line.and_then(|(_, line)| Link::read(line)) {
                    Some(link) => (link.seq, link.hash.to_owned()),
                    None => self.after_damage(&tail.bytes),
                },
            }
        };
        Ok(Tail { file, seq, hash })
    }

    fn quarantine(&self, mut truncated: Vec<u8>) -> io::Result<()> {
        truncated.push(b'\n');
        let path = self.folder.join("truncated.txt");
        files::no_links().append(true).create(true).open(path)?.write_all(&truncated)
    }

    /// The last record before a file that is empty.
    fn before(&self, path: &Path) -> io::Result<(u64, String)> {
        let files = self.files()?;
        let at = files.iter().position(|file| file == path);
        match at.and_then(|at| at.checked_sub(1)).and_then(|at| files.get(at)) {
            Some(earlier) => self.repair(earlier).map(|tail| (tail.seq, tail.hash)),
            None => Ok((0, GENESIS.to_owned())),
        }
    }

    /// The last line was damaged by someone else. Records must not be lost for it: the chain goes on from the last
    /// line that can be read, and `verify` names the damage.
    fn after_damage(&self, lines: &[u8]) -> (u64, String) {
        log::warn(|| {
            format!("the audit trail in {} is damaged: try `conclaude audit verify`", self.folder.display())
        });
        let text = String::from_utf8_lossy(lines);
        let last = || text.lines().rev().find_map(Link::read).map(|link| (link.seq, link.hash.to_owned()));
        self.read_head().or_else(last).unwrap_or_else(|| (0, GENESIS.to_owned()))
    }

    /// The last record. What proves work that starts now comes after it.
    #[must_use]
    pub fn last(&self) -> Last {
        let known = self.read_head().map_or(0, |(seq, _)| seq);
        let Some(path) = self.files().ok().and_then(|mut files| files.pop()) else {
            return Last { seq: known, position: None };
        };
        match position_of_last(&path) {
            Some(position) if position.seq >= known => Last { seq: position.seq, position: Some(position) },
            Some(position) => Last { seq: known.max(position.seq), position: None },
            None => Last { seq: known.max(last_readable(&path)), position: None },
        }
    }
}

fn position_of_last(path: &Path) -> Option<Position> {
    let tail = Bytes::last_record_of(&mut files::open_regular(path).ok()?).ok()?;
    let (offset, line) = tail.last_line()?;
    let link = Link::read(line)?;
    Some(Position { seq: link.seq, hash: link.hash.to_owned(), file: name_of(path)?.to_owned(), offset })
}

/// The number of the last record that can be read in a damaged file.
fn last_readable(path: &Path) -> u64 {
    let tail = files::open_regular(path).and_then(|mut file| Bytes::tail_of(&mut file, BATCH_BYTES));
    let bytes = tail.map(|tail| tail.bytes).unwrap_or_default();
    let last = String::from_utf8_lossy(&bytes).lines().rev().find_map(|line| Some(Link::read(line)?.seq));
    last.unwrap_or(0)
}

/// The last bytes of a file.
struct Bytes {
    /// Where in the file they start.
    start: u64,
    bytes: Vec<u8>,
}

impl Bytes {
    fn tail_of(file: &mut File, size: u64) -> io::Result<Bytes> {
        let length = file.metadata()?.len();
        let size = size.min(length);
        let start = length - size;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(size).read_to_end(&mut bytes)?;
        Ok(Bytes { start, bytes })
    }

    /// Enough to hold the last record, if there is one.
    fn last_record_of(file: &mut File) -> io::Result<Bytes> {
        let mut tail = Bytes { start: 0, bytes: Vec::new() };
        for size in TAIL_BYTES {
            tail = Bytes::tail_of(file, size)?;
            if tail.start == 0 || tail.last_line().and_then(|(_, line)| Link::read(line)).is_some() {
                break;
            }
        }
        Ok(tail)
    }

    /// The last line that is whole at both ends, and where it starts in the file.
    fn last_line(&self) -> Option<(u64, &str)> {
        let newline = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n');
        let lines = self.bytes.get(..newline(&self.bytes)?)?;
        let from = match newline(lines) {
            Some(at) => at + 1,
            None if self.start == 0 => 0,
            None => return None,
        };
        Some((self.start + from as u64, std::str::from_utf8(lines.get(from..)?).ok()?))
    }
}

/// Those of the queued records that are not in the file yet: whoever wrote them may have been killed before it could remove
/// their files.
pub(super) fn not_in(path: &Path, bodies: Vec<Map<String, Value>>) -> io::Result<Vec<Map<String, Value>>> {
    if bodies.is_empty() {
        return Ok(bodies);
    }
    let end = Bytes::tail_of(&mut files::open_regular(path)?, BATCH_BYTES)?.bytes;
    let is_in = |body: &Map<String, Value>| {
        let id = body.get(QUEUED).and_then(Value::as_str);
        id.is_some_and(|id| memchr::memmem::find(&end, format!("\"{QUEUED}\":\"{id}\"").as_bytes()).is_some())
    };
    Ok(bodies.into_iter().filter(|body| !is_in(body)).collect())
}
