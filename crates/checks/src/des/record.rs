//! Recording a phase honestly: order and transitions are enforced, times come from the clock, the step's state follows.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::step::{self, PhaseStatus, Step};
use conclaude_store::store;

mod transition;

pub use transition::PhaseChange;
pub use transition::can_be_proved;
use transition::{Transition, is_good};

/// The position of a phase in the list.
///
/// # Errors
/// Says which phases there are.
pub fn rank(phases: &[String], name: &str) -> Result<usize, String> {
    phases.iter().position(|known| known == name).ok_or_else(|| {
        let near = conclaude_core::text::nearest(name, phases.iter().map(String::as_str));
        let hint = near.map_or_else(
            || format!("the phases are {}", phases.join(", ")),
            |near| format!("did you mean {near}?"),
        );
        format!("there is no phase {name}; {hint}")
    })
}

/// Records a change of a phase in the step.
///
/// # Errors
/// Says why the phase cannot change so, and what to do.
pub fn record(
    step: &mut Step,
    phases: &[String],
    name: &str,
    change: &PhaseChange,
    now: Timestamp,
) -> Result<(), String> {
    let now = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    let rank = rank(phases, name)?;
    if !step.has_phases() {
        return Err("this step has no phases (workflow_type is configuration_setup): set its state with `des done` or `des fail`".into());
    }
    let log = step.phases().unwrap_or_default();
    let phase = log.iter().find(|phase| phase.name == name).cloned().unwrap_or_default();
    Transition { log: &log, phases, rank, phase: &phase, name, change }.check()?;
    let started = phase.started_at.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
    let entry =
        step.phase_mut(name, phases).ok_or("the phase log is not a list of objects: fix the step file")?;
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

/// Whether the entry was finished before: what is fixed then keeps the times of the work.
fn was_finished(entry: &Map<String, Value>) -> bool {
    entry
        .get("status")
        .and_then(Value::as_str)
        .is_some_and(|status| matches!(status.trim(), "EXECUTED" | "SKIPPED"))
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
            set("status", "IN_PROGRESS".into());
            set("started_at", now.to_string().into());
            for stale in ["outcome", "ended_at", "duration_seconds"] {
                set(stale, Value::Null);
            }
        }
        PhaseChange::Finish { pass, details, turns, evidence } => {
            set("status", "EXECUTED".into());
            set("outcome", if *pass { "PASS" } else { "FAIL" }.into());
            if !is_fix {
                set("ended_at", now.to_string().into());
            }
            if let Some(started) = started.filter(|_| !is_fix) {
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
        PhaseChange::Prove { pass, details, evidence, .. } => {
            set("outcome", if *pass { "PASS" } else { "FAIL" }.into());
            set("outcome_details", details.clone().into());
            set("evidence", evidence.clone());
        }
        PhaseChange::Skip { reason } => {
            set("status", "SKIPPED".into());
            set("blocked_by", reason.trim().into());
            if !is_fix {
                set("ended_at", now.to_string().into());
            }
        }
    }
}

/// Admits that the step failed, or was done in part. A phase that was started has failed with it.
pub fn admit_failure(step: &mut Step, phases: &[String], partial: bool, reason: &str, now: Timestamp) {
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

/// Changes a step file under its lock, which is kept with our own state.
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

/// What a new step says.
#[derive(Clone, Copy, Debug)]
pub struct NewStep<'a> {
    pub task_id: &'a str,
    pub project_id: &'a str,
    pub name: Option<&'a str>,
    /// The files that it may change.
    pub allow: &'a [String],
    /// What it is accepted by.
    pub criteria: &'a [String],
    pub phases: &'a [String],
}

/// A step that is still to be done.
#[must_use]
pub fn new_step(new: &NewStep<'_>) -> Step {
    let log: Vec<Value> = new
        .phases
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
        "task_id": new.task_id,
        "project_id": new.project_id,
        "name": new.name,
        "workflow_type": "tdd_cycle",
        "state": { "status": "TODO", "started_at": null, "completed_at": null, "failure_reason": null },
        "task_specification": { "allowed_file_patterns": new.allow, "acceptance_criteria": new.criteria },
        "safety": { "affects_production": false, "is_destructive": false, "rollback_plan": null },
        "tdd_cycle": { "max_turns": null, "duration_minutes": null, "total_extensions_minutes": 0, "phase_execution_log": log },
    });
    match json {
        Value::Object(map) => Step::from_json(map),
        _ => Step::from_json(Map::new()),
    }
}
