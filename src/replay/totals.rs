//! The results of a replay: counts, and the events that the config decides about.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use conclaude_core::event::EventKind;
use conclaude_core::rule::Rule;
use conclaude_core::text::count;
use conclaude_engine::hooks::replay::{DecidingRule, PlannedCommand, Prediction};
use conclaude_store::transcript::stream::Counts;

/// The limit on stored events: the first are stored, the rest is only counted.
pub(crate) const MAX_HITS: usize = 20_000;

/// Problems that are named; of more only their number.
const MAX_PROBLEMS: usize = 20;

/// The past result, according to the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PastOutcome {
    Ran,
    Failed,
    DeniedByHook,
    RejectedByUser,
    NotPermitted,
    /// The call was interrupted, or the transcript ends before it was over.
    NoResult,
    Submitted,
    Stopped,
    BlockedByHook,
}

impl PastOutcome {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            PastOutcome::Ran => "ran",
            PastOutcome::Failed => "failed",
            PastOutcome::DeniedByHook => "denied by a hook",
            PastOutcome::RejectedByUser => "rejected by the user",
            PastOutcome::NotPermitted => "not permitted",
            PastOutcome::NoResult => "no result",
            PastOutcome::Submitted => "submitted",
            PastOutcome::Stopped => "stopped",
            PastOutcome::BlockedByHook => "blocked by a hook",
        }
    }

    fn was_used(self) -> bool {
        matches!(self, PastOutcome::Ran | PastOutcome::Failed)
    }
}

/// The position of an event in the past.
#[derive(Clone, Debug)]
pub(crate) struct EventPosition {
    pub(crate) time: Option<String>,
    pub(crate) event: EventKind,
    pub(crate) tool: Option<String>,
    /// The file, the command, the prompt.
    pub(crate) what: String,
}

/// An event that would be denied, asked about or blocked, or for which the config decides differently than at that time.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) session: String,
    pub(crate) agent: String,
    pub(crate) at: EventPosition,
    pub(crate) would: Prediction,
    pub(crate) because: Vec<DecidingRule>,
    pub(crate) happened: PastOutcome,
    pub(crate) differs: bool,
}

/// Whether the config decides differently than at that time. `asked`: whether the user was asked then, if that is known.
pub(crate) fn differs(would: Prediction, happened: PastOutcome, asked: Option<bool>) -> bool {
    match would {
        Prediction::Denied => happened.was_used(),
        Prediction::Asked => {
            happened == PastOutcome::DeniedByHook || (happened.was_used() && asked == Some(false))
        }
        Prediction::Blocked => matches!(happened, PastOutcome::Stopped | PastOutcome::Submitted),
        Prediction::Permitted => !happened.was_used() && happened != PastOutcome::NoResult,
        Prediction::Depends | Prediction::Unknown => false,
        Prediction::Allowed => matches!(happened, PastOutcome::DeniedByHook | PastOutcome::BlockedByHook),
    }
}

/// How often a rule matched, and the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) matched: u64,
    pub(crate) denied: u64,
    pub(crate) asked: u64,
    pub(crate) blocked: u64,
    pub(crate) permitted: u64,
}

impl Tally {
    pub(super) fn numbers(&mut self) -> [&mut u64; 5] {
        [&mut self.matched, &mut self.denied, &mut self.asked, &mut self.blocked, &mut self.permitted]
    }

    pub(crate) fn count(&mut self, would: Prediction) {
        match would {
            Prediction::Denied => self.denied += 1,
            Prediction::Asked => self.asked += 1,
            Prediction::Blocked => self.blocked += 1,
            Prediction::Permitted => self.permitted += 1,
            Prediction::Allowed | Prediction::Depends | Prediction::Unknown => {}
        }
    }

    pub(crate) fn decided(&self) -> u64 {
        self.denied + self.asked + self.blocked + self.permitted
    }
}

/// The events that could not be replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplayGaps {
    /// Calls of agents with a step: the step file.
    pub(crate) step_files: u64,
    /// Calls of agents with a step that write: Gate 2.
    pub(crate) scopes: u64,
    /// Stops of agents with a step: Gate 3.
    pub(crate) gated_stops: u64,
    /// Calls for which the transcript does not say whether the user was asked: PermissionRequest.
    pub(crate) requests: u64,
    /// Lines of subagents in the transcript of a main thread, where older versions wrote them.
    pub(crate) sidechain_lines: u64,
    /// Agents without a type: their id is their name.
    pub(crate) unknown_agents: u64,
    /// Transcripts that were last written before the requested time.
    pub(crate) old_files: u64,
}

#[derive(Debug, Default)]
pub(crate) struct ReplayTotals {
    pub(crate) tool_calls: u64,
    pub(crate) requests: u64,
    pub(crate) prompts: u64,
    pub(crate) stops: u64,
    pub(crate) would: BTreeMap<Prediction, u64>,
    pub(crate) differs: u64,
    /// By the number of the transcript and the order in it.
    pub(crate) hits: BTreeMap<(usize, u64), Hit>,
    pub(crate) left_out: u64,
    pub(crate) rules: HashMap<Rule, Tally>,
    /// How often each command would run.
    pub(crate) commands: HashMap<PlannedCommand, u64>,
    pub(crate) not_replayed: ReplayGaps,
    /// The main transcripts of sessions with events in the requested time.
    pub(crate) sessions: BTreeSet<String>,
    /// Events that could not be judged.
    pub(crate) unjudged: u64,
    /// Transcripts that could not be read.
    pub(crate) unreadable: u64,
    /// Those of main threads among them.
    pub(crate) unreadable_sessions: u64,
    pub(crate) counts: Counts,
    /// Why a transcript could not be read, or an event not be judged.
    pub(crate) problems: Vec<String>,
    more_problems: u64,
}

impl ReplayTotals {
    pub(crate) fn of(&self, would: Prediction) -> u64 {
        self.would.get(&would).copied().unwrap_or(0)
    }

    pub(crate) fn keep(&mut self, key: (usize, u64), hit: Hit) {
        self.hits.insert(key, hit);
        if self.hits.len() > MAX_HITS {
            self.hits.pop_last();
            self.left_out += 1;
        }
    }

    pub(crate) fn problem(&mut self, what: String) {
        if self.problems.contains(&what) {
            return;
        }
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(what);
        } else {
            self.more_problems += 1;
        }
    }

    /// The problems of files and events, in sentences.
    pub(crate) fn named_problems(&self) -> Vec<String> {
        let mut named = self.problems.clone();
        if self.more_problems > 0 {
            named.push(format!("and {} more problems", self.more_problems));
        }
        named
    }

    /// All problems, in sentences.
    pub(crate) fn all_problems(&self) -> Vec<String> {
        let mut all = self.named_problems();
        if self.unjudged > 0 {
            all.push(format!("{} could not be judged", count(self.unjudged, "event")));
        }
        all.extend(self.counts.problems());
        all
    }

    /// Everything that is only counted.
    pub(super) fn numbers(&mut self) -> [&mut u64; 19] {
        let (not, counts) = (&mut self.not_replayed, &mut self.counts);
        [
            &mut self.tool_calls,
            &mut self.requests,
            &mut self.prompts,
            &mut self.stops,
            &mut self.differs,
            &mut self.left_out,
            &mut self.unjudged,
            &mut self.unreadable,
            &mut self.unreadable_sessions,
            &mut self.more_problems,
            &mut not.step_files,
            &mut not.scopes,
            &mut not.gated_stops,
            &mut not.requests,
            &mut not.sidechain_lines,
            &mut not.unknown_agents,
            &mut not.old_files,
            &mut counts.bytes,
            &mut counts.lines,
        ]
    }

    pub(super) fn count_rule(&mut self, rule: Rule, mut tally: Tally) {
        add(self.rules.entry(rule).or_default().numbers(), tally.numbers());
    }

    pub(crate) fn add(&mut self, mut other: ReplayTotals) {
        add(self.numbers(), other.numbers());
        other.would.into_iter().for_each(|(would, n)| *self.would.entry(would).or_default() += n);
        other.hits.into_iter().for_each(|(key, hit)| self.keep(key, hit));
        other.rules.into_iter().for_each(|(rule, tally)| self.count_rule(rule, tally));
        other.commands.into_iter().for_each(|(command, n)| *self.commands.entry(command).or_default() += n);
        let names =
            Counts { unread: other.counts.unread, versions: other.counts.versions, ..Counts::default() };
        self.counts.add(&names);
        self.sessions.append(&mut other.sessions);
        other.problems.into_iter().for_each(|problem| self.problem(problem));
    }
}

fn add<const N: usize>(to: [&mut u64; N], from: [&mut u64; N]) {
    to.into_iter().zip(from).for_each(|(to, from)| *to += *from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_differs_where_something_else_came_of_it() {
        use PastOutcome::{
            BlockedByHook, DeniedByHook, Failed, NoResult, NotPermitted, Ran, RejectedByUser, Stopped,
        };
        for (would, happened, asked, expected) in [
            (Prediction::Denied, Ran, None, true),
            (Prediction::Denied, Failed, Some(true), true),
            (Prediction::Denied, DeniedByHook, Some(false), false),
            (Prediction::Denied, RejectedByUser, Some(true), false),
            (Prediction::Denied, NoResult, None, false),
            (Prediction::Asked, Ran, Some(false), true),
            (Prediction::Asked, Ran, Some(true), false),
            (Prediction::Asked, Ran, None, false),
            (Prediction::Asked, DeniedByHook, Some(false), true),
            (Prediction::Permitted, RejectedByUser, Some(true), true),
            (Prediction::Permitted, NotPermitted, Some(true), true),
            (Prediction::Permitted, Ran, Some(true), false),
            (Prediction::Blocked, Stopped, None, true),
            (Prediction::Blocked, BlockedByHook, None, false),
            (Prediction::Depends, BlockedByHook, None, false),
            (Prediction::Allowed, DeniedByHook, Some(false), true),
            (Prediction::Allowed, BlockedByHook, None, true),
            (Prediction::Allowed, Ran, Some(false), false),
        ] {
            assert_eq!(differs(would, happened, asked), expected, "{would:?} {happened:?} {asked:?}");
        }
    }

    #[test]
    fn of_very_many_hits_the_first_are_kept_whatever_the_order() {
        let hit = |number: u64| Hit {
            session: number.to_string(),
            agent: String::new(),
            at: EventPosition { time: None, event: EventKind::Stop, tool: None, what: String::new() },
            would: Prediction::Blocked,
            because: Vec::new(),
            happened: PastOutcome::Stopped,
            differs: true,
        };
        let mut all = ReplayTotals::default();
        for file in (0..3).rev() {
            let mut totals = ReplayTotals::default();
            (0..MAX_HITS as u64 / 2).for_each(|number| totals.keep((file, number), hit(number)));
            all.add(totals);
        }
        assert_eq!((all.hits.len(), all.left_out), (MAX_HITS, MAX_HITS as u64 / 2));
        assert!(all.hits.keys().all(|(file, _)| *file < 2));
    }
}
