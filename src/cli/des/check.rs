//! `des check`: the missing parts of a step file, or the findings of Gate 3 about the agent of a transcript.

use std::io;
use std::path::{Path, PathBuf};

use anstyle::AnsiColor;
use anyhow::bail;
use serde_json::{Value, json};

use super::DesProject;
use crate::cli::out::{Out, Paint};
use conclaude_checks::des::context::PromptOrigin;
use conclaude_checks::des::gates::{self, OpenStep};
use conclaude_checks::des::offline::{self, OfflineStep};
use conclaude_checks::des::step_folders::StepFolders;
use conclaude_checks::des::{DesContext, Markers, check as des_check};
use conclaude_core::agent::Agent;
use conclaude_core::blocks::{BlockCause, BlockCount};
use conclaude_core::config::{DesConfig, GateConfig, PhaseList};
use conclaude_core::dialect::claude::variables;
use conclaude_core::exit::Exit;
use conclaude_core::finding::Finding;
use conclaude_core::text::count;
use conclaude_os::budget::Budget;
use conclaude_os::environment;
use conclaude_os::git::WorkTree;
use conclaude_store::store::Session;

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["step", "step_file"])))]
pub(crate) struct CheckArgs {
    /// The step file, or the start of its name
    pub(super) step: Option<PathBuf>,
    /// The transcript of the agent that did the step: also checks its prompt, its evidence and the files that it wrote
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// The step file, for a hook of your own: if the agent must not stop, exits with 2, with the findings on stderr
    #[arg(long, value_name = "FILE", requires = "transcript", conflicts_with = "json")]
    step_file: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

struct StepReport {
    step: String,
    findings: Vec<Finding>,
    /// The facts about the agent from a transcript.
    context: Option<DesContext>,
    /// No gate applies to the agent of the transcript.
    is_ad_hoc: bool,
}

impl StepReport {
    fn blocks(&self) -> bool {
        self.findings.iter().any(Finding::blocks)
    }
}

pub(super) fn check(project: &DesProject, args: &CheckArgs, out: &mut Out<'_>) -> anyhow::Result<Exit> {
    match (&args.step, &args.step_file, &args.transcript) {
        (_, Some(step_file), Some(transcript)) => for_hook(project, transcript, step_file, out),
        (Some(step), _, _) => for_user(project, step, args, out),
        _ => bail!("name a step file"),
    }
}

fn for_user(project: &DesProject, step: &Path, args: &CheckArgs, out: &mut Out<'_>) -> anyhow::Result<Exit> {
    let (_, name) = project.step(step)?;
    let report = report(project, name, args.transcript.as_deref())?;
    if args.json {
        print_json(&report, out)?;
    } else {
        print(&report, out)?;
    }
    Ok(if report.blocks() { Exit::Failure } else { Exit::Success })
}

fn report(project: &DesProject, name: String, transcript: Option<&Path>) -> anyhow::Result<StepReport> {
    let cwd = std::env::current_dir()?;
    Ok(match gates::open_step(&StepFolders { root: &project.root.work, cwd: &cwd }, &name) {
        Ok(opened) => match transcript {
            Some(transcript) => of_transcript(project, &opened, transcript)?,
            None => of_step(name, des_check::check(&opened.step, &project.phases(&opened.step))),
        },
        Err(finding) => of_step(name, vec![finding]),
    })
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
        cwd: &std::env::current_dir()?,
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

/// The answer to the user's own hook. Exit 2 always means that the agent must not stop.
fn for_hook(
    project: &DesProject,
    transcript: &Path,
    step_file: &str,
    out: &mut Out<'_>,
) -> anyhow::Result<Exit> {
    let origin = offline::origin(transcript).map_err(anyhow::Error::msg)?;
    let markers = Markers::of(&origin.prompt);
    let gate = GateConfig::of(&project.config);
    if !gate.des.is_enabled() {
        writeln!(out, "nothing was checked: the config switches the gates off (des.enabled)")?;
        return Ok(Exit::Success);
    }
    if !markers.apply() {
        let report = StepReport { is_ad_hoc: true, ..of_step(step_file.trim().to_owned(), Vec::new()) };
        print(&report, out)?;
        return Ok(Exit::Success);
    }
    let cwd = std::env::current_dir()?;
    let named = one_of(step_file, markers.step_file.as_deref())?;
    let named = StepFolders { root: &project.root.work, cwd: &cwd }.resolve(named);
    let (_, name) = project.step(&project.root.work.join(named))?;
    let report = report(project, name, Some(transcript))?;
    let counter = BlockCounter { project, agent: agent_of(transcript, &origin), max: gate.max_blocks };
    if !report.blocks() {
        counter.reset();
        print(&report, out)?;
        return Ok(Exit::Success);
    }
    if !gate.des.blocks() {
        print(&report, &mut Out::stderr())?;
        return Ok(Exit::Success);
    }
    refuse(&report, &counter, out)
}

/// The intended step. A script that greps a transcript for the marker gets one line per occurrence.
fn one_of<'a>(step_files: &'a str, marked: Option<&str>) -> anyhow::Result<&'a str> {
    let mut lines: Vec<&str> = step_files.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines.dedup();
    if let Some(line) = lines.iter().find(|line| Some(**line) == marked) {
        return Ok(line);
    }
    match lines.as_slice() {
        [one] => Ok(one),
        [] => bail!("--step-file is empty"),
        several => bail!(
            "--step-file names {}, and the agent's prompt none of them: {}",
            count(several.len() as u64, "file"),
            several.join(", ")
        ),
    }
}

/// The agent of a transcript, whose blocks are counted. A thread may have called several, also twice with one prompt.
fn agent_of(transcript: &Path, origin: &PromptOrigin) -> Agent {
    let path = transcript.canonicalize().unwrap_or_else(|_| transcript.to_owned());
    let time = origin.time.as_deref().unwrap_or_default();
    Agent::named(format!("{}\n{time}\n{}", path.display(), origin.prompt))
}

/// How often the user's own hook has blocked an agent. It must not block one forever.
struct BlockCounter<'a> {
    project: &'a DesProject,
    agent: Agent,
    max: u32,
}

impl BlockCounter<'_> {
    fn session(&self) -> Session {
        let session = environment::text(variables::SESSION_ID).unwrap_or_else(|| "des check".to_owned());
        Session::new(&self.project.root.folder, &session)
    }

    fn count(&self) -> io::Result<BlockCount> {
        self.session().count_block(&self.agent, self.max, &BlockCause::default())
    }

    fn reset(&self) {
        if let Err(error) = self.session().forget_blocks(&self.agent) {
            let _ = writeln!(Out::stderr(), "conclaude: warning: cannot reset the blocks: {error}");
        }
    }
}

fn refuse(report: &StepReport, counter: &BlockCounter<'_>, out: &mut Out<'_>) -> anyhow::Result<Exit> {
    let mut err = Out::stderr();
    let max = counter.max;
    match counter.count() {
        Ok(BlockCount::Blocks(nth)) => {
            writeln!(err, "Validation failed: the agent may not stop yet (block {nth} of {max}):")?;
            print(report, &mut err)?;
            writeln!(err, "Fix what is marked ✗, then give your complete report again.")?;
            // With an empty stdout Claude Code takes an exit 2 for a missing script, if stderr says "no such file".
            writeln!(out, "{} is not complete", report.step)?;
            Ok(Exit::Blocked)
        }
        Ok(BlockCount::Exhausted) => {
            print(report, &mut err)?;
            let times = count(max.into(), "time");
            writeln!(
                err,
                "This would have blocked, but the agent may stop: it was blocked {times} already (maxBlocks)."
            )?;
            Ok(Exit::Success)
        }
        Err(error) => {
            print(report, &mut err)?;
            bail!("blocks cannot be counted, so the agent may stop: {error}");
        }
    }
}

fn print_json(report: &StepReport, out: &mut Out<'_>) -> io::Result<()> {
    let mut json = json!({ "step": report.step, "ok": !report.blocks(), "findings": report.findings });
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
