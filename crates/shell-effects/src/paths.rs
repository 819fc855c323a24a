//! Normalised paths.

use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// A path without `.`, `..` and doubled slashes. The disk is not read: a shell's `cd` and Claude Code's own tools treat paths the
/// same way.
#[must_use]
pub fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // The parent of the root is the root. A relative path may start above its directory.
            Component::ParentDir if out.file_name().is_some() => _ = out.pop(),
            Component::ParentDir if out.has_root() => {}
            part => out.push(part),
        }
    }
    out
}

/// Like `normalise`, but for a path in a script, which has slashes on every system.
pub(crate) fn normalise_text(path: &str) -> String {
    let path = normalise(Path::new(path)).to_string_lossy().into_owned();
    if MAIN_SEPARATOR == '/' { path } else { path.replace(MAIN_SEPARATOR, "/") }
}
