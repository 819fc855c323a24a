//! The work after a decision is recorded: changes of the gates' state, notification, outbox, and the final answer.

use std::io::Write;

use super::conclude::RecordedRuling;
use super::context::Context;
use super::run::Run;
use super::{delivery, permits, record, state_changes};
use conclaude_core::decide::{Decision, HookResult, Ruling, Word};
use conclaude_core::error::HookError;
use conclaude_core::event::EventKind;
use conclaude_core::messages;
use conclaude_core::outcome::{Outcome, Verdict};
use conclaude_core::plan::{Plan, Step};
use conclaude_core::text::{Excerpt, LIMIT, head_and_tail};
use conclaude_os::{log, notify};
use conclaude_store::store::{self, Session};

pub(super) fn finish(
    context: &Context<'_>,
    plan: &Plan,
    outcomes: &[Outcome],
    recorded: RecordedRuling,
) -> HookResult {
    let RecordedRuling { ruling, problem } = recorded;
    let result = with_block_summary(context, plan, outcomes, ruling);
    let result = if result.is_allowed() {
        state_changes::stopped(plan, context);
        allowed(context, plan, result, problem)
    } else {
        state_changes::denied(plan, context);
        refused(context, result, problem)
    };
    if !is_error_shown(context, &result) {
        outcomes
            .iter()
            .filter_map(Outcome::failure)
            .for_each(|failure| delivery::keep_failure(context, failure));
    }
    keep_reason(context, &result);
    let end = match &result.error {
        None if result.is_allowed() => Ok(()),
        error => Err(error.as_deref()),
    };
    notify_user(context, plan, outcomes, end);
    permits::finish(context);
    if plan.event == EventKind::SessionEnd {
        context.session.end();
        store::permits::forget(context.payload().session_id());
    }
    let result = delivery::deliver(context, result);
    if let Some(error) = &result.error
        && !result.fails(plan.event)
    {
        log::warn(|| error.clone());
    }
    result
}

fn allowed(
    context: &Context<'_>,
    plan: &Plan,
    mut result: HookResult,
    problem: Option<String>,
) -> HookResult {
    if let Some(problem) = problem {
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
    if is_shown_later(context, plan)
        && let Some(message) = result.message.take()
    {
        delivery::keep_once(context, &message, &message);
        // Other clients get it too: a later version may show it.
        if context.event.client.is_translated()
            && context.kind().is_known()
            && !delivery::is_told_here(context)
        {
            result.message = Some(message);
        }
    }
    result
}

/// Whether the answer shows the user why the event fails.
fn is_error_shown(context: &Context<'_>, result: &HookResult) -> bool {
    result.error.is_some() && delivery::is_shown(context)
}

/// Messages of commands and budgets are not shown inside a subagent.
fn is_inside_agent(context: &Context<'_>, plan: &Plan) -> bool {
    context.caller.is_some() && plan.steps.iter().any(Step::says_more)
}

/// Whether nobody would see a message at this event. Then it is shown at the next visible one.
pub(super) fn is_shown_later(context: &Context<'_>, plan: &Plan) -> bool {
    is_inside_agent(context, plan) || (context.agent.is_none() && !context.is_shown())
}

fn refused(context: &Context<'_>, result: HookResult, problem: Option<String>) -> HookResult {
    let problem = problem.map(|problem| format!("\n({problem})")).unwrap_or_default();
    let finished = |reason: String| shorten(reason, &context.session) + &problem;
    let decision = match result.decision {
        Decision::Allow => Decision::Allow,
        Decision::Permit(reason) => Decision::Permit(reason),
        Decision::GoOn(text) => Decision::GoOn(finished(text)),
        Decision::Block(reason) => Decision::Block(finished(reason)),
        Decision::Deny(reason) => Decision::Deny(finished(reason)),
        Decision::Ask(reason) => Decision::Ask(finished(reason)),
    };
    HookResult { decision, ..result }
}

/// The reason for blocking the main thread may come back as a prompt.
fn keep_reason(context: &Context<'_>, result: &HookResult) {
    if context.kind() == EventKind::Stop
        && let Decision::Block(reason) | Decision::GoOn(reason) = &result.decision
        && let Err(error) = context.session.keep_reason(reason)
    {
        log::warn(|| format!("cannot note why the stop was blocked: {error}"));
    }
}

/// conclaude received a signal: the commands until then are recorded.
pub(super) fn interrupted(context: &Context<'_>, plan: &Plan, run: &Run<'_>, signal: &str) -> HookError {
    let error = HookError::Interrupted(messages::interrupted(plan, &run.outcomes, signal));
    delivery::keep_error(context, &error);
    let recorded = record::of_interruption(context, plan, run).map(|record| context.audit(&record));
    let error = match recorded {
        Some(Err(unrecorded)) => unrecorded,
        _ => error,
    };
    notify_user(context, plan, &run.outcomes, Err(Some(&error.to_string())));
    error
}

/// Notifies the user of the event's result: success, or an error.
fn notify_user(context: &Context<'_>, plan: &Plan, outcomes: &[Outcome], end: Result<(), Option<&str>>) {
    if record::notification(context, plan, outcomes, end.is_ok()).is_some() {
        let body = match end.err().flatten().zip(plan.agent.as_ref()) {
            Some((error, agent)) => format!("{}: {error}", messages::agent_name(agent)),
            None => messages::notification_body(plan, outcomes, context.payload().session_id()),
        };
        notify::send(&format!("conclaude: {}", plan.event), &body, &context.budget);
    }
}

/// The start and the end of a text that is too long for an answer, and where the full text is.
fn shorten(text: String, session: &Session) -> String {
    let Some(Excerpt { head, tail, left_out: between }) = head_and_tail(&text, LIMIT - 500) else {
        return text;
    };
    let saved = session
        .output_file("answer")
        .and_then(|(mut file, path)| file.write_all(text.as_bytes()).map(|()| path));
    let location = match saved {
        Ok(path) => format!("all of it is in {}", path.display()),
        Err(error) => format!("it could not be saved: {error}"),
    };
    format!("{head}\n… {between} characters left out; {location} …\n{tail}")
}

/// Adds the line to the result. If `maxBlocks` allows the stop, the result says so itself. A repeated timeout no longer blocks.
fn with_block_summary(
    context: &Context<'_>,
    plan: &Plan,
    outcomes: &[Outcome],
    ruling: Ruling,
) -> HookResult {
    let Ruling { result, word, .. } = ruling;
    // While the checks wait for background agents, it is unknown how the blocks end.
    if !result.is_allowed() || plan.waits() {
        return result;
    }
    let Some(agent) = context.stopping() else { return result };
    // Claude no longer has to continue until the next prompt.
    let has_gone_on = messages::asked_to_go_on(outcomes).is_some();
    let is_at_limit = word == Word::AllowedDespiteFailure
        && outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    if is_at_limit || has_gone_on {
        return result;
    }
    let blocks = context.session.take_blocks(&agent).unwrap_or_else(|error| {
        log::warn(|| format!("cannot read whether the agent was blocked: {error}"));
        None
    });
    let Some((blocks, checks)) = blocks else { return result };
    let line = messages::block_summary(&agent, blocks, &checks, outcomes);
    let message = match result.message {
        Some(message) => format!("{message}\n{line}"),
        None => format!("conclaude: {line}"),
    };
    HookResult { message: Some(message), ..result }
}
