//! The files and directories of a project, as far as git looks: files that are ignored too, but nothing in an ignored directory.

use std::path::{Path, PathBuf};

use super::error::GitError;
use super::excludes;
use super::repository::Repository;
use super::rules::{Rules, Stack};
use crate::budget::Budget;
use conclaude_core::dialect::claude::layout;

/// A file or directory, by its path from where the walk started.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    pub path: String,
    pub is_directory: bool,
}

/// A larger project is not walked to its end.
const MAX_ENTRIES: usize = 100_000;

/// Directories that are not the project's: git's own, ours, and the worktrees of agents.
const LEFT_OUT: [&str; 2] = [".git", ".conclaude"];

/// The files and directories below a folder, without names that are not UTF-8. A directory that git ignores is in it, what is inside
/// is not.
///
/// # Errors
/// When there are too many, or no time.
pub fn entries(work: &Path, budget: &Budget) -> Result<Vec<TreeEntry>, GitError> {
    let mut walk = EntryWalk { rules: Rules::default(), prefix: String::new(), found: Vec::new(), budget };
    let mut folders = vec![walk.start(work)];
    while let Some(folder) = folders.pop() {
        walk.folder(&folder, &mut folders)?;
    }
    walk.found.sort();
    Ok(walk.found)
}

struct EntryWalk<'a> {
    rules: Rules,
    /// The start of the walk, from the top level of the repository.
    prefix: String,
    found: Vec<TreeEntry>,
    budget: &'a Budget,
}

/// A folder that is still to be visited, by its path from the top level.
struct PendingFolder {
    path: PathBuf,
    name: String,
    rules: Stack,
}

impl EntryWalk<'_> {
    /// The first folder, with the rules of those above it.
    fn start(&mut self, work: &Path) -> PendingFolder {
        let path = work.canonicalize().unwrap_or_else(|_| work.to_owned());
        let Some(repository) = Repository::find(work, self.budget) else {
            return PendingFolder { path, name: String::new(), rules: Stack::default() };
        };
        self.rules.read_users(excludes::file_of_user(&repository).as_deref());
        self.rules.read_excludes("", &repository.common_dir);
        let mut rules =
            Stack::default().with("", self.rules.of_user()).with("", self.rules.of_repository(""));
        let (mut above, mut name) = (repository.top.clone(), String::new());
        for part in repository.prefix.split_terminator('/') {
            self.rules.read(&name, &above);
            rules = rules.with(&name, self.rules.of(&name));
            above.push(part);
            name = format!("{name}{part}/");
        }
        self.prefix.clone_from(&name);
        PendingFolder { path, name, rules }
    }

    fn folder(&mut self, folder: &PendingFolder, folders: &mut Vec<PendingFolder>) -> Result<(), GitError> {
        self.rules.read(&folder.name, &folder.path);
        let rules = folder.rules.with(&folder.name, self.rules.of(&folder.name));
        let Ok(listed) = std::fs::read_dir(&folder.path) else { return Ok(()) };
        for entry in listed.flatten() {
            let Ok(own_name) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let name = format!("{}{own_name}", folder.name);
            let path = name.strip_prefix(&self.prefix).unwrap_or(&name).to_owned();
            if LEFT_OUT.contains(&own_name.as_str()) || layout::inside_worktree(&path).is_some() {
                continue;
            }
            let is_directory = kind.is_dir();
            if is_directory && !rules.hides(&name, true) {
                let path = folder.path.join(&own_name);
                folders.push(PendingFolder { path, name: format!("{name}/"), rules: rules.clone() });
            }
            self.found.push(TreeEntry { path, is_directory });
            self.check_limits()?;
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), GitError> {
        if self.found.len() > MAX_ENTRIES {
            return Err(GitError::TooManyFiles(MAX_ENTRIES));
        }
        if self.found.len().is_multiple_of(64) && self.budget.is_over() {
            return Err(GitError::TimedOut(Budget::exceeded()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(work: &Path) -> Vec<String> {
        let found = entries(work, &Budget::unlimited()).unwrap();
        found
            .into_iter()
            .map(|entry| if entry.is_directory { format!("{}/", entry.path) } else { entry.path })
            .collect()
    }

    #[test]
    fn ignored_files_are_listed_and_what_is_in_ignored_directories_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in [
            ".gitignore",
            ".env",
            "a.lock",
            "node_modules/x/y.lock",
            "web/dist/z.lock",
            "web/b.lock",
            ".git/index.lock",
            ".conclaude/c.lock",
            ".claude/worktrees/agent-1/d.lock",
            ".claude/settings.json",
        ] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        std::fs::write(root.join(".gitignore"), ".env\nnode_modules/\nweb/dist\n").unwrap();
        // Without a repository the rules mean the same.
        let without_git = paths(root);
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::create_dir_all(root.join(".git/objects")).unwrap();
        std::fs::create_dir_all(root.join(".git/refs")).unwrap();
        assert_eq!(paths(root), without_git);
        assert_eq!(
            without_git,
            [
                ".claude/",
                ".claude/settings.json",
                ".claude/worktrees/",
                ".env",
                ".gitignore",
                "a.lock",
                "node_modules/",
                "web/",
                "web/b.lock",
                "web/dist/"
            ]
        );
        // The rules of the folders above count below as well.
        assert_eq!(paths(&root.join("web")), ["b.lock", "dist/"]);
    }
}
