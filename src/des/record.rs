//! Recording a phase honestly: order and transitions are enforced, times come from the clock, the step's state follows.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::phases::{DEFERRED, SKIP_REASONS};
use super::step::{self, Phase, Status, Step};
use crate::store;

/// What is recorded of a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It begins.
    Start,
    /// It ends.
    Finish {
        /// How it went.
        pass: bool,
        /// What there is to say about it.
        details: Option<String>,
        /// How many turns it took.
        turns: Option<i64>,
        /// What was run for it.
        evidence: Option<Value>,
    },
    /// It was executed already, and is now proved.
    Prove {
        /// How it went.
        pass: bool,
        /// What there is to say about it.
        details: String,
        /// What was run for it.
        evidence: Value,
    },
    /// It is left out.
    Skip {
        /// Why: one of the reasons that count.
        reason: String,
    },
}

/// Records a change of a phase in the step.
///
/// # Errors
/// Says why the phase cannot change so, and what to do.
pub fn record(
    step: &mut Step,
    phases: &[String],
    name: &str,
    change: &Change,
    now: Timestamp,
) -> Result<(), String> {
    let now = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    let rank = phases.iter().position(|known| known == name).ok_or_else(|| {
        let near = crate::text::nearest(name, phases.iter().map(String::as_str));
        let hint = near.map_or_else(
            || format!("the phases are {}", phases.join(", ")),
            |near| format!("did you mean {near}?"),
        );
        format!("there is no phase {name}; {hint}")
    })?;
    if !step.has_phases() {
        return Err("this step has no phases (workflow_type is configuration_setup): set its state with `des done` or `des fail`".into());
    }
    let log = step.phases().unwrap_or_default();
    let phase = log.iter().find(|phase| phase.name == name).cloned().unwrap_or_default();
    allowed(&log, phases, rank, name, &phase, change)?;
    let started = phase.started_at.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
    let entry =
        step.phase_mut(name, phases).ok_or("the phase log is not a list of objects: mend the step file")?;
    write_entry(entry, change, now, started);
    let state = step.state();
    if state != "IN_PROGRESS" {
        step.set_state("status", "IN_PROGRESS".into());
        if state == "TODO" {
            step.set_state("started_at", now.to_string().into());
        }
    }
    let log = step.phases().unwrap_or_default();
    let done = |known: &String| log.iter().any(|phase| phase.name == *known && is_good(phase));
    if phases.iter().all(done) {
        step.set_state("status", "DONE".into());
        step.set_state("completed_at", now.to_string().into());
    }
    Ok(())
}

fn has_failed(phase: &Phase) -> bool {
    phase.status() == Some(Status::Executed) && phase.verdict().as_deref() == Some("FAIL")
}

/// Whether a phase is finished in a way that the gate accepts.
fn is_good(phase: &Phase) -> bool {
    match phase.status() {
        Some(Status::Skipped) => phase.blocked_by.as_deref().is_some_and(is_reason),
        Some(Status::Executed) => phase.verdict().as_deref() == Some("PASS"),
        _ => false,
    }
}

fn is_reason(reason: &str) -> bool {
    let counts =
        |prefix: &&str| reason.trim_start().strip_prefix(*prefix).is_some_and(|rest| !rest.trim().is_empty());
    SKIP_REASONS.iter().chain([&DEFERRED]).any(counts)
}

/// Whether a phase can be proved after the fact: it was executed, and nothing shows that it really was.
#[must_use]
pub fn can_be_proved(phase: &Phase) -> bool {
    phase.status() == Some(Status::Executed) && (!phase.has_evidence || !is_good(phase)) && !has_failed(phase)
}

fn allowed(
    log: &[Phase],
    phases: &[String],
    rank: usize,
    name: &str,
    phase: &Phase,
    change: &Change,
) -> Result<(), String> {
    let status = phase.status().ok_or_else(|| format!("{name} has an unknown status: mend the step file"))?;
    match (change, status) {
        (Change::Prove { .. }, _) if can_be_proved(phase) => return Ok(()),
        // A phase that says not how it went can be finished again, whoever wrote it.
        (Change::Finish { .. }, Status::Executed) if !is_good(phase) && !has_failed(phase) => return Ok(()),
        (_, Status::Executed) if is_good(phase) => return Err(format!("{name} is EXECUTED already")),
        (_, Status::Skipped) if is_good(phase) => return Err(format!("{name} is SKIPPED already")),
        (Change::Start, Status::InProgress) => {
            return Err(format!("{name} is IN_PROGRESS already: finish it"));
        }
        (
            Change::Finish { .. } | Change::Prove { .. },
            Status::NotExecuted | Status::Executed | Status::Skipped,
        ) => {
            return Err(format!("{name} was not started: `conclaude des start` comes first"));
        }
        _ => {}
    }
    if let Change::Skip { reason } = change {
        if rank + 1 == phases.len() {
            return Err(format!("{name} is the last phase, which cannot be skipped"));
        }
        if !is_reason(reason) {
            let list: Vec<&str> = SKIP_REASONS.iter().chain([&DEFERRED]).copied().collect();
            return Err(format!("the reason must begin with one of {} and say why", list.join(", ")));
        }
    }
    if matches!(change, Change::Finish { .. }) {
        return Ok(());
    }
    let find = |known: &String| log.iter().find(|phase| phase.name == *known);
    for earlier in phases.iter().take(rank) {
        match find(earlier) {
            Some(phase) if is_good(phase) => {}
            Some(phase) if has_failed(phase) => {
                return Err(format!("{earlier} failed: mend it and record it again before {name}"));
            }
            _ => return Err(format!("{earlier} comes before {name} and is not finished")),
        }
    }
    match log.iter().find(|phase| phase.name != name && phase.status() == Some(Status::InProgress)) {
        Some(other) => Err(format!("{} is IN_PROGRESS: finish it before {name}", other.name)),
        None => Ok(()),
    }
}

/// Whether the entry was finished before: what is mended then keeps the times of the work.
fn was_finished(entry: &Map<String, Value>) -> bool {
    entry
        .get("status")
        .and_then(Value::as_str)
        .is_some_and(|status| matches!(status.trim(), "EXECUTED" | "SKIPPED"))
}

fn write_entry(entry: &mut Map<String, Value>, change: &Change, now: Timestamp, started: Option<Timestamp>) {
    let mended = was_finished(entry);
    let mut set = |name: &str, value: Value| {
        entry.insert(name.to_owned(), value);
    };
    match change {
        Change::Start => {
            set("status", "IN_PROGRESS".into());
            set("started_at", now.to_string().into());
            for stale in ["outcome", "ended_at", "duration_seconds"] {
                set(stale, Value::Null);
            }
        }
        Change::Finish { pass, details, turns, evidence } => {
            set("status", "EXECUTED".into());
            set("outcome", if *pass { "PASS" } else { "FAIL" }.into());
            if !mended {
                set("ended_at", now.to_string().into());
            }
            if let Some(started) = started.filter(|_| !mended) {
                let seconds = now.duration_since(started).as_secs_f64().max(0.0);
                set("duration_seconds", json!((seconds * 1000.0).round() / 1000.0));
            }
            if let Some(details) = details {
                set("outcome_details", details.clone().into());
            }
            if let Some(turns) = turns {
                set("turn_count", (*turns).into());
            }
            if let Some(evidence) = evidence {
                set("evidence", evidence.clone());
            }
        }
        // The times stay those of the work itself.
        Change::Prove { pass, details, evidence } => {
            set("outcome", if *pass { "PASS" } else { "FAIL" }.into());
            set("outcome_details", details.clone().into());
            set("evidence", evidence.clone());
        }
        Change::Skip { reason } => {
            set("status", "SKIPPED".into());
            set("blocked_by", reason.trim().into());
            if !mended {
                set("ended_at", now.to_string().into());
            }
        }
    }
}

/// Admits that the step failed, or was done in part. A phase that was begun has failed with it.
pub fn admit_failure(step: &mut Step, phases: &[String], partial: bool, reason: &str, now: Timestamp) {
    let open = step
        .phases()
        .unwrap_or_default()
        .into_iter()
        .filter(|phase| phase.status() == Some(Status::InProgress));
    for phase in open.collect::<Vec<_>>() {
        let started = phase.started_at.as_deref().and_then(|time| time.parse().ok());
        let change =
            Change::Finish { pass: false, details: Some(reason.to_owned()), turns: None, evidence: None };
        if let Some(entry) = step.phase_mut(&phase.name, phases) {
            write_entry(entry, &change, now, started);
        }
    }
    step.set_state("status", if partial { "PARTIAL" } else { "FAILED" }.into());
    step.set_state("failure_reason", reason.into());
}

/// Sets a step without phases to DONE.
///
/// # Errors
/// When it has phases, which decide by themselves.
pub fn complete(step: &mut Step, now: Timestamp) -> Result<(), String> {
    if step.has_phases() {
        return Err("this step has phases: it is DONE when the last of them is recorded".into());
    }
    step.set_state("status", "DONE".into());
    step.set_state("completed_at", now.to_string().into());
    Ok(())
}

/// Changes a step file under its lock, which lies with our own state.
///
/// # Errors
/// When the change refuses, or the file cannot be read or written.
pub fn change<T>(
    root: &Path,
    path: &Path,
    change: impl FnOnce(&mut Step) -> Result<T, String>,
) -> Result<T, String> {
    let folder = root.join(store::FOLDER).join("state/steps");
    store::make_folder(root, &folder).map_err(|error| error.to_string())?;
    let lock: PathBuf = folder.join(format!("{}.lock", store::hash(&path.to_string_lossy())));
    step::update(path, &lock, change)
}

/// A new step file.
#[must_use]
pub fn new_step(
    task_id: &str,
    project_id: &str,
    name: Option<&str>,
    allow: &[String],
    phases: &[String],
) -> Step {
    let log: Vec<Value> = phases
        .iter()
        .enumerate()
        .map(|(index, name)| {
            json!({
                "phase_name": name, "phase_index": index, "status": "NOT_EXECUTED", "outcome": null,
                "outcome_details": null, "blocked_by": null, "started_at": null, "ended_at": null,
                "duration_seconds": null, "turn_count": null,
            })
        })
        .collect();
    let json = json!({
        "schema_version": "1.0",
        "task_id": task_id,
        "project_id": project_id,
        "name": name,
        "workflow_type": "tdd_cycle",
        "state": { "status": "TODO", "started_at": null, "completed_at": null, "failure_reason": null },
        "task_specification": { "allowed_file_patterns": allow, "acceptance_criteria": [] },
        "safety": { "affects_production": false, "is_destructive": false, "rollback_plan": null },
        "tdd_cycle": { "max_turns": null, "duration_minutes": null, "total_extensions_minutes": 0, "phase_execution_log": log },
    });
    match json {
        Value::Object(map) => Step::from_json(map),
        _ => Step::from_json(Map::new()),
    }
}
