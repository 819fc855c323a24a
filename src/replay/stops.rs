//! Stops of the main thread and of subagents. Whether an answer was a stop depends on what follows it.

use serde_json::{Value, json};

use super::state::{StopCandidate, Walk};
use super::totals::PastOutcome;
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::transcript::TranscriptEntry;
use conclaude_core::event::EventKind;
use conclaude_engine::hooks::replay::Prediction;

impl Walk<'_> {
    pub(super) fn note_ending(&mut self, entry: &TranscriptEntry<'_>) {
        if let Some(ending) = entry.ending() {
            self.stop = Some(StopCandidate { ending, time: self.time.clone(), is_early: self.is_early });
        }
    }

    /// The line after an answer shows whether it was a stop, and whether a hook blocked it.
    pub(super) fn resolve_stop(&mut self, entry: &TranscriptEntry<'_>) {
        // The unread part may have been a call of the same answer.
        self.stop = self.stop.take().filter(|stop| stop.ending.is_certain || !entry.follows_gap);
        let Some(StopCandidate { ending, .. }) = &self.stop else { return };
        let is_same =
            entry.message.as_ref().is_some_and(|message| message.id.text() == Some(&ending.message));
        let what = if entry.is_stop_feedback() {
            Some(PastOutcome::BlockedByHook)
        } else if entry.is("assistant") && is_same {
            // Another line of the same answer.
            if entry.may_call() {
                self.stop = None;
            }
            return;
        } else if entry.is("assistant") || entry.results().next().is_some() || entry.is_interruption() {
            if ending.is_certain { Some(PastOutcome::Stopped) } else { None }
        } else if self.thread.agent.is_none()
            && (entry.submitted().is_some() || entry.blocked_prompt().is_some())
        {
            Some(PastOutcome::Stopped)
        } else {
            return;
        };
        let stop = self.stop.take();
        if let Some((stop, what)) = stop.zip(what) {
            self.stopped(stop, what);
        }
    }

    fn stop_fields(&self) -> [(&'static str, Value); 2] {
        let tasks = self.running.iter().map(|(id, kind)| agents::running_task(id, kind)).collect();
        [("stop_hook_active", json!(self.was_blocked)), ("background_tasks", Value::Array(tasks))]
    }

    pub(super) fn stopped(&mut self, stop: StopCandidate, happened: PastOutcome) {
        let StopCandidate { time, is_early, .. } = stop;
        let now = (std::mem::replace(&mut self.time, time), std::mem::replace(&mut self.is_early, is_early));
        let kind = if self.thread.agent.is_some() { EventKind::SubagentStop } else { EventKind::Stop };
        self.totals.stops += u64::from(!is_early);
        self.totals.not_replayed.gated_stops += u64::from(self.is_gated && !is_early);
        let at = self.at(kind, None, "");
        if let Some(judged) = self.judge_of(kind, self.is_gated, Walk::stop_fields) {
            self.blocks += u32::from(judged.would == Prediction::Blocked);
            self.note(at, &judged, happened, None);
        }
        self.was_blocked = happened == PastOutcome::BlockedByHook;
        (self.time, self.is_early) = now;
    }
}
