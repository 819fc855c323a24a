//! The files that git tracks, with its stat data. We read the index ourselves: that needs no process and runs nothing that the
//! repository configures.

use std::borrow::Cow;
use std::path::PathBuf;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use conclaude_core::text::hex;

/// A second word of flags follows.
const EXTENDED: u16 = 0x4000;
/// `git add --intent-to-add`, in the second word: nothing is staged yet.
const INTENT_TO_ADD: u16 = 0x2000;
/// The bits of a merge conflict's side.
const STAGE: u16 = 0x3000;

pub(super) const GITLINK: u32 = 0o160_000;
const DIRECTORY: u32 = 0o040_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) mode: u32,
    /// The ids of the staged content: one, or one per side of a conflict.
    pub(super) id: String,
    /// The file's stat data when git last compared it. `None` if unknown.
    pub(super) stat: Option<StatData>,
}

/// The stat data that git compares before it reads a file; it keeps 32 bits of each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatData {
    pub(super) ctime: (u32, u32),
    pub(super) mtime: (u32, u32),
    pub(super) inode: u32,
    pub(super) size: u32,
}

/// An entry as it is stored, with both words of flags.
struct RawEntry {
    entry: IndexEntry,
    flags: u16,
    extended_flags: u16,
}

/// The entries in the order of the index. Most callers visit all of them, so this is not a map.
pub(super) type IndexEntries = Vec<(Vec<u8>, IndexEntry)>;

/// All entries. `None` if the format is not as documented, or for a split or a sparse index: their entries are elsewhere, or
/// stand for whole directories.
pub(super) fn parse(index: &[u8]) -> Option<IndexEntries> {
    // The index does not contain the length of an id. With the wrong one nothing fits.
    checked(index, 20).or_else(|| checked(index, 32))
}

/// From this size on, a thread is worth its start.
const LARGE_INDEX: usize = 1 << 20;

/// Hashing takes half as long as reading the entries. For a large index both happen at the same time, as in git.
fn checked(index: &[u8], id_len: usize) -> Option<IndexEntries> {
    let (entries, is_right) = if index.len() < LARGE_INDEX {
        let entries = walk(index, id_len)?;
        (Some(entries), has_checksum(index, id_len))
    } else {
        std::thread::scope(|scope| {
            let checksum = scope.spawn(|| has_checksum(index, id_len));
            (walk(index, id_len), checksum.join().unwrap_or(false))
        })
    };
    if is_right { entries } else { None }
}

/// Git's `gitformat-index`, versions 2 to 4.
fn walk(index: &[u8], id_len: usize) -> Option<IndexEntries> {
    let mut reader = IndexReader { bytes: index, at: 0 };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.u32().filter(|version| (2..=4).contains(version))?;
    let mut entries = Vec::new();
    let mut name = Vec::new();
    for _ in 0..reader.u32()? {
        let start = reader.at;
        let RawEntry { entry, flags, extended_flags } = reader.entry(id_len)?;
        if version == 4 {
            let dropped = reader.offset()?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let length = memchr::memchr(0, reader.rest()?)?;
        name.extend_from_slice(reader.take(length)?);
        let padding = if version == 4 { 1 } else { 8 - (reader.at - start) % 8 };
        if reader.take(padding)?.iter().any(|byte| *byte != 0) || entry.mode == DIRECTORY {
            return None;
        }
        if extended_flags & INTENT_TO_ADD == 0 {
            add(&mut entries, &name, entry, flags);
        }
    }
    // The extensions. A lower-case name means that the index cannot be understood without it.
    while reader.rest()?.len() > id_len {
        let is_optional = reader.take(4)?.first()?.is_ascii_uppercase();
        let length = reader.u32()?;
        if !is_optional {
            return None;
        }
        reader.take(usize::try_from(length).ok()?)?;
    }
    Some(entries)
}

/// The hash of everything before it. Zeros with `index.skipHash`.
fn has_checksum(index: &[u8], id_len: usize) -> bool {
    let Some((content, checksum)) = index.len().checked_sub(id_len).and_then(|at| index.split_at_checked(at))
    else {
        return false;
    };
    let is_right = if id_len == 32 {
        Sha256::digest(content).as_slice() == checksum
    } else {
        Sha1::digest(content).as_slice() == checksum
    };
    is_right || checksum.iter().all(|byte| *byte == 0)
}

/// The sides of a conflict are one file, in consecutive entries.
fn add(entries: &mut Vec<(Vec<u8>, IndexEntry)>, name: &[u8], mut entry: IndexEntry, flags: u16) {
    if flags & STAGE != 0 {
        let side = format!("{}.{} ", (flags & STAGE) >> 12, entry.id);
        if let Some((last, sides)) = entries.last_mut()
            && last == name
        {
            sides.mode = entry.mode;
            sides.id.push_str(&side);
            return;
        }
        entry = IndexEntry { mode: entry.mode, id: side, stat: None };
    }
    entries.push((name.to_vec(), entry));
}

/// Parses the output of `git ls-files --stage -z` (`100644 ID STAGE<tab>PATH`), for an index that is not understood here, and of
/// `git ls-tree -r -z` (`100644 blob ID<tab>PATH`).
pub(super) fn parse_listed(output: &[u8]) -> IndexEntries {
    let mut entries = Vec::new();
    for line in split_nul(output) {
        let Some(tab) = memchr::memchr(b'\t', line) else { continue };
        let (facts, name) = line.split_at(tab);
        let facts = String::from_utf8_lossy(facts);
        let mut facts = facts.split(' ');
        let mode = facts.next().and_then(|mode| u32::from_str_radix(mode, 8).ok()).unwrap_or(0);
        let id = facts.find(|fact| fact.len() >= 40).unwrap_or_default().to_owned();
        let stage = facts.next().and_then(|stage| stage.parse::<u16>().ok()).unwrap_or(0);
        add(
            &mut entries,
            name.get(1..).unwrap_or_default(),
            IndexEntry { mode, id, stat: None },
            (stage & 3) << 12,
        );
    }
    entries
}

struct IndexReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> IndexReader<'a> {
    fn rest(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.at..)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.rest()?.get(..length)?;
        self.at += length;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    /// Everything before the name.
    fn entry(&mut self, id_len: usize) -> Option<RawEntry> {
        let (ctime, mtime) = ((self.u32()?, self.u32()?), (self.u32()?, self.u32()?));
        let _device = self.u32()?;
        let inode = self.u32()?;
        let mode = self.u32()?;
        let _owner = self.take(8)?;
        let size = self.u32()?;
        let id = hex(self.take(id_len)?);
        let flags = self.u16()?;
        let extended_flags = if flags & EXTENDED == 0 { 0 } else { self.u16()? };
        let entry = IndexEntry { mode, id, stat: Some(StatData { ctime, mtime, inode, size }) };
        Some(RawEntry { entry, flags, extended_flags })
    }

    /// How much of the previous name is dropped: seven bits per byte, and each number has one form.
    fn offset(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(value)
    }
}

/// The NUL-separated entries of git's output.
pub(super) fn split_nul(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}

pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// A file name as text. Git gives bytes: a name that is not UTF-8 gets its bytes appended, so that two such names stay different.
pub(super) fn name_of(path: &[u8]) -> Cow<'_, str> {
    if let Ok(name) = std::str::from_utf8(path) {
        return name.into();
    }
    let part = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(name) => name.to_owned(),
        Err(_) => format!("{}#{}", text(bytes), hex(bytes)),
    };
    path.split(|byte| *byte == b'/').map(part).collect::<Vec<String>>().join("/").into()
}

#[cfg(unix)]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(text(bytes).into_owned())
}
