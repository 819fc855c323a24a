//! One transcript as events: its lines become prompts, calls, their results and stops.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::state::{StopCandidate, UnansweredCall, Walk};
use super::totals::{EventPosition, PastOutcome, ReplayTotals};
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::prompt::{is_notification, task_of};
use conclaude_core::dialect::claude::tools;
use conclaude_core::dialect::claude::transcript::{BlockCall, CallFate, TranscriptEntry};
use conclaude_core::event::EventKind;
use conclaude_core::types::Event;
use conclaude_engine::hooks::replay::{self, Judgement};

/// The limit on stored calls without a result, and on files that were written before a stop.
const MAX_OPEN: usize = 10_000;
const MAX_WRITTEN: usize = 10_000;

impl Walk<'_> {
    pub(super) fn entry(&mut self, entry: &TranscriptEntry<'_>) {
        if self.thread.agent.is_none() && entry.is_sidechain.is_true() {
            self.totals.not_replayed.sidechain_lines += 1;
            return;
        }
        self.resolve_stop(entry);
        if let Some(cwd) = entry.cwd.text().filter(|cwd| *cwd != self.cwd) {
            cwd.clone_into(&mut self.cwd);
        }
        if let Some(mode) = entry.permission_mode.text() {
            self.mode = Some(mode.to_owned());
        }
        if let Some(time) = entry.timestamp.text() {
            time.clone_into(self.time.get_or_insert_default());
            let is_early = |since| time.parse::<Timestamp>().is_ok_and(|time| time < since);
            self.is_early = self.since.is_some_and(is_early);
        }
        match self.thread.agent {
            None => self.prompts(entry),
            Some(_) => self.task(entry),
        }
        if let Some(open) = entry.answered_request().and_then(|id| self.open.get_mut(id)) {
            open.was_asked = true;
        }
        for BlockCall { id, name, input } in entry.calls() {
            self.call(id, name, input);
        }
        for result in entry.results() {
            let Some(id) = result.tool_use_id.text() else { continue };
            let Some(open) = self.open.remove(id) else { continue };
            let fate = entry.fate(result);
            if let Some(kind) = &open.starts {
                self.running.extend(result.launched_agent().map(|id| (id, kind.clone())));
            }
            let was_asked = if open.was_asked { Some(true) } else { entry.was_asked(fate) };
            self.result(open, happened(fate), was_asked);
        }
        self.note_ending(entry);
    }

    /// The end of the transcript.
    pub(super) fn finish(mut self) -> ReplayTotals {
        // A file may have been written to without an event in the requested time.
        if self.since.is_some() && !self.is_early {
            self.totals.sessions.insert(self.thread.main.to_string_lossy().into_owned());
        }
        // The unreadable part may have shown whether an answer was the last.
        let is_known = |stop: &StopCandidate| stop.ending.is_certain || !self.ends_in_gap;
        if let Some(stop) = self.stop.take().filter(is_known) {
            self.stopped(stop, PastOutcome::Stopped);
        }
        self.flush();
        self.totals
    }

    /// Calls that never got a result.
    fn flush(&mut self) {
        let mut open: Vec<UnansweredCall> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by(|a, b| a.at.time.cmp(&b.at.time));
        open.into_iter().for_each(|open| self.result(open, PastOutcome::NoResult, Some(false)));
    }

    fn prompts(&mut self, entry: &TranscriptEntry<'_>) {
        let (prompt, happened) = match (entry.submitted(), entry.blocked_prompt()) {
            (Some(prompt), _) => (prompt, PastOutcome::Submitted),
            (None, Some(prompt)) => (prompt.into(), PastOutcome::BlockedByHook),
            (None, None) => return,
        };
        if let Some(id) = task_of(&prompt) {
            self.running.remove(id);
        }
        if !is_notification(&prompt) {
            // No stop has checked the files that were written before a prompt that came while Claude worked.
            if !entry.is_queued() {
                self.written.clear();
                self.written_names.clear();
            }
            (self.blocks, self.was_blocked) = (0, false);
        }
        self.totals.prompts += u64::from(!self.is_early);
        let at = self.at(EventKind::UserPromptSubmit, None, &prompt);
        let judged = self.judge_of(EventKind::UserPromptSubmit, false, |_| [("prompt", json!(prompt))]);
        if let Some(judged) = judged {
            self.note(at, &judged, happened, None);
        }
    }

    /// The first prompt of an agent says whether it has a step.
    fn task(&mut self, entry: &TranscriptEntry<'_>) {
        if !self.has_prompt
            && let Some(prompt) = entry.prompt()
        {
            self.has_prompt = true;
            self.is_gated = self.replayer.has_gates() && replay::is_gated(&prompt);
        }
    }

    fn call(&mut self, id: &str, name: &str, input: &str) {
        self.totals.tool_calls += u64::from(!self.is_early);
        let Ok(input) = serde_json::from_str::<Map<String, Value>>(input) else {
            self.unjudged(format!("the input of a call of {name} is not an object"));
            return;
        };
        let at = self.at(EventKind::PreToolUse, Some(name), &self.detail(name, &input));
        let starts = if tools::starts_agent(name) { Some(agents::called(&input).to_owned()) } else { None };
        let fields =
            [("tool_name", json!(name)), ("tool_use_id", json!(id)), ("tool_input", Value::Object(input))];
        let Some(event) = self.event(EventKind::PreToolUse, fields) else { return };
        let is_gated = self.is_gated && replay::concerns_scope(&event);
        self.totals.not_replayed.scopes += u64::from(is_gated && !self.is_early);
        let judged = self.judge(&event, is_gated);
        let writes = if self.replayer.asks_for_files() { replay::written(&event) } else { Vec::new() };
        let event = if self.replayer.has_permissions() { Some(event) } else { None };
        if self.open.len() >= MAX_OPEN {
            self.flush();
        }
        let is_early = self.is_early;
        let open = UnansweredCall { at, judged, event, writes, starts, was_asked: false, is_early };
        if let Some(before) = self.open.insert(id.to_owned(), open) {
            self.result(before, PastOutcome::NoResult, Some(false));
        }
    }

    fn result(&mut self, open: UnansweredCall, happened: PastOutcome, asked: Option<bool>) {
        if happened == PastOutcome::Ran {
            for file in open.writes {
                if self.written.len() < MAX_WRITTEN && self.written_names.insert(file.clone()) {
                    self.written.push(file);
                }
            }
        }
        if open.is_early {
            return;
        }
        let Some(judged) = open.judged else { return };
        // If a hook denied a call when the user was about to be asked, no hook had denied it before.
        let before = match (happened, asked) {
            (PastOutcome::DeniedByHook, Some(true)) => PastOutcome::NotPermitted,
            _ => happened,
        };
        let is_denied = judged.would == replay::Prediction::Denied;
        self.note(open.at.clone(), &judged, before, asked);
        if is_denied {
            return;
        }
        match (asked, open.event) {
            (Some(true), event) => self.request(event, open.at, happened),
            (None, Some(_)) => self.totals.not_replayed.requests += 1,
            (None, None) | (Some(false), _) => {}
        }
    }

    /// The question to the user, as the permission rules would have answered it. Without an event no rules apply.
    fn request(&mut self, event: Option<Event>, at: EventPosition, happened: PastOutcome) {
        let kind = EventKind::PermissionRequest;
        self.totals.requests += 1;
        let judged = match event.map(|event| event.fields) {
            Some(mut fields) => {
                fields.insert("hook_event_name".into(), json!(kind.name()));
                match Event::of(kind, fields) {
                    Ok(event) => self.judge(&event, false),
                    Err(error) => {
                        self.unjudged(error.to_string());
                        None
                    }
                }
            }
            None => Some(Judgement::default()),
        };
        if let Some(judged) = judged {
            self.note(EventPosition { event: kind, ..at }, &judged, happened, Some(true));
        }
    }
}

fn happened(fate: CallFate) -> PastOutcome {
    match fate {
        CallFate::Ran => PastOutcome::Ran,
        CallFate::Failed => PastOutcome::Failed,
        CallFate::DeniedByHook => PastOutcome::DeniedByHook,
        CallFate::RejectedByUser => PastOutcome::RejectedByUser,
        CallFate::NotPermitted => PastOutcome::NotPermitted,
    }
}
