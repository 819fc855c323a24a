//! The repository of a directory, found without starting git.

use std::path::{Path, PathBuf};

/// A repository, seen from a directory in its work tree.
pub(super) struct Repository {
    /// The directory of the index: `.git`, or where a `.git` file of a worktree or submodule points.
    pub(super) git_dir: PathBuf,
    /// The directory below the top level, `packages/web/`; empty at the top level itself.
    prefix: String,
}

impl Repository {
    /// Searches upward for `.git`, as git does; what only has that name is passed over.
    pub(super) fn find(work: &Path) -> Option<Repository> {
        // Git sees the real path, whatever links led here.
        let work = work.canonicalize().ok()?;
        let (top, git_dir) = work.ancestors().find_map(|top| Some((top, git_dir(top)?)))?;
        let below = work.strip_prefix(top).ok()?;
        let prefix = below.components().map(|part| format!("{}/", part.as_os_str().to_string_lossy()));
        Some(Repository { git_dir, prefix: prefix.collect() })
    }

    pub(super) fn is_at_top(&self) -> bool {
        self.prefix.is_empty()
    }

    /// A path as git prints it, from the top level, made relative to the directory.
    pub(super) fn relative(&self, path: &str) -> String {
        match path.strip_prefix(&self.prefix) {
            Some(below) => below.to_owned(),
            None => format!("{}{path}", "../".repeat(self.prefix.matches('/').count())),
        }
    }
}

fn git_dir(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    let folder = if dot_git.is_file() {
        let text = crate::files::read_text(&dot_git, 64 << 10).ok()?;
        top.join(text.strip_prefix("gitdir:")?.trim())
    } else {
        dot_git
    };
    folder.join("HEAD").symlink_metadata().is_ok().then_some(folder)
}
