//! The session of a subagent, where its client gives each agent an id for one: its parents lead to the session of the user.

use std::path::Path;

use conclaude_core::event::EventKind;
use conclaude_core::types::Event;
use conclaude_os::log;
use conclaude_store::store::Session;

/// What is kept of an agent: the agent or the session that started it.
const PARENT: &str = "parent";

/// Agents are not nested deeper. The limit ends a loop of parents.
const MAX_DEPTH: usize = 8;

/// Gives the event the session of the user. A start is remembered, so that agents of that agent find it.
pub(super) fn settle(event: &mut Event, root: &Path, is_rehearsal: bool) {
    if !event.client.has_session_per_agent {
        return;
    }
    let field = |name: &str| event.fields.get(name)?.as_str().map(str::to_owned);
    let (Some(agent), Some(parent)) = (field("agent_id"), field("parent_agent_id")) else { return };
    if event.kind == EventKind::SubagentStart
        && !is_rehearsal
        && let Err(error) = Session::new(root, &agent).keep(PARENT, &parent)
    {
        log::warn(|| format!("cannot keep who started the agent: {error}"));
    }
    let mut session = parent;
    for _ in 0..MAX_DEPTH {
        match Session::new(root, &session).kept::<String>(PARENT) {
            Some(above) if above != session => session = above,
            _ => break,
        }
    }
    event.set_session(session);
}
