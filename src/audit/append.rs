//! Writing records: one `write` of whole lines under a lock.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::chain::{GENESIS, hash_of};
use super::tail::{MAX_LINE_BYTES, QUEUED, not_in};
use super::{LOCK_WAIT, Record, Trail, UNFINISHED};
use crate::{files, log, store};

/// Whoever writes a file for longer than this was killed.
const ABANDONED: Duration = Duration::from_hours(24);

/// Longer texts are cut.
const MAX_TEXT: usize = 4_000;

/// The end of the trail as it is kept outside the project.
#[derive(Deserialize)]
struct Head {
    seq: u64,
    hash: String,
}

impl Trail {
    /// Writes the records that others had to queue, if there are any.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_pending(&self) -> io::Result<()> {
        if self.listing().map_or(true, |listing| listing.pending.is_empty()) {
            return Ok(());
        }
        match files::lock(&self.folder.join("lock"), LOCK_WAIT)? {
            Some(_lock) => self.write(Vec::new()),
            None => Ok(()),
        }
    }

    /// Writes a record. If the trail is locked for too long, the record is queued beside it, and whoever writes next
    /// writes it too.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn append(&self, record: &Record) -> io::Result<()> {
        store::make_folder(&self.root, &self.folder)?;
        files::make_private(&self.folder);
        let body = body_of(record)?;
        match files::lock(&self.folder.join("lock"), LOCK_WAIT)? {
            Some(_lock) => self.write(vec![body]),
            None => self.queue(&body),
        }
    }

    /// A file that appears whole or not at all, so that whoever holds the lock never sees half of it.
    fn queue(&self, body: &str) -> io::Result<()> {
        let id = format!("{:020}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id());
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder)?;
        writeln!(file, "{},\"{QUEUED}\":\"{id}\"}}", open(body))?;
        let name = format!("pending-{id}.jsonl");
        file.persist(self.folder.join(name)).map(drop).map_err(|error| error.error)
    }

    /// Under the lock.
    fn write(&self, own: Vec<String>) -> io::Result<()> {
        let mut listing = self.listing()?;
        let (mut queued, written) = read_queued(listing.pending);
        let (mut seq, mut prev) = (0, GENESIS.to_owned());
        let mut current = None;
        if let Some(path) = listing.files.pop() {
            let tail = self.repair(&path)?;
            (seq, prev) = (tail.seq, tail.hash);
            queued = not_in(&path, queued)?;
            current = Some(tail.file);
        }
        let mut bodies = queued.iter().map(serde_json::to_string).collect::<Result<Vec<String>, _>>()?;
        bodies.extend(own);
        // What was cut off or deleted stays missing: the chain goes on from what is known to have been written.
        if let Some((known, hash)) = self.read_head().filter(|(known, _)| *known > seq) {
            (seq, prev) = (known, hash);
        }
        let first = seq + 1;
        let mut lines = String::new();
        for body in bodies {
            seq += 1;
            let (line, hash) = chained(&body, seq, &prev);
            lines.push_str(&line);
            lines.push('\n');
            prev = hash;
        }
        if !lines.is_empty() {
            let has_room = |mut file: &fs::File| {
                Ok::<_, io::Error>(file.seek(SeekFrom::End(0))? + lines.len() as u64 <= self.max_file_bytes)
            };
            let mut file = match current {
                Some(file) if has_room(&file)? => file,
                _ => {
                    let path = self.folder.join(format!("audit-{first:010}.jsonl"));
                    files::no_links().append(true).create(true).open(path)?
                }
            };
            file.write_all(lines.as_bytes())?;
            self.keep_head(seq, &prev);
        }
        let dead = listing.unfinished.into_iter().filter(|path| is_older(path, ABANDONED));
        for path in written.into_iter().chain(dead) {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    /// Keeps number and hash of the last record outside the project too, so that a cut tail is noticed.
    fn keep_head(&self, seq: u64, hash: &str) {
        let Some(path) = &self.head else { return };
        let text = format!("{{\"seq\":{seq},\"hash\":\"{hash}\"}}\n");
        let replace = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            files::write_atomically(path, text.as_bytes())
        };
        let kept = write_over(path, &text).or_else(|_| replace());
        if let Err(error) = kept {
            log::warn(|| format!("cannot keep the head of the audit trail in {}: {error}", path.display()));
        }
    }

    pub(super) fn read_head(&self) -> Option<(u64, String)> {
        let text = files::read_text(self.head.as_ref()?, 4_096).ok()?;
        let Head { seq, hash } = serde_json::from_str(&text).ok()?;
        Some((seq, hash))
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

/// The record with its time, bounded in size, as the text of a JSON object.
fn body_of(record: &Record) -> io::Result<String> {
    let now = jiff::Timestamp::now();
    let now = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    let fields = serde_json::to_string(record)?;
    let body = format!("{{\"time\":\"{now}\",{}", fields.strip_prefix('{').unwrap_or(&fields));
    if body.len() <= MAX_TEXT { Ok(body) } else { shorter(&body) }
}

/// The same with long texts cut.
fn shorter(body: &str) -> io::Result<String> {
    let fields: Map<String, Value> = serde_json::from_str(body)?;
    let mut fields: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name, bounded(value))).collect();
    let body = serde_json::to_string(&fields)?;
    if body.len() as u64 <= MAX_LINE_BYTES / 2 {
        return Ok(body);
    }
    fields.retain(|name, _| !matches!(name.as_str(), "findings" | "commands" | "des" | "evidence" | "judge"));
    fields.insert("shortened".into(), true.into());
    Ok(serde_json::to_string(&fields)?)
}

/// Long texts are cut: the trail says what was decided, not all that was said.
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

/// The queued records, and the files that they are in.
fn read_queued(pending: Vec<PathBuf>) -> (Vec<Map<String, Value>>, Vec<PathBuf>) {
    let (mut records, mut paths) = (Vec::new(), Vec::new());
    for path in pending {
        let text = files::read_text(&path, MAX_LINE_BYTES * 2).unwrap_or_default();
        let found: Vec<Map<String, Value>> = text.lines().filter_map(queued_record).collect();
        if found.is_empty() {
            // Not a record, or not one that can be read: kept for the user, out of the way.
            let _ = fs::rename(&path, path.with_extension("unreadable"));
            continue;
        }
        records.extend(found);
        paths.push(path);
    }
    (records, paths)
}

/// A queued record, without what the chain gives it.
fn queued_record(line: &str) -> Option<Map<String, Value>> {
    let mut body: Map<String, Value> = serde_json::from_str(line).ok()?;
    body.retain(|name, _| !matches!(name.as_str(), "seq" | "prev" | "hash"));
    (!body.is_empty()).then_some(body)
}

fn is_older(path: &Path, than: Duration) -> bool {
    let written = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > than))
}

/// The text of an object, open for more fields.
fn open(object: &str) -> &str {
    object.strip_suffix('}').unwrap_or(object)
}

/// The line of a record in the chain, and its hash.
fn chained(body: &str, seq: u64, prev: &str) -> (String, String) {
    let fields = open(body).strip_prefix('{').unwrap_or_default();
    let text = format!("{{\"seq\":{seq},{fields},\"prev\":\"{prev}\"}}");
    let hash = hash_of(&text);
    (format!("{},\"hash\":\"{hash}\"}}", open(&text)), hash)
}
