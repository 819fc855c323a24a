//! The settings files that Claude Code reads, and the scope of each.

use std::io;
use std::path::{Path, PathBuf};

use conclaude_core::dialect::claude::layout;
use conclaude_store::root::claude_folder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `.claude/settings.json` of the project, shared with others.
    Project,
    /// `.claude/settings.local.json` of the project, one's own.
    Local,
    /// `settings.json` of the user, for all projects.
    User,
}

impl Scope {
    pub const ALL: [Scope; 3] = [Scope::Project, Scope::Local, Scope::User];

    /// The flag of `install` that means this scope.
    pub fn flag(self) -> &'static str {
        match self {
            Scope::Project => "--project",
            Scope::Local => "--local",
            Scope::User => "--user",
        }
    }

    /// The settings file. None where the user has no home.
    pub fn path(self, project: &Path) -> Option<PathBuf> {
        match self {
            Scope::Project => Some(project.join(layout::SETTINGS)),
            Scope::Local => Some(project.join(layout::LOCAL_SETTINGS)),
            Scope::User => Some(claude_folder()?.join(layout::USER_SETTINGS)),
        }
    }
}

/// Whether a file is the user's own settings, which count in all projects, whatever else it is called.
pub fn is_users_own(path: &Path) -> bool {
    let real = |path: &Path| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        folder.zip(path.file_name()).map(|(folder, name)| folder.join(name))
    };
    let own = Scope::User.path(Path::new("/"));
    own.is_some_and(|own| own == path || (real(&own).is_some() && real(&own) == real(path)))
}

/// Where Claude Code looks for the project's settings: in the folder where its session starts. That is `CLAUDE_PROJECT_DIR`,
/// else this folder if it has settings already, else most likely the project's root.
pub fn session_folder(project_dir: Option<PathBuf>, root: &Path) -> io::Result<PathBuf> {
    if let Some(project) = project_dir {
        return Ok(project);
    }
    let here = std::env::current_dir()?;
    Ok(if here.join(layout::FOLDER).is_dir() { here } else { root.to_owned() })
}
