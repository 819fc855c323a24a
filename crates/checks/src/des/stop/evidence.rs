//! The step file alone is the agent's to edit; what was really run is in the audit trail.

use std::io;

use serde_json::Value;

use super::StopRequest;
use crate::des::call::GatedCall;
use crate::des::gates::OpenStep;
use crate::des::step::{Phase, PhaseStatus, configured_command};
use conclaude_core::finding::{Code, Finding};
use conclaude_core::text::clean_line;
use conclaude_os::log;
use conclaude_store::audit::Trail;
use shell_effects::quoted_if_needed;

/// The phases that need the record of a real run and have none, or one that says something else.
pub(super) fn missing(stopping: &StopRequest<'_>, opened: &OpenStep) -> Vec<Finding> {
    let wanted = stopping.des.evidence();
    if wanted.is_empty() {
        return Vec::new();
    }
    let runs = RunRecords::new(Trail::of(stopping.root, None), stopping.origin.call.as_ref());
    let log = opened.step.phases().unwrap_or_default();
    let now = stopping.config_now.map(|config| &config.des);
    let missing = log.iter().filter_map(|phase| {
        wanted.iter().find(|wanted| **wanted == phase.name)?;
        let command = stopping.des.evidence_command(&phase.name);
        let what = problem(phase, command, || runs.last(&opened.name, &phase.name))?;
        let run = format!("conclaude des run {} {}", quoted_if_needed(&opened.name), phase.name);
        let fix = match command {
            None => format!("run it: {run} -- COMMAND"),
            Some(command) if now.is_none_or(|now| now.evidence_command(&phase.name) == Some(command)) => {
                format!("run it: {run}")
            }
            // What the config says now is not what counts.
            Some(command) => format!(
                "restore `{}: {}` in des.evidence, then run it: {run}",
                phase.name,
                clean_line(command)
            ),
        };
        Some(Finding::new(Code::EvidenceMissing, what, fix).in_phase(&phase.name))
    });
    missing.collect()
}

fn problem(
    phase: &Phase,
    command: Option<&str>,
    last: impl FnOnce() -> io::Result<Option<RunRecord>>,
) -> Option<String> {
    let reason = phase.blocked_by.as_deref().unwrap_or_default().trim_start();
    match phase.status() {
        Some(PhaseStatus::Skipped) if reason.starts_with("APPROVED_SKIP:") => return None,
        Some(PhaseStatus::Skipped) => {
            return Some("it was skipped, though it needs the record of a real run".to_owned());
        }
        Some(PhaseStatus::Executed) => {}
        _ => return None,
    }
    let run = match last() {
        Ok(Some(run)) => run,
        Ok(None) => return Some("there is no record of a real run".to_owned()),
        Err(error) => return Some(format!("there is no record of a real run: {error}")),
    };
    if let Some(command) = command.filter(|command| run.configured.as_deref() != Some(*command)) {
        let typed = if run.configured.is_none() { " as the agent typed it" } else { "" };
        return Some(format!(
            "only the config's command `{}` counts (des.evidence); the last run was `{}`{typed}",
            clean_line(command),
            clean_line(&run.command)
        ));
    }
    let verdict = phase.verdict().unwrap_or_default();
    (verdict != run.decision)
        .then(|| format!("the step file says {verdict}, the record of the run {}", run.decision))
}

/// A record of `des run`.
struct RunRecord {
    decision: String,
    command: String,
    /// The command, if it was the config's and not what the agent typed.
    configured: Option<String>,
}

impl RunRecord {
    fn read(record: &Value) -> Option<RunRecord> {
        let evidence = record.get("evidence").unwrap_or(&Value::Null);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(RunRecord {
            decision: record.get("decision")?.as_str()?.to_owned(),
            command: text(evidence.get("command")),
            configured: configured_command(evidence).map(str::to_owned),
        })
    }
}

struct RunRecords<'a> {
    trail: Trail,
    call: Option<&'a GatedCall>,
}

impl<'a> RunRecords<'a> {
    fn new(trail: Trail, call: Option<&'a GatedCall>) -> RunRecords<'a> {
        if let Err(error) = trail.write_pending() {
            log::warn(|| format!("queued records cannot be written to the audit trail: {error}"));
        }
        RunRecords { trail, call }
    }

    fn last(&self, step: &str, phase: &str) -> io::Result<Option<RunRecord>> {
        let Some(record) = self.trail.last_run(step, phase)? else { return Ok(None) };
        // A run from before the call proves nothing about this work, unless the phase was finished by then.
        let call = self.call.filter(|call| !call.finished.iter().any(|name| name == phase));
        Ok(RunRecord::read(&record).filter(|_| call.is_none_or(|call| is_after(&record, call))))
    }
}

/// Whether a record was written after the call: by its number, since a clock may go back.
fn is_after(record: &Value, call: &GatedCall) -> bool {
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    match (call.last_record, record.get("seq").and_then(Value::as_u64)) {
        (Some(last), seq) => seq.is_some_and(|seq| seq > last),
        // A call that an older version remembered.
        (None, _) => time(&call.time)
            .is_none_or(|since| record.get("time").and_then(Value::as_str).and_then(time) >= Some(since)),
    }
}
