//! Names of files as git gives them: bytes.

use std::borrow::Cow;
use std::path::PathBuf;

use conclaude_core::text::hex;

pub(super) fn entries(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}

pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// A name that is not UTF-8 gets its bytes appended: two such names must not be taken for one.
pub(super) fn name_of(path: &[u8]) -> String {
    if let Ok(name) = std::str::from_utf8(path) {
        return name.to_owned();
    }
    let part = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(name) => name.to_owned(),
        Err(_) => format!("{}#{}", text(bytes), hex(bytes)),
    };
    path.split(|byte| *byte == b'/').map(part).collect::<Vec<String>>().join("/")
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
