//! Why a part of an installation cannot be read or changed.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use super::channels;
use conclaude_core::dialect::Dialect;

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("there is no home folder: set HOME{}", or_variable(.0))]
    NoHome(&'static Dialect),
    #[error(
        "--local: {} has no settings file of a project that is yours alone: leave it out, or use --user", .0.title
    )]
    NoLocalSettings(&'static Dialect),
    #[error("there is no home folder for a copy of it: set HOME or XDG_STATE_HOME")]
    NoBackupFolder,
    #[error("{} is left unchanged: {why}", .path.display())]
    Refused { path: PathBuf, why: String },
    #[error("this program is {}: name it conclaude before you install it", .0.display())]
    WrongProgramName(PathBuf),
    #[error(
        "{} belongs to a project, and what is registered with --user never runs a program inside a project: install it for yourself, by {}",
        .0.display(), channels::in_words()
    )]
    OnlyInProject(PathBuf),
    #[error("{}: {error}", .path.display())]
    NotRemoved { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn or_variable(client: &Dialect) -> String {
    client.settings.user.variable.map(|name| format!(" or {name}")).unwrap_or_default()
}

impl InstallError {
    pub(super) fn refused(path: &Path, why: &impl Display) -> InstallError {
        InstallError::Refused { path: path.to_owned(), why: why.to_string() }
    }
}
