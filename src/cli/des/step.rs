//! `des new`, `done` and `fail`: the step as a whole.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::project::Project;
use crate::cli::out::Out;
use conclaude_checks::des::record::NewStep;
use conclaude_checks::des::{record, scope, step};
use conclaude_core::text::clean_line;
use conclaude_store::audit::Record;

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
    /// What the step is accepted by, which goes into the prompt; may be given several times
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

pub(super) fn new(project: &Project, args: &NewArgs, out: &mut Out<'_>) -> io::Result<()> {
    let NewArgs { path, task_id, project_id, name, allow, criterion, force } = args;
    scope::AllowedFiles::new(allow.clone()).map_err(io::Error::other)?;
    let (real, step_name) = project.step(path)?;
    check_name(&real, &step_name)?;
    if real.exists() && !force {
        return Err(io::Error::other(format!("{step_name} exists already; --force overwrites it")));
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
    project.audit(&project.base_record("des new", &step_name, "TODO"))?;
    writeln!(out, "created {step_name}")
}

/// What `des status` and `/step` would not find is no name for a step.
fn check_name(real: &Path, name: &str) -> io::Result<()> {
    let shown = clean_line(name);
    if real.is_dir() {
        let example = Path::new(&shown).join("01-01.json");
        return Err(io::Error::other(format!(
            "{shown} is a folder: name a file in it, such as {}",
            example.display()
        )));
    }
    if real.extension().is_none_or(|extension| extension != "json") {
        return Err(io::Error::other(format!(
            "`des status` finds only steps whose names end in .json: use {shown}.json"
        )));
    }
    Ok(())
}

pub(super) fn done(project: &Project, args: &DoneArgs, out: &mut Out<'_>) -> io::Result<()> {
    let name = project.change_step(&args.step, |step| record::complete(step, Timestamp::now()))?;
    project.audit(&project.base_record("des done", &name, "DONE"))?;
    writeln!(out, "{name} is DONE")
}

pub(super) fn fail(project: &Project, args: &FailArgs, out: &mut Out<'_>) -> io::Result<()> {
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
