//! Lanes: the main thread of every session, and its subagents.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::active_time::ActiveTime;
use super::model::{Call, Hook, Lane, RecordDetails, Report, SessionReport, State};
use super::tables;
use super::threads::{Summary, ToolCall, is_recent};
use conclaude_core::agent::MAIN;
use conclaude_core::config::PriceTable;
use conclaude_store::transcript::fate::{self, Fate, Sign};
use conclaude_store::transcript::identity::Meta;
use conclaude_store::transcript::sessions::SessionFiles;
use conclaude_store::transcript::stream::Counts;
use conclaude_store::{root, store};

/// Older calls are only counted: a page shows them as bars.
const MAX_CALLS: usize = 12_000;

/// Like `MAX_CALLS`, for failed hooks and for written files.
const MAX_HOOKS: usize = 1_000;
const MAX_FILES: usize = 10_000;

/// The lanes and sessions of a report while it is made.
#[derive(Default)]
pub(super) struct Lanes {
    root: PathBuf,
    sessions: HashMap<String, usize>,
    /// By session and agent, whose id is empty for the main thread.
    lanes: HashMap<Option<usize>, HashMap<String, usize>>,
    /// The notifications of a main thread, by session and agent.
    notified: HashMap<(usize, String), (i64, Sign)>,
    /// The facts about agents that only main threads know.
    names: HashMap<(usize, String), Meta>,
    /// Agents that have a transcript of their own.
    with_files: HashSet<String>,
    answers: HashSet<u64>,
    unpriced: BTreeSet<String>,
    counts: Counts,
    errors: Vec<String>,
    left_out: u64,
    hooks_left_out: u64,
    /// The newest sign of each agent's lane, and the agents with a recent one.
    signs: HashMap<usize, (i64, Sign)>,
    recent: HashSet<usize>,
}

impl Lanes {
    pub(super) fn new(root: &Path, files: &[SessionFiles]) -> Lanes {
        let agents = files.iter().flat_map(|session| &session.agents);
        let with_files = agents.map(|agent| agent.id.clone()).collect();
        Lanes { root: root.to_owned(), with_files, ..Lanes::default() }
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

    /// The lane of an agent or of a main thread. Without a session, the lane of records without one.
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
        mut summary: Summary,
        prices: &PriceTable,
    ) {
        report.transcripts.files += 1;
        self.counts.add(&summary.counts);
        self.errors.extend(summary.error.clone());
        let agents = summary.take_agents(&self.with_files);
        self.add(report, session, summary, prices);
        for agent in agents {
            self.add(report, session, agent, prices);
        }
    }

    fn add(&mut self, report: &mut Report, session: &str, mut summary: Summary, prices: &PriceTable) {
        // It has nothing since `--since`.
        if summary.started.is_none() {
            return;
        }
        let session = self.session(report, session);
        let index = self.lane(report, Some(session), summary.agent.as_ref().map(|(id, _)| id.as_str()));
        let notified = std::mem::take(&mut summary.notified).into_iter();
        self.notified.extend(notified.map(|(time, agent, sign)| ((session, agent), (time, sign))));
        let names = std::mem::take(&mut summary.names).into_iter();
        self.names.extend(names.map(|(agent, meta)| ((session, agent), meta)));
        self.describe_session(report, session, &mut summary);
        self.left_out += summary.left_out();
        if let Some(lane) = report.lanes.get_mut(index) {
            self.describe(lane, &mut summary, prices);
            let (time, sign) = summary.sign();
            self.take(index, time, sign);
            if summary.is_recent() {
                self.recent.insert(index);
            }
        }
        let call =
            |call: ToolCall| Call(index, call.start, call.duration, call.tool, call.detail, call.problem);
        report.calls.extend(summary.calls.into_iter().map(call));
        if report.calls.len() > 2 * MAX_CALLS {
            self.left_out += keep_newest(&mut report.calls, MAX_CALLS, |call| call.1);
        }
        report.hooks.extend(summary.hooks.into_iter().map(|hook| Hook {
            time: hook.time,
            lane: index,
            kind: hook.kind,
            hook: hook.hook,
            command: hook.command,
            duration_ms: hook.duration_ms,
            stderr: hook.stderr,
        }));
        if report.hooks.len() > 2 * MAX_HOOKS {
            self.hooks_left_out += keep_newest(&mut report.hooks, MAX_HOOKS, |hook| hook.time);
        }
    }

    fn describe_session(&self, report: &mut Report, session: usize, summary: &mut Summary) {
        let Some(session) = report.sessions.get_mut(session) else { return };
        session.cost_of_client = summary.cost_of_client.or(session.cost_of_client);
        if let Some(cwd) = &summary.cwd
            && (session.project.is_none() || summary.agent.is_none())
        {
            let cwd = root::project_of(cwd);
            let project = if cwd.starts_with(&self.root) { &self.root } else { cwd };
            session.project = Some(project.display().to_string());
        }
        if summary.agent.is_none() {
            session.prompts += summary.prompts;
            session.name = summary.take_title().or(session.name.take());
        }
    }

    fn describe(&mut self, lane: &mut Lane, summary: &mut Summary, prices: &PriceTable) {
        (lane.started, lane.ended) = (summary.started, summary.ended);
        lane.active_time.merge(&summary.active);
        if let Some((id, meta)) = &summary.agent {
            let kind = meta.agent_type.clone().filter(|kind| !kind.trim().is_empty());
            lane.name = kind.unwrap_or_else(|| id.clone());
            lane.description.clone_from(&meta.description);
        }
        for cell in std::mem::take(&mut summary.answers).sums(&mut self.answers, prices) {
            match cell.cost {
                Some(cost) => lane.cost = Some(lane.cost.unwrap_or(0.0) + cost),
                None => drop(self.unpriced.insert(cell.model.clone())),
            }
            if !lane.models.contains(&cell.model) {
                lane.models.push(cell.model.clone());
            }
            lane.messages += cell.answers;
            lane.tokens.add(cell.tokens);
            lane.usage.push(cell);
        }
        lane.tools = summary.tools;
        lane.files = summary.files.iter().map(|(path, writes)| (path.clone(), *writes)).collect();
    }

    fn take(&mut self, lane: usize, time: i64, sign: Sign) {
        fate::take(self.signs.entry(lane).or_default(), time, sign);
    }

    /// Widens a lane to include a record.
    pub(super) fn touch(report: &mut Report, lane: usize, time: i64) {
        if let Some(lane) = report.lanes.get_mut(lane) {
            lane.started = Some(lane.started.map_or(time, |known| known.min(time)));
            lane.ended = Some(lane.ended.map_or(time, |known| known.max(time)));
            lane.active_time.add(time);
        }
    }

    /// The facts about a thread in a record.
    pub(super) fn take_record(&mut self, lane: usize, record: &RecordDetails) {
        if let Some(sign) = Sign::of_record(&record.event, &record.decision, record.reason.as_deref()) {
            self.take(lane, record.time, sign);
        }
        if is_recent(record.time) {
            self.recent.insert(lane);
        }
    }

    /// Computes everything that needs all transcripts: states, times of sessions, the order of lanes.
    pub(super) fn finish(mut self, report: &mut Report) {
        self.states(report);
        report.lanes.iter_mut().for_each(|lane| lane.outcome = lane.in_words());
        for lane in &report.lanes {
            let Some(session) = lane.session.and_then(|at| report.sessions.get_mut(at)) else { continue };
            session.started = [session.started, lane.started].into_iter().flatten().min();
            session.ended = [session.ended, lane.ended].into_iter().flatten().max();
        }
        active_times(report);
        self.limit(report);
        sort(report);
        report.usage = tables::tables(report);
        report.hooks.sort_by_key(|hook| hook.time);
        report.unpriced = std::mem::take(&mut self.unpriced).into_iter().collect();
        report.transcripts.bytes = self.counts.bytes;
        report.transcripts.lines = self.counts.lines;
        report.transcripts.versions = self.counts.versions.keys().cloned().collect();
        report.transcripts.problems = self.errors.into_iter().chain(self.counts.problems()).collect();
        let left_out = [(self.left_out, "call"), (self.hooks_left_out, "failed hook")];
        for (n, noun) in left_out.into_iter().filter(|(n, _)| *n > 0) {
            let counted = conclaude_core::text::count(n, noun);
            report.left_out.push(format!("{counted} are not shown: --session or --since shows them"));
        }
    }

    /// Limits the size of the page. Omitted parts are counted.
    fn limit(&mut self, report: &mut Report) {
        self.left_out += keep_newest(&mut report.calls, MAX_CALLS, |call| call.1);
        self.hooks_left_out += keep_newest(&mut report.hooks, MAX_HOOKS, |hook| hook.time);
        let (mut room, mut left_out) = (MAX_FILES, 0);
        let mut lanes: Vec<&mut Lane> = report.lanes.iter_mut().collect();
        lanes.sort_by_key(|lane| Reverse(lane.started));
        for lane in lanes {
            left_out += lane.files.len().saturating_sub(room) as u64;
            lane.files.truncate(room);
            room -= lane.files.len();
        }
        if left_out > 0 {
            let files = conclaude_core::text::count(left_out, "file");
            report.left_out.push(format!("{files} written are not shown: --session or --since shows them"));
        }
    }

    /// The final states of the agents, from transcripts, notifications and the trail.
    fn states(&mut self, report: &mut Report) {
        for ((session, agent), (time, sign)) in std::mem::take(&mut self.notified) {
            let lane = self.lanes.get(&Some(session)).and_then(|agents| agents.get(&agent));
            if let Some(lane) = lane.copied() {
                self.take(lane, time, sign);
            }
        }
        for ((session, agent), meta) in std::mem::take(&mut self.names) {
            let lane = self.lanes.get(&Some(session)).and_then(|agents| agents.get(&agent));
            let Some(lane) = lane.and_then(|lane| report.lanes.get_mut(*lane)) else { continue };
            if lane.name == agent {
                lane.name = meta.agent_type.unwrap_or(agent);
            }
            lane.description = lane.description.take().or(meta.description);
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

/// The working time of lanes and sessions. Parallel work of a session's agents counts once.
fn active_times(report: &mut Report) {
    let mut sessions = vec![ActiveTime::default(); report.sessions.len()];
    for lane in &mut report.lanes {
        lane.active = lane.active_time.milliseconds();
        if let Some(session) = lane.session.and_then(|at| sessions.get_mut(at)) {
            session.merge(&lane.active_time);
        }
    }
    for (session, mut active) in report.sessions.iter_mut().zip(sessions) {
        session.active = active.milliseconds();
    }
}

/// Keeps this many entries with the highest time. Returns how many were removed.
fn keep_newest<T>(list: &mut Vec<T>, most: usize, time: impl Fn(&T) -> i64) -> u64 {
    let left_out = list.len().saturating_sub(most);
    if left_out > 0 {
        list.sort_by_key(|one| Reverse(time(one)));
        list.truncate(most);
    }
    left_out as u64
}

/// The newest session first. In each the main thread first, then the agents by their start.
fn sort(report: &mut Report) {
    let new_sessions = sorted(&mut report.sessions, |session| Reverse(session.ended));
    for lane in &mut report.lanes {
        lane.session = lane.session.and_then(|old| new_sessions.get(old).copied());
    }
    let key = |lane: &Lane| (lane.session.is_none(), lane.session, lane.id.is_some(), lane.started);
    let new_lanes = sorted(&mut report.lanes, key);
    let new = |lane: usize| new_lanes.get(lane).copied().unwrap_or(lane);
    report.records.iter_mut().for_each(|record| record.lane = new(record.lane));
    report.calls.iter_mut().for_each(|call| call.0 = new(call.0));
    report.hooks.iter_mut().for_each(|hook| hook.lane = new(hook.lane));
}

/// Sorts a list. Returns the new index of each entry.
fn sorted<T, K: Ord>(list: &mut Vec<T>, key: impl Fn(&T) -> K) -> Vec<usize> {
    let mut numbered: Vec<(usize, T)> = std::mem::take(list).into_iter().enumerate().collect();
    numbered.sort_by_key(|(_, one)| key(one));
    let mut moved = vec![0; numbered.len()];
    for (new, (old, _)) in numbered.iter().enumerate() {
        if let Some(place) = moved.get_mut(*old) {
            *place = new;
        }
    }
    *list = numbered.into_iter().map(|(_, one)| one).collect();
    moved
}
