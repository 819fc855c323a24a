//! Git's ignore rules: `.gitignore` files, `.git/info/exclude`, and the file in `core.excludesFile`. All count as they were when
//! an agent was called: a later rule hides nothing.

use std::collections::BTreeMap;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::log;

/// Larger rule files hide nothing.
const MAX_FILE: u64 = 64 << 10;
const MAX_TOTAL: usize = 256 << 10;

/// The key of the user's own rules. No folder has it, since those end with `/`.
const OF_USER: &str = "core.excludesFile";

/// The key of the rules of a repository in this folder.
fn key_of_repository(folder: &str) -> String {
    format!("{folder}.git/info/exclude")
}

/// The texts of the `.gitignore` files, by their folder: empty for the top level, `src/` below it. Also the files with lower
/// precedence, by the keys above.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Rules(BTreeMap<String, String>);

impl Rules {
    /// Reads the rules of a folder at its first visit.
    pub(super) fn read(&mut self, folder: &str, path: &Path) {
        self.add(folder.to_owned(), &path.join(".gitignore"));
    }

    /// Reads only the rules of this clone, which are not in its tree.
    pub(super) fn read_excludes(&mut self, folder: &str, common_dir: &Path) {
        self.add(key_of_repository(folder), &common_dir.join("info/exclude"));
    }

    /// Reads the user's own rules.
    pub(super) fn read_users(&mut self, file: Option<&Path>) {
        if let Some(file) = file {
            self.add(OF_USER.to_owned(), file);
        }
    }

    fn add(&mut self, key: String, file: &Path) {
        if file.symlink_metadata().is_err() {
            return;
        }
        let total: usize = self.0.values().map(String::len).sum();
        match files::read_text(file, MAX_FILE) {
            Ok(text) if total + text.len() <= MAX_TOTAL => {
                self.0.insert(key, text);
            }
            Ok(_) => log::warn(|| format!("{} hides nothing: there are too many rules", file.display())),
            Err(error) => log::warn(|| format!("{} hides nothing: {error}", file.display())),
        }
    }

    /// The user's own rules, with the lowest precedence.
    pub(super) fn of_user(&self) -> Option<Gitignore> {
        self.compiled(OF_USER)
    }

    /// The rules of a clone, with lower precedence than its `.gitignore` files.
    pub(super) fn of_repository(&self, folder: &str) -> Option<Gitignore> {
        self.compiled(&key_of_repository(folder))
    }

    /// Only the rules of a folder, ready for comparison.
    pub(super) fn of(&self, folder: &str) -> Option<Gitignore> {
        self.compiled(folder)
    }

    fn compiled(&self, key: &str) -> Option<Gitignore> {
        let text = self.0.get(key)?;
        let mut builder = GitignoreBuilder::new("");
        builder.allow_unclosed_class(false);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A broken pattern hides nothing.
            let _ = builder.add_line(None, &without_alternatives(line));
        }
        builder.build().ok()
    }
}

/// Braces are literal in a `.gitignore`, but `ignore` would read them as alternatives.
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
pub(super) struct RuleStack(Vec<(String, std::rc::Rc<Gitignore>)>);

impl RuleStack {
    pub(super) fn with(&self, folder: &str, rules: Option<Gitignore>) -> RuleStack {
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
        RuleStack::default().with("", rules.of("")).hides(path, is_folder)
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

    /// A repository with some files, whose ignore rules git itself applies.
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

    /// A file is hidden if its folder is.
    fn is_hidden(text: &str, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.into_iter().any(|folder| ours(text, folder, true)) || ours(text, path, false)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(test_support::cases(16, 48)))]
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
