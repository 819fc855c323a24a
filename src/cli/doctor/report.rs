//! What the checks found, for people and as JSON.

use std::io;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::arrivals::Arrival;
use super::check::{Check, Status};
use super::probe::ProbeAnswer;
use crate::cli::out::{Out, Paint};
use conclaude_core::text::count;

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default().bold());
const BAD: Paint = Paint(AnsiColor::Red.on_default().bold());
const FAINT: Paint = Paint(Style::new().dimmed());

#[derive(Serialize)]
pub(super) struct DoctorReport {
    pub(super) healthy: bool,
    pub(super) version: &'static str,
    pub(super) project: PathBuf,
    pub(super) checks: Vec<Check>,
    /// What this program answered, called as it is registered.
    pub(super) answers: Vec<ProbeAnswer>,
    /// When each event last really arrived; null is never.
    pub(super) arrivals: Vec<Arrival>,
}

pub(super) fn show(out: &mut Out<'_>, report: &DoctorReport) -> io::Result<()> {
    writeln!(out, "conclaude {} in {}\n", report.version, report.project.display())?;
    for check in &report.checks {
        let (style, sign) = match check.status {
            Status::Good => (GOOD, "✓"),
            Status::Warning => (WARNING, "⚠"),
            Status::Problem => (BAD, "✗"),
        };
        writeln!(
            out,
            "{style}{sign}{style:#} {:<12} {}",
            check.about,
            check.text.replace('\n', "\n               ")
        )?;
        if let Some(fix) = &check.fix {
            writeln!(out, "               {FAINT}→{FAINT:#} {fix}")?;
        }
    }
    if !report.answers.is_empty() {
        writeln!(out, "\nWhat it answered, called as it is registered:")?;
        for answer in &report.answers {
            writeln!(out, "  {answer}")?;
        }
    }
    if !report.arrivals.is_empty() {
        writeln!(out, "\nWhen events last really arrived here:")?;
    }
    for arrival in &report.arrivals {
        writeln!(out, "  {:<17} {}", arrival.event, arrival.words)?;
    }
    let number = |status| report.checks.iter().filter(|check| check.status == status).count() as u64;
    let (problems, warnings) = (number(Status::Problem), number(Status::Warning));
    match (problems, warnings) {
        (0, 0) => writeln!(out, "\n{GOOD}healthy{GOOD:#}"),
        (0, _) => writeln!(out, "\n{GOOD}healthy{GOOD:#}, with {}", count(warnings, "warning")),
        _ => writeln!(out, "\n{BAD}{}{BAD:#}, {}", count(problems, "problem"), count(warnings, "warning")),
    }
}
