//! Writing records: one `write` of whole lines under a lock, healing what a killed process left.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::{GENESIS, Link, Record, Trail, hash_of};
use crate::{files, log, state};

/// How long another process may keep us waiting; then the record waits instead.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// No line of the trail is longer: what a record holds is bounded.
const LONGEST_LINE: u64 = 1 << 20;

/// What usually holds the last record.
const USUAL_TAIL: u64 = 8 << 10;

/// The field that tells a record which had to wait from all others.
const WAITED: &str = "waited";

impl Trail {
    /// Takes along what others had to lay aside, if there is anything.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take_along(&self) -> io::Result<()> {
        if self.pending().is_empty() {
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

    /// The records that others could not write, oldest first.
    fn pending(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(|name| name.starts_with("pending-"))
            })
            .collect();
        files.sort_unstable();
        files
    }

    /// Under the lock.
    fn write(&self, own: Vec<Map<String, Value>>) -> io::Result<()> {
        let pending = self.pending();
        let mut bodies = Vec::new();
        let mut taken = Vec::new();
        for path in pending {
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
        let current = self.files()?.pop();
        let (mut seq, mut prev) = match &current {
            Some(path) => self.heal(path)?,
            None => (0, GENESIS.to_owned()),
        };
        if let Some(path) = current.as_ref().filter(|_| !bodies.is_empty()) {
            // Whoever took them along before may have been killed before it could remove their files.
            let end = end_of(path)?;
            bodies.retain(|body| !is_in(&end, body));
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
            let path = match current {
                Some(path) if path.metadata()?.len() + lines.len() as u64 <= self.max_file_bytes => path,
                _ => self.folder.join(format!("audit-{first:010}.jsonl")),
            };
            let mut options = files::no_links();
            let mut file = options.append(true).create(true).open(path)?;
            file.write_all(lines.as_bytes())?;
            self.keep_head(seq, &prev);
        }
        for path in taken {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    /// The number and hash of the last record, after setting aside what a killed process left of another.
    fn heal(&self, path: &Path) -> io::Result<(u64, String)> {
        let mut options = files::no_links();
        let mut file = options.read(true).write(true).open(path)?;
        // Nearly always a few lines are enough, however long the trail has become.
        let (mut start, mut tail) = tail_of(&mut file, USUAL_TAIL)?;
        if start > 0 && last_record(&tail).is_none() {
            (start, tail) = tail_of(&mut file, LONGEST_LINE * 2)?;
        }
        let whole = memchr::memrchr(b'\n', &tail).map_or(0, |at| at + 1);
        if whole == 0 && start > 0 {
            // No record is that long: this was written by someone else, and is left as it is for `verify` to name.
            file.seek(SeekFrom::End(0))?;
            file.write_all(b"\n")?;
            return self.after_damage("");
        }
        let torn = tail.split_off(whole);
        if !torn.is_empty() {
            let aside = self.folder.join("torn.txt");
            let mut torn_line = torn;
            torn_line.push(b'\n');
            files::no_links().append(true).create(true).open(aside)?.write_all(&torn_line)?;
            file.set_len(start + whole as u64)?;
        }
        let text = String::from_utf8_lossy(&tail);
        match text.lines().next_back() {
            // A file that holds nothing whole is one whose first record was torn: its name tells the number.
            None => self.before(path),
            Some(line) => match Link::read(line) {
                Some(link) => Ok((link.seq, link.hash.to_owned())),
                None => self.after_damage(&text),
            },
        }
    }

    /// The number of the last record, 0 if there is none.
    #[must_use]
    pub fn last(&self) -> u64 {
        let end = self.files().ok().and_then(|mut files| end_of(&files.pop()?).ok()).unwrap_or_default();
        let written =
            String::from_utf8_lossy(&end).lines().rev().find_map(|line| Some(Link::read(line)?.seq));
        let known = self.read_head().map(|(seq, _)| seq);
        written.max(known).unwrap_or(0)
    }

    /// Where the chain stands before a file that is empty.
    fn before(&self, path: &Path) -> io::Result<(u64, String)> {
        let files = self.files()?;
        match files
            .iter()
            .position(|file| file == path)
            .and_then(|at| at.checked_sub(1))
            .and_then(|at| files.get(at))
        {
            Some(earlier) => self.heal(earlier),
            None => Ok((0, GENESIS.to_owned())),
        }
    }

    /// The last line was damaged by someone else. Records must not be lost for it: the chain goes on from the last
    /// line that can be read, and `verify` names the damage.
    fn after_damage(&self, text: &str) -> io::Result<(u64, String)> {
        let last = text.lines().rev().find_map(Link::read);
        let head = self.read_head();
        log::warn(|| {
            format!("the audit trail in {} is damaged: try `conclaude audit verify`", self.folder.display())
        });
        Ok(match (last, head) {
            (_, Some((seq, hash))) => (seq, hash),
            (Some(link), None) => (link.seq, link.hash.to_owned()),
            (None, None) => (0, GENESIS.to_owned()),
        })
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

/// So many bytes of a file's end, and where they begin.
fn tail_of(file: &mut fs::File, size: u64) -> io::Result<(u64, Vec<u8>)> {
    let start = file.metadata()?.len().saturating_sub(size);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(size).read_to_end(&mut tail)?;
    Ok((start, tail))
}

/// The last line that is whole, where it can be told from the one before it and is a record.
fn last_record(tail: &[u8]) -> Option<u64> {
    let end = memchr::memrchr(b'\n', tail)?;
    let start = memchr::memrchr(b'\n', tail.get(..end)?)? + 1;
    let line = std::str::from_utf8(tail.get(start..end)?).ok()?;
    Link::read(line).map(|link| link.seq)
}

/// The end of a file of the trail, with room for all that may have been taken along at once.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = files::open_regular(path)?;
    let start = file.metadata()?.len().saturating_sub(LONGEST_LINE * 4);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    Ok(end)
}

/// Whether a record that waited is among these.
fn is_in(end: &[u8], body: &Map<String, Value>) -> bool {
    let id = body.get(WAITED).and_then(Value::as_str);
    id.is_some_and(|id| memchr::memmem::find(end, format!("\"{WAITED}\":\"{id}\"").as_bytes()).is_some())
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
