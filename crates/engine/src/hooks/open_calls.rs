//! Agents of a client without events for agents. An agent's call is open from its start to its result, and the events between
//! belong to the agent. With several open calls it is unknown which one an event belongs to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::context::root_of;
use super::{Decision, Environment, HookResult, Result, Trace};
use conclaude_core::agent::UNKNOWN;
use conclaude_core::dialect::claude::{agents, tools};
use conclaude_core::event::EventKind;
use conclaude_core::types::{Event, HookPayload};
use conclaude_os::log;
use conclaude_store::store::{Session, hash};

/// The key of a call's state.
const OPEN: &str = "open-";

/// A call whose agent is working.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct OpenCall {
    /// The id of the call, and of its agent.
    id: String,
    agent: String,
    prompt: String,
    /// The agent was blocked, and continues.
    is_blocked: bool,
    /// The agent may stop. Its result is still missing.
    is_stopped: bool,
}

impl OpenCall {
    fn name(&self) -> String {
        format!("{OPEN}{}", hash(&format!("{} {} {}", self.id, self.agent, self.prompt)))
    }

    /// The event as one of this agent.
    fn event(&self, event: &Event) -> Result<Event> {
        let agent = [("agent_id", Value::from(self.id.as_str())), ("agent_type", self.agent.as_str().into())];
        let event = event.with(agent)?;
        if event.kind == EventKind::SubagentStop {
            Ok(event.with([("stop_hook_active", self.is_blocked.into())])?)
        } else {
            Ok(event)
        }
    }
}

/// The calls of a session.
pub(super) struct OpenCalls {
    session: Session,
    calls: Vec<OpenCall>,
}

impl OpenCalls {
    /// `None` for a client with its own events for agents.
    pub(super) fn of(event: &Event, environment: &Environment) -> Option<OpenCalls> {
        event.client.tool_of(EventKind::SubagentStop)?;
        let root = root_of(&event.payload, environment).ok()?;
        let session = Session::new(&root.folder, event.payload.session_id());
        let session = if environment.is_rehearsal { session.read_only() } else { session };
        let mut calls: Vec<OpenCall> =
            session.kept_names(OPEN).iter().filter_map(|name| session.kept(name)).collect();
        calls.sort_by(|one, other| one.id.cmp(&other.id));
        Some(OpenCalls { session, calls })
    }

    /// Handles an event for every possible agent, and the calls that it starts or ends.
    pub(super) fn handle(
        mut self,
        event: Event,
        mut handle: impl FnMut(Event) -> Result<Trace>,
    ) -> Result<Trace> {
        match (event.kind, &event.payload) {
            (EventKind::UserPromptSubmit | EventKind::SessionStart, _) => {
                self.close_all();
                handle(event)
            }
            (EventKind::Stop | EventKind::SessionEnd, _) => {
                let trace = handle(event);
                self.close_all();
                trace
            }
            (_, HookPayload::PreToolUse(tool)) if tools::starts_agent(&tool.tool_name) => {
                let trace = handle(event.clone())?;
                self.start(&event, trace, handle)
            }
            (_, HookPayload::PostToolUse(tool)) if tools::starts_agent(&tool.tool_name) => {
                let closed = self.closed(&event);
                let event = closed.as_ref().map_or(Ok(event.clone()), |call| {
                    event.with([("tool_response", json!({"agentId": call.id}))])
                })?;
                let trace = handle(event);
                closed.iter().for_each(|call| self.close(call));
                trace
            }
            _ => self.handle_for_agents(&event, handle),
        }
    }

    /// The rules of every name apply. If several agents have one name, it is enough that one of them may do it.
    fn handle_for_agents(
        &self,
        event: &Event,
        mut handle: impl FnMut(Event) -> Result<Trace>,
    ) -> Result<Trace> {
        let is_stop = event.kind == EventKind::SubagentStop;
        let mut names: BTreeMap<&str, Vec<&OpenCall>> = BTreeMap::new();
        if is_stop || event.kind.row().in_agents {
            for call in self.calls.iter().filter(|call| !(is_stop && call.is_stopped)) {
                names.entry(&call.agent).or_default().push(call);
            }
        }
        let mut all: Option<Trace> = None;
        for calls in names.into_values() {
            let mut of_name: Option<Trace> = None;
            for call in calls {
                let trace = handle(call.event(event)?)?;
                let is_allowed = trace.result.is_allowed();
                if is_stop {
                    self.note_stop(call, is_allowed);
                }
                of_name = Some(trace);
                if is_allowed {
                    break;
                }
            }
            let Some(trace) = of_name else { continue };
            if !trace.result.is_allowed() {
                return Ok(trace);
            }
            all = Some(match all {
                None => trace,
                Some(before) => joined(before, trace.result),
            });
        }
        match all {
            Some(trace) => Ok(trace),
            None => handle(event.clone()),
        }
    }

    /// An agent starts with its call, unless that is denied.
    fn start(
        &self,
        event: &Event,
        trace: Trace,
        mut handle: impl FnMut(Event) -> Result<Trace>,
    ) -> Result<Trace> {
        let HookPayload::PreToolUse(tool) = &event.payload else { return Ok(trace) };
        if !matches!(trace.result.decision, Decision::Allow | Decision::Permit(_)) {
            return Ok(trace);
        }
        let agent = agents::called(&tool.tool_input);
        let call = OpenCall {
            id: tool.tool_use_id.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
            agent: if agent.is_empty() { UNKNOWN.to_owned() } else { agent.to_owned() },
            prompt: agents::prompt(&tool.tool_input).unwrap_or_default().to_owned(),
            ..OpenCall::default()
        };
        self.keep(&call);
        let started = handle(event.start_of_agent(&call.id, &call.agent)?)?;
        Ok(joined(trace, started.result))
    }

    /// The call whose result the event is. Gate 1 may have extended its prompt.
    fn closed(&self, event: &Event) -> Option<OpenCall> {
        let input = event.fields.get("tool_input")?.as_object()?;
        let (agent, prompt) = (agents::called(input), agents::prompt(input).unwrap_or_default());
        let mut of_agent = self.calls.iter().filter(|call| call.agent == agent);
        let by_prompt = of_agent.clone().find(|call| prompt.starts_with(&call.prompt));
        by_prompt.or_else(|| of_agent.next()).cloned()
    }

    fn note_stop(&self, call: &OpenCall, is_allowed: bool) {
        if is_allowed {
            self.keep(&OpenCall { is_stopped: true, ..call.clone() });
        } else if !call.is_blocked {
            self.keep(&OpenCall { is_blocked: true, ..call.clone() });
        }
    }

    fn keep(&self, call: &OpenCall) {
        if let Err(error) = self.session.keep(&call.name(), call) {
            log::warn(|| format!("cannot keep which agent is at work: {error}"));
        }
    }

    fn close(&self, call: &OpenCall) {
        if let Err(error) = self.session.forget(&call.name()) {
            log::warn(|| format!("cannot note that an agent is no longer at work: {error}"));
        }
    }

    fn close_all(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        calls.iter().for_each(|call| self.close(call));
    }
}

/// Joins the answers of two agents that both allow the event.
fn joined(trace: Trace, other: HookResult) -> Trace {
    let lines = |one: Option<String>, other: Option<String>| match (one, other) {
        (Some(one), Some(other)) if one != other => Some(format!("{one}\n{other}")),
        (one, other) => one.or(other),
    };
    let Trace { plan, outcomes, result } = trace;
    let result = HookResult {
        message: lines(result.message, other.message),
        context: lines(result.context, other.context),
        error: lines(result.error, other.error),
        delivered: result.delivered.into_iter().chain(other.delivered).collect(),
        ..result
    };
    Trace { plan, outcomes, result }
}
