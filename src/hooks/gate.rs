//! The gates of DES at the client's events: what they find becomes a deny, a block or a warning, and a record.

use std::path::Path;

use serde_json::Value;

use super::records::{record_of, unrecorded, values};
use super::{Config, report};
use crate::agent::{Agent, expand_home};
use crate::audit::{Record, Trail};
use crate::config::{DesConfig, PhaseList, ScopeMode};
use crate::des::context::{Call, Origin, TranscriptPaths, origin, remembered};
use crate::des::findings::{Code, Finding};
use crate::des::gates::{self, Opened, Writing};
use crate::des::judge::{self, Question};
use crate::des::markers::Markers;
use crate::des::stop::{self, Stopping};
use crate::des::{DesContext, unfinished};
use crate::event::Event;
use crate::git::{self, Snapshot, WorkTree};
use crate::log;
use crate::outcome::{HookResult, Result};
use crate::root::Root;
use crate::store::Session;
use crate::transcript::WRITING_TOOLS;
use crate::types::{HookPayload, PreToolUsePayload};

/// What a gate is asked about: the tool that is about to be used.
pub(super) enum ToolUse<'a> {
    /// An agent is about to be called with this prompt.
    Call(&'a str),
    /// An agent is about to write this file.
    Write(&'a str),
}

/// What the tool means to the gates, if anything. Most tools mean nothing, and cost nothing.
pub(super) fn question(payload: &PreToolUsePayload) -> Option<ToolUse<'_>> {
    let text = |field: &str| payload.tool_input.get(field).and_then(Value::as_str);
    match payload.tool_name.as_str() {
        "Agent" | "Task" => text("prompt").map(ToolUse::Call),
        tool => {
            let (_, field) = WRITING_TOOLS.iter().find(|(name, _)| *name == tool)?;
            payload.agent_id.as_ref()?;
            text(field).map(ToolUse::Write)
        }
    }
}

/// The config of a gate. A typo in the config must not switch the gates off: they run with their defaults.
fn config_or_defaults(root: &Root) -> (Config, Option<String>) {
    match Config::load(root) {
        Ok(config) => (config, None),
        Err(error) => (Config::default(), Some(format!("the gates run with their defaults: {error}"))),
    }
}

/// Gate 1: an Agent call.
pub(super) fn before_call(payload: &PreToolUsePayload, prompt: &str, root: &Root) -> Result<HookResult> {
    let markers = Markers::of(prompt);
    if !markers.apply() {
        return Ok(helper_call(payload, root));
    }
    super::guard::gate_applies(true);
    super::guard::panic_here_in_tests("gate");
    let (config, config_problem) = config_or_defaults(root);
    let des = config.des();
    if !des.is_enabled() {
        return Ok(HookResult::success());
    }
    let agent = payload.tool_input.get("subagent_type").and_then(Value::as_str).unwrap_or_default();
    let (mut findings, opened) = gates::before(&markers, prompt, agent, &root.work, &des);
    let session = Session::new(&root.folder, &payload.base.session_id);
    let step_name = opened.as_ref().map(|opened| opened.name.clone());
    if let Some(step) = &step_name {
        findings.extend(live_agent(&session, &expand_home(&payload.base.transcript_path), step));
    }
    let denied = des.blocks() && findings.iter().any(Finding::blocks);
    let record = Record {
        agent: Some(agent.to_owned()),
        step: step_name.or(markers.step_file.clone()),
        des: serde_json::to_value(DesContext::of(&markers)).ok(),
        decision: decision_word(denied, &findings).into(),
        findings: values(&findings),
        ..record_of(Event::PreToolUse, &payload.base.session_id)
    };
    let recorded = config.audit(root, &record);
    if denied {
        // A deny stands, whatever becomes of its record.
        return Ok(HookResult::denied(report::deny_reason(
            "this call of an agent",
            &findings,
            config_problem.into_iter().chain(unrecorded(&recorded)),
        )));
    }
    let is_broken = config_problem.is_some();
    let mut notes: Vec<String> = config_problem.into_iter().collect();
    notes.extend(recorded?);
    let Some(opened) = opened else { return Ok(told(report::lines(&findings), notes)) };
    let des = if is_broken { with_phases_of(&opened, des) } else { des };
    notes.extend(remember(payload, prompt, agent, &opened, root, &session, &des));
    let boundaries = gates::boundaries(&opened, &des.phase_names(), &des);
    let result = told(report::lines(&findings), notes);
    Ok(HookResult { updated_input: Some(gates::with_boundaries(&payload.tool_input, &boundaries)), ..result })
}

/// Where the config cannot be read, the agent is told and judged by the phases that its step has now, before anybody has
/// worked on it.
fn with_phases_of(opened: &Opened, des: DesConfig) -> DesConfig {
    match opened.step.phases().filter(|log| !log.is_empty()) {
        Some(log) => {
            let names = log.into_iter().map(|phase| phase.name).collect();
            DesConfig { phases: Some(PhaseList(names)), ..des }
        }
        None => des,
    }
}

fn decision_word(refused: bool, findings: &[Finding]) -> &'static str {
    match (refused, findings.is_empty()) {
        (true, _) => "denied",
        (false, true) => "allowed",
        (false, false) => "warned",
    }
}

fn told(shown: Option<String>, notes: Vec<String>) -> HookResult {
    let all: Vec<String> = shown.into_iter().chain(notes).collect();
    if all.is_empty() {
        HookResult::success()
    } else {
        HookResult::showing(format!("conclaude: {}", all.join("\n")))
    }
}

/// A gated agent calls a helper without markers of its own: it works within the boundaries of the agent that calls it.
fn helper_call(payload: &PreToolUsePayload, root: &Root) -> HookResult {
    let Some((_, id)) = payload.agent_id.as_ref().zip(payload.tool_use_id.clone()) else {
        return HookResult::success();
    };
    let session = Session::new(&root.folder, &payload.base.session_id);
    let Some(parent) = remembered(&places(&HookPayload::PreToolUse(payload.clone())), &session) else {
        return HookResult::success();
    };
    let text =
        |name: &str| payload.tool_input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let call = Call {
        tool_use_id: id,
        subagent_type: text("subagent_type"),
        prompt: String::new(),
        step_file: parent.step_file,
        allowed: parent.allowed,
        parent: Some(parent.tool_use_id),
        // Its stop is nobody's business: the one that called it answers for it.
        stopped: true,
        ..Call::default()
    };
    match call.remember(&session) {
        Ok(()) => HookResult::success(),
        Err(error) => told(
            None,
            vec![format!("a helper's call cannot be remembered, so its writes are not checked: {error}")],
        ),
    }
}

/// Whether any gated agent of the session was called and has not stopped.
pub(super) fn is_any_at_work(session: &Session) -> bool {
    Call::all(session).iter().any(|call| !call.stopped && !call.reported)
}

/// Two agents on one step is rarely meant. A call that never started does not count.
fn live_agent(session: &Session, main: &Path, step: &str) -> Option<Finding> {
    let open = Call::all(session)
        .into_iter()
        .filter(|call| call.step_file == step && !call.stopped && !call.reported);
    let open: Vec<Call> = open.collect();
    if open.is_empty() {
        return None;
    }
    let started = unfinished::started(&main.with_extension("").join("subagents"));
    let live = open.iter().find(|call| started.iter().any(|(_, id)| *id == call.tool_use_id))?;
    let what = format!("{} has been called for {step} already and has not stopped", live.subagent_type);
    Some(Finding::new(Code::StepBusy, what, "let one agent work on a step at a time").warning())
}

/// Remembers a call that was let through; what went wrong with that is told.
fn remember(
    payload: &PreToolUsePayload,
    prompt: &str,
    agent: &str,
    opened: &Opened,
    root: &Root,
    session: &Session,
    des: &DesConfig,
) -> Vec<String> {
    let mut problems = Vec::new();
    let baseline = Snapshot::take(&root.work).unwrap_or_else(|error| {
        problems.push(format!("there is no baseline for the scope of {}: {error}", opened.name));
        None
    });
    let last = Trail::of(&root.folder, None).last();
    let now = jiff::Timestamp::now();
    let call = Call {
        tool_use_id: payload.tool_use_id.clone().unwrap_or_default(),
        subagent_type: agent.to_owned(),
        prompt: prompt.to_owned(),
        step_file: opened.name.clone(),
        rules: opened.step.rules(),
        allowed: opened.allowed.patterns().to_vec(),
        phases: des.phase_names(),
        evidence: des.evidence().into_iter().map(str::to_owned).collect(),
        finished: opened
            .step
            .phases()
            .unwrap_or_default()
            .iter()
            .filter(|phase| phase.is_finished())
            .map(|phase| phase.name.clone())
            .collect(),
        last_record: Some(last.seq),
        position: last.position,
        parent: None,
        baseline,
        time: now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string(),
        background: payload.tool_input.get("run_in_background") != Some(&Value::Bool(false)),
        stopped: false,
        reported: false,
    };
    if call.tool_use_id.is_empty() {
        problems.push("the call has no tool_use_id: its prompt is read from the transcript later".into());
    } else if let Err(error) = call.remember(session) {
        problems.push(format!("the call cannot be remembered, so its scope is not checked: {error}"));
    }
    problems
}

/// Gate 2: a write inside an agent.
pub(super) fn before_write(payload: &HookPayload, file: &str, root: &Root) -> Result<HookResult> {
    let session = Session::new(&root.folder, payload.session_id());
    let Some(found) = origin(&places(payload), None, &session, false) else {
        return Ok(HookResult::success());
    };
    let markers = Markers::of(&found.prompt);
    // A helper has no markers of its own, but the call of the agent that called it.
    let helped = found.call.as_ref().filter(|call| call.parent.is_some()).map(|call| call.step_file.as_str());
    let step_file = helped.or(markers.step_file.as_deref().filter(|_| markers.apply()));
    let Some(step_file) = step_file else { return Ok(HookResult::success()) };
    super::guard::gate_applies(true);
    super::guard::panic_here_in_tests("gate");
    let (config, config_problem) = config_or_defaults(root);
    let des = config.des();
    if !des.is_enabled() && found.call.is_none() {
        return Ok(HookResult::success());
    }
    let writing = Writing {
        step_file,
        call: found.call.as_ref(),
        root: &root.folder,
        work: &root.work,
        cwd: Path::new(payload.cwd()),
        file,
    };
    let in_scope = || if des.scope() == ScopeMode::Off { None } else { gates::during(&writing) };
    let (finding, denied) = match gates::protected(&writing) {
        Some(finding) => (finding, true),
        None => match in_scope() {
            Some(finding) => (finding, des.scope() == ScopeMode::Block && des.blocks()),
            None => return Ok(HookResult::success()),
        },
    };
    let finding = if denied { finding } else { finding.warning() };
    let record = Record {
        agent_id: payload.agent_id().map(str::to_owned),
        agent: found.call.as_ref().map(|call| call.subagent_type.clone()).or(markers.agent.clone()),
        step: Some(step_file.to_owned()),
        des: serde_json::to_value(DesContext::of(&markers)).ok(),
        decision: decision_word(denied, std::slice::from_ref(&finding)).into(),
        findings: values(std::slice::from_ref(&finding)),
        ..record_of(Event::PreToolUse, payload.session_id())
    };
    let recorded = config.audit(root, &record);
    if denied {
        return Ok(HookResult::denied(report::deny_reason(
            "this write",
            &[finding],
            config_problem.into_iter().chain(unrecorded(&recorded)),
        )));
    }
    Ok(told(report::lines(&[finding]), recorded?.into_iter().collect()))
}

pub(super) fn places(payload: &HookPayload) -> TranscriptPaths {
    TranscriptPaths {
        agent_id: payload.agent_id().map(str::to_owned),
        main: expand_home(payload.transcript_path()),
        own: payload.agent_transcript().map(|path| expand_home(&path)),
    }
}

/// What Gate 3 found of an agent that wants to stop.
#[derive(Debug)]
pub(super) struct Gated {
    /// What the markers say.
    pub(super) context: DesContext,
    /// What was found.
    pub(super) findings: Vec<Finding>,
    /// The step's name in records.
    pub(super) step: Option<String>,
    /// The step admits its failure, with this reason.
    pub(super) failure: Option<String>,
    pub(super) judge: Option<Value>,
    call: Option<Call>,
    blocks: bool,
}

impl Gated {
    /// Whether the stop is to be blocked.
    pub(super) fn wants_block(&self) -> bool {
        self.blocks && self.findings.iter().any(Finding::blocks)
    }

    /// What commands find in their environment.
    pub(super) fn environment(&self) -> [(&'static str, Option<String>); 4] {
        let context = &self.context;
        [
            ("CONCLAUDE_DES_STEP_FILE", context.step_file.clone()),
            ("CONCLAUDE_DES_AGENT", context.agent_name.clone()),
            ("CONCLAUDE_DES_COMMAND", context.command.clone()),
            ("CONCLAUDE_DES_PROJECT_ID", context.project_id.clone()),
        ]
    }

    /// Remembers that the agent was let go.
    pub(super) fn release(&self, session: &Session) {
        if let Some(call) = &self.call {
            let call = Call { stopped: true, ..call.clone() };
            if let Err(error) = call.remember(session) {
                log::warn(|| format!("cannot note that the agent has stopped: {error}"));
            }
        }
    }
}

/// Gate 3: an agent wants to stop. `None` where no gate applies.
pub(super) fn at_stop(
    payload: &HookPayload,
    agent: &Agent,
    des: &DesConfig,
    root: &Root,
    tree: &WorkTree,
    config_is_broken: bool,
) -> Option<Gated> {
    let may_block = payload.is_first_stop();
    let HookPayload::SubagentStop(stop) = payload else { return None };
    let places = places(payload);
    let session = Session::new(&root.folder, payload.session_id());
    // A gate that let the agent in also looks when it leaves, whatever was written into the config meanwhile.
    if !des.is_enabled() && remembered(&places, &session).is_none() {
        return None;
    }
    let origin: Origin = origin(&places, Some(&agent.name), &session, true)?;
    let markers = Markers::of(&origin.prompt);
    if !markers.apply() {
        return None;
    }
    super::guard::gate_applies(may_block && des.blocks());
    super::guard::gates_are_known();
    super::guard::panic_here_in_tests("gate");
    let stopping = Stopping {
        markers: &markers,
        origin: &origin,
        agent: &agent.name,
        session: payload.session_id(),
        root: &root.folder,
        tree,
        main: &places.main,
        own: places.own.as_deref(),
        des,
        config_is_broken,
    };
    let (mut findings, opened) = stop::inspect(&stopping);
    let failure = opened
        .as_ref()
        .filter(|opened| opened.step.is_honest_failure())
        .and_then(|opened| opened.step.failure_reason());
    let mut verdict = None;
    if let Some(config) =
        des.judge.as_ref().filter(|_| !findings.iter().any(Finding::blocks) && failure.is_none())
    {
        let head = origin
            .call
            .as_ref()
            .and_then(|call| call.baseline.as_ref())
            .map_or("HEAD", |baseline| baseline.head.as_str());
        let step_text =
            opened.as_ref().and_then(|opened| std::fs::read_to_string(&opened.path).ok()).unwrap_or_default();
        let question = Question {
            step: &step_text,
            diff_stat: &git::diff_stat(&root.work, head),
            last_message: stop.last_assistant_message.as_deref().unwrap_or_default(),
        };
        let judged = judge::outcome(config, &question);
        findings.extend(judged.finding);
        verdict = Some(judged.record);
    }
    Some(Gated {
        context: DesContext::of(&markers).with_times(places.own.as_deref()),
        findings,
        step: opened.map(|opened| opened.name).or(markers.step_file.clone()),
        failure,
        judge: verdict,
        call: origin.call,
        blocks: des.blocks(),
    })
}

impl Config {
    /// The settings of the gates.
    pub(super) fn des(&self) -> DesConfig {
        let des = self.settings.des.clone().unwrap_or_default();
        // A judge sends what it judges to a server, with the user's key: not for a project that nobody trusts.
        if self.withheld.is_some() { DesConfig { judge: None, ..des } } else { des }
    }
}
