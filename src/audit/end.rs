//! The end of the trail: its last whole record, after setting aside what a killed process left of another.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::{Map, Value};

use super::{GENESIS, Link, Trail};
use crate::{files, log};

/// No line of the trail is longer: what a record holds is bounded.
pub(super) const LONGEST_LINE: u64 = 1 << 20;

/// What holds the last record: nearly always the first, however long the trail has become.
const TAILS: [u64; 3] = [2 << 10, 64 << 10, LONGEST_LINE * 2];

/// The field that tells a record which had to wait from all others.
pub(super) const WAITED: &str = "waited";

/// The last file of the trail, and where the chain stands.
pub(super) struct End {
    pub(super) file: File,
    pub(super) seq: u64,
    pub(super) hash: String,
}

impl Trail {
    /// The end of a file of the trail, healed.
    pub(super) fn heal(&self, path: &Path) -> io::Result<End> {
        let mut options = files::no_links();
        // Appending alone keeps what others wrote, should one have taken away the lock. On Windows it could not be cut.
        let mut file = options.read(true).write(true).append(cfg!(unix)).open(path)?;
        let (mut start, mut tail) = (0, Vec::new());
        for size in TAILS {
            (start, tail) = tail_of(&mut file, size)?;
            if start == 0 || last_line(&tail, start).and_then(Link::read).is_some() {
                break;
            }
        }
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (seq, hash) = if whole == 0 && start > 0 {
            // No record is that long: this was written by someone else, and is left as it is for `verify` to name.
            file.seek(SeekFrom::End(0))?;
            file.write_all(b"\n")?;
            self.after_damage(b"")
        } else {
            let torn = tail.split_off(whole);
            if !torn.is_empty() {
                self.set_torn_aside(torn)?;
                file.set_len(start + whole as u64)?;
            }
            match last_line(&tail, start) {
                // A file that holds nothing whole is one whose first record was torn: its name tells the number.
                None if tail.is_empty() => self.before(path)?,
                line => match line.and_then(Link::read) {
                    Some(link) => (link.seq, link.hash.to_owned()),
                    None => self.after_damage(&tail),
                },
            }
        };
        Ok(End { file, seq, hash })
    }

    fn set_torn_aside(&self, mut torn: Vec<u8>) -> io::Result<()> {
        torn.push(b'\n');
        let aside = self.folder.join("torn.txt");
        files::no_links().append(true).create(true).open(aside)?.write_all(&torn)
    }

    /// Where the chain stands before a file that is empty.
    fn before(&self, path: &Path) -> io::Result<(u64, String)> {
        let files = self.files()?;
        match files
            .iter()
            .position(|file| file == path)
            .and_then(|at| at.checked_sub(1))
            .and_then(|at| files.get(at))
        {
            Some(earlier) => self.heal(earlier).map(|end| (end.seq, end.hash)),
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

    /// The number of the last record, 0 if there is none.
    #[must_use]
    pub fn last(&self) -> u64 {
        let end = self.files().ok().and_then(|mut files| end_of(&files.pop()?).ok()).unwrap_or_default();
        let written =
            String::from_utf8_lossy(&end).lines().rev().find_map(|line| Some(Link::read(line)?.seq));
        let known = self.read_head().map(|(seq, _)| seq);
        written.max(known).unwrap_or(0)
    }
}

/// So many bytes of a file's end, and where they begin.
fn tail_of(file: &mut File, size: u64) -> io::Result<(u64, Vec<u8>)> {
    let length = file.metadata()?.len();
    let size = size.min(length);
    let start = length - size;
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(size).read_to_end(&mut tail)?;
    Ok((start, tail))
}

/// The last line that is whole at both ends.
fn last_line(tail: &[u8], start: u64) -> Option<&str> {
    let newline = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n');
    let lines = tail.get(..newline(tail)?)?;
    let from = match newline(lines) {
        Some(at) => at + 1,
        None if start == 0 => 0,
        None => return None,
    };
    std::str::from_utf8(lines.get(from..)?).ok()
}

/// The end of a file of the trail, with room for all that may have been taken along at once.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    tail_of(&mut files::open_regular(path)?, LONGEST_LINE * 4).map(|(_, tail)| tail)
}

/// Those of the records that waited which are not in the file yet: whoever took them along before may have been killed
/// before it could remove their files.
pub(super) fn not_in(path: &Path, bodies: Vec<Map<String, Value>>) -> io::Result<Vec<Map<String, Value>>> {
    if bodies.is_empty() {
        return Ok(bodies);
    }
    let end = end_of(path)?;
    let is_in = |body: &Map<String, Value>| {
        let id = body.get(WAITED).and_then(Value::as_str);
        id.is_some_and(|id| memchr::memmem::find(&end, format!("\"{WAITED}\":\"{id}\"").as_bytes()).is_some())
    };
    Ok(bodies.into_iter().filter(|body| !is_in(body)).collect())
}
