//! The repository of a directory, found and read without starting git.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::error::GitError;
use crate::budget::Budget;
use crate::files;

/// A repository, seen from a directory in its work tree.
#[derive(Debug)]
pub(super) struct Repository {
    /// The top level of the work tree.
    pub(super) top: PathBuf,
    /// The directory of the index: `.git`, or where a `.git` file of a worktree or submodule points.
    pub(super) git_dir: PathBuf,
    /// The directory of branches, config and hooks: shared by all worktrees of a repository.
    pub(super) common_dir: PathBuf,
    /// The directory below the top level, `packages/web/`; empty at the top level itself.
    pub(super) prefix: String,
    /// How long git may take.
    pub(super) budget: Budget,
}

impl Repository {
    /// Searches upward for `.git`, as git does, and skips anything that only has that name. A folder with the layout of a bare
    /// repository does not count: git would read the config in it.
    pub(super) fn find(work: &Path, budget: &Budget) -> Option<Repository> {
        // Git sees the real path, whatever links led here.
        let work = work.canonicalize().ok()?;
        work.ancestors().find_map(|top| {
            let below = work.strip_prefix(top).ok()?;
            let prefix: String =
                below.components().map(|part| format!("{}/", part.as_os_str().to_string_lossy())).collect();
            // Git's own directory is not a work tree.
            if prefix.split('/').next() == Some(".git") {
                return None;
            }
            Repository::at(top, prefix, budget)
        })
    }

    /// The repository whose top level is this directory.
    pub(super) fn at(top: &Path, prefix: String, budget: &Budget) -> Option<Repository> {
        let git_dir = git_dir(top)?;
        let common_dir = read_line(&git_dir.join("commondir"))
            .map_or_else(|| git_dir.clone(), |shared| git_dir.join(shared));
        Some(Repository { top: top.to_owned(), git_dir, common_dir, prefix, budget: budget.clone() })
    }

    /// A path relative to the top level, made relative to the directory.
    pub(super) fn relative<'p>(&self, path: impl Into<Cow<'p, str>>) -> Cow<'p, str> {
        let path = path.into();
        if self.prefix.is_empty() {
            return path;
        }
        let (mut above, mut below) = (self.prefix.as_str(), &*path);
        while let Some(((folder, deeper), (part, rest))) = above.split_once('/').zip(below.split_once('/'))
            && folder == part
        {
            (above, below) = (deeper, rest);
        }
        Cow::Owned(format!("{}{below}", "../".repeat(above.matches('/').count())))
    }

    /// The commit that is checked out; `None` before the first one.
    ///
    /// # Errors
    /// If branches are not stored as plain files.
    pub(super) fn head(&self) -> Result<Option<String>, GitError> {
        if self.common_dir.join("reftable").is_dir() {
            return Err(GitError::Reftable);
        }
        let mut name = "HEAD".to_owned();
        // A branch may refer to another one.
        for _ in 0..5 {
            let base = if name == "HEAD" { &self.git_dir } else { &self.common_dir };
            let Some(value) = read_line(&base.join(&name)).or_else(|| self.packed(&name)) else {
                return Ok(None);
            };
            match value.strip_prefix("ref:") {
                Some(next) => name = next.trim().to_owned(),
                None if is_id(&value) => return Ok(Some(value)),
                None => return Err(GitError::Reference(name)),
            }
        }
        Err(GitError::CircularHead)
    }

    fn packed(&self, name: &str) -> Option<String> {
        let text = files::read_text(&self.common_dir.join("packed-refs"), 256 << 20).ok()?;
        text.lines()
            .find_map(|line| line.split_once(' ').filter(|(_, of)| *of == name).map(|(id, _)| id.to_owned()))
    }
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn read_line(path: &Path) -> Option<String> {
    let text = files::read_text(path, 64 << 10).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

fn git_dir(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    let folder = match read_line(&dot_git) {
        Some(line) => top.join(line.strip_prefix("gitdir:")?.trim()),
        None => dot_git,
    };
    let has_head = folder.join("HEAD").symlink_metadata().is_ok();
    if has_head { Some(folder) } else { None }
}
