//! The gates of DES at the client's events: which one applies, what it finds, what follows when it lets pass.

use std::path::Path;

use serde_json::{Map, Value};

use super::context::{Config, Context};
use super::panics;
use crate::agent::{Agent, expand_home};
use crate::audit::Trail;
use crate::config::{DesConfig, JudgeConfig, OnJudgeError, PhaseList, ScopeMode};
use crate::des::after::{self, Stopping};
use crate::des::context::{Call, Origin, Places, origin, remembered};
use crate::des::findings::{Code, Finding};
use crate::des::gates::{self, Opened, Writing};
use crate::des::judge::{self, Question, Verdict as Judged};
use crate::des::markers::Markers;
use crate::des::unfinished;
use crate::event::Event;
use crate::git::{self, Baseline};
use crate::log;
use crate::messages;
use crate::outcome::{Evidence, Outcome, Verdict};
use crate::plan::{Gate, GateFacts, Plan};
use crate::store::Session;
use crate::transcript::WRITING_TOOLS;
use crate::types::{HookPayload, PreToolUsePayload};

/// What is known of the gate that applies.
pub(super) struct GateContext {
    pub(super) facts: GateFacts,
    pub(super) markers: Markers,
    /// The prompt, and what Gate 1 remembered.
    pub(super) origin: Origin,
    pub(super) places: Places,
}

/// The gate that applies to the event, if any. Most events have none, and cost nothing.
pub(super) fn find(
    payload: &HookPayload,
    agent: Option<&Agent>,
    session: &Session,
    config: &Config,
) -> Option<GateContext> {
    match payload {
        HookPayload::PreToolUse(tool) => before_tool(payload, tool, session),
        HookPayload::SubagentStop(_) => {
            let places = places(payload);
            let des_is_on = config.settings.des.as_ref().is_none_or(DesConfig::is_enabled);
            // A gate that let the agent in also looks when it leaves, whatever the config says by then.
            if !des_is_on && remembered(&places, session).is_none() {
                return None;
            }
            let origin = origin(&places, agent.map(|agent| agent.name.as_str()), session, true)?;
            let markers = Markers::of(&origin.prompt);
            let gate = Gate::Stop { step_file: markers.step_file.clone() };
            markers.apply().then(|| context(gate, markers, origin, places))
        }
        _ => None,
    }
}

fn before_tool(payload: &HookPayload, tool: &PreToolUsePayload, session: &Session) -> Option<GateContext> {
    let text = |field: &str| tool.tool_input.get(field).and_then(Value::as_str);
    let places = places(payload);
    if matches!(tool.tool_name.as_str(), "Agent" | "Task") {
        let prompt = text("prompt")?;
        let markers = Markers::of(prompt);
        if markers.apply() {
            let gate = Gate::Call { step_file: markers.step_file.clone() };
            return Some(context(gate, markers, Origin { prompt: prompt.to_owned(), call: None }, places));
        }
        tool.agent_id.as_ref().zip(tool.tool_use_id.as_ref())?;
        let parent = remembered(&places, session)?;
        let gate = Gate::Helper { step_file: parent.step_file.clone() };
        return Some(context(gate, markers, Origin { prompt: String::new(), call: Some(parent) }, places));
    }
    let (_, field) = WRITING_TOOLS.iter().find(|(name, _)| *name == tool.tool_name)?;
    tool.agent_id.as_ref()?;
    let file = text(field)?.to_owned();
    let origin = origin(&places, None, session, false)?;
    let markers = Markers::of(&origin.prompt);
    // A helper has no markers of its own, but the call of the agent that called it.
    let helped = origin.call.as_ref().filter(|call| call.parent.is_some()).map(|call| call.step_file.clone());
    let step_file = helped.or(markers.step_file.clone().filter(|_| markers.apply()))?;
    Some(context(Gate::Write { step_file, file }, markers, origin, places))
}

fn context(gate: Gate, markers: Markers, origin: Origin, places: Places) -> GateContext {
    let facts = GateFacts {
        gate,
        remembered: origin.call.is_some(),
        markers: [
            markers.step_file.clone(),
            markers.agent.clone(),
            markers.command.clone(),
            markers.project_id.clone(),
        ],
    };
    GateContext { facts, markers, origin, places }
}

pub(super) fn places(payload: &HookPayload) -> Places {
    Places {
        agent_id: payload.agent_id().map(str::to_owned),
        main: expand_home(payload.transcript_path()),
        own: payload.agent_transcript().map(|path| expand_home(&path)),
    }
}

/// What whoever is gated should know beside the findings: the config cannot be read.
pub(super) fn notes(plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    let error = context.config.error.as_ref().filter(|_| plan.gate().is_some());
    error
        .map(|error| Outcome::note(format!("the gates run with their defaults: {error}")))
        .into_iter()
        .collect()
}

/// What the gate finds.
pub(super) fn run(gate: &Gate, plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    let Some(known) = &context.gate else { return Vec::new() };
    panics::panic_here_in_tests("gate");
    let violations_block = context.des().blocks();
    let findings = match (gate, context.payload()) {
        (Gate::Call { .. }, HookPayload::PreToolUse(tool)) => call(tool, known, context),
        (Gate::Write { step_file, file }, _) => return write(step_file, file, known, context),
        (Gate::Stop { .. }, _) => return stop(plan, known, context),
        _ => Vec::new(),
    };
    findings.into_iter().map(|finding| Outcome::finding(finding, violations_block)).collect()
}

/// Gate 1.
fn call(tool: &PreToolUsePayload, known: &GateContext, context: &Context<'_>) -> Vec<Finding> {
    let (mut findings, opened) = open(tool, known, context);
    if let Some(opened) = opened {
        findings.extend(live_agent(&context.session, &known.places.main, &opened.name));
    }
    findings
}

fn open(
    tool: &PreToolUsePayload,
    known: &GateContext,
    context: &Context<'_>,
) -> (Vec<Finding>, Option<Opened>) {
    gates::before(
        &known.markers,
        &known.origin.prompt,
        called_agent(tool),
        &context.root.work,
        &context.des(),
    )
}

fn called_agent(tool: &PreToolUsePayload) -> &str {
    tool.tool_input.get("subagent_type").and_then(Value::as_str).unwrap_or_default()
}

/// Two agents on one step is rarely meant. A call that never started does not count.
fn live_agent(session: &Session, main: &Path, step: &str) -> Option<Finding> {
    let open = Call::all(session).into_iter().filter(|call| call.step_file == step && call.is_open());
    let open: Vec<Call> = open.collect();
    if open.is_empty() {
        return None;
    }
    let started = unfinished::started(&main.with_extension("").join("subagents"));
    let live = open.iter().find(|call| started.iter().any(|(_, id)| *id == call.tool_use_id))?;
    let what = format!("{} has been called for {step} already and has not stopped", live.subagent_type);
    Some(Finding::new(Code::StepBusy, what, "let one agent work on a step at a time").warning())
}

/// Gate 2.
fn write(step_file: &str, file: &str, known: &GateContext, context: &Context<'_>) -> Vec<Outcome> {
    let des = context.des();
    let writing = Writing {
        step_file,
        call: known.origin.call.as_ref(),
        root: &context.root.folder,
        work: &context.root.work,
        cwd: Path::new(context.payload().cwd()),
        file,
    };
    if let Some(finding) = gates::protected(&writing) {
        return vec![Outcome::finding(finding, true)];
    }
    let finding = if des.scope() == ScopeMode::Off { None } else { gates::during(&writing) };
    let blocks = des.scope() == ScopeMode::Block && des.blocks();
    let finding = finding.map(|finding| if blocks { finding } else { finding.warning() });
    finding.map(|finding| Outcome::finding(finding, true)).into_iter().collect()
}

/// Gate 3.
fn stop(plan: &Plan, known: &GateContext, context: &Context<'_>) -> Vec<Outcome> {
    let des = context.des();
    let stopping = Stopping {
        markers: &known.markers,
        origin: &known.origin,
        agent: plan.agent.as_ref().map_or("", |agent| agent.name.as_str()),
        session: context.payload().session_id(),
        root: &context.root.folder,
        work: &context.root.work,
        main: &known.places.main,
        own: known.places.own.as_deref(),
        des: &des,
        config_is_broken: context.config.error.is_some(),
    };
    let (findings, opened) = after::after(&stopping);
    let failure = opened.filter(|opened| opened.step.is_honest_failure()).and_then(|opened| {
        let reason = opened.step.failure_reason()?;
        Some(Outcome {
            verdict: Verdict::Warn,
            message: messages::honest_failure(&opened.name, &reason),
            evidence: Evidence::HonestFailure,
        })
    });
    findings.into_iter().map(|finding| Outcome::finding(finding, des.blocks())).chain(failure).collect()
}

/// The judge can only add a block, so it is asked last, and only if nothing else blocks. An admitted failure is not judged.
pub(super) fn judge(config: &JudgeConfig, context: &Context<'_>, so_far: &[Outcome]) -> Option<Outcome> {
    let is_settled = |outcome: &Outcome| {
        outcome.verdict == Verdict::Block
            || outcome.evidence == Evidence::HonestFailure
            || outcome.as_finding().is_some_and(Finding::blocks)
    };
    if so_far.iter().any(is_settled) {
        return None;
    }
    let known = context.gate.as_ref()?;
    let HookPayload::SubagentStop(stop) = context.payload() else { return None };
    let baseline = known.origin.call.as_ref().and_then(|call| call.baseline.as_ref());
    let step =
        known.markers.step_file.as_deref().and_then(|file| gates::open_step(&context.root.work, file).ok());
    let step = step.and_then(|opened| std::fs::read_to_string(&opened.path).ok()).unwrap_or_default();
    let question = Question {
        step: &step,
        diff_stat: &git::diff_stat(&context.root.work, baseline.map_or("HEAD", |tree| tree.head.as_str())),
        last_message: stop.last_assistant_message.as_deref().unwrap_or_default(),
    };
    let judged = judge::ask(config, &question);
    let finding = judge_finding(&judged, config.on_error);
    let shown = finding.clone().map(|finding| Outcome::finding(finding, context.des().blocks()));
    let (verdict, message) =
        shown.map_or((Verdict::Pass, String::new()), |shown| (shown.verdict, shown.message));
    Some(Outcome { verdict, message, evidence: Evidence::Judge(judged_value(&judged), finding) })
}

fn judge_finding(judged: &Judged, on_error: Option<OnJudgeError>) -> Option<Finding> {
    match judged {
        Judged::Continue => None,
        Judged::Refuse(reason) => Some(Finding::new(
            Code::JudgeRefused,
            reason.clone(),
            "do what the judge asks for, then finish again",
        )),
        Judged::Failed(reason) => {
            let what = format!("the judge could not be asked: {reason}");
            let finding = Finding::new(Code::JudgeFailed, what, "let the user check des.judge");
            Some(if on_error == Some(OnJudgeError::Block) { finding } else { finding.warning() })
        }
    }
}

fn judged_value(judged: &Judged) -> Value {
    match judged {
        Judged::Continue => serde_json::json!({ "continue": true }),
        Judged::Refuse(reason) => serde_json::json!({ "continue": false, "error": reason }),
        Judged::Failed(reason) => serde_json::json!({ "failed": reason }),
    }
}

/// The tree before the commands run, where a gated agent must not answer for what they write.
pub(super) fn tree_before_commands(plan: &Plan, context: &Context<'_>) -> Option<Baseline> {
    let is_watched = plan.commands().next().is_some()
        && (plan.gate().is_some()
            || (plan.event == Event::SubagentStart && Call::all(&context.session).iter().any(Call::is_open)));
    if is_watched { Baseline::take(&context.root.work).ok().flatten() } else { None }
}

pub(super) fn note_written_files(context: &Context<'_>, before: Option<Baseline>) {
    if let Some(before) = before
        && let Ok(Some(after)) = Baseline::take(&context.root.work)
    {
        after::note_own_files(&context.session, &before, &after);
    }
}

/// What follows when the gate lets the event pass: what to report of it, and what the tool is given instead.
pub(super) fn passed(plan: &Plan, context: &Context<'_>) -> (Vec<String>, Option<Map<String, Value>>) {
    let nothing = (Vec::new(), None);
    let Some((gate, known)) = plan.gate().zip(context.gate.as_ref()) else { return nothing };
    match (gate, context.payload()) {
        (Gate::Call { .. }, HookPayload::PreToolUse(tool)) => let_in(tool, known, context),
        (Gate::Helper { .. }, HookPayload::PreToolUse(tool)) => (remember_helper(tool, known, context), None),
        (Gate::Stop { .. }, _) => {
            if let Some(call) = &known.origin.call {
                let call = Call { stopped: true, ..call.clone() };
                if let Err(error) = call.remember(&context.session) {
                    log::warn(|| format!("cannot note that the agent has stopped: {error}"));
                }
            }
            nothing
        }
        _ => nothing,
    }
}

/// An agent that goes on after it had stopped is at work again.
pub(super) fn resume(context: &Context<'_>) {
    let places = places(context.payload());
    if let Some(call) =
        remembered(&places, &context.session).filter(|call| call.stopped && call.parent.is_none())
    {
        // Others may have worked in the tree since it stopped.
        let call = Call { stopped: false, told: false, background: true, ..call };
        if let Err(error) = call.remember(&context.session) {
            log::warn(|| format!("cannot note that the agent goes on: {error}"));
        }
    }
}

/// Remembers a call that Gate 1 lets pass, and gives the agent its boundaries.
fn let_in(
    tool: &PreToolUsePayload,
    known: &GateContext,
    context: &Context<'_>,
) -> (Vec<String>, Option<Map<String, Value>>) {
    let Some(opened) = open(tool, known, context).1 else { return (Vec::new(), None) };
    let des = context.des();
    let des = if context.config.error.is_some() { with_phases_of(&opened, des) } else { des };
    let problems = remember(tool, &opened, known, context, &des);
    let boundaries = gates::boundaries(&opened, &des.phase_names(), &des);
    (problems, Some(gates::with_boundaries(&tool.tool_input, &boundaries)))
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

fn remember(
    tool: &PreToolUsePayload,
    opened: &Opened,
    known: &GateContext,
    context: &Context<'_>,
    des: &DesConfig,
) -> Vec<String> {
    let mut problems = Vec::new();
    let baseline = Baseline::take(&context.root.work).unwrap_or_else(|error| {
        problems.push(format!("there is no baseline for the scope of {}: {error}", opened.name));
        None
    });
    let finished = opened.step.phases().unwrap_or_default().into_iter().filter(|phase| phase.is_finished());
    let now = jiff::Timestamp::now();
    let call = Call {
        tool_use_id: tool.tool_use_id.clone().unwrap_or_default(),
        subagent_type: called_agent(tool).to_owned(),
        prompt: known.origin.prompt.clone(),
        step_file: opened.name.clone(),
        rules: opened.step.rules(),
        allowed: opened.allowed.patterns().to_vec(),
        phases: des.phase_names(),
        evidence: des.evidence().into_iter().map(str::to_owned).collect(),
        finished: finished.map(|phase| phase.name).collect(),
        last_record: Some(Trail::of(&context.root.folder, None).last()),
        parent: None,
        baseline,
        time: now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string(),
        background: tool.tool_input.get("run_in_background") != Some(&Value::Bool(false)),
        stopped: false,
        told: false,
    };
    if call.tool_use_id.is_empty() {
        problems.push("the call has no tool_use_id: its prompt is read from the transcript later".into());
    } else if let Err(error) = call.remember(&context.session) {
        problems.push(format!("the call cannot be remembered, so its scope is not checked: {error}"));
    }
    problems
}

/// A gated agent calls a helper without markers of its own: it works within the boundaries of the agent that calls it.
fn remember_helper(tool: &PreToolUsePayload, known: &GateContext, context: &Context<'_>) -> Vec<String> {
    let Some((parent, id)) = known.origin.call.clone().zip(tool.tool_use_id.clone()) else {
        return Vec::new();
    };
    let call = Call {
        tool_use_id: id,
        subagent_type: called_agent(tool).to_owned(),
        prompt: String::new(),
        step_file: parent.step_file,
        allowed: parent.allowed,
        parent: Some(parent.tool_use_id),
        // Its stop is not gated: the one that called it answers for it.
        stopped: true,
        ..Call::default()
    };
    match call.remember(&context.session) {
        Ok(()) => Vec::new(),
        Err(error) => {
            vec![format!("a helper's call cannot be remembered, so its writes are not checked: {error}")]
        }
    }
}

/// Who a record is about: the agent that is called, that writes, or that starts or stops.
pub(super) fn recorded_agent(plan: &Plan, context: &Context<'_>) -> Option<String> {
    match (plan.gate(), context.payload()) {
        (Some(Gate::Call { .. }), HookPayload::PreToolUse(tool)) => Some(called_agent(tool).to_owned()),
        (Some(Gate::Write { .. }), _) => {
            let known = context.gate.as_ref()?;
            known.origin.call.as_ref().map(|call| call.subagent_type.clone()).or(known.markers.agent.clone())
        }
        _ => context.agent.as_ref().map(|agent| agent.name.clone()),
    }
}

/// The step file as records name it.
pub(super) fn recorded_step(plan: &Plan, context: &Context<'_>) -> Option<String> {
    match plan.gate()? {
        Gate::Call { step_file } | Gate::Stop { step_file } => {
            let named = step_file.as_deref()?;
            let opened = gates::open_step(&context.root.work, named);
            Some(opened.map_or_else(|_| named.to_owned(), |opened| opened.name))
        }
        Gate::Write { step_file, .. } | Gate::Helper { step_file } => Some(step_file.clone()),
    }
}
