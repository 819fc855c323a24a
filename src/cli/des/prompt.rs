//! `des prompt`: the start of a prompt that gives a step to an agent.

use std::io;
use std::path::PathBuf;

use super::project::Project;
use crate::cli::out::{Literal, Out};
use conclaude_checks::des::boundaries::boundaries;
use conclaude_checks::des::gates::{self, OpenStep};
use conclaude_checks::des::scope::Scope;
use conclaude_core::text::clean_line;

/// The start of a marker.
const OPEN: Literal = Literal("<!--");

#[derive(clap::Args)]
pub(crate) struct PromptArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
    /// The subagent that is to do the step
    #[arg(long)]
    agent: String,
    /// The command that starts the step, such as /nw:execute
    #[arg(long)]
    command: Option<String>,
}

pub(super) fn print(project: &Project, args: &PromptArgs, out: &mut Out<'_>) -> io::Result<()> {
    let (_, name) = project.step(&args.step)?;
    let opened = gates::open_step(&project.root.work, &name)
        .map_err(|finding| io::Error::other(finding.to_string()))?;
    markers(&opened, &name, args, out)?;
    task(&opened, &name, &args.agent, out)?;
    let des = project.config.des.clone().unwrap_or_default();
    let scope = Scope::of(opened.allowed.clone());
    writeln!(out, "{}", boundaries(&opened, &scope, &project.phases(&opened.step), &des).trim_end())
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
