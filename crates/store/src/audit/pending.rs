//! Records that could not be written yet, since another process held the trail: they are queued outside the project, where
//! agents may not write, and whoever writes next writes them too.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::lines::MAX_LINE_BYTES;
use super::trail::Trail;
use crate::store;
use conclaude_os::files;

/// The field of a record that was queued first.
pub(super) const QUEUED: &str = "queued";

/// The prefix of a queued record's file, and the one that it has while it is written.
const PENDING: &str = "pending-";
const UNFINISHED: &str = ".pending-";

/// What is written in one go: it must be found again in the tail of the trail, if its writer was killed.
pub(super) const MAX_BATCH_BYTES: usize = MAX_LINE_BYTES * 2;

/// Whoever writes a file for longer than this was killed.
const ABANDONED: Duration = Duration::from_hours(24);

pub(super) struct PendingRecord {
    pub(super) id: String,
    /// The text of a JSON object.
    pub(super) body: String,
}

/// Some of the queued records, and the files that they are in.
pub(super) struct PendingBatch {
    pub(super) records: Vec<PendingRecord>,
    paths: Vec<PathBuf>,
}

impl PendingBatch {
    /// Removes the files, now that the records are written.
    pub(super) fn remove(self) {
        for path in self.paths {
            let _ = fs::remove_file(path);
        }
    }
}

impl Trail {
    /// A file that appears whole or not at all, so that whoever holds the lock never sees half of it.
    pub(super) fn queue(&self, body: &str) -> io::Result<()> {
        let no_home = || {
            let what = "another process holds it, and there is no home folder to queue the record in: set HOME or XDG_STATE_HOME";
            io::Error::other(what)
        };
        let folder = &self.outside.as_ref().ok_or_else(no_home)?.pending;
        store::make_outside_folder(folder)?;
        let id = format!("{:020}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id());
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        let open = body.strip_suffix('}').unwrap_or(body);
        file.as_file_mut().write_all(format!("{open},\"{QUEUED}\":\"{id}\"}}\n").as_bytes())?;
        file.persist(folder.join(format!("{PENDING}{id}.jsonl"))).map(drop).map_err(|error| error.error)
    }

    /// The files of queued records, oldest first. What killed processes left of others is removed.
    pub(super) fn pending(&self) -> Vec<PathBuf> {
        let folder = self.outside.as_ref().map(|outside| &outside.pending);
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let mut found = Vec::new();
        for entry in entries {
            let (name, path) = (entry.file_name(), entry.path());
            let name = name.to_string_lossy();
            if name.starts_with(PENDING) && name.ends_with(".jsonl") {
                found.push(path);
            } else if name.starts_with(UNFINISHED) && is_older(&path, ABANDONED) {
                let _ = fs::remove_file(path);
            }
        }
        found.sort_unstable();
        found
    }
}

/// As many of the records in these files as are written in one go; the rest of the files is left.
pub(super) fn take_batch(pending: &mut std::vec::IntoIter<PathBuf>) -> Option<PendingBatch> {
    let mut batch = PendingBatch { records: Vec::new(), paths: Vec::new() };
    let mut bytes = 0;
    while bytes < MAX_BATCH_BYTES / 2 {
        let Some(path) = pending.next() else { break };
        match read(&path) {
            Some(record) => {
                bytes += record.body.len();
                batch.records.push(record);
                batch.paths.push(path);
            }
            // Not a record, or not one that can be read: kept for the user, out of the way.
            None => drop(fs::rename(&path, path.with_extension("unreadable"))),
        }
    }
    (!batch.paths.is_empty()).then_some(batch)
}

/// A queued record, without what the chain gives it.
fn read(path: &Path) -> Option<PendingRecord> {
    let text = files::read_text(path, MAX_LINE_BYTES as u64).ok()?;
    let mut body: Map<String, Value> = serde_json::from_str(text.trim_end()).ok()?;
    body.retain(|name, _| !matches!(name.as_str(), "seq" | "prev" | "hash"));
    let id = body.get(QUEUED)?.as_str()?.to_owned();
    Some(PendingRecord { id, body: serde_json::to_string(&body).ok()? })
}

fn is_older(path: &Path, than: Duration) -> bool {
    let written = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > than))
}
