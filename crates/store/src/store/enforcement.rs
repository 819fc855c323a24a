//! The entries that `conclaude install --enforce` has written into a settings file. The record is kept outside the project: we
//! may change only these entries.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::store::{self, StoreError};
use conclaude_core::dialect::claude::sandbox::SettingsEntry;
use conclaude_os::files;

/// A record is never this large.
const MAX_BYTES: u64 = 32 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnforcementRecord {
    pub settings: PathBuf,
    /// The original file. None if there was none.
    pub original: Option<String>,
    pub entries: Vec<SettingsEntry>,
    /// The keys of objects and lists that were made for them.
    pub created: Vec<Vec<String>>,
    /// The number of files that match a rule and could not be listed.
    #[serde(default)]
    pub unlisted: usize,
}

/// The path of the record for a settings file. None without a home.
#[must_use]
pub fn record_path(settings: &Path) -> Option<PathBuf> {
    let real = settings.parent().and_then(|folder| folder.canonicalize().ok());
    let real = real.zip(settings.file_name()).map(|(folder, name)| folder.join(name));
    let key = store::hash(&real.as_deref().unwrap_or(settings).to_string_lossy());
    Some(store::user_state_folder()?.join("enforced").join(format!("{key}.json")))
}

impl EnforcementRecord {
    /// The record of a settings file. `None` if `install --enforce` was not run.
    #[must_use]
    pub fn read(settings: &Path) -> Option<EnforcementRecord> {
        let text = files::read_text(&record_path(settings)?, MAX_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// # Errors
    /// When it cannot be written.
    pub fn write(&self) -> io::Result<()> {
        let path = record_path(&self.settings).ok_or(StoreError::NoHome)?;
        if let Some(folder) = path.parent() {
            store::make_state_folder(folder)?;
        }
        files::write_atomically(&path, &serde_json::to_vec(self)?)
    }

    /// # Errors
    /// When it exists and cannot be removed.
    pub fn remove(settings: &Path) -> io::Result<()> {
        let Some(path) = record_path(settings) else { return Ok(()) };
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
