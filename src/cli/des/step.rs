//! Subcommands about one step: `des new`, `done`, `fail` and `prompt`, and `des start`, `finish` and `skip` for its phases.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use jiff::Timestamp;

use super::DesProject;
use crate::cli::out::{LiteralText, Out};
use conclaude_checks::des::boundaries::boundaries;
use conclaude_checks::des::gates::{self, OpenStep};
use conclaude_checks::des::record::{self, AdmittedFailure, NewStep, PhaseChange};
use conclaude_checks::des::scope::{self, Scope};
use conclaude_checks::des::step;
use conclaude_checks::des::step_folders::StepFolders;
use conclaude_core::text::clean_line;
use conclaude_store::audit::{Record, words};

#[derive(clap::Args)]
pub(crate) struct NewArgs {
    /// The path of the new step file, such as steps/01-01.json
    path: PathBuf,
    /// The task's id, such as 01-01 [default: the file's name]
    #[arg(long)]
    task_id: Option<String>,
    /// The project's id [default: the name of the project's folder]
    #[arg(long)]
    project_id: Option<String>,
    /// The step's name
    #[arg(long)]
    name: Option<String>,
    /// A pattern of files that the step may change; may be given several times
    #[arg(long)]
    allow: Vec<String>,
    /// An acceptance criterion, which goes into the prompt; may be given several times
    #[arg(long)]
    criterion: Vec<String>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
pub(crate) struct DoneArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct FailArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
    /// Why it failed
    #[arg(long)]
    reason: String,
    /// A part of the step was done
    #[arg(long)]
    partial: bool,
}

pub(super) fn new(project: &DesProject, args: &NewArgs, out: &mut Out<'_>) -> anyhow::Result<()> {
    let NewArgs { path, task_id, project_id, name, allow, criterion, force } = args;
    scope::AllowedFiles::new(allow.clone()).map_err(anyhow::Error::msg)?;
    let (real, step_name) = project.step(path)?;
    check_name(&real, &step_name)?;
    if real.exists() && !force {
        bail!("{step_name} exists already; --force overwrites it");
    }
    if let Some(folder) = real.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let from_file = real.file_stem().unwrap_or_default().to_string_lossy();
    let from_folder = project.root.folder.file_name().unwrap_or_default().to_string_lossy();
    let step = record::new_step(&NewStep {
        task_id: task_id.as_deref().unwrap_or(&from_file),
        project_id: project_id.as_deref().unwrap_or(&from_folder),
        name: name.as_deref(),
        allow,
        criteria: criterion,
        phases: &project.configured_phases(),
    });
    step::write(&real, &step, "")?;
    project.audit(&project.base_record(words::DES_NEW, &step_name, words::TODO))?;
    writeln!(out, "created {step_name}")?;
    Ok(())
}

/// Refuses names that `des status` and `/step` would not find.
fn check_name(real: &Path, name: &str) -> anyhow::Result<()> {
    let shown = clean_line(name);
    if real.is_dir() {
        let example = Path::new(&shown).join("01-01.json");
        bail!("{shown} is a folder: name a file in it, such as {}", example.display());
    }
    if real.extension().is_none_or(|extension| extension != "json") {
        bail!("`des status` finds only steps whose names end in .json: use {shown}.json");
    }
    Ok(())
}

pub(super) fn done(project: &DesProject, args: &DoneArgs, out: &mut Out<'_>) -> anyhow::Result<()> {
    let name = project.change_step(&args.step, |step| record::complete(step, Timestamp::now()))?;
    project.audit(&project.base_record(words::DES_DONE, &name, words::DONE))?;
    writeln!(out, "{name} is DONE")?;
    Ok(())
}

pub(super) fn fail(project: &DesProject, args: &FailArgs, out: &mut Out<'_>) -> anyhow::Result<()> {
    let reason = args.reason.trim();
    if reason.is_empty() {
        bail!("--reason must not be blank: say why the step failed");
    }
    let name = project.change_step(&args.step, |step| {
        let phases = &project.phases(step);
        let failure = AdmittedFailure { phases, partial: args.partial, reason, now: Timestamp::now() };
        record::admit_failure(step, &failure);
        Ok(())
    })?;
    let state = if args.partial { words::PARTIAL } else { words::FAILED };
    project.audit(&Record {
        reason: Some(reason.to_owned()),
        ..project.base_record(words::DES_FAIL, &name, state)
    })?;
    writeln!(out, "{name} is {state}")?;
    Ok(())
}

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

pub(super) fn start(project: &DesProject, args: &StartArgs, out: &mut Out<'_>) -> anyhow::Result<()> {
    project.record_phase(&args.step, &args.phase, &PhaseChange::Start)?;
    writeln!(out, "{} is IN_PROGRESS", args.phase)?;
    Ok(())
}

pub(super) fn finish(project: &DesProject, args: FinishArgs, out: &mut Out<'_>) -> anyhow::Result<()> {
    let FinishArgs { step, phase, pass, details, turns, .. } = args;
    project.refuse_without_proof(&phase)?;
    let change = PhaseChange::Finish { pass, details, turns, evidence: None };
    project.record_phase(&step, &phase, &change)?;
    writeln!(out, "{phase} is EXECUTED: {}", if pass { "PASS" } else { "FAIL" })?;
    Ok(())
}

pub(super) fn skip(project: &DesProject, args: SkipArgs, out: &mut Out<'_>) -> anyhow::Result<()> {
    let SkipArgs { step, phase, reason } = args;
    if !reason.trim_start().starts_with("APPROVED_SKIP:") {
        project.refuse_without_proof(&phase)?;
    }
    project.record_phase(&step, &phase, &PhaseChange::Skip { reason })?;
    writeln!(out, "{phase} is SKIPPED")?;
    Ok(())
}

/// The start of a marker.
const OPEN: LiteralText = LiteralText("<!--");

#[derive(clap::Args)]
pub(crate) struct PromptArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
    /// The subagent for the step
    #[arg(long)]
    agent: String,
    /// The command that starts the step, such as /nw:execute
    #[arg(long)]
    command: Option<String>,
}

pub(super) fn print_prompt(project: &DesProject, args: &PromptArgs, out: &mut Out<'_>) -> anyhow::Result<()> {
    let (_, name) = project.step(&args.step)?;
    let opened = gates::open_step(&StepFolders::at(&project.root.work), &name)
        .map_err(|finding| anyhow!("{finding}"))?;
    markers(&opened, &name, args, out)?;
    task(&opened, &name, &args.agent, out)?;
    let des = project.config.des.clone().unwrap_or_default();
    let scope = Scope::of(opened.allowed.clone());
    writeln!(out, "{}", boundaries(&opened, &scope, &project.phases(&opened.step), &des).trim_end())?;
    Ok(())
}

fn markers(opened: &OpenStep, name: &str, args: &PromptArgs, out: &mut Out<'_>) -> io::Result<()> {
    writeln!(out, "{OPEN} DES-VALIDATION: required -->")?;
    writeln!(out, "{OPEN} DES-STEP-FILE: {name} -->")?;
    writeln!(out, "{OPEN} DES-AGENT: {} -->", args.agent)?;
    if let Some(command) = &args.command {
        writeln!(out, "{OPEN} DES-COMMAND: {command} -->")?;
    }
    if let Some(project_id) = opened.step.project_id() {
        writeln!(out, "{OPEN} DES-PROJECT-ID: {} -->", clean_line(&project_id))?;
    }
    Ok(())
}

fn task(opened: &OpenStep, name: &str, agent: &str, out: &mut Out<'_>) -> io::Result<()> {
    let step = &opened.step;
    let task = clean_line(&step.task_id().unwrap_or_else(|| name.to_owned()));
    let project = step.project_id().map(|id| format!(" {}", clean_line(&id))).unwrap_or_default();
    writeln!(out, "\nYou are the {agent} agent. Do step {task} of the project{project}.")?;
    if let Some(about) = step.name() {
        writeln!(out, "It is about: {}", clean_line(&about))?;
    }
    let criteria = step.acceptance_criteria();
    if !criteria.is_empty() {
        writeln!(out, "\nIt is accepted when:")?;
        for criterion in criteria {
            writeln!(out, "- {}", clean_line(&criterion))?;
        }
    }
    Ok(())
}
