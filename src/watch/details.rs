//! The details of a row.

use super::line::{ActivityLine, Detail, MAX_DETAIL, MAX_TEXT, cut};
use super::model::Model;
use super::rows::{RowId, ThreadState};
use super::thread::AgentThread;
use super::thread::WatchedSession;
use super::words::{Clock, elapsed, took};
use conclaude_core::text::count;
use conclaude_store::store::running::RunningCommand;

impl Model {
    pub(crate) fn details(&self, id: &RowId, clock: &Clock) -> Vec<Detail> {
        match id {
            RowId::Session(id) | RowId::Unread(id) => {
                self.sessions.iter().find(|one| one.id == *id).map(|one| session_details(one, clock))
            }
            RowId::Thread(session, agent) | RowId::LeftOut(session, agent) => self
                .sessions
                .iter()
                .find(|one| one.id == *session)
                .and_then(|one| Some((one, one.threads.iter().find(|thread| thread.id == *agent)?)))
                .map(|(session, thread)| self.thread_details(session, thread, clock)),
            RowId::Line(number) => self.line(*number).map(|line| {
                let head = [("time", clock.exact(line.time))].into_iter();
                let took = line.took.map(|ms| ("took", took(ms)));
                head.chain(took).chain(line.details.of_line()).collect()
            }),
            RowId::Part(number, at) => self.line(*number).map(|line| {
                let took = line.parts.get(*at).and_then(|part| part.took).map(|ms| ("took", took(ms)));
                line.details.of_command(*at).into_iter().chain(took).collect()
            }),
            RowId::Running(started, command) => self
                .running
                .iter()
                .find(|one| one.started == *started && one.command == *command)
                .map(running_details),
        }
        .unwrap_or_default()
    }

    fn line(&self, number: u64) -> Option<&ActivityLine> {
        let threads = self.sessions.iter().flat_map(|session| &session.threads);
        threads.flat_map(|thread| &thread.lines).find(|line| line.number == number)
    }

    fn thread_details(&self, session: &WatchedSession, thread: &AgentThread, clock: &Clock) -> Vec<Detail> {
        let ThreadState { text: state, since, .. } = self.state(session, thread, clock);
        let since = since.map(|since| format!(" {}", elapsed(clock.since(since)))).unwrap_or_default();
        let mut details = vec![("thread", thread.name()), ("state", format!("{state}{since}"))];
        let mut push = |name, value: Option<String>| details.extend(value.map(|value| (name, value)));
        push("agent id", thread.id.as_deref().map(|id| cut(id, MAX_TEXT)));
        push("started", Some(clock.exact(thread.started)));
        push("last sign", Some(clock.exact(thread.last())));
        push("tool calls", Some(thread.tools.to_string()));
        push("blocks", Some(thread.blocks.to_string()));
        push("denials", Some(thread.denials.to_string()));
        push("step file", thread.step.clone());
        if let Some((_, Some(step))) = self.step_of(thread) {
            push("step", Some(format!("{}, {} of {} phases", step.status, step.finished, step.phases.len())));
            for (phase, status, outcome) in &step.phases {
                let outcome = outcome.as_deref().map(|outcome| format!(": {outcome}")).unwrap_or_default();
                push("phase", Some(format!("{phase} {status}{outcome}")));
            }
        }
        push("prompt", thread.prompt.clone());
        details
    }
}

fn session_details(session: &WatchedSession, clock: &Clock) -> Vec<Detail> {
    let agents = session.threads.iter().filter(|thread| thread.id.is_some()).count() as u64;
    let mut details = vec![
        ("session", cut(&session.id, MAX_TEXT)),
        ("started", clock.exact(session.started())),
        ("last sign", clock.exact(session.last())),
        ("agents", (agents + session.left_out).to_string()),
    ];
    if session.has_ended {
        details.push(("state", "ended".into()));
    }
    if session.left_out > 0 {
        details.push(("left out", count(session.left_out, "older agent")));
    }
    details.extend(session.title.iter().map(|title| ("prompt", title.clone())));
    let problems = session.unread.problems.iter().map(|problem| cut(problem, MAX_DETAIL));
    details.extend(problems.map(|what| ("not read", what)));
    if session.unread.skipped > 0 {
        details.push(("not read", session.unread.skipped()));
    }
    details
}

fn running_details(running: &RunningCommand) -> Vec<Detail> {
    let pairs = [
        ("runs", Some(&running.command)),
        ("event", Some(&running.event)),
        ("started", Some(&running.started)),
        ("agent", running.agent.as_ref()),
        ("step", running.step.as_ref()),
        ("phase", running.phase.as_ref()),
    ];
    pairs.into_iter().filter_map(|(name, value)| Some((name, value?.clone()))).collect()
}
