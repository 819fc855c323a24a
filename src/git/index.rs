//! The one thing that `git status` does not say: whether git was told not to look at some files. Two flags in the index
//! do that, and reading them here saves a process at every gate.

use std::io;
use std::path::Path;

/// `git update-index --assume-unchanged`.
const ASSUME_VALID: u16 = 0x8000;
/// A second word of flags follows.
const EXTENDED: u16 = 0x4000;
/// `git update-index --skip-worktree`, and what a sparse checkout leaves out; in the second word.
const SKIP_WORKTREE: u16 = 0x4000;

/// Whether the index may have such entries: yes, if it cannot be understood. `id_len` is the length of an object id in bytes.
pub(super) fn may_hide_files(index: &Path, id_len: usize) -> bool {
    match std::fs::read(index) {
        Ok(bytes) => has_flags(&bytes, id_len).unwrap_or(true),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Walks the entries (git's `gitformat-index`, versions 2 to 4); `None` where something is not as documented.
fn has_flags(index: &[u8], id_len: usize) -> Option<bool> {
    let mut reader = Reader { bytes: index, at: 0 };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.u32().filter(|version| (2..=4).contains(version))?;
    for _ in 0..reader.u32()? {
        let start = reader.at;
        // Times, device, mode, owner, size; then the object's id.
        reader.take(40 + id_len)?;
        let flags = reader.u16()?;
        let more = if flags & EXTENDED == 0 { 0 } else { reader.u16()? };
        if flags & ASSUME_VALID != 0 || more & SKIP_WORKTREE != 0 {
            return Some(true);
        }
        if version == 4 {
            // How much of the previous name is shared, as a number of any length.
            while reader.take(1)?.first()? & 0x80 != 0 {}
        }
        let name = memchr::memchr(0, reader.rest()?)?;
        reader.take(name)?;
        let padding = if version == 4 { 1 } else { 8 - (reader.at - start) % 8 };
        if reader.take(padding)?.iter().any(|byte| *byte != 0) {
            return None;
        }
    }
    // The extensions; a split index has more entries in another file. The checksum is the end.
    while reader.rest()?.len() > id_len {
        let name = reader.take(4)?;
        let length = reader.u32()?;
        if name == b"link" {
            return None;
        }
        reader.take(usize::try_from(length).ok()?)?;
    }
    (reader.rest()?.len() == id_len).then_some(false)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
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
}
