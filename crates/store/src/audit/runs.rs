//! The position of the record of the last run of each phase. Its hash is kept outside the project, so that a line that
//! somebody else wrote proves nothing. A stop then reads one line of the trail, however long the trail is.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain::ChainLink;
use super::lines::Lines;
use super::record::words::DES_RUN;
use super::trail::{ARCHIVE, Trail, TrailError, name_of};
use crate::store;
use conclaude_os::files;

/// The position of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pointer {
    pub(super) seq: u64,
    pub(super) hash: String,
    pub(super) file: String,
    /// The start of its line, in bytes.
    pub(super) offset: u64,
}

/// The phase that a record proves, if it proves one.
fn proved(body: &str) -> Option<(String, String)> {
    #[derive(Deserialize)]
    struct Proof {
        event: String,
        step: Option<String>,
        phase: Option<String>,
    }
    // Most records are of other events and need not be parsed.
    memchr::memmem::find(body.as_bytes(), b"\"des run\"")?;
    let proof: Proof = serde_json::from_str(body).ok()?;
    if proof.event != DES_RUN {
        return None;
    }
    proof.step.zip(proof.phase)
}

impl Trail {
    fn pointer(&self, step: &str, phase: &str) -> Option<PathBuf> {
        let name = format!("{}.json", store::hash(&format!("{step}\0{phase}")));
        Some(self.outside.as_ref()?.runs.join(name))
    }

    /// Stores the future position of a record, if it proves a phase.
    pub(super) fn note_run(&self, body: &str, at: &Pointer) -> io::Result<()> {
        let Some(path) = proved(body).and_then(|(step, phase)| self.pointer(&step, &phase)) else {
            return Ok(());
        };
        let folder = path.parent().map_or(Ok(()), store::make_state_folder);
        let written = folder.and_then(|()| files::write_atomically(&path, &serde_json::to_vec(at)?));
        written.map_err(|error| {
            let what = format!("cannot keep what proves a phase in {}: {error}", path.display());
            io::Error::new(error.kind(), what)
        })
    }

    /// The record of the last run of a phase.
    ///
    /// # Errors
    /// When there was a run whose record is missing or changed.
    pub fn last_run(&self, step: &str, phase: &str) -> io::Result<Option<Value>> {
        let Some(path) = self.pointer(step, phase) else {
            return Err(TrailError::NoHome.into());
        };
        let text = match files::read_text(&path, 4_096) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let at: Pointer = serde_json::from_str(&text)?;
        let folders = std::iter::once(self.folder.clone()).chain(self.archives());
        let found = folders.filter_map(|folder| record_at(&folder.join(&at.file), &at)).next();
        match found {
            Some(record) => Ok(Some(record)),
            None => Err(TrailError::RecordGone(at.seq).into()),
        }
    }

    /// The earlier trails, oldest first. `audit reset` moved them away.
    pub fn earlier(&self) -> Vec<Trail> {
        let folders = self.archives().into_iter().rev().filter(|folder| files::is_real_folder(folder));
        folders.map(|folder| Trail { folder, ..self.clone() }).collect()
    }

    /// The trails that were moved away, newest first.
    pub(super) fn archives(&self) -> Vec<PathBuf> {
        let entries =
            self.folder.parent().and_then(|ours| fs::read_dir(ours).ok()).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut found: Vec<PathBuf> =
            paths.filter(|path| name_of(path).is_some_and(|name| name.starts_with(ARCHIVE))).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found
    }
}

/// The record at this position, if its hash is the expected one.
fn record_at(path: &Path, at: &Pointer) -> Option<Value> {
    let mut lines = Lines::open(path, at.offset).ok()?;
    let line = lines.next().ok()??;
    let link = ChainLink::read(&line.text)?;
    if line.is_whole && link.seq == at.seq && link.hash == at.hash && link.is_intact() {
        serde_json::from_str(&line.text).ok()
    } else {
        None
    }
}
