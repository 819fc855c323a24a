//! What `run` is asked for.

#[derive(clap::Args)]
pub(in crate::cli) struct Request {
    /// The event whose commands run, as `Stop` or `stop` [default: those of stop, and those of subagentStop that are for every agent]
    pub(super) event: Option<String>,
    /// Run what this subagent would run into; without EVENT that is at its stop
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
}
