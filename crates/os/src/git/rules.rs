//! What `.gitignore` files hide. Only those inside the tree count, as they were when an agent was called: what is in
//! `.git/info/exclude`, in `core.excludesFile` or in a `.gitignore` that was written since then hides nothing.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files;
use crate::log;
use shell_effects::glob::{Glob, Kind};

/// Larger files of rules hide nothing.
const MAX_FILE: u64 = 64 << 10;
const MAX_TOTAL: usize = 256 << 10;

/// The texts of the `.gitignore` files, by their folder: empty for the top level, `src/` below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Rules(BTreeMap<String, String>);

impl Rules {
    /// Reads the rules of a folder that is walked for the first time.
    pub(super) fn read(&mut self, folder: &str, path: &Path) {
        let file = path.join(".gitignore");
        if file.symlink_metadata().is_err() {
            return;
        }
        let total: usize = self.0.values().map(String::len).sum();
        match files::read_text(&file, MAX_FILE) {
            Ok(text) if total + text.len() <= MAX_TOTAL => {
                self.0.insert(folder.to_owned(), text);
            }
            Ok(_) => log::warn(|| format!("{} hides nothing: there are too many rules", file.display())),
            Err(error) => log::warn(|| format!("{} hides nothing: {error}", file.display())),
        }
    }

    /// The rules of a folder alone, ready to be compared.
    pub(super) fn of(&self, folder: &str) -> Option<Gitignore> {
        let text = self.0.get(folder)?;
        Some(Gitignore(text.trim_start_matches('\u{feff}').lines().filter_map(Rule::of).collect()))
    }
}

/// The rules of one `.gitignore`, in its order.
#[derive(Clone, Debug)]
pub(super) struct Gitignore(Vec<Rule>);

impl Gitignore {
    /// Whether the path, from the folder of the rules, is hidden or shown again; `None` if no rule is about it.
    fn hides(&self, path: &str, is_folder: bool) -> Option<bool> {
        self.0.iter().rev().find(|rule| rule.is_about(path, is_folder)).map(|rule| rule.hides)
    }
}

#[derive(Clone, Debug)]
struct Rule {
    glob: Glob,
    hides: bool,
    /// It is compared with the whole path, not with the name alone.
    is_anchored: bool,
    is_for_folders: bool,
}

impl Rule {
    /// The rule of a line; `None` for a comment, a blank line, and a pattern that matches nothing because it is broken.
    fn of(line: &str) -> Option<Rule> {
        let line = without_trailing_blanks(line);
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (hides, pattern) = line.strip_prefix('!').map_or((true, line), |pattern| (false, pattern));
        let plain = pattern.strip_suffix('/').unwrap_or(pattern);
        let is_anchored = plain.contains('/');
        let glob = Glob::new(&as_glob(plain.strip_prefix('/').unwrap_or(plain)), Kind::Path).ok()?;
        Some(Rule { glob, hides, is_anchored, is_for_folders: plain.len() < pattern.len() })
    }

    fn is_about(&self, path: &str, is_folder: bool) -> bool {
        let compared = if self.is_anchored { path } else { path.rsplit('/').next().unwrap_or(path) };
        (is_folder || !self.is_for_folders) && self.glob.matches(compared) == Some(true)
    }
}

/// Blanks at the end do not count, unless `\\` is before them.
fn without_trailing_blanks(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let trimmed = line.trim_end_matches([' ', '\t']);
    let backslashes = trimmed.len() - trimmed.trim_end_matches('\\').len();
    let is_escaped = backslashes % 2 == 1 && trimmed.len() < line.len();
    if is_escaped { line.get(..trimmed.len() + 1).unwrap_or(line) } else { trimmed }
}

/// Braces are nothing special here, and `[^a]` is another spelling of `[!a]`.
fn as_glob(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                glob.push(c);
                glob.extend(chars.next());
            }
            '{' | '}' => glob.extend(['\\', c]),
            '^' if glob.ends_with('[') && !glob.ends_with("\\[") => glob.push('!'),
            c => glob.push(c),
        }
    }
    glob
}

/// The rules that apply in a folder: those of the folders above, and its own, which come last and win.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack(Vec<(String, std::rc::Rc<Gitignore>)>);

impl Stack {
    pub(super) fn with(&self, folder: &str, rules: Option<Gitignore>) -> Stack {
        let mut stack = self.clone();
        stack.0.extend(rules.map(|rules| (folder.to_owned(), std::rc::Rc::new(rules))));
        stack
    }

    /// Whether a path from the top level is hidden.
    pub(super) fn hides(&self, path: &str, is_folder: bool) -> bool {
        for (folder, rules) in self.0.iter().rev() {
            let Some(below) = path.strip_prefix(folder.as_str()) else { continue };
            if let Some(hides) = rules.hides(below, is_folder) {
                return hides;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use ignore::gitignore::GitignoreBuilder;
    use proptest::prelude::*;

    use super::*;

    fn ours(text: &str, path: &str, is_folder: bool) -> bool {
        let rules = Rules(BTreeMap::from([(String::new(), text.to_owned())]));
        Stack::default().with("", rules.of("")).hides(path, is_folder)
    }

    #[test]
    fn rules_mean_what_they_mean_to_git() {
        for (text, path, is_folder, expected) in [
            ("*.log", "a/b.log", false, true),
            ("*.log\n!keep.log", "keep.log", false, false),
            ("/build", "build", true, true),
            ("/build", "a/build", true, false),
            ("build/", "a/build", true, true),
            ("build/", "build", false, false),
            ("a/*.o", "a/x.o", false, true),
            ("a/*.o", "a/b/x.o", false, false),
            ("a/**/x", "a/b/c/x", false, true),
            ("**/x", "a/x", false, true),
            ("{a,b}", "a", false, false),
            ("{a,b}", "{a,b}", false, true),
            ("[^a]", "b", false, true),
            ("[^a]", "a", false, false),
            ("# x", "# x", false, false),
            ("\\#x", "#x", false, true),
            ("x \t", "x", false, true),
            ("x\\ ", "x ", false, true),
            ("[a", "[a", false, false),
            ("*.log\n!keep/", "keep/a.log", false, true),
        ] {
            assert_eq!(ours(text, path, is_folder), expected, "{text:?} {path:?}");
        }
    }

    proptest! {
        #[test]
        fn rules_are_those_of_another_implementation(
            text in "(!?/?(\\*\\*/)?[ab]{1,2}(\\*|\\?|\\[ab\\])?(/[ab*]{1,2})?(\\.c)?/?\n){1,4}",
            path in "[ab]{1,2}(/[ab]{1,2}){0,2}(\\.c)?",
            is_folder: bool,
        ) {
            let mut builder = GitignoreBuilder::new("");
            for line in text.lines() {
                builder.add_line(None, line).unwrap();
            }
            let theirs = builder.build().unwrap().matched(&path, is_folder).is_ignore();
            prop_assert_eq!(ours(&text, &path, is_folder), theirs, "{:?} {:?}", text, path);
        }
    }
}
