//! What the trail is told: of decisions, of commands, of agents that never stopped.

use serde_json::Value;

use super::gate::{Gated, places};
use super::run::Run;
use super::{Config, report};
use crate::agent::{Agent, expand_home};
use crate::audit::{self, CommandRecord, Record};
use crate::des::context::{Call, remembered};
use crate::des::findings::{Code, Finding};
use crate::des::unfinished;
use crate::event::Event;
use crate::log;
use crate::outcome::{HookError, Result};
use crate::root::Root;
use crate::store::Session;
use crate::types::HookPayload;

pub(super) fn values(findings: &[Finding]) -> Vec<Value> {
    findings.iter().filter_map(|finding| serde_json::to_value(finding).ok()).collect()
}

pub(super) fn record_of(event: Event, session: &str) -> Record {
    Record { event: event.name().into(), session: Some(session.to_owned()), ..Record::default() }
}

/// The record of a subagent event, if there is anything to record.
pub(super) fn record_subagent(
    event: Event,
    session: &str,
    agent: &Agent,
    gated: Option<&Gated>,
    runs: &[Run],
    decision: &str,
) -> Option<Record> {
    if gated.is_none() && runs.is_empty() {
        return None;
    }
    let commands = runs.iter().map(|run| CommandRecord {
        pattern: run.step.pattern.clone(),
        run: run.step.script.clone(),
        status: run.finished.status.describe(),
        exit_code: run.finished.status.code(),
        duration_ms: u64::try_from(run.finished.duration.as_millis()).unwrap_or(u64::MAX),
    });
    Some(Record {
        agent_id: agent.id.clone(),
        agent: Some(agent.name.clone()),
        step: gated.and_then(|gated| gated.step.clone()),
        des: gated.and_then(|gated| serde_json::to_value(&gated.context).ok()),
        decision: decision.into(),
        findings: gated.map(|gated| values(&gated.findings)).unwrap_or_default(),
        commands: commands.collect(),
        judge: gated.and_then(|gated| gated.judge.clone()),
        ..record_of(event, session)
    })
}

/// What there is to say of a record beside a refusal, which stands whatever becomes of it.
pub(super) fn unrecorded(recorded: &Result<Option<String>>) -> Option<String> {
    match recorded {
        Ok(problem) => problem.clone(),
        Err(error) => Some(error.to_string()),
    }
}

/// An agent goes on: if it had stopped before, it is at work again.
pub(super) fn at_start(payload: &HookPayload, root: &Root) {
    let session = Session::new(&root.folder, payload.session_id());
    if let Some(call) =
        remembered(&places(payload), &session).filter(|call| call.stopped && call.parent.is_none())
    {
        // Others may have worked in the tree between its two lives.
        let call = Call { stopped: false, reported: false, background: true, ..call };
        if let Err(error) = call.remember(&session) {
            log::warn(|| format!("cannot note that the agent goes on: {error}"));
        }
    }
}

/// Agents that started and never stopped: recorded, and told once.
pub(super) fn tell_unfinished(payload: &HookPayload, root: &Root) -> Result<Option<String>> {
    let session = Session::new(&root.folder, payload.session_id());
    let running = match payload {
        // An older client does not say what still runs; the session's end will tell.
        HookPayload::Stop(stop) => match stop.running() {
            Some(running) => running,
            None => return Ok(None),
        },
        _ => Vec::new(),
    };
    let mut lines = Vec::new();
    let unfinished = unfinished::unfinished(&session, &expand_home(payload.transcript_path()), &running);
    if unfinished.is_empty() {
        return Ok(None);
    }
    let config = Config::load(root).unwrap_or_default();
    for agent in unfinished {
        let call = &agent.call;
        let what = format!(
            "{} ({}) was to do {} and never stopped",
            call.subagent_type, agent.agent_id, call.step_file
        );
        let finding = Finding::new(
            Code::Unfinished,
            what,
            "look at what it left; call it again if the step is not done",
        )
        .warning();
        let record = Record {
            agent_id: Some(agent.agent_id.clone()),
            agent: Some(call.subagent_type.clone()),
            step: Some(call.step_file.clone()),
            decision: "unfinished".into(),
            findings: values(std::slice::from_ref(&finding)),
            ..record_of(Event::named(payload.hook_event_name()).unwrap_or(Event::Stop), payload.session_id())
        };
        config.audit(root, &record)?;
        lines.extend(report::lines(std::slice::from_ref(&finding)));
        let reported = Call { reported: true, ..call.clone() };
        if let Err(error) = reported.remember(&session) {
            log::warn(|| format!("cannot note that an unfinished agent was reported: {error}"));
        }
    }
    Ok((!lines.is_empty()).then(|| format!("conclaude: {}", lines.join("\n"))))
}

impl Config {
    /// Writes a record. What cannot be written is told, and is an error only where the config says so.
    pub(super) fn audit(&self, root: &Root, record: &Record) -> Result<Option<String>> {
        let written = audit::write(&root.folder, self.settings.audit.as_ref(), record);
        if let Ok(Some(problem)) | Err(problem) = &written {
            log::warn(|| problem.clone());
        }
        written.map_err(HookError::Audit)
    }
}
