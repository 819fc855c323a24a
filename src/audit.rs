//! The audit trail: one record per decision, chained by hash, so that a changed, removed, inserted or reordered record
//! is found. `.conclaude/audit/audit-<first number>.jsonl`, a new file when one is full; the chain goes on across them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

mod anchor;
mod append;
mod chain;
mod lines;
mod pending;
mod query;
mod read;
mod reset;
mod runs;
mod stats;
mod tail;
mod trace;
mod verify;
mod writer;

pub use query::Filter;
pub(crate) use read::last_session;
pub use read::{Entry, Reader};
pub(crate) use read::{Mark, newest};
pub use stats::Stats;
pub use trace::TraceParent;
pub use verify::{Verdict, verify};

use crate::config::AuditConfig;
use crate::rule::Rule;
use crate::{files, store};

/// The size at which a new file is started, unless the config says otherwise.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 16 << 20;

/// What is recorded of one decision. Number, time and chain are added when it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// The hook event, or the subcommand: `des run`.
    pub event: String,
    /// When the event arrived; the time of the record is its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The span of the client that the decision belongs to. Added when it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<TraceParent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Claude Code's `permission_mode`: `default`, `acceptEdits`, `plan`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool call, at the events of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolRecord>,
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
    /// What applied and was not done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skip>,
    /// The limit on blocks, where a stop was to be blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Blocks>,
    /// The desktop was notified of a success or a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification: Option<&'static str>,
    /// What is wrong with the config, whose rules do not count then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_error: Option<Value>,
    /// What was run for a phase, as proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommandRecord {
    pub pattern: String,
    pub run: String,
    /// How it ended, in words.
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub started: String,
    pub duration_ms: u64,
    /// What that does: `pass`, `warn` or `block`.
    pub verdict: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// What the pattern matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// Something that applied and was not done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skip {
    pub what: String,
    pub why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// How often an agent was blocked, and may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocks {
    pub count: u32,
    pub max: u32,
    pub rule: Rule,
}

/// A tool call, by what the guards look at: its file or its shell command.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolRecord {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command is longer than what is recorded of it.
    #[serde(rename = "cut", skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Where relative paths start, unless that is the project's root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Trail {
    root: PathBuf,
    folder: PathBuf,
    /// Beside the folder, so that it stays when the folder is moved.
    lock: PathBuf,
    max_file_bytes: u64,
    /// None without a home.
    outside: Option<Outside>,
}

/// What is kept of a trail outside the project, where agents may not write.
#[derive(Clone, Debug)]
struct Outside {
    /// The file of its end.
    end: PathBuf,
    /// The folder of queued records.
    pending: PathBuf,
    /// The folder of the pointers to the records that prove phases.
    runs: PathBuf,
    /// The folder of what was sent where.
    exports: PathBuf,
}

impl Outside {
    fn of(root: &Path, state: &Path) -> Outside {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = store::hash(&real.to_string_lossy());
        Outside {
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
            outside: store::outside().map(|state| Outside::of(root, &state)),
        }
    }

    /// What is kept of the trail outside the project, and where.
    pub(crate) fn kept_outside(&self) -> Vec<(&'static str, &Path)> {
        let Some(Outside { end, pending, runs, exports }) = &self.outside else { return Vec::new() };
        vec![
            ("a copy of the end of the audit trail", end),
            ("records that are not in the audit trail yet", pending),
            ("what proves phases of steps", runs),
            ("how much of the audit trail was sent where", exports),
        ]
    }

    /// Where exporters keep how far they are; none without a home.
    pub(crate) fn exports(&self) -> Option<&Path> {
        self.outside.as_ref().map(|outside| outside.exports.as_path())
    }

    /// The trails that were before this one, oldest first: `audit reset` moved them away.
    pub(crate) fn earlier(&self) -> Vec<Trail> {
        let folders = self.archives().into_iter().rev().filter(|folder| files::is_real_folder(folder));
        folders.map(|folder| Trail { folder, ..self.clone() }).collect()
    }

    /// The name of the project.
    pub(crate) fn project(&self) -> String {
        self.root.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of the trail, oldest first, by the number of their first record: there may be millions of them.
    fn files(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        self.each_entry(|path| numbers.extend(number_of(path)))?;
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn file(&self, number: u64) -> PathBuf {
        self.folder.join(file_name(number))
    }

    /// Some of the names in the folder that are not of the trail, and how many there are. (An older version had its lock
    /// there.)
    fn foreign_files(&self, max: usize) -> io::Result<(BTreeSet<String>, usize)> {
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

/// A time as records hold it.
#[must_use]
pub(crate) fn in_record(time: Timestamp) -> String {
    time.round(jiff::Unit::Microsecond).unwrap_or(time).to_string()
}

/// How long another process may hold the lock; then the record is queued.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// The start of the name that a trail is moved to.
const ARCHIVE: &str = "audit-until-";

/// The file that holds what killed processes left of their records.
const TRUNCATED: &str = "truncated.txt";

/// The mark of a record that was written without a copy of the end outside the project.
const UNANCHORED: &str = ",\"unanchored\":true";

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The name of a file whose first record has this number.
fn file_name(seq: u64) -> String {
    format!("audit-{seq:010}.jsonl")
}

/// The number of the first record of a file of the trail.
fn number_of(path: &Path) -> Option<u64> {
    let name = name_of(path)?;
    let number = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?.parse().ok()?;
    (file_name(number) == name).then_some(number)
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
