//! What `.gitignore` files hide. Only those inside the tree count, as they were when an agent was called: what is in
//! `.git/info/exclude`, in `core.excludesFile` or in a `.gitignore` that was written since then hides nothing.

use std::collections::BTreeMap;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::log;

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
        let mut builder = GitignoreBuilder::new("");
        builder.allow_unclosed_class(false);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A broken pattern hides nothing.
            let _ = builder.add_line(None, &without_alternatives(line));
        }
        builder.build().ok()
    }
}

/// Braces are literal in a `.gitignore`; `ignore` would take them for alternatives.
fn without_alternatives(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                escaped.push(character);
                escaped.extend(characters.next());
            }
            '{' | '}' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    escaped
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
            match rules.matched(below, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
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

    /// A repository with some files, in which git is asked what it ignores.
    struct Oracle(tempfile::TempDir);

    const FILES: [&str; 7] = ["a", "b.c", "ab/a", "ab/b.c", "ba/ab/a", "ba/ab/b.c", "bb/a.c"];

    impl Oracle {
        fn new() -> Oracle {
            let folder = tempfile::tempdir().unwrap();
            for file in FILES {
                let path = folder.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            let oracle = Oracle(folder);
            oracle.git(&["init", "--quiet"]);
            oracle
        }

        fn git(&self, arguments: &[&str]) -> String {
            let mut git = std::process::Command::new("git");
            git.args(["-c", "core.excludesFile=/dev/null"]).args(arguments).current_dir(self.0.path());
            String::from_utf8(git.output().unwrap().stdout).unwrap()
        }

        fn ignored(&self, text: &str) -> Vec<String> {
            std::fs::write(self.0.path().join(".gitignore"), text).unwrap();
            let arguments = [&["check-ignore", "--no-index"], &FILES[..]].concat();
            self.git(&arguments).lines().map(str::to_owned).collect()
        }
    }

    /// A file is hidden with the folder that it is in.
    fn is_hidden(text: &str, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.into_iter().any(|folder| ours(text, folder, true)) || ours(text, path, false)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn rules_hide_what_git_ignores(
            text in "(!?/?(\\*\\*/)?[ab]{1,2}(\\*|\\?|\\[ab\\]|\\{a,b\\})?(/[ab*]{1,2})?(\\.c)?/?\n){1,4}",
        ) {
            let oracle = Oracle::new();
            let hidden: Vec<&str> = FILES.into_iter().filter(|path| is_hidden(&text, path)).collect();
            prop_assert_eq!(hidden, oracle.ignored(&text), "{:?}", text);
        }
    }
}
