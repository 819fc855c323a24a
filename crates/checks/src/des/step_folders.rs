//! Where the step file of a marker is looked for.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::paths::{normalise, real_path};

/// The project's root or the agent's worktree, and the folder of the session. In a monorepo that folder is below the root, and
/// the steps may be there too.
#[derive(Clone, Copy, Debug)]
pub struct StepFolders<'a> {
    pub root: &'a Path,
    pub cwd: &'a Path,
}

impl<'a> StepFolders<'a> {
    /// Only the root.
    #[must_use]
    pub fn at(root: &'a Path) -> StepFolders<'a> {
        StepFolders { root, cwd: root }
    }

    /// The path of a step file from the root: as named, unless it exists only below the session's folder.
    #[must_use]
    pub fn resolve(&self, step_file: &str) -> String {
        let exists = |path: &Path| path.symlink_metadata().is_ok();
        let found = self
            .below_cwd(step_file)
            .filter(|below| !exists(&self.root.join(step_file)) && exists(&self.root.join(below)));
        found.map_or_else(|| step_file.to_owned(), |below| below.to_string_lossy().into_owned())
    }

    /// Its path below the session's folder, from the root. `None` if it would leave that folder.
    fn below_cwd(&self, step_file: &str) -> Option<PathBuf> {
        let folder = self.folder_below_root()?;
        let path = normalise(&self.root.join(&folder).join(step_file));
        let inside = path.strip_prefix(normalise(&self.root.join(&folder))).ok()?;
        Some(folder.join(inside))
    }

    /// The session's folder relative to the root, if it is below it.
    fn folder_below_root(&self) -> Option<PathBuf> {
        let (root, cwd) = (real_path(self.root), real_path(self.cwd));
        let below = cwd.strip_prefix(&root).ok()?;
        if below.as_os_str().is_empty() { None } else { Some(below.to_owned()) }
    }
}

impl fmt::Display for StepFolders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.root.display())?;
        match self.folder_below_root() {
            Some(below) => write!(f, " or {}", self.root.join(below).display()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_file_below_the_sessions_folder_is_named_from_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in
            ["steps/a.json", "web/steps/a.json", "web/steps/b.json", "web/c.json", "d.json", "api/e.json"]
        {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "{}").unwrap();
        }
        let web = root.join("web");
        let folders = StepFolders { root, cwd: &web };
        for (marked, named) in [
            ("steps/a.json", "steps/a.json"),
            ("steps/b.json", "web/steps/b.json"),
            ("./steps/b.json", "web/steps/b.json"),
            ("steps/../c.json", "web/c.json"),
            ("d.json", "d.json"),
            ("../api/e.json", "../api/e.json"),
            ("gone.json", "gone.json"),
            ("/etc/passwd", "/etc/passwd"),
        ] {
            assert_eq!(folders.resolve(marked), named, "{marked}");
        }
        assert_eq!(folders.to_string(), format!("{} or {}", root.display(), web.display()));
        for cwd in [root, Path::new("/")] {
            let folders = StepFolders { root, cwd };
            assert_eq!(folders.resolve("steps/b.json"), "steps/b.json");
            assert_eq!(folders.to_string(), root.display().to_string());
        }
    }
}
