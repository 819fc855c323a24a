//! The findings of a plan's checks for a past event, and their rules.

use std::cell::RefCell;
use std::path::Path;

use super::past::{DecidingRule, PastEvent, Prediction, Stage};
use super::replayer::Replayer;
use super::rules;
use crate::hooks::conclude::DecidingWorld;
use crate::hooks::guards::GuardSite;
use crate::hooks::permissions::PermissionQuery;
use crate::hooks::run::World;
use crate::hooks::{guards, permissions};
use conclaude_checks::des::gates::{self, CallRequest};
use conclaude_checks::des::markers::Markers;
use conclaude_checks::des::step_folders::StepFolders;
use conclaude_checks::guard::ComparisonLog;
use conclaude_checks::permission;
use conclaude_core::agent::actor;
use conclaude_core::blocks::{BlockCause, BlockCount, CountError};
use conclaude_core::config::{BudgetConfig, JudgeConfig, PermissionRequestConfig, PreToolUseConfig};
use conclaude_core::dialect::claude::agents;
use conclaude_core::dialect::claude::tools;
use conclaude_core::finding::Finding;
use conclaude_core::outcome::{Outcome, Verdict};
use conclaude_core::plan::{Command, ContextRule, Gate, Plan, Report, StateChange};
use conclaude_core::rule::Rule;
use conclaude_core::types::{Event, HookPayload, PreToolUsePayload};
use conclaude_os::budget::Budget;
use conclaude_store::load::LoadedConfig;
use conclaude_store::store::permits::{ClaimedAt, Permit};

/// The world of the past: guards and permissions read today's disk, Gate 1 reads its prompt. The results of commands and the data
/// of later gates are gone.
pub(super) struct PastWorld<'a> {
    pub(super) replayer: &'a Replayer,
    pub(super) past: &'a PastEvent<'a>,
    pub(super) budget: Budget,
    /// The matching rules, including those without effect.
    pub(super) matched: Vec<Rule>,
}

impl World for PastWorld<'_> {
    fn guards(&mut self, config: &PreToolUseConfig, plan: &Plan) -> Vec<Outcome> {
        let PastEvent { event, stage, agent, .. } = *self.past;
        let Some(tool) = &guards::tool_of(event) else { return Vec::new() };
        let Stage { root, work, links, protected } = stage;
        let Replayer { loaded, guards: rules, .. } = self.replayer;
        // Every plan shares the config and its rules: they are compiled once.
        debug_assert!(std::ptr::eq(config, &raw const *loaded.config.guards), "a plan with other guards");
        let LoadedConfig { extended, unusable, .. } = loaded;
        let budget = &self.budget;
        let site = GuardSite {
            client: event.client,
            tool,
            other_names: &[],
            agent,
            root,
            work,
            links,
            protected,
            extended,
            unusable,
            budget,
        };
        let seen = RefCell::default();
        let (_, findings) = site.compare(rules, plan, ComparisonLog::Matches(&seen));
        self.matched.extend(seen.into_inner());
        findings.into_iter().map(guards::wordless).collect()
    }

    fn permissions(&mut self, config: &PermissionRequestConfig) -> Vec<Outcome> {
        let PastEvent { event, stage, agent, .. } = *self.past;
        let Stage { root, links, .. } = stage;
        let sources = &self.replayer.sources;
        let budget = &self.budget;
        let asking = PermissionQuery { event, agent: actor(agent), root, sources, links, budget };
        let matched = &mut self.matched;
        let said = permissions::with_request(config, &asking, |rules, request, home| {
            matched.extend(permission::matching(rules, request, home));
            permission::answer(rules, request, home)
        });
        permissions::outcomes(said)
    }

    fn gate(&mut self, gate: &Gate, _plan: &Plan) -> Vec<Outcome> {
        match gate {
            Gate::Call { .. } => self.replayer.call(self.past.event),
            Gate::Helper { .. } | Gate::Write { .. } | Gate::Stop { .. } | Gate::MissingState { .. } => {
                Vec::new()
            }
        }
    }

    /// The files that it names may have changed since.
    fn context(&mut self, rule: &ContextRule) -> Vec<Outcome> {
        self.matched.push((*rule.rule).clone());
        Vec::new()
    }

    fn report(&mut self, _report: Report) -> Vec<Outcome> {
        Vec::new()
    }

    fn command(&mut self, _command: &Command) -> Option<Outcome> {
        None
    }

    fn judge(&mut self, _config: &JudgeConfig, _plan: &Plan) -> Option<Outcome> {
        None
    }

    /// The usage of that time is unknown.
    fn budget(&mut self, _config: &BudgetConfig, _so_far: &[Outcome]) -> Vec<Outcome> {
        Vec::new()
    }

    fn remember(&mut self, _what: StateChange, _plan: &Plan, _so_far: &[Outcome]) -> Vec<Outcome> {
        Vec::new()
    }
}

impl DecidingWorld for PastWorld<'_> {
    /// A permit of that time does not count: a replay asks what the config says.
    fn permit(&mut self, _at: ClaimedAt) -> Option<Permit> {
        None
    }

    fn is_first_stop(&self) -> bool {
        self.past.blocks == 0
    }

    fn count_block(&mut self, max: u32, _cause: &BlockCause) -> Result<BlockCount, CountError> {
        let blocks = self.past.blocks;
        Ok(if blocks < max { BlockCount::Blocks(blocks + 1) } else { BlockCount::Exhausted })
    }
}

impl Replayer {
    /// Gate 1, as far as the prompt shows. The step file may have changed since.
    fn call(&self, event: &Event) -> Vec<Outcome> {
        let HookPayload::PreToolUse(tool) = &event.payload else { return Vec::new() };
        let prompt = called(tool).unwrap_or_default();
        let findings = gates::of_prompt(&CallRequest {
            markers: &Markers::of(prompt),
            prompt,
            subagent_type: agents::called(&tool.tool_input),
            folders: StepFolders::at(Path::new("")),
            des: &self.des,
            caller: None,
        });
        findings.into_iter().map(|finding| Outcome::finding(finding, self.des.blocks())).collect()
    }

    /// Why an outcome counts.
    pub(super) fn because(
        &self,
        outcome: &Outcome,
        event: &Prediction,
        all: &[Outcome],
    ) -> Option<DecidingRule> {
        let would = match outcome.verdict {
            Verdict::Block if *event == Prediction::Blocked => Prediction::Blocked,
            Verdict::Block if *event == Prediction::Denied => Prediction::Denied,
            // Where nobody can be asked, it is denied.
            Verdict::Ask
                if *event == Prediction::Denied && all.iter().all(|one| one.verdict != Verdict::Block) =>
            {
                Prediction::Denied
            }
            Verdict::Ask => Prediction::Asked,
            Verdict::Grant if *event == Prediction::Permitted => Prediction::Permitted,
            _ => return None,
        };
        let (rule, matched) = match outcome.as_finding() {
            Some(finding) => (self.rule_of(finding), finding.matched.clone().unwrap_or_default()),
            None => (rules::infinite(&self.loaded, &self.base), String::new()),
        };
        Some(DecidingRule { rule, matched, would })
    }

    fn rule_of(&self, finding: &Finding) -> Rule {
        match finding.rule.as_deref() {
            Some(rule) => rule.clone(),
            None => finding.code.written().rule(&self.loaded.origins, &self.base),
        }
    }
}

/// The prompt of an agent that is about to be called.
pub(super) fn called(tool: &PreToolUsePayload) -> Option<&str> {
    if tools::starts_agent(&tool.tool_name) { agents::prompt(&tool.tool_input) } else { None }
}
