//! An event of a transcript: its payload as Claude Code would have sent it, the config's judgement, and the stored result.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::state::Walk;
use super::totals::{EventPosition, Hit, PastOutcome, differs};
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::event::EventKind;
use conclaude_core::types::Event;
use conclaude_engine::hooks::replay::{Judgement, PastEvent, Prediction, Stage};

/// The stored length of a command or a prompt.
const MAX_WHAT: usize = 300;

/// A stage's memory of the disk grows with each event. It is dropped after this many events.
const MAX_ON_STAGE: u32 = 20_000;

impl Walk<'_> {
    /// The current position.
    pub(super) fn at(&self, kind: EventKind, tool: Option<&str>, what: &str) -> EventPosition {
        EventPosition {
            time: self.time.clone(),
            event: kind,
            tool: tool.map(str::to_owned),
            what: start_of(what).to_owned(),
        }
    }

    /// The subject of a call, in a few words.
    pub(super) fn detail(&self, name: &str, input: &Map<String, Value>) -> String {
        let text = |field: &str| input.get(field).and_then(Value::as_str);
        match tools::what(name, input) {
            ToolUse::File { path, .. } => self.shown(path).to_owned(),
            ToolUse::Shell(command) | ToolUse::PowerShell(command) => start_of(command).to_owned(),
            ToolUse::Other if tools::starts_agent(name) => {
                let parts = [text(agents::TYPE), text("description")];
                parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
            }
            ToolUse::Patch(_) | ToolUse::Other => {
                let fields = ["url", "query", "pattern", "skill", "path"];
                fields.into_iter().find_map(text).unwrap_or_default().to_owned()
            }
        }
    }

    /// The fields that the payloads of this thread have in common. They are made when one of them changes, and copied for each event.
    fn common_fields(&mut self) -> Map<String, Value> {
        let is_known = |(cwd, mode, _): &&(String, Option<String>, _)| *cwd == self.cwd && *mode == self.mode;
        if let Some((.., fields)) = self.common.as_ref().filter(is_known) {
            return fields.clone();
        }
        let thread = self.thread;
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        set("session_id", json!(thread.session));
        set("transcript_path", json!(thread.main));
        set("cwd", json!(self.cwd));
        if let Some(mode) = &self.mode {
            set("permission_mode", json!(mode));
        }
        if let Some(agent) = &thread.agent {
            set("agent_id", json!(agent.id));
            if let Some(kind) = &agent.kind {
                set("agent_type", json!(kind));
            }
        }
        self.common = Some((self.cwd.clone(), self.mode.clone(), fields.clone()));
        fields
    }

    /// The event with these fields, and those that all payloads have.
    pub(super) fn event<const N: usize>(
        &mut self,
        kind: EventKind,
        own: [(&str, Value); N],
    ) -> Option<Event> {
        let mut fields = self.common_fields();
        fields.insert("hook_event_name".into(), kind.name().into());
        if kind == EventKind::SubagentStop && self.thread.agent.is_some() {
            fields.insert("agent_transcript_path".into(), json!(self.thread.path));
        }
        fields.extend(own.map(|(name, value)| (name.to_owned(), value)));
        match Event::of(kind, fields) {
            Ok(event) => Some(event),
            Err(error) => {
                self.unjudged(error.to_string());
                None
            }
        }
    }

    /// The config's judgement, if only the event itself is needed. An event without rules is allowed without a check.
    pub(super) fn judge_of<const N: usize>(
        &mut self,
        kind: EventKind,
        is_gated: bool,
        fields: impl FnOnce(&Self) -> [(&'static str, Value); N],
    ) -> Option<Judgement> {
        if self.is_early {
            return None;
        }
        if !is_gated && !self.replayer.has_rules(kind) {
            let judged = Judgement::default();
            self.count(&judged);
            return Some(judged);
        }
        let fields = fields(self);
        let event = self.event(kind, fields)?;
        self.judge(&event, is_gated)
    }

    /// The config's judgement of an event. `None` for an event outside the requested time. `is_gated`: a gate applies that is not
    /// replayed.
    pub(super) fn judge(&mut self, event: &Event, is_gated: bool) -> Option<Judgement> {
        if self.is_early {
            return None;
        }
        self.judged_on_stage += 1;
        let is_known = self.stage.as_ref().is_some_and(|(cwd, _)| *cwd == self.cwd);
        if !is_known || self.judged_on_stage > MAX_ON_STAGE {
            let cwd = Path::new(&self.cwd);
            let root = self.thread.root.as_deref().unwrap_or(cwd);
            self.stage = Some((self.cwd.clone(), Stage::new(root, cwd)));
            self.judged_on_stage = 0;
        }
        let (_, stage) = self.stage.as_ref()?;
        let past = PastEvent {
            event,
            stage,
            agent: self.thread.agent.as_ref(),
            written: &self.written,
            blocks: self.blocks,
            is_gated,
        };
        match self.replayer.judge(&past) {
            Ok(judged) => {
                self.count(&judged);
                Some(judged)
            }
            Err(error) => {
                self.unjudged(error.to_string());
                None
            }
        }
    }

    pub(super) fn unjudged(&mut self, why: String) {
        if !self.is_early {
            self.totals.unjudged += 1;
            self.totals.problem(format!("an event could not be judged: {why}"));
        }
    }

    fn count(&mut self, judged: &Judgement) {
        *self.totals.would.entry(judged.would).or_default() += 1;
        self.totals.not_replayed.step_files += u64::from(judged.has_gate);
        for rule in &judged.matched {
            self.totals.rules.entry(rule.clone()).or_default().matched += 1;
        }
        let mut counted = Vec::new();
        for because in &judged.because {
            let key = (&because.rule, because.would);
            if !counted.contains(&key) {
                counted.push(key);
                self.totals.rules.entry(because.rule.clone()).or_default().count(because.would);
            }
        }
        for command in &judged.commands {
            *self.totals.commands.entry(command.clone()).or_default() += 1;
        }
    }

    /// Keeps what the table shows.
    pub(super) fn note(
        &mut self,
        at: EventPosition,
        judged: &Judgement,
        happened: PastOutcome,
        asked: Option<bool>,
    ) {
        let would = judged.would;
        let differs = differs(would, happened, asked);
        self.totals.differs += u64::from(differs);
        let was_refused = matches!(happened, PastOutcome::DeniedByHook | PastOutcome::BlockedByHook);
        let is_shown = matches!(would, Prediction::Denied | Prediction::Asked | Prediction::Blocked)
            || differs
            || (matches!(would, Prediction::Depends | Prediction::Unknown) && was_refused);
        if is_shown {
            let key = (self.thread.number, self.hits);
            self.hits += 1;
            let (session, agent) = (self.thread.session.clone(), self.thread.actor().to_owned());
            let because = judged.because.clone();
            self.totals.keep(key, Hit { session, agent, at, would, because, happened, differs });
        }
    }
}

/// The stored start of a command or a prompt.
fn start_of(text: &str) -> &str {
    // No character is shorter than a byte.
    if text.len() <= MAX_WHAT {
        return text;
    }
    let end = text.char_indices().nth(MAX_WHAT);
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
