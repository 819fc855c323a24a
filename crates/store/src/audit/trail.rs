//! The paths of a trail: its files, its lock, the files outside the project, and the new name that `audit reset` gives it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::append::body_of;
use super::record::{Record, TraceParent, words};
use super::writer::Writer;
use crate::store;
use conclaude_os::budget::Budget;

/// The size at which a new file is started, unless the config says otherwise.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 16 << 20;

/// Why the trail cannot be used. Callers see an [`io::Error`].
#[derive(Debug, Error)]
pub(super) enum TrailError {
    #[error(
        "another process holds it, and there is no home folder to queue the record in: set HOME or XDG_STATE_HOME"
    )]
    NoHomeToQueue,
    #[error("there is no home folder to keep it in: set HOME or XDG_STATE_HOME")]
    NoHome,
    #[error("another process holds the trail: try again")]
    Busy,
    #[error("record {0} of the audit trail was changed or removed: `conclaude audit verify` says more")]
    RecordGone(u64),
}

impl From<TrailError> for io::Error {
    fn from(error: TrailError) -> io::Error {
        io::Error::other(error)
    }
}

#[derive(Clone, Debug)]
pub struct Trail {
    pub(super) root: PathBuf,
    pub(super) folder: PathBuf,
    /// Beside the folder, so that it stays when the folder is moved.
    pub(super) lock: PathBuf,
    pub(super) max_file_bytes: u64,
    /// `None` without a home folder.
    pub(super) outside: Option<ExternalPaths>,
    /// How long a writer may wait for other processes.
    pub(super) budget: Budget,
}

/// The files of a trail outside the project, where agents may not write.
#[derive(Clone, Debug)]
pub(super) struct ExternalPaths {
    /// The file with the anchor, the end of the trail.
    pub(super) end: PathBuf,
    /// The folder of queued records.
    pub(super) pending: PathBuf,
    /// The folder of the pointers to the records that prove phases.
    pub(super) runs: PathBuf,
    /// The folder with the state of each export.
    pub(super) exports: PathBuf,
}

impl ExternalPaths {
    pub(super) fn of(root: &Path, state: &Path) -> ExternalPaths {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = store::hash(&real.to_string_lossy());
        ExternalPaths {
            end: state.join(format!("{name}.json")),
            pending: state.join("pending").join(&name),
            runs: state.join("runs").join(&name),
            exports: state.join("exports").join(&name),
        }
    }
}

impl Trail {
    /// The trail of the project with this root.
    #[must_use]
    pub fn of(root: &Path, max_file_bytes: Option<u64>) -> Trail {
        let ours = root.join(store::FOLDER);
        Trail {
            root: root.to_owned(),
            folder: ours.join("audit"),
            lock: ours.join("audit.lock"),
            max_file_bytes: max_file_bytes.unwrap_or(DEFAULT_MAX_FILE_BYTES),
            outside: store::user_state_folder().map(|state| ExternalPaths::of(root, &state)),
            budget: Budget::unlimited(),
        }
    }

    /// This trail for a hook, with this timeout.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Trail {
        Trail { budget: budget.clone(), ..self }
    }

    /// The files and folders outside the project, each with its purpose.
    pub fn kept_outside(&self) -> Vec<(&'static str, &Path)> {
        let Some(ExternalPaths { end, pending, runs, exports }) = &self.outside else { return Vec::new() };
        vec![
            ("a copy of the end of the audit trail", end),
            ("records that are not in the audit trail yet", pending),
            ("what proves phases of steps", runs),
            ("how much of the audit trail was sent where", exports),
        ]
    }

    /// The folder in which exporters store their positions; none without a home.
    pub fn exports(&self) -> Option<&Path> {
        self.outside.as_ref().map(|outside| outside.exports.as_path())
    }

    /// The folder of the project.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name of the project.
    pub fn project(&self) -> String {
        self.root.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of the trail, oldest first, by the number of their first record: there may be millions of them.
    pub(super) fn files(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        self.each_entry(|path| numbers.extend(number_of(path)))?;
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn file(&self, number: u64) -> PathBuf {
        self.folder.join(file_name(number))
    }

    /// Some of the names in the folder that do not belong to the trail, and how many there are. (An older version had its lock
    /// there.)
    pub(super) fn foreign_files(&self, max: usize) -> io::Result<(BTreeSet<String>, usize)> {
        let (mut names, mut count) = (BTreeSet::new(), 0);
        self.each_entry(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if number_of(path).is_some() || matches!(&*name, TRUNCATED | "lock") {
                return;
            }
            count += 1;
            names.insert(name.into_owned());
            if names.len() > max {
                names.pop_last();
            }
        })?;
        Ok((names, count))
    }

    fn each_entry(&self, mut take: impl FnMut(&Path)) -> io::Result<()> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            take(&entry?.path());
        }
        Ok(())
    }
}

/// How long another process may hold the lock before the record is queued.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(1);

/// The start of the name that a trail is moved to.
pub(super) const ARCHIVE: &str = "audit-until-";

/// The file that has the truncated records of killed processes.
pub(super) const TRUNCATED: &str = "truncated.txt";

/// The mark of a record that was written without an anchor outside the project.
pub(super) const UNANCHORED: &str = ",\"unanchored\":true";

pub(super) fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The name of a file whose first record has this number.
pub(super) fn file_name(seq: u64) -> String {
    format!("audit-{seq:010}.jsonl")
}

/// The number of the first record of a file of the trail.
pub(super) fn number_of(path: &Path) -> Option<u64> {
    let name = name_of(path)?;
    let number = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?.parse().ok()?;
    if file_name(number) == name { Some(number) } else { None }
}

impl Trail {
    /// Moves a trail that is broken or too long to another name and starts a new one, whose first record says so. Numbers
    /// and chain continue, so that references by number stay valid. Returns the new path; `None` if there was no trail and
    /// no anchor of one. The record belongs to this span of the client.
    ///
    /// # Errors
    /// When it cannot be moved or started.
    pub fn reset(&self, traceparent: Option<TraceParent>) -> io::Result<Option<PathBuf>> {
        if !self.folder.exists() && self.read_anchor().is_none() {
            return Ok(None);
        }
        let _lock = self.lock()?.ok_or(TrailError::Busy)?;
        let archive = self.archive();
        let mut writer = Writer::after(self, self.last_position());
        std::fs::rename(&self.folder, &archive)?;
        store::make_folder(&self.root, &self.folder)?;
        let last = writer.last();
        let end = last.map(|last| format!("; it ended with record {}", last.seq)).unwrap_or_default();
        let what = serde_json::json!({
            "code": "AUDIT_RESET",
            "what": format!("the trail before this one was moved to {}{end}", archive.display()),
            "moved_to": archive,
            "last": last.map(|last| serde_json::json!({ "seq": last.seq, "hash": last.hash })),
        });
        let record = Record {
            event: words::AUDIT_RESET.into(),
            traceparent,
            decision: words::RESET.into(),
            findings: vec![what],
            ..Record::default()
        };
        writer.write(&[body_of(&record)?])?;
        writer.write_pending()?;
        Ok(Some(archive))
    }

    /// A name with the time that no other archive has.
    fn archive(&self) -> PathBuf {
        let mut time = jiff::Timestamp::now();
        loop {
            let name = format!("{ARCHIVE}{}", time.strftime("%Y%m%dT%H%M%S%3fZ"));
            let path = self.folder.with_file_name(name);
            if !path.exists() {
                return path;
            }
            time += jiff::SignedDuration::from_millis(1);
        }
    }
}
