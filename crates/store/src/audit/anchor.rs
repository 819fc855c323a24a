//! The anchor of the trail: its end, as it is kept outside the project, where agents may not write: what follows it in the project, or is
//! missing before it, was not our doing.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::trail::Trail;
use crate::store;
use conclaude_os::files;

/// All anchors have the same length, so that one is written over another.
const BYTES: usize = 512;

/// A record, and the name of the file that it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordPosition {
    pub(super) seq: u64,
    pub(super) hash: String,
    /// None if an older version wrote this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
}

/// The last record, and the one that is being written after it: whoever is killed meanwhile leaves both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Anchor {
    #[serde(flatten)]
    pub(super) last: RecordPosition,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<RecordPosition>,
}

impl Anchor {
    /// The number that no record of ours exceeds.
    pub(super) fn max_seq(&self) -> u64 {
        self.next.as_ref().map_or(self.last.seq, |next| next.seq.max(self.last.seq))
    }

    /// Whether a record that follows it may be ours: older versions wrote the record first and the end after it.
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
        let padding = BYTES.saturating_sub(text.len() + 1);
        text.extend(std::iter::repeat_n(' ', padding));
        text.push('\n');
        let replace = || {
            path.parent().map_or(Ok(()), store::make_outside_folder)?;
            files::write_atomically(path, text.as_bytes())
        };
        write_over(path, &text).or_else(|_| replace()).map_err(|error| {
            let what = format!("cannot keep the end of the audit trail in {}: {error}", path.display());
            io::Error::new(error.kind(), what)
        })
    }
}

/// Writes over a file of the same length, in one go: nobody finds a part of it, and it is a tenth of the cost of replacing it.
fn write_over(path: &Path, text: &str) -> io::Result<()> {
    let mut file = files::no_links().write(true).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() != text.len() as u64 {
        return Err(io::Error::other("it must be replaced"));
    }
    file.write_all(text.as_bytes())
}

impl Trail {
    /// Removes all that is kept of the trail outside the project, for a project that is removed.
    pub fn forget(&self) {
        if let Some(outside) = &self.outside {
            let _ = fs::remove_file(&outside.end);
            for folder in [&outside.pending, &outside.runs, &outside.exports] {
                let _ = fs::remove_dir_all(folder);
            }
        }
    }
}
