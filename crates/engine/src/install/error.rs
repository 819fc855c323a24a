//! Why something of an installation cannot be read or changed.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("there is no home folder: set HOME or {0}")]
    NoHome(&'static str),
    #[error("there is no home folder for a copy of it: set HOME or XDG_STATE_HOME")]
    NoBackupFolder,
    #[error("{} is left as it is: {why}", .path.display())]
    Refused { path: PathBuf, why: String },
    #[error("this program is {}: name it conclaude before you install it", .0.display())]
    WrongProgramName(PathBuf),
    #[error("{}: {error}", .path.display())]
    NotRemoved { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl InstallError {
    pub(super) fn refused(path: &Path, why: &impl Display) -> InstallError {
        InstallError::Refused { path: path.to_owned(), why: why.to_string() }
    }
}
