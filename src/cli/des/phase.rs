//! `des start`, `finish` and `skip`: a phase is recorded as the agent reports it.

use std::io;
use std::path::PathBuf;

use super::project::Project;
use crate::cli::out::Out;
use conclaude_checks::des::record::PhaseChange;

#[derive(clap::Args)]
pub(crate) struct StartArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
    /// The phase
    phase: String,
}

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("outcome").required(true).args(["pass", "fail"])))]
pub(crate) struct FinishArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
    /// The phase
    phase: String,
    /// The phase succeeded
    #[arg(long)]
    pass: bool,
    /// The phase failed
    #[arg(long)]
    fail: bool,
    /// Details of the outcome
    #[arg(long)]
    details: Option<String>,
    /// How many turns it took
    #[arg(long)]
    turns: Option<i64>,
}

#[derive(clap::Args)]
pub(crate) struct SkipArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
    /// The phase
    phase: String,
    /// NOT_APPLICABLE: …, BLOCKED_BY_DEPENDENCY: …, APPROVED_SKIP: …, CHECKPOINT_PENDING: … or DEFERRED: …
    #[arg(long)]
    reason: String,
}

pub(super) fn start(project: &Project, args: &StartArgs, out: &mut Out<'_>) -> io::Result<()> {
    project.record_phase(&args.step, &args.phase, &PhaseChange::Start)?;
    writeln!(out, "{} is IN_PROGRESS", args.phase)
}

pub(super) fn finish(project: &Project, args: FinishArgs, out: &mut Out<'_>) -> io::Result<()> {
    let FinishArgs { step, phase, pass, details, turns, .. } = args;
    project.refuse_without_proof(&phase)?;
    let change = PhaseChange::Finish { pass, details, turns, evidence: None };
    project.record_phase(&step, &phase, &change)?;
    writeln!(out, "{phase} is EXECUTED: {}", if pass { "PASS" } else { "FAIL" })
}

pub(super) fn skip(project: &Project, args: SkipArgs, out: &mut Out<'_>) -> io::Result<()> {
    let SkipArgs { step, phase, reason } = args;
    if !reason.trim_start().starts_with("APPROVED_SKIP:") {
        project.refuse_without_proof(&phase)?;
    }
    project.record_phase(&step, &phase, &PhaseChange::Skip { reason })?;
    writeln!(out, "{phase} is SKIPPED")
}
