//! Agents that started and never stopped: no SubagentStop comes when one hits its turn limit, is stopped, or fails.

use std::path::Path;

use super::call::GatedCall;
use conclaude_core::dialect::claude::layout;
use conclaude_store::store::Session;
use conclaude_store::transcript::identity::Meta;

/// A gated agent that started and never stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedAgent {
    pub agent_id: String,
    pub call: GatedCall,
}

/// Those of the session that are not running any more and were not reported yet.
#[must_use]
pub fn unfinished(session: &Session, main_transcript: &Path, running: &[&str]) -> Vec<UnfinishedAgent> {
    let open: Vec<GatedCall> =
        GatedCall::all(session).into_iter().filter(|call| !call.stopped && !call.reported).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let unfinished = known(session, main_transcript)
        .into_iter()
        .filter(|(agent_id, _)| !running.contains(&agent_id.as_str()))
        .filter_map(|(agent_id, id)| {
            let call = open.iter().find(|call| call.tool_use_id == id)?;
            Some(UnfinishedAgent { agent_id, call: call.clone() })
        });
    unfinished.collect()
}

/// The agents that have started, each with the call that started it: by what Claude Code wrote about them, else by what we know.
#[must_use]
pub fn known(session: &Session, main_transcript: &Path) -> Vec<(String, String)> {
    let mut known = started(&layout::subagents(main_transcript));
    for (agent, call) in GatedCall::claimed(session) {
        if !known.iter().any(|(_, other)| *other == call) {
            known.push((agent, call));
        }
    }
    known
}

/// The agents that have started, by what Claude Code wrote about them: their ids, and the calls that started them.
#[must_use]
pub fn started(subagents: &Path) -> Vec<(String, String)> {
    // Another client may name no transcript; our own working directory is not where its agents are.
    let subagents = Some(subagents).filter(|folder| folder.is_absolute());
    let entries = subagents.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let metas = entries.map(|entry| entry.path()).filter_map(|path| {
        let agent_id = layout::agent_of_meta(&path)?;
        let call = Meta::beside(&layout::transcript_of(path.parent()?, agent_id))?.tool_use_id?;
        Some((agent_id.to_owned(), call))
    });
    metas.collect()
}
