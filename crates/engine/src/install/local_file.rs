//! `.conclaude.local.yaml` is the user's own: git should ignore it.

use std::fmt;
use std::path::Path;

use super::error::InstallError;
use super::user_file::UserFile;
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::sandbox::effective as sandbox;
use conclaude_os::budget::Budget;
use conclaude_os::git::{self, Tracking};
use conclaude_store::load::LOCAL;
use shell_effects::quoted_if_needed;

/// A local config that git tracks or would add, and the command that fixes it.
pub struct IgnoreProblem {
    pub what: String,
    pub fix: String,
}

impl fmt::Display for IgnoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`", self.what, self.fix)
    }
}

/// Whether git tracks or would add the local config.
#[must_use]
pub fn not_ignored(folder: &Path) -> Option<IgnoreProblem> {
    let file = folder.join(LOCAL);
    if file.symlink_metadata().is_err() {
        return None;
    }
    let list = git::exclude_file(folder)?;
    match git::tracking(folder, &file, &Budget::unlimited()) {
        Some(Tracking::Ignored) => None,
        Some(Tracking::Tracked) => Some(IgnoreProblem {
            what: format!("{LOCAL} is yours, and git tracks it for everybody"),
            fix: format!("git rm --cached {LOCAL}"),
        }),
        // Without git only this list is known.
        None if is_named(&list) => None,
        Some(Tracking::Untracked) | None => Some(IgnoreProblem {
            what: format!("{LOCAL} is yours, and git does not ignore it"),
            fix: format!("echo {LOCAL} >> {}", quoted_if_needed(&list.to_string_lossy())),
        }),
    }
}

/// A list of files that git ignores only in this clone, and its new content.
pub struct Exclusion {
    list: UserFile,
    pub before: String,
    pub after: String,
}

/// The comment above the lines for files that the sandbox shows.
const PLACEHOLDERS: &str = "# Shown by Claude Code's sandbox where there is no such file.";

/// The files that the sandbox shows where there are none.
fn placeholders() -> impl Iterator<Item = &'static str> {
    sandbox::PLACEHOLDERS.into_iter().chain([LOCAL, layout::SETTINGS])
}

impl Exclusion {
    /// The change that makes git ignore the local config. `None` if it already does.
    ///
    /// # Errors
    /// When the list is not ours to change.
    pub fn needed(folder: &Path) -> Result<Option<Exclusion>, InstallError> {
        let Some(path) = git::exclude_file(folder) else { return Ok(None) };
        if is_named(&path) || git::ignores(folder, &folder.join(LOCAL), &Budget::unlimited()) {
            return Ok(None);
        }
        Exclusion::adding(UserFile { path }, &format!("{LOCAL}\n")).map(Some)
    }

    /// The change that makes git ignore the files that Claude Code's sandbox shows in place of missing ones. `None` if it already
    /// does.
    ///
    /// # Errors
    /// When the list is not ours to change.
    pub fn of_placeholders(folder: &Path) -> Result<Option<Exclusion>, InstallError> {
        let Some(path) = git::exclude_file(folder) else { return Ok(None) };
        let budget = Budget::unlimited();
        let is_shown = |name: &&str| {
            let file = folder.join(name);
            file.symlink_metadata().is_err() && !git::ignores(folder, &file, &budget)
        };
        let lines: String = placeholders().filter(is_shown).map(|name| format!("/{name}\n")).collect();
        if lines.is_empty() {
            return Ok(None);
        }
        let lines = format!("{PLACEHOLDERS}\n{lines}");
        Exclusion::adding(UserFile { path }, &lines).map(Some)
    }

    /// The change that removes these lines. `None` if there are none.
    ///
    /// # Errors
    /// When the list is not ours to change.
    pub fn without_placeholders(folder: &Path) -> Result<Option<Exclusion>, InstallError> {
        let Some(path) = git::exclude_file(folder) else { return Ok(None) };
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let list = UserFile { path };
        let before = list.read()?.unwrap_or_default();
        let is_placeholder = |line: &str| {
            line.trim_end().strip_prefix('/').is_some_and(|name| placeholders().any(|one| one == name))
        };
        let (mut after, mut is_ours) = (String::new(), false);
        for line in before.split_inclusive('\n') {
            is_ours = line.trim_end() == PLACEHOLDERS || is_ours && is_placeholder(line);
            if !is_ours {
                after.push_str(line);
            }
        }
        if after == before { Ok(None) } else { Ok(Some(Exclusion { list, before, after })) }
    }

    fn adding(list: UserFile, lines: &str) -> Result<Exclusion, InstallError> {
        let before = list.read()?.unwrap_or_default();
        let line_end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        Ok(Exclusion { after: format!("{before}{line_end}{lines}"), before, list })
    }

    pub fn path(&self) -> &Path {
        &self.list.path
    }

    pub fn apply(&self) -> Result<(), InstallError> {
        self.list.write(Some(&self.after))
    }
}

fn is_named(list: &Path) -> bool {
    let text = UserFile { path: list.to_owned() }.read().ok().flatten().unwrap_or_default();
    text.lines().any(|line| line.trim().trim_start_matches('/') == LOCAL)
}
