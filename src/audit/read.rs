//! Reading the trail from its start to its end, and on as it grows.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use serde_json::Value;

use super::verify::Chain;
use super::{Filter, Trail, number_of, read_file, read_from};

/// A record as it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub line: String,
    pub record: Value,
    /// Why it cannot be believed: it is not as it was written, or does not follow the one before it.
    pub doubt: Option<String>,
}

/// Reads records in their order, and later those that were written since.
pub struct Reader<'a> {
    trail: &'a Trail,
    chain: Chain,
    /// The number of the file and the bytes of it that were read.
    at: (u64, u64),
    /// The last line that was read of this file.
    last: Vec<u8>,
    /// How many records there are, whether the filter admits them or not.
    pub total: u64,
    /// How many of them cannot be believed, and how many lines are no records.
    pub doubtful: u64,
    /// The decisions and the events that there are.
    pub decisions: BTreeSet<String>,
    pub events: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    #[must_use]
    pub fn new(trail: &'a Trail) -> Reader<'a> {
        Reader {
            trail,
            chain: Chain::new(),
            at: (0, 0),
            last: Vec::new(),
            total: 0,
            doubtful: 0,
            decisions: BTreeSet::new(),
            events: BTreeSet::new(),
        }
    }

    /// The records since the last call that the filter admits, oldest first.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn next(&mut self, filter: &Filter) -> io::Result<Vec<Entry>> {
        let mut found = Vec::new();
        let files = self.trail.files()?;
        if !self.is_same_trail(&files)? {
            (self.at, self.chain) = ((0, 0), Chain::new());
        }
        for path in files {
            let number = number_of(&path).unwrap_or(0);
            if number < self.at.0 {
                continue;
            }
            if number > self.at.0 {
                (self.at, self.last) = ((number, 0), Vec::new());
            }
            let Some(bytes) = if_there(read_from(&path, self.at.1))? else { break };
            // What is still being written is read the next time.
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let whole = bytes.get(..whole).unwrap_or_default();
            for line in String::from_utf8_lossy(whole).lines() {
                found.extend(self.entry(line).filter(|entry| filter.admits(&entry.record)));
            }
            self.at.1 += whole.len() as u64;
            if let Some(line) = whole.split_inclusive(|byte| *byte == b'\n').next_back() {
                self.last = line.to_owned();
            }
        }
        Ok(found)
    }

    /// Whether the last line that was read is still where it was: `audit reset` starts another trail.
    fn is_same_trail(&self, files: &[PathBuf]) -> io::Result<bool> {
        let (number, offset) = self.at;
        if number == 0 {
            return Ok(true);
        }
        let Some(path) = files.iter().find(|path| number_of(path) == Some(number)) else { return Ok(false) };
        let bytes = if_there(read_from(path, offset - self.last.len() as u64))?;
        Ok(bytes.is_some_and(|bytes| bytes.starts_with(&self.last)))
    }

    fn entry(&mut self, line: &str) -> Option<Entry> {
        let doubt = self.chain.advance(line).err();
        if doubt.is_some() {
            self.chain.skip_to(line);
            self.doubtful += 1;
        }
        let record = serde_json::from_str::<Value>(line).ok().filter(Value::is_object)?;
        self.total += 1;
        for (field, words) in [("decision", &mut self.decisions), ("event", &mut self.events)] {
            if let Some(word) = record.get(field).and_then(Value::as_str)
                && !words.contains(word)
            {
                words.insert(word.to_owned());
            }
        }
        Some(Entry { line: line.to_owned(), record, doubt })
    }
}

/// The trail may be moved between listing its files and opening them.
fn if_there(read: io::Result<Vec<u8>>) -> io::Result<Option<Vec<u8>>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The records that the filter admits, oldest first. Lines that are no records are passed over: `verify` names them.
///
/// # Errors
/// When a file cannot be read.
pub fn records(trail: &Trail, filter: &Filter) -> io::Result<Vec<Value>> {
    Ok(Reader::new(trail).next(filter)?.into_iter().map(|entry| entry.record).collect())
}

/// The session of the newest record that has one.
///
/// # Errors
/// When a file cannot be read.
pub fn last_session(trail: &Trail) -> io::Result<Option<String>> {
    for path in trail.files()?.into_iter().rev() {
        let bytes = read_file(&path)?;
        let text = String::from_utf8_lossy(&bytes);
        let session = |line: &str| {
            let record: Value = serde_json::from_str(line).ok()?;
            Some(record.get("session")?.as_str()?.to_owned())
        };
        if let Some(found) = text.lines().rev().find_map(session) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
