//! A session with its threads: the main thread and the subagents, what they do, and what happened in them.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::line::{ActivityLine, MAX_TEXT, cut};
use conclaude_core::decide::Word;
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
        self.blocks += u64::from(decision == Word::Blocked.as_str());
        self.denials += u64::from(decision == Word::Denied.as_str());
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

#[derive(Clone, Debug, Default)]
pub(super) struct WatchedSession {
    pub(super) id: String,
    /// The last prompt.
    pub(super) title: Option<String>,
    pub(super) has_ended: bool,
    pub(super) threads: Vec<AgentThread>,
    pub(super) left_out: u64,
    pub(super) unread: UnreadParts,
}

/// What of the transcripts of a session was not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnreadParts {
    /// Lines that could not be, or not whole.
    pub(crate) lines: u64,
    pub(crate) problems: Vec<String>,
    /// The bytes before the part that is shown.
    pub(crate) skipped: u64,
}

impl UnreadParts {
    pub(super) fn skipped(&self) -> String {
        format!("the first {} MB of its transcripts are not shown", (self.skipped >> 20).max(1))
    }
}

impl WatchedSession {
    pub(super) fn last(&self) -> Timestamp {
        self.threads.iter().map(AgentThread::last).max().unwrap_or(Timestamp::MIN)
    }

    pub(super) fn lines(&self) -> usize {
        self.threads.iter().map(|thread| thread.lines.len()).sum()
    }

    pub(super) fn forget_lines(&mut self) {
        for thread in &mut self.threads {
            thread.left_out += thread.lines.len() as u64;
            thread.lines = Default::default();
        }
    }

    pub(super) fn started(&self) -> Timestamp {
        self.threads.iter().map(|thread| thread.started).min().unwrap_or(Timestamp::MAX)
    }

    /// Adds a thread, and returns its index. At the limit the oldest agent is dropped; the main thread stays.
    pub(super) fn add_thread(&mut self, agent: Option<&str>, time: Timestamp, max: usize) -> usize {
        if self.threads.len() >= max {
            let agents = self.threads.iter().enumerate().filter(|(_, thread)| thread.id.is_some());
            if let Some((at, _)) = agents.min_by_key(|(_, thread)| thread.last()) {
                self.threads.remove(at);
                self.left_out += 1;
            }
        }
        let id = agent.map(str::to_owned);
        let thread =
            AgentThread { id, started: time, last: time, since: Timestamp::MIN, ..AgentThread::default() };
        // The main thread comes first.
        let at = if agent.is_none() { 0 } else { self.threads.len() };
        self.threads.insert(at, thread);
        at
    }
}
