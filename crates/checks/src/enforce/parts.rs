//! The parts of a pattern, in the form that Claude Code's settings accept.

use conclaude_core::dialect::claude::sandbox;
use conclaude_core::file_pattern::{Anchor, FilePattern};
use shell_effects::glob::{Glob, GlobKind};

use super::{Machine, SettingsPaths};

/// A pattern with more alternatives is not compiled.
const MAX_ALTERNATIVES: usize = 32;

/// Where a part starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathStart {
    AnyDepth,
    Root,
    Absolute,
}

impl PathStart {
    /// Where the readings of a pattern start.
    pub(super) fn of(pattern: &FilePattern) -> &'static [PathStart] {
        match pattern.anchor() {
            Anchor::AnyDepth => &[PathStart::AnyDepth],
            Anchor::Root => &[PathStart::Root],
            Anchor::Absolute => &[PathStart::Absolute],
            Anchor::RootOrAbsolute => &[PathStart::Root, PathStart::Absolute],
        }
    }
}

/// One alternative of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: PathStart,
    pub(super) glob: String,
    /// It names directories only.
    pub(super) is_directory: bool,
    /// Whether this is one of two readings of the pattern: `/data/x` is a path of the project and one of the machine.
    pub(super) has_other_reading: bool,
    /// Whether the machine's root directory has an entry with its first name.
    pub(super) is_of_machine: bool,
}

impl Part {
    /// The parts of a pattern. `None` if there are too many.
    pub(super) fn all(pattern: &FilePattern, machine: &dyn Machine) -> Option<Vec<Part>> {
        let starts = PathStart::of(pattern);
        let globs = pattern.alternatives(MAX_ALTERNATIVES)?;
        let has_two = starts.len() > 1;
        let part = |start: PathStart, glob: &String| Part {
            start,
            glob: glob.clone(),
            is_directory: pattern.is_for_directories(),
            has_other_reading: has_two,
            is_of_machine: has_two && is_in_root_directory(first_name(glob), machine),
        };
        Some(starts.iter().flat_map(|start| globs.iter().map(|glob| part(*start, glob))).collect())
    }

    /// Like `all`, for a rule that denies: the content of one directory (`src/gen/**`) is denied with the directory.
    pub(super) fn denied(pattern: &FilePattern, machine: &dyn Machine) -> Option<Vec<Part>> {
        let parts = Part::all(pattern, machine)?;
        Some(parts.into_iter().map(|part| part.whole_directory().unwrap_or(part)).collect())
    }

    fn whole_directory(&self) -> Option<Part> {
        let is_listed = self.is_of_machine || !self.has_other_reading;
        let glob = self.glob.strip_suffix("/**")?.to_owned();
        let directory = Part { glob, is_directory: true, ..self.clone() };
        if self.start != PathStart::AnyDepth && is_listed && directory.is_path() {
            Some(directory)
        } else {
            None
        }
    }

    /// Its first name, as messages show it: `./etc` or `/etc`.
    pub(super) fn shown_start(&self) -> String {
        let start = if self.start == PathStart::Absolute { "/" } else { "./" };
        format!("{start}{}", first_name(&self.glob))
    }

    /// Whether such a path can exist. A pattern with `..` covers nothing.
    pub(super) fn can_match(&self) -> bool {
        self.glob.split('/').all(|name| !matches!(name, "." | ".." | ""))
    }

    /// Whether it is one path.
    pub(super) fn is_path(&self) -> bool {
        self.start != PathStart::AnyDepth && sandbox::can_read(&self.glob) && !sandbox::is_pattern(&self.glob)
    }

    /// The entry of the sandbox, for reading. `None` if the sandbox would read it differently.
    pub(super) fn spelled(&self, paths: &SettingsPaths<'_>) -> Option<String> {
        if !sandbox::can_read(&self.glob) {
            return None;
        }
        Some(format!("{}{}", self.beginning(paths), self.with_contents()))
    }

    /// The permission rule. Permission rules understand more.
    pub(super) fn permission(&self, tool: &str, paths: &SettingsPaths<'_>) -> Option<String> {
        let contents = if self.is_directory { "/**" } else { "" };
        sandbox::permission(tool, &format!("{}{}{contents}", self.beginning(paths), self.glob))
    }

    fn beginning(&self, paths: &SettingsPaths<'_>) -> String {
        match self.start {
            PathStart::AnyDepth => match paths.prefix().as_str() {
                "./" => "**/".to_owned(),
                prefix => format!("{prefix}**/"),
            },
            PathStart::Root => paths.prefix(),
            PathStart::Absolute => "/".to_owned(),
        }
    }

    /// A path is denied with its content. A pattern is expanded to its matches.
    fn with_contents(&self) -> String {
        let contents = if self.is_directory && !self.is_path() { "/**" } else { "" };
        format!("{}{contents}", self.glob)
    }

    /// The existing files of the machine that an absolute part names: a path, or a pattern for one directory. `None` for another
    /// pattern.
    pub(super) fn files_of_machine(&self, machine: &dyn Machine) -> Option<Vec<String>> {
        if self.is_path() {
            return Some(vec![format!("/{}", self.glob)]);
        }
        let (folder, name) = self.glob.rsplit_once('/').unwrap_or(("", &self.glob));
        if sandbox::is_pattern(folder) || !sandbox::can_read(folder) {
            return None;
        }
        let glob = Glob::new(name, GlobKind::Path).ok()?;
        let mut names = machine.names_in(&format!("/{folder}"));
        names.retain(|name| glob.matches(name) == Some(true));
        let above = if folder.is_empty() { String::new() } else { format!("/{folder}") };
        Some(names.iter().map(|name| format!("{above}/{name}")).collect())
    }

    /// Whether Claude Code would search much of the machine for it, at each command.
    pub(super) fn is_search_of_machine(&self) -> bool {
        if self.start != PathStart::Absolute || !sandbox::is_pattern(&self.glob) {
            return false;
        }
        let fixed = self.glob.split('/').take_while(|name| !sandbox::is_pattern(name)).count();
        fixed < 3 || self.glob.contains("**")
    }
}

fn first_name(glob: &str) -> &str {
    glob.split('/').next().unwrap_or_default()
}

fn is_in_root_directory(name: &str, machine: &dyn Machine) -> bool {
    let Ok(glob) = Glob::new(name, GlobKind::Path) else { return true };
    machine.names_in("/").iter().any(|name| glob.matches(name).unwrap_or(true))
}
