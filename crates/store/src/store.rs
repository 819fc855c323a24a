//! `.conclaude/` at the project's root, and the user's own state outside of projects.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use thiserror::Error;

use conclaude_core::dialect::Dialect;
use conclaude_core::text::hex;
use conclaude_os::files;
use conclaude_os::log;

pub mod enforcement;
pub mod outbox;
pub mod permits;
pub mod running_commands;
pub mod session;
pub mod spending;
pub mod trust;

pub use session::Session;

/// The folder of everything that we write in a project.
pub const FOLDER: &str = ".conclaude";

/// The number of long outputs, and of undelivered messages, that are kept for a session.
pub const MAX_OUTPUTS: usize = 100;

/// Why state cannot be kept. Callers see an [`io::Error`].
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    #[error("there is no home folder to keep it in: set HOME or XDG_STATE_HOME")]
    NoHome,
    #[error("there is no home folder to keep in what was sent: set HOME or XDG_STATE_HOME")]
    NoHomeForExports,
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    #[error("{} is not below {}", .folder.display(), .root.display())]
    NotBelow { folder: PathBuf, root: PathBuf },
    #[error("{} has more than {max} files", .folder.display())]
    TooManyFiles { folder: PathBuf, max: usize },
    #[error("{0} commands run already")]
    TooManyCommands(usize),
    #[error("{}: {error}", .path.display())]
    State { path: PathBuf, error: serde_json::Error },
    #[error("another process holds the lock")]
    Locked,
}

impl From<StoreError> for io::Error {
    fn from(error: StoreError) -> io::Error {
        let kind = match error {
            StoreError::NotAFolder(_) => io::ErrorKind::NotADirectory,
            StoreError::Locked => io::ErrorKind::TimedOut,
            _ => return io::Error::other(error),
        };
        io::Error::new(kind, error)
    }
}

/// The folder for state that a project must not be able to change: `$XDG_STATE_HOME/conclaude`. `None` without a home.
#[cfg(not(test))]
#[must_use]
pub fn user_state_folder() -> Option<PathBuf> {
    let folder = conclaude_os::environment::state_folder();
    folder.filter(|folder| folder.is_absolute()).map(|folder| folder.join("conclaude"))
}

/// Unit tests never see the state of the user who runs them: each thread, and so each test, has its own folder.
#[cfg(test)]
#[must_use]
pub fn user_state_folder() -> Option<PathBuf> {
    thread_local! {
        static STATE: tempfile::TempDir = tempfile::tempdir().expect("a folder for the state of a test");
    }
    Some(STATE.with(|state| state.path().join("conclaude")))
}

/// Creates a folder of the user's state, and those above it.
///
/// # Errors
/// When it cannot be created.
pub fn make_state_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    folder.parent().map_or(Ok(()), fs::create_dir_all)?;
    match files::create_private_folder(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// The file name for an id, which cannot lead to another folder.
#[must_use]
pub fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Creates the folder and its parents below the root, readable by their user only. None of them may be a symlink.
///
/// # Errors
/// When one of them cannot be created, or is not a folder.
pub fn make_folder(root: &Path, folder: &Path) -> io::Result<()> {
    let outside = || StoreError::NotBelow { folder: folder.to_owned(), root: root.to_owned() };
    let inside = folder.strip_prefix(root).map_err(|_| outside())?;
    let mut path = root.to_owned();
    for part in inside.components() {
        path.push(part);
        if !files::is_real_folder(&path) {
            match files::create_private_folder(&path) {
                Ok(()) => {}
                // Another process may have been faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !files::is_real_folder(&path) {
                        return Err(StoreError::NotAFolder(path).into());
                    }
                }
                Err(error) => {
                    return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
                }
            }
        }
        // Also if the user created the folder, or if we were killed before we wrote this file.
        let ignore = path.join(".gitignore");
        if path.ends_with(FOLDER) && !ignore.exists() {
            files::write_atomically(&ignore, b"*\n")
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", ignore.display())))?;
        }
    }
    Ok(())
}

/// The folder with a file for each event, whose time is when the event last arrived.
const ARRIVALS: &str = "state/last";

/// When an event last arrived from a client.
#[must_use]
pub fn last_arrival(root: &Path, client: &Dialect, event: &str) -> Option<SystemTime> {
    root.join(FOLDER).join(ARRIVALS).join(arrival_name(client, event)).metadata().ok()?.modified().ok()
}

fn arrival_name(client: &Dialect, event: &str) -> String {
    if client.is_translated() { format!("{}-{event}", client.name) } else { event.to_owned() }
}

/// Records when the event last arrived, if the folder for that exists.
pub fn touch_last(root: &Path, client: &Dialect, event: &str) {
    let ours = root.join(FOLDER);
    let folder = ours.join(ARRIVALS);
    let times = fs::FileTimes::new().set_modified(SystemTime::now());
    if [&ours, &ours.join("state"), &folder].into_iter().all(|path| files::is_real_folder(path))
        && let Err(error) =
            open_new(&folder.join(arrival_name(client, event))).and_then(|file| file.set_times(times))
    {
        log::debug(|| format!("cannot record the arrival of {event}: {error}"));
    }
}

/// Creates the folder for arrivals: from now on `doctor` knows when events arrived.
pub fn expect_arrivals(root: &Path) {
    let _ = make_folder(root, &root.join(FOLDER).join(ARRIVALS));
}

/// Removes the oldest files so that the folder stays bounded, and returns how many were removed.
pub fn make_room(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort_unstable();
    let surplus = (files.len() + 1).saturating_sub(MAX_OUTPUTS);
    for (_, path) in files.iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
    surplus as u64
}

pub fn open_new(path: &Path) -> io::Result<File> {
    files::no_links().write(true).create(true).truncate(true).open(path)
}

/// A project without git has fewer files.
const MAX_PROJECT_FILES: usize = 100_000;

/// All files below a folder without a repository, relative to it.
///
/// # Errors
/// When it cannot be read, or has too many.
pub fn files_below(work: &Path) -> io::Result<Vec<String>> {
    let (mut found, mut folders) = (Vec::new(), vec![work.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)?.flatten() {
            let path = entry.path();
            if entry.file_name() == FOLDER {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if let Ok(below) = path.strip_prefix(work) {
                found.push(below.to_string_lossy().into_owned());
            }
        }
        if found.len() > MAX_PROJECT_FILES {
            let error = StoreError::TooManyFiles { folder: work.to_owned(), max: MAX_PROJECT_FILES };
            return Err(error.into());
        }
    }
    found.sort();
    Ok(found)
}
