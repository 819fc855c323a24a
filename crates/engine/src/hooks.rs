//! The path of one event: read → parse → plan → run → decide → answer.

use conclaude_core::dialect::{HookCall, claude};
use conclaude_core::error::InputError;
use conclaude_core::event::EventKind;
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::Plan;
use conclaude_core::types::Event;
use conclaude_os::budget::Budget;
use conclaude_os::log;
use conclaude_os::process;
use conclaude_store::export::background::PendingExport;

mod actors;
mod budgets;
pub mod call;
mod changed_files;
mod changed_input;
mod command_world;
mod commands;
mod conclude;
mod config;
mod context;
mod delivery;
mod denials;
mod enforcement;
mod finish;
mod gate_context;
mod gates;
mod guards;
mod invalid_payload;
mod lineage;
mod live;
mod open_calls;
mod panics;
mod permissions;
mod permits;
mod prompt_context;
mod record;
pub mod rehearse;
pub mod replay;
mod reports;
mod run;
mod sandbox_questions;
mod skipped_commands;
mod state_changes;
mod stdio;
pub mod switch;

use call::AnsweredEvent;
pub use call::Environment;
pub use command_world::run_commands;
pub use commands::{CommandJob, HOOK_RETENTION, StreamRetention, execute, reply};
pub use conclaude_core::decide::{Decision, HookResult};
pub use conclaude_core::error::{HookError, Result};
use conclude::Conclusion;
use context::Context;
pub use context::inherited_variables;
use invalid_payload::InvalidPayload;
use live::LiveWorld;
use open_calls::OpenCalls;

/// Whether notifications about the event obey `showSystemEvents`.
#[must_use]
pub fn is_system_event_hook(hook_name: &str) -> bool {
    EventKind::named(hook_name).is_some_and(|event| event.row().system)
}

/// Handles a SubagentStart with its payload on stdin.
///
/// # Errors
/// When the payload is invalid.
pub async fn handle_subagent_start() -> Result<HookResult> {
    handle_stdin(&HookCall::of(EventKind::SubagentStart), &Environment::of_process()).result
}

/// Handles a SubagentStop with its payload on stdin.
///
/// # Errors
/// When the payload is invalid.
pub async fn handle_subagent_stop() -> Result<HookResult> {
    handle_stdin(&HookCall::of(EventKind::SubagentStop), &Environment::of_process()).result
}

/// The result of an event, and the remaining work after the answer.
struct HandledCall {
    result: Result<HookResult>,
    export: Option<PendingExport>,
    event: AnsweredEvent,
}

impl HandledCall {
    /// A call whose payload was not read.
    fn unread(call: &HookCall, result: Result<HookResult>) -> HandledCall {
        let client = call.client.unwrap_or(&claude::DIALECT);
        HandledCall { result, export: None, event: AnsweredEvent::of_call(call, client) }
    }
}

fn handle_stdin(call: &HookCall, environment: &Environment) -> HandledCall {
    handle_read(call, stdio::payload(call.event), environment)
}

fn handle_read(
    call: &HookCall,
    payload: Result<Vec<u8>, InputError>,
    environment: &Environment,
) -> HandledCall {
    match payload {
        Ok(payload) => {
            let payload = panics::keep(payload);
            panics::panic_here_in_tests("event");
            let mut handled = HandledCall::unread(call, Ok(HookResult::success()));
            handled.result = traced(call, payload, environment, &mut handled).map(|trace| trace.result);
            handled
        }
        Err(error @ InputError::TooLarge { .. }) => {
            HandledCall::unread(call, invalid_payload::unjudged(call, error.into(), environment))
        }
        Err(error) => HandledCall::unread(call, invalid_payload::without(call, error.into(), environment)),
    }
}

/// Handles an event.
///
/// # Errors
/// When the payload is invalid.
pub fn handle(event: EventKind, input: &[u8], environment: &Environment) -> Result<HookResult> {
    trace(event, input, environment).map(|trace| trace.result)
}

/// A call in all its parts.
#[derive(Debug)]
pub struct Trace {
    pub plan: Plan,
    pub outcomes: Vec<Outcome>,
    pub result: HookResult,
}

impl Trace {
    /// The trace of an event without a plan.
    fn only(event: EventKind, result: HookResult) -> Trace {
        Trace { plan: Plan::empty(event), outcomes: Vec::new(), result }
    }
}

/// Handles an event, and keeps its plan and outcomes.
///
/// # Errors
/// When the payload is invalid.
pub fn trace(event: EventKind, input: &[u8], environment: &Environment) -> Result<Trace> {
    let call = HookCall::of(event);
    let mut handled = HandledCall::unread(&call, Ok(HookResult::success()));
    traced(&call, input, environment, &mut handled)
}

/// Like `trace`, with the answer and the later work.
fn traced(
    call: &HookCall,
    input: &[u8],
    environment: &Environment,
    handled: &mut HandledCall,
) -> Result<Trace> {
    let budget = Budget::of_hook();
    let parsed = call.parse(input);
    handled.event = match &parsed {
        Ok(event) => AnsweredEvent::of(event),
        Err(_) => AnsweredEvent::of_call(call, call.client_of(input)),
    };
    panics::event_is_known(&handled.event);
    let environment = environment.of_client(handled.event.client, call);
    let kind = parsed.as_ref().map_or(handled.event.called, |event| event.kind);
    if let Ok(event) = &parsed
        && call::is_left_to_client(call, event, &environment)
    {
        log::info(|| format!("{} calls its own registration for this event", event.client.title));
        return Ok(Trace::only(kind, HookResult::success()));
    }
    let mut handle = |event: Event| {
        let kind = event.kind;
        let Some(context) = Context::gather(event, input, &environment, &budget)? else {
            return Ok(Trace::only(kind, HookResult::success()));
        };
        let traced = in_context(&context);
        handled.export = context.take_export();
        traced
    };
    let traced = match parsed {
        Ok(event) => match OpenCalls::of(&event, &environment) {
            Some(calls) => calls.handle(event, handle),
            None => handle(event),
        },
        Err(error) => Err(error.into()),
    };
    match traced {
        Err(HookError::Payload(error)) => {
            let unread =
                InvalidPayload { call, event: kind, input, environment: &environment, budget: &budget };
            unread.answer(error).map(|result| Trace::only(kind, result))
        }
        traced => traced,
    }
}

fn in_context(context: &Context<'_>) -> Result<Trace> {
    let plan = context.plan().inspect_err(|error| delivery::keep_error(context, error))?;
    panics::plan_is_known(&plan, context.is_first_stop());
    panics::panic_here_in_tests("plan");
    let mut live = LiveWorld::new(&plan, context);
    let run = run::run(&plan, &mut live);
    if let Some(signal) = process::stop_signal() {
        return Err(finish::interrupted(context, &plan, &run, signal));
    }
    let Conclusion { outcomes, recorded } = conclude::conclude(&plan, run, &mut live);
    let result = finish::finish(context, &plan, &outcomes, recorded);
    Ok(Trace { plan, outcomes, result })
}
