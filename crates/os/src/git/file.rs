//! One file of a snapshot, and whether it is still the same.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::index::{IndexEntry, StatData};
use crate::files;
use conclaude_core::text::hex;

/// Larger files are compared by their metadata only.
const MAX_HASHED_BYTES: u64 = 64 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FileKind {
    /// The file is missing, although git tracks it.
    #[default]
    #[serde(rename = "-")]
    Absent,
    #[serde(rename = "f")]
    File,
    #[serde(rename = "x")]
    Program,
    #[serde(rename = "l")]
    Link,
    /// A FIFO, a socket, a device.
    #[serde(rename = "s")]
    Special,
    /// A folder that cannot be listed.
    #[serde(rename = "u")]
    Unreadable,
    /// The `.git` of a submodule or nested repository. Its content is the commit that is checked out.
    #[serde(rename = "r")]
    Repository,
}

/// Inode and change time, which no program can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, i64, i64)", into = "(u64, i64, i64)")]
pub(super) struct Stamp {
    pub(super) inode: u64,
    pub(super) seconds: i64,
    pub(super) nanoseconds: i64,
}

impl From<(u64, i64, i64)> for Stamp {
    fn from((inode, seconds, nanoseconds): (u64, i64, i64)) -> Stamp {
        Stamp { inode, seconds, nanoseconds }
    }
}

impl From<Stamp> for (u64, i64, i64) {
    fn from(stamp: Stamp) -> (u64, i64, i64) {
        (stamp.inode, stamp.seconds, stamp.nanoseconds)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FileState {
    #[serde(rename = "k")]
    pub(super) kind: FileKind,
    #[serde(rename = "n", skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
    /// The same stamp means the same content. `None` if it proves nothing.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub(super) stamp: Option<Stamp>,
    /// Our own hash of the content, if it was read.
    #[serde(rename = "h", skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    /// Whether the content was staged when git last compared it.
    #[serde(rename = "c", skip_serializing_if = "std::ops::Not::not")]
    pub(super) clean: bool,
    /// The staged content, by git's id.
    #[serde(rename = "i", skip_serializing_if = "Option::is_none")]
    pub(super) staged: Option<String>,
}

impl FileState {
    pub(super) fn of(metadata: &Metadata) -> FileState {
        let kind = match metadata.file_type() {
            kind if kind.is_symlink() => FileKind::Link,
            kind if kind.is_file() && is_program(metadata) => FileKind::Program,
            kind if kind.is_file() => FileKind::File,
            _ => FileKind::Special,
        };
        FileState { kind, size: Some(metadata.len()), stamp: stamp(metadata), ..FileState::default() }
    }

    /// Whether the index has the stat data of exactly this file: git compared it with the staged content and found no difference.
    pub(super) fn matches_index(
        &self,
        entry: &IndexEntry,
        metadata: &Metadata,
        index_time: Option<SystemTime>,
    ) -> bool {
        let kind = match entry.mode {
            0o100_644 => FileKind::File,
            0o100_755 => FileKind::Program,
            0o120_000 => FileKind::Link,
            _ => return false,
        };
        // A file written in the same moment as the index may have changed after git compared it.
        let is_older = metadata.modified().ok().zip(index_time).is_some_and(|(file, index)| file < index);
        kind == self.kind && is_older && entry.stat.is_some() && entry.stat == stat_data(metadata)
    }

    /// The same according to the file system, so that its content need not be read.
    pub(super) fn has_stamp_of(&self, other: &FileState) -> bool {
        self.stamp.is_some() && (self.kind, self.size, self.stamp) == (other.kind, other.size, other.stamp)
    }

    /// Whether the file at this path, now `now`, has changed its content.
    pub(super) fn differs(&self, now: &FileState, path: impl Fn() -> PathBuf) -> bool {
        if self.kind != now.kind || self.size.zip(now.size).is_some_and(|(before, now)| before != now) {
            return true;
        }
        match self.kind {
            // A folder that became unreadable shows in its missing files.
            FileKind::Absent | FileKind::Unreadable => return false,
            FileKind::Repository => return self.content != now.content,
            _ if self.has_stamp_of(now) => return false,
            FileKind::Special => return true,
            FileKind::File | FileKind::Program | FileKind::Link => {}
        }
        match (&self.content, &self.staged) {
            (Some(before), _) => now.content.clone().or_else(|| hash(&path())).as_ref() != Some(before),
            (None, Some(id)) if self.clean => !is_blob(&path(), id),
            _ => true,
        }
    }

    /// Whether something else is staged or committed for an unchanged file: neither its content nor the previously staged
    /// content.
    pub(super) fn is_recorded_otherwise(
        &self,
        now: &FileState,
        committed: Option<&String>,
        path: impl Fn() -> PathBuf,
    ) -> bool {
        let is_known = |id: &str| {
            self.staged.as_deref() == Some(id)
                || match now.kind {
                    FileKind::Repository => now.content.as_deref() == Some(id),
                    FileKind::Absent => id.bytes().all(|byte| byte == b'0'),
                    _ => is_blob(&path(), id),
                }
        };
        let is_staged_otherwise = match &now.staged {
            staged if *staged == self.staged => false,
            Some(id) => !is_known(id),
            None => now.kind != FileKind::Absent,
        };
        is_staged_otherwise || committed.is_some_and(|id| !is_known(id))
    }
}

/// Our own hash of a file, or of the target of a link.
pub(super) fn hash(path: &Path) -> Option<String> {
    read(path).map(|bytes| hex(&Sha256::digest(&bytes)))
}

/// Whether the file matches this id of git: unchanged, with other line ends, or stored by Git LFS.
pub(super) fn is_blob(path: &Path, id: &str) -> bool {
    let Some(bytes) = read(path) else { return false };
    let is_id_of = |content: &[u8]| blob_id(content, id.len()) == id;
    is_id_of(&bytes)
        || (memchr::memmem::find(&bytes, b"\r\n").is_some() && is_id_of(&without_carriage_returns(&bytes)))
        || is_id_of(lfs_pointer(&bytes).as_bytes())
}

fn blob_id(content: &[u8], length: usize) -> String {
    let header = format!("blob {}\0", content.len());
    if length == 64 {
        hex(&Sha256::new().chain_update(header).chain_update(content).finalize())
    } else {
        hex(&Sha1::new().chain_update(header).chain_update(content).finalize())
    }
}

fn without_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    let followed = bytes.iter().zip(bytes.iter().skip(1).map(Some).chain([None]));
    followed
        .filter(|(byte, next)| !(**byte == b'\r' && *next == Some(&b'\n')))
        .map(|(byte, _)| *byte)
        .collect()
}

fn lfs_pointer(content: &[u8]) -> String {
    let (id, size) = (hex(&Sha256::digest(content)), content.len());
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {size}\n")
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let metadata = path.symlink_metadata().ok()?;
    if metadata.is_symlink() {
        return Some(path.read_link().ok()?.into_os_string().into_encoded_bytes());
    }
    files::read_bytes(path, MAX_HASHED_BYTES).ok()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn stamp(metadata: &Metadata) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt;
    Some(Stamp { inode: metadata.ino(), seconds: metadata.ctime(), nanoseconds: metadata.ctime_nsec() })
}

#[cfg(not(unix))]
fn stamp(_metadata: &Metadata) -> Option<Stamp> {
    None
}

/// Changed so recently that the clock of the file system may not distinguish the next change.
#[cfg(unix)]
pub(super) fn is_fresh(metadata: &Metadata, now: SystemTime) -> bool {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds = metadata.ctime_nsec();
    // Some file systems count in seconds, or in two.
    let tick = std::time::Duration::from_millis(if nanoseconds == 0 { 2_000 } else { 20 });
    let since = std::time::Duration::new(
        metadata.ctime().try_into().unwrap_or(0),
        nanoseconds.try_into().unwrap_or(0),
    );
    SystemTime::UNIX_EPOCH + since + tick > now
}

#[cfg(not(unix))]
pub(super) fn is_fresh(_metadata: &Metadata, _now: SystemTime) -> bool {
    true
}

#[cfg(unix)]
fn is_program(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_program(_metadata: &Metadata) -> bool {
    false
}

/// As git writes it into the index.
#[cfg(unix)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the index keeps 32 bits of each"
)]
fn stat_data(metadata: &Metadata) -> Option<StatData> {
    use std::os::unix::fs::MetadataExt;
    Some(StatData {
        ctime: (metadata.ctime() as u32, metadata.ctime_nsec() as u32),
        mtime: (metadata.mtime() as u32, metadata.mtime_nsec() as u32),
        inode: metadata.ino() as u32,
        size: metadata.size() as u32,
    })
}

#[cfg(not(unix))]
fn stat_data(_metadata: &Metadata) -> Option<StatData> {
    None
}
