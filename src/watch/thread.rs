//! A session with its threads: the main thread and the subagents, what they do, and what happened in them.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::line::{ActivityLine, MAX_TEXT, cut};
use super::model::StepKey;
use super::usage::{ThreadUsage, UsageTotals};
use conclaude_core::config::PriceTable;
use conclaude_core::decide::Word;
use conclaude_core::dialect::claude::transcript::MessageBlock;
use conclaude_core::event::EventKind;
use conclaude_store::transcript::fate::{self, Sign};

/// Tools that run at the same time in one thread.
const MAX_OPEN_CALLS: usize = 50;

/// A call of a tool that has no result yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) detail: String,
    /// The type of the agent that it starts.
    pub(super) agent_type: Option<String>,
    pub(super) since: Timestamp,
}

/// A call of a tool that has its result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PastCall {
    pub(super) call: OpenCall,
    pub(super) took: i64,
    /// What went wrong.
    pub(super) problem: Option<&'static str>,
}

/// The question to the user, and since when.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PermissionWait {
    pub(super) since: Timestamp,
    /// Whether it counts only while a tool is called: some notifications come while nothing is running.
    pub(super) needs_call: bool,
}

/// The main thread, or a subagent.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentThread {
    /// The index of the project that it is of.
    pub(super) project: usize,
    /// It has a transcript of its own.
    pub(super) has_file: bool,
    pub(super) usage: ThreadUsage,
    /// The newest last.
    pub(super) past: VecDeque<PastCall>,
    pub(super) asked: Option<PermissionWait>,
    /// The agent's id. `None` for the main thread.
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

    pub(super) fn step_key(&self) -> Option<StepKey> {
        let step = self.step.clone()?;
        Some(StepKey { project: self.project, agent: self.id.clone(), step })
    }

    /// Whether nothing is known of its work.
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

    /// Records that the user is asked for a permission, if a record says so.
    pub(super) fn take_question(&mut self, event: &str, decision: &str, is_permitted: bool, time: Timestamp) {
        let event = EventKind::named(event);
        let is_asked = match event {
            Some(EventKind::PermissionRequest) => decision != Word::Denied.as_str() && !is_permitted,
            Some(EventKind::PreToolUse) => decision == Word::Asked.as_str(),
            Some(EventKind::Notification) => true,
            _ => false,
        };
        if is_asked {
            let needs_call = event == Some(EventKind::Notification);
            self.asked = Some(PermissionWait { since: time, needs_call });
        } else {
            self.answered(time);
        }
    }

    /// Records that something came after a question.
    pub(super) fn answered(&mut self, time: Timestamp) {
        self.asked = self.asked.take().filter(|asked| asked.since >= time);
    }

    pub(super) fn finish_call(&mut self, past: PastCall, max: usize) {
        self.past.push_back(past);
        if self.past.len() > max {
            self.past.pop_front();
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
    /// The index of its project, and its name if several are shown.
    pub(super) project: usize,
    pub(super) project_name: Option<String>,
    /// The client, unless it is Claude Code.
    pub(super) client: Option<String>,
    /// The last prompt.
    pub(super) title: Option<String>,
    pub(super) has_ended: bool,
    pub(super) threads: Vec<AgentThread>,
    pub(super) left_out: u64,
    pub(super) unread: UnreadParts,
}

/// The unread parts of a session's transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnreadParts {
    /// Lines that could not be read, or not completely.
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

    pub(super) fn usage(&self, prices: &PriceTable) -> UsageTotals {
        UsageTotals::of(self.threads.iter().map(|thread| &thread.usage), prices)
    }

    pub(super) fn lines(&self) -> usize {
        self.threads.iter().map(|thread| thread.lines.len() + thread.past.len()).sum()
    }

    pub(super) fn forget_lines(&mut self) {
        for thread in &mut self.threads {
            thread.left_out += thread.lines.len() as u64;
            thread.lines = Default::default();
            thread.past = Default::default();
        }
    }

    /// Without a transcript of its own, an agent has the name that is in its call.
    pub(super) fn name_called(&mut self, caller: Option<&str>, call: &str, agent: &str) {
        let caller = self.threads.iter().find(|thread| thread.id.as_deref() == caller);
        let started = caller.and_then(|caller| caller.open.iter().find(|open| open.id == call)).cloned();
        let called = self.threads.iter_mut().find(|thread| thread.id.as_deref() == Some(agent));
        if let (Some(started), Some(thread)) = (started, called)
            && thread.call.is_none()
        {
            let description = if started.detail.is_empty() { None } else { Some(started.detail) };
            thread.name = started.agent_type.or(thread.name.take());
            thread.description = description.or(thread.description.take());
            thread.call = Some(started.id);
        }
    }

    /// The result of the call that started an agent without a transcript of its own.
    pub(super) fn end_called(&mut self, result: &MessageBlock<'_>, time: Timestamp) {
        let Some(call) = result.tool_use_id.text() else { return };
        let mut threads = self.threads.iter_mut();
        let called = threads.find(|thread| !thread.has_file && thread.call.as_deref() == Some(call));
        if let Some(thread) = called {
            let failed = result.is_error.is_true();
            thread.change(
                if failed { Sign::Unfinished(fate::CALL_FAILED.into()) } else { Sign::Stopped },
                time,
            );
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
        let (project, since) = (self.project, Timestamp::MIN);
        let thread = AgentThread { id, project, started: time, last: time, since, ..AgentThread::default() };
        // The main thread comes first.
        let at = if agent.is_none() { 0 } else { self.threads.len() };
        self.threads.insert(at, thread);
        at
    }
}
