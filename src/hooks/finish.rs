//! What follows from a decision that was recorded: what the gate does next, notification, outbox, and the answer's final words.

use std::io::Write;

use super::config::concerns;
use super::context::Context;
use super::record::Written;
use super::{block_summary, config_error, delivery, record, remember, unread};
use crate::decide::{Decided, Decision, HookResult};
use crate::error::{HookError, Result};
use crate::event::EventKind;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::store::Session;
use crate::text::{LIMIT, head_and_tail};
use crate::{log, messages, notify};

pub(super) fn finish(
    context: &Context<'_>,
    plan: &Plan,
    outcomes: &[Outcome],
    (decided, written): (Decided, Written),
) -> Result<HookResult> {
    let config_error = report_config_error(context);
    let result = block_summary::add(context, plan, outcomes, decided.word, decided.result);
    let result = match result.decision {
        Decision::Allow | Decision::Permit => {
            remember::stopped(plan, context);
            allowed(context, plan, result, written).and_then(|result| match config_error {
                // What may have spoken against a permission has been asked about: the error is shown at the next event.
                Some(error) if result.decision != Decision::Permit => with_error(plan.event, result, error),
                _ => Ok(result),
            })
        }
        // A refusal stands, whatever becomes of its record.
        _ => Ok({
            remember::denied(plan, context);
            refused(context, result, written.unwrap_or_else(|error| Some(error.to_string())))
        }),
    };
    notify_user(context, plan, outcomes, &result);
    if plan.event == EventKind::SessionEnd {
        context.session.end();
    }
    Ok(delivery::deliver(context, result?))
}

/// The event failed. What the client was to be given by the readable files of the config stays, and the error is shown beside it.
fn with_error(event: EventKind, decided: HookResult, error: HookError) -> Result<HookResult> {
    if decided.context.is_none() && decided.worktree.is_none() {
        let shown = unread::failed(event, error)?;
        return Ok(HookResult { updated_input: decided.updated_input, ..shown });
    }
    log::warn(|| error.to_string());
    let shown = event.is_shown().then(|| format!("conclaude: {error}"));
    let message: Vec<String> = decided.message.into_iter().chain(shown).collect();
    let message = (!message.is_empty()).then(|| message.join("\n"));
    Ok(HookResult { message, ..decided })
}

fn allowed(
    context: &Context<'_>,
    plan: &Plan,
    mut result: HookResult,
    written: Written,
) -> Result<HookResult> {
    if let Some(problem) = written.as_ref().ok().cloned().flatten() {
        result.message = Some(match result.message {
            Some(message) => format!("{message}\n{problem}"),
            None => messages::message(plan, &problem),
        });
    }
    result.message = result.message.map(|message| shorten(message, &context.session));
    if let Some((agent, message)) = context.caller.as_ref().zip(result.message.as_ref())
        && is_inside_agent(context, plan)
    {
        delivery::keep(context, agent, message);
        result.message = None;
    }
    if let Some((agent, message)) = context.agent.as_ref().zip(result.message.as_ref()) {
        delivery::keep(context, agent, message);
    }
    written.inspect_err(|error| delivery::keep_error(context, error))?;
    if is_shown_later(context, plan)
        && let Some(message) = result.message.take()
    {
        delivery::keep_once(context, &message, &message);
    }
    Ok(result)
}

/// What commands have to show inside a subagent is not shown there.
fn is_inside_agent(context: &Context<'_>, plan: &Plan) -> bool {
    context.caller.is_some() && plan.commands().next().is_some()
}

/// Whether nobody would see a message at this event: then it is shown at the next one where the user does.
pub(super) fn is_shown_later(context: &Context<'_>, plan: &Plan) -> bool {
    is_inside_agent(context, plan) || (context.agent.is_none() && !plan.event.is_shown())
}

fn refused(context: &Context<'_>, result: HookResult, problem: Option<String>) -> HookResult {
    let problem = problem.map(|problem| format!("\n({problem})")).unwrap_or_default();
    let finished = |reason: String| shorten(reason, &context.session) + &problem;
    let decision = match result.decision {
        Decision::Allow => Decision::Allow,
        Decision::Permit => Decision::Permit,
        Decision::Block(reason) => Decision::Block(finished(reason)),
        Decision::Deny(reason) => Decision::Deny(finished(reason)),
        Decision::Ask(reason) => Decision::Ask(finished(reason)),
    };
    HookResult { decision, ..result }
}

/// The config's error, if the event's commands did not run because of it. Nobody sees an error at the events of a subagent,
/// so it is shown at the next event of the main thread too.
fn report_config_error(context: &Context<'_>) -> Option<HookError> {
    let error = context.config.error.as_ref()?;
    if !concerns(error, context.kind()) {
        log::debug(|| error.to_string());
        return None;
    }
    let shown = config_error::shown(&context.session, error.clone());
    let text = format!("conclaude: {shown}");
    // While all of it is pending for the user, the line adds nothing.
    let same = if matches!(shown, HookError::KnownConfig(_)) { error.summary() } else { text.clone() };
    delivery::keep_once(context, &text, &same);
    Some(shown)
}

/// We were asked to stop: what was run until then is recorded.
pub(super) fn interrupted(
    context: &Context<'_>,
    plan: &Plan,
    outcomes: &[Outcome],
    signal: &str,
) -> HookError {
    let error = HookError::Interrupted(messages::interrupted(plan, outcomes, signal));
    delivery::keep_error(context, &error);
    let recorded = record::of_interruption(context, plan, outcomes).map(|record| context.audit(&record));
    let error = match recorded {
        Some(Err(unrecorded)) => unrecorded,
        _ => error,
    };
    notify_user(context, plan, outcomes, &Err(HookError::Interrupted(error.to_string())));
    error
}

/// How the event went, where the user is notified of it.
fn notify_user(context: &Context<'_>, plan: &Plan, outcomes: &[Outcome], result: &Result<HookResult>) {
    let is_allowed = result.as_ref().is_ok_and(HookResult::is_allowed);
    if record::notification(context, plan, outcomes, is_allowed).is_some() {
        let body = match (result, &plan.agent) {
            (Err(error), Some(agent)) => format!("{}: {error}", messages::agent_name(agent)),
            _ => messages::notification_body(plan, outcomes, context.payload().session_id()),
        };
        notify::send(&format!("conclaude: {}", plan.event), &body);
    }
}

/// A text that is too long for an answer: its start and its end, and where all of it is.
fn shorten(text: String, session: &Session) -> String {
    let Some((head, tail, between)) = head_and_tail(&text, LIMIT - 500) else { return text };
    let saved = session
        .output_file("answer")
        .and_then(|(mut file, path)| file.write_all(text.as_bytes()).map(|()| path));
    let location = match saved {
        Ok(path) => format!("all of it is in {}", path.display()),
        Err(error) => format!("it could not be saved: {error}"),
    };
    format!("{head}\n… {between} characters left out; {location} …\n{tail}")
}
