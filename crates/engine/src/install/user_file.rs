//! A file of the user that is to be changed: read with care, replaced whole or not at all. Copies of settings as they were are in
//! the user's own state: settings may hold secrets, and a project's folder is shared.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::error::InstallError;
use conclaude_os::files;
use conclaude_store::store;

/// What a user edits by hand is never this large.
pub const MAX_BYTES: u64 = 16 << 20;

pub struct UserFile {
    pub path: PathBuf,
}

impl UserFile {
    pub fn refused(&self, why: &impl fmt::Display) -> InstallError {
        InstallError::refused(&self.path, why)
    }

    /// The file's text. None if there is no such file. Only a plain file that we may write is replaced.
    pub fn read(&self) -> Result<Option<String>, InstallError> {
        files::check_writable(&self.path).map_err(|error| self.refused(&error))?;
        match self.path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.refused(&error)),
            Ok(metadata) if metadata.is_symlink() => {
                return Err(self.refused(&"it is a link; change what it points to yourself"));
            }
            // Root could write it all the same.
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(self.refused(&"it is read-only"));
            }
            Ok(_) => {}
        }
        files::read_text(&self.path, MAX_BYTES).map(Some).map_err(|error| self.refused(&error))
    }

    /// Replaces the file, or removes it without a text.
    pub fn write(&self, text: Option<&str>) -> Result<(), InstallError> {
        let Some(text) = text else { return Ok(std::fs::remove_file(&self.path)?) };
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(files::replace(&self.path, text.as_bytes())?)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupKind {
    /// The file before there was anything of ours in it.
    Before,
    Previous,
}

impl BackupKind {
    const ALL: [BackupKind; 2] = [BackupKind::Before, BackupKind::Previous];

    fn extension(self) -> &'static str {
        match self {
            BackupKind::Before => "json.before-conclaude",
            BackupKind::Previous => "json.previous-conclaude",
        }
    }
}

pub struct Backups {
    settings: PathBuf,
    /// None without a home.
    folder: Option<PathBuf>,
}

impl Backups {
    pub fn of(settings: &Path) -> Backups {
        let real = settings.parent().and_then(|folder| folder.canonicalize().ok());
        let real = real.zip(settings.file_name()).map(|(folder, name)| folder.join(name));
        let key = store::hash(&real.as_deref().unwrap_or(settings).to_string_lossy());
        let folder = store::user_state_folder().map(|folder| folder.join("backups").join(key));
        Backups { settings: settings.to_owned(), folder }
    }

    fn path(&self, copy: BackupKind) -> Option<PathBuf> {
        let name = self.settings.with_extension(copy.extension());
        Some(self.folder.as_ref()?.join(name.file_name()?))
    }

    /// Where earlier versions kept it: beside the settings.
    fn beside(&self, copy: BackupKind) -> PathBuf {
        self.settings.with_extension(copy.extension())
    }

    /// The file before there was anything of ours in it.
    pub fn before(&self) -> Option<String> {
        let own = self.path(BackupKind::Before).and_then(|path| files::read_text(&path, MAX_BYTES).ok());
        own.or_else(|| files::read_text(&self.beside(BackupKind::Before), MAX_BYTES).ok())
    }

    /// Keeps a copy, for the user alone to read, and says where.
    pub fn keep(&self, copy: BackupKind, text: &str) -> Result<PathBuf, InstallError> {
        let path = self.path(copy).ok_or(InstallError::NoBackupFolder)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // A temporary file is the user's alone, and stays so when it gets its name.
        files::write_atomically(&path, text.as_bytes())?;
        Ok(path)
    }

    /// Moves copies of earlier versions out of the project, where git would take them; where they were and are.
    pub fn move_out(&self) -> Result<Vec<(PathBuf, PathBuf)>, InstallError> {
        let mut moved = Vec::new();
        for copy in BackupKind::ALL {
            let beside = self.beside(copy);
            let Ok(text) = files::read_text(&beside, MAX_BYTES) else { continue };
            let own = self.path(copy).filter(|path| path.symlink_metadata().is_ok());
            // A newer one is there already.
            let to = own.map_or_else(|| self.keep(copy, &text), Ok)?;
            std::fs::remove_file(&beside)?;
            moved.push((beside, to));
        }
        Ok(moved)
    }

    /// The copies that exist, also those of earlier versions.
    pub fn existing(&self) -> Vec<PathBuf> {
        let all = BackupKind::ALL
            .into_iter()
            .flat_map(|copy| self.path(copy).into_iter().chain([self.beside(copy)]));
        all.filter(|path| path.symlink_metadata().is_ok()).collect()
    }

    /// Removes a copy that is not needed any more.
    pub fn forget(&self, copy: BackupKind) {
        for path in self.path(copy).into_iter().chain([self.beside(copy)]) {
            let _ = std::fs::remove_file(path);
        }
        // Only if nothing else is in it.
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir(folder);
        }
    }

    pub fn forget_all(&self) {
        BackupKind::ALL.into_iter().for_each(|copy| self.forget(copy));
    }
}
