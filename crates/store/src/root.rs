//! Finds the config and the project's root.

use std::path::{Path, PathBuf};

use crate::store::trust::{self, TrustStatus};
pub use conclaude_core::config::CONFIG_FILES as FILE_NAMES;
use conclaude_core::config::ConfigError;
use conclaude_core::dialect::Dialect;
pub use conclaude_core::dialect::claude::layout::inside_worktree;
use conclaude_core::dialect::claude::variables;
use conclaude_core::dialect::claude::{self, layout};
use conclaude_core::dialect::hook_settings::UserSettings;
use conclaude_os::environment;
use conclaude_os::files;
use conclaude_os::git;
use conclaude_os::log;

/// No hand-written config is larger.
const MAX_BYTES: u64 = 1 << 20;

/// The folders that an event or a subcommand works with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The project: the state is here.
    pub folder: PathBuf,
    pub config: Option<PathBuf>,
    /// Where commands run: the config's folder, or the top level of the agent's own worktree.
    pub work: PathBuf,
    /// A config that was found and is not used, because it does not belong to the project or to the user.
    pub untrusted: Option<ConfigError>,
}

impl Root {
    /// Finds config and root from `CLAUDE_PROJECT_DIR` when Claude Code sets it, else from the payload's `cwd`: an
    /// agent that changes directory must not change the rules.
    #[must_use]
    pub fn find(project_dir: Option<&Path>, cwd: &Path) -> Root {
        let (outside, worktree) = split_worktree(cwd);
        let project_dir = match project_dir {
            Some(folder) if !folder.is_absolute() => {
                log::warn(|| {
                    format!("{} is not absolute, ignoring it: {}", variables::PROJECT_DIR, folder.display())
                });
                None
            }
            folder => folder,
        };
        let start = project_dir.unwrap_or(outside);
        let (config, untrusted) = match find_upward(start) {
            Some(path) => match check_owner(&path, start) {
                Ok(()) => (Some(path), None),
                Err(error) => (None, Some(error)),
            },
            None => (None, None),
        };
        let folder = match (&config, project_dir) {
            (Some(config), _) => config.parent().unwrap_or(start).to_owned(),
            (None, Some(project)) => project.to_owned(),
            (None, None) => own_folder(start).or_else(|| git_top_level(start)).unwrap_or(start).to_owned(),
        };
        // A worktree of another project does not count.
        let is_own = |tree: &PathBuf| tree.starts_with(&folder) && tree.is_dir();
        let work = worktree.filter(is_own).unwrap_or_else(|| folder.clone());
        Root { folder, config, work, untrusted }
    }
}

impl Root {
    /// A gated agent is judged in its own folder: the root, or the worktree that was made for it and that git knows. It may have
    /// moved to another worktree, or created a folder with such a name.
    pub fn leave_other_worktrees(&mut self, agent_id: Option<&str>) {
        let is_own = |id: &str| {
            self.work == layout::worktree(&self.folder, id) && git::is_worktree_of(&self.work, &self.folder)
        };
        if self.work != self.folder && !agent_id.is_some_and(is_own) {
            self.work = self.folder.clone();
        }
    }
}

/// Where Claude Code keeps the user's settings and agents.
pub fn claude_folder() -> Option<PathBuf> {
    client_folder(&claude::DIALECT)
}

/// Where a client keeps the user's settings.
pub fn client_folder(client: &Dialect) -> Option<PathBuf> {
    let UserSettings { variable, folder, .. } = &client.settings.user;
    environment::user_folder(*variable, folder)
}

/// The nearest config file in this folder or above it.
#[must_use]
pub fn find_upward(start: &Path) -> Option<PathBuf> {
    start.ancestors().find_map(in_folder)
}

fn in_folder(folder: &Path) -> Option<PathBuf> {
    // Anything with this name is meant to be the config, also a dangling symlink: an error is better than silence.
    FILE_NAMES.iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok())
}

/// The folder with existing state: a subcommand continues what a hook started, wherever it is called.
fn own_folder(start: &Path) -> Option<&Path> {
    start.ancestors().find(|folder| files::is_real_folder(&folder.join(crate::store::FOLDER)))
}

pub fn git_top_level(start: &Path) -> Option<&Path> {
    start.ancestors().find(|folder| folder.join(".git").exists())
}

/// The project around an agent's worktree, and the worktree's top level if `cwd` is inside one.
fn split_worktree(cwd: &Path) -> (&Path, Option<PathBuf>) {
    for folder in cwd.ancestors() {
        if let Some(project) = layout::project_of_worktree(folder)
            && layout::is_of_agent(folder)
        {
            return (project, Some(folder.to_owned()));
        }
    }
    (cwd, None)
}

/// The top level of an agent's worktree around a folder.
pub fn worktree_of(cwd: &Path) -> Option<PathBuf> {
    split_worktree(cwd).1
}

/// The top level of any worktree of Claude Code around a folder, including that of a whole session.
pub fn session_worktree_of(cwd: &Path) -> Option<&Path> {
    cwd.ancestors().find(|folder| layout::project_of_worktree(folder).is_some())
}

/// The project around a folder, which may be in an agent's worktree.
pub fn project_of(cwd: &Path) -> &Path {
    split_worktree(cwd).0
}

/// Whether a config may be used without asking. A file of another user, or one above the repository, does not belong to the
/// project.
fn check_owner(path: &Path, start: &Path) -> Result<(), ConfigError> {
    let below = start.ancestors().take_while(|folder| Some(*folder) != path.parent());
    let above = below
        .into_iter()
        .find(|folder| folder.join(".git").exists())
        .map(|top| format!("it is above the repository {}", top.display()));
    let Some(why) = above.or_else(|| other_owner(path)) else { return Ok(()) };
    read_trusted(path, &why).map(drop)
}

/// Why a file is not the user's own. A link counts as well: relative paths are those of its folder.
pub fn other_owner(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let own = rustix::process::geteuid().as_raw();
        let named = path.symlink_metadata().ok()?;
        let target = if named.is_symlink() { path.metadata().ok() } else { None };
        let other = [Some(named), target].into_iter().flatten().find(|file| file.uid() != own)?.uid();
        Some(format!("it belongs to another user (uid {other})"))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Reads a config file, which must be a regular file of a limited size in UTF-8.
///
/// # Errors
/// When the file cannot be read.
pub fn read(path: &Path) -> Result<String, ConfigError> {
    let text = read_any(path)?;
    // Another user may have replaced it since it was found.
    match other_owner(path) {
        Some(why) => trusted(path, text, &why),
        None => Ok(text),
    }
}

/// Reads a config file that needs the user's agreement, for this reason.
///
/// # Errors
/// When the file cannot be read, or is not trusted.
pub fn read_trusted(path: &Path, why: &str) -> Result<String, ConfigError> {
    trusted(path, read_any(path)?, why)
}

fn trusted(path: &Path, text: String, why: &str) -> Result<String, ConfigError> {
    match trust::status(path, &text) {
        TrustStatus::Trusted => Ok(text),
        TrustStatus::Changed => {
            Err(ConfigError::untrusted(path, &format!("{why}, and has changed since you trusted it")))
        }
        TrustStatus::Unknown => Err(ConfigError::untrusted(path, why)),
    }
}

/// Reads a config file of any owner, to show its content.
///
/// # Errors
/// When the file cannot be read.
pub fn read_any(path: &Path) -> Result<String, ConfigError> {
    files::read_text(path, MAX_BYTES).map_err(|error| ConfigError::unreadable(path, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    #[test]
    fn files_that_are_no_config_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".conclaude.yaml");
        let error = |path: &Path| read(path).unwrap_err().to_string();
        assert!(error(&path).contains("cannot read the config"));
        std::fs::create_dir(&path).unwrap();
        assert!(error(&path).contains("not a regular file"));
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
        assert!(error(&path).contains("at most 1048576 are read"));
        std::fs::write(&path, b"a: \xff").unwrap();
        assert!(error(&path).contains("not UTF-8 at byte 3"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_of_another_user_to_a_file_of_ones_own_is_not_ones_own() {
        use std::os::unix::fs::{MetadataExt, lchown, symlink};
        let (_keep, top) = folder();
        let link = top.join("link");
        std::fs::write(top.join("mine"), "").unwrap();
        symlink("mine", &link).unwrap();
        assert_eq!(other_owner(&link), None);
        // Only root can give a link away; for everybody else there is one of root's that leads to what is their own.
        let link = if lchown(&link, Some(1), None).is_ok() { link } else { PathBuf::from("/dev/fd") };
        assert_eq!(link.metadata().unwrap().uid(), rustix::process::geteuid().as_raw());
        let other = link.symlink_metadata().unwrap().uid();
        assert_eq!(other_owner(&link), Some(format!("it belongs to another user (uid {other})")));
    }

    #[test]
    fn the_project_folder_wins_over_the_cwd() {
        let (_keep, top) = folder();
        std::fs::create_dir_all(top.join("project/sub")).unwrap();
        std::fs::write(top.join("project/.conclaude.yaml"), "").unwrap();
        std::fs::create_dir_all(top.join("elsewhere")).unwrap();
        std::fs::write(top.join("elsewhere/.conclaude.yaml"), "").unwrap();
        let root = Root::find(Some(&top.join("project/sub")), &top.join("elsewhere"));
        assert_eq!(root.config, Some(top.join("project/.conclaude.yaml")));
        assert_eq!((root.folder, root.work), (top.join("project"), top.join("project")));
    }

    #[test]
    fn yaml_comes_before_yml_and_the_nearest_folder_before_both() {
        let (_keep, top) = folder();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join(".conclaude.yaml"), "").unwrap();
        std::fs::write(top.join("a/.conclaude.yml"), "").unwrap();
        assert_eq!(find_upward(&top.join("a/b")), Some(top.join("a/.conclaude.yml")));
        std::fs::write(top.join("a/.conclaude.yaml"), "").unwrap();
        assert_eq!(find_upward(&top.join("a/b")), Some(top.join("a/.conclaude.yaml")));
        assert_eq!(find_upward(&top.join("a/deleted/long/ago")), Some(top.join("a/.conclaude.yaml")));
    }

    #[test]
    fn without_a_config_the_root_is_the_project_or_the_git_top_level_or_the_cwd() {
        let (_keep, top) = folder();
        std::fs::create_dir_all(top.join("repo/sub")).unwrap();
        assert_eq!(Root::find(None, &top.join("repo/sub")).folder, top.join("repo/sub"));
        std::fs::create_dir(top.join("repo/.git")).unwrap();
        assert_eq!(Root::find(None, &top.join("repo/sub")).folder, top.join("repo"));
        assert_eq!(Root::find(Some(&top), &top.join("repo/sub")).folder, top);
        assert_eq!(Root::find(Some(Path::new("relative")), &top.join("repo/sub")).folder, top.join("repo"));
    }

    #[test]
    fn an_agent_in_a_worktree_keeps_the_rules_of_its_project() {
        let (_keep, top) = folder();
        let worktree = top.join(".claude/worktrees/agent-a1");
        std::fs::create_dir_all(worktree.join("src")).unwrap();
        std::fs::write(top.join(".conclaude.yaml"), "").unwrap();
        std::fs::write(worktree.join(".conclaude.yaml"), "").unwrap();
        for project in [Some(top.as_path()), None] {
            let root = Root::find(project, &worktree.join("src"));
            assert_eq!(root.folder, top);
            assert_eq!(root.config, Some(top.join(".conclaude.yaml")));
            assert_eq!(root.work, worktree);
        }
        let stranger = Root::find(Some(&top), Path::new("/elsewhere/.claude/worktrees/agent-a1/src"));
        assert_eq!(stranger.work, top);
    }
}
