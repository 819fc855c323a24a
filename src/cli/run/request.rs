//! What `run` is asked for.

use std::path::Path;

use anyhow::bail;

use conclaude_core::agent::MAIN;
use conclaude_core::event::EventKind;

#[derive(clap::Args, Clone)]
pub(in crate::cli) struct RunRequest {
    /// The event whose commands run, as `Stop` or `stop` [default: those of stop, and those of subagentStop that are for every agent]
    pub(super) event: Option<String>,
    /// Run what would run for this subagent; without EVENT, at its stop. `main` is the main thread
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// Pretend that these files have changed, by patterns as in .gitignore [default: those that have changed in git]
    #[arg(long, value_name = "GLOB", num_args = 1.., conflicts_with = "all_files")]
    pub(super) files: Vec<String>,
    /// Pretend that all files have changed
    #[arg(long)]
    pub(super) all_files: bool,
    /// Fail also if a command fails that only warns
    #[arg(long)]
    pub(super) strict: bool,
    /// The main thread alone is meant.
    #[arg(skip)]
    pub(super) is_main: bool,
}

impl RunRequest {
    /// What was typed as what it means: an event behind the patterns of `--files`, and the name of the main thread.
    ///
    /// # Errors
    /// When an agent without a name is meant.
    pub(super) fn resolved(&self, work: &Path) -> anyhow::Result<RunRequest> {
        let mut request = self.clone();
        let is_event = |name: &str| EventKind::named(name).or_else(|| EventKind::of_section(name)).is_some();
        let is_behind = |name: &String| is_event(name) && !work.join(name).exists();
        if request.event.is_none() && request.files.len() > 1 && request.files.last().is_some_and(is_behind) {
            request.event = request.files.pop();
        }
        match request.agent.as_deref().map(str::trim) {
            Some("") => {
                bail!("--agent needs the name of a subagent, or `main` for the main thread");
            }
            Some(MAIN) => (request.agent, request.is_main) = (None, true),
            _ => {}
        }
        Ok(request)
    }
}
