//! The settings files that a client reads, and the scope of each.

use std::io;
use std::path::{Path, PathBuf};

use super::error::InstallError;
use conclaude_core::dialect::{Dialect, claude};
use conclaude_store::root::client_folder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `.claude/settings.json` of the project, shared with others.
    Project,
    /// `.claude/settings.local.json` of the project, for this user only.
    Local,
    /// `settings.json` of the user, for all projects.
    User,
}

impl Scope {
    pub const ALL: [Scope; 3] = [Scope::Project, Scope::Local, Scope::User];

    /// The flag of `install` for this scope.
    pub fn flag(self) -> &'static str {
        match self {
            Scope::Project => "--project",
            Scope::Local => "--local",
            Scope::User => "--user",
        }
    }

    /// The settings file of Claude Code. `None` if the user has no home directory.
    pub fn path(self, project: &Path) -> Option<PathBuf> {
        SettingsTarget::claude(self).path(project).ok()
    }
}

/// The settings of a client in which hooks are registered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettingsTarget {
    pub client: &'static Dialect,
    pub scope: Scope,
}

impl SettingsTarget {
    pub fn claude(scope: Scope) -> SettingsTarget {
        SettingsTarget { client: &claude::DIALECT, scope }
    }

    /// The settings file.
    ///
    /// # Errors
    /// If the client has none of this scope, or the user has no home.
    pub fn path(self, project: &Path) -> Result<PathBuf, InstallError> {
        let settings = &self.client.settings;
        match self.scope {
            Scope::Project => Ok(project.join(settings.project)),
            Scope::Local => {
                let local = settings.local.ok_or(InstallError::NoLocalSettings(self.client))?;
                Ok(project.join(local))
            }
            Scope::User => {
                let folder = client_folder(self.client).ok_or(InstallError::NoHome(self.client))?;
                Ok(folder.join(settings.user.file))
            }
        }
    }

    /// Whether a file of this scope is the user's own, which applies to all projects, whatever its scope is.
    pub fn is_users_own(self, path: &Path) -> bool {
        let real = |path: &Path| {
            let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
            folder.zip(path.file_name()).map(|(folder, name)| folder.join(name))
        };
        let own = SettingsTarget { scope: Scope::User, ..self }.path(Path::new("/"));
        own.is_ok_and(|own| own == path || (real(&own).is_some() && real(&own) == real(path)))
    }

    /// The flags of `install` for this file, if these clients are the default.
    pub fn flags(self, usual: &[&'static Dialect]) -> String {
        if self.client.is_translated() || !usual.contains(&self.client) {
            let scope =
                if self.scope == Scope::Project { String::new() } else { format!(" {}", self.scope.flag()) };
            format!("--client {}{scope}", self.client.name)
        } else {
            self.scope.flag().to_owned()
        }
    }
}

/// Whether a file is the user's own settings of Claude Code.
pub fn is_users_own(path: &Path) -> bool {
    SettingsTarget::claude(Scope::User).is_users_own(path)
}

/// Where Claude Code looks for the project's settings.
pub fn session_folder(project_dir: Option<PathBuf>, root: &Path) -> io::Result<PathBuf> {
    session_folder_of(&claude::DIALECT, project_dir, root)
}

/// The folder with the project's settings for a client: where its session starts. That is `CLAUDE_PROJECT_DIR`, else this folder
/// if it has settings, else most likely the project's root.
pub fn session_folder_of(client: &Dialect, project_dir: Option<PathBuf>, root: &Path) -> io::Result<PathBuf> {
    if let Some(project) = project_dir {
        return Ok(project);
    }
    let here = std::env::current_dir()?;
    let folder = Path::new(client.settings.project).iter().next().unwrap_or_default();
    Ok(if here.join(folder).is_dir() { here } else { root.to_owned() })
}
