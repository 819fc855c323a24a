//! A session with its threads.

use jiff::Timestamp;

use super::thread::AgentThread;

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

    /// Where the new thread is. The agent whose last sign is the oldest gives way; the main thread stays.
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
