//! What `init` is asked for.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::install::ScopeArgs;

#[derive(Args)]
pub(in crate::cli) struct InitRequest {
    #[command(flatten)]
    pub(super) which: ScopeArgs,
    /// Switch the lint and test commands on that were found, instead of commenting them out
    #[arg(long, short = 'y')]
    pub(super) yes: bool,
    /// Take over hooks that you wrote into that settings file, and a config of the original conclaude (0.2.9); copies are kept
    #[arg(long)]
    pub(super) import: bool,
    /// Also write .claude/commands/step.md: `/step 01` starts a gated step in Claude Code
    #[arg(long)]
    pub(super) steps: bool,
    /// Replace a config that exists; it is kept as a copy
    #[arg(long)]
    pub(super) force: bool,
    /// Show what would change, and change nothing
    #[arg(long, short = 'n')]
    pub(super) dry_run: bool,
}

/// A name for the copy that nothing has yet.
pub(super) fn free_name(path: &Path) -> PathBuf {
    let name = |n: u32| {
        let number = if n == 1 { String::new() } else { format!("-{n}") };
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".before-init{number}"));
        PathBuf::from(name)
    };
    let mut n = 1;
    while name(n).symlink_metadata().is_ok() {
        n += 1;
    }
    name(n)
}
