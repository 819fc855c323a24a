//! Copies of settings files, with the time in their names. They are in the user's own state: settings may hold secrets, and a
//! project's folder is shared.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::error::InstallError;
use super::settings::{UserHook, user_hooks};
use super::user_file::MAX_BYTES;
use conclaude_os::files;
use conclaude_store::store;

/// The number of copies that are kept.
const MAX_COPIES: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupKind {
    /// The file before it had anything of ours.
    Before,
    /// There was none.
    Absent,
    Previous,
}

impl BackupKind {
    const ALL: [BackupKind; 3] = [BackupKind::Before, BackupKind::Absent, BackupKind::Previous];

    fn extension(self) -> &'static str {
        match self {
            BackupKind::Before => "json.before-conclaude",
            BackupKind::Absent => "json.absent-conclaude",
            BackupKind::Previous => "json.previous-conclaude",
        }
    }
}

/// A copy that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    pub kind: BackupKind,
    pub path: PathBuf,
    pub text: String,
}

#[cfg(test)]
impl Backup {
    /// A copy that is not in a file.
    pub(super) fn of_text(kind: BackupKind, text: &str) -> Backup {
        Backup { kind, path: PathBuf::new(), text: text.to_owned() }
    }
}

pub struct Backups {
    settings: PathBuf,
    /// `None` without a home directory.
    folder: Option<PathBuf>,
}

/// A copy that exists.
struct FoundCopy {
    kind: BackupKind,
    /// When it was made. Earlier versions wrote no times.
    time: String,
    path: PathBuf,
}

impl Backups {
    pub fn of(settings: &Path) -> Backups {
        let real = settings.parent().and_then(|folder| folder.canonicalize().ok());
        let real = real.zip(settings.file_name()).map(|(folder, name)| folder.join(name));
        let key = store::hash(&real.as_deref().unwrap_or(settings).to_string_lossy());
        let folder = store::user_state_folder().map(|folder| folder.join("backups").join(key));
        Backups { settings: settings.to_owned(), folder }
    }

    /// Where the first versions stored it: next to the settings.
    fn legacy_path(&self, kind: BackupKind) -> PathBuf {
        self.settings.with_extension(kind.extension())
    }

    /// The name of a copy without its time.
    fn name(&self, kind: BackupKind) -> Option<String> {
        Some(self.legacy_path(kind).file_name()?.to_str()?.to_owned())
    }

    /// The copies that exist, and when they were made, the newest first.
    fn found(&self) -> Vec<FoundCopy> {
        let mut found = Vec::new();
        let entries = self.folder.as_ref().and_then(|folder| std::fs::read_dir(folder).ok());
        for path in entries.into_iter().flatten().flatten().map(|entry| entry.path()) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            for kind in BackupKind::ALL {
                let time = self.name(kind).and_then(|own| name.strip_prefix(&own).map(str::to_owned));
                found.extend(time.map(|time| FoundCopy { kind, time, path: path.clone() }));
            }
        }
        let beside =
            BackupKind::ALL.map(|kind| FoundCopy { kind, time: String::new(), path: self.legacy_path(kind) });
        found.extend(beside.into_iter().filter(|copy| copy.path.symlink_metadata().is_ok()));
        found.sort_by(|one, other| other.time.cmp(&one.time));
        found
    }

    /// The copies that can be read, the newest first.
    pub fn all(&self) -> Vec<Backup> {
        let read = |FoundCopy { kind, path, .. }: FoundCopy| {
            let text = files::read_text(&path, MAX_BYTES).ok()?;
            Some(Backup { kind, path, text })
        };
        self.found().into_iter().filter_map(read).collect()
    }

    /// Writes a copy that only the user can read, and returns its path. A copy equal to the newest is not written again.
    pub fn keep(&self, kind: BackupKind, text: &str) -> Result<PathBuf, InstallError> {
        let own = self.folder.as_ref().zip(self.name(kind)).ok_or(InstallError::NoBackupFolder)?;
        let (folder, name) = own;
        if let Some(newest) = self.all().into_iter().find(|copy| copy.path.starts_with(folder))
            && newest.kind == kind
            && newest.text == text
        {
            return Ok(newest.path);
        }
        std::fs::create_dir_all(folder)?;
        let mut time = Timestamp::now();
        let mut path = folder.join(dated(&name, time));
        while path.symlink_metadata().is_ok() {
            time += SignedDuration::from_millis(1);
            path = folder.join(dated(&name, time));
        }
        // Only the user can read a temporary file, and renaming keeps that.
        files::write_atomically(&path, text.as_bytes())?;
        self.prune();
        Ok(path)
    }

    /// Records that no file existed, so an older backup is not restored.
    pub fn keep_absence(&self) -> Result<(), InstallError> {
        if !self.found().is_empty() {
            self.keep(BackupKind::Absent, "")?;
        }
        Ok(())
    }

    /// Removes the oldest copies, but never the last one from before the first registration.
    fn prune(&self) {
        let found = self.found();
        let newest_before = found.iter().position(|copy| copy.kind == BackupKind::Before);
        for (index, FoundCopy { path, .. }) in found.iter().enumerate().skip(MAX_COPIES) {
            if Some(index) != newest_before {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// Moves copies of earlier versions out of the project, where git would add them. Returns their old and new paths.
    pub fn move_out(&self) -> Result<Vec<(PathBuf, PathBuf)>, InstallError> {
        let mut moved = Vec::new();
        for kind in BackupKind::ALL {
            let beside = self.legacy_path(kind);
            let Ok(text) = files::read_text(&beside, MAX_BYTES) else { continue };
            let is_own = |copy: &&Backup| copy.kind == kind && copy.path != beside;
            let own = self.all().iter().find(is_own).map(|copy| copy.path.clone());
            // A newer one already exists.
            let to = own.map_or_else(|| self.keep(kind, &text), Ok)?;
            std::fs::remove_file(&beside)?;
            moved.push((beside, to));
        }
        Ok(moved)
    }

    pub fn existing(&self) -> Vec<PathBuf> {
        self.found().into_iter().map(|copy| copy.path).collect()
    }

    /// The copies with hooks that are nowhere else: neither in the settings nor in a newer copy.
    pub fn only_copies(&self) -> Vec<PathBuf> {
        let now = files::read_text(&self.settings, MAX_BYTES).unwrap_or_default();
        let mut known = user_hooks(&now);
        let mut found = Vec::new();
        for copy in self.all() {
            let more = missing(&copy.text, &known);
            if !more.is_empty() {
                known.extend(more);
                found.push(copy.path);
            }
        }
        found
    }

    /// Removes the copies that equal the restored file, and returns them.
    pub fn forget_restored(&self, text: Option<&str>) -> Vec<PathBuf> {
        let mut forgotten = Vec::new();
        for copy in self.all() {
            let is_restored = match copy.kind {
                BackupKind::Before => Some(copy.text.as_str()) == text,
                BackupKind::Absent => text.is_none(),
                BackupKind::Previous => false,
            };
            if is_restored && std::fs::remove_file(&copy.path).is_ok() {
                forgotten.push(copy.path);
            }
        }
        self.remove_folder();
        forgotten
    }

    /// Removes the folder, if it is empty.
    fn remove_folder(&self) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir(folder);
        }
    }

    /// Removes all copies except the only copy of something.
    pub fn forget_all(&self) {
        let kept = self.only_copies();
        for path in self.existing() {
            if !kept.contains(&path) {
                let _ = std::fs::remove_file(path);
            }
        }
        self.remove_folder();
    }
}

fn dated(name: &str, time: Timestamp) -> String {
    format!("{name}.{}", time.strftime("%Y%m%dT%H%M%S%3fZ"))
}

/// The user's hooks in a text, except these.
pub fn missing(text: &str, here: &[UserHook]) -> Vec<UserHook> {
    user_hooks(text).into_iter().filter(|hook| !here.contains(hook)).collect()
}
