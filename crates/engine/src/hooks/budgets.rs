//! Counts a session's usage at its events, and compares it with its budget.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::context::Context;
use super::{delivery, guards};
use conclaude_checks::guard;
use conclaude_core::agent::Agent;
use conclaude_core::config::{BudgetConfig, BudgetScope, Limit, PriceTable};
use conclaude_core::dialect::claude::prompt::is_notification;
use conclaude_core::dialect::claude::tools::ToolUse;
use conclaude_core::dialect::claude::{layout, tools};
use conclaude_core::event::EventKind;
use conclaude_core::messages;
use conclaude_core::outcome::{Outcome, Verdict};
use conclaude_core::spending::{self, Marks, Meter, MeterReading, MeterWords, Moment};
use conclaude_core::types::HookPayload;
use conclaude_os::files;
use conclaude_os::log;
use conclaude_store::store::permits::input_hash;
use conclaude_store::store::spending::{
    AgentSpending, DaySpending, MeterQuery, MeteredAgent, NamedMeter, SessionSpending, SpendingFolder,
    SpendingLock,
};

/// Counts, and returns the reaction.
pub(super) fn run(config: &BudgetConfig, context: &Context<'_>, so_far: &[Outcome]) -> Vec<Outcome> {
    // A refused tool is not executed and uses nothing.
    let is_refusable = matches!(context.kind(), EventKind::PreToolUse | EventKind::UserPromptSubmit);
    if is_refusable && so_far.iter().any(|outcome| outcome.verdict == Verdict::Block) {
        return Vec::new();
    }
    let Some(folder) = SpendingFolder::of(&context.root.folder) else {
        return uncounted(
            context,
            "there is no home folder to keep the count in: set HOME or XDG_STATE_HOME",
        );
    };
    counted(config, context, so_far, &folder).unwrap_or_else(|error| uncounted(context, &error.to_string()))
}

/// A budget that cannot be counted denies nothing. The user is warned, but not with every tool.
fn uncounted(context: &Context<'_>, why: &str) -> Vec<Outcome> {
    let what = format!("what this session uses cannot be counted, so its budget denies nothing: {why}");
    if context.kind() == EventKind::UserPromptSubmit {
        return vec![Outcome::note(format!("{} {what}", Verdict::Warn.mark()))];
    }
    log::warn(|| what);
    Vec::new()
}

fn counted(
    config: &BudgetConfig,
    context: &Context<'_>,
    so_far: &[Outcome],
    folder: &SpendingFolder,
) -> io::Result<Vec<Outcome>> {
    let lock = if context.is_rehearsal() { None } else { Some(folder.lock(&context.budget)?) };
    let session = context.payload().session_id();
    let before = folder.session(session);
    let has_day = config.limits().any(|limit| limit.scope == BudgetScope::Day);
    let day = if has_day { Some(folder.day(context.started)) } else { None };
    let mut counter = BudgetCounter { config, context, spending: before.clone(), day };
    counter.note_event();
    if context.event.client.has_usage() && config.limits().any(|limit| limit.measure.needs_transcript()) {
        counter.count_transcripts()?;
        counter.enter_day(lock.as_ref())?;
    }
    let outcomes = match counter.moment() {
        Some(moment) => counter.compare(moment, so_far),
        None => Vec::new(),
    };
    if let Some(lock) = lock {
        lock.save(&counter.spending, &before)?;
        if context.kind() == EventKind::SessionEnd {
            folder.prune();
        }
    }
    Ok(outcomes)
}

struct BudgetCounter<'a> {
    config: &'a BudgetConfig,
    context: &'a Context<'a>,
    spending: SessionSpending,
    /// The usage of all sessions today, if there is a budget for it.
    day: Option<DaySpending>,
}

impl BudgetCounter<'_> {
    /// The subagent that the event concerns or comes from.
    fn agent(&self) -> Option<(&Agent, &str)> {
        let agent = self.context.subagent()?;
        Some((agent, agent.id.as_deref()?))
    }

    /// Counts the event itself: an agent starts, or a tool that the user was asked about was used.
    fn note_event(&mut self) {
        match self.context.kind() {
            EventKind::SubagentStart => {
                let started = self.context.started.as_millisecond();
                if let Some(agent) = self.agent_spending() {
                    (agent.started, agent.stopped) = (Some(started), None);
                }
            }
            EventKind::SubagentStop => {
                let stopped = self.context.started.as_millisecond();
                if let Some(agent) = self.agent_spending() {
                    agent.stopped = Some(stopped);
                }
            }
            EventKind::PostToolUse | EventKind::PostToolUseFailure => {
                let Some(call) = call_of(self.context) else { return };
                for marks in self.spending.marks.values_mut() {
                    if let Some((_, level)) = marks.asked.take_if(|(asked, _)| *asked == call) {
                        marks.agreed = Some(level);
                    }
                }
            }
            _ => {}
        }
    }

    fn agent_spending(&mut self) -> Option<&mut AgentSpending> {
        let (agent, id) = self.agent()?;
        let (name, id) = (agent.name.clone(), id.to_owned());
        let spending = self.spending.agents.entry(id).or_default();
        spending.name = name;
        Some(spending)
    }

    /// Reads the new lines of the main thread and of the agent that the event comes from. At the main thread's events that come
    /// once per turn, reads those of all agents.
    fn count_transcripts(&mut self) -> io::Result<()> {
        let main = files::expand_home(self.context.payload().transcript_path());
        let own = self.agent().and_then(|(agent, id)| {
            let path = agent
                .transcript
                .clone()
                .or_else(|| layout::derived_transcript(self.context.payload().transcript_path(), id))?;
            let path = files::expand_home(&path);
            let beside = layout::transcript_beside(&main, id);
            Some((id.to_owned(), if !path.exists() && beside.exists() { beside } else { path }))
        });
        let is_of_turn = matches!(
            self.context.kind(),
            EventKind::UserPromptSubmit | EventKind::Stop | EventKind::SessionEnd
        );
        let mut all = vec![(String::new(), main.clone())];
        all.extend(own);
        if is_of_turn {
            all.extend(self.spending.agents_of(&main, self.context.started));
        }
        all.into_iter().try_for_each(|(id, path)| self.spending.count(&id, &path, self.day.as_ref()))
    }

    fn enter_day(&mut self, lock: Option<&SpendingLock<'_>>) -> io::Result<()> {
        if let Some((lock, day)) = lock.zip(self.day.take()) {
            let used = self.spending.used_today(&self.prices());
            self.day = Some(lock.enter(day, &self.spending.session, used)?);
        }
        Ok(())
    }

    fn prices(&self) -> PriceTable {
        let report = self.context.config.settings.report.as_ref();
        report.and_then(|report| report.prices.clone()).unwrap_or_default()
    }

    /// The moment of a decision, if there is one.
    fn moment(&self) -> Option<Moment> {
        match self.context.payload() {
            HookPayload::PreToolUse(tool) if tools::only_reports(&tool.tool_name) => None,
            HookPayload::PreToolUse(tool) if self.only_records(&tool.tool_name, &tool.tool_input) => None,
            HookPayload::PreToolUse(_) => Some(Moment::Tool),
            HookPayload::UserPromptSubmit(said) if is_notification(&said.prompt) => {
                Some(Moment::Notification)
            }
            HookPayload::UserPromptSubmit(_) => Some(Moment::Prompt),
            _ => None,
        }
    }

    /// Whether a call only records the phases of a step. Without such calls a gated agent could not stop.
    fn only_records(&self, tool: &str, input: &Map<String, Value>) -> bool {
        let ToolUse::Shell(command) = tools::what(tool, input) else { return false };
        // Most commands do not even name it.
        let cwd = Path::new(self.context.payload().cwd());
        command.contains("conclaude des")
            && guard::only_records(command, files::home().as_deref(), cwd, &self.context.budget)
    }

    /// Compares the usage with all amounts. A refusal is reported alone: the rest is reported at the next event.
    fn compare(&mut self, moment: Moment, so_far: &[Outcome]) -> Vec<Outcome> {
        let is_asked = so_far.iter().any(|outcome| outcome.verdict == Verdict::Ask);
        let meters = self.meters();
        let mut told = self.spending.marks.clone();
        let (mut notices, mut refusals) = (Vec::new(), Vec::new());
        for NamedMeter { name, meter } in &meters {
            let marks = told.entry(name.clone()).or_default();
            let reading = meter.read(self.config.at(), self.config.reaction(), moment, marks);
            let Some(outcome) = self.words(meter, moment, |words| words.outcome(reading)) else { continue };
            match reading {
                MeterReading::Denied => self.tell_of_denial(name, meter, moment),
                MeterReading::Asks(level) => {
                    self.spending.marks(name).asked = call_of(self.context).map(|call| (call, level));
                }
                MeterReading::Fine | MeterReading::Near | MeterReading::UsedUp => {}
            }
            let is_refusal = outcome.verdict >= Verdict::Ask;
            if is_refusal { refusals.push(outcome) } else { notices.push(outcome) }
        }
        let is_denied = refusals.iter().any(|outcome| outcome.verdict == Verdict::Block);
        if moment == Moment::Tool
            && !is_denied
            && let Some(agent) = self.agent_spending()
        {
            agent.calls += 1;
        }
        if !refusals.is_empty() || is_asked {
            return refusals;
        }
        told.retain(|_, marks| *marks != Marks::default());
        self.spending.marks = told;
        notices.extend(self.unknown_price(&meters));
        notices
    }

    /// The meters of the amounts that apply here.
    fn meters(&mut self) -> Vec<NamedMeter> {
        // A tool is used, so it works.
        if let Some(agent) = self.agent_spending() {
            agent.stopped = None;
        }
        let limits: Vec<Limit> = self.config.limits_with(self.context.event.client.has_usage()).collect();
        let (prices, now) = (self.prices(), self.context.started);
        let query = MeterQuery { limits: &limits, prices: &prices, day: self.day.as_ref(), now };
        let mut meters = self.spending.meters(query);
        if let Some((agent, id)) = self.agent() {
            let title = messages::agent_name(agent);
            meters.extend(self.spending.meters_of(query, MeteredAgent { id, title: &title }));
        }
        meters
    }

    fn words<T>(&self, meter: &Meter, moment: Moment, say: impl FnOnce(&MeterWords<'_>) -> T) -> T {
        let rule = self.context.config.rule(&meter.limit.keys(), &self.context.root);
        let (then, session) = (self.config.reaction(), self.spending.session.as_str());
        say(&MeterWords { meter, then, rule: &rule, moment, session })
    }

    /// The user does not see an agent's denials.
    fn tell_of_denial(&mut self, name: &str, meter: &Meter, moment: Moment) {
        let Some(agent) = self.context.caller.as_ref() else { return };
        if moment != Moment::Tool || self.spending.marks(name).denied {
            return;
        }
        self.spending.marks(name).denied = true;
        let agent_name = messages::agent_name(agent);
        let text = self.words(meter, moment, |words| words.denied_agent(&agent_name));
        if !self.context.is_rehearsal() {
            delivery::keep(self.context, agent, &text);
        }
    }

    /// Reported once per session, if it prevents a budget from denying anything.
    fn unknown_price(&mut self, meters: &[NamedMeter]) -> Option<Outcome> {
        let unknown = meters.iter().map(|one| &one.meter).find(|meter| meter.used.is_none())?;
        if self.spending.told_of_prices {
            return None;
        }
        let prices = self.prices();
        let own = self.spending.used(&prices);
        let all = match &self.day {
            Some(day) if own.unpriced.is_empty() => day.used_with(&self.spending.session, &own),
            _ => own,
        };
        self.spending.told_of_prices = true;
        let rule = self.context.config.rule(&unknown.limit.keys(), &self.context.root);
        Some(spending::unknown_price(&all.unpriced, &rule))
    }
}

/// Identifies a tool call before and after it: by its id, or for other clients by its input.
fn call_of(context: &Context<'_>) -> Option<String> {
    let fields = &context.event.fields;
    if let Some(id) = fields.get("tool_use_id").and_then(Value::as_str) {
        return Some(id.to_owned());
    }
    let tool = guards::tool_of(&context.event)?;
    Some(input_hash(&tool.tool_name, &tool.tool_input))
}
