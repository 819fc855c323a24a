//! The road of one event: read → parse → plan → run → decide → answer.

use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use crate::decide::{self, Cause};
use crate::dialect::claude;
use crate::event::EventKind;
use crate::exit::Exit;
use crate::export::background;
use crate::install::registration;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::store::outbox;
use crate::{deadline, log, process};

mod block_summary;
mod changes;
mod commands;
mod config;
mod config_error;
mod context;
mod delivery;
mod environment;
mod finish;
mod gate_facts;
mod gates;
mod guards;
mod not_run;
mod panics;
mod permissions;
mod prompts;
mod record;
pub(crate) mod rehearse;
mod remember;
pub(crate) mod replay;
mod reports;
mod run;
mod running;
mod stdio;
pub(crate) mod switch;
mod unread;
mod who;

pub use crate::decide::{Decision, HookResult};
pub use crate::error::{HookError, Result};
pub(crate) use commands::execute;
use context::Context;
pub(crate) use context::inherited_variables;
pub use environment::Environment;

/// Whether notifications about the event obey `showSystemEvents`.
#[must_use]
pub fn is_system_event_hook(hook_name: &str) -> bool {
    EventKind::named(hook_name).is_some_and(|event| event.row().system)
}

/// Handles a SubagentStart whose payload comes on stdin.
///
/// # Errors
/// When the payload is invalid.
#[expect(clippy::unused_async, reason = "the signature is part of the contract")]
pub async fn handle_subagent_start() -> Result<HookResult> {
    handle_stdin(EventKind::SubagentStart, &Environment::of_process())
}

/// Handles a SubagentStop whose payload comes on stdin.
///
/// # Errors
/// When the payload is invalid.
#[expect(clippy::unused_async, reason = "the signature is part of the contract")]
pub async fn handle_subagent_stop() -> Result<HookResult> {
    handle_stdin(EventKind::SubagentStop, &Environment::of_process())
}

/// The whole of `conclaude <Event>`: handles the payload on stdin and writes the answer.
#[must_use]
pub fn call(event: EventKind) -> Exit {
    answer(event, || match (event, switch::off()) {
        (event, Some(value)) => Ok(switch::answer(event, &value)),
        (EventKind::SubagentStart, None) => poll_once(handle_subagent_start()),
        (EventKind::SubagentStop, None) => poll_once(handle_subagent_stop()),
        (other, None) => handle_stdin(other, &Environment::of_process()),
    })
}

/// The whole of `conclaude <Event> --if-trusted`, which is registered for all projects of a user: it defers to the
/// project's own registration where there is one, and runs nothing of a project that nobody trusts.
#[must_use]
pub fn call_if_trusted(event: EventKind) -> Exit {
    answer(event, || {
        let environment = Environment { only_if_trusted: true, ..Environment::of_process() };
        let off = switch::off();
        let payload = if off.is_none() { stdio::payload(event) } else { Ok(Vec::new()) };
        let compared = payload.as_deref().ok().and_then(|input| claude::compared(event, input));
        match (&environment.project_dir, off) {
            (Some(project), _) if registration::project_has(project, event, compared.as_deref()) => {
                Ok(HookResult::success())
            }
            (_, Some(value)) => Ok(switch::answer(event, &value)),
            (_, None) => handle_read(event, payload, &environment),
        }
    })
}

/// The whole of `conclaude Hooks <Event>`, as conclaude 0.2 was registered. In the file of an agent, Claude Code delivers `Stop` as
/// SubagentStop; and what the project's settings register as well is handled once.
#[must_use]
pub(crate) fn call_as_original(event: EventKind, names_agent: bool) -> Exit {
    if switch::off().is_some() {
        return call(event);
    }
    let payload = stdio::payload(event);
    let delivered = payload.as_deref().map_or(event, |input| claude::delivered(event, input));
    answer(delivered, || {
        let environment = Environment::of_process();
        let compared = payload.as_deref().ok().and_then(|input| claude::compared(delivered, input));
        match &environment.project_dir {
            Some(project)
                if (names_agent || delivered != event)
                    && registration::project_has(project, delivered, compared.as_deref()) =>
            {
                Ok(HookResult::success())
            }
            _ => handle_read(delivered, payload, &environment),
        }
    })
}

fn answer(event: EventKind, handle: impl FnOnce() -> Result<HookResult>) -> Exit {
    panics::install(event);
    let result = handle();
    let answer = claude::render(event, &result, &log::take());
    let is_written = stdio::write(&answer);
    // What nobody could read is shown again at the next event.
    if let Ok(result) = &result
        && is_written
    {
        outbox::note(&result.delivered);
    }
    background::start();
    answer.exit
}

/// The output of a future that never waits: no runtime is needed to poll it once.
fn poll_once(future: impl Future<Output = Result<HookResult>>) -> Result<HookResult> {
    match pin!(future).poll(&mut TaskContext::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(HookError::Input("internal error: a handler waited".into())),
    }
}

fn handle_stdin(event: EventKind, environment: &Environment) -> Result<HookResult> {
    handle_read(event, stdio::payload(event), environment)
}

fn handle_read(
    event: EventKind,
    payload: std::result::Result<Vec<u8>, String>,
    environment: &Environment,
) -> Result<HookResult> {
    match payload {
        Ok(payload) => {
            let payload = panics::keep(payload);
            panics::panic_here_in_tests("event");
            handle(event, payload, environment)
        }
        Err(reason) => unread::without(event, HookError::Input(reason)),
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
    pub(crate) plan: Plan,
    pub outcomes: Vec<Outcome>,
    pub result: HookResult,
}

/// Handles an event, and keeps what was planned and what came of it.
///
/// # Errors
/// When the payload is invalid.
pub fn trace(event: EventKind, input: &[u8], environment: &Environment) -> Result<Trace> {
    deadline::start();
    let only = |result| Trace { plan: Plan::empty(event), outcomes: Vec::new(), result };
    let gathered = claude::parse(event, input)
        .map_err(HookError::from)
        .and_then(|parsed| Context::gather(parsed, input, environment));
    let context = match gathered {
        Ok(Some(context)) => context,
        Ok(None) => return Ok(only(HookResult::success())),
        Err(HookError::Payload(error)) => return unread::answer(event, input, environment, error).map(only),
        Err(error) => return Err(error),
    };
    let plan = context.plan().inspect_err(|error| delivery::keep_error(&context, error))?;
    panics::plan_is_known(&plan, context.is_first_stop());
    let mut outcomes = run::run(&plan, &context);
    if let Some(signal) = process::stop_signal() {
        return Err(finish::interrupted(&context, &plan, &outcomes, signal));
    }
    let count = || context.count_block(plan.max_blocks, &Cause::of(&outcomes));
    let decided = decide::decide(&plan, &outcomes, context.is_first_stop(), count);
    let problem = record::write(&context, &plan, &mut outcomes, &decided);
    let decided = decide::unless_unrecorded(&plan, &outcomes, decided);
    let result = finish::finish(&context, &plan, &outcomes, decided, problem);
    if !environment.is_rehearsal {
        // The process ends now: freeing thousands of small values takes longer than a rule does.
        std::mem::forget(context);
    }
    Ok(Trace { plan, outcomes, result })
}
