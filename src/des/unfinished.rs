//! Agents that started and never stopped: no SubagentStop comes when one hits its turn limit, is stopped, or fails.

use std::path::Path;

use super::context::Call;
use crate::agent::Meta;
use crate::state::Session;

/// A gated agent that started and never stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Its id.
    pub agent_id: String,
    /// What Gate 1 remembers.
    pub call: Call,
}

/// Those of the session that are not running any more and were not told yet.
#[must_use]
pub fn unfinished(session: &Session, main_transcript: &Path, running: &[String]) -> Vec<Unfinished> {
    let open: Vec<Call> = Call::all(session).into_iter().filter(|call| !call.stopped && !call.told).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let folder = main_transcript.with_extension("").join("subagents");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(agent_id) = name.strip_prefix("agent-").and_then(|name| name.strip_suffix(".meta.json"))
        else {
            continue;
        };
        if running.iter().any(|id| id == agent_id) {
            continue;
        }
        let transcript = path.with_file_name(format!("agent-{agent_id}.jsonl"));
        let call_id = Meta::beside(&transcript).and_then(|meta| meta.tool_use_id);
        if let Some(call) = open.iter().find(|call| Some(&call.tool_use_id) == call_id.as_ref()) {
            found.push(Unfinished { agent_id: agent_id.to_owned(), call: call.clone() });
        }
    }
    found
}
