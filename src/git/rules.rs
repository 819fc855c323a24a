//! What `.gitignore` files hide. Only those inside the tree count, as they were when an agent was called: what is in
//! `.git/info/exclude`, in `core.excludesFile` or in a `.gitignore` that was written since then hides nothing.

use std::collections::BTreeMap;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};

use crate::{files, log};

/// Larger files of rules hide nothing.
const MAX_FILE: u64 = 64 << 10;
const MAX_TOTAL: usize = 256 << 10;

/// The texts of the `.gitignore` files, by their folder: empty for the top level, `src/` below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Rules(BTreeMap<String, String>);

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
        for line in text.trim_start_matches('\u{feff}').lines() {
            if let Err(error) = builder.add_line(None, line) {
                log::debug(|| format!("{folder}.gitignore: {error}"));
            }
        }
        builder.build().ok()
    }
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
            let matched = rules.matched(below, is_folder);
            if !matched.is_none() {
                return matched.is_ignore();
            }
        }
        false
    }
}
