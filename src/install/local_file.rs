//! `.conclaude.local.yaml` is the user's own: git should ignore it.

use std::path::Path;

use crate::files;
use crate::load::LOCAL;
use crate::root::git_top_level;

/// A list of ignored files is never this large.
const MAX_BYTES: u64 = 1 << 20;

/// What to do where git would take the file for one of the project's.
#[must_use]
pub(crate) fn not_ignored(folder: &Path) -> Option<String> {
    let top = git_top_level(folder).filter(|_| folder.join(LOCAL).exists())?;
    let lists = [folder.join(".gitignore"), top.join(".gitignore"), top.join(".git/info/exclude")];
    let names_it =
        |line: &str| line.trim().rsplit('/').next() == Some(LOCAL) || line.trim() == ".conclaude.local.*";
    let is_named = lists
        .iter()
        .filter_map(|list| files::read_text(list, MAX_BYTES).ok())
        .any(|text| text.lines().any(names_it));
    (!is_named).then(|| {
        format!("{LOCAL} is yours, and git does not ignore it: `echo {LOCAL} >> {}`", list_of(top).display())
    })
}

/// The list that is not shared; a linked work tree has none of its own.
fn list_of(top: &Path) -> std::path::PathBuf {
    let own = top.join(".git/info/exclude");
    if top.join(".git").is_dir() { own } else { top.join(".gitignore") }
}
