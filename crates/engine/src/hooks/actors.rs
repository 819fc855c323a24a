//! The agent that causes an event, and its gate.

use std::path::Path;

use super::gate_context::{self, GateContext, GateQuery, GateSearch};
use conclaude_checks::des::call::GatedCall;
use conclaude_checks::des::markers;
use conclaude_core::agent::Agent;
use conclaude_core::config::{ConclaudeConfig, DesConfig};
use conclaude_core::dialect::agents::AgentCallLink;
use conclaude_core::dialect::claude::layout::derived_transcript;
use conclaude_core::event::EventKind;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::plan::Gate;
use conclaude_core::types::Event;
use conclaude_os::log;
use conclaude_store::store::Session;
use conclaude_store::transcript::{self, identity};

/// The subagent that an event comes from, if it is not the agent's own event. On the main thread of `claude --agent X` there is a
/// type without an id.
pub(super) fn caller(event: &Event) -> Option<Agent> {
    if event.kind.is_of_agent() || !event.kind.row().in_agents {
        return None;
    }
    let field = |name: &str| event.fields.get(name)?.as_str().filter(|text| !text.trim().is_empty());
    let id = field("agent_id")?;
    let kind = field("agent_type").map(str::to_owned);
    Some(Agent {
        name: kind.clone().unwrap_or_else(|| id.to_owned()),
        kind,
        id: Some(id.to_owned()),
        description: None,
        transcript: derived_transcript(event.payload.transcript_path(), id),
    })
}

/// The agent that causes the event, and the gate that applies to it.
#[derive(Default)]
pub(super) struct Actors {
    pub(super) agent: Option<Agent>,
    pub(super) gate: Option<GateContext>,
    /// Why it is unknown whether a gate applies, if one could.
    pub(super) unknown_gate: Option<Finding>,
}

pub(super) fn find(event: &Event, session: &Session, settings: &ConclaudeConfig) -> Actors {
    let payload = &event.payload;
    let des_is_on = settings.des.as_ref().is_none_or(DesConfig::is_enabled);
    let paths = gate_context::transcript_paths(payload);
    let agent = if event.kind.is_of_agent() {
        let marked = if des_is_on { gate_context::marked_agent(payload, &paths) } else { None };
        let agent = marked.unwrap_or_else(|| identity::identify(payload));
        // It does not exist earlier.
        let meta = if event.kind == EventKind::SubagentStop { paths.meta() } else { None };
        Some(Agent { description: meta.and_then(|meta| meta.description.clone()), ..agent })
    } else {
        None
    };
    let query = GateQuery { payload, agent: agent.as_ref(), session, des_is_on };
    let gate = match query.find(paths) {
        GateSearch::Found(gate) => *gate,
        GateSearch::Nothing => return Actors { agent, ..Actors::default() },
        GateSearch::NoPrompt(looked_in) => {
            let unknown_gate = match event.client.agents.call {
                AgentCallLink::Files => why_unknown(&looked_in, settings, session),
                // Otherwise a call that Gate 1 allowed would be linked with its agent.
                _ => None,
            };
            return Actors { agent, unknown_gate, ..Actors::default() };
        }
    };
    // If the payload does not name the agent, its call does. Otherwise, its marker does.
    let is_stop = matches!(gate.facts.gate, Gate::Stop { .. });
    let called = if is_stop && payload.agent_type().is_none() { gate.origin.agent.clone() } else { None };
    let agent = agent.map(|agent| match (called, &gate.markers.agent) {
        (Some(name), _) => Agent { name: name.clone(), kind: Some(name), ..agent },
        (None, Some(name)) if agent.kind.is_none() => Agent { name: name.clone(), ..agent },
        _ => agent,
    });
    Actors { agent, gate: Some(gate), unknown_gate: None }
}

/// If steps are used, a missing prompt is reported, because a gate may have been missed.
fn why_unknown(looked_in: &Path, settings: &ConclaudeConfig, session: &Session) -> Option<Finding> {
    let what = format!("the agent's prompt was not found in {}", looked_in.display());
    // The transcript of another client has the markers, but not the called agent.
    let uses_steps = settings.des.is_some()
        || GatedCall::all(session).iter().any(GatedCall::is_open)
        || (transcript::is_foreign(looked_in) && transcript::mentions(looked_in, markers::KEY));
    if uses_steps {
        let what = format!("{what}: if it has a step, the step was not checked");
        let fix = "look at its step; `conclaude des status` lists them all";
        return Some(Finding::new(Code::PromptNotFound, what, fix).warning());
    }
    log::debug(|| what);
    None
}
