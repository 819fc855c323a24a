//! The sessions of the project with their threads and lines, from records of the trail and lines of transcripts in any order. Its
//! size is bounded: new sessions, threads and lines replace the oldest.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::line::{MAX_DETAIL, MAX_TEXT, cut, cut_lines};
use super::records;
use super::thread::AgentThread;
use super::thread::{UnreadParts, WatchedSession};
use conclaude_core::config::PriceTable;
use conclaude_core::dialect::claude::transcript::TranscriptEntry;
use conclaude_core::event::EventKind;
use conclaude_store::store::running_commands::RunningCommand;
use conclaude_store::transcript::identity::Meta;

/// Limits of the model. At all limits it has some megabytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) sessions: usize,
    pub(crate) threads: usize,
    /// The limit for one thread.
    pub(crate) lines: usize,
    /// Of all threads, with their past calls. Beyond it, the oldest session loses them.
    pub(crate) all_lines: usize,
    /// Past calls of one thread.
    pub(crate) calls: usize,
}

impl Limits {
    pub(crate) const RECENT: Limits =
        Limits { sessions: 10, threads: 100, lines: 200, all_lines: 20_000, calls: 50 };
    pub(crate) const ALL: Limits =
        Limits { sessions: 1_000, threads: 100, lines: 50, all_lines: 20_000, calls: 10 };
    pub(crate) const ONE: Limits =
        Limits { sessions: 1, threads: 1_000, lines: 2_000, all_lines: 20_000, calls: 500 };
}

/// A step file as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepState {
    pub(crate) status: String,
    pub(crate) phases: Vec<PhaseState>,
    pub(crate) finished: usize,
    /// The one that is in progress, or the next.
    pub(crate) current: Option<String>,
}

/// A phase of a step file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhaseState {
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) outcome: Option<String>,
}

/// A step of an agent, in the project with this index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StepKey {
    pub(crate) project: usize,
    pub(crate) agent: Option<String>,
    pub(crate) step: String,
}

/// The limit on sessions that are counted.
const MAX_KNOWN: usize = 100_000;

pub(crate) struct Model {
    limits: Limits,
    /// Shows only the session whose id starts with this.
    only: Option<String>,
    /// By id.
    pub(super) sessions: BTreeMap<String, WatchedSession>,
    /// The ids of all sessions, also of those that are not shown.
    known: BTreeSet<String>,
    /// The project that is being read: its index, and its name if several are shown.
    project: (usize, Option<String>),
    pub(super) prices: PriceTable,
    pub(super) running: Vec<RunningCommand>,
    pub(super) steps: BTreeMap<StepKey, StepState>,
    /// The newest time of a dropped session. Older sessions are dropped, too.
    pub(super) left_out: Option<Timestamp>,
    /// The steps of calls whose agent is not known yet, by call.
    steps_of_calls: BTreeMap<String, String>,
    next_number: u64,
    /// Lines since all of them were counted.
    added: usize,
    pub(crate) records: u64,
    pub(crate) doubtful: u64,
}

impl Model {
    pub(crate) fn new(limits: Limits, only: Option<String>, prices: PriceTable) -> Model {
        Model {
            limits,
            only,
            sessions: BTreeMap::new(),
            known: BTreeSet::new(),
            project: (0, None),
            prices,
            running: Vec::new(),
            steps: BTreeMap::new(),
            left_out: None,
            steps_of_calls: BTreeMap::new(),
            next_number: 0,
            added: 0,
            records: 0,
            doubtful: 0,
        }
    }

    pub(crate) fn is_wanted(&self, session: &str) -> bool {
        self.only.as_ref().is_none_or(|start| session.starts_with(start))
    }

    pub(crate) fn only(&self) -> Option<&str> {
        self.only.as_deref()
    }

    /// Takes a record of the trail.
    pub(crate) fn record(&mut self, line: &str, record: &Value, doubt: Option<&str>) {
        self.records += 1;
        self.doubtful += u64::from(doubt.is_some());
        let text = |name: &str| record.get(name).and_then(Value::as_str);
        let session = text("session").unwrap_or_default();
        let Some(time) = text("time").and_then(|time| time.parse().ok()) else { return };
        if !self.is_wanted(session) {
            return;
        }
        self.know(session);
        if !self.make_room(session, time) {
            return;
        }
        let (step, call) = (text("step"), record.pointer("/tool/use_id").and_then(Value::as_str));
        let agent = match text("agent_id") {
            Some(id) => Some(id.to_owned()),
            None => self.agent_at_work(session, text("agent"), step, text("event")),
        };
        if let (None, Some(call), Some(step)) = (&agent, call, step)
            && text("event") == Some(EventKind::PreToolUse.name())
        {
            self.note_step(session, call, step);
        }
        let number = self.number();
        let lines = self.limits.lines;
        let Some(thread) = self.thread(session, agent.as_deref(), time) else { return };
        if let (Some(name), Some(_)) = (text("agent"), &agent) {
            thread.name.get_or_insert_with(|| cut(name, MAX_TEXT));
        }
        if let Some(step) = step
            && (agent.is_some() || text("event").is_some_and(is_des))
        {
            thread.step = Some(cut(step, MAX_TEXT));
        }
        let (event, decision) = (text("event").unwrap_or_default(), text("decision").unwrap_or_default());
        thread.take_decision(event, decision, text("reason"), time);
        thread.take_question(event, decision, records::permits(record), time);
        let line = records::line(number, time, (line, record), doubt);
        thread.add(line, lines);
        if let Some(client) = text("client")
            && let Some(session) = self.sessions.get_mut(session)
        {
            session.client.get_or_insert_with(|| cut(client, MAX_TEXT));
        }
        self.bound_lines();
    }

    /// Makes room for a session by dropping the oldest one. Returns false if the new one is older.
    fn make_room(&mut self, session: &str, time: Timestamp) -> bool {
        if self.sessions.contains_key(session) {
            return true;
        }
        if self.left_out.is_some_and(|newest| time <= newest) {
            return false;
        }
        if self.sessions.len() < self.limits.sessions {
            return true;
        }
        let oldest = self.sessions.values().min_by_key(|session| session.last());
        let Some((oldest, last)) = oldest.map(|session| (session.id.clone(), session.last())) else {
            return true;
        };
        if last > time {
            self.left_out = self.left_out.max(Some(time));
            return false;
        }
        self.left_out = self.left_out.max(Some(last));
        self.sessions.remove(&oldest);
        true
    }

    fn bound_lines(&mut self) {
        self.added += 1;
        // Counting all of them costs more than to add one.
        if self.added < self.limits.all_lines / 4 {
            return;
        }
        self.added = 0;
        let mut all: usize = self.sessions.values().map(WatchedSession::lines).sum();
        let mut sessions: Vec<&mut WatchedSession> = self.sessions.values_mut().collect();
        sessions.sort_by_key(|session| session.last());
        for session in sessions {
            if all <= self.limits.all_lines {
                break;
            }
            all -= session.lines();
            session.forget_lines();
        }
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// The thread of this agent, or the main thread. `None` if there is no room.
    fn thread(&mut self, session: &str, agent: Option<&str>, time: Timestamp) -> Option<&mut AgentThread> {
        if !self.make_room(session, time) {
            return None;
        }
        let max = self.limits.threads;
        if !self.sessions.contains_key(session) {
            let (project, project_name) = self.project.clone();
            let id = session.to_owned();
            let new = WatchedSession { id, project, project_name, ..WatchedSession::default() };
            self.sessions.insert(session.to_owned(), new);
        }
        let session = self.sessions.get_mut(session)?;
        let at = match session.threads.iter().position(|known| known.id.as_deref() == agent) {
            Some(at) => at,
            None => session.add_thread(agent, time, max),
        };
        let thread = session.threads.get_mut(at)?;
        thread.started = thread.started.min(time);
        thread.last = thread.last.max(time);
        Some(thread)
    }

    /// The agent of a record without an id: the newest one with that name and step.
    fn agent_at_work(
        &self,
        session: &str,
        agent: Option<&str>,
        step: Option<&str>,
        event: Option<&str>,
    ) -> Option<String> {
        // In a record of a call, the name is that of the called agent.
        if !event.is_some_and(is_des) {
            return None;
        }
        let name = agent?;
        let threads = &self.sessions.get(session)?.threads;
        let newest = |step: Option<&str>| {
            let fits = |thread: &&AgentThread| {
                thread.id.is_some() && thread.name.as_deref() == Some(name) && thread.step.as_deref() == step
            };
            threads.iter().rfind(fits)
        };
        newest(step).or_else(|| newest(None))?.id.clone()
    }

    /// An allowed gated call: its agent works on this step.
    fn note_step(&mut self, session: &str, call: &str, step: &str) {
        let step = cut(step, MAX_TEXT);
        let mut threads =
            self.sessions.get_mut(session).map(|session| &mut session.threads).into_iter().flatten();
        match threads.find(|thread| thread.call.as_deref() == Some(call)) {
            Some(thread) => thread.step = Some(step),
            None => {
                self.steps_of_calls.insert(call.to_owned(), step);
                if self.steps_of_calls.len() > self.limits.threads {
                    self.steps_of_calls.pop_first();
                }
            }
        }
    }

    /// Reads Claude Code's file next to the transcript of an agent.
    pub(crate) fn meta(&mut self, session: &str, agent: &str, meta: &Meta, time: Timestamp) {
        let step = meta.tool_use_id.as_ref().and_then(|call| self.steps_of_calls.remove(call));
        let known = self.sessions.get(session);
        let known =
            known.and_then(|known| known.threads.iter().find(|thread| thread.id.as_deref() == Some(agent)));
        let last = known.map_or(Timestamp::MIN, |thread| thread.last);
        let Some(thread) = self.thread(session, Some(agent), time) else { return };
        // The time of a file says nothing about the agent: it may have been copied.
        thread.last = last;
        thread.has_file = true;
        let text = |text: &Option<String>| {
            text.as_deref().map(|text| cut(text, MAX_TEXT)).filter(|text| !text.trim().is_empty())
        };
        thread.name = text(&meta.agent_type).or(thread.name.take());
        thread.description = text(&meta.description).or(thread.description.take());
        thread.call = meta.tool_use_id.clone().or(thread.call.take());
        thread.step = step.or(thread.step.take());
    }

    /// Takes a line of a transcript. Returns false for a message without a time.
    pub(crate) fn entry(&mut self, session: &str, agent: Option<&str>, entry: &TranscriptEntry<'_>) -> bool {
        let Some(time) = entry.timestamp.text().and_then(|time| time.parse().ok()) else {
            return !entry.is_message();
        };
        if !self.is_wanted(session) {
            return true;
        }
        let Some(progress) = &entry.progress else {
            self.take_entry(session, agent, time, entry);
            return true;
        };
        // Older versions wrote what an agent does into the transcript of its caller.
        if let Some(id) = progress.line.agent_id.text()
            && !self.has_file(session, id)
        {
            self.take_entry(session, Some(id), time, &progress.line);
            if let (Some(session), Some(call)) = (self.sessions.get_mut(session), progress.call.text()) {
                session.name_called(agent, call, id);
            }
        }
        true
    }

    fn take_entry(
        &mut self,
        session: &str,
        agent: Option<&str>,
        time: Timestamp,
        entry: &TranscriptEntry<'_>,
    ) {
        let (number, Limits { lines, calls, .. }) = (self.number(), self.limits);
        let Some(thread) = self.thread(session, agent, time) else { return };
        let had = thread.past.len();
        let said = thread.take_entry(number, time, entry, calls);
        if thread.past.len() > had {
            self.bound_lines();
        }
        if let Some(line) = said.line
            && let Some(thread) = self.thread(session, agent, time)
        {
            thread.add(line, lines);
            self.bound_lines();
        }
        if let Some((agent, sign)) = said.of_agent
            && let Some(thread) = self.thread(session, Some(&agent), time)
        {
            thread.change(sign, time);
        }
        let Some(session) = self.sessions.get_mut(session) else { return };
        for result in entry.results().filter(|result| result.launched_agent().is_none()) {
            session.end_called(result, time);
        }
        if let Some(title) = said.title {
            session.title = Some(title);
        }
    }

    /// The unread parts of a session's transcripts.
    pub(crate) fn unread(&mut self, session: &str, unread: UnreadParts) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.unread = unread;
        }
    }

    /// A session has a transcript, whether or not anything of it can be read.
    pub(crate) fn has_transcript(&mut self, session: &str, time: Timestamp) {
        if self.is_wanted(session) && !self.sessions.contains_key(session) {
            self.thread(session, None, time);
        }
    }

    /// The first prompt of a session, if the read part of its transcript does not contain it.
    pub(crate) fn first_prompt(&mut self, session: &str, prompt: &str) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.title.get_or_insert_with(|| cut(prompt, MAX_TEXT));
        }
    }

    pub(crate) fn ended(&mut self, session: &str, has_ended: bool) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.has_ended = has_ended;
        }
    }

    /// The project of the following lines, and its name if several are shown.
    pub(crate) fn read_project(&mut self, index: usize, name: Option<String>) {
        self.project = (index, name);
    }

    /// Counts a session, whether or not it is shown.
    pub(crate) fn know(&mut self, session: &str) {
        if !session.is_empty() && self.known.len() < MAX_KNOWN && !self.known.contains(session) {
            self.known.insert(session.to_owned());
        }
    }

    /// How many sessions there are.
    pub(crate) fn session_count(&self) -> usize {
        self.known.len()
    }

    fn has_file(&self, session: &str, agent: &str) -> bool {
        let threads = self.sessions.get(session).map(|session| &session.threads).into_iter().flatten();
        threads.into_iter().any(|thread| thread.has_file && thread.id.as_deref() == Some(agent))
    }

    pub(crate) fn forget_running(&mut self) {
        self.running.clear();
    }

    /// The commands that run in the project that is being read.
    pub(crate) fn add_running(&mut self, running: Vec<RunningCommand>) {
        let wanted =
            running.into_iter().filter(|one| self.is_wanted(one.session.as_deref().unwrap_or_default()));
        let wanted: Vec<RunningCommand> = wanted.map(cleaned).collect();
        self.running.extend(wanted.iter().cloned());
        for one in wanted {
            let Ok(time) = one.started.parse() else { continue };
            let agent = self.agent_of(&one);
            // A running command shows its thread, even before the first record.
            if let Some(thread) =
                self.thread(one.session.as_deref().unwrap_or_default(), agent.as_deref(), time)
                && agent.is_some()
                && let Some(name) = &one.agent
            {
                thread.name.get_or_insert_with(|| cut(name, MAX_TEXT));
            }
        }
    }

    /// The thread that a running command belongs to.
    pub(super) fn agent_of(&self, running: &RunningCommand) -> Option<String> {
        let session = running.session.as_deref().unwrap_or_default();
        running.agent_id.clone().or_else(|| {
            self.agent_at_work(
                session,
                running.agent.as_deref(),
                running.step.as_deref(),
                Some(&running.event),
            )
        })
    }

    /// The sessions that are shown, with the index of their project.
    pub(crate) fn session_ids(&self) -> impl Iterator<Item = (&str, usize)> {
        self.sessions.values().map(|session| (session.id.as_str(), session.project))
    }

    /// The steps of the threads that are shown.
    pub(crate) fn step_keys(&self) -> BTreeSet<StepKey> {
        let threads = self.sessions.values().flat_map(|session| &session.threads);
        threads.filter_map(AgentThread::step_key).collect()
    }

    pub(crate) fn set_step(&mut self, key: StepKey, step: Option<StepState>) {
        match step {
            Some(step) => drop(self.steps.insert(key, step)),
            None => drop(self.steps.remove(&key)),
        }
    }
}

/// Its texts in the form that is shown and compared. Ids stay.
fn cleaned(running: RunningCommand) -> RunningCommand {
    let text = |text: Option<String>| text.map(|text| cut(&text, MAX_TEXT));
    RunningCommand {
        agent: text(running.agent),
        event: cut(&running.event, MAX_TEXT),
        step: text(running.step),
        phase: text(running.phase),
        command: cut_lines(&running.command, MAX_DETAIL),
        started: cut(&running.started, MAX_TEXT),
        session: running.session,
        agent_id: running.agent_id,
    }
}

/// Whether a record is one of `conclaude des`.
fn is_des(event: &str) -> bool {
    event.starts_with("des ")
}

#[cfg(test)]
pub(super) mod tests;
