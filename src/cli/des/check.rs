//! `des check`: what a step file lacks, or what Gate 3 would say about the agent of a transcript.

use std::io;
use std::path::{Path, PathBuf};

use anstyle::AnsiColor;
use serde_json::{Value, json};

use super::DesProject;
use crate::cli::out::{Out, Paint};
use conclaude_checks::des::gates::{self, OpenStep};
use conclaude_checks::des::offline::{self, OfflineStep};
use conclaude_checks::des::{DesContext, check as des_check};
use conclaude_core::config::{DesConfig, PhaseList};
use conclaude_core::exit::Exit;
use conclaude_core::finding::Finding;
use conclaude_os::budget::Budget;
use conclaude_os::git::WorkTree;

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());

#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
    /// The transcript of the agent that did the step: also checks its prompt, its evidence and the files that it wrote
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

struct StepReport {
    step: String,
    findings: Vec<Finding>,
    /// What a transcript says about the agent.
    context: Option<DesContext>,
    /// No gate applies to the agent of the transcript.
    is_ad_hoc: bool,
}

pub(super) fn check(project: &DesProject, args: &CheckArgs, out: &mut Out<'_>) -> anyhow::Result<Exit> {
    let (_, name) = project.step(&args.step)?;
    let report = match gates::open_step(&project.root.work, &name) {
        Ok(opened) => match &args.transcript {
            Some(transcript) => of_transcript(project, &opened, transcript)?,
            None => of_step(name, des_check::check(&opened.step, &project.phases(&opened.step))),
        },
        Err(finding) => of_step(name, vec![finding]),
    };
    let blocks = report.findings.iter().any(Finding::blocks);
    if args.json {
        print_json(&report, !blocks, out)?;
    } else {
        print(&report, out)?;
    }
    Ok(if blocks { Exit::Failure } else { Exit::Success })
}

fn of_step(step: String, findings: Vec<Finding>) -> StepReport {
    StepReport { step, findings, context: None, is_ad_hoc: false }
}

fn of_transcript(project: &DesProject, opened: &OpenStep, transcript: &Path) -> anyhow::Result<StepReport> {
    let des = project.config.des.clone().unwrap_or_default();
    let judged = offline::judge(&OfflineStep {
        step: &opened.name,
        transcript,
        root: &project.root.folder,
        tree: &WorkTree::at(&project.root.work, None, &Budget::unlimited()),
        des: &DesConfig { phases: Some(PhaseList(project.phases(&opened.step))), ..des },
    })
    .map_err(anyhow::Error::msg)?;
    Ok(StepReport {
        step: opened.name.clone(),
        findings: judged.findings,
        context: Some(judged.context),
        is_ad_hoc: !judged.is_gated,
    })
}

fn print_json(report: &StepReport, ok: bool, out: &mut Out<'_>) -> io::Result<()> {
    let mut json = json!({ "step": report.step, "ok": ok, "findings": report.findings });
    if let (Some(context), Value::Object(fields)) = (&report.context, &mut json) {
        fields.insert("context".to_owned(), serde_json::to_value(context)?);
    }
    out.json(&json)
}

fn print(report: &StepReport, out: &mut Out<'_>) -> io::Result<()> {
    if report.is_ad_hoc {
        return writeln!(
            out,
            "{GOOD}✓{GOOD:#} no gate applies: the prompt does not say `DES-VALIDATION: required`. {} was not checked",
            report.step
        );
    }
    if report.findings.is_empty() {
        return writeln!(out, "{GOOD}✓{GOOD:#} {} is complete", report.step);
    }
    for finding in &report.findings {
        let (style, mark) = if finding.blocks() { (BAD, '✗') } else { (WARNING, '⚠') };
        writeln!(out, "{style}{mark}{style:#} {finding}")?;
    }
    Ok(())
}
