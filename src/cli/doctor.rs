//! `conclaude doctor`: is everything in place, and does the client really call us? Every problem comes with the command
//! that mends it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::install::session_folder;
use super::root;
use crate::config::{ConclaudeConfig, ConfigError};
use crate::event::Event;
use crate::exit::Exit;
use crate::install::agents::{self, AgentFile};
use crate::install::registration::{self, Found, Place};
use crate::root::{self, Root};
use crate::store;
use crate::text::count;

mod fire;
mod health;
mod rules;

const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Good,
    Warning,
    Problem,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
struct Check {
    /// What was looked at, in a word.
    about: &'static str,
    status: Status,
    /// What was seen.
    text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<String>,
}

impl Check {
    fn good(about: &'static str, text: impl Into<String>) -> Check {
        Check { about, status: Status::Good, text: text.into(), mend: None }
    }

    fn warning(about: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Check {
        Check { about, status: Status::Warning, text: text.into(), mend: Some(mend.into()) }
    }

    fn problem(about: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Check {
        Check { about, status: Status::Problem, text: text.into(), mend: Some(mend.into()) }
    }
}

/// What the checks look at, gathered once.
struct Patient {
    root: Root,
    /// Where the client looks for the project's settings.
    project: PathBuf,
    config: Option<Result<ConclaudeConfig, ConfigError>>,
    found: Vec<Found>,
    agents: Vec<AgentFile>,
}

impl Patient {
    fn here() -> io::Result<Patient> {
        let root = root()?;
        let config = root
            .config
            .as_ref()
            .map(|path| root::read(path).and_then(|text| ConclaudeConfig::parse(&text, path)));
        let project = session_folder(&root)?;
        let found = registration::found(&project);
        let agents = agents::all(&project, Place::Project);
        Ok(Patient { root, project, config, found, agents })
    }

    /// The config as far as it can be read; its defaults are what the gates use otherwise.
    fn settings(&self) -> ConclaudeConfig {
        self.config.as_ref().and_then(|config| config.as_ref().ok()).cloned().unwrap_or_default()
    }
}

/// What was found, in full.
#[derive(Serialize)]
struct Report {
    healthy: bool,
    version: &'static str,
    project: PathBuf,
    checks: Vec<Check>,
    /// What the registered command line answered.
    answers: Vec<fire::Answered>,
    /// When each event last really arrived; null is never.
    arrivals: Vec<Arrival>,
}

#[derive(Serialize)]
struct Arrival {
    event: &'static str,
    last: Option<String>,
    #[serde(skip)]
    words: String,
}

pub(super) fn run(json: bool) -> io::Result<Exit> {
    let patient = Patient::here()?;
    // Before anything is called by ourselves.
    let arrivals = arrivals(&patient);
    let mut checks = rules::registrations(&patient);
    checks.extend(rules::programs(&patient));
    checks.extend(rules::config(&patient));
    checks.extend(rules::patterns(&patient));
    checks.extend(rules::trusted(&patient));
    checks.extend(rules::judge(&patient));
    checks.extend(health::state(&patient));
    checks.extend(health::audit(&patient));
    checks.push(health::client());
    let (answers, fired) = fire::all(&patient);
    checks.extend(fired);
    checks.extend(heard_of(&patient, &arrivals));
    let healthy = !checks.iter().any(|check| check.status == Status::Problem);
    let version = env!("CARGO_PKG_VERSION");
    let report = Report { healthy, version, project: patient.root.folder, checks, answers, arrivals };
    let mut out = anstream::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        show(&mut out, &report)?;
    }
    Ok(if healthy { Exit::Success } else { Exit::Failure })
}

fn arrivals(patient: &Patient) -> Vec<Arrival> {
    let needed = registration::needed(&patient.settings(), "conclaude", Place::Project);
    let folder = patient.root.folder.join(store::FOLDER).join("state/last");
    let one = |event: Event| {
        let time = folder.join(event.name()).metadata().and_then(|metadata| metadata.modified()).ok();
        let stamp = time.and_then(|time| jiff::Timestamp::try_from(time).ok());
        let last = stamp.map(|stamp| stamp.strftime("%FT%TZ").to_string());
        Arrival { event: event.name(), last, words: time.map_or_else(|| "never".into(), ago) }
    };
    needed.iter().map(|need| one(need.event)).collect()
}

fn ago(time: SystemTime) -> String {
    let seconds = time.elapsed().map_or(0, |age| age.as_secs());
    match seconds {
        0..60 => format!("{} ago", count(seconds, "second")),
        60..3_600 => format!("{} ago", count(seconds / 60, "minute")),
        3_600..86_400 => format!("{} ago", count(seconds / 3_600, "hour")),
        _ => format!("{} ago", count(seconds / 86_400, "day")),
    }
}

/// Only an event that really arrived proves that the client calls us.
fn heard_of(patient: &Patient, arrivals: &[Arrival]) -> Option<Check> {
    let registered = !registration::homes(&patient.found).is_empty();
    if !registered || arrivals.iter().any(|arrival| arrival.last.is_some()) {
        return None;
    }
    super::trust::note_arrivals(&patient.root.folder);
    Some(Check::warning(
        "arrivals",
        "no event of the client has arrived yet, so nothing proves that it calls conclaude here",
        "start a session of Claude Code in this project, then look again",
    ))
}

fn show(out: &mut impl Write, report: &Report) -> io::Result<()> {
    writeln!(out, "conclaude {} in {}\n", report.version, report.project.display())?;
    for check in &report.checks {
        let (style, sign) = match check.status {
            Status::Good => (GOOD, "✓"),
            Status::Warning => (DOUBTFUL, "⚠"),
            Status::Problem => (BAD, "✗"),
        };
        writeln!(
            out,
            "{style}{sign}{style:#} {:<12} {}",
            check.about,
            check.text.replace('\n', "\n               ")
        )?;
        if let Some(mend) = &check.mend {
            writeln!(out, "               {FAINT}→{FAINT:#} {mend}")?;
        }
    }
    if !report.answers.is_empty() {
        writeln!(out, "\nWhat the registered command line answered:")?;
        for answer in &report.answers {
            writeln!(out, "  {answer}")?;
        }
    }
    writeln!(out, "\nWhen events last really arrived here:")?;
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

/// A path in words that fit a line.
fn short(path: &Path, project: &Path) -> String {
    path.strip_prefix(project).unwrap_or(path).display().to_string()
}
