//! `.conclaude/` at the project's root and the user's own state: where they are, and what is kept there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::{files, log};

pub mod outbox;
pub mod session;
pub mod trust;

pub use session::Session;

/// The folder of everything that we write.
pub const FOLDER: &str = ".conclaude";

/// How many long outputs, and how many messages that nobody took, are kept of a session.
pub(crate) const MOST_OUTPUTS: usize = 100;

/// Where we keep what a project must not be able to change by itself: `$XDG_STATE_HOME/conclaude`. None without a home.
#[must_use]
pub fn outside() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = named.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")));
    home.filter(|home| home.is_absolute()).map(|home| home.join("conclaude"))
}

/// The name of an id in the file system.
#[must_use]
pub fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Bytes as hexadecimal digits, without the machinery of formatting: this is done at every event.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Makes the folder and those between the root and it, none of which may be a link to somewhere else.
///
/// # Errors
/// When one of them cannot be made, or is something else.
pub fn make_folder(root: &Path, folder: &Path) -> io::Result<()> {
    let inside = folder.strip_prefix(root).map_err(io::Error::other)?;
    let mut path = root.to_owned();
    for part in inside.components() {
        path.push(part);
        if !files::is_real_folder(&path) {
            match fs::create_dir(&path) {
                Ok(()) => {}
                // Another call may have been faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !files::is_real_folder(&path) {
                        let problem = format!("{} is not a folder", path.display());
                        return Err(io::Error::new(io::ErrorKind::NotADirectory, problem));
                    }
                }
                Err(error) => {
                    return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
                }
            }
        }
        // Also where a person made the folder, or a call was killed between the two.
        if path.ends_with(FOLDER) && !path.join(".gitignore").exists() {
            open_new(&path.join(".gitignore"))?.write_all(b"*\n")?;
        }
    }
    Ok(())
}

/// Notes that the event really arrived, once the folder for that exists.
pub fn touch_last(root: &Path, event: &str) {
    let ours = root.join(FOLDER);
    let folder = ours.join("state/last");
    let times = fs::FileTimes::new().set_modified(SystemTime::now());
    if [&ours, &ours.join("state"), &folder].into_iter().all(|path| files::is_real_folder(path))
        && let Err(error) = open_new(&folder.join(event)).and_then(|file| file.set_times(times))
    {
        log::debug(|| format!("cannot note the arrival of {event}: {error}"));
    }
}

/// Keeps a folder of what may never be asked for from growing without end: the oldest go.
/// How many went is the answer.
pub fn make_room(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort_unstable();
    let surplus = (files.len() + 1).saturating_sub(MOST_OUTPUTS);
    for (_, path) in files.iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
    surplus as u64
}

pub(crate) fn open_new(path: &Path) -> io::Result<File> {
    files::no_links().write(true).create(true).truncate(true).open(path)
}
