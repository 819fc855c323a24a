//! Exports in the background: a hook never waits for the network, so another process sends after the hook has answered.

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

/// The option of `audit export` for the background process.
pub const OPTION: &str = "--background";

/// With this option, only files that the user trusts name the collector, as in the hook that starts the process.
pub const ONLY_TRUSTED: &str = "--only-trusted";

/// The time limit of that process, and how long it waits for more records before it starts.
pub const LIMIT: Duration = Duration::from_secs(60);
pub const GATHER: Duration = Duration::from_millis(500);

/// An endpoint lacks a record: the project, and the endpoint without its headers.
pub struct PendingExport {
    root: PathBuf,
    target: Target,
    /// Whether the environment may have changed since the config could not be used.
    is_new: bool,
    /// Only files that the user trusts count.
    only_trusted: bool,
}

impl PendingExport {
    /// A new session may have variables that were missing before.
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

    /// Starts the process, unless another one is sending or the endpoint has just failed.
    pub fn start(self) {
        let PendingExport { root, target, is_new, only_trusted } = self;
        let trail = Trail::of(&root, None);
        let is_free = |file: &StateFile| {
            let (state, now) = (file.read(), Timestamp::now());
            let is_due = target.signals.iter().any(|signal| state.is_due(*signal, now, is_new));
            is_due && matches!(file.lock(Duration::ZERO), Ok(Some(_)))
        };
        // Before it ends, the sending process looks for new records: it sends those from before this check.
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
