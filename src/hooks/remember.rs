//! What a gate does when it lets an event pass, and what records name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::context::Context;
use super::gate_facts::{GateContext, called_agent, transcript_paths};
use super::gates::open;
use crate::audit::Trail;
use crate::config::{DesConfig, PhaseList};
use crate::des::context::{Call, remembered};
use crate::des::gates::{self, Opened};
use crate::log;
use crate::plan::{Gate, Plan};
use crate::types::{HookPayload, PreToolUsePayload};

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
    let paths = transcript_paths(context.payload());
    if let Some(call) =
        remembered(&paths, &context.session).filter(|call| call.stopped && call.parent.is_none())
    {
        // Others may have worked in the tree since it stopped.
        let call = Call { stopped: false, reported: false, background: true, ..call };
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

/// Where the config cannot be read, the agent is shown and judged by the phases that its step has now, before anybody has
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
    let baseline = context.tree.snapshot().unwrap_or_else(|error| {
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
        commands: owned(des.evidence_commands()),
        finished: finished.map(|phase| phase.name).collect(),
        last_record: Some(Trail::of(&context.root.folder, None).last_number()),
        parent: None,
        has_tree: baseline.is_some(),
        time: now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string(),
        background: tool.tool_input.get("run_in_background") != Some(&Value::Bool(false)),
        stopped: false,
        reported: false,
    };
    if call.tool_use_id.is_empty() {
        problems.push("the call has no tool_use_id: its prompt is read from the transcript later".into());
    } else if let Err(error) = call
        .remember(&context.session)
        .and_then(|()| baseline.map_or(Ok(()), |tree| call.remember_tree(&context.session, tree)))
    {
        problems.push(format!("the call cannot be remembered, so its scope is not checked: {error}"));
    }
    problems
}

fn owned(commands: Vec<(&str, &str)>) -> BTreeMap<String, String> {
    commands.into_iter().map(|(phase, command)| (phase.to_owned(), command.to_owned())).collect()
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
