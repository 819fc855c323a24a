//! What a subagent's event wanted to show is put into the outbox, and delivered where the client shows it.

use serde_json::Value;

use super::context::Context;
use crate::agent::Agent;
use crate::decide::HookResult;
use crate::error::HookError;
use crate::files;
use crate::log;
use crate::store::outbox::{Entry, Outbox, text_of};
use crate::transcript::identity;
use crate::types::HookPayload;

/// Keeps what is shown to nobody here.
pub(super) fn keep(context: &Context<'_>, agent: Option<&Agent>, text: &str) {
    let outbox = Outbox::of(&context.root.folder, context.payload().session_id());
    let own = agent.and_then(|agent| agent.transcript.as_deref()).map(files::expand_home);
    let entry = Entry {
        agent_id: agent.and_then(|agent| agent.id.clone()),
        ancestors: own.map(|path| identity::ancestors(&path)).unwrap_or_default(),
        text: text.to_owned(),
        ..Entry::default()
    };
    // What is the same for every event, as a broken config is, is pending once.
    if entry.agent_id.is_none() && !outbox.take(|pending| pending.text == entry.text).is_empty() {
        return;
    }
    if let Err(error) = outbox.put(&entry) {
        log::warn(|| format!("cannot keep what is to be shown: {error}"));
    }
}

/// Keeps an error that nobody sees at the events of a subagent.
pub(super) fn keep_error(context: &Context<'_>, error: &HookError) {
    if let Some(agent) = &context.agent {
        keep(context, Some(agent), &format!("conclaude: {error}"));
    }
}

/// What is pending for this event, added to its result: for the user, and for Claude where the event belongs to one agent.
pub(super) fn deliver(context: &Context<'_>, result: HookResult) -> HookResult {
    let outbox = Outbox::of(&context.root.folder, context.payload().session_id());
    let (entries, for_claude) = match context.payload() {
        HookPayload::PostToolUse(tool)
            if tool.agent_id.is_none() && matches!(tool.tool_name.as_str(), "Agent" | "Task") =>
        {
            let Some(agent) = tool.tool_response.get("agentId").and_then(Value::as_str) else {
                return result;
            };
            (outbox.take(|entry| entry.belongs_to(agent) || entry.agent_id.is_none()), true)
        }
        HookPayload::UserPromptSubmit(said) => {
            let Some(agent) = task_of(&said.prompt) else { return result };
            (outbox.take(|entry| entry.belongs_to(agent) || entry.agent_id.is_none()), true)
        }
        HookPayload::Stop(stop) => {
            // What belongs to an agent that still runs is shown when that one stops.
            let running = stop.running().unwrap_or_default();
            (outbox.take(|entry| !running.iter().any(|id| entry.belongs_to(id))), false)
        }
        _ => return result,
    };
    if entries.is_empty() {
        return result;
    }
    let entries: Vec<Entry> = outbox.dropped().into_iter().chain(entries).collect();
    let text = text_of(&entries);
    let message = result.message.as_ref().map_or_else(|| text.clone(), |own| format!("{own}\n{text}"));
    let delivered = entries.into_iter().map(|entry| entry.path).collect();
    HookResult { message: Some(message), context: for_claude.then_some(text), delivered, ..result }
}

/// The agent that a prompt of the client itself is about: a `<task-notification>` names it as `<task-id>`.
fn task_of(prompt: &str) -> Option<&str> {
    let rest = prompt.trim_start().strip_prefix("<task-notification>")?;
    let (_, rest) = rest.split_once("<task-id>")?;
    rest.split_once("</task-id>").map(|(id, _)| id.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_clients_own_notification_names_an_agent() {
        assert_eq!(
            task_of("<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>"),
            Some("a1")
        );
        assert_eq!(task_of("look: <task-notification><task-id>a1</task-id>"), None);
        assert_eq!(task_of("hello"), None);
    }
}
