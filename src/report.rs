//! The events of a project's sessions, from the audit trail and Claude Code's transcripts: as a page, as Markdown, as JSON.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use jiff::Timestamp;

use conclaude_checks::des::step;
use conclaude_core::config::PriceTable;
use conclaude_core::text::count;
use conclaude_store::audit::{Trail, Verdict, verify};
use conclaude_store::transcript::sessions::SkippedFiles;
use conclaude_store::transcript::sessions::{self, SessionFiles};

mod active_time;
mod called_agents;
mod html;
mod lanes;
mod markdown;
mod model;
mod records;
mod tables;
mod threads;
mod usage;

pub(crate) use html::{write_json, write_page};
pub(crate) use markdown::markdown;
pub(crate) use model::Report;
use model::{Phase, Step};

/// Reads trail and transcripts.
///
/// # Errors
/// When the trail cannot be read. The report itself names unreadable transcripts.
pub(crate) fn gather(scope: &Scope<'_>) -> anyhow::Result<Report> {
    let trail = Trail::of(scope.root, None);
    // Hashing all records takes as long as everything else, so it has a separate thread.
    let (chain, gathered) = std::thread::scope(|threads| {
        let chain = threads.spawn(|| verify(&trail));
        let gathered = read_all(scope, &trail);
        (chain.join(), gathered)
    });
    let chain = chain.map_err(|_| anyhow!("the trail could not be verified"))??;
    let mut report = gathered?;
    report.chain = of_verdict(chain);
    Ok(report)
}

fn read_all(scope: &Scope<'_>, trail: &Trail) -> io::Result<Report> {
    let mut report = Report::new(scope);
    let (files, left_out) = transcripts(scope);
    let mut lanes = lanes::Lanes::new(scope.root, &files);
    threads::read(&files, scope.since, |session, summary| {
        lanes.add_transcript(&mut report, session, summary, scope.prices);
    });
    let named = records::read(&mut report, &mut lanes, trail, scope)?;
    report.steps = read_steps(scope.root, &named);
    lanes.finish(&mut report);
    report.transcripts.problems.extend(left_out.unreadable);
    if left_out.elsewhere > 0 {
        let sessions = count(left_out.elsewhere, "session");
        let problem =
            "in this project's folder of transcripts, started in folders of other projects, not shown";
        report.left_out.push(format!("{sessions} {problem}: --all-projects shows them"));
    }
    Ok(report)
}

/// The transcripts that may belong to the report, and the files that were skipped.
fn transcripts(scope: &Scope<'_>) -> (Vec<SessionFiles>, SkippedFiles) {
    let Some(claude) = scope.claude else { return Default::default() };
    let is_recent = |session: &SessionFiles| {
        let changed = session.paths().filter_map(|path| path.metadata().ok()?.modified().ok());
        let newest = changed.max().and_then(|time| Timestamp::try_from(time).ok());
        scope.since.is_none_or(|since| newest.is_none_or(|newest| newest >= since))
    };
    let (mut found, left_out) = if scope.all_projects {
        sessions::of_all_projects(claude)
    } else {
        sessions::of_project(claude, scope.root)
    };
    found.retain(|session| scope.session.is_none_or(|wanted| session.id.starts_with(wanted)));
    found.retain(is_recent);
    (found, left_out)
}

/// How many sessions belong to other projects, and the folder of one of them.
pub(crate) fn elsewhere(claude: &Path, root: &Path) -> (u64, Option<PathBuf>) {
    let (mut sessions, _) = sessions::of_all_projects(claude);
    sessions.retain(|session| !session.is_of(root));
    (sessions.len() as u64, sessions.iter().find_map(|session| session.start().cwd))
}

fn of_verdict(verdict: Verdict) -> model::Chain {
    let Verdict { good, problem, warnings, notes, compared } = verdict;
    model::Chain { ok: problem.is_none(), records: good, problem, warnings, notes, end_compared: compared }
}

pub(crate) struct Scope<'a> {
    pub(crate) root: &'a Path,
    /// Where Claude Code keeps its transcripts.
    pub(crate) claude: Option<&'a Path>,
    /// The session, or the start of its id.
    pub(crate) session: Option<&'a str>,
    pub(crate) since: Option<Timestamp>,
    /// The transcripts of all projects. The trail is that of this one.
    pub(crate) all_projects: bool,
    pub(crate) prices: &'a PriceTable,
}

/// Paths of step files that records name.
type StepNames = BTreeSet<String>;

/// More than any project has at once.
const MAX_STEPS: usize = 2_000;

/// The step files that records name, as they are now.
fn read_steps(root: &Path, names: &StepNames) -> Vec<Step> {
    names.iter().take(MAX_STEPS).map(|name| read_step(root, name)).collect()
}

fn read_step(root: &Path, name: &str) -> Step {
    let read = step::locate(root, name).and_then(|path| step::read(&path, name));
    let (step, _) = match read {
        Ok(read) => read,
        Err(finding) => {
            return Step { step: name.to_owned(), problem: Some(finding.what), ..Step::default() };
        }
    };
    let phases = step.phases().unwrap_or_default().into_iter().map(|phase| Phase {
        name: phase.name,
        status: phase.status,
        outcome: phase.outcome,
        blocked_by: phase.blocked_by,
    });
    Step {
        step: name.to_owned(),
        name: step.name(),
        state: step.state(),
        problem: None,
        phases: phases.collect(),
    }
}
