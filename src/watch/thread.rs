//! The main thread or a subagent: what it does, and what happened in it.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::line::{ActivityLine, MAX_TEXT, cut};
use conclaude_store::transcript::fate::{self, Sign};

/// Tools that run at the same time in one thread.
const MAX_OPEN_CALLS: usize = 50;

/// A call of a tool that has no result yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) detail: String,
    pub(super) since: Timestamp,
}

/// The main thread, or a subagent.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentThread {
    /// The agent's id; none for the main thread.
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    /// The call that started it.
    pub(super) call: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) started: Timestamp,
    pub(super) last: Timestamp,
    /// The newest sign of what it does.
    pub(super) sign: Sign,
    pub(super) since: Timestamp,
    pub(super) open: Vec<OpenCall>,
    pub(super) tools: u64,
    pub(super) blocks: u64,
    pub(super) denials: u64,
    pub(super) step: Option<String>,
    pub(super) lines: VecDeque<ActivityLine>,
    pub(super) left_out: u64,
}

impl AgentThread {
    pub(super) fn name(&self) -> String {
        let Some(id) = &self.id else { return "main thread".into() };
        let name = self.name.clone().unwrap_or_else(|| cut(id, MAX_TEXT));
        match &self.description {
            Some(description) => format!("{name} \"{description}\""),
            None => name,
        }
    }

    /// Nothing is known of what it did.
    pub(super) fn is_blank(&self) -> bool {
        self.lines.is_empty() && self.prompt.is_none() && self.open.is_empty() && self.tools == 0
    }

    /// The last sign of it.
    pub(super) fn last(&self) -> Timestamp {
        self.last.max(self.started)
    }

    /// The newest sign of what it does counts.
    pub(super) fn change(&mut self, sign: Sign, time: Timestamp) {
        let mut newest = (self.since, std::mem::take(&mut self.sign));
        fate::take(&mut newest, time, sign);
        (self.since, self.sign) = newest;
    }

    pub(super) fn take_decision(
        &mut self,
        event: &str,
        decision: &str,
        reason: Option<&str>,
        time: Timestamp,
    ) {
        self.blocks += u64::from(decision == "blocked");
        self.denials += u64::from(decision == "denied");
        if let Some(sign) = Sign::of_record(event, decision, reason) {
            self.change(sign, time);
        }
    }

    pub(super) fn add(&mut self, line: ActivityLine, max: usize) {
        if let Some(call) = &line.call {
            let is_same = |known: &ActivityLine| known.call.as_deref() == Some(call);
            if line.is_said && self.lines.iter().any(is_same) {
                return;
            }
            self.lines.retain(|known| !known.is_said || !is_same(known));
        }
        let after = self.lines.iter().rposition(|known| known.time <= line.time).map_or(0, |at| at + 1);
        self.lines.insert(after, line);
        if self.lines.len() > max {
            self.lines.pop_front();
            self.left_out += 1;
        }
    }

    pub(super) fn open_call(&mut self, call: OpenCall) {
        self.tools += 1;
        if self.open.len() == MAX_OPEN_CALLS {
            self.open.remove(0);
        }
        self.open.push(call);
    }
}
