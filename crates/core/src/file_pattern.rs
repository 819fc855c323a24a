//! Gitignore patterns for files. A pattern without an inner `/` matches at any depth, one with an inner `/` matches from the
//! root. A match of a directory covers everything in it.

use std::borrow::Cow;

use shell_effects::glob::{Glob, GlobError, GlobKind, escaped};

/// A path in the forms that patterns are compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location {
    /// Absolute, without links, `.` and `..`.
    pub absolute: String,
    /// Relative to the root, if it is below it; empty for the root itself.
    pub relative: Option<String>,
    /// Relative to the top level of a worktree of the project, if it is in one. Patterns mean there what they mean at the root.
    pub in_worktree: Option<String>,
    pub is_directory: bool,
}

impl Location {
    /// The path in messages.
    pub fn shown(&self) -> &str {
        match self.relative.as_deref() {
            Some("") => ".",
            Some(relative) => relative,
            None => &self.absolute,
        }
    }

    /// Neither in the project nor in a worktree of it.
    pub fn is_outside(&self) -> bool {
        self.relative.is_none() && self.in_worktree.is_none()
    }

    /// Its paths relative to the root and to the top level of its worktree.
    pub fn anchored(&self) -> impl Iterator<Item = &str> {
        let paths = [self.relative.as_deref(), self.in_worktree.as_deref()];
        paths.into_iter().flatten().filter(|path| !path.is_empty())
    }
}

/// Each directory above a path is compared as well, so a longer path would take too long.
const MAX_PATH_BYTES: usize = 1_024;

/// A pattern that stands for more patterns is not followed.
pub const MAX_ALTERNATIVES: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePattern {
    glob: Glob,
    anchor: Anchor,
    is_for_directories: bool,
}

/// The start of the paths that a pattern is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// One name: the file's, or that of a directory above it.
    AnyDepth,
    /// A path from the root.
    Root,
    /// A path from the root, or an absolute one: `/etc` may mean both.
    RootOrAbsolute,
    /// An absolute path.
    Absolute,
}

impl FilePattern {
    /// Compiles a pattern without its leading `!`.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn new(written: &str, home: Option<&str>) -> Result<FilePattern, GlobError> {
        let written = written.trim();
        let is_at_root = written.starts_with("./");
        // Most patterns have none, and the search for one takes longer than the rest.
        let pattern = fold_case(if is_at_root { written.trim_start_matches("./") } else { written });
        let is_for_directories = pattern.ends_with('/');
        let plain = pattern.trim_end_matches('/');
        let (anchor, plain) = if plain == "~" || plain.starts_with("~/") {
            let home = escaped(&fold_case(home.unwrap_or("~")));
            let home = home.trim_end_matches('/').trim_start_matches('/');
            let below_home = plain.get(1..).unwrap_or_default();
            (Anchor::Absolute, Cow::from(format!("{home}{below_home}")))
        } else if let Some(absolute) = plain.strip_prefix("//") {
            (Anchor::Absolute, absolute.trim_start_matches('/').into())
        } else if let Some(rooted) = plain.strip_prefix('/') {
            (Anchor::RootOrAbsolute, rooted.into())
        } else if is_at_root || plain.contains('/') {
            (Anchor::Root, plain.into())
        } else {
            (Anchor::AnyDepth, plain.into())
        };
        // `/` alone is the root with its contents.
        let (anchor, plain, is_for_directories) = match plain.as_ref() {
            "" | "." => (Anchor::Root, "**", false),
            plain => (anchor, plain, is_for_directories),
        };
        Ok(FilePattern { glob: Glob::new(plain, GlobKind::Path)?, anchor, is_for_directories })
    }

    /// Compiles a pattern in Claude Code's notation for rules: `//etc` is absolute, `/docs` and `./docs` start at the root.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn of_rule(written: &str, home: Option<&str>) -> Result<FilePattern, GlobError> {
        let written = written.trim();
        let (anchor, rest) = if let Some(rest) = written.strip_prefix("//") {
            (Anchor::Absolute, rest)
        } else if let Some(rest) = written.strip_prefix('/').or_else(|| written.strip_prefix("./")) {
            (Anchor::Root, rest)
        } else {
            return FilePattern::new(written, home);
        };
        // The slash prevents that the pattern matches at any depth.
        let pattern = FilePattern::new(&format!("/{}", rest.trim_start_matches('/')), home)?;
        Ok(FilePattern { anchor, ..pattern })
    }

    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Whether it is one name, at any depth.
    pub fn is_at_any_depth(&self) -> bool {
        self.anchor == Anchor::AnyDepth
    }

    /// The glob without its prefix and suffix: for `~/.ssh/` it is `home/me/.ssh`.
    pub fn glob(&self) -> &str {
        self.glob.as_str()
    }

    /// Whether it ends with a `/`.
    pub fn is_for_directories(&self) -> bool {
        self.is_for_directories
    }

    /// This pattern, but a path from the root or an absolute path becomes only absolute.
    pub fn without_root(self) -> FilePattern {
        let anchor = if self.anchor == Anchor::RootOrAbsolute { Anchor::Absolute } else { self.anchor };
        FilePattern { anchor, ..self }
    }

    /// Whether a covered path belongs to the project. If the project is the directory of an absolute pattern or above it, the
    /// path does not: in a session that was started in `/`, `/usr` still belongs to the machine.
    pub fn leaves_to_project(&self, location: &Location) -> bool {
        let Some(relative) = &location.relative else { return false };
        if matches!(self.anchor, Anchor::AnyDepth | Anchor::Root) {
            return true;
        }
        let root =
            location.absolute.strip_suffix(relative.as_str()).unwrap_or_default().trim_end_matches('/');
        let above = root.rsplit_once('/').map_or("", |(above, _)| above);
        let above = Location { absolute: above.to_owned(), is_directory: true, ..Location::default() };
        !above.absolute.is_empty() && self.surely_covers(&above)
    }

    /// Whether it certainly covers the path. A path that cannot be compared is not covered, so a pattern never allows it.
    pub fn surely_covers(&self, location: &Location) -> bool {
        location.absolute.len() <= MAX_PATH_BYTES && self.covers(location)
    }

    /// Whether it covers the path, directly or through a directory above it. A path that is too long to be compared is covered.
    pub fn covers(&self, location: &Location) -> bool {
        self.compare(location, |glob, text| glob.matches(text).unwrap_or(true))
    }

    /// Whether it names the path itself, and not only a directory above it. A pattern for the whole project names its root.
    pub fn names(&self, location: &Location) -> bool {
        if location.absolute.len() > MAX_PATH_BYTES {
            return true;
        }
        let matches = |text: &str| self.glob.matches(&fold_case(text)).unwrap_or(true);
        let is_root =
            || [&location.relative, &location.in_worktree].into_iter().flatten().any(String::is_empty);
        let is_anchored = || match self.glob.as_str() {
            "**" => is_root(),
            _ => location.anchored().any(matches),
        };
        let absolute = location.absolute.trim_start_matches('/');
        if self.is_for_directories && !location.is_directory {
            return false;
        }
        match self.anchor {
            Anchor::AnyDepth => matches(absolute.rsplit('/').next().unwrap_or_default()),
            Anchor::Root => is_anchored(),
            Anchor::Absolute => matches(absolute),
            Anchor::RootOrAbsolute => is_anchored() || matches(absolute),
        }
    }

    /// Whether a quick look shows that it does not.
    pub fn rules_out(&self, location: &Location) -> bool {
        !self.compare(location, |glob, text| !glob.rules_out(text))
    }

    /// Whether a quick look shows that it covers nothing below a directory.
    pub fn rules_out_below(&self, directory: &Location) -> bool {
        let is_ruled_out = |path: &str| {
            !path.is_empty()
                && !self.glob.could_start(&format!("{}/", fold_case(path.trim_end_matches('/'))), true, false)
        };
        let from_root = || {
            let is_root = directory.anchored().next().is_none() && !directory.is_outside();
            !is_root && directory.anchored().all(is_ruled_out)
        };
        let absolute = || is_ruled_out(directory.absolute.trim_start_matches('/'));
        match self.anchor {
            Anchor::AnyDepth => false,
            Anchor::Root => from_root(),
            Anchor::Absolute => absolute(),
            Anchor::RootOrAbsolute => from_root() && absolute(),
        }
    }

    /// Whether it names a file by the end of its path, or a directory in that end, wherever that is: `~/.ssh/*` names `.ssh/x`. What
    /// matches only its wildcards is not named.
    pub fn names_end(&self, end: &str) -> bool {
        let Some(alternatives) = self.alternatives(MAX_ALTERNATIVES) else { return true };
        let end = fold_case(end);
        let names: Vec<&str> = end.split('/').collect();
        let is_named = |pattern: &String| {
            // What is in a directory is named by that directory.
            let pattern: Vec<&str> = pattern.trim_end_matches("/**").split('/').collect();
            (1..=names.len())
                .any(|length| names.get(..length).is_some_and(|names| ends_like(&pattern, names)))
        };
        alternatives.iter().any(is_named)
    }

    /// The patterns that its braces stand for, like `glob`. `None` if they are more than `limit`.
    pub fn alternatives(&self, limit: usize) -> Option<Vec<String>> {
        self.glob.alternatives(limit)
    }

    /// Whether it may cover something below a directory, and names that directory or one above it. A leading `**` or `*` names
    /// none.
    pub fn reaches_into(&self, directory: &Location) -> bool {
        let glob = self.glob.as_str();
        if self.anchor == Anchor::AnyDepth {
            return false;
        }
        // A list in braces may contain slashes.
        if glob.contains('{') {
            return !glob.starts_with("**") && !self.rules_out_below(directory);
        }
        let pattern: Vec<&str> = glob.split('/').collect();
        let (is_anywhere, pattern) = match pattern.split_first() {
            Some((&"**", rest)) => (true, rest),
            _ => (false, pattern.as_slice()),
        };
        let is_named = pattern.first().is_some_and(|first| !first.chars().all(|c| matches!(c, '*' | '?')));
        if is_anywhere && !is_named {
            return false;
        }
        directory.anchored().any(|path| {
            let path = fold_case(path);
            let names: Vec<&str> = path.split('/').collect();
            let starts = if is_anywhere { names.len() } else { 1 };
            (0..starts).any(|start| names.get(start..).is_some_and(|names| leads_below(pattern, names)))
        })
    }

    fn compare(&self, location: &Location, matches: fn(&Glob, &str) -> bool) -> bool {
        if location.absolute.len() > MAX_PATH_BYTES {
            return true;
        }
        let matches = |text: &str| matches(&self.glob, &fold_case(text));
        let is_anchored =
            || location.anchored().any(|path| self.covers_a_prefix(path, location.is_directory, matches));
        let absolute = location.absolute.trim_start_matches('/');
        match self.anchor {
            // The names of the directories above the root do not count.
            Anchor::AnyDepth => {
                let inside = location.relative.as_deref().or(location.in_worktree.as_deref());
                let path = inside.unwrap_or(absolute);
                self.covers_a_name(path, location.is_directory, matches)
            }
            Anchor::Root => is_anchored(),
            Anchor::Absolute => self.covers_a_prefix(absolute, location.is_directory, matches),
            Anchor::RootOrAbsolute => {
                is_anchored() || self.covers_a_prefix(absolute, location.is_directory, matches)
            }
        }
    }

    fn covers_a_name(&self, path: &str, is_directory: bool, matches: impl Fn(&str) -> bool) -> bool {
        if self.glob.rules_out_parts_of(path) {
            return false;
        }
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let is_directory = is_directory || names.peek().is_some();
            if (is_directory || !self.is_for_directories) && matches(name) {
                return true;
            }
        }
        false
    }

    fn covers_a_prefix(&self, path: &str, is_directory: bool, matches: impl Fn(&str) -> bool) -> bool {
        if self.glob.rules_out_starts_of(path) {
            return false;
        }
        let directories = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        directories.into_iter().any(&matches) || ((is_directory || !self.is_for_directories) && matches(path))
    }
}

/// Whether the last parts of a pattern match these names, and spell one of them. The names before them are unknown.
fn ends_like(pattern: &[&str], names: &[&str]) -> bool {
    let mut is_spelled = false;
    for (part, name) in pattern.iter().rev().zip(names.iter().rev()) {
        if *part == "**" {
            break;
        }
        let glob = Glob::new(part, GlobKind::Path);
        if !glob.is_ok_and(|glob| glob.matches(name).unwrap_or(true)) {
            return false;
        }
        is_spelled |= !part.contains(['*', '?', '[']);
    }
    is_spelled
}

/// Whether the names of a directory's path match the first parts of a pattern, and more parts follow.
fn leads_below(pattern: &[&str], names: &[&str]) -> bool {
    let Some((name, names_below)) = names.split_first() else { return !pattern.is_empty() };
    match pattern.split_first() {
        None => false,
        Some((&"**", rest)) => leads_below(rest, names) || leads_below(pattern, names_below),
        Some((part, rest)) => {
            let glob = Glob::new(part, GlobKind::Path);
            glob.is_ok_and(|glob| glob.matches(name).unwrap_or(true)) && leads_below(rest, names_below)
        }
    }
}

/// Patterns ignore case if the file system does.
fn fold_case(text: &str) -> Cow<'_, str> {
    if cfg!(any(windows, target_os = "macos")) { text.to_lowercase().into() } else { text.into() }
}

#[cfg(test)]
mod tests;
