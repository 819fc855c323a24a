//! The files and directories of a project that git considers. Ignored files are included. In ignored directories, only files that
//! git tracks, or that the caller already knows, are included, unless the caller wants more.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::excludes;
use super::index::name_of;
use super::repository::Repository;
use super::rules::{RuleStack, Rules};
use crate::budget::Budget;
use conclaude_core::dialect::claude::layout;

/// A file or directory, by its path from the start of the walk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    pub path: String,
    /// It is a directory, or a link to one.
    pub is_directory: bool,
    pub is_link: bool,
}

impl TreeEntry {
    /// The entry at this path of a folder. `None` if there is none.
    #[must_use]
    pub fn at(folder: &Path, path: &str) -> Option<TreeEntry> {
        let full = folder.join(path);
        let (is_directory, is_link) = match full.symlink_metadata() {
            Ok(metadata) => (full.is_dir(), metadata.is_symlink()),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return None;
            }
            // An unreadable parent directory does not mean that the entry is gone.
            Err(_) => (false, false),
        };
        Some(TreeEntry { path: path.to_owned(), is_directory, is_link })
    }
}

/// The walk of a larger project stops.
const MAX_ENTRIES: usize = 250_000;

/// Directories that are not part of the project: git's and ours.
const LEFT_OUT: [&str; 2] = [".git", ".conclaude"];

/// The paths below a folder that matter, in addition to those that git considers.
pub struct EntryFilter<'a> {
    pub known: &'a [String],
    /// Whether to look into a directory that git ignores, or into one below it.
    pub looks_into: &'a dyn Fn(&str) -> bool,
}

/// The files and directories below a folder. An ignored directory is included. Its content is not, unless git tracks it or the
/// filter wants it. A link to a directory is not followed. A name that is not UTF-8 has replacement characters.
///
/// # Errors
/// If there are too many, no time is left, or git's index cannot be read.
pub fn entries(work: &Path, filter: &EntryFilter<'_>, budget: &Budget) -> Result<Vec<TreeEntry>, GitError> {
    let mut walk = EntryWalk {
        looks_into: filter.looks_into,
        rules: Rules::default(),
        prefix: String::new(),
        found: Vec::new(),
        ignored: Vec::new(),
        repositories: Vec::new(),
        budget,
    };
    let mut folders = vec![walk.start(work)];
    while let Some(folder) = folders.pop() {
        walk.folder(&folder, &mut folders)?;
    }
    walk.tracked()?;
    walk.found.sort();
    let is_found = |path: &String| walk.found.binary_search_by(|entry| entry.path.cmp(path)).is_ok();
    let is_left_out = |path: &String| path.split('/').any(|name| LEFT_OUT.contains(&name));
    let more: Vec<TreeEntry> = filter
        .known
        .iter()
        .filter(|path| !is_found(path) && !is_left_out(path) && layout::inside_worktree(path).is_none())
        .filter_map(|path| TreeEntry::at(work, path))
        .collect();
    if !more.is_empty() {
        walk.found.extend(more);
        walk.found.sort();
        walk.found.dedup();
    }
    Ok(walk.found)
}

struct EntryWalk<'a> {
    looks_into: &'a dyn Fn(&str) -> bool,
    rules: Rules,
    /// The start of the walk, relative to the top level of the repository.
    prefix: String,
    found: Vec<TreeEntry>,
    /// Directories that were not entered, from the top level: `target/`.
    ignored: Vec<String>,
    /// The repository, and the repositories in it.
    repositories: Vec<FoundRepository>,
    budget: &'a Budget,
}

struct FoundRepository {
    /// Its top level, relative to that of the outermost: empty, or `vendor/lib/`.
    name: String,
    repository: Repository,
}

/// A folder to visit, by its path from the top level.
struct PendingFolder {
    path: PathBuf,
    name: String,
    rules: RuleStack,
    is_ignored: bool,
}

impl EntryWalk<'_> {
    /// The first folder, with the rules of those above it.
    fn start(&mut self, work: &Path) -> PendingFolder {
        let path = work.canonicalize().unwrap_or_else(|_| work.to_owned());
        let Some(repository) = Repository::find(work, self.budget) else {
            return PendingFolder {
                path,
                name: String::new(),
                rules: RuleStack::default(),
                is_ignored: false,
            };
        };
        self.rules.read_users(excludes::file_of_user(&repository).as_deref());
        self.rules.read_excludes("", &repository.common_dir);
        let mut rules =
            RuleStack::default().with("", self.rules.of_user()).with("", self.rules.of_repository(""));
        let (mut above, mut name) = (repository.top.clone(), String::new());
        for part in repository.prefix.split_terminator('/') {
            self.rules.read(&name, &above);
            rules = rules.with(&name, self.rules.of(&name));
            above.push(part);
            name = format!("{name}{part}/");
        }
        self.prefix.clone_from(&name);
        self.repositories.push(FoundRepository { name: String::new(), repository });
        PendingFolder { path, name, rules, is_ignored: false }
    }

    fn folder(&mut self, folder: &PendingFolder, folders: &mut Vec<PendingFolder>) -> Result<(), GitError> {
        self.rules.read(&folder.name, &folder.path);
        let rules = folder.rules.with(&folder.name, self.rules.of(&folder.name));
        let Ok(listed) = std::fs::read_dir(&folder.path) else { return Ok(()) };
        for entry in listed.flatten() {
            let raw_name = entry.file_name();
            let own_name = raw_name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if own_name == ".git" && !folder.name.is_empty() {
                self.enter_nested(folder);
            }
            let name = format!("{}{own_name}", folder.name);
            let path = name.strip_prefix(&self.prefix).unwrap_or(&name).to_owned();
            if LEFT_OUT.contains(&&*own_name) || layout::inside_worktree(&path).is_some() {
                continue;
            }
            let is_link = kind.is_symlink();
            if kind.is_dir() {
                let is_ignored = folder.is_ignored || rules.hides(&name, true);
                let name = format!("{name}/");
                if is_ignored && !(self.looks_into)(&path) {
                    self.ignored.push(name);
                } else {
                    let path = folder.path.join(&raw_name);
                    folders.push(PendingFolder { path, name, rules: rules.clone(), is_ignored });
                }
            }
            let is_directory = kind.is_dir() || is_link && folder.path.join(&raw_name).is_dir();
            self.found.push(TreeEntry { path, is_directory, is_link });
            self.check_limits()?;
        }
        Ok(())
    }

    fn enter_nested(&mut self, folder: &PendingFolder) {
        if let Some(repository) = Repository::at(&folder.path, String::new(), self.budget) {
            self.repositories.push(FoundRepository { name: folder.name.clone(), repository });
        }
    }

    /// Adds tracked files in ignored directories.
    fn tracked(&mut self) -> Result<(), GitError> {
        for FoundRepository { name, repository } in std::mem::take(&mut self.repositories) {
            let below: Vec<String> = self
                .ignored
                .iter()
                .filter_map(|folder| folder.strip_prefix(&name))
                .filter(|folder| !folder.is_empty())
                .map(str::to_owned)
                .collect();
            if below.is_empty() {
                continue;
            }
            let index: BTreeMap<_, _> = repository.tracked()?.entries.into_iter().collect();
            for folder in below {
                let inside = index
                    .range(folder.as_bytes().to_vec()..)
                    .take_while(|(path, _)| path.starts_with(folder.as_bytes()));
                for (tracked, _) in inside {
                    let tracked = name_of(tracked);
                    let from_top = format!("{name}{tracked}");
                    let Some(path) = from_top.strip_prefix(&self.prefix) else { continue };
                    if let Some(entry) = TreeEntry::at(&repository.top, &tracked) {
                        self.found.push(TreeEntry { path: path.to_owned(), ..entry });
                        self.check_limits()?;
                    }
                }
            }
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
        known_paths(work, &[])
    }

    fn known_paths(work: &Path, known: &[&str]) -> Vec<String> {
        let known: Vec<String> = known.iter().map(|path| (*path).to_owned()).collect();
        shown(work, &EntryFilter { known: &known, looks_into: &|_| false })
    }

    fn shown(work: &Path, filter: &EntryFilter<'_>) -> Vec<String> {
        let found = entries(work, filter, &Budget::unlimited()).unwrap();
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
        // The rules of the folders above apply below as well.
        assert_eq!(paths(&root.join("web")), ["b.lock", "dist/"]);
    }

    fn write(root: &Path, files: &[&str]) {
        for file in files {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
    }

    fn git(root: &Path, arguments: &[&str]) {
        let done = std::process::Command::new("git").args(arguments).current_dir(root).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn a_tracked_file_is_found_whatever_gitignore_says() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, &["sub/x.lock", "sub/new.lock", "lib/out/y.lock", "sub/gone.lock"]);
        git(root, &["init", "-q"]);
        git(root, &["add", "sub/x.lock", "sub/gone.lock"]);
        git(&root.join("lib"), &["init", "-q"]);
        git(&root.join("lib"), &["add", "."]);
        std::fs::remove_file(root.join("sub/gone.lock")).unwrap();
        std::fs::write(root.join(".gitignore"), "sub/\nout/\n").unwrap();
        let expected = [".gitignore", "lib/", "lib/out/", "lib/out/y.lock", "sub/", "sub/x.lock"];
        assert_eq!(paths(root), expected);
        assert_eq!(paths(&root.join("lib")), ["out/", "out/y.lock"]);
    }

    #[test]
    fn a_known_path_that_exists_is_found_in_an_ignored_directory() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, &["sub/x.lock", "sub/gen/a", ".conclaude/c.lock", "a.lock"]);
        std::fs::write(root.join(".gitignore"), "sub\n").unwrap();
        let known = ["sub/x.lock", "sub/gen", "sub/gone", "a.lock", ".conclaude/c.lock", "a.lock/b"];
        assert_eq!(known_paths(root, &known), [".gitignore", "a.lock", "sub/", "sub/gen/", "sub/x.lock"]);
    }

    #[test]
    fn an_ignored_directory_is_entered_if_the_caller_wants_to() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, &["out/a", "out/in/b", "out/big/c", "target/d"]);
        std::fs::write(root.join(".gitignore"), "out\ntarget\n").unwrap();
        let looks_into = |path: &str| matches!(path, "out" | "out/in");
        let found = shown(root, &EntryFilter { known: &[], looks_into: &looks_into });
        assert_eq!(found, [".gitignore", "out/", "out/a", "out/big/", "out/in/", "out/in/b", "target/"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_listed_and_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, &["a/b"]);
        symlink("a", root.join("folder")).unwrap();
        symlink("a/b", root.join("file")).unwrap();
        symlink("nowhere", root.join("broken")).unwrap();
        let filter = EntryFilter { known: &[], looks_into: &|_| false };
        let found = entries(root, &filter, &Budget::unlimited()).unwrap();
        let links: Vec<(&str, bool)> = found
            .iter()
            .filter(|entry| entry.is_link)
            .map(|entry| (entry.path.as_str(), entry.is_directory))
            .collect();
        assert_eq!(links, [("broken", false), ("file", false), ("folder", true)]);
        assert_eq!(found.len(), 5);
        assert_eq!(TreeEntry::at(root, "folder").as_ref(), found.iter().find(|one| one.path == "folder"));
    }
}
