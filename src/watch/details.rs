//! The details of a row.

use super::line::{ActivityLine, Detail, MAX_DETAIL, MAX_TEXT, cut};
use super::model::{Model, PhaseState};
use super::rows::{RowId, ThreadState};
use super::thread::{AgentThread, PastCall, WatchedSession};
use super::usage::{ThreadUsage, UsageTotals, short_number};
use super::words::{Clock, elapsed, named, took};
use conclaude_core::config::PriceTable;
use conclaude_core::prices::Tokens;
use conclaude_core::text::count;
use conclaude_store::store::running_commands::RunningCommand;

impl Model {
    pub(crate) fn details(&self, id: &RowId, clock: &Clock) -> Vec<Detail> {
        match id {
            RowId::Session(id) | RowId::Unread(id) => {
                self.sessions.get(id).map(|one| session_details(one, &self.prices, clock))
            }
            RowId::Thread(session, agent) | RowId::LeftOut(session, agent) => self
                .sessions
                .get(session)
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
        let threads = self.sessions.values().flat_map(|session| &session.threads);
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
        details.extend(usage_details(&thread.usage, &self.prices));
        let mut push = |name, value: Option<String>| details.extend(value.map(|value| (name, value)));
        push("tool calls", Some(thread.tools.to_string()));
        push("blocks", Some(thread.blocks.to_string()));
        push("denials", Some(thread.denials.to_string()));
        push("step file", thread.step.clone());
        if let Some((_, Some(step))) = self.step_of(thread) {
            push("step", Some(format!("{}, {} of {} phases", step.status, step.finished, step.phases.len())));
            for PhaseState { name, status, outcome } in &step.phases {
                let outcome = outcome.as_deref().map(|outcome| format!(": {outcome}")).unwrap_or_default();
                push("phase", Some(format!("{name} {status}{outcome}")));
            }
        }
        push("prompt", thread.prompt.clone());
        details.extend(thread.past.iter().rev().map(|past| ("call", call_in_words(past, clock))));
        details
    }
}

/// A past call, with how long it took.
fn call_in_words(past: &PastCall, clock: &Clock) -> String {
    let PastCall { call, took: ms, problem } = past;
    let problem = problem.map(|problem| format!(", {problem}")).unwrap_or_default();
    format!("{} {} ({}{problem})", clock.time(call.since), named(&call.tool, &call.detail), took(*ms))
}

fn usage_details(usage: &ThreadUsage, prices: &PriceTable) -> Vec<Detail> {
    let mut details: Vec<Detail> = usage.model.iter().map(|model| ("model", cut(model, MAX_TEXT))).collect();
    if let Some((used, max)) = usage.context() {
        let full = if usage.is_nearly_full() { ": nearly full" } else { "" };
        let (percent, used, max) = (usage.fill().unwrap_or(0), short_number(used), short_number(max));
        details.push(("context", format!("{used} of {max} tokens, {percent} %{full}")));
    }
    details.extend(totals_details(&UsageTotals::of([usage], prices)));
    details
}

fn totals_details(totals: &UsageTotals) -> Vec<Detail> {
    let mut details = Vec::new();
    let Tokens { input, output, cache_read, cache_write, .. } = totals.tokens;
    if totals.tokens.all() > 0 {
        let parts =
            [(input, "input"), (output, "output"), (cache_read, "cache read"), (cache_write, "cache write")];
        let parts = parts.map(|(tokens, what)| format!("{} {what}", short_number(tokens)));
        details.push(("tokens", parts.join(", ")));
    }
    details.extend(totals.cost_in_words().map(|cost| ("cost", cost)));
    if !totals.unpriced.is_empty() {
        details.push(("without price", cut(&totals.unpriced.join(", "), MAX_TEXT)));
    }
    details
}

fn session_details(session: &WatchedSession, prices: &PriceTable, clock: &Clock) -> Vec<Detail> {
    let agents = session.threads.iter().filter(|thread| thread.id.is_some()).count() as u64;
    let mut details = vec![
        ("session", cut(&session.id, MAX_TEXT)),
        ("started", clock.exact(session.started())),
        ("last sign", clock.exact(session.last())),
        ("agents", (agents + session.left_out).to_string()),
    ];
    details.extend(session.project_name.iter().map(|project| ("project", project.clone())));
    details.extend(totals_details(&session.usage(prices)));
    details.extend(session.client.iter().map(|client| ("client", client.clone())));
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
