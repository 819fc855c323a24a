//! Which gate of DES applies to an event: read from the payload, from what Gate 1 remembered and from transcripts.

use std::path::PathBuf;

use serde_json::Value;

use crate::agent::Agent;
use crate::des::context::{Origin, TranscriptPaths, origin, remembered};
use crate::des::markers::Markers;
use crate::files::expand_home;
use crate::plan::{Gate, GateFacts};
use crate::store::Session;
use crate::transcript::{self, WRITING_TOOLS};
use crate::types::{HookPayload, PreToolUsePayload};

/// What is known of the gate that applies.
pub(super) struct GateContext {
    pub(super) facts: GateFacts,
    pub(super) markers: Markers,
    /// The prompt, and what Gate 1 remembered.
    pub(super) origin: Origin,
    pub(super) paths: TranscriptPaths,
}

/// Which gate applies to an event.
pub(super) enum Search {
    Found(Box<GateContext>),
    Nothing,
    /// The agent's prompt was not found, so nobody can know; where it was looked for.
    NoPrompt(PathBuf),
}

/// The gate that applies to the event, if any. Most events have none, and cost nothing.
pub(super) fn find(
    payload: &HookPayload,
    agent: Option<&Agent>,
    session: &Session,
    des_is_on: bool,
) -> Search {
    let found = match payload {
        HookPayload::PreToolUse(tool) => before_tool(payload, tool, session),
        HookPayload::SubagentStop(_) => return at_stop(payload, agent, session, des_is_on),
        _ => None,
    };
    found.map_or(Search::Nothing, |gate| Search::Found(Box::new(gate)))
}

fn at_stop(payload: &HookPayload, agent: Option<&Agent>, session: &Session, des_is_on: bool) -> Search {
    let paths = transcript_paths(payload);
    // A gate that let the agent in also looks when it leaves, whatever the config says by then.
    if !des_is_on && remembered(&paths, session).is_none() {
        return Search::Nothing;
    }
    let Some(origin) = origin(&paths, agent.map(|agent| agent.name.as_str()), session, true) else {
        let looked_in = paths.own.as_ref().filter(|own| own.exists()).unwrap_or(&paths.main);
        return Search::NoPrompt(looked_in.clone());
    };
    let markers = Markers::of(&origin.prompt);
    if !markers.apply() {
        return Search::Nothing;
    }
    let gate = Gate::Stop { step_file: markers.step_file.clone() };
    Search::Found(Box::new(of_gate(gate, markers, origin, paths)))
}

/// The agent of a stop whose only transcript is its own, by the marker in the prompt: a call in there is one of its helpers.
pub(super) fn marked_agent(payload: &HookPayload) -> Option<Agent> {
    let paths = transcript_paths(payload);
    if payload.agent_type().is_some() || !paths.is_single() {
        return None;
    }
    let prompt = transcript::first_prompt(&paths.main).filter(|prompt| !prompt.is_main)?;
    let markers = Markers::of(&prompt.text);
    let name = markers.agent.clone().filter(|_| markers.apply())?;
    let id = payload.agent_id().map(str::to_owned);
    Some(Agent { name, kind: None, id, description: None, transcript: payload.agent_transcript() })
}

fn before_tool(payload: &HookPayload, tool: &PreToolUsePayload, session: &Session) -> Option<GateContext> {
    let text = |field: &str| tool.tool_input.get(field).and_then(Value::as_str);
    let paths = transcript_paths(payload);
    if matches!(tool.tool_name.as_str(), "Agent" | "Task") {
        let prompt = text("prompt")?;
        let markers = Markers::of(prompt);
        if markers.apply() {
            let gate = Gate::Call { step_file: markers.step_file.clone() };
            return Some(of_gate(
                gate,
                markers,
                Origin { prompt: prompt.to_owned(), ..Origin::default() },
                paths,
            ));
        }
        tool.agent_id.as_ref().zip(tool.tool_use_id.as_ref())?;
        let parent = remembered(&paths, session)?;
        let gate = Gate::Helper { step_file: parent.step_file.clone() };
        return Some(of_gate(gate, markers, Origin { call: Some(parent), ..Origin::default() }, paths));
    }
    let (_, field) = WRITING_TOOLS.iter().find(|(name, _)| *name == tool.tool_name)?;
    tool.agent_id.as_ref()?;
    let file = text(field)?.to_owned();
    let origin = origin(&paths, None, session, false)?;
    let markers = Markers::of(&origin.prompt);
    // A helper has no markers of its own, but the call of the agent that called it.
    let helped = origin.call.as_ref().filter(|call| call.parent.is_some()).map(|call| call.step_file.clone());
    let step_file = helped.or(markers.step_file.clone().filter(|_| markers.apply()))?;
    Some(of_gate(Gate::Write { step_file, file }, markers, origin, paths))
}

fn of_gate(gate: Gate, markers: Markers, origin: Origin, paths: TranscriptPaths) -> GateContext {
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
    GateContext { facts, markers, origin, paths }
}

pub(super) fn transcript_paths(payload: &HookPayload) -> TranscriptPaths {
    let main = expand_home(payload.transcript_path());
    let own = payload.agent_transcript().map(|path| expand_home(&path));
    // A stop without an id and a path of the agent's own has one transcript, which is read as the agent's.
    let is_single = matches!(payload, HookPayload::SubagentStop(_)) && payload.agent_id().is_none();
    let own = own.or_else(|| is_single.then(|| main.clone()));
    TranscriptPaths { agent_id: payload.agent_id().map(str::to_owned), main, own }
}

/// The agent that is called; Copilot calls the field as Claude Code calls that of its payloads.
pub(super) fn called_agent(tool: &PreToolUsePayload) -> &str {
    let field = |name: &str| tool.tool_input.get(name).and_then(Value::as_str);
    field("subagent_type").or_else(|| field("agent_type")).unwrap_or_default()
}
