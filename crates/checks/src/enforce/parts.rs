//! The parts of a pattern, as Claude Code's settings could have them.

use conclaude_core::dialect::claude::sandbox;
use conclaude_core::file_pattern::{Anchor, FilePattern};

use super::SettingsPaths;

/// A pattern with more alternatives is not compiled.
const MAX_ALTERNATIVES: usize = 32;

/// Directories of the machine: a pattern such as `/etc/` is hardly about the project's own `etc`.
const MACHINE: [&str; 20] = [
    "Applications",
    "Library",
    "System",
    "Users",
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib64",
    "mnt",
    "opt",
    "private",
    "proc",
    "root",
    "sbin",
    "sys",
    "usr",
    "var",
];

/// Where a part starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    AnyDepth,
    Root,
    Absolute,
}

/// One alternative of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: Start,
    pub(super) glob: String,
    /// It names directories only.
    pub(super) is_directory: bool,
    /// It is one reading of a pattern with two, and probably not the one that is meant.
    pub(super) is_unlikely: bool,
}

impl Part {
    /// The parts of a pattern. None if there are too many.
    pub(super) fn all(pattern: &FilePattern) -> Option<Vec<Part>> {
        let starts: &[Start] = match pattern.anchor() {
            Anchor::AnyDepth => &[Start::AnyDepth],
            Anchor::Root => &[Start::Root],
            Anchor::Absolute => &[Start::Absolute],
            Anchor::RootOrAbsolute => &[Start::Root, Start::Absolute],
        };
        let globs = alternatives(pattern.glob())?;
        let part = |start: Start, glob: &String| {
            let first = glob.split('/').next().unwrap_or_default();
            let is_of_machine = MACHINE.contains(&first);
            Part {
                start,
                glob: glob.clone(),
                is_directory: pattern.is_for_directories(),
                is_unlikely: starts.len() > 1 && is_of_machine == (start == Start::Root),
            }
        };
        Some(starts.iter().flat_map(|start| globs.iter().map(|glob| part(*start, glob))).collect())
    }

    /// Whether it is one path.
    pub(super) fn is_path(&self) -> bool {
        self.start != Start::AnyDepth && sandbox::can_read(&self.glob) && !sandbox::is_pattern(&self.glob)
    }

    /// As the sandbox has it, for reading. None if it would be read in another way there.
    pub(super) fn spelled(&self, paths: &SettingsPaths<'_>) -> Option<String> {
        if !sandbox::can_read(&self.glob) {
            return None;
        }
        Some(format!("{}{}", self.beginning(paths), self.with_contents()))
    }

    /// As permission rules have it: they understand more.
    pub(super) fn permission(&self, tool: &str, paths: &SettingsPaths<'_>) -> Option<String> {
        let contents = if self.is_directory { "/**" } else { "" };
        sandbox::permission(tool, &format!("{}{}{contents}", self.beginning(paths), self.glob))
    }

    fn beginning(&self, paths: &SettingsPaths<'_>) -> String {
        match self.start {
            Start::AnyDepth => match paths.prefix().as_str() {
                "./" => "**/".to_owned(),
                prefix => format!("{prefix}**/"),
            },
            Start::Root => paths.prefix(),
            Start::Absolute => "/".to_owned(),
        }
    }

    /// A path is denied with what is in it. A pattern is expanded to what it matches.
    fn with_contents(&self) -> String {
        let contents = if self.is_directory && !self.is_path() { "/**" } else { "" };
        format!("{}{contents}", self.glob)
    }

    /// Whether Claude Code would search much of the machine for it, at each command.
    pub(super) fn is_search_of_machine(&self) -> bool {
        if self.start != Start::Absolute || !sandbox::is_pattern(&self.glob) {
            return false;
        }
        let fixed = self.glob.split('/').take_while(|name| !sandbox::is_pattern(name)).count();
        fixed < 3 || self.glob.contains("**")
    }
}

/// What a glob with braces stands for. None if that is too much.
fn alternatives(glob: &str) -> Option<Vec<String>> {
    let mut pending = vec![glob.to_owned()];
    let mut found = Vec::new();
    while let Some(glob) = pending.pop() {
        match first_braces(&glob) {
            None => found.push(glob),
            Some((head, choices, tail)) => {
                pending.extend(choices.iter().rev().map(|choice| format!("{head}{choice}{tail}")));
            }
        }
        if found.len() + pending.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(found)
}

/// The first list in braces: what is before it, its members, and what is after it.
fn first_braces(glob: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut depth, mut is_escaped, mut is_class) = (0_usize, false, false);
    let (mut open, mut commas) = (0, Vec::new());
    for (at, c) in glob.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match c {
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            _ if is_class => {}
            '{' => {
                depth += 1;
                if depth == 1 {
                    open = at;
                }
            }
            ',' if depth == 1 => commas.push(at),
            '}' if depth == 1 => {
                let ends = commas.iter().copied().chain([at]);
                let starts = [open].into_iter().chain(commas.iter().copied());
                let choices = starts.zip(ends).filter_map(|(start, end)| glob.get(start + 1..end)).collect();
                return Some((glob.get(..open)?, choices, glob.get(at + 1..)?));
            }
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_expanded_as_our_globs_read_them() {
        for (glob, expected) in [
            ("a", vec!["a"]),
            ("{a,b}.txt", vec!["a.txt", "b.txt"]),
            ("{a,b{c,d}}x{1,2}", vec!["ax1", "ax2", "bcx1", "bcx2", "bdx1", "bdx2"]),
            ("a{,b}", vec!["a", "ab"]),
            (r"\{a,b\}", vec![r"\{a,b\}"]),
            ("[{,}]", vec!["[{,}]"]),
        ] {
            assert_eq!(alternatives(glob).unwrap(), expected, "{glob}");
        }
        assert_eq!(alternatives(&"{a,b}".repeat(6)), None);
    }
}
