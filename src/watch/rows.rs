//! The model as rows: sessions, their threads, and the activity of each thread.

use jiff::Timestamp;

use super::line::{ActivityLine, MAX_TEXT, Mark, Part, cut};
use super::model::{Model, StepState};
use super::thread::{AgentThread, PermissionWait, UnreadParts, WatchedSession};
use super::words::{Clock, elapsed, named, step_name, took};
use conclaude_core::dialect::claude::tools;
use conclaude_core::text::count;
use conclaude_store::store::running_commands::RunningCommand;
use conclaude_store::transcript::fate::{Fate, STILL_RUNNING};

/// Identifies a row across updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowId {
    Session(String),
    /// Session and agent.
    Thread(String, Option<String>),
    Line(u64),
    /// The line and the number of its command.
    Part(u64, usize),
    /// When it was started, and what it is.
    Running(String, String),
    LeftOut(String, Option<String>),
    /// The unread parts of a session.
    Unread(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimelineRow {
    pub(crate) id: RowId,
    pub(crate) depth: usize,
    pub(crate) mark: Mark,
    pub(crate) time: Option<String>,
    pub(crate) text: String,
    /// The part of the text that is shortened first.
    pub(crate) task: Option<String>,
    /// Tokens, cost and the like, the most important first. They are shown if there is room.
    pub(crate) figures: Vec<String>,
    /// The text at the end of the row: a duration, a date.
    pub(crate) right: String,
    /// When it came. Following selects the newest.
    pub(crate) came: Option<Timestamp>,
}

/// The activity of a thread, in words, and since when.
pub(super) struct ThreadState {
    pub(super) mark: Mark,
    pub(super) text: String,
    pub(super) since: Option<Timestamp>,
}

/// How many there are, for the head of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) sessions: usize,
    /// With those that are not shown.
    pub(crate) all_sessions: usize,
    pub(crate) agents: usize,
    pub(crate) working: usize,
}

impl Totals {
    /// `10 of 14 sessions`, where some are not shown.
    pub(crate) fn sessions_in_words(&self) -> String {
        if self.sessions < self.all_sessions {
            format!("{} of {}", self.sessions, count(self.all_sessions as u64, "session"))
        } else {
            count(self.sessions as u64, "session")
        }
    }
}

impl Model {
    /// The rows that contain the text, with their parents and children.
    pub(crate) fn rows(&self, clock: &Clock, wanted: &str) -> Vec<TimelineRow> {
        let mut rows = Vec::new();
        for session in self.sorted() {
            rows.push(self.session_row(session, clock));
            rows.extend(unread_row(session));
            let key = |thread: &AgentThread| (thread.id.is_some(), thread.started);
            let mut threads: Vec<&AgentThread> = session.threads.iter().collect();
            threads.sort_by_key(|thread| key(thread));
            for thread in threads {
                self.add_thread(&mut rows, session, thread, clock);
            }
        }
        if wanted.is_empty() { rows } else { filtered(rows, &wanted.to_lowercase()) }
    }

    fn sorted(&self) -> Vec<&WatchedSession> {
        let mut sessions: Vec<&WatchedSession> = self.sessions.values().collect();
        sessions.sort_by_key(|session| session.started());
        sessions
    }

    pub(crate) fn totals(&self, clock: &Clock) -> Totals {
        let agents = || {
            let of = |session: &'_ WatchedSession| {
                session.threads.iter().filter(|thread| thread.id.is_some()).count()
            };
            self.sessions.values().map(of).sum()
        };
        let is_working = |session: &WatchedSession, thread: &&AgentThread| {
            self.state(session, thread, clock).mark == Mark::Running
        };
        let working = self
            .sessions
            .values()
            .map(|session| session.threads.iter().filter(|thread| is_working(session, thread)).count())
            .sum();
        let sessions = self.sessions.keys().filter(|id| !id.is_empty()).count();
        Totals { sessions, all_sessions: self.session_count().max(sessions), agents: agents(), working }
    }

    fn add_thread(
        &self,
        rows: &mut Vec<TimelineRow>,
        session: &WatchedSession,
        thread: &AgentThread,
        clock: &Clock,
    ) {
        let key = (session.id.clone(), thread.id.clone());
        rows.push(self.thread_row(session, thread, clock));
        if thread.left_out > 0 {
            rows.push(TimelineRow {
                id: RowId::LeftOut(key.0, key.1),
                depth: 2,
                task: None,
                mark: Mark::None,
                time: None,
                text: format!("{} left out: `conclaude audit show`", count(thread.left_out, "earlier line")),
                figures: Vec::new(),
                right: String::new(),
                came: None,
            });
        }
        for line in &thread.lines {
            rows.push(line_row(line, clock));
            rows.extend(line.parts.iter().enumerate().map(|(at, part)| part_row(line.number, at, part)));
        }
        rows.extend(self.running_in(session, thread).map(|running| running_row(running, clock)));
    }

    fn running_in<'a>(
        &'a self,
        session: &'a WatchedSession,
        thread: &'a AgentThread,
    ) -> impl Iterator<Item = &'a RunningCommand> {
        self.running.iter().filter(move |running| {
            running.session.as_deref().unwrap_or_default() == session.id
                && self.agent_of(running) == thread.id
        })
    }

    pub(super) fn state(&self, session: &WatchedSession, thread: &AgentThread, clock: &Clock) -> ThreadState {
        let mut running = self.running_in(session, thread);
        if let Some(first) = running.next() {
            let more = running.count();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let text = format!("{} runs `{}`{more}", first.event, cut(&first.command, MAX_TEXT));
            return ThreadState { mark: Mark::Running, text, since: first.started.parse().ok() };
        }
        let is_agent = thread.id.is_some();
        let has_recent_sign = is_recent(last_sign(session, thread), clock);
        let open = thread.open.last();
        let fate = thread.sign.fate(session.has_ended && is_agent, has_recent_sign);
        if !session.id.is_empty()
            && (is_agent || !session.has_ended)
            && matches!(fate, Fate::Silent(_) | Fate::Running | Fate::Unknown)
            && let Some(wait) = wait_of(thread)
        {
            return wait;
        }
        let (mark, text, since) = match fate {
            Fate::NeverStopped(why) => (Mark::Bad, format!("never stopped: {}", cut(&why, MAX_TEXT)), None),
            _ if session.has_ended && !is_agent => (Mark::Quiet, "session ended".into(), None),
            Fate::Stopped if is_agent => (Mark::Good, "stopped".into(), None),
            Fate::Stopped => (Mark::Quiet, "idle".into(), Some(thread.since)),
            _ if session.id.is_empty() => (Mark::None, String::new(), None),
            Fate::Silent(_) => match open {
                Some(call) => {
                    (Mark::Warning, format!("stuck: {}", named(&call.tool, &call.detail)), Some(call.since))
                }
                None => (Mark::Quiet, "quiet".into(), Some(thread.last())),
            },
            Fate::Unknown if session.unread.lines == 0 || !thread.is_blank() => {
                (Mark::Quiet, "quiet".into(), Some(thread.last()))
            }
            Fate::Running | Fate::Unknown if session.unread.lines > 0 && thread.is_blank() => {
                (Mark::Warning, "none of it can be read".into(), None)
            }
            Fate::Running | Fate::Unknown => match open {
                Some(call) => (Mark::Running, named(&call.tool, &call.detail), Some(call.since)),
                None => (Mark::Running, "at work".into(), Some(thread.started)),
            },
        };
        ThreadState { mark, text, since }
    }

    fn thread_row(&self, session: &WatchedSession, thread: &AgentThread, clock: &Clock) -> TimelineRow {
        let ThreadState { mark, text: state, since } = self.state(session, thread, clock);
        let name = if session.id.is_empty() { "by hand".into() } else { thread.name() };
        let mut parts = vec![name];
        parts.extend(self.step_of(thread).map(|(name, step)| progress(name, step)));
        parts.push(state);
        if thread.blocks > 0 {
            parts.push(count(thread.blocks, "block"));
        }
        if thread.denials > 0 {
            parts.push(count(thread.denials, "denial"));
        }
        parts.retain(|part| !part.is_empty());
        let lasted = thread.last().as_millisecond() - thread.started.as_millisecond();
        let right = match since {
            Some(since) => elapsed(clock.since(since)),
            None if thread.id.is_some() => took(lasted.max(0)),
            None => String::new(),
        };
        TimelineRow {
            id: RowId::Thread(session.id.clone(), thread.id.clone()),
            depth: 1,
            task: if thread.id.is_some() { thread.description.clone() } else { None },
            mark,
            time: None,
            text: parts.join(" · "),
            figures: thread.usage.figures(&self.prices),
            right,
            came: Some(thread.started),
        }
    }

    /// The step that a thread works on, and the file as it is now.
    pub(super) fn step_of<'a>(&'a self, thread: &'a AgentThread) -> Option<(&'a str, Option<&'a StepState>)> {
        let step = thread.step.as_deref()?;
        let state = thread.step_key().and_then(|key| self.steps.get(&key));
        Some((step_name(step), state))
    }

    fn session_row(&self, session: &WatchedSession, clock: &Clock) -> TimelineRow {
        let id: String = cut(&session.id, MAX_TEXT).chars().take(8).collect();
        let unread = if session.unread.lines > 0 { "(no prompt could be read)" } else { "" };
        let title = session.title.as_deref().unwrap_or(unread);
        let name = if session.id.is_empty() { "without a session".into() } else { format!("session {id}") };
        let title = if session.id.is_empty() { "" } else { title };
        let project = session.project_name.as_deref().unwrap_or_default();
        let parts = [project, &name, session.client.as_deref().unwrap_or_default(), title];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let is_open = !session.has_ended && is_recent(session.last(), clock);
        TimelineRow {
            id: RowId::Session(session.id.clone()),
            depth: 0,
            task: None,
            mark: if is_open { Mark::Running } else { Mark::Quiet },
            time: None,
            text: parts.join(" · "),
            figures: session.usage(&self.prices).figures(),
            right: clock.date(session.started()),
            came: None,
        }
    }
}

/// The main thread is quiet while its agents work: their signs count for it.
fn last_sign(session: &WatchedSession, thread: &AgentThread) -> Timestamp {
    let is_called = |agent: &&AgentThread| {
        thread
            .open
            .iter()
            .any(|call| agent.call.as_ref() == Some(&call.id) || tools::starts_agent(&call.tool))
    };
    let agents = session.threads.iter().filter(|agent| thread.id.is_none() && agent.id.is_some());
    agents.filter(is_called).map(AgentThread::last).chain([thread.last()]).max().unwrap_or_default()
}

/// The question that the user must answer before the thread continues.
fn wait_of(thread: &AgentThread) -> Option<ThreadState> {
    let open = thread.open.last();
    let asked = thread.asked.as_ref().filter(|asked| open.is_some() || !asked.needs_call);
    let (text, since) = if let Some(PermissionWait { since, .. }) = asked {
        let what = open.map_or(String::new(), |call| format!(": {}", named(&call.tool, &call.detail)));
        (format!("waiting for permission{what}"), *since)
    } else {
        let call = open.filter(|call| tools::asks_user(&call.tool))?;
        (format!("waiting for your answer: {}", call.tool), call.since)
    };
    Some(ThreadState { mark: Mark::Warning, text, since: Some(since) })
}

fn is_recent(time: Timestamp, clock: &Clock) -> bool {
    i64::try_from(STILL_RUNNING.as_millis()).is_ok_and(|limit| clock.since(time) < limit)
}

fn progress(name: &str, step: Option<&StepState>) -> String {
    let Some(step) = step else { return format!("step {name}") };
    let phases = format!("step {name} {}/{}", step.finished, step.phases.len());
    match &step.current {
        Some(phase) => format!("{phases} {phase}"),
        None => format!("{phases} {}", step.status),
    }
}

/// The number of unread parts of the transcripts; the details say more.
fn unread_row(session: &WatchedSession) -> Option<TimelineRow> {
    let UnreadParts { lines, problems, skipped } = &session.unread;
    let mut texts = Vec::new();
    if *lines > 0 {
        texts.push(format!("{} not read: {}", count(*lines, "line"), problems.join("; ")));
    }
    if *skipped > 0 {
        texts.push(session.unread.skipped());
    }
    if texts.is_empty() {
        return None;
    }
    Some(TimelineRow {
        id: RowId::Unread(session.id.clone()),
        depth: 1,
        task: None,
        mark: if *lines > 0 { Mark::Warning } else { Mark::None },
        time: None,
        text: cut(&texts.join("; "), MAX_TEXT),
        figures: Vec::new(),
        right: String::new(),
        came: None,
    })
}

fn line_row(line: &ActivityLine, clock: &Clock) -> TimelineRow {
    TimelineRow {
        id: RowId::Line(line.number),
        depth: 2,
        task: None,
        mark: line.mark,
        time: Some(clock.time(line.time)),
        text: line.text.clone(),
        figures: Vec::new(),
        right: line.took.map(took).unwrap_or_default(),
        came: Some(line.time),
    }
}

fn part_row(number: u64, at: usize, part: &Part) -> TimelineRow {
    TimelineRow {
        id: RowId::Part(number, at),
        depth: 3,
        task: None,
        mark: part.mark,
        time: None,
        text: part.text.clone(),
        figures: Vec::new(),
        right: part.took.map(took).unwrap_or_default(),
        came: None,
    }
}

fn running_row(running: &RunningCommand, clock: &Clock) -> TimelineRow {
    let started = running.started.parse().ok();
    TimelineRow {
        id: RowId::Running(running.started.clone(), running.command.clone()),
        depth: 2,
        task: None,
        mark: Mark::Running,
        time: started.map(|time| clock.time(time)),
        text: format!("{} runs `{}`", running.event, cut(&running.command, MAX_TEXT)),
        figures: Vec::new(),
        right: started.map(|time| elapsed(clock.since(time))).unwrap_or_default(),
        came: started,
    }
}

/// The rows that contain the text, with their parents and children.
fn filtered(rows: Vec<TimelineRow>, wanted: &str) -> Vec<TimelineRow> {
    let mut keep = vec![false; rows.len()];
    // The depth of the row that matched, as long as its own rows follow.
    let mut inside: Option<usize> = None;
    let mut above: Vec<usize> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        inside = inside.filter(|depth| row.depth > *depth);
        above.truncate(row.depth);
        above.resize(row.depth + 1, at);
        let matches = row.text.to_lowercase().contains(wanted);
        if matches && inside.is_none() {
            inside = Some(row.depth);
        }
        if matches || inside.is_some() {
            for index in &above {
                if let Some(keep) = keep.get_mut(*index) {
                    *keep = true;
                }
            }
        }
    }
    rows.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(row, _)| row).collect()
}

/// Rows as plain text, for scripts.
pub(crate) fn plain(row: &TimelineRow) -> String {
    let indent = "  ".repeat(row.depth);
    let time = row.time.as_ref().map(|time| format!("{time} ")).unwrap_or_default();
    let figures = row.figures.iter().rev().chain(Some(&row.right)).filter(|part| !part.is_empty());
    let right: Vec<&str> = figures.map(String::as_str).collect();
    let right = if right.is_empty() { String::new() } else { format!("  ({})", right.join(" · ")) };
    format!("{indent}{} {time}{}{right}", row.mark.symbol(), row.text)
}
