//! `des new`, `done`, `fail` and `check`: the step as a whole.

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use serde_json::json;

use super::project::Project;
use crate::audit::Record;
use crate::des::{check as des_check, gates, record, scope, step};
use crate::exit::Exit;
use crate::finding::Finding;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const WARNING: Style = AnsiColor::Yellow.on_default();

#[derive(clap::Args)]
pub(crate) struct NewArgs {
    /// The path of the new step file
    path: PathBuf,
    /// The task's id, such as 01-01
    #[arg(long)]
    task_id: String,
    /// The project's id
    #[arg(long)]
    project_id: String,
    /// The step's name
    #[arg(long)]
    name: Option<String>,
    /// A pattern of files that the step may change; may be given several times
    #[arg(long)]
    allow: Vec<String>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
pub(crate) struct DoneArgs {
    /// The step file
    step: PathBuf,
}

#[derive(clap::Args)]
pub(crate) struct FailArgs {
    /// The step file
    step: PathBuf,
    /// Why it failed
    #[arg(long)]
    reason: String,
    /// A part of the step was done
    #[arg(long)]
    partial: bool,
}

#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// The step file
    step: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn new(project: &Project, args: &NewArgs, out: &mut impl Write) -> io::Result<()> {
    let NewArgs { path, task_id, project_id, name, allow, force } = args;
    scope::Allowed::new(allow.clone()).map_err(io::Error::other)?;
    let (real, step_name) = project.step(path)?;
    if real.exists() && !force {
        return Err(io::Error::other(format!("{step_name} exists already; --force overwrites it")));
    }
    if let Some(folder) = real.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let step = record::new_step(task_id, project_id, name.as_deref(), allow, &project.configured_phases());
    step::write(&real, &step, "")?;
    project.audit(&project.base_record("des new", &step_name, "TODO"))?;
    writeln!(out, "created {step_name}")
}

pub(super) fn done(project: &Project, args: &DoneArgs, out: &mut impl Write) -> io::Result<()> {
    let name = project.change_step(&args.step, |step| record::complete(step, Timestamp::now()))?;
    project.audit(&project.base_record("des done", &name, "DONE"))?;
    writeln!(out, "{name} is DONE")
}

pub(super) fn fail(project: &Project, args: &FailArgs, out: &mut impl Write) -> io::Result<()> {
    let reason = args.reason.trim();
    if reason.is_empty() {
        return Err(io::Error::other("--reason must not be blank: say why the step failed"));
    }
    let name = project.change_step(&args.step, |step| {
        record::admit_failure(step, &project.phases(step), args.partial, reason, Timestamp::now());
        Ok(())
    })?;
    let state = if args.partial { "PARTIAL" } else { "FAILED" };
    project.audit(&Record {
        reason: Some(reason.to_owned()),
        ..project.base_record("des fail", &name, state)
    })?;
    writeln!(out, "{name} is {state}")
}

pub(super) fn check(project: &Project, args: &CheckArgs, out: &mut impl Write) -> io::Result<Exit> {
    let (_, name) = project.step(&args.step)?;
    let findings = match gates::open_step(&project.root.work, &name) {
        Ok(opened) => des_check::check(&opened.step, &project.phases(&opened.step)),
        Err(finding) => vec![finding],
    };
    let blocks = findings.iter().any(Finding::blocks);
    if args.json {
        let report = json!({ "step": name, "ok": !blocks, "findings": findings });
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else if findings.is_empty() {
        writeln!(out, "{GOOD}✓{GOOD:#} {name} is complete")?;
    } else {
        for finding in &findings {
            let (style, mark) = if finding.blocks() { (BAD, '✗') } else { (WARNING, '⚠') };
            writeln!(out, "{style}{mark}{style:#} {finding}")?;
        }
    }
    Ok(if blocks { Exit::Failure } else { Exit::Success })
}
