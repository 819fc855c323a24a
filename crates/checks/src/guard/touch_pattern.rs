//! The files of a tool rule: a pattern, their use, and whether the project's own files count.

use std::path::Path;

use super::resolve::{Ground, Touch};
use conclaude_core::config::FileAccess;
use conclaude_core::file_pattern::{FilePattern, Location};
use shell_effects::Access;

#[derive(Clone, Debug)]
pub struct TouchPattern {
    pub files: FilePattern,
    /// `None` for any.
    pub access: Option<FileAccess>,
    /// Whether the project's own files and temporary ones are excluded.
    pub outside: bool,
    /// Whether the content of a named directory is excluded.
    pub exact: bool,
}

impl From<FilePattern> for TouchPattern {
    fn from(files: FilePattern) -> TouchPattern {
        TouchPattern { files, access: None, outside: false, exact: false }
    }
}

impl TouchPattern {
    /// Whether it covers one of the names of a file.
    pub fn covers(&self, touch: &Touch, ground: &Ground<'_>) -> bool {
        if !self.is_about(touch.access) {
            return false;
        }
        if touch.access == Access::Delete && self.outside {
            return ground.deleted(touch).iter().any(|name| self.covers_name(name, ground));
        }
        touch.names.iter().any(|name| self.covers_name(name, ground))
    }

    pub fn covers_all_names(&self, touch: &Touch, ground: &Ground<'_>) -> bool {
        self.is_about(touch.access) && touch.names.iter().all(|name| self.covers_name(name, ground))
    }

    fn is_about(&self, access: Access) -> bool {
        match self.access {
            None => true,
            Some(FileAccess::Delete) => access == Access::Delete,
            Some(FileAccess::Read) => matches!(access, Access::Read | Access::Link),
            Some(FileAccess::Write) => !matches!(access, Access::Read | Access::Mount),
        }
    }

    fn covers_name(&self, name: &Location, ground: &Ground<'_>) -> bool {
        let is_covered = if self.exact { self.files.names(name) } else { self.files.covers(name) };
        is_covered && !(self.outside && self.leaves(name, ground))
    }

    /// Whether a file is the project's own, or a temporary one. If the project is the home directory or the whole machine, its
    /// files are not the project's own.
    fn leaves(&self, name: &Location, ground: &Ground<'_>) -> bool {
        let path = Path::new(&name.absolute);
        let is_whole = path.parent().is_none() || ground.home.is_some_and(|home| path == Path::new(home));
        let is_own = name.in_worktree.is_some() || self.files.leaves_to_project(name);
        is_own && !is_whole || ground.is_discardable(path)
    }
}
