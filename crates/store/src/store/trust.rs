//! Whether the user has agreed that the commands of a config may run. This matters only if conclaude is registered for all
//! projects of a user: a repository that was just cloned must not run code unasked.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::store::{self, StoreError};
use conclaude_os::files;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustStatus {
    /// The user agreed to the current text.
    Trusted,
    /// The user agreed to an earlier text.
    Changed,
    /// The user has never agreed to it.
    Unknown,
}

/// An agreement of the user, kept outside the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    pub config: PathBuf,
    pub hash: String,
    pub time: String,
}

fn folder() -> Option<PathBuf> {
    store::user_state_folder().map(|folder| folder.join("trusted"))
}

/// The config's own path. A link is not followed: the commands run here, not at the link's target.
fn own_path(config: &Path) -> PathBuf {
    let folder = config.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(config.file_name()).map_or_else(|| config.to_owned(), |(folder, name)| folder.join(name))
}

/// The path of the agreement to a config.
pub fn agreement_path(config: &Path) -> Option<PathBuf> {
    Some(folder()?.join(format!("{}.json", store::hash(&own_path(config).to_string_lossy()))))
}

fn read(path: &Path) -> Option<Agreement> {
    let text = files::read_text(path, 64 << 10).ok()?;
    serde_json::from_str(&text).ok()
}

/// The trust status of a config with this text.
pub fn status(config: &Path, text: &str) -> TrustStatus {
    match agreement_path(config).and_then(|path| read(&path)) {
        Some(agreement) if agreement.hash == store::hash(text) => TrustStatus::Trusted,
        Some(_) => TrustStatus::Changed,
        None => TrustStatus::Unknown,
    }
}

pub fn grant(config: &Path, text: &str) -> io::Result<()> {
    let path = agreement_path(config).ok_or(StoreError::NoHome)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let agreement = Agreement {
        config: own_path(config),
        hash: store::hash(text),
        time: jiff::Timestamp::now().strftime("%FT%TZ").to_string(),
    };
    files::write_atomically(&path, &serde_json::to_vec(&agreement)?)
}

/// Revokes the agreement. Returns whether there was one.
pub fn revoke(config: &Path) -> io::Result<bool> {
    let Some(path) = agreement_path(config) else { return Ok(false) };
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// All agreements, by the path of the config.
pub fn all() -> Vec<Agreement> {
    let entries = folder().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut all: Vec<Agreement> = entries.filter_map(|entry| read(&entry.path())).collect();
    all.sort_unstable_by(|a, b| a.config.cmp(&b.config));
    all
}
