//! Recording: a record is bounded in size and written under a lock. If another process holds the lock for too long, the
//! record is queued outside the project.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::lines::MAX_LINE_BYTES;
use super::record::{MAX_OUTPUT_BYTES, Record, remove_output};
use super::trail::{LOCK_WAIT, Trail, TrailError};
use super::writer::Writer;
use crate::store;
use conclaude_os::files;

/// Longer texts are cut.
const MAX_TEXT: usize = MAX_OUTPUT_BYTES;

/// A longer record is written without its parts.
const MAX_RECORD_BYTES: usize = MAX_LINE_BYTES / 2;

impl Trail {
    /// Writes the records that others had to queue, if there are any.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_pending(&self) -> io::Result<()> {
        if self.pending().is_empty() {
            return Ok(());
        }
        match self.lock()? {
            Some(_lock) => Writer::open(self)?.write_pending(),
            None => Ok(()),
        }
    }

    /// Writes a record. If the trail is locked for too long, the record is queued, and the next process that writes adds it.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn append(&self, record: &Record) -> io::Result<()> {
        let body = body_of(record)?;
        let Some(_lock) = self.lock()? else { return self.queue(&body) };
        let mut writer = Writer::open(self)?;
        writer.write_pending()?;
        writer.write(&[body])
    }

    /// `None` if another process holds the trail for too long.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        store::make_folder(&self.root, &self.folder)?;
        files::make_private(&self.folder);
        files::lock(&self.lock, LOCK_WAIT, &self.budget)
    }

    /// The number of the last record. Evidence of work that starts now comes after it.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        match self.read_anchor() {
            Some(end) if !end.may_be_late() => end.last.seq,
            end => self.last_in_files().unwrap_or(0).max(end.map_or(0, |end| end.last.seq)),
        }
    }
}

/// The record with its time, bounded in size, as the text of a JSON object.
pub(super) fn body_of(record: &Record) -> io::Result<String> {
    let now = jiff::Timestamp::now();
    let now = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    let fields = serde_json::to_string(record)?;
    let body = format!("{{\"time\":\"{now}\",{}", fields.strip_prefix('{').unwrap_or(&fields));
    if body.len() <= MAX_TEXT { Ok(body) } else { shorter(&body) }
}

fn shorter(body: &str) -> io::Result<String> {
    let mut record = bounded(serde_json::from_str(body)?);
    let body = record.to_string();
    if body.len() <= MAX_RECORD_BYTES {
        return Ok(body);
    }
    // The names of failed commands are worth more than their output.
    remove_output(&mut record);
    let Value::Object(mut fields) = record else { return Ok(record.to_string()) };
    fields.insert("shortened".into(), true.into());
    let body = serde_json::to_string(&fields)?;
    if body.len() <= MAX_RECORD_BYTES {
        return Ok(body);
    }
    fields.retain(|name, _| !matches!(name.as_str(), "findings" | "commands" | "des" | "evidence" | "judge"));
    Ok(serde_json::to_string(&fields)?)
}

/// Cuts long texts: the trail records decisions, not whole outputs.
fn bounded(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > MAX_TEXT => {
            let cut = text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or_default();
            format!("{cut}… ({} bytes in all)", text.len()).into()
        }
        Value::Array(items) => items.into_iter().map(bounded).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, bounded(value))).collect(),
        other => other,
    }
}

/// The field of a record that was queued first.
pub(super) const QUEUED: &str = "queued";

/// The prefix of a queued record's file, and its prefix while it is written.
const PENDING: &str = "pending-";
const UNFINISHED: &str = ".pending-";

/// The limit on one write. If the writer was killed, its write must still be found in the tail of the trail.
pub(super) const MAX_BATCH_BYTES: usize = MAX_LINE_BYTES * 2;

/// A process that has not finished a file after this time was killed.
const ABANDONED: Duration = Duration::from_hours(24);

pub(super) struct PendingRecord {
    pub(super) id: String,
    /// The text of a JSON object.
    pub(super) body: String,
}

/// Some of the queued records, and their files.
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
    /// Queues a record outside the project, where agents may not write. The next process that writes to the trail writes
    /// it too. The file appears atomically, so that the holder of the lock never reads half of it.
    pub(super) fn queue(&self, body: &str) -> io::Result<()> {
        let folder = &self.outside.as_ref().ok_or(TrailError::NoHomeToQueue)?.pending;
        store::make_state_folder(folder)?;
        let id = format!("{:020}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id());
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        let open = body.strip_suffix('}').unwrap_or(body);
        file.as_file_mut().write_all(format!("{open},\"{QUEUED}\":\"{id}\"}}\n").as_bytes())?;
        file.persist(folder.join(format!("{PENDING}{id}.jsonl"))).map(drop).map_err(|error| error.error)
    }

    /// The files of queued records, oldest first. Unfinished files of killed processes are removed.
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

/// Takes as many records from these files as fit into one write.
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
            // Not a readable record: renamed, so that the user can look at it.
            None => drop(fs::rename(&path, path.with_extension("unreadable"))),
        }
    }
    if batch.paths.is_empty() { None } else { Some(batch) }
}

/// A queued record, without the fields that the chain adds.
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
