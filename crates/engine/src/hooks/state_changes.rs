//! The stored state about calls and agents, for gates and records.

use super::context::{Context, MAIN_THREAD};
use super::gate_context::{GateContext, transcript_paths};
use super::gates::seen;
use conclaude_checks::des::call::GatedCall;
use conclaude_checks::des::context::claim;
use conclaude_checks::des::gates::{self, OpenStep};
use conclaude_checks::des::scope::Scope;
use conclaude_checks::des::{boundaries, call};
use conclaude_core::agent::Agent;
use conclaude_core::config::{GateConfig, PhaseList};
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::prompt::task_of;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::plan::{Gate, Plan, StateChange};
use conclaude_core::types::{HookPayload, PreToolUsePayload};
use conclaude_os::git::Snapshot;
use conclaude_os::log;
use conclaude_store::audit::Trail;

/// Changes the state of the session, as the plan says.
pub(super) fn run(
    what: StateChange,
    plan: &Plan,
    context: &Context<'_>,
    outcomes: &[Outcome],
) -> Vec<Outcome> {
    match what {
        StateChange::Call => return admit(plan, context, outcomes),
        StateChange::Resumed => resume(context),
        StateChange::Prompt => prompt(context),
    }
    Vec::new()
}

/// After a user's prompt, the main thread's blocks are counted from one again. Claude Code's own notifications do not count as
/// prompts.
fn prompt(context: &Context<'_>) {
    let HookPayload::UserPromptSubmit(said) = context.payload() else { return };
    if task_of(&said.prompt).is_none()
        && let Err(error) = context.session.forget_blocks(&Agent::named(MAIN_THREAD))
    {
        log::warn(|| format!("the blocks of the last prompt still count: {error}"));
    }
}

/// Stores an allowed call, because later gates need it.
fn admit(plan: &Plan, context: &Context<'_>, outcomes: &[Outcome]) -> Vec<Outcome> {
    if outcomes.iter().any(|outcome| outcome.verdict >= Verdict::Ask) {
        return Vec::new();
    }
    let Some((gate, known)) = plan.gate().zip(context.gate.as_ref()) else { return Vec::new() };
    let admitted = match (gate, context.payload()) {
        (Gate::Call { .. }, HookPayload::PreToolUse(tool)) => let_in(tool, known, plan, context),
        (Gate::Helper { .. }, HookPayload::PreToolUse(tool)) => remember_helper(tool, known, context),
        _ => Ok(Vec::new()),
    };
    admitted.unwrap_or_else(|finding| vec![Outcome::finding(finding, true)])
}

/// A stored call is not made after all.
pub(super) fn withdraw(context: &Context<'_>) {
    let HookPayload::PreToolUse(tool) = context.payload() else { return };
    let call = tool.tool_use_id.as_deref().and_then(|id| GatedCall::recall(&context.session, id));
    if let Some(call) = call {
        note_stopped(call, context);
    }
}

/// The agent of a gate may stop.
pub(super) fn stopped(plan: &Plan, context: &Context<'_>) {
    if let (Some(Gate::Stop { .. }), Some(known)) = (plan.gate(), &context.gate)
        && let Some(call) = known.origin.call.clone()
    {
        note_stopped(call, context);
    }
}

fn note_stopped(call: GatedCall, context: &Context<'_>) {
    if let Err(error) = (GatedCall { stopped: true, ..call }).remember(&context.session) {
        log::warn(|| format!("cannot note that the agent has stopped: {error}"));
    }
}

/// A denied write never happened, even if the transcript does not show that yet.
pub(super) fn denied(plan: &Plan, context: &Context<'_>) {
    let (Some(Gate::Write { .. }), HookPayload::PreToolUse(tool)) = (plan.gate(), context.payload()) else {
        return;
    };
    if let Some(id) = &tool.tool_use_id
        && let Err(error) = call::remember_denial(&context.session, id)
    {
        log::warn(|| format!("cannot note that a write was denied: {error}"));
    }
}

/// A stopped agent continues and is working again.
fn resume(context: &Context<'_>) {
    let paths = transcript_paths(context.payload());
    if let Some(call) = claim(&paths, &context.session).filter(|call| call.stopped && !call.is_helper()) {
        // Others may have worked in the tree since it stopped.
        let call = GatedCall { stopped: false, reported: false, background: true, ..call };
        if let Err(error) = call.remember(&context.session) {
            log::warn(|| format!("cannot note that the agent goes on: {error}"));
        }
    }
}

/// Stores a call that Gate 1 allows, and gives the agent its boundaries.
fn let_in(
    tool: &PreToolUsePayload,
    known: &GateContext,
    plan: &Plan,
    context: &Context<'_>,
) -> Result<Vec<Outcome>, Finding> {
    let Some(opened) = &seen(tool, known, plan, context).opened else { return Ok(Vec::new()) };
    let config = plan.gates.clone();
    let is_broken = context.config.error.is_some() && known.caller.is_none();
    let config = if is_broken { with_phases_of(opened, config) } else { config };
    let scopes = scopes(known.caller.as_ref(), opened);
    let scope = Scope::new(&scopes).unwrap_or_else(|_| Scope::of(opened.allowed.clone()));
    let added = boundaries::boundaries(opened, &scope, &config.des.phase_names(), &config.des);
    let problems = remember(AdmittedCall { tool, opened, known, config, scopes }, context)?;
    let input = boundaries::with_boundaries(&tool.tool_input, &added);
    let updated =
        Outcome { verdict: Verdict::Pass, message: String::new(), evidence: Evidence::UpdatedInput(input) };
    Ok(problems.into_iter().map(Outcome::note).chain([updated]).collect())
}

/// The caller's scope and the step's scope: the agent gets their intersection.
fn scopes(caller: Option<&GatedCall>, opened: &OpenStep) -> Vec<Vec<String>> {
    let mut scopes = caller.map(|caller| caller.scopes.clone()).unwrap_or_default();
    let own = opened.allowed.patterns().to_vec();
    if !own.is_empty() && scopes.last() != Some(&own) {
        scopes.push(own);
    }
    scopes
}

/// If the config cannot be read, the phases of the step count, as they are before anybody has worked on it.
fn with_phases_of(opened: &OpenStep, mut config: GateConfig) -> GateConfig {
    if let Some(log) = opened.step.phases().filter(|log| !log.is_empty()) {
        config.des.phases = Some(PhaseList(log.into_iter().map(|phase| phase.name).collect()));
    }
    config
}

/// A call that Gate 1 allows, and its agent's boundaries.
struct AdmittedCall<'a> {
    tool: &'a PreToolUsePayload,
    opened: &'a OpenStep,
    known: &'a GateContext,
    config: GateConfig,
    scopes: Vec<Vec<String>>,
}

fn remember(admitted: AdmittedCall<'_>, context: &Context<'_>) -> Result<Vec<String>, Finding> {
    let AdmittedCall { tool, opened, known, config, scopes } = admitted;
    let mut problems = Vec::new();
    let baseline = baseline(opened, context, &mut problems)?;
    let finished = opened.step.phases().unwrap_or_default().into_iter().filter(|phase| phase.is_finished());
    let now = jiff::Timestamp::now();
    let call = GatedCall {
        tool_use_id: tool.tool_use_id.clone().unwrap_or_default(),
        subagent_type: agents::called(&tool.tool_input).to_owned(),
        task: agents::task_name(&tool.tool_input).to_owned(),
        session: tool.base.session_id.clone(),
        prompt: known.origin.prompt.clone(),
        root: context.root.folder.clone(),
        step_file: opened.name.clone(),
        named_step: opened.named.clone(),
        rules: opened.step.rules(),
        scopes,
        config,
        finished: finished.map(|phase| phase.name).collect(),
        last_record: Some(Trail::of(&context.root.folder, None).last_number()),
        path: context.variables().get("PATH").map(str::to_owned),
        parent: known.caller.as_ref().map(|caller| caller.tool_use_id.clone()),
        has_tree: baseline.is_some(),
        time: now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string(),
        background: agents::is_in_background(&tool.tool_input),
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
    Ok(problems)
}

/// The state of the work tree at the call, for the comparison with the scope.
fn baseline<'c>(
    opened: &OpenStep,
    context: &'c Context<'_>,
    problems: &mut Vec<String>,
) -> Result<Option<&'c Snapshot>, Finding> {
    match context.tree.snapshot() {
        Ok(baseline) => Ok(baseline),
        // An agent that fills the tree must not free the next one from its scope.
        Err(error) if context.budget.is_over() && opened.allowed.is_limited() => {
            let what = format!(
                "the work tree cannot be looked at in time, so the scope of {} could not be checked: {error}",
                opened.name
            );
            let fix = "make the work tree smaller, then call the agent again";
            Err(Finding::new(Code::NotRemembered, what, fix))
        }
        Err(error) => {
            problems.push(format!("there is no baseline for the scope of {}: {error}", opened.name));
            Ok(None)
        }
    }
}

/// A gated agent calls a helper without markers: it has the boundaries of its caller.
fn remember_helper(
    tool: &PreToolUsePayload,
    known: &GateContext,
    context: &Context<'_>,
) -> Result<Vec<Outcome>, Finding> {
    let Some((parent, id)) = known.origin.call.clone().zip(tool.tool_use_id.clone()) else {
        return Ok(Vec::new());
    };
    let call = GatedCall {
        tool_use_id: id,
        subagent_type: agents::called(&tool.tool_input).to_owned(),
        session: parent.session,
        prompt: String::new(),
        root: parent.root,
        step_file: parent.step_file,
        scopes: parent.scopes,
        config: parent.config,
        parent: Some(parent.tool_use_id),
        // Its stop is not gated: its caller is responsible for it.
        stopped: true,
        ..GatedCall::default()
    };
    call.remember(&context.session).map(|()| Vec::new()).map_err(|error| {
        let what = format!("the boundaries of its caller cannot be remembered: {error}");
        Finding::new(Code::NotRemembered, what, "let the user make the state of conclaude writable")
    })
}

/// The agent of a record: the one that is called, that uses a tool, or that starts or stops.
pub(super) fn recorded_agent(plan: &Plan, context: &Context<'_>) -> Option<String> {
    match (plan.gate(), context.payload()) {
        (Some(Gate::Call { .. }), HookPayload::PreToolUse(tool)) => {
            Some(agents::called(&tool.tool_input).to_owned())
        }
        (Some(Gate::Write { .. }), _) => {
            let known = context.gate.as_ref()?;
            known.origin.call.as_ref().map(|call| call.subagent_type.clone()).or(known.markers.agent.clone())
        }
        _ => context.subagent().map(|agent| agent.name.clone()),
    }
}

/// The step file as records name it.
pub(super) fn recorded_step(plan: &Plan, context: &Context<'_>) -> Option<String> {
    match plan.gate()? {
        Gate::Call { step_file } | Gate::Stop { step_file } => {
            step_file.as_deref().map(|named| gates::step_name(&context.root.work, named))
        }
        Gate::Write { step_file, .. } | Gate::Helper { step_file } | Gate::MissingState { step_file } => {
            Some(step_file.clone())
        }
    }
}
