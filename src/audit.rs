//! The audit trail: one record per decision, chained by hash, so that a changed, removed, inserted or reordered record
//! is found. `.conclaude/audit/audit-<first number>.jsonl`, a new file when one is full; the chain goes on across them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

mod append;
mod chain;
mod query;
mod read;
mod tail;
mod verify;

pub use chain::{Position, genuine, genuine_since};
pub use query::{Filter, Stats};
pub use read::{Entry, Reader, last_session, records};
pub use tail::Last;
pub use verify::{Verdict, verify};

use crate::config::AuditConfig;
use crate::{files, store};

/// The size at which a new file is started, unless the config says otherwise.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 16 << 20;

/// What is recorded of one decision. Number, time and chain are added when it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// The hook event, or the subcommand: `des run`.
    pub event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Claude Code's `permission_mode`: `default`, `acceptEdits`, `plan`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The step file, relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What was extracted from the prompt's markers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub des: Option<Value>,
    pub decision: String,
    /// Why, in the words of whoever decided: the reason of a skip or of an admitted failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandRecord>,
    /// What was run for a phase, as proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandRecord {
    pub pattern: String,
    pub run: String,
    /// How it ended, in words.
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
}

#[derive(Clone, Debug)]
pub struct Trail {
    root: PathBuf,
    folder: PathBuf,
    max_file_bytes: u64,
    /// Where the last number and hash are kept a second time, outside the project.
    head: Option<PathBuf>,
}

impl Trail {
    /// The trail of the project with this root.
    #[must_use]
    pub fn of(root: &Path, max_file_bytes: Option<u64>) -> Trail {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = format!("{}.json", store::hash(&real.to_string_lossy()));
        Trail {
            root: root.to_owned(),
            folder: root.join(store::FOLDER).join("audit"),
            max_file_bytes: max_file_bytes.unwrap_or(DEFAULT_MAX_FILE_BYTES),
            head: store::outside().map(|folder| folder.join(name)),
        }
    }

    /// Where the copy of the trail's head is kept, outside the project.
    pub(crate) fn head(&self) -> Option<&Path> {
        self.head.as_deref()
    }

    /// Removes the copy of the trail's head that is kept outside the project, for a project that is removed.
    pub fn forget(&self) {
        if let Some(head) = &self.head {
            let _ = std::fs::remove_file(head);
        }
    }

    /// Moves the trail to another name, whole as it is, and starts a new one whose first record says so. Returns the new
    /// path; none if there was no trail, not even a head of one.
    ///
    /// # Errors
    /// When it cannot be moved or started.
    pub fn reset(&self) -> io::Result<Option<PathBuf>> {
        let head = self.read_head();
        if !self.folder.exists() && head.is_none() {
            return Ok(None);
        }
        // Nobody writes while it is moved, and whoever waited sees that the lock is another one now. Windows moves no folder in
        // which a file is open.
        let is_locked = cfg!(unix) && self.folder.exists();
        let _lock = if is_locked { files::lock(&self.folder.join("lock"), LOCK_WAIT)? } else { None };
        let archive = self.archive();
        if self.folder.exists() {
            std::fs::rename(&self.folder, &archive)?;
        }
        self.forget();
        let last = head.as_ref().map(|(seq, hash)| serde_json::json!({ "seq": seq, "hash": hash }));
        let end = match &head {
            Some((seq, _)) => format!("; it ended with record {seq}"),
            None => String::new(),
        };
        let text = format!("the trail before this one was moved to {}{end}", archive.display());
        let what =
            serde_json::json!({ "code": "AUDIT_RESET", "what": text, "moved_to": archive, "last": last });
        self.append(&Record {
            event: "audit reset".into(),
            decision: "reset".into(),
            findings: vec![what],
            ..Record::default()
        })?;
        Ok(Some(archive))
    }

    /// Where the trail can be moved to: a name with the time that no other archive has.
    fn archive(&self) -> PathBuf {
        let mut time = jiff::Timestamp::now();
        loop {
            let name = format!("audit-until-{}", time.strftime("%Y%m%dT%H%M%S%3fZ"));
            let path = self.folder.with_file_name(name);
            if !path.exists() {
                return path;
            }
            time += jiff::SignedDuration::from_millis(1);
        }
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of the trail, oldest first.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        self.listing().map(|listing| listing.files)
    }

    fn listing(&self) -> io::Result<Listing> {
        let mut listing = Listing::default();
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if number_of(&path).is_some() {
                listing.files.push(path);
            } else if name_of(&path).is_some_and(|name| name.starts_with("pending-")) {
                listing.pending.push(path);
            } else if name_of(&path).is_some_and(|name| name.starts_with(UNFINISHED)) {
                listing.unfinished.push(path);
            }
        }
        listing.files.sort_unstable_by_key(|path| number_of(path));
        listing.pending.sort_unstable();
        Ok(listing)
    }
}

/// The files in the folder of a trail.
#[derive(Default)]
struct Listing {
    /// The files of the trail, oldest first.
    files: Vec<PathBuf>,
    /// Queued records, oldest first.
    pending: Vec<PathBuf>,
    /// Queued records that are still being written.
    unfinished: Vec<PathBuf>,
}

/// How long another process may hold the lock; then the record is queued.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// The prefix of a queued record's file while it is written.
const UNFINISHED: &str = ".pending-";

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The number of the first record of a file of the trail.
fn number_of(path: &Path) -> Option<u64> {
    name_of(path)?.strip_prefix("audit-")?.strip_suffix(".jsonl")?.parse().ok()
}

/// A file of the trail, whatever its size.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_from(path, 0)
}

/// The bytes of a file from this offset on.
fn read_from(path: &Path, offset: u64) -> io::Result<Vec<u8>> {
    let mut file = files::open_regular(path)?;
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes)
}

/// Writes a record as the config asks for: `Ok` with what went wrong where that is only a warning.
///
/// # Errors
/// When the record cannot be written and must be.
pub fn write(root: &Path, config: Option<&AuditConfig>, record: &Record) -> Result<Option<String>, String> {
    let config = config.cloned().unwrap_or_default();
    if config.enabled == Some(false) {
        return Ok(None);
    }
    match Trail::of(root, config.max_file_bytes.map(|bytes| bytes.get().into())).append(record) {
        Ok(()) => Ok(None),
        Err(error) => {
            let what = format!("the audit trail cannot be written: {error}");
            if config.required == Some(true) { Err(what) } else { Ok(Some(what)) }
        }
    }
}

#[cfg(test)]
mod tests;
