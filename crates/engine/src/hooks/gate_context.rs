//! The gate of an event: from the payload, the state of Gate 1, and transcripts.

use std::cell::OnceCell;
use std::path::PathBuf;

use serde_json::Value;

use conclaude_checks::des::call::GatedCall;
use conclaude_checks::des::context::{PromptOrigin, TranscriptPaths, claim, lost, origin, remembered};
use conclaude_checks::des::gates::{CallResult, OpenStep};
use conclaude_checks::des::markers::Markers;
use conclaude_checks::des::step_folders::StepFolders;
use conclaude_core::agent::Agent;
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::plan::{Gate, GateFacts, GateSubject};
use conclaude_core::types::{HookPayload, PreToolUsePayload};
use conclaude_os::files::{self, expand_home};
use conclaude_store::store::Session;
use conclaude_store::transcript;

/// The facts of the gate that applies.
pub(super) struct GateContext {
    pub(super) facts: GateFacts,
    pub(super) markers: Markers,
    /// The prompt, and the state of Gate 1.
    pub(super) origin: PromptOrigin,
    pub(super) paths: TranscriptPaths,
    /// At a call, the call of the gated agent that makes it.
    pub(super) caller: Option<GatedCall>,
    /// The result of Gate 1 about the step: read once.
    pub(super) seen: OnceCell<CallResult>,
    /// The step, read once by Gate 3.
    pub(super) judged: OnceCell<Option<OpenStep>>,
}

impl GateContext {
    /// Whether this is an agent that a gated one called. It has its caller's boundaries.
    pub(super) fn is_of_helper(&self) -> bool {
        self.origin.call.as_ref().is_some_and(GatedCall::is_helper)
    }
}

/// The gate of an event.
pub(super) enum GateSearch {
    Found(Box<GateContext>),
    Nothing,
    /// The agent's prompt was not found, so this is unknown. The path says where it was searched.
    NoPrompt(PathBuf),
}

/// The inputs for finding an event's gate.
pub(super) struct GateQuery<'a> {
    pub(super) payload: &'a HookPayload,
    pub(super) agent: Option<&'a Agent>,
    pub(super) session: &'a Session,
    pub(super) des_is_on: bool,
}

impl GateContext {
    /// Names the step file relative to the root, wherever it was found. The stored state of Gate 1 counts, because the session
    /// may now work in another folder.
    pub(super) fn resolve_step(&mut self, folders: &StepFolders<'_>) {
        let Some(marked) = &self.markers.step_file else { return };
        let at_call = self.origin.call.as_ref().map(|call| call.named_step.as_str());
        let named = match at_call.filter(|named| !named.is_empty()) {
            Some(named) => named.to_owned(),
            None => folders.resolve(marked),
        };
        match &mut self.facts.gate {
            Gate::Call { step_file } | Gate::Stop { step_file } => *step_file = Some(named.clone()),
            Gate::Write { step_file, .. } => step_file.clone_from(&named),
            Gate::Helper { .. } | Gate::MissingState { .. } => {}
        }
        let [step_file, ..] = &mut self.facts.markers;
        *step_file = Some(named.clone());
        self.markers.step_file = Some(named);
    }
}

impl GateQuery<'_> {
    /// The gate of the event, if any. Most events have none, and cost nothing.
    pub(super) fn find(&self, paths: TranscriptPaths) -> GateSearch {
        let found = match self.payload {
            HookPayload::PreToolUse(tool) => before_tool(tool, paths, self.session),
            HookPayload::SubagentStop(_) => {
                return at_stop(paths, self.agent, self.session, self.des_is_on);
            }
            _ => None,
        };
        found.map_or(GateSearch::Nothing, |gate| GateSearch::Found(Box::new(gate)))
    }
}

fn at_stop(paths: TranscriptPaths, agent: Option<&Agent>, session: &Session, des_is_on: bool) -> GateSearch {
    // A gate that allowed the agent to start also checks its stop, whatever the config says now.
    let is_remembered = || remembered(&paths, session).is_some() || !GatedCall::unclaimed(session).is_empty();
    if !des_is_on && !is_remembered() {
        return GateSearch::Nothing;
    }
    let found = origin(&paths, agent.map(|agent| agent.name.as_str()), session, true);
    let found = found.map(|origin| (Markers::of(&origin.prompt), origin));
    match found {
        Some((markers, origin)) if markers.apply() && (des_is_on || origin.call.is_some()) => {
            let gate = Gate::Stop { step_file: markers.step_file.clone() };
            GateSearch::Found(Box::new(of_gate(gate, markers, origin, paths)))
        }
        // A helper. Its caller is responsible for it.
        Some((_, PromptOrigin { call: Some(_), .. })) => GateSearch::Nothing,
        found => match lost(&paths, agent.and_then(|agent| agent.kind.as_deref()), session).pop() {
            Some(call) => {
                let gate = Gate::MissingState { step_file: call.step_file.clone() };
                GateSearch::Found(Box::new(of_gate(
                    gate,
                    Markers::default(),
                    PromptOrigin::of_call(call),
                    paths,
                )))
            }
            None if found.is_some() || !des_is_on => GateSearch::Nothing,
            None => {
                let looked_in = paths.own.as_ref().filter(|own| own.exists()).unwrap_or(&paths.main);
                GateSearch::NoPrompt(looked_in.clone())
            }
        },
    }
}

/// The agent of a stop whose only transcript is its own, by the marker in the prompt: a call in there is one of its helpers.
pub(super) fn marked_agent(payload: &HookPayload, paths: &TranscriptPaths) -> Option<Agent> {
    if payload.agent_type().is_some() || !paths.is_single() || paths.named_call().is_some() {
        return None;
    }
    let prompt = transcript::first_prompt(&paths.main).filter(|prompt| !prompt.is_main)?;
    let markers = Markers::of(&prompt.text);
    if !markers.apply() {
        return None;
    }
    let name = markers.agent?;
    let id = payload.agent_id().map(str::to_owned);
    Some(Agent { name, kind: None, id, description: None, transcript: payload.agent_transcript() })
}

fn before_tool(tool: &PreToolUsePayload, paths: TranscriptPaths, session: &Session) -> Option<GateContext> {
    let text = |field: &str| tool.tool_input.get(field).and_then(Value::as_str);
    if tools::starts_agent(&tool.tool_name) {
        return before_call(tool, agents::prompt(&tool.tool_input)?, paths, session);
    }
    tool.agent_id.as_ref()?;
    // Before the agent's first tool runs, it cannot have deleted the files that name its call.
    claim(&paths, session);
    let written = match tools::written_field(&tool.tool_name) {
        Some(_) if tools::is_patch(&tool.tool_name, &tool.tool_input) => {
            GateSubject::Patch(text(tools::PATCH)?.to_owned())
        }
        Some(field) => GateSubject::File(text(field)?.to_owned()),
        None => shell_writes(tool)?,
    };
    let origin = origin(&paths, None, session, false)?;
    let markers = Markers::of(&origin.prompt);
    // A helper has no markers, but the call of its caller.
    let step_file = match &origin.call {
        Some(call) if call.is_helper() => call.step_file.clone(),
        _ if markers.apply() => markers.step_file.clone()?,
        _ => return None,
    };
    Some(of_gate(Gate::Write { step_file, written }, markers, origin, paths))
}

/// The command of a shell, if it writes anything that can be named.
pub(super) fn shell_writes(tool: &PreToolUsePayload) -> Option<GateSubject> {
    let ToolUse::Shell(command) = tools::what(&tool.tool_name, &tool.tool_input) else { return None };
    let script = shell_effects::read(command, files::home().as_deref());
    let writes = script.effects.iter().any(|effect| effect.access.changes_files());
    if writes { Some(GateSubject::Shell(command.to_owned())) } else { None }
}

/// A call of an agent, by the main thread or by another agent, which may be gated itself.
fn before_call(
    tool: &PreToolUsePayload,
    prompt: &str,
    paths: TranscriptPaths,
    session: &Session,
) -> Option<GateContext> {
    let markers = Markers::of(prompt);
    let by_agent = tool.agent_id.is_some();
    let caller = || match claim(&paths, session) {
        None if by_agent && !GatedCall::unclaimed(session).is_empty() => {
            origin(&paths, None, session, false)?.call
        }
        found => found,
    };
    let caller = if by_agent { caller() } else { None };
    if markers.apply() {
        let gate = Gate::Call { step_file: markers.step_file.clone() };
        let origin = PromptOrigin { prompt: prompt.to_owned(), ..PromptOrigin::default() };
        let at_call = caller.as_ref().map(|caller| caller.config.clone());
        let gate = of_gate(gate, markers, origin, paths);
        let facts = GateFacts { at_call, ..gate.facts };
        return Some(GateContext { facts, caller, ..gate });
    }
    let caller = caller?;
    tool.tool_use_id.as_ref()?;
    let gate = Gate::Helper { step_file: caller.step_file.clone() };
    Some(of_gate(gate, markers, PromptOrigin { call: Some(caller), ..PromptOrigin::default() }, paths))
}

fn of_gate(gate: Gate, markers: Markers, origin: PromptOrigin, paths: TranscriptPaths) -> GateContext {
    let facts = GateFacts {
        gate,
        at_call: origin.call.as_ref().map(|call| call.config.clone()),
        markers: [
            markers.step_file.clone(),
            markers.agent.clone(),
            markers.command.clone(),
            markers.project_id.clone(),
        ],
    };
    GateContext {
        facts,
        markers,
        origin,
        paths,
        caller: None,
        seen: OnceCell::new(),
        judged: OnceCell::new(),
    }
}

pub(super) fn transcript_paths(payload: &HookPayload) -> TranscriptPaths {
    let main = expand_home(payload.transcript_path());
    let own = match payload.agent_transcript() {
        Some(path) => Some(expand_home(&path)),
        // A stop without an id and a separate path has one transcript, which is read as the agent's.
        None if matches!(payload, HookPayload::SubagentStop(_)) && payload.agent_id().is_none() => {
            Some(main.clone())
        }
        None => None,
    };
    TranscriptPaths::new(payload.agent_id().map(str::to_owned), main, own).of_call(payload.agent_call_id())
}
