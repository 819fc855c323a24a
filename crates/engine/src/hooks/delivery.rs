//! Messages of a subagent's event go to the outbox. They are delivered when the client shows messages.

use std::path::Path;

use super::context::Context;
use conclaude_core::agent::Agent;
use conclaude_core::decide::{DeliveredMessage, HookResult};
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::{prompt::task_of, tools};
use conclaude_core::error::HookError;
use conclaude_core::event::EventKind;
use conclaude_core::outcome::Failure;
use conclaude_core::text::{LIMIT, join_within};
use conclaude_core::types::HookPayload;
use conclaude_os::files;
use conclaude_os::log;
use conclaude_store::store::outbox::{Outbox, OutboxEntry, text_of};
use conclaude_store::transcript::identity;

/// Queues a message that nobody sees here.
pub(super) fn keep(context: &Context<'_>, agent: &Agent, text: &str) {
    let outbox = Outbox::of(&context.root.folder, context.payload().session_id());
    let own = agent.transcript.as_deref().map(files::expand_home);
    put(
        &outbox,
        &OutboxEntry {
            agent_id: agent.id.clone(),
            ancestors: own.map(|path| identity::ancestors(&path)).unwrap_or_default(),
            text: text.to_owned(),
            // Some clients show it with the answer. Then only the model still needs it.
            shown_to_user: context.agent.is_some() && context.is_shown(),
            ..OutboxEntry::default()
        },
    );
}

/// Queues a message that is the same for every agent, unless one with this part is already queued for the user.
pub(super) fn keep_once(context: &Context<'_>, text: &str, part: &str) {
    let outbox = Outbox::of(&context.root.folder, context.payload().session_id());
    let is_same =
        |entry: &OutboxEntry| entry.agent_id.is_none() && !entry.shown_to_user && entry.text.contains(part);
    if outbox.take(is_same).is_empty() {
        put(&outbox, &OutboxEntry { text: text.to_owned(), ..OutboxEntry::default() });
    }
}

/// Queues a message without a known session: the next session that can show messages gets it.
pub(super) fn keep_without_session(root: &Path, text: String) {
    let outbox = Outbox::of(root, NO_SESSION);
    if outbox.take(|entry| entry.text == text).is_empty() {
        put(&outbox, &OutboxEntry { text, ..OutboxEntry::default() });
    }
}

const NO_SESSION: &str = "";

fn put(outbox: &Outbox, entry: &OutboxEntry) {
    if let Err(error) = outbox.put(entry) {
        log::warn(|| format!("cannot keep what is to be shown: {error}"));
    }
}

/// Whether the user sees messages of the answer.
pub(super) fn is_shown(context: &Context<'_>) -> bool {
    context.is_shown() && context.agent.is_none() && context.caller.is_none()
}

/// Queues an error that nobody sees here.
pub(super) fn keep_error(context: &Context<'_>, error: &HookError) {
    if !is_shown(context) {
        let text = error.to_string();
        keep_failure(context, &Failure { part: text.clone(), text });
    }
}

pub(super) fn keep_failure(context: &Context<'_>, failure: &Failure) {
    keep_once(context, &format!("conclaude: {}", failure.text), &failure.part);
}

/// Whether the model reads queued messages at this event, for the user.
pub(super) fn is_told_here(context: &Context<'_>) -> bool {
    let is_read = matches!(
        context.kind(),
        EventKind::SessionStart | EventKind::UserPromptSubmit | EventKind::PostToolUse
    );
    is_read && context.caller.is_none()
}

/// The queued messages if the client shows nothing: the model is asked to pass them on.
fn told_by_model(context: &Context<'_>, outbox: &Outbox, result: HookResult) -> HookResult {
    if !is_told_here(context) {
        return result;
    }
    let mut entries = outbox.take(|entry| !entry.shown_to_user);
    entries.extend(Outbox::of(&context.root.folder, NO_SESSION).take(|entry| !entry.shown_to_user));
    let Some(text) = text_of(entries.iter()) else { return result };
    let told = format!("Tell the user: {text}");
    let delivered = entries
        .into_iter()
        .map(|entry| DeliveredMessage { path: entry.path, to_user: true, to_claude: true })
        .collect();
    let given = match result.context {
        Some(own) => join_within(&[&own, &told], LIMIT),
        None => told,
    };
    HookResult { context: Some(given), delivered, ..result }
}

/// The messages for this event, and whether Claude gets them too. `None` at an event that delivers nothing.
fn due(context: &Context<'_>, outbox: &Outbox) -> Option<(Vec<OutboxEntry>, bool)> {
    let of = |agent: &str| outbox.take(|entry| entry.belongs_to(agent) || entry.agent_id.is_none());
    match context.payload() {
        HookPayload::PostToolUse(tool) if tool.agent_id.is_none() && tools::starts_agent(&tool.tool_name) => {
            Some((of(agents::started(&tool.tool_response)?), true))
        }
        HookPayload::UserPromptSubmit(said) => match task_of(&said.prompt) {
            Some(agent) => Some((of(agent), true)),
            // Its notification has not arrived since the main thread stopped, and may never arrive: then the user knows more than
            // Claude.
            None => Some((outbox.take(|entry| entry.shown_to_user && !entry.shown_to_claude), true)),
        },
        HookPayload::Stop(stop) => {
            // A running agent's messages are shown when it stops. Context would make Claude continue here, so that stays queued.
            let running = stop.running().unwrap_or_default();
            let is_over = |entry: &OutboxEntry| !running.iter().any(|id| entry.belongs_to(id));
            Some((outbox.take(|entry| !entry.shown_to_user && is_over(entry)), false))
        }
        _ => None,
    }
}

/// Adds the queued messages for this event to its result. Each message reaches the user and Claude, perhaps at different events.
pub(super) fn deliver(context: &Context<'_>, result: HookResult) -> HookResult {
    // A refusal contains only its reason. Queued messages are shown with the next answer.
    if !result.is_allowed() {
        return result;
    }
    let outbox = Outbox::of(&context.root.folder, context.payload().session_id());
    if !context.is_shown() {
        return told_by_model(context, &outbox, result);
    }
    let Some((entries, for_claude)) = due(context, &outbox) else { return result };
    if entries.is_empty() {
        return result;
    }
    let entries: Vec<OutboxEntry> = outbox.dropped().into_iter().chain(entries).collect();
    // The answer itself repeats the error.
    let error = result.error.as_ref().map(|error| format!("conclaude: {error}"));
    let is_new = |entry: &&OutboxEntry| !entry.shown_to_user && Some(&entry.text) != error.as_ref();
    let for_user = text_of(entries.iter().filter(is_new));
    let context = text_of(entries.iter().filter(|entry| for_claude && !entry.shown_to_claude));
    let message = match (result.message, for_user) {
        (Some(own), Some(pending)) => Some(format!("{own}\n{pending}")),
        (own, pending) => own.or(pending),
    };
    let delivered = entries.into_iter().map(|entry| DeliveredMessage {
        path: entry.path,
        to_user: true,
        to_claude: for_claude,
    });
    let context = match (result.context, context) {
        (Some(own), Some(pending)) => Some(join_within(&[&own, &pending], LIMIT)),
        (own, pending) => own.or(pending),
    };
    HookResult { message, context, delivered: delivered.collect(), ..result }
}
