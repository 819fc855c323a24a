//! What a call takes from its process.

use std::path::PathBuf;

use conclaude_core::dialect::claude::variables;

/// Given explicitly, so that a call can be played without a process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `CLAUDE_PROJECT_DIR`.
    pub project_dir: Option<PathBuf>,
    /// Commands and the judge run only if the user trusts the config.
    pub only_if_trusted: bool,
    /// Only the project's own config counts, not the user's and the local one.
    pub only_project: bool,
    /// Nothing is written: the event is only looked at.
    pub is_rehearsal: bool,
    /// It did not happen: no transcript holds the prompt of its agent, and nobody has missed it.
    pub is_sample: bool,
    /// Then these files count as changed.
    pub changed: Option<Vec<String>>,
}

impl Environment {
    #[must_use]
    pub fn of_process() -> Self {
        let project_dir = std::env::var_os(variables::PROJECT_DIR).filter(|folder| !folder.is_empty());
        Environment { project_dir: project_dir.map(PathBuf::from), ..Environment::default() }
    }
}
