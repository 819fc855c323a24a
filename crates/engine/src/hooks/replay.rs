//! Inspects past events with the current config: the same payload, plan, guards and decision as in a hook, with a config that is
//! read once. Nothing is run and nothing is written.

use std::path::Path;

use serde_json::Value;

use super::changed_files::ChangeSite;
use super::conclude::{self, Conclusion};
use super::{gate_context, run};
use conclaude_checks::des::markers::Markers;
use conclaude_core::decide::{Decision, Ruling, Word};
use conclaude_core::dialect::claude::tools;
use conclaude_core::event::EventKind;
use conclaude_core::file_pattern::Location;
use conclaude_core::outcome::Evidence;
use conclaude_core::pattern::PatternError;
use conclaude_core::plan::{self, Facts, Gate, GateFacts, Plan, ProjectFacts};
use conclaude_core::types::{Event, HookPayload};
use conclaude_os::budget::Budget;
use conclaude_store::load::LoadedConfig;

mod past;
mod replayer;
mod rules;
mod world;

pub use past::{DecidingRule, Judgement, PastEvent, PlannedCommand, Prediction, Stage};
pub use replayer::{InvalidRule, Replayer};
use world::{PastWorld, called};

impl Replayer {
    /// The config's judgement of an event.
    ///
    /// # Errors
    /// When a pattern cannot be evaluated.
    pub fn judge(&self, past: &PastEvent<'_>) -> Result<Judgement, PatternError> {
        // A hook that takes too long decides without all comparisons, and so does this.
        let budget = Budget::of_hook();
        let gate = self.gate(past.event);
        let plan = self.plan(past, gate.as_ref(), &budget)?;
        let mut world = PastWorld { replayer: self, past, budget, matched: Vec::new() };
        let run = run::run(&plan, &mut world);
        let Conclusion { outcomes, recorded } = conclude::conclude(&plan, run, &mut world);
        let mut judged =
            Judgement { has_gate: gate.is_some(), matched: world.matched, ..Judgement::default() };
        if outcomes.iter().any(|outcome| outcome.evidence == Evidence::Continue) {
            judged.matched.push(rules::infinite(&self.loaded, &self.base));
        }
        judged.commands = plan.commands().map(planned).collect();
        judged.matched.extend(judged.commands.iter().map(|command| command.rule.clone()));
        judged.would = would(&recorded.ruling, &judged.commands, judged.has_gate || past.is_gated);
        let reasons = outcomes.iter().filter_map(|outcome| self.because(outcome, &judged.would, &outcomes));
        judged.because = reasons.collect();
        Ok(judged)
    }

    fn plan(
        &self,
        past: &PastEvent<'_>,
        gate: Option<&GateFacts>,
        budget: &Budget,
    ) -> Result<Plan, PatternError> {
        let (agent, caller) =
            if past.event.kind.is_of_agent() { (past.agent, None) } else { (None, past.agent) };
        let changed = if self.loaded.config.asks_for_files(past.event.kind) {
            changed(past, budget)
        } else {
            Vec::new()
        };
        let running = match &past.event.payload {
            HookPayload::Stop(stop) => stop.running_agents(),
            _ => Vec::new(),
        };
        let LoadedConfig { config, origins, .. } = &self.loaded;
        let project = ProjectFacts { config, origins, root: &self.base, work: &past.stage.work };
        plan::plan(&Facts {
            agent,
            caller,
            changed: &changed,
            running: &running,
            gate,
            config_dir: Some(&self.base),
            ..Facts::of(past.event, project)
        })
    }

    /// Gate 1, if the prompt of a call requires it.
    fn gate(&self, event: &Event) -> Option<GateFacts> {
        let HookPayload::PreToolUse(tool) = &event.payload else { return None };
        let markers = Markers::of(called(tool)?);
        if !self.des.is_enabled() || !markers.apply() {
            return None;
        }
        Some(GateFacts {
            gate: Gate::Call { step_file: markers.step_file.clone() },
            at_call: None,
            markers: [markers.step_file, markers.agent, markers.command, markers.project_id],
        })
    }
}

fn changed(past: &PastEvent<'_>, budget: &Budget) -> Vec<Location> {
    let site = ChangeSite { event: past.event, work: &past.stage.work, budget };
    match past.event.kind {
        EventKind::Stop | EventKind::SubagentStop => site.located(past.written),
        _ => site.known(past.agent),
    }
}

/// The files that a call writes, for the next stop.
pub fn written(event: &Event) -> Vec<String> {
    let work = Path::new(event.payload.cwd());
    let site = ChangeSite { event, work, budget: &Budget::of_hook() };
    site.known(None).into_iter().map(|file| file.absolute).collect()
}

fn planned(command: &plan::Command) -> PlannedCommand {
    PlannedCommand { rule: (*command.rule).clone(), run: command.run.clone(), can_block: command.can_block() }
}

fn would(decided: &Ruling, commands: &[PlannedCommand], is_gated: bool) -> Prediction {
    match (decided.word, &decided.result.decision) {
        (Word::Denied, _) => Prediction::Denied,
        (Word::Blocked, _) => Prediction::Blocked,
        (Word::Asked, _) => Prediction::Asked,
        (_, Decision::Permit(_)) => Prediction::Permitted,
        _ if is_gated => Prediction::Unknown,
        _ if commands.iter().any(|command| command.can_block) => Prediction::Depends,
        _ => Prediction::Allowed,
    }
}

/// Whether a prompt has markers that ask for gates.
pub fn is_gated(prompt: &str) -> bool {
    Markers::of(prompt).apply()
}

/// Whether Gate 2 would look at a call of an agent with a step.
pub fn concerns_scope(event: &Event) -> bool {
    let HookPayload::PreToolUse(tool) = &event.payload else { return false };
    let field = tools::written_field(&tool.tool_name);
    field.is_some_and(|field| tool.tool_input.get(field).is_some_and(Value::is_string))
        || gate_context::shell_writes(tool).is_some()
}
