//! Records phases in a step file. Order and transitions are enforced, times come from the clock, and the step's state follows
//! from the phases.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::phases::{DEFERRED, Phase, PhaseStatus, SKIP_REASONS, configured_command};
use super::step::{self, Step};
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_store::audit::words;
use conclaude_store::store;

/// How long another process may hold the lock of a step file.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Why something cannot be recorded, and what to do instead.
#[derive(Debug, Error)]
pub enum RecordError {
    #[error("there is no phase {name}; {hint}")]
    UnknownPhase { name: String, hint: String },
    #[error(
        "this step has no phases (workflow_type is configuration_setup): set its state with `des done` or `des fail`"
    )]
    NoPhases,
    #[error("this step has phases: it is DONE when the last of them is recorded")]
    HasPhases,
    #[error("the phase log is not a list of objects: fix the step file")]
    InvalidLog,
    #[error("{0} has an unknown status: fix the step file")]
    UnknownStatus(String),
    #[error("{name} is {status} already")]
    Finished { name: String, status: &'static str },
    #[error("{0} is IN_PROGRESS already: finish it")]
    InProgress(String),
    #[error("{0} was not started: `conclaude des start` comes first")]
    NotStarted(String),
    #[error("{0} is the last phase, which cannot be skipped")]
    LastPhase(String),
    #[error("the reason must start with one of {0} and say why")]
    SkipReason(String),
    #[error("{earlier} failed: fix it and record it again before {name}")]
    EarlierFailed { earlier: String, name: String },
    #[error("{earlier} comes before {name} and is not finished")]
    EarlierUnfinished { earlier: String, name: String },
    #[error("{other} is IN_PROGRESS: finish it before {name}")]
    OtherInProgress { other: String, name: String },
    #[error("{0}")]
    Folder(io::Error),
    #[error("{}: {reason}", .path.display())]
    File { path: PathBuf, reason: String },
    #[error("{}: another process has held its lock for {} s", .0.display(), LOCK_WAIT.as_secs())]
    Locked(PathBuf),
}

/// A change of one phase.
#[derive(Clone, Copy, Debug)]
pub struct PhaseUpdate<'a> {
    /// The phases of the step, in order.
    pub phases: &'a [String],
    pub name: &'a str,
    pub change: &'a PhaseChange,
    pub now: Timestamp,
}

/// An admission that the step failed.
#[derive(Clone, Copy, Debug)]
pub struct AdmittedFailure<'a> {
    /// The phases of the step, in order.
    pub phases: &'a [String],
    /// It was done in part.
    pub partial: bool,
    pub reason: &'a str,
    pub now: Timestamp,
}

/// The position of a phase in the list.
///
/// # Errors
/// Says which phases there are.
pub fn rank(phases: &[String], name: &str) -> Result<usize, RecordError> {
    phases.iter().position(|known| known == name).ok_or_else(|| {
        let near = conclaude_core::text::nearest(name, phases.iter().map(String::as_str));
        let hint = near.map_or_else(
            || format!("the phases are {}", phases.join(", ")),
            |near| format!("did you mean {near}?"),
        );
        RecordError::UnknownPhase { name: name.to_owned(), hint }
    })
}

/// Records a change of a phase in the step.
///
/// # Errors
/// Says why the phase cannot change so, and what to do.
pub fn record(step: &mut Step, update: &PhaseUpdate<'_>) -> Result<(), RecordError> {
    let PhaseUpdate { phases, name, change, now } = *update;
    let now = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    let rank = rank(phases, name)?;
    if !step.has_phases() {
        return Err(RecordError::NoPhases);
    }
    let log = step.phases().unwrap_or_default();
    let phase = log.iter().find(|phase| phase.name == name).cloned().unwrap_or_default();
    Transition { log: &log, phases, rank, phase: &phase, name, change }.check()?;
    let started = phase.started_at.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
    let entry = step.phase_mut(name, phases).ok_or(RecordError::InvalidLog)?;
    write_entry(entry, change, now, started);
    let state = step.state();
    if state != words::IN_PROGRESS {
        step.set_state("status", words::IN_PROGRESS.into());
        if state == words::TODO {
            step.set_state("started_at", now.to_string().into());
        }
    }
    let log = step.phases().unwrap_or_default();
    let done = |known: &String| log.iter().any(|phase| phase.name == *known && is_good(phase));
    if phases.iter().all(done) {
        step.set_state("status", words::DONE.into());
        step.set_state("completed_at", now.to_string().into());
    }
    Ok(())
}

/// Whether the entry was already finished. A correction keeps the times of the work.
fn was_finished(entry: &Map<String, Value>) -> bool {
    entry
        .get("status")
        .and_then(Value::as_str)
        .and_then(PhaseStatus::named)
        .is_some_and(|status| matches!(status, PhaseStatus::Executed | PhaseStatus::Skipped))
}

fn write_entry(
    entry: &mut Map<String, Value>,
    change: &PhaseChange,
    now: Timestamp,
    started: Option<Timestamp>,
) {
    let is_fix = was_finished(entry);
    let mut set = |name: &str, value: Value| {
        entry.insert(name.to_owned(), value);
    };
    match change {
        PhaseChange::Start => {
            set("status", PhaseStatus::InProgress.as_str().into());
            set("started_at", now.to_string().into());
            for stale in ["outcome", "ended_at", "duration_seconds"] {
                set(stale, Value::Null);
            }
        }
        PhaseChange::Finish { pass, details, turns, evidence } => {
            set("status", PhaseStatus::Executed.as_str().into());
            set("outcome", if *pass { words::PASS } else { words::FAIL }.into());
            let times = if is_fix { Vec::new() } else { end_times(now, started) };
            let given = [
                ("outcome_details", details.clone().map(Value::from)),
                ("turn_count", turns.map(Value::from)),
                ("evidence", evidence.clone()),
            ];
            times.into_iter().for_each(|(name, value)| set(name, value));
            let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
            given.for_each(|(name, value)| set(name, value));
        }
        // The times stay those of the work itself.
        PhaseChange::Prove { pass, details, evidence, .. } => {
            set("outcome", if *pass { words::PASS } else { words::FAIL }.into());
            set("outcome_details", details.clone().into());
            set("evidence", evidence.clone());
        }
        PhaseChange::Skip { reason } => {
            set("status", PhaseStatus::Skipped.as_str().into());
            set("blocked_by", reason.trim().into());
            if !is_fix {
                set("ended_at", now.to_string().into());
            }
        }
    }
}

/// When a phase ended, and how long it took.
fn end_times(now: Timestamp, started: Option<Timestamp>) -> Vec<(&'static str, Value)> {
    let mut times = vec![("ended_at", now.to_string().into())];
    if let Some(started) = started {
        let seconds = now.duration_since(started).as_secs_f64().max(0.0);
        times.push(("duration_seconds", json!((seconds * 1000.0).round() / 1000.0)));
    }
    times
}

/// Records that the step failed, or was partly done. Phases in progress have failed, too.
pub fn admit_failure(step: &mut Step, failure: &AdmittedFailure<'_>) {
    let AdmittedFailure { phases, partial, reason, now } = *failure;
    let open = step
        .phases()
        .unwrap_or_default()
        .into_iter()
        .filter(|phase| phase.status() == Some(PhaseStatus::InProgress));
    for phase in open.collect::<Vec<_>>() {
        let started = phase.started_at.as_deref().and_then(|time| time.parse().ok());
        let change = PhaseChange::Finish {
            pass: false,
            details: Some(reason.to_owned()),
            turns: None,
            evidence: None,
        };
        if let Some(entry) = step.phase_mut(&phase.name, phases) {
            write_entry(entry, &change, now, started);
        }
    }
    step.set_state("status", if partial { words::PARTIAL } else { words::FAILED }.into());
    step.set_state("failure_reason", reason.into());
}

/// Sets a step without phases to DONE.
///
/// # Errors
/// If it has phases, which decide the state.
pub fn complete(step: &mut Step, now: Timestamp) -> Result<(), RecordError> {
    if step.has_phases() {
        return Err(RecordError::HasPhases);
    }
    step.set_state("status", words::DONE.into());
    step.set_state("completed_at", now.to_string().into());
    Ok(())
}

/// Changes a step file under a lock, so that parallel agents lose no update. The lock is kept with our own state.
///
/// # Errors
/// When the change is refused, or the file cannot be read, locked or written.
pub fn change<T>(
    root: &Path,
    path: &Path,
    change: impl FnOnce(&mut Step) -> Result<T, RecordError>,
) -> Result<T, RecordError> {
    let folder = root.join(store::FOLDER).join("state/steps");
    store::make_folder(root, &folder).map_err(RecordError::Folder)?;
    let lock = folder.join(format!("{}.lock", store::hash(&path.to_string_lossy())));
    let file_error =
        |error: io::Error| RecordError::File { path: path.to_owned(), reason: error.to_string() };
    let budget = Budget::unlimited();
    let lock = files::lock(&lock, budget.at_least(LOCK_WAIT), &budget).map_err(file_error)?;
    let _lock = lock.ok_or_else(|| RecordError::Locked(path.to_owned()))?;
    let text = files::read_text(path, step::MAX_BYTES).map_err(file_error)?;
    let mut step = Step::parse(&text)
        .map_err(|error| RecordError::File { path: path.to_owned(), reason: error.to_string() })?;
    let done = change(&mut step)?;
    step::write(path, &step, &text).map_err(file_error)?;
    Ok(done)
}

/// What a new step says.
#[derive(Clone, Copy, Debug)]
pub struct NewStep<'a> {
    pub task_id: &'a str,
    pub project_id: &'a str,
    pub name: Option<&'a str>,
    /// The files that it may change.
    pub allow: &'a [String],
    /// Its acceptance criteria.
    pub criteria: &'a [String],
    pub phases: &'a [String],
}

/// A new step with nothing done.
#[must_use]
pub fn new_step(new: &NewStep<'_>) -> Step {
    let log: Vec<Value> = new
        .phases
        .iter()
        .enumerate()
        .map(|(index, name)| {
            json!({
                "phase_name": name, "phase_index": index, "status": PhaseStatus::NotExecuted.as_str(), "outcome": null,
                "outcome_details": null, "blocked_by": null, "started_at": null, "ended_at": null,
                "duration_seconds": null, "turn_count": null,
            })
        })
        .collect();
    let json = json!({
        "schema_version": "1.0",
        "task_id": new.task_id,
        "project_id": new.project_id,
        "name": new.name,
        "workflow_type": "tdd_cycle",
        "state": { "status": words::TODO, "started_at": null, "completed_at": null, "failure_reason": null },
        "task_specification": { "allowed_file_patterns": new.allow, "acceptance_criteria": new.criteria },
        "safety": { "affects_production": false, "is_destructive": false, "rollback_plan": null },
        "tdd_cycle": { "max_turns": null, "duration_minutes": null, "total_extensions_minutes": 0, "phase_execution_log": log },
    });
    match json {
        Value::Object(map) => Step::from_json(map),
        _ => Step::from_json(Map::new()),
    }
}

/// A recorded change of a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum PhaseChange {
    Start,
    Finish {
        pass: bool,
        details: Option<String>,
        turns: Option<i64>,
        /// What was run for it.
        evidence: Option<Value>,
    },
    /// It was already executed, and is now proved.
    Prove {
        pass: bool,
        details: String,
        /// What was run for it.
        evidence: Value,
        /// The record of the earlier proof is lost.
        again: bool,
    },
    Skip {
        /// Starts with a valid prefix.
        reason: String,
    },
}

/// A phase with a planned change.
struct Transition<'a> {
    log: &'a [Phase],
    phases: &'a [String],
    /// The position of the phase in the list.
    rank: usize,
    name: &'a str,
    phase: &'a Phase,
    change: &'a PhaseChange,
}

impl Transition<'_> {
    /// The error says what to do instead.
    fn check(&self) -> Result<(), RecordError> {
        if self.is_repair()? {
            return Ok(());
        }
        if let PhaseChange::Skip { reason } = self.change {
            self.check_skip(reason)?;
        }
        if matches!(self.change, PhaseChange::Finish { .. }) {
            return Ok(());
        }
        self.check_earlier()
    }

    /// Whether the change adds missing evidence or a missing outcome to an executed phase. Then the other phases do not matter.
    /// An error if its status does not allow the change.
    fn is_repair(&self) -> Result<bool, RecordError> {
        let Transition { name, phase, change, .. } = self;
        let status = phase.status().ok_or_else(|| RecordError::UnknownStatus((*name).to_owned()))?;
        match (change, status) {
            (PhaseChange::Prove { evidence, .. }, _)
                if can_be_proved(phase, configured_command(evidence)) =>
            {
                Ok(true)
            }
            (PhaseChange::Prove { again: true, .. }, PhaseStatus::Executed) => Ok(true),
            // A phase without a verdict can be finished again.
            (PhaseChange::Finish { .. }, PhaseStatus::Executed) if !is_good(phase) && !has_failed(phase) => {
                Ok(true)
            }
            (_, PhaseStatus::Executed) if is_good(phase) => {
                Err(RecordError::Finished { name: (*name).to_owned(), status: "EXECUTED" })
            }
            (_, PhaseStatus::Skipped) if is_good(phase) => {
                Err(RecordError::Finished { name: (*name).to_owned(), status: "SKIPPED" })
            }
            (PhaseChange::Start, PhaseStatus::InProgress) => Err(RecordError::InProgress((*name).to_owned())),
            (PhaseChange::Finish { .. } | PhaseChange::Prove { .. }, status)
                if status != PhaseStatus::InProgress =>
            {
                Err(RecordError::NotStarted((*name).to_owned()))
            }
            _ => Ok(false),
        }
    }

    fn check_skip(&self, reason: &str) -> Result<(), RecordError> {
        if self.rank + 1 == self.phases.len() {
            return Err(RecordError::LastPhase(self.name.to_owned()));
        }
        if !is_reason(reason) {
            let list: Vec<&str> = SKIP_REASONS.iter().chain([&DEFERRED]).copied().collect();
            return Err(RecordError::SkipReason(list.join(", ")));
        }
        Ok(())
    }

    /// All phases before this one are finished, and no other is in progress.
    fn check_earlier(&self) -> Result<(), RecordError> {
        let name = self.name.to_owned();
        for earlier in self.phases.iter().take(self.rank) {
            match self.log.iter().find(|phase| phase.name == *earlier) {
                Some(phase) if is_good(phase) => {}
                Some(phase) if has_failed(phase) => {
                    return Err(RecordError::EarlierFailed { earlier: earlier.clone(), name });
                }
                _ => return Err(RecordError::EarlierUnfinished { earlier: earlier.clone(), name }),
            }
        }
        let open = self
            .log
            .iter()
            .find(|phase| phase.name != name && phase.status() == Some(PhaseStatus::InProgress));
        match open {
            Some(other) => Err(RecordError::OtherInProgress { other: other.name.clone(), name }),
            None => Ok(()),
        }
    }
}

fn has_failed(phase: &Phase) -> bool {
    phase.status() == Some(PhaseStatus::Executed) && phase.verdict().as_deref() == Some("FAIL")
}

/// Whether a phase is finished in a way that the gate accepts.
fn is_good(phase: &Phase) -> bool {
    match phase.status() {
        Some(PhaseStatus::Skipped) => phase.blocked_by.as_deref().is_some_and(is_reason),
        Some(PhaseStatus::Executed) => phase.verdict().as_deref() == Some("PASS"),
        _ => false,
    }
}

fn is_reason(reason: &str) -> bool {
    let counts =
        |prefix: &&str| reason.trim_start().strip_prefix(*prefix).is_some_and(|rest| !rest.trim().is_empty());
    SKIP_REASONS.iter().chain([&DEFERRED]).any(counts)
}

/// Whether a phase can be proved later: it was executed, and it has no evidence, or only that of a command that does not count.
#[must_use]
pub fn can_be_proved(phase: &Phase, counts: Option<&str>) -> bool {
    let by_another = counts.is_some() && phase.proved_by.as_deref() != counts;
    phase.status() == Some(PhaseStatus::Executed)
        && (!phase.has_evidence || by_another || !is_good(phase))
        && !has_failed(phase)
}
