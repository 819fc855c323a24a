//! Which gate of DES applies to an event: read from the payload, from what Gate 1 remembered and from transcripts.

use serde_json::Value;

use crate::agent::Agent;
use crate::des::context::{Origin, TranscriptPaths, origin, remembered};
use crate::des::markers::Markers;
use crate::files::expand_home;
use crate::plan::{Gate, GateFacts};
use crate::store::Session;
use crate::transcript::WRITING_TOOLS;
use crate::types::{HookPayload, PreToolUsePayload};

/// What is known of the gate that applies.
pub(super) struct GateContext {
    pub(super) facts: GateFacts,
    pub(super) markers: Markers,
    /// The prompt, and what Gate 1 remembered.
    pub(super) origin: Origin,
    pub(super) paths: TranscriptPaths,
}

/// The gate that applies to the event, if any. Most events have none, and cost nothing.
pub(super) fn find(
    payload: &HookPayload,
    agent: Option<&Agent>,
    session: &Session,
    des_is_on: bool,
) -> Option<GateContext> {
    match payload {
        HookPayload::PreToolUse(tool) => before_tool(payload, tool, session),
        HookPayload::SubagentStop(_) => {
            let paths = transcript_paths(payload);
            // A gate that let the agent in also looks when it leaves, whatever the config says by then.
            if !des_is_on && remembered(&paths, session).is_none() {
                return None;
            }
            let origin = origin(&paths, agent.map(|agent| agent.name.as_str()), session, true)?;
            let markers = Markers::of(&origin.prompt);
            let gate = Gate::Stop { step_file: markers.step_file.clone() };
            markers.apply().then(|| of_gate(gate, markers, origin, paths))
        }
        _ => None,
    }
}

fn before_tool(payload: &HookPayload, tool: &PreToolUsePayload, session: &Session) -> Option<GateContext> {
    let text = |field: &str| tool.tool_input.get(field).and_then(Value::as_str);
    let paths = transcript_paths(payload);
    if matches!(tool.tool_name.as_str(), "Agent" | "Task") {
        let prompt = text("prompt")?;
        let markers = Markers::of(prompt);
        if markers.apply() {
            let gate = Gate::Call { step_file: markers.step_file.clone() };
            return Some(of_gate(gate, markers, Origin { prompt: prompt.to_owned(), call: None }, paths));
        }
        tool.agent_id.as_ref().zip(tool.tool_use_id.as_ref())?;
        let parent = remembered(&paths, session)?;
        let gate = Gate::Helper { step_file: parent.step_file.clone() };
        return Some(of_gate(gate, markers, Origin { prompt: String::new(), call: Some(parent) }, paths));
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
    TranscriptPaths {
        agent_id: payload.agent_id().map(str::to_owned),
        main: expand_home(payload.transcript_path()),
        own: payload.agent_transcript().map(|path| expand_home(&path)),
    }
}

pub(super) fn called_agent(tool: &PreToolUsePayload) -> &str {
    tool.tool_input.get("subagent_type").and_then(Value::as_str).unwrap_or_default()
}
