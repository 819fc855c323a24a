//! The files of agents (`.claude/agents/*.md`), of a project and of its user.

use std::path::{Path, PathBuf};

use super::frontmatter;
use crate::files;
use crate::install::registration::{Place, user_folder};
use crate::install::settings::{Refusal, Registration};

/// Folders below folders, as far as anyone sorts agents.
const DEEPEST: usize = 8;

/// An agent's file is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// The folder of the agents' files. None where the user has no home.
#[must_use]
pub fn folder(project: &Path, place: Place) -> Option<PathBuf> {
    match place {
        Place::User => user_folder().map(|folder| folder.join("agents")),
        Place::Project | Place::Local => Some(project.join(".claude/agents")),
    }
}

/// The agents' files, in order. What has no frontmatter is something else that lies beside them.
#[must_use]
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort_unstable();
        for path in entries {
            if path.is_dir() && depth > 0 {
                walk(&path, depth - 1, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, DEEPEST, &mut found);
    found.retain(|path| files::read_text(path, MAX_BYTES).map_or(true, |text| frontmatter::is_agent(&text)));
    found
}

/// One agent's file.
#[derive(Clone, Debug)]
pub struct AgentFile {
    /// Where it is.
    pub path: PathBuf,
    /// What the agent is called.
    pub name: String,
    /// What of ours it has, or why that cannot be said.
    pub registered: Result<Vec<Registration>, Refusal>,
}

/// All agents of this place that have a name.
#[must_use]
pub fn all(project: &Path, place: Place) -> Vec<AgentFile> {
    let paths = folder(project, place).map(|folder| files_in(&folder)).unwrap_or_default();
    let one = |path: PathBuf| {
        let text = files::read_text(&path, MAX_BYTES).ok()?;
        Some(AgentFile { name: frontmatter::name(&text)?, registered: frontmatter::registered(&text), path })
    };
    paths.into_iter().filter_map(one).collect()
}
