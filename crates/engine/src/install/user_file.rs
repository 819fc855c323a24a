//! A change of a user's file: read with care, replaced as a whole or not at all.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::error::InstallError;
use conclaude_os::files;

/// No file that a user edits by hand is larger.
pub const MAX_BYTES: u64 = 16 << 20;

pub struct UserFile {
    pub path: PathBuf,
}

impl UserFile {
    pub fn refused(&self, why: &impl fmt::Display) -> InstallError {
        InstallError::refused(&self.path, why)
    }

    /// The file's text. `None` if there is no such file. Only a plain file that we may write is replaced.
    pub fn read(&self) -> Result<Option<String>, InstallError> {
        files::check_writable(&self.path).map_err(|error| self.refused(&error))?;
        match self.path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.refused(&error)),
            Ok(metadata) if metadata.is_symlink() => {
                return Err(self.refused(&"it is a link; change what it points to yourself"));
            }
            // Root could write it anyway.
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
