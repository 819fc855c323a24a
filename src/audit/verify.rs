//! Is the trail whole? The first record that is not as it was written is named, and why.

use std::io;
use std::path::Path;

use super::Trail;
use super::chain::{GENESIS, Link};

/// What looking at the whole trail came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How many records are in order, up to the first that is not.
    pub good: u64,
    /// The first thing that is wrong.
    pub problem: Option<String>,
    /// What is worth knowing and not wrong.
    pub notes: Vec<String>,
}

/// Looks at every record of the trail.
///
/// # Errors
/// When a file cannot be read.
pub fn verify(trail: &Trail) -> io::Result<Verdict> {
    let mut verdict = Verdict { good: 0, problem: None, notes: Vec::new() };
    let head = trail.read_head();
    let mut chain = Chain::new();
    let mut head_seen = head.is_none();
    let files = trail.files()?;
    for (index, path) in files.iter().enumerate() {
        let bytes = super::read_file(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let is_last = index + 1 == files.len();
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let Some(line) = line.strip_suffix('\n') else {
                let location = location(path, number);
                if is_last {
                    verdict.notes.push(format!("{location}: the last line is truncated, left by a process that was killed; the next record moves it to truncated.txt"));
                    continue;
                }
                verdict.problem =
                    Some(format!("{location}: the line is truncated, though another file follows"));
                return Ok(verdict);
            };
            if let Err(why) = chain.advance(line) {
                verdict.problem = Some(format!("{}: {why}", location(path, number)));
                return Ok(verdict);
            }
            verdict.good += 1;
            if let Some((seq, hash)) = &head
                && *seq == chain.seq
            {
                head_seen = true;
                if *hash != chain.hash {
                    verdict.problem = Some(format!(
                        "{}: record {seq} is not the one that was written: its hash differs from the copy kept outside the project",
                        location(path, number)
                    ));
                    return Ok(verdict);
                }
            }
        }
    }
    if let Some((seq, _)) = head.filter(|_| !head_seen) {
        verdict.problem =
            Some(format!("the end is cut off: record {seq} was written, the trail ends with {}", chain.seq));
    }
    if trail.folder.join("truncated.txt").exists() {
        verdict.notes.push("truncated.txt holds what killed processes left of their records".into());
    }
    Ok(verdict)
}

fn location(path: &Path, number: usize) -> String {
    format!("{}:{}", path.display(), number + 1)
}

/// The record that the next one must follow.
pub(super) struct Chain {
    seq: u64,
    hash: String,
}

impl Chain {
    pub(super) fn new() -> Chain {
        Chain { seq: 0, hash: GENESIS.to_owned() }
    }

    /// Goes on after a line that does not follow, so that what comes after it is compared with it.
    pub(super) fn skip_to(&mut self, line: &str) {
        if let Some(link) = Link::read(line).filter(|link| link.seq > self.seq) {
            (self.seq, self.hash) = (link.seq, link.hash.to_owned());
        }
    }

    /// The error says in which way the line does not follow.
    pub(super) fn advance(&mut self, line: &str) -> Result<(), String> {
        let expected = self.seq.saturating_add(1);
        let Some(link) = Link::read(line) else {
            return Err(format!("not a record, where record {expected} should be"));
        };
        if link.hash != link.computed() {
            return Err(format!("record {} was changed: its hash does not fit its content", link.seq));
        }
        match link.seq {
            seq if seq > expected && seq == expected + 1 => {
                return Err(format!("record {expected} was removed"));
            }
            seq if seq > expected => {
                return Err(format!(
                    "records {expected} to {} were removed, or the order was changed",
                    seq - 1
                ));
            }
            seq if seq < expected => {
                return Err(format!("record {seq} was inserted or moved: record {expected} should be here"));
            }
            _ => {}
        }
        if link.prev != self.hash {
            return Err(format!(
                "record {expected} does not follow the one before it: one of them was replaced"
            ));
        }
        self.seq = link.seq;
        self.hash = link.hash.to_owned();
        Ok(())
    }
}
