//! The project of a past session: the root as a hook would have found it from the folder where the session was started.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use conclaude_store::root::{self, Root};

/// Sessions that are judged differently than a hook would have.
#[derive(Debug, Default)]
pub(crate) struct AffectedSessions {
    pub(crate) sessions: u64,
    /// The folder of the first of them.
    pub(crate) first: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SessionProject {
    Same,
    /// Its config is not the replayed one.
    OtherConfig,
    Gone,
}

pub(crate) struct Projects<'a> {
    root: &'a Root,
    known: HashMap<PathBuf, (PathBuf, SessionProject)>,
    pub(crate) other_configs: AffectedSessions,
    pub(crate) gone: AffectedSessions,
}

impl Projects<'_> {
    /// For the config of this root.
    pub(crate) fn of(root: &Root) -> Projects<'_> {
        Projects {
            root,
            known: HashMap::new(),
            other_configs: AffectedSessions::default(),
            gone: AffectedSessions::default(),
        }
    }

    /// The root of a session that was started in this folder. A session that does not count is not recorded.
    pub(super) fn root_of(&mut self, cwd: &Path, counts: bool) -> PathBuf {
        let cwd = root::project_of(cwd);
        let known = self.known.get(cwd).cloned();
        let (folder, kind) = known.unwrap_or_else(|| {
            let found = self.find(cwd);
            self.known.insert(cwd.to_owned(), found.clone());
            found
        });
        let noted = match kind {
            SessionProject::OtherConfig if counts => &mut self.other_configs,
            SessionProject::Gone if counts => &mut self.gone,
            _ => return folder,
        };
        if noted.sessions == 0 {
            noted.first = cwd.to_owned();
        }
        noted.sessions += 1;
        folder
    }

    fn find(&self, cwd: &Path) -> (PathBuf, SessionProject) {
        if !cwd.is_dir() {
            // A worktree had the project's files, and its config with them.
            let worktree = root::session_worktree_of(cwd);
            let project = || if cwd.starts_with(&self.root.folder) { &self.root.folder } else { cwd };
            return (worktree.unwrap_or_else(project).to_owned(), SessionProject::Gone);
        }
        let found = Root::find(Some(cwd), cwd);
        let is_same = match (&found.config, &self.root.config) {
            (Some(found), Some(own)) => found == own || is_copy(found, own),
            (None, _) => true,
            (Some(_), None) => false,
        };
        (found.folder, if is_same { SessionProject::Same } else { SessionProject::OtherConfig })
    }
}

fn is_copy(one: &Path, other: &Path) -> bool {
    matches!((root::read(one), root::read(other)), (Ok(one), Ok(other)) if one == other)
}
