//! Finds the session of an event inside another client's subagent, and the call that started the agent.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use conclaude_checks::des::call::GatedCall;
use conclaude_core::dialect::agents::AgentCallLink;
use conclaude_core::event::EventKind;
use conclaude_core::types::Event;
use conclaude_os::files::expand_home;
use conclaude_os::log;
use conclaude_store::store::{Session, hash};

/// The state of an agent: the agent or the session that started it.
const PARENT: &str = "parent";

/// Agents are never nested deeper. The limit ends a loop of parents.
const MAX_DEPTH: usize = 8;

/// The state of an agent: its name.
const NAME: &str = "name-";

/// Sets the event's session and agent name, if only earlier events have them.
pub(super) fn settle(event: &mut Event, root: &Path, is_rehearsal: bool) {
    if event.client.agents.has_own_session {
        settle_session(event, root, is_rehearsal);
    }
    if event.client.agents.is_named_at_start {
        settle_name(event, root, is_rehearsal);
    }
}

/// The name in the id of an agent may be cut. The name from the agent's start counts.
fn settle_name(event: &mut Event, root: &Path, is_rehearsal: bool) {
    let field = |name: &str| event.fields.get(name)?.as_str().map(str::to_owned);
    let Some(agent) = field("agent_id") else { return };
    let session = Session::new(root, event.payload.session_id());
    let kept = format!("{NAME}{}", hash(&agent));
    if event.kind.is_of_agent() {
        let is_new = event.kind == EventKind::SubagentStart && !is_rehearsal;
        if let Some(name) = field("agent_type")
            && is_new
            && let Err(error) = session.keep(&kept, &name)
        {
            log::warn(|| format!("cannot keep the name of the agent: {error}"));
        }
    } else if let Some(name) = session.kept::<String>(&kept) {
        event.fields.insert("agent_type".into(), name.into());
    }
}

/// A start is stored, so that agents of that agent find the session.
fn settle_session(event: &mut Event, root: &Path, is_rehearsal: bool) {
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

/// The longest first line of a transcript that is read.
const MAX_LINE: u64 = 1 << 20;

/// Stores the call of the event's agent, as far as the client names it. Claude Code writes it into files.
pub(super) fn link(event: &Event, session: &Session) {
    let link = event.client.agents.call;
    let field = |name: &str| event.fields.get(name)?.as_str();
    let Some(agent) = field("agent_id") else { return };
    if matches!(link, AgentCallLink::Files) || GatedCall::of_agent(session, agent).is_some() {
        return;
    }
    let unclaimed = || GatedCall::unclaimed(session).into_iter();
    let call = match link {
        AgentCallLink::Files => None,
        AgentCallLink::Id(call_id) => call_id(agent).and_then(|id| GatedCall::recall(session, id)),
        AgentCallLink::Prompt => {
            field("prompt").and_then(|prompt| unclaimed().find(|call| prompt.starts_with(&call.prompt)))
        }
        AgentCallLink::TaskName(task_name) => {
            let mut unclaimed = unclaimed().filter(|call| !call.task.is_empty()).peekable();
            if unclaimed.peek().is_none() {
                return;
            }
            let line = field("agent_transcript_path").and_then(first_line);
            let name = line.and_then(|line| task_name(&line));
            name.and_then(|name| unclaimed.find(|call| call.task == name))
        }
    };
    if let Some(call) = call {
        call.claim(session, Some(agent));
    }
}

fn first_line(transcript: &str) -> Option<String> {
    let file = std::fs::File::open(expand_home(transcript)).ok()?;
    let mut line = String::new();
    BufReader::new(file.take(MAX_LINE)).read_line(&mut line).ok()?;
    Some(line)
}
