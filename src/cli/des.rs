//! `conclaude des …`: recording phases honestly, and what orchestrators need.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::Subcommand;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::audit::{Filter, Trail, records};
use crate::des::record::{self, Change};
use crate::des::{check, evidence, gates, scope, step};
use crate::exit::Exit;
use crate::text::clean_line;

mod project;

use project::{Project, base_record};

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const BOLD: Style = Style::new().bold();

/// The verbs of `conclaude des`.
#[derive(Subcommand)]
pub(super) enum Verb {
    /// Begin a phase
    Start {
        /// The step file
        step: PathBuf,
        /// The phase
        phase: String,
    },
    /// End a phase that was begun, without a command to prove it
    #[command(group(clap::ArgGroup::new("outcome").required(true).args(["pass", "fail"])))]
    Finish {
        /// The step file
        step: PathBuf,
        /// The phase
        phase: String,
        /// It went as it should
        #[arg(long)]
        pass: bool,
        /// It did not
        #[arg(long)]
        fail: bool,
        /// What there is to say about it
        #[arg(long)]
        details: Option<String>,
        /// How many turns it took
        #[arg(long)]
        turns: Option<i64>,
    },
    /// Leave a phase out, with a reason that counts
    Skip {
        /// The step file
        step: PathBuf,
        /// The phase
        phase: String,
        /// NOT_APPLICABLE: …, BLOCKED_BY_DEPENDENCY: …, APPROVED_SKIP: …, CHECKPOINT_PENDING: … or DEFERRED: …
        #[arg(long)]
        reason: String,
    },
    /// Run a command and record the phase from its exit code, as proof
    ///
    /// Ends with the command's own exit code. Phases named RED_* expect a command that fails; a command that cannot be
    /// started or is killed never passes.
    Run {
        /// The step file
        step: PathBuf,
        /// The phase
        phase: String,
        /// What the command is expected to do
        #[arg(long, value_parser = ["pass", "fail"])]
        expect: Option<String>,
        /// How many turns it took
        #[arg(long)]
        turns: Option<i64>,
        /// The command, after `--`
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Admit that the step failed: an honest failure may stop
    Fail {
        /// The step file
        step: PathBuf,
        /// Why
        #[arg(long)]
        reason: String,
        /// A part of it was done
        #[arg(long)]
        partial: bool,
    },
    /// Set a step without phases (workflow_type configuration_setup) to DONE
    Done {
        /// The step file
        step: PathBuf,
    },
    /// Make a step file
    New {
        /// Where
        path: PathBuf,
        /// The task, such as 01-01
        #[arg(long)]
        task_id: String,
        /// The project
        #[arg(long)]
        project_id: String,
        /// What it is about
        #[arg(long)]
        name: Option<String>,
        /// A pattern of files that the step may touch; may be given several times
        #[arg(long)]
        allow: Vec<String>,
        /// Overwrite what is there
        #[arg(long)]
        force: bool,
    },
    /// Print the head of a prompt for a step: all markers, and instructions
    Prompt {
        /// The step file
        step: PathBuf,
        /// The subagent that is to do it
        #[arg(long)]
        agent: String,
        /// The command that asks for it, such as /nw:execute
        #[arg(long)]
        command: Option<String>,
    },
    /// Say what a step file still lacks; exits with 0 if nothing, with 1 otherwise
    Check {
        /// The step file
        step: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List all steps with their state
    Status {
        /// Where to look [default: the project]
        folder: Option<PathBuf>,
    },
}

impl Verb {
    pub(super) fn run(self) -> io::Result<Exit> {
        let project = Project::find()?;
        let mut out = anstream::stdout();
        match self {
            Verb::New { .. } | Verb::Prompt { .. } => project.must_be_sound()?,
            _ => project.warn_if_broken(),
        }
        match self {
            Verb::Start { step, phase } => {
                project.record(&step, &phase, &Change::Start, "des start", "IN_PROGRESS")?;
                writeln!(out, "{phase} is IN_PROGRESS")?;
            }
            Verb::Finish { step, phase, pass, details, turns, .. } => {
                project.needs_proof(&phase)?;
                let word = if pass { "PASS" } else { "FAIL" };
                let change = Change::Finish { pass, details, turns, evidence: None };
                project.record(&step, &phase, &change, "des finish", word)?;
                writeln!(out, "{phase} is EXECUTED: {word}")?;
            }
            Verb::Skip { step, phase, reason } => {
                if !reason.trim_start().starts_with("APPROVED_SKIP:") {
                    project.needs_proof(&phase)?;
                }
                project.record(&step, &phase, &Change::Skip { reason }, "des skip", "SKIPPED")?;
                writeln!(out, "{phase} is SKIPPED")?;
            }
            Verb::Run { step, phase, expect, turns, command } => {
                let expect = expect.map(|word| word == "fail");
                return run_command(&project, &step, &phase, expect, turns, &command);
            }
            Verb::Fail { step, reason, partial } => {
                if reason.trim().is_empty() {
                    return Err(io::Error::other("--reason must say why"));
                }
                let (path, name) = project.step(&step)?;
                record::change(&project.root.folder, &path, |step| {
                    let phases = project.phases(step);
                    record::admit_failure(step, &phases, partial, reason.trim(), Timestamp::now());
                    Ok(())
                })
                .map_err(io::Error::other)?;
                project.audit(&base_record("des fail", &name, if partial { "PARTIAL" } else { "FAILED" }))?;
                writeln!(out, "{name} is {}", if partial { "PARTIAL" } else { "FAILED" })?;
            }
            Verb::Done { step } => {
                let (path, name) = project.step(&step)?;
                let done = |step: &mut step::Step| record::complete(step, Timestamp::now());
                record::change(&project.root.folder, &path, done).map_err(io::Error::other)?;
                project.audit(&base_record("des done", &name, "DONE"))?;
                writeln!(out, "{name} is DONE")?;
            }
            Verb::New { path, task_id, project_id, name, allow, force } => {
                scope::Allowed::new(allow.clone()).map_err(io::Error::other)?;
                let (real, step_name) = project.step(&path)?;
                if real.exists() && !force {
                    return Err(io::Error::other(format!(
                        "{step_name} exists already; --force overwrites it"
                    )));
                }
                if let Some(folder) = real.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                let step = record::new_step(
                    &task_id,
                    &project_id,
                    name.as_deref(),
                    &allow,
                    &project.configured_phases(),
                );
                step::write(&real, &step, "")?;
                project.audit(&base_record("des new", &step_name, "TODO"))?;
                writeln!(out, "made {step_name}")?;
            }
            Verb::Prompt { step, agent, command } => {
                prompt(&project, &step, &agent, command.as_deref(), &mut out)?
            }
            Verb::Check { step, json } => return check_step(&project, &step, json, &mut out),
            Verb::Status { folder } => status(&project, folder.as_deref(), &mut out)?,
        }
        Ok(Exit::Success)
    }
}

/// No lock is held while the command runs.
fn run_command(
    project: &Project,
    path: &Path,
    phase: &str,
    expect: Option<bool>,
    turns: Option<i64>,
    command: &[OsString],
) -> io::Result<Exit> {
    let (real, _) = project.step(path)?;
    let log =
        step::read(&real, &path.to_string_lossy()).ok().and_then(|step| step.phases()).unwrap_or_default();
    let entry = log.iter().find(|entry| entry.name == phase);
    let begun = entry.is_some_and(|entry| entry.status() == Some(step::Status::InProgress));
    // What was recorded without proof is proved now; its times stay those of the work.
    let proving = entry.is_some_and(record::can_be_proved);
    if !begun && !proving {
        project.record(path, phase, &Change::Start, "des start", "IN_PROGRESS")?;
    }
    let started = Timestamp::now();
    let ran = evidence::run(command);
    let ended = Timestamp::now();
    let expect_failure = evidence::expects_failure(phase, expect);
    let pass = ran.passes(expect_failure);
    let line: Vec<String> = command.iter().map(|word| gates::shell_quote(&word.to_string_lossy())).collect();
    let in_ms = |time: Timestamp| time.round(jiff::Unit::Millisecond).unwrap_or(time).to_string();
    let proof = json!({
        "command": line.join(" "),
        "exit_code": ran.code,
        "expected": if expect_failure { "fail" } else { "pass" },
        "started_at": in_ms(started),
        "ended_at": in_ms(ended),
        "duration_ms": u64::try_from(ended.duration_since(started).as_millis()).unwrap_or(0),
        "output_sha256": ran.output_sha256,
        "output_bytes": ran.output_bytes,
    });
    let word = if pass { "PASS" } else { "FAIL" };
    let details = format!("`{}` exited with {}", line.join(" "), ran.code);
    let change = if proving {
        Change::Prove { pass, details, evidence: proof }
    } else {
        Change::Finish { pass, details: Some(details), turns, evidence: Some(proof) }
    };
    project.record(path, phase, &change, "des run", word)?;
    writeln!(io::stderr(), "conclaude: {phase} is EXECUTED: {word} (exit code {})", ran.code)?;
    Ok(Exit::Of(u8::try_from(ran.code).unwrap_or(1)))
}

fn prompt(
    project: &Project,
    path: &Path,
    agent: &str,
    command: Option<&str>,
    out: &mut impl Write,
) -> io::Result<()> {
    let (_, name) = project.step(path)?;
    let opened = gates::open_step(&project.root.work, &name)
        .map_err(|finding| io::Error::other(finding.to_string()))?;
    writeln!(
        out,
        "<!-- DES-VALIDATION: required -->\n<!-- DES-STEP-FILE: {name} -->\n<!-- DES-AGENT: {agent} -->"
    )?;
    if let Some(command) = command {
        writeln!(out, "<!-- DES-COMMAND: {command} -->")?;
    }
    if let Some(project_id) = opened.step.project_id() {
        writeln!(out, "<!-- DES-PROJECT-ID: {} -->", clean_line(&project_id))?;
    }
    let task = opened.step.task_id().unwrap_or_else(|| name.clone());
    writeln!(
        out,
        "\nYou are the {agent} agent. Do step {} of the project{}.",
        clean_line(&task),
        of_project(&opened.step)
    )?;
    if let Some(about) = opened.step.name() {
        writeln!(out, "It is about: {}", clean_line(&about))?;
    }
    let criteria = opened.step.acceptance_criteria();
    if !criteria.is_empty() {
        writeln!(out, "\nIt is accepted when:")?;
        for criterion in criteria {
            writeln!(out, "- {}", clean_line(&criterion))?;
        }
    }
    let des = project.config.des.clone().unwrap_or_default();
    writeln!(out, "{}", gates::boundaries(&opened, &project.phases(&opened.step), &des).trim_end())
}

fn of_project(step: &step::Step) -> String {
    step.project_id().map(|id| format!(" {}", clean_line(&id))).unwrap_or_default()
}

fn check_step(project: &Project, path: &Path, as_json: bool, out: &mut impl Write) -> io::Result<Exit> {
    let (_, name) = project.step(path)?;
    let findings = match gates::open_step(&project.root.work, &name) {
        Ok(opened) => check::check(&opened.step, &project.phases(&opened.step)),
        Err(finding) => vec![finding],
    };
    let blocks = findings.iter().any(crate::des::Finding::blocks);
    if as_json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&json!({ "step": name, "ok": !blocks, "findings": findings }))?
        )?;
    } else if findings.is_empty() {
        writeln!(out, "{GOOD}✓{GOOD:#} {name} is complete")?;
    } else {
        for finding in &findings {
            let (style, mark) = if finding.blocks() { (BAD, '✗') } else { (DOUBTFUL, '⚠') };
            writeln!(out, "{style}{mark}{style:#} {finding}")?;
        }
    }
    Ok(if blocks { Exit::Failure } else { Exit::Success })
}

/// Folders in which no step file lies.
const NOT_SEARCHED: [&str; 6] = [".git", "node_modules", "target", ".conclaude", ".claude", "dist"];

fn step_files(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_unstable_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 && !NOT_SEARCHED.iter().any(|skipped| name == *skipped) {
            step_files(&entry.path(), depth - 1, found);
        } else if kind.is_file() && entry.path().extension().is_some_and(|extension| extension == "json") {
            found.push(entry.path());
        }
    }
}

fn status(project: &Project, folder: Option<&Path>, out: &mut impl Write) -> io::Result<()> {
    let folder = match folder {
        Some(folder) if !folder.is_dir() => {
            return Err(io::Error::other(format!("{} is not a folder", folder.display())));
        }
        Some(folder) => std::path::absolute(folder)?,
        None => project.root.work.clone(),
    };
    let mut files = Vec::new();
    step_files(&folder, 6, &mut files);
    let trail = Trail::of(&project.root.folder, None);
    let stops = records(&trail, &Filter { event: Some("SubagentStop".into()), ..Filter::default() })?;
    let mut rows = vec![["STEP", "TASK", "STATE", "PHASES", "LAST AGENT", "BLOCKS"].map(str::to_owned)];
    for path in files {
        let Ok(step) = step::read(&path, "") else { continue };
        let Some(log) = step.phases().or_else(|| (!step.has_phases()).then(Vec::new)) else { continue };
        let (_, name) = project.step(&path)?;
        let of_step = |record: &&Value| record.get("step").and_then(Value::as_str) == Some(name.as_str());
        let its: Vec<&Value> = stops.iter().map(|(_, record)| record).filter(of_step).collect();
        let text =
            |record: &Value, field: &str| record.get(field).and_then(Value::as_str).unwrap_or("-").to_owned();
        let phases = project.phases(&step);
        let done = log.iter().filter(|phase| phases.contains(&phase.name) && phase.is_finished()).count();
        rows.push([
            clean_line(&name),
            clean_line(&step.task_id().unwrap_or_else(|| "-".into())),
            clean_line(&step.state()),
            if step.has_phases() { format!("{done}/{}", phases.len()) } else { "-".into() },
            its.last().map_or_else(|| "-".into(), |record| clean_line(&text(record, "agent"))),
            its.iter().filter(|record| text(record, "decision") == "blocked").count().to_string(),
        ]);
    }
    if rows.len() == 1 {
        return writeln!(out, "no step files in {}; `conclaude des new` makes one", folder.display());
    }
    super::table(out, &rows, BOLD)
}
