//! Gate 3, when an agent stops: does its step file prove the work, and did it stay within its scope?

use std::io;
use std::path::Path;

use serde_json::Value;
use shell_effects::quoted_if_needed;

use super::call::GatedCall;
use super::check::check_by;
use super::context::PromptOrigin;
use super::gates::{OpenStep, mismatch, moved, open_step};
use super::markers::{Markers, Validation};
use super::phases::expects_failure;
use super::step::{Phase, PhaseStatus, Step, configured_command, is_expected_to_fail};
use super::step_folders::StepFolders;
use conclaude_core::config::{DesConfig, GateConfig};
use conclaude_core::finding::{Code, Finding};
use conclaude_core::text::clean_line;
use conclaude_os::git::WorkTree;
use conclaude_os::log;
use conclaude_store::audit::Trail;

pub use scope::{changed_files, note_own_files};

mod scope;

/// The finding for an agent without a transcript, while a call for this step has no other agent.
#[must_use]
pub fn lost(step_file: &str) -> Finding {
    let what = format!(
        "an agent was called for {step_file}, and this may be the one: its transcript and the file beside it are gone, so its step cannot be checked"
    );
    let fix = "say in your report what became of them and what you did; the user must look at the step";
    Finding::new(Code::NotJudged, what, fix)
}

/// All findings at once, and the step if it could be read. Where it is unclear whether validation is required they are
/// warnings: Gate 1 denies such a call, and an agent cannot change its prompt.
#[must_use]
pub fn inspect(stopping: &StopRequest<'_>) -> (Vec<Finding>, Option<OpenStep>) {
    let (found, opened) = findings(stopping);
    if stopping.markers.validation == Validation::Unclear {
        return (found.into_iter().map(Finding::warning).collect(), opened);
    }
    (found, opened)
}

fn findings(stopping: &StopRequest<'_>) -> (Vec<Finding>, Option<OpenStep>) {
    let mut found = stopping.markers.findings();
    if let Some(agent) = stopping.markers.agent.as_deref().filter(|agent| *agent != stopping.agent) {
        found.push(mismatch(agent, stopping.agent, "only that agent can finish this step"));
    }
    if let Some(moved) = stopping.call().and_then(|call| moved(call, stopping.root)) {
        found.push(moved);
        return (found, None);
    }
    found.extend(changed_config(stopping));
    let Some(step_file) = stopping.markers.step_file.as_deref() else { return (found, None) };
    let folders = StepFolders { root: &stopping.tree.path, cwd: stopping.cwd };
    let opened = match open_step(&folders, step_file) {
        Ok(opened) => opened,
        Err(finding) => {
            found.push(finding);
            return (found, None);
        }
    };
    found.extend(changed_rules(stopping, &opened));
    // The agent may have changed the rules in the step; those at the call count.
    let rules = stopping.call().and_then(|call| Step::of_rules(&call.rules));
    found.extend(check_by(rules.as_ref().unwrap_or(&opened.step), &opened.step, &stopping.des.phase_names()));
    found.extend(missing_evidence(stopping, &opened));
    found.extend(scope::violations(stopping, &opened));
    (found, Some(opened))
}

/// The config has changed since the call. That does not change anything for this agent, but the user should know.
fn changed_config(stopping: &StopRequest<'_>) -> Option<Finding> {
    let differing = stopping.call()?.config.differing(stopping.config_now?);
    if differing.is_empty() {
        return None;
    }
    let what = format!("the config has changed since the agent was called: {}", differing.join(", "));
    let fix = "nothing for the agent: what it said at the call counts; the user should know who changed it";
    Some(Finding::new(Code::RulesChanged, what, fix).warning())
}

fn changed_rules(stopping: &StopRequest<'_>, opened: &OpenStep) -> Option<Finding> {
    let call = stopping.call()?;
    if opened.name != call.step_file {
        let what = format!("{} leads to {} now", call.step_file, opened.name);
        return Some(Finding::new(
            Code::RulesChanged,
            what,
            "restore it: a step file stays where it was at the call",
        ));
    }
    let (rules, now) = (&call.rules, opened.step.rules());
    if rules.is_null() || *rules == now {
        return None;
    }
    let what = format!(
        "{} differs from what it said when the agent was called: {}",
        opened.name,
        difference(rules, &now)
    );
    let fix = "restore it; if the user wants the change, the agent must be called again";
    let finding = Finding::new(Code::RulesChanged, what, fix);
    // A worktree has the step as it was committed, which may differ from the one that Gate 1 saw; that one counts.
    Some(if stopping.is_in_worktree() { finding.warning() } else { finding })
}

/// The names of the rules that differ.
fn difference(before: &Value, now: &Value) -> String {
    let rules = before.as_object().into_iter().flatten();
    let differing = rules.filter(|(name, value)| now.get(name.as_str()) != Some(value));
    differing.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// What Gate 3 checks.
#[derive(Debug)]
pub struct StopRequest<'a> {
    pub markers: &'a Markers,
    pub origin: &'a PromptOrigin,
    pub agent: &'a str,
    pub session: &'a str,
    pub root: &'a Path,
    /// Where the agent worked: the root, or its worktree.
    pub tree: &'a WorkTree,
    /// The folder that the session works in.
    pub cwd: &'a Path,
    pub main: &'a Path,
    pub own: Option<&'a Path>,
    /// The config at the call, if Gate 1 saw it: the agent is judged by it.
    pub des: &'a DesConfig,
    /// What the config says now, if it can be read.
    pub config_now: Option<&'a GateConfig>,
}

impl StopRequest<'_> {
    fn call(&self) -> Option<&GatedCall> {
        self.origin.call.as_ref()
    }

    /// Whether the baseline was deleted: an agent must not get around a gate by deleting what it compares with.
    fn lost_baseline(&self) -> bool {
        self.tree.baseline.is_none() && self.origin.call.as_ref().is_some_and(|call| call.has_tree)
    }

    fn is_in_worktree(&self) -> bool {
        self.tree.path != self.root
    }
}

/// The phases that need the record of a real run and have none, or one with another verdict. The agent can edit the step
/// file; what was really run is in the audit trail.
fn missing_evidence(stopping: &StopRequest<'_>, opened: &OpenStep) -> Vec<Finding> {
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
        let what = evidence_problem(phase, command, || runs.last(&opened.name, &phase.name))?;
        let run = format!("conclaude des run {} {}", quoted_if_needed(&opened.name), phase.name);
        let fix = match command {
            None => format!("run it: {run} -- COMMAND"),
            Some(command) if now.is_none_or(|now| now.evidence_command(&phase.name) == Some(command)) => {
                format!("run it: {run}")
            }
            // The config has another command now; the one at the call counts.
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
    /// The command, if it was the config's and not what the agent typed.
    configured: Option<String>,
    expects_failure: bool,
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
        if call.is_some_and(|call| !is_after(&record, call)) {
            return Ok(None);
        }
        Ok(RunRecord::read(&record))
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
