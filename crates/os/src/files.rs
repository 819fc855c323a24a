//! Files that other processes may change: opened without blocking and without following links, replaced atomically.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use thiserror::Error;

use crate::budget::Budget;
use crate::environment;
use conclaude_core::dialect::claude::variables;

/// Why a file cannot be used, in words after its name.
#[derive(Debug, Error)]
pub enum FileError {
    #[error("it is not a regular file")]
    NotRegular,
    #[error("it has {size} bytes, at most {max} are read")]
    TooLarge { size: u64, max: u64 },
    #[error("it is not UTF-8 at byte {0}")]
    NotUtf8(usize),
    #[error("no folder")]
    NoFolder,
    #[error("it is read-only")]
    ReadOnly,
    #[error("{what}: {source}")]
    NotWritable { what: String, source: io::Error },
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> io::Error {
        let kind = match error {
            FileError::NotRegular => io::ErrorKind::InvalidInput,
            FileError::TooLarge { .. } | FileError::NotUtf8(_) => io::ErrorKind::InvalidData,
            FileError::NoFolder | FileError::ReadOnly | FileError::NotWritable { .. } => {
                return io::Error::other(error);
            }
        };
        io::Error::new(kind, error)
    }
}

/// Opens a regular file for reading. A FIFO does not block. Anything but a regular file is an error.
///
/// # Errors
/// When it cannot be opened or is something else.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_sized(path).map(|(file, _)| file)
}

fn open_sized(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(FileError::NotRegular.into()) }
}

/// Reads a whole regular file of at most `max` bytes.
///
/// # Errors
/// When it cannot be read, or is larger.
pub fn read_bytes(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_sized(path)?;
    if size > max {
        return Err(FileError::TooLarge { size, max }.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole text in UTF-8 of at most `max` bytes.
///
/// # Errors
/// When it cannot be read, is larger, or is not UTF-8.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    let text = String::from_utf8(read_bytes(path, max)?);
    Ok(text.map_err(|error| FileError::NotUtf8(error.utf8_error().valid_up_to()))?)
}

/// Options for our own files: a link is refused, and a FIFO does not block. New files are readable by the user only,
/// since they hold command lines, output and prompts.
#[must_use]
pub fn no_links() -> OpenOptions {
    #[cfg_attr(windows, expect(unused_mut, reason = "the flag is Unix's"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(
            rustix::fs::OFlags::NOFOLLOW.union(rustix::fs::OFlags::NONBLOCK).bits().cast_signed(),
        );
        options.mode(0o600);
    }
    options
}

/// Creates a folder that only its user can read.
///
/// # Errors
/// When it cannot be created, or is there already.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    #[cfg_attr(windows, expect(unused_mut, reason = "the mode is Unix's"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes the permissions of other users from a file or folder of ours. Older versions left some readable.
pub fn make_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Only the owner can change the permissions; others get an error, which does not matter.
        if let Ok(metadata) = fs::symlink_metadata(path)
            && metadata.permissions().mode() & 0o077 != 0
            && !metadata.is_symlink()
        {
            let mode = metadata.permissions().mode() & 0o700;
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Replaces a file atomically.
///
/// # Errors
/// If it cannot be written. The file is then unchanged.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    write_atomically_with(path, |file| file.write_all(content))
}

/// Like `write_atomically`, for a file that is too large for memory.
///
/// # Errors
/// If it cannot be written. The file is then unchanged.
pub fn write_atomically_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().ok_or(FileError::NoFolder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    // The methods of `tempfile` are not used: their errors name the temporary file.
    write(file.as_file_mut())?;
    if let Ok(metadata) = path.metadata() {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Whether this is an executable program.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    }
    #[cfg(not(unix))]
    {
        path.is_file()
    }
}

/// Whether this is a binary, and not a script that starts an interpreter.
#[must_use]
pub fn is_native(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start != *b"#!"
}

/// Checks that this user can write the file, or create it.
///
/// # Errors
/// The reason why not.
pub fn check_writable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let check = |path: &Path, what: String| {
            rustix::fs::access(path, rustix::fs::Access::WRITE_OK)
                .map_err(|error| FileError::NotWritable { what, source: error.into() })
        };
        if path.exists() {
            check(path, FileError::ReadOnly.to_string())?;
        }
        let folder = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
        Ok(check(folder, format!("{} cannot be written", folder.display()))?)
    }
    #[cfg(not(unix))]
    match path.metadata() {
        Ok(metadata) if metadata.permissions().readonly() => Err(FileError::ReadOnly.into()),
        _ => Ok(()),
    }
}

/// Replaces a file atomically and keeps its owner and permissions. A new file is readable by everybody.
///
/// # Errors
/// If it cannot be written. The file is then unchanged.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(FileError::NoFolder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    match fs::metadata(path) {
        Ok(metadata) => {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};
                let own = file.as_file().metadata()?;
                if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
                    fchown(file.as_file(), Some(metadata.uid()), Some(metadata.gid()))?;
                }
            }
            file.as_file().set_permissions(metadata.permissions())?;
        }
        #[cfg(unix)]
        Err(_) => {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
        }
        #[cfg(not(unix))]
        Err(_) => {}
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Locks a lock file and waits at most this long. `None` if another process still has it.
///
/// # Errors
/// When the file cannot be opened or locked at all.
pub fn lock(path: &Path, wait: Duration, budget: &Budget) -> io::Result<Option<File>> {
    lock_with(path, budget.at_most(wait), || std::thread::sleep(Duration::from_millis(1)))
}

fn lock_with(path: &Path, wait: Duration, mut pause: impl FnMut()) -> io::Result<Option<File>> {
    let open = || no_links().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = open()?;
    let over = Instant::now() + wait;
    // On a file system without stable inode numbers the check below never succeeds, so its repetitions are limited.
    let mut renewals = 0..3;
    loop {
        match file.try_lock() {
            Ok(()) if is_at(&file, path) || renewals.next().is_none() => return Ok(Some(file)),
            // The file was removed or moved meanwhile: other processes lock the new one.
            Ok(()) => file = open()?,
            Err(TryLockError::WouldBlock) if Instant::now() < over => pause(),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Whether this is the file of that name.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        file.metadata().ok().map(id) == fs::symlink_metadata(path).ok().map(id)
    }
    #[cfg(not(unix))]
    {
        // An open file can neither be removed nor moved there.
        let _ = (file, path);
        true
    }
}

/// The user's home, as text.
#[must_use]
pub fn home() -> Option<String> {
    environment::home().map(|home| home.to_string_lossy().into_owned())
}

/// The temporary directories in the environment: the system's and Claude Code's.
#[must_use]
pub fn temporary() -> Vec<PathBuf> {
    let named = ["TMPDIR", variables::TMPDIR].into_iter().filter_map(environment::path);
    named.filter(|folder| folder.parent().is_some()).collect()
}

/// A leading `~/` as the user's home.
#[must_use]
pub fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), environment::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Whether this is a folder, and not a link to one.
#[must_use]
pub fn is_real_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether this is a file with no other name: neither a link, nor one of several hard links.
#[must_use]
pub fn is_plain_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file() && !has_other_names(&metadata))
}

#[cfg(unix)]
fn has_other_names(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &fs::Metadata) -> bool {
    false
}

/// The program with that name in the folders of a `PATH`.
#[must_use]
pub fn program_on(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// When a file was last changed. On Unix no program can set that time.
#[cfg(unix)]
#[must_use]
pub fn changed_at(metadata: &fs::Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let (seconds, nanoseconds) = (metadata.ctime().try_into().ok()?, metadata.ctime_nsec().try_into().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

#[cfg(not(unix))]
#[must_use]
pub fn changed_at(metadata: &fs::Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_was_removed_while_one_waited_for_it_is_not_taken_for_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("lock");
        let mut old = lock(path, Duration::ZERO, &Budget::unlimited()).unwrap();
        let mut new = None;
        let mut pauses = 0;
        let waited = lock_with(path, Duration::from_hours(1), || {
            pauses += 1;
            if old.is_some() {
                fs::remove_file(path).unwrap();
                new = lock(path, Duration::ZERO, &Budget::unlimited()).unwrap();
                assert!(new.is_some());
                old = None;
            } else {
                new = None;
            }
        });
        assert!(is_at(&waited.unwrap().unwrap(), path));
        // More, where a child of another test holds a lock that was released here, between fork and exec.
        assert!(pauses >= 2, "it waits for the new one after the old one");
    }
}
