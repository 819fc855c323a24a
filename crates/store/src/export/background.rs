//! Sending after a hook has answered, by another process: a hook never waits for the network.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jiff::Timestamp;

use super::send::Target;
use super::state::StateFile;
use crate::audit::Trail;
use conclaude_core::config::Signal;
use conclaude_core::dialect::claude::variables;
use conclaude_os::{log, process};

/// The option of `audit export` that makes it the other process.
pub const OPTION: &str = "--background";

/// With it, files that the user does not trust say nothing of where records go, as for the hook that starts the process.
pub const ONLY_TRUSTED: &str = "--only-trusted";

/// How long that process may take, and how long it waits for more records before it starts.
pub const LIMIT: Duration = Duration::from_secs(60);
pub const GATHER: Duration = Duration::from_millis(500);

/// There is a record that an endpoint does not have: the project, and where to send it; without headers.
pub struct PendingExport {
    root: PathBuf,
    target: Target,
    /// The environment is another one than when the config could not be used with it.
    is_new: bool,
    /// Only files that the user trusts count.
    only_trusted: bool,
}

impl PendingExport {
    /// In a new session what was missing in the environment may be there.
    #[must_use]
    pub fn new(root: &Path, endpoint: &str, signals: Vec<Signal>, is_new: bool) -> PendingExport {
        let target = Target::bare(endpoint.to_owned(), signals);
        PendingExport { root: root.to_owned(), target, is_new, only_trusted: false }
    }

    /// This export for a hook that uses only what the user trusts.
    #[must_use]
    pub fn only_trusted(self, only_trusted: bool) -> PendingExport {
        PendingExport { only_trusted, ..self }
    }

    /// Starts the process, if nobody sends already, and the endpoint did not fail a moment ago.
    pub fn start(self) {
        let PendingExport { root, target, is_new, only_trusted } = self;
        let trail = Trail::of(&root, None);
        let is_free = |file: &StateFile| {
            let (state, now) = (file.read(), Timestamp::now());
            let is_due = target.signals.iter().any(|signal| state.is_due(*signal, now, is_new));
            is_due && matches!(file.lock(Duration::ZERO), Ok(Some(_)))
        };
        // The process that sends looks for more when it is done: what was recorded before this check is sent.
        if !StateFile::of(&trail, &target).is_ok_and(|file| is_free(&file)) {
            return;
        }
        let Ok(program) = std::env::current_exe() else { return };
        let mut command = Command::new(program);
        command
            .args(["audit", "export", "--otlp", OPTION])
            .current_dir(&root)
            .env_remove(variables::PROJECT_DIR);
        if only_trusted {
            command.arg(ONLY_TRUSTED);
        }
        if let Err(error) = process::detach(command) {
            log::debug(|| format!("cannot start the export: {error}"));
        }
    }
}
