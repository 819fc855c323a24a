//! Lanes: the main thread of every session, and its subagents.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::model::{Call, Hook, Lane, Report, SessionReport, State, Tokens};
use super::threads::Summary;
use super::usage::cost;
use conclaude_core::agent::MAIN;
use conclaude_core::config::PriceTable;
use conclaude_store::store;
use conclaude_store::transcript::fate::{self, Fate, Sign};
use conclaude_store::transcript::stream::Counts;

/// More calls than these are only counted: a page shows them as bars.
const MAX_CALLS: usize = 200_000;

/// The lanes and sessions of a report while it is made.
#[derive(Default)]
pub(super) struct Lanes {
    root: PathBuf,
    sessions: HashMap<String, usize>,
    /// By session and agent, whose id is empty for the main thread.
    lanes: HashMap<Option<usize>, HashMap<String, usize>>,
    /// What a main thread was notified of, by session and agent.
    notified: HashMap<(usize, String), (i64, Sign)>,
    answers: HashSet<u64>,
    unpriced: BTreeSet<String>,
    counts: Counts,
    errors: Vec<String>,
    left_out: u64,
    /// The newest sign of each agent's lane, and the agents with a recent one.
    signs: HashMap<usize, (i64, Sign)>,
    recent: HashSet<usize>,
}

impl Lanes {
    pub(super) fn new(root: &Path) -> Lanes {
        Lanes { root: root.to_owned(), ..Lanes::default() }
    }

    pub(super) fn session(&mut self, report: &mut Report, id: &str) -> usize {
        if let Some(known) = self.sessions.get(id) {
            return *known;
        }
        let has_ended = store::Session::new(&self.root, id).has_ended();
        report.sessions.push(SessionReport { id: id.to_owned(), has_ended, ..SessionReport::default() });
        self.sessions.insert(id.to_owned(), report.sessions.len() - 1);
        report.sessions.len() - 1
    }

    /// The lane of an agent, or of a main thread; without a session, that of records that belong to none.
    pub(super) fn lane(&mut self, report: &mut Report, session: Option<usize>, agent: Option<&str>) -> usize {
        let of_session = self.lanes.entry(session).or_default();
        if let Some(known) = of_session.get(agent.unwrap_or_default()) {
            return *known;
        }
        of_session.insert(agent.unwrap_or_default().to_owned(), report.lanes.len());
        let state = if agent.is_some() { State::Unknown } else { State::Main };
        let name = agent.unwrap_or(MAIN).to_owned();
        let id = agent.map(str::to_owned);
        report.lanes.push(Lane { session, id, name, state, ..Lane::default() });
        report.lanes.len() - 1
    }

    pub(super) fn add_transcript(
        &mut self,
        report: &mut Report,
        session: &str,
        summary: Summary,
        prices: &PriceTable,
    ) {
        report.transcripts.files += 1;
        self.counts.add(&summary.counts);
        self.errors.extend(summary.error.clone());
        // It has nothing since `--since`.
        if summary.started.is_none() {
            return;
        }
        let session = self.session(report, session);
        let index = self.lane(report, Some(session), summary.agent.as_ref().map(|(id, _)| id.as_str()));
        let notified = summary.notified.iter();
        self.notified
            .extend(notified.map(|(time, agent, sign)| ((session, agent.clone()), (*time, sign.clone()))));
        if let Some(session) = report.sessions.get_mut(session) {
            session.prompts += if summary.agent.is_none() { summary.prompts } else { 0 };
            session.cost_of_client = summary.cost_of_client.or(session.cost_of_client);
        }
        self.left_out += summary.left_out();
        let room = MAX_CALLS.saturating_sub(report.calls.len());
        self.left_out += summary.calls.len().saturating_sub(room) as u64;
        if let Some(lane) = report.lanes.get_mut(index) {
            self.describe(lane, &summary, prices);
            let (time, sign) = summary.sign();
            self.take(index, time, sign);
            if summary.is_recent {
                self.recent.insert(index);
            }
        }
        report.calls.extend(
            summary
                .calls
                .into_iter()
                .take(room)
                .map(|call| Call(index, call.start, call.duration, call.tool, call.detail, call.problem)),
        );
        report.hooks.extend(summary.hooks.into_iter().map(|hook| Hook {
            time: hook.time,
            lane: index,
            kind: hook.kind,
            hook: hook.hook,
            command: hook.command,
            duration_ms: hook.duration_ms,
            stderr: hook.stderr,
        }));
    }

    fn describe(&mut self, lane: &mut Lane, summary: &Summary, prices: &PriceTable) {
        (lane.started, lane.ended) = (summary.started, summary.ended);
        if let Some((id, meta)) = &summary.agent {
            let kind = meta.agent_type.clone().filter(|kind| !kind.trim().is_empty());
            lane.name = kind.unwrap_or_else(|| id.clone());
            lane.description.clone_from(&meta.description);
        }
        for (model, answers) in &summary.answers.by_model {
            let mut tokens = Tokens::default();
            for (id, of_answer) in answers {
                if self.answers.insert(*id) {
                    tokens.add(*of_answer);
                    lane.messages += 1;
                }
            }
            match cost(prices, model, tokens) {
                Some(cost) => lane.cost = Some(lane.cost.unwrap_or(0.0) + cost),
                None => drop(self.unpriced.insert(model.clone())),
            }
            lane.models.push(model.clone());
            lane.tokens.add(tokens);
        }
        lane.tools = summary.tools;
        lane.files = summary.files.iter().map(|(path, writes)| (path.clone(), *writes)).collect();
    }

    fn take(&mut self, lane: usize, time: i64, sign: Sign) {
        fate::take(self.signs.entry(lane).or_default(), time, sign);
    }

    /// Widens a lane to a record of it.
    pub(super) fn touch(report: &mut Report, lane: usize, time: i64) {
        if let Some(lane) = report.lanes.get_mut(lane) {
            lane.started = Some(lane.started.map_or(time, |known| known.min(time)));
            lane.ended = Some(lane.ended.map_or(time, |known| known.max(time)));
        }
    }

    /// Fills in what needs all transcripts: states, times of sessions, the order of lanes.
    pub(super) fn finish(mut self, report: &mut Report) {
        self.states(report);
        report.lanes.iter_mut().for_each(|lane| lane.outcome = lane.in_words());
        for lane in &report.lanes {
            let Some(session) = lane.session.and_then(|at| report.sessions.get_mut(at)) else { continue };
            session.started = [session.started, lane.started].into_iter().flatten().min();
            session.ended = [session.ended, lane.ended].into_iter().flatten().max();
        }
        sort(report);
        report.hooks.sort_by_key(|hook| hook.time);
        report.unpriced = std::mem::take(&mut self.unpriced).into_iter().collect();
        report.transcripts.bytes = self.counts.bytes;
        report.transcripts.lines = self.counts.lines;
        report.transcripts.versions = self.counts.versions.keys().cloned().collect();
        report.transcripts.problems = self.errors.into_iter().chain(self.counts.problems()).collect();
        if self.left_out > 0 {
            report.left_out.push(format!(
                "{} of tools are not in the timeline",
                conclaude_core::text::count(self.left_out, "call")
            ));
        }
    }

    /// What became of the agents, by what transcripts, notifications and the trail say.
    fn states(&mut self, report: &mut Report) {
        for ((session, agent), (time, sign)) in std::mem::take(&mut self.notified) {
            let lane = self.lanes.get(&Some(session)).and_then(|agents| agents.get(&agent));
            if let Some(lane) = lane.copied() {
                self.take(lane, time, sign);
            }
        }
        let recent = Timestamp::now().as_millisecond()
            - i64::try_from(fate::STILL_RUNNING.as_millis()).unwrap_or_default();
        for record in &report.records {
            if let Some(sign) = Sign::of_record(&record.event, &record.decision, record.reason.as_deref()) {
                self.take(record.lane, record.time, sign);
            }
            if record.time > recent {
                self.recent.insert(record.lane);
            }
        }
        let has_ended: Vec<bool> = report.sessions.iter().map(|session| session.has_ended).collect();
        for (index, lane) in report.lanes.iter_mut().enumerate().filter(|(_, lane)| lane.id.is_some()) {
            let has_ended = lane.session.and_then(|at| has_ended.get(at)).copied().unwrap_or_default();
            let (_, sign) = self.signs.remove(&index).unwrap_or_default();
            (lane.state, lane.why) = state(sign.fate(has_ended, self.recent.contains(&index)));
        }
    }
}

/// An agent without a recent sign counts as never stopped.
fn state(fate: Fate) -> (State, Option<String>) {
    match fate {
        Fate::Stopped => (State::Stopped, None),
        Fate::Running => (State::Running, None),
        Fate::Unknown => (State::Unknown, None),
        Fate::NeverStopped(why) => (State::NeverStopped, Some(why)),
        Fate::Silent(why) => (State::NeverStopped, why.map(str::to_owned)),
    }
}

/// Sessions by their start; in each the main thread first, then the agents by their start.
fn sort(report: &mut Report) {
    let started = |lane: &Lane| {
        let session = lane.session.and_then(|at| report.sessions.get(at)?.started);
        (lane.session.is_none(), session, lane.session, lane.id.is_some(), lane.started)
    };
    let mut lanes: Vec<(usize, Lane)> = std::mem::take(&mut report.lanes).into_iter().enumerate().collect();
    lanes.sort_by_key(|(_, lane)| started(lane));
    let mut moved = vec![0; lanes.len()];
    for (new, (old, _)) in lanes.iter().enumerate() {
        if let Some(place) = moved.get_mut(*old) {
            *place = new;
        }
    }
    let new = |lane: usize| moved.get(lane).copied().unwrap_or(lane);
    report.lanes = lanes.into_iter().map(|(_, lane)| lane).collect();
    report.records.iter_mut().for_each(|record| record.lane = new(record.lane));
    report.calls.iter_mut().for_each(|call| call.0 = new(call.0));
    report.hooks.iter_mut().for_each(|hook| hook.lane = new(hook.lane));
}
