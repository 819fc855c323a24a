//! `des run`: a command is run, and the phase is recorded from its exit code.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::project::Project;
use crate::des::evidence::{self, Ran};
use crate::des::record::{self, Change};
use crate::des::{gates, step};
use crate::exit::Exit;

#[derive(clap::Args)]
pub(crate) struct RunArgs {
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
}

/// The phase in the step file before the command runs.
struct Before {
    is_started: bool,
    /// It was recorded without proof, and is proved now; its times stay those of the work.
    is_unproved: bool,
}

/// No lock is held while the command runs.
pub(super) fn run(project: &Project, args: &RunArgs) -> io::Result<Exit> {
    let RunArgs { step, phase, turns, command, .. } = args;
    let before = before(project, step, phase)?;
    if !before.is_started && !before.is_unproved {
        project.record_phase(step, phase, &Change::Start)?;
    }
    let expect_failure = evidence::expects_failure(phase, args.expect.as_deref().map(|word| word == "fail"));
    let started = Timestamp::now();
    let ran = evidence::run(command);
    let times = (started, Timestamp::now());
    let pass = ran.passes(expect_failure);
    let line = command_line(command);
    let details = format!("`{line}` exited with {}", ran.code);
    let evidence = evidence_of(&line, &ran, expect_failure, times);
    let change = if before.is_unproved {
        Change::Prove { pass, details, evidence }
    } else {
        Change::Finish { pass, details: Some(details), turns: *turns, evidence: Some(evidence) }
    };
    project.record_phase(step, phase, &change)?;
    let outcome = if pass { "PASS" } else { "FAIL" };
    writeln!(io::stderr(), "conclaude: {phase} is EXECUTED: {outcome} (exit code {})", ran.code)?;
    Ok(Exit::Of(u8::try_from(ran.code).unwrap_or(1)))
}

fn before(project: &Project, path: &Path, phase: &str) -> io::Result<Before> {
    let (real, _) = project.step(path)?;
    let step = step::read(&real, &path.to_string_lossy()).ok();
    let phases = step.and_then(|step| step.phases()).unwrap_or_default();
    let entry = phases.iter().find(|entry| entry.name == phase);
    Ok(Before {
        is_started: entry.is_some_and(|entry| entry.status() == Some(step::Status::InProgress)),
        is_unproved: entry.is_some_and(record::can_be_proved),
    })
}

fn command_line(command: &[OsString]) -> String {
    let words: Vec<String> = command.iter().map(|word| gates::shell_quote(&word.to_string_lossy())).collect();
    words.join(" ")
}

fn evidence_of(
    line: &str,
    ran: &Ran,
    expect_failure: bool,
    (started, ended): (Timestamp, Timestamp),
) -> Value {
    let in_ms = |time: Timestamp| time.round(jiff::Unit::Millisecond).unwrap_or(time).to_string();
    json!({
        "command": line,
        "exit_code": ran.code,
        "expected": if expect_failure { "fail" } else { "pass" },
        "started_at": in_ms(started),
        "ended_at": in_ms(ended),
        "duration_ms": u64::try_from(ended.duration_since(started).as_millis()).unwrap_or(0),
        "output_sha256": ran.output_sha256,
        "output_bytes": ran.output_bytes,
    })
}
