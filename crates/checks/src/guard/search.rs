//! Searches directories and expands shell globs on the disk, within limits of number and time.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::FileType;
use std::path::{Path, PathBuf};

use conclaude_os::budget::Budget;
use shell_effects::glob::{Glob, GlobKind};

/// A glob with more matches counts as unknown.
const MAX_EXPANDED: usize = 10_000;

/// The limit on directory entries of one search.
const MAX_VISITED: usize = 150_000;

/// The limit on directory entries of all searches of one event: a pattern may name many directories.
const MAX_VISITED_TOGETHER: usize = 300_000;

/// The files that a shell glob matches, or the glob itself if there are none. `None` if there are too many.
pub(super) fn expand(base: &Path, pattern: &str, budget: &Budget) -> Option<Vec<PathBuf>> {
    expanded(base, pattern, budget, false)
}

/// Like `expand`, but `*` stands for an unknown value, which may start with a dot.
pub(super) fn expand_with_hidden(base: &Path, pattern: &str, budget: &Budget) -> Option<Vec<PathBuf>> {
    expanded(base, pattern, budget, true)
}

fn expanded(base: &Path, pattern: &str, budget: &Budget, sees_hidden: bool) -> Option<Vec<PathBuf>> {
    let mut found = vec![if pattern.starts_with('/') { PathBuf::from("/") } else { base.to_owned() }];
    let (mut visited, mut is_search) = (0, false);
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if part == "**" {
            found = with_folders_below(found, &mut visited)?;
            is_search = true;
            continue;
        }
        let plain = without_classes(part).replace('{', "\\{").replace('}', "\\}");
        let glob = Glob::new(&plain, GlobKind::Path).ok()?;
        let mut next = Vec::new();
        for folder in &found {
            if !part.contains(['*', '?', '[', '\\']) {
                let path = folder.join(part);
                if part == ".." || path.symlink_metadata().is_ok() {
                    next.push(path);
                }
                continue;
            }
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                visited += 1;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                // `find` sees hidden files, a shell glob does not.
                let is_hidden =
                    !sees_hidden && !is_search && name.starts_with('.') && !part.starts_with(['.', '\\']);
                if !is_hidden && glob.matches(&name).unwrap_or(true) {
                    next.push(entry.path());
                }
                if next.len() > MAX_EXPANDED || visited > MAX_VISITED || budget.is_over() {
                    return None;
                }
            }
        }
        found = next;
    }
    if pattern.ends_with('/') {
        found.retain(|path| path.is_dir());
    }
    if found.len() > MAX_EXPANDED {
        return None;
    }
    if found.is_empty() {
        found.push(base.join(pattern.replace('\\', "")));
    }
    Some(found)
}

/// A pattern in which sets with classes of characters, such as `[[:lower:]]`, are any character.
fn without_classes(pattern: &str) -> Cow<'_, str> {
    if !["[:", "[.", "[="].iter().any(|class| pattern.contains(class)) {
        return Cow::Borrowed(pattern);
    }
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let (first, after) = rest.split_at(c.len_utf8());
        match set_with_classes(after) {
            Some(length) if c == '[' => {
                out.push('?');
                rest = after.get(length..).unwrap_or_default();
            }
            _ if c == '\\' => {
                let escaped = after.chars().next().map_or(0, char::len_utf8);
                out.push_str(rest.get(..1 + escaped).unwrap_or(rest));
                rest = after.get(escaped..).unwrap_or_default();
            }
            _ => {
                out.push_str(first);
                rest = after;
            }
        }
    }
    Cow::Owned(out)
}

/// The length of a set of characters after its `[`, if there is a class in it.
fn set_with_classes(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'!' | b'^')));
    at += usize::from(bytes.get(at) == Some(&b']'));
    let mut has_class = false;
    loop {
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b']', _) => return if has_class { Some(at + 1) } else { None },
            (b'[', Some(mark @ (b':' | b'.' | b'='))) => {
                let end = [*mark, b']'];
                let inner = bytes.get(at + 2..)?;
                at += 4 + inner.windows(2).position(|two| two == end)?;
                has_class = true;
            }
            _ => at += 1,
        }
    }
}

/// Folders with all folders below them. `None` if there are too many.
fn with_folders_below(folders: Vec<PathBuf>, visited: &mut usize) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = folders;
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            *visited += 1;
            if *visited > MAX_VISITED {
                return None;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != ".git" {
                open.push(entry.path());
            }
        }
        found.push(folder);
    }
    Some(found)
}

/// Directory entries that the searches of an event have looked at.
#[derive(Debug, Default)]
pub struct EntryCount(Cell<usize>);

#[cfg(test)]
impl EntryCount {
    pub(super) fn too_many() -> EntryCount {
        EntryCount(Cell::new(MAX_VISITED_TOGETHER))
    }
}

/// The first wanted file below a directory. `None` if there are too many to search.
pub(super) fn first_below(
    directory: &Path,
    all: &EntryCount,
    budget: &Budget,
    mut is_wanted: impl FnMut(&Path, FileType) -> bool,
) -> Option<Option<PathBuf>> {
    let mut open = vec![directory.to_owned()];
    let mut visited = 0;
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            visited += 1;
            all.0.set(all.0.get() + 1);
            if visited > MAX_VISITED || all.0.get() > MAX_VISITED_TOGETHER || budget.is_over() {
                return None;
            }
            let path = entry.path();
            // The file is gone already.
            let Ok(kind) = entry.file_type() else { continue };
            if is_wanted(&path, kind) {
                return Some(Some(path));
            }
            if kind.is_dir() && entry.file_name() != ".git" {
                open.push(path);
            }
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::without_classes;

    #[test]
    fn a_set_with_a_class_is_any_character() {
        for (pattern, expected) in [
            (".[[:lower:]]nv", ".?nv"),
            ("[![:alpha:][:digit:]x]*", "?*"),
            ("[[=e=]][[.e.]]", "??"),
            ("[]e]nv", "[]e]nv"),
            ("[a-z]", "[a-z]"),
            ("\\[[:lower:]", "\\[[:lower:]"),
            ("[[:lower:", "[[:lower:"),
        ] {
            assert_eq!(without_classes(pattern), expected, "{pattern}");
        }
    }
}
