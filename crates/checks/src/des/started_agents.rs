//! Agents that started and never stopped: there is no SubagentStop if one reaches its turn limit, is stopped, or fails.

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

/// The agents of the session that no longer run and are not yet reported.
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

/// The started agents, each with its call: from Claude Code's files about them, else from our state.
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

/// The started agents from Claude Code's files about them: their ids and their calls.
#[must_use]
pub fn started(subagents: &Path) -> Vec<(String, String)> {
    // Another client may name no transcript. Our own working directory does not contain its agents.
    let subagents = Some(subagents).filter(|folder| folder.is_absolute());
    let entries = subagents.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let metas = entries.map(|entry| entry.path()).filter_map(|path| {
        let agent_id = layout::agent_of_meta(&path)?;
        let call = Meta::of_transcript(&layout::transcript_of(path.parent()?, agent_id))?.tool_use_id?;
        Some((agent_id.to_owned(), call))
    });
    metas.collect()
}
