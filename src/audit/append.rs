//! Writing records: one `write` of whole lines under a lock.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use super::end::{LONGEST_LINE, WAITED, not_in};
use super::{GENESIS, Record, Trail, hash_of};
use crate::{files, log, state};

/// How long another process may keep us waiting; then the record waits instead.
const LOCK_WAIT: Duration = Duration::from_secs(1);

impl Trail {
    /// Takes along what others had to lay aside, if there is anything.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take_along(&self) -> io::Result<()> {
        if self.listing().map_or(true, |listing| listing.pending.is_empty()) {
            return Ok(());
        }
        match files::lock(&self.folder.join("lock"), LOCK_WAIT)? {
            Some(_lock) => self.write(Vec::new()),
            None => Ok(()),
        }
    }

    /// Writes a record. If the trail is locked for too long, the record is laid beside it, and whoever writes next
    /// takes it along.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn append(&self, record: &Record) -> io::Result<()> {
        state::make_folder(&self.root, &self.folder)?;
        let body = body_of(record)?;
        match files::lock(&self.folder.join("lock"), LOCK_WAIT)? {
            Some(_lock) => self.write(vec![body]),
            None => self.lay_aside(body),
        }
    }

    /// A file that appears whole or not at all, so that whoever holds the lock never sees half of it.
    fn lay_aside(&self, mut body: Map<String, Value>) -> io::Result<()> {
        let id = format!("{:020}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id());
        body.insert(WAITED.into(), id.as_str().into());
        let mut file = tempfile::Builder::new().prefix(".pending-").tempfile_in(&self.folder)?;
        writeln!(file, "{}", Value::Object(body))?;
        let name = format!("pending-{id}.jsonl");
        file.persist(self.folder.join(name)).map(drop).map_err(|error| error.error)
    }

    /// Under the lock.
    fn write(&self, own: Vec<Map<String, Value>>) -> io::Result<()> {
        let mut listing = self.listing()?;
        let mut bodies = Vec::new();
        let mut taken = Vec::new();
        for path in listing.pending {
            let text = files::read_text(&path, LONGEST_LINE * 2).unwrap_or_default();
            let found: Vec<Map<String, Value>> =
                text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            if found.is_empty() {
                // Not a record, or not one that can be read: kept for a person, out of the way.
                let _ = fs::rename(&path, path.with_extension("unreadable"));
                continue;
            }
            bodies.extend(found);
            taken.push(path);
        }
        let (mut seq, mut prev) = (0, GENESIS.to_owned());
        let mut current = None;
        if let Some(path) = listing.files.pop() {
            let end = self.heal(&path)?;
            (seq, prev) = (end.seq, end.hash);
            bodies = not_in(&path, bodies)?;
            current = Some(end.file);
        }
        bodies.extend(own);
        // What was cut off or deleted stays missing: the chain goes on from what is known to have been written.
        if let Some((known, hash)) = self.read_head().filter(|(known, _)| *known > seq) {
            (seq, prev) = (known, hash);
        }
        let first = seq + 1;
        let mut lines = String::new();
        for body in bodies {
            seq += 1;
            let (line, hash) = chained(body, seq, &prev)?;
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
        for path in taken {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    /// Keeps number and hash of the last record outside the project too, so that a cut tail is noticed.
    fn keep_head(&self, seq: u64, hash: &str) {
        let Some(path) = &self.head else { return };
        let text = format!("{{\"seq\":{seq},\"hash\":\"{hash}\"}}\n");
        let anew = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            files::write_atomically(path, text.as_bytes())
        };
        let kept = write_over(path, &text).or_else(|_| anew());
        if let Err(error) = kept {
            log::warn(|| format!("cannot keep the head of the audit trail in {}: {error}", path.display()));
        }
    }

    pub(super) fn read_head(&self) -> Option<(u64, String)> {
        let text = files::read_text(self.head.as_ref()?, 4_096).ok()?;
        let json: Value = serde_json::from_str(&text).ok()?;
        Some((json.get("seq")?.as_u64()?, json.get("hash")?.as_str()?.to_owned()))
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

/// The record with its time, bounded in size.
fn body_of(record: &Record) -> io::Result<Map<String, Value>> {
    let now = jiff::Timestamp::now();
    let now = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    let mut body = Map::new();
    body.insert("time".into(), now.to_string().into());
    if let Value::Object(fields) = serde_json::to_value(record)? {
        body.extend(fields.into_iter().map(|(name, value)| (name, bounded(value))));
    }
    if serde_json::to_string(&body)?.len() as u64 > LONGEST_LINE / 2 {
        body.retain(|name, _| {
            !matches!(name.as_str(), "findings" | "commands" | "des" | "evidence" | "judge")
        });
        body.insert("shortened".into(), true.into());
    }
    Ok(body)
}

/// Long texts are cut: the trail says what was decided, not all that was said.
fn bounded(value: Value) -> Value {
    const LONGEST_TEXT: usize = 4_000;
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            let cut = text.get(..text.floor_char_boundary(LONGEST_TEXT)).unwrap_or_default();
            format!("{cut}… ({} bytes in all)", text.len()).into()
        }
        Value::Array(items) => items.into_iter().map(bounded).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, bounded(value))).collect(),
        other => other,
    }
}

/// The line of a record in the chain, and its hash.
fn chained(body: Map<String, Value>, seq: u64, prev: &str) -> io::Result<(String, String)> {
    let mut record = Map::new();
    record.insert("seq".into(), seq.into());
    record.extend(body);
    record.insert("prev".into(), prev.into());
    let text = serde_json::to_string(&record)?;
    let hash = hash_of(&text);
    let open = text.strip_suffix('}').unwrap_or(&text);
    Ok((format!("{open},\"hash\":\"{hash}\"}}"), hash))
}
