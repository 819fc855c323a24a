//! The chain of hashes: what a line of the trail must look like, and which one follows another.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use conclaude_core::text::hex;

/// The `prev` of the first record of all.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The event of the record that starts a trail after another one.
pub(super) const RESET: &str = "audit reset";

/// How many records back it is found where foreign ones were inserted.
const MAX_RECENT: usize = 1_000;

/// The hash of a record: of its line as it would be without the hash itself.
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

    /// Whether the line is as it was written.
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

    /// Goes on after a record that was followed before.
    pub(super) fn after(seq: u64, hash: String) -> Chain {
        Chain { seq, hash, ..Chain::new() }
    }

    /// Goes on after a line that does not follow, so that what comes after it is compared with it.
    pub(super) fn skip_to(&mut self, line: &str) {
        if let Some(link) =
            ChainLink::read(line).filter(|link| link.seq > self.seq || self.inserted_before(link).is_some())
        {
            self.recent.clear();
            (self.seq, self.hash) = (link.seq, link.hash.to_owned());
        }
    }

    /// How many records before this one are foreign, since it follows the one before them.
    pub(super) fn inserted_before(&self, link: &ChainLink<'_>) -> Option<u64> {
        let inserted = self.seq.checked_sub(link.seq)?.checked_add(1)?;
        let back = self.recent.len().checked_sub(usize::try_from(inserted).ok()?)?;
        // A copy of a record proves nothing against those after it.
        let is_copy = self.recent.get(back + 1).unwrap_or(&self.hash) == link.hash;
        (*self.recent.get(back)? == link.prev && !is_copy && link.is_intact()).then_some(inserted)
    }

    /// The error says in which way the line does not follow.
    pub(super) fn advance(&mut self, line: &str) -> Result<(), String> {
        let expected = self.seq.saturating_add(1);
        let Some(link) = ChainLink::read(line) else {
            return Err(format!("not a record, where record {expected} should be"));
        };
        if !link.is_intact() {
            return Err(format!("record {} was changed: its hash does not match its content", link.seq));
        }
        if link.seq != expected && !(self.seq == 0 && continues_another_trail(&link, line)) {
            return Err(self.misplaced(&link, expected));
        }
        if self.seq > 0 && link.prev != self.hash || self.seq == 0 && link.seq == 1 && link.prev != GENESIS {
            return Err(format!(
                "record {expected} does not follow the one before it: one of them was replaced"
            ));
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

    fn misplaced(&self, link: &ChainLink<'_>, expected: u64) -> String {
        match (link.seq, self.inserted_before(link)) {
            (seq, Some(1)) => format!(
                "record {seq} follows record {} here: the record {seq} before it was not written by conclaude",
                seq - 1
            ),
            (seq, Some(_)) => format!(
                "record {seq} follows record {} here: the records {seq} to {} before it were not written by conclaude",
                seq.saturating_sub(1),
                self.seq
            ),
            (seq, None) if seq == expected.saturating_add(1) => format!("record {expected} was removed"),
            (seq, None) if seq > expected => {
                format!("records {expected} to {} were removed, or the order was changed", seq - 1)
            }
            (seq, None) => format!("record {seq} was inserted or moved: record {expected} should be here"),
        }
    }
}

/// Whether the line is the first of a trail that goes on where another one was moved away.
fn continues_another_trail(link: &ChainLink<'_>, line: &str) -> bool {
    let record: Value = serde_json::from_str(line).unwrap_or_default();
    let last = record.pointer("/findings/0/last");
    let number = last.and_then(|last| last.get("seq")).and_then(Value::as_u64);
    let hash = last.and_then(|last| last.get("hash")).and_then(Value::as_str);
    record.get("event").and_then(Value::as_str) == Some(RESET)
        && number.and_then(|number| number.checked_add(1)) == Some(link.seq)
        && hash == Some(link.prev.as_ref())
}
