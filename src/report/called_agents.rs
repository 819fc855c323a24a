//! Agents without a separate transcript: their messages are in their caller's, or only their call is.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::threads::{Summary, start_of};
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::transcript::{AgentProgress, MessageBlock, TranscriptEntry};
use conclaude_core::json;
use conclaude_store::transcript::fate::{self, Sign};
use conclaude_store::transcript::identity::Meta;

/// Further agents of one thread are not shown.
const MAX_AGENTS: usize = 10_000;

/// Longer names are cut, in characters.
const MAX_NAME: usize = 160;

/// A call that starts an agent.
pub(super) struct CalledAgent {
    /// Older versions do not write these fields.
    id: Option<String>,
    meta: Meta,
    start: i64,
    /// The time of its result, unless it continued in the background, and its sign.
    end: Option<(i64, Sign)>,
}

impl Summary {
    /// Adds a call that starts an agent. Returns its index.
    pub(super) fn starts_agent(
        &mut self,
        time: i64,
        call: &str,
        input: &Map<String, Value>,
    ) -> Option<usize> {
        if self.called.len() >= MAX_AGENTS {
            return None;
        }
        let text = |text: &str| if text.is_empty() { None } else { Some(start_of(text, MAX_NAME)) };
        let description = input.get("description").and_then(Value::as_str).and_then(text);
        let meta = Meta {
            tool_use_id: Some(call.to_owned()),
            agent_type: text(agents::called(input)),
            description,
            spawn_depth: None,
        };
        self.called.push(CalledAgent { id: None, meta, start: time, end: None });
        Some(self.called.len() - 1)
    }

    /// Takes the result of such a call.
    pub(super) fn agent_ended(
        &mut self,
        at: usize,
        time: i64,
        result: &MessageBlock<'_>,
        entry: &TranscriptEntry<'_>,
    ) {
        let Some(called) = self.called.get_mut(at) else { return };
        let said = entry.tool_use_result.and_then(|said| json::ObjectFields::of(said).ok());
        let launched = result.launched_agent();
        let is_in_background = launched.is_some();
        let id = said.and_then(|said| said.text("agentId").map(std::borrow::Cow::into_owned));
        called.id = id.or(launched).map(|id| start_of(&id, MAX_NAME));
        if !is_in_background {
            let failed = result.is_error.is_true();
            let sign = if failed { Sign::Unfinished(fate::CALL_FAILED.into()) } else { Sign::Stopped };
            called.end = Some((time, sign));
        }
    }

    /// Takes a message of an agent that is written in this transcript.
    pub(super) fn agent_says(
        &mut self,
        progress: &AgentProgress<'_>,
        since: Option<i64>,
    ) -> Option<&'static str> {
        let id = progress.line.agent_id.text()?;
        if !self.progress.contains_key(id) {
            if self.progress.len() >= MAX_AGENTS {
                return None;
            }
            let meta = Meta { tool_use_id: progress.call.text().map(str::to_owned), ..Meta::default() };
            let mut agent = Summary::default();
            agent.agent = Some((id.to_owned(), meta));
            (agent.file, agent.is_new) = (self.file, self.is_new);
            self.progress.insert(id.to_owned(), agent);
        }
        self.progress.get_mut(id)?.take(&progress.line, since)
    }

    /// The agents without a file. Of the others, only the name is stored.
    pub(super) fn take_agents(&mut self, with_files: &HashSet<String>) -> Vec<Summary> {
        let (mut found, mut progress) = (Vec::new(), std::mem::take(&mut self.progress));
        for CalledAgent { id, meta, start, end } in std::mem::take(&mut self.called) {
            let is_of_call = |agent: &Summary| {
                agent.agent.as_ref().is_some_and(|(_, known)| known.tool_use_id == meta.tool_use_id)
            };
            let by_call = || progress.iter().find(|(_, agent)| is_of_call(agent)).map(|(id, _)| id.clone());
            let Some(id) = id.or_else(by_call).or_else(|| self.id_of_old_call(&meta, with_files)) else {
                continue;
            };
            if with_files.contains(&id) {
                self.names.push((id, meta));
                continue;
            }
            let mut agent = progress.remove(&id).unwrap_or_default();
            agent.widen(start);
            if let Some((time, sign)) = end {
                agent.widen(time);
                self.notified.push((time, id.clone(), sign));
            }
            agent.agent = Some((id, meta));
            found.push(agent);
        }
        found.extend(progress.into_iter().filter(|(id, _)| !with_files.contains(id)).map(|(_, agent)| agent));
        found
    }

    /// A call that leads to no agent's file: it has a separate lane if there are none.
    fn id_of_old_call(&self, meta: &Meta, with_files: &HashSet<String>) -> Option<String> {
        if with_files.is_empty() { meta.tool_use_id.clone() } else { None }
    }
}
