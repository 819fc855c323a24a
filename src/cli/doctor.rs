//! `conclaude doctor`: is everything in place, and does Claude Code really call us? Every problem comes with its fix.

use std::io;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::cli::out::{Out, Paint};
use crate::cli::project_dir;
use conclaude_core::config::{ConclaudeConfig, Patterns};
use conclaude_core::dialect::{Dialect, claude};
use conclaude_core::exit::Exit;
use conclaude_core::text::count;
use conclaude_engine::install::agents;
use conclaude_engine::install::registration::{self, ScopeSettings, locations};
use conclaude_engine::install::scope::{Scope, session_folder};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;
use probe::{Arrival, ProbeAnswer};

mod clients;
mod enforcement;
mod health;
mod probe;
mod programs;
mod rules;
mod sandbox;
mod settings;

pub(super) fn run(json: bool, yes: bool) -> anyhow::Result<Exit> {
    let installation = Installation::here()?;
    // Before doctor itself calls anything.
    let mut arrivals = probe::arrivals(&installation);
    let mut checks = settings::registrations(&installation);
    checks.extend(settings::programs(&installation));
    checks.extend(health::switched_off());
    checks.extend(rules::config(&installation));
    checks.extend(rules::patterns(&installation));
    checks.extend(programs::programs(&installation));
    checks.extend(settings::duplicates(&installation));
    checks.extend(settings::agents(&installation));
    checks.extend(rules::trusted(&installation));
    checks.extend(enforcement::rules(&installation));
    checks.extend(rules::judge(&installation));
    checks.extend(rules::telemetry(&installation));
    checks.extend(health::state(&installation));
    checks.extend(health::audit(&installation));
    if installation.concerns_claude() {
        checks.push(health::client(&installation));
    }
    checks.extend(sandbox::all(&installation, json, yes)?);
    let (answers, probed) = probe::all(&installation);
    checks.extend(probed);
    checks.extend(probe::check_arrivals(&installation, &arrivals));
    let clients = clients::all(&installation)?;
    checks.extend(clients.checks);
    arrivals.extend(clients.arrivals);
    let healthy = !checks.iter().any(|check| check.status == Status::Problem);
    let version = env!("CARGO_PKG_VERSION");
    let report =
        DoctorReport { healthy, version, project: installation.root.folder, checks, answers, arrivals };
    let mut out = Out::stdout();
    if json {
        out.json(&report)?;
    } else {
        show(&mut out, &report)?;
    }
    Ok(if healthy { Exit::Success } else { Exit::Failure })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Good,
    Warning,
    Problem,
}

/// One thing that was checked.
#[derive(Clone, Debug, Serialize)]
struct Check {
    /// The subject of the check, as one word.
    about: &'static str,
    status: Status,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Check {
    fn good(about: &'static str, text: impl Into<String>) -> Check {
        Check { about, status: Status::Good, text: text.into(), fix: None }
    }

    fn warning(about: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { about, status: Status::Warning, text: text.into(), fix: Some(fix.into()) }
    }

    fn problem(about: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { about, status: Status::Problem, text: text.into(), fix: Some(fix.into()) }
    }
}

/// A path as lines show it: from the project, if it is inside.
fn short(path: &Path, project: &Path) -> String {
    path.strip_prefix(project).unwrap_or(path).display().to_string()
}

/// The inputs of the checks, gathered once.
struct Installation {
    root: Root,
    /// Where Claude Code looks for the project's settings.
    project: PathBuf,
    /// As far as its files can be read. Otherwise the gates use the defaults.
    loaded: LoadedConfig,
    settings_files: Vec<ScopeSettings>,
    /// The names of the project's own agents.
    agents: Vec<String>,
}

impl Installation {
    fn here() -> io::Result<Installation> {
        let root = crate::cli::root()?;
        let loaded = load::all(&root, Patterns::All);
        let project = session_folder(project_dir(), &root.folder)?;
        let settings_files = registration::current(&project);
        let agents = agents::names(&project, Scope::Project);
        Ok(Installation { root, project, loaded, settings_files, agents })
    }

    /// The settings files in which conclaude is registered.
    fn locations(&self) -> Vec<&ScopeSettings> {
        locations(&self.settings_files)
    }

    /// Whether Claude Code calls us here, or should.
    fn concerns_claude(&self) -> bool {
        self.is_named(&claude::DIALECT) || !self.locations().is_empty()
    }

    /// Whether a client is one of those that the config names.
    fn is_named(&self, client: &Dialect) -> bool {
        self.loaded.config.clients().contains(&client)
    }

    /// The command that repeats the registration in the same place.
    fn install_again(&self) -> String {
        let flag = self.locations().first().map_or("", |file| file.scope.flag());
        format!("conclaude install {flag}").trim_end().to_owned()
    }

    fn effective_config(&self) -> ConclaudeConfig {
        self.loaded.config.clone()
    }

    /// The program that a registered command line starts in a session here, and whether it is this one.
    fn program(&self, command: &str) -> Option<(PathBuf, bool)> {
        let real = registration::program_in(&self.project, command)?.canonicalize().ok()?;
        let is_own = own_program().is_some_and(|own| own == real);
        Some((real, is_own))
    }
}

fn own_program() -> Option<PathBuf> {
    std::env::current_exe().and_then(|path| path.canonicalize()).ok()
}

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default().bold());
const BAD: Paint = Paint(AnsiColor::Red.on_default().bold());
const FAINT: Paint = Paint(Style::new().dimmed());

#[derive(Serialize)]
struct DoctorReport {
    healthy: bool,
    version: &'static str,
    project: PathBuf,
    checks: Vec<Check>,
    /// This program's answers, when called as registered.
    answers: Vec<ProbeAnswer>,
    /// When each event last really arrived; null means never.
    arrivals: Vec<Arrival>,
}

fn show(out: &mut Out<'_>, report: &DoctorReport) -> io::Result<()> {
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
        let client = arrival.client.map(|client| format!("{client:<9}")).unwrap_or_default();
        writeln!(out, "  {client}{:<17} {}", arrival.event, arrival.words)?;
    }
    let number = |status| report.checks.iter().filter(|check| check.status == status).count() as u64;
    let (problems, warnings) = (number(Status::Problem), number(Status::Warning));
    match (problems, warnings) {
        (0, 0) => writeln!(out, "\n{GOOD}healthy{GOOD:#}"),
        (0, _) => writeln!(out, "\n{GOOD}healthy{GOOD:#}, with {}", count(warnings, "warning")),
        _ => writeln!(out, "\n{BAD}{}{BAD:#}, {}", count(problems, "problem"), count(warnings, "warning")),
    }
}
