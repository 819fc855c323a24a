//! The chain of hashes: what a line of the trail must look like, and which records can be believed.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Filter, Trail, name_of, read_file, read_from};
use crate::store;

/// The `prev` of the first record of all.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The hash of a record: of its line as it would be without the hash itself.
pub(super) fn hash_of(without_hash: &str) -> String {
    store::hex(&Sha256::digest(without_hash.as_bytes()))
}

/// A line of the trail, parsed as far as the chain needs.
pub(super) struct Link<'a> {
    pub(super) seq: u64,
    pub(super) prev: String,
    pub(super) hash: &'a str,
    /// Everything before the hash.
    body: &'a str,
}

impl<'a> Link<'a> {
    pub(super) fn read(line: &'a str) -> Option<Link<'a>> {
        #[derive(Deserialize)]
        struct Chain {
            seq: u64,
            prev: String,
        }
        let (body, rest) = line.rsplit_once(",\"hash\":\"")?;
        let hash = rest.strip_suffix("\"}")?;
        let Chain { seq, prev } = serde_json::from_str(line).ok()?;
        Some(Link { seq, prev, hash, body })
    }

    /// The hash that the line should have.
    pub(super) fn computed(&self) -> String {
        hash_of(&format!("{}}}", self.body))
    }
}

/// Where a record is in the trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub seq: u64,
    pub hash: String,
    /// The name of its file.
    pub file: String,
    /// Where its line starts, in bytes.
    pub offset: u64,
}

/// Collects records whose own hash is right and that follow the one before them: a line that someone appended by hand
/// proves nothing.
struct Genuine<'a> {
    filter: &'a Filter,
    before: Option<(u64, String)>,
    found: Vec<Value>,
}

impl Genuine<'_> {
    fn read(&mut self, bytes: &[u8]) {
        // A record is written with the end of its line: what has none is truncated.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for line in String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default()).lines() {
            let Some(link) = Link::read(line) else { continue };
            // After a gap the chain goes on: what was cut off does not make the rest untrue.
            let follows = self
                .before
                .as_ref()
                .is_none_or(|(seq, hash)| *hash == link.prev || link.seq > seq.saturating_add(1));
            if follows && link.hash == link.computed() {
                self.before = Some((link.seq, link.hash.to_owned()));
                let record = serde_json::from_str::<Value>(line).ok();
                self.found.extend(record.filter(|record| self.filter.admits(record)));
            }
        }
    }
}

/// The genuine records of the whole trail, oldest first.
///
/// # Errors
/// When a file cannot be read.
pub fn genuine(trail: &Trail, filter: &Filter) -> io::Result<Vec<Value>> {
    let mut genuine = Genuine { filter, before: None, found: Vec::new() };
    for path in trail.files()? {
        genuine.read(&read_file(&path)?);
    }
    Ok(genuine.found)
}

/// The genuine records after a known one. Nothing before it is read, so that the length of the trail costs nothing.
///
/// # Errors
/// When the known record is not where it was, or a file cannot be read.
pub fn genuine_since(trail: &Trail, known: &Position, filter: &Filter) -> io::Result<Vec<Value>> {
    let files = trail.files()?;
    let at = files.iter().position(|path| name_of(path) == Some(&known.file));
    let (first, later) = at
        .and_then(|at| files.get(at..)?.split_first())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{} is gone", known.file)))?;
    let bytes = read_from(first, known.offset)?;
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let (line, rest) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let is_known = std::str::from_utf8(line).ok().and_then(Link::read).is_some_and(|link| {
        link.seq == known.seq && link.hash == known.hash && link.computed() == known.hash
    });
    if !is_known {
        return Err(io::Error::other(format!("record {} is not where it was in {}", known.seq, known.file)));
    }
    let before = Some((known.seq, known.hash.clone()));
    let mut genuine = Genuine { filter, before, found: Vec::new() };
    genuine.read(rest);
    for path in later {
        genuine.read(&read_file(path)?);
    }
    Ok(genuine.found)
}
