//! The chain of hashes: what a line of the trail must look like, which line follows another, and where the chain ends.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::record::words::AUDIT_RESET;
use super::trail::Trail;
use crate::store;
use conclaude_core::text::hex;
use conclaude_os::files;

/// The `prev` of the first record of all.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Inserted records are found up to this many records back.
const MAX_RECENT: usize = 1_000;

/// Why a record does not follow the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ChainError {
    #[error("not a record, where record {expected} should be")]
    NotARecord { expected: u64 },
    #[error("record {0} was changed: its hash does not match its content")]
    Changed(u64),
    #[error("record {0} does not follow the one before it: one of them was replaced")]
    Replaced(u64),
    #[error("record {seq} follows record {} here: the record {seq} before it was not written by conclaude", .seq.saturating_sub(1))]
    InsertedOne { seq: u64 },
    #[error("record {seq} follows record {} here: the records {seq} to {last} before it were not written by conclaude", .seq.saturating_sub(1))]
    InsertedMany { seq: u64, last: u64 },
    #[error("record {0} was removed")]
    RemovedOne(u64),
    #[error("records {first} to {last} were removed, or the order was changed")]
    RemovedMany { first: u64, last: u64 },
    #[error("record {seq} was inserted or moved: record {expected} should be here")]
    Moved { seq: u64, expected: u64 },
    #[error(
        "record {seq} was not written by conclaude: the last one it wrote is {last}, says the copy of the end that is kept outside the project"
    )]
    Foreign { seq: u64, last: u64 },
    #[error(
        "record {0} is not the one that was written: its hash differs from the copy kept outside the project"
    )]
    OtherHash(u64),
}

/// The hash of a record: that of its line without the hash itself.
pub(super) fn hash_of(without_hash: &str) -> String {
    hex(&Sha256::digest(without_hash.as_bytes()))
}

/// A line of the trail, parsed as far as the chain needs.
pub(super) struct ChainLink<'a> {
    pub(super) seq: u64,
    pub(super) prev: Cow<'a, str>,
    pub(super) hash: &'a str,
    /// Everything before the hash.
    body: &'a str,
}

impl<'a> ChainLink<'a> {
    pub(super) fn read(line: &'a str) -> Option<ChainLink<'a>> {
        #[derive(Deserialize)]
        struct ChainFields<'a> {
            seq: u64,
            #[serde(borrow)]
            prev: Cow<'a, str>,
        }
        let (body, rest) = line.rsplit_once(",\"hash\":\"")?;
        let hash = rest.strip_suffix("\"}")?;
        let ChainFields { seq, prev } = serde_json::from_str(line).ok()?;
        Some(ChainLink { seq, prev, hash, body })
    }

    /// Whether the line is unchanged.
    pub(super) fn is_intact(&self) -> bool {
        let digest = Sha256::new().chain_update(self.body).chain_update("}").finalize();
        self.hash == hex(&digest)
    }
}

/// The record that the next one must follow.
pub(super) struct Chain {
    pub(super) seq: u64,
    pub(super) hash: String,
    /// The hashes before it, newest last.
    recent: VecDeque<String>,
}

impl Chain {
    pub(super) fn new() -> Chain {
        Chain { seq: 0, hash: GENESIS.to_owned(), recent: VecDeque::new() }
    }

    /// The chain after a record that was checked earlier.
    pub(super) fn after(seq: u64, hash: String) -> Chain {
        Chain { seq, hash, ..Chain::new() }
    }

    /// Continues after a line that does not follow. The next line is compared with it.
    pub(super) fn skip_to(&mut self, line: &str) {
        if let Some(link) =
            ChainLink::read(line).filter(|link| link.seq > self.seq || self.inserted_before(link).is_some())
        {
            self.recent.clear();
            (self.seq, self.hash) = (link.seq, link.hash.to_owned());
        }
    }

    /// The number of inserted records before this one: it follows the record before them.
    pub(super) fn inserted_before(&self, link: &ChainLink<'_>) -> Option<u64> {
        let inserted = self.seq.checked_sub(link.seq)?.checked_add(1)?;
        let back = self.recent.len().checked_sub(usize::try_from(inserted).ok()?)?;
        // A copy of an earlier record does not prove that the records after it were inserted.
        let is_copy = self.recent.get(back + 1).unwrap_or(&self.hash) == link.hash;
        let follows = *self.recent.get(back)? == link.prev && !is_copy && link.is_intact();
        if follows { Some(inserted) } else { None }
    }

    /// Goes on to a line, if it follows.
    pub(super) fn advance(&mut self, line: &str) -> Result<(), ChainError> {
        let expected = self.seq.saturating_add(1);
        let Some(link) = ChainLink::read(line) else {
            return Err(ChainError::NotARecord { expected });
        };
        if !link.is_intact() {
            return Err(ChainError::Changed(link.seq));
        }
        if link.seq != expected && !(self.seq == 0 && continues_another_trail(&link, line)) {
            return Err(self.misplaced(&link, expected));
        }
        if self.seq > 0 && link.prev != self.hash || self.seq == 0 && link.seq == 1 && link.prev != GENESIS {
            return Err(ChainError::Replaced(expected));
        }
        self.go_to(link.seq, link.hash.to_owned());
        Ok(())
    }

    fn go_to(&mut self, seq: u64, hash: String) {
        self.recent.push_back(std::mem::replace(&mut self.hash, hash));
        if self.recent.len() > MAX_RECENT {
            self.recent.pop_front();
        }
        self.seq = seq;
    }

    fn misplaced(&self, link: &ChainLink<'_>, expected: u64) -> ChainError {
        let seq = link.seq;
        match self.inserted_before(link) {
            Some(1) => ChainError::InsertedOne { seq },
            Some(_) => ChainError::InsertedMany { seq, last: self.seq },
            None if seq == expected.saturating_add(1) => ChainError::RemovedOne(expected),
            None if seq > expected => ChainError::RemovedMany { first: expected, last: seq - 1 },
            None => ChainError::Moved { seq, expected },
        }
    }
}

/// Whether the line is the first of a trail that continues another one, which was moved away.
fn continues_another_trail(link: &ChainLink<'_>, line: &str) -> bool {
    let record: Value = serde_json::from_str(line).unwrap_or_default();
    let last = record.pointer("/findings/0/last");
    let number = last.and_then(|last| last.get("seq")).and_then(Value::as_u64);
    let hash = last.and_then(|last| last.get("hash")).and_then(Value::as_str);
    record.get("event").and_then(Value::as_str) == Some(AUDIT_RESET)
        && number.and_then(|number| number.checked_add(1)) == Some(link.seq)
        && hash == Some(link.prev.as_ref())
}

/// All anchors have the same length, so that one can be written over another.
const ANCHOR_BYTES: usize = 512;

/// A record, and the name of the file that it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordPosition {
    pub(super) seq: u64,
    pub(super) hash: String,
    /// `None` if an older version wrote this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
}

/// The end of the trail. A copy is kept outside the project, where agents may not write. It shows whether others added records
/// after it, or removed records before it. While a record is written, the anchor has the old and the new end, because we may be
/// killed in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Anchor {
    #[serde(flatten)]
    pub(super) last: RecordPosition,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<RecordPosition>,
}

impl Anchor {
    /// No record of ours has a higher number.
    pub(super) fn max_seq(&self) -> u64 {
        self.next.as_ref().map_or(self.last.seq, |next| next.seq.max(self.last.seq))
    }

    /// Whether a record after it may be ours: older versions wrote the anchor after the record.
    pub(super) fn may_be_late(&self) -> bool {
        self.last.file.is_none()
    }

    /// The hash that the record of this number must have, if it is known.
    pub(super) fn hash_at(&self, seq: u64) -> Option<&str> {
        [Some(&self.last), self.next.as_ref()]
            .into_iter()
            .flatten()
            .find(|one| one.seq == seq)
            .map(|one| one.hash.as_str())
    }
}

impl Trail {
    pub(super) fn read_anchor(&self) -> Option<Anchor> {
        let text = files::read_text(&self.outside.as_ref()?.end, 4_096).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(super) fn keep_anchor(&self, anchor: &Anchor) -> io::Result<()> {
        let Some(outside) = &self.outside else { return Ok(()) };
        let path = &outside.end;
        let mut text = serde_json::to_string(anchor)?;
        let padding = ANCHOR_BYTES.saturating_sub(text.len() + 1);
        text.extend(std::iter::repeat_n(' ', padding));
        text.push('\n');
        let replace = || {
            path.parent().map_or(Ok(()), store::make_state_folder)?;
            files::write_atomically(path, text.as_bytes())
        };
        write_over(path, &text).or_else(|_| replace()).map_err(|error| {
            let what = format!("cannot keep the end of the audit trail in {}: {error}", path.display());
            io::Error::new(error.kind(), what)
        })
    }
}

/// Overwrites a file of the same length with one write, which is atomic and takes a tenth of the time of replacing it.
fn write_over(path: &Path, text: &str) -> io::Result<()> {
    let mut file = files::no_links().write(true).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() != text.len() as u64 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    file.write_all(text.as_bytes())
}

impl Trail {
    /// Removes everything that is kept outside the project, for a project that is removed.
    pub fn forget(&self) {
        if let Some(outside) = &self.outside {
            let _ = fs::remove_file(&outside.end);
            for folder in [&outside.pending, &outside.runs, &outside.exports] {
                let _ = fs::remove_dir_all(folder);
            }
        }
    }
}
