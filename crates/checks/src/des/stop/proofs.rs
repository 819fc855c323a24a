//! The proofs of phases: records of `des run` in the audit trail, which an agent cannot edit.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;
use shell_effects::quoted_if_needed;

use super::{StopRequest, scope};
use crate::des::call::GatedCall;
use crate::des::gates::OpenStep;
use crate::des::phases::expects_failure;
use crate::des::step::{Phase, PhaseStatus, configured_command, is_expected_to_fail};
use conclaude_core::finding::{Code, Finding};
use conclaude_core::text::clean_line;
use conclaude_os::files;
use conclaude_os::log;
use conclaude_store::audit::Trail;

/// The phases that need the record of a real run and have none, or one with another verdict. The agent can edit the step file,
/// but not the audit trail.
pub(super) fn missing(stopping: &StopRequest<'_>, opened: &OpenStep) -> Vec<Finding> {
    let wanted = stopping.des.evidence();
    if wanted.is_empty() {
        return Vec::new();
    }
    let runs = RunRecords::new(stopping);
    let log = opened.step.phases().unwrap_or_default();
    let now = stopping.config_now.map(|config| &config.des);
    let missing = log.iter().filter_map(|phase| {
        wanted.iter().find(|wanted| **wanted == phase.name)?;
        let command = stopping.des.evidence_command(&phase.name);
        let what = evidence_problem(phase, command, || runs.last(&opened.name, &phase.name))?;
        let run = format!("conclaude des run {} {}", quoted_if_needed(&opened.name), phase.name);
        let fix = match command {
            None => format!("run it: {run} -- COMMAND"),
            Some(command) if now.is_none_or(|now| now.evidence_command(&phase.name) == Some(command)) => {
                format!("run it: {run}")
            }
            // The config has another command now. The one at the call counts.
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

fn evidence_problem(
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
    if run.expects_failure && !expects_failure(&phase.name) {
        return Some(format!(
            "the last run, `{}`, was expected to fail, which proves nothing outside of RED phases",
            clean_line(&run.command)
        ));
    }
    let verdict = phase.verdict().unwrap_or_default();
    if verdict == run.decision {
        return None;
    }
    Some(format!("the step file says {verdict}, the record of the run {}", run.decision))
}

/// A record of `des run`.
struct RunRecord {
    decision: String,
    command: String,
    /// The command, if it came from the config and not from the agent.
    configured: Option<String>,
    expects_failure: bool,
    ended: Option<Timestamp>,
}

impl RunRecord {
    fn read(record: &Value) -> Option<RunRecord> {
        let evidence = record.get("evidence").unwrap_or(&Value::Null);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(RunRecord {
            decision: record.get("decision")?.as_str()?.to_owned(),
            command: text(evidence.get("command")),
            configured: configured_command(evidence).map(str::to_owned),
            expects_failure: is_expected_to_fail(evidence),
            ended: evidence.get("ended_at").and_then(Value::as_str).and_then(|time| time.parse().ok()),
        })
    }
}

struct RunRecords<'a> {
    trail: Trail,
    call: Option<&'a GatedCall>,
    /// The agent's worktree, relative to the root.
    worktree: Option<&'a Path>,
}

impl<'a> RunRecords<'a> {
    fn new(stopping: &'a StopRequest<'_>) -> RunRecords<'a> {
        let trail = Trail::of(stopping.root, None);
        if let Err(error) = trail.write_pending() {
            log::warn(|| format!("queued records cannot be written to the audit trail: {error}"));
        }
        RunRecords { trail, call: stopping.call(), worktree: worktree_of(&stopping.tree.path, stopping.root) }
    }

    fn last(&self, step: &str, phase: &str) -> io::Result<Option<RunRecord>> {
        let Some(record) = self.trail.last_run(step, phase)? else { return Ok(None) };
        // A run from before the call proves nothing about this work, unless the phase was finished by then.
        let call = self.call.filter(|call| !call.finished.iter().any(|name| name == phase));
        if call.is_some_and(|call| !is_after(&record, call)) || !self.is_of_this_tree(&record) {
            return Ok(None);
        }
        Ok(RunRecord::read(&record))
    }

    /// A run in another work tree proves nothing about this one.
    fn is_of_this_tree(&self, record: &Value) -> bool {
        let worktree =
            record.get("evidence").and_then(|evidence| evidence.get(WORKTREE)).and_then(Value::as_str);
        worktree.map(Path::new) == self.worktree
    }
}

/// The field of a record of `des run` that names the worktree.
pub const WORKTREE: &str = "worktree";

/// The worktree of an agent as a path from the root. `None` at the root itself.
#[must_use]
pub fn worktree_of<'a>(work: &'a Path, root: &Path) -> Option<&'a Path> {
    work.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty())
}

/// Whether a record was written after the call: by its number, because a clock may go back.
fn is_after(record: &Value, call: &GatedCall) -> bool {
    let time = |text: &str| text.parse::<Timestamp>().ok();
    match (call.last_record, record.get("seq").and_then(Value::as_u64)) {
        (Some(last), seq) => seq.is_some_and(|seq| seq > last),
        // A call in state of an older version.
        (None, _) => time(&call.time)
            .is_none_or(|since| record.get("time").and_then(Value::as_str).and_then(time) >= Some(since)),
    }
}

/// The newest proof, if it is older than the last change of a file in the step's scope. Proofs of a failure come before the
/// change that follows them, so they do not count.
pub(super) fn stale(stopping: &StopRequest<'_>, opened: &OpenStep) -> Option<Finding> {
    let wanted = stopping.des.evidence();
    let phases = opened.step.phases().unwrap_or_default();
    let wanted =
        phases.iter().filter(|phase| wanted.contains(&&*phase.name) && !expects_failure(&phase.name));
    let runs = RunRecords::new(stopping);
    let proofs = wanted.filter_map(|phase| {
        let run = runs.last(&opened.name, &phase.name).ok()??;
        Some((run.ended?, phase.name.as_str()))
    });
    let (ended, phase) = proofs.max()?;
    let (changed, file) = last_change(stopping, opened)?;
    if changed <= ended {
        return None;
    }
    let what = format!("{file} was changed after the last run that proves anything");
    let fix = format!("run it again: conclaude des run {} {phase}", quoted_if_needed(&opened.name));
    let finding = Finding::new(Code::StaleEvidence, what, fix).in_phase(phase);
    Some(if stopping.des.blocks_stale_evidence() { finding } else { finding.warning() })
}

/// The file in the scope that was written or deleted last.
fn last_change(stopping: &StopRequest<'_>, opened: &OpenStep) -> Option<(Timestamp, String)> {
    let written = scope::written_in_scope(stopping, opened).ok()?;
    let time_of = |file: String| {
        let path = stopping.tree.path.join(&file);
        // A deletion changes the directory.
        let metadata = path.ancestors().find_map(|path| path.symlink_metadata().ok())?;
        let time = Timestamp::try_from(files::changed_at(&metadata)?).ok()?;
        // Records have milliseconds.
        Some((Timestamp::from_millisecond(time.as_millisecond()).ok()?, file))
    };
    written.into_iter().filter_map(time_of).max()
}
