//! What is around a shell command: variables of the environment, and directories.

use std::path::{Path, PathBuf};

use crate::paths::normalise;
use conclaude_store::root::git_top_level;
use shell_effects::Outside;

/// What a command that starts in a directory finds there.
pub fn outside(cwd: &Path, asked: Outside<'_>) -> Option<String> {
    let found = match asked {
        Outside::Variable(name) => variable(name)?,
        Outside::Directory(at) => normalise(&cwd.join(at)),
        Outside::TopLevel(at) => git_top_level(&normalise(&cwd.join(at)))?.to_owned(),
    };
    found.into_os_string().into_string().ok()
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
