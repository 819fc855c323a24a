//! The world of a hook: commands run, the judge is asked, and state is written.

use super::changed_input::ChangedCall;
use super::commands::CommandOutput;
use super::conclude::DecidingWorld;
use super::context::Context;
use super::run::{self, Run, World};
use super::{
    budgets, commands, config, denials, enforcement, gates, guards, panics, permissions, permits,
    prompt_context, record, reports, state_changes,
};
use conclaude_core::blocks::{BlockCause, BlockCount, CountError};
use conclaude_core::config::{BudgetConfig, JudgeConfig, PermissionRequestConfig, PreToolUseConfig};
use conclaude_core::decide::Ruling;
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::{Command, ContextRule, Gate, Plan, Report, StateChange, Step};
use conclaude_os::git::Snapshot;
use conclaude_os::log;
use conclaude_os::process;
use conclaude_store::audit::Trail;
use conclaude_store::store::permits::{ClaimedAt, Permit};
use serde_json::{Map, Value};

pub(super) struct LiveWorld<'a> {
    context: &'a Context<'a>,
    /// The tree before the commands.
    tree: Option<&'a Snapshot>,
    /// The output of finished commands that is not shown yet.
    outputs: Vec<CommandOutput>,
}

impl<'a> LiveWorld<'a> {
    pub(super) fn new(plan: &Plan, context: &'a Context<'a>) -> LiveWorld<'a> {
        LiveWorld { context, tree: gates::tree_before_commands(plan, context), outputs: Vec::new() }
    }
}

impl World for LiveWorld<'_> {
    fn starts(&mut self, step: &Step) {
        log::debug(|| step.to_string());
    }

    fn guards(&mut self, config: &PreToolUseConfig, plan: &Plan) -> Vec<Outcome> {
        guards::run(config, plan, self.context)
    }

    fn permissions(&mut self, config: &PermissionRequestConfig) -> Vec<Outcome> {
        permissions::run(config, self.context)
    }

    fn gate(&mut self, gate: &Gate, plan: &Plan) -> Vec<Outcome> {
        gates::run(gate, plan, self.context)
    }

    fn context(&mut self, rule: &ContextRule) -> Vec<Outcome> {
        prompt_context::run(rule, self.context)
    }

    fn report(&mut self, report: Report) -> Vec<Outcome> {
        match report {
            Report::Installation => reports::installation(self.context),
            Report::Unfinished => reports::unfinished(self.context),
            Report::Config => config::report_error(self.context).into_iter().collect(),
            Report::Denials => denials::run(self.context),
            Report::Enforcement => enforcement::update(self.context),
        }
    }

    fn command(&mut self, command: &Command) -> Option<Outcome> {
        self.parallel_commands(&[command]).pop().flatten()
    }

    fn parallel_commands(&mut self, commands: &[&Command]) -> Vec<Option<Outcome>> {
        let ended = commands::run(commands, self.context);
        self.context.budget.restart();
        let (outcomes, outputs): (Vec<Option<Outcome>>, Vec<CommandOutput>) =
            ended.into_iter().map(|(outcome, output)| (Some(outcome), output)).unzip();
        self.outputs.extend(outputs);
        outcomes
    }

    fn commands_ended(&mut self, ended: &mut [Outcome]) {
        commands::show(ended, std::mem::take(&mut self.outputs), self.context);
        gates::note_written_files(self.context, self.tree.take());
    }

    fn judge(&mut self, config: &JudgeConfig, plan: &Plan) -> Option<Outcome> {
        let judged = gates::judge(config, plan, self.context);
        self.context.budget.restart();
        judged
    }

    fn budget(&mut self, config: &BudgetConfig, so_far: &[Outcome]) -> Vec<Outcome> {
        budgets::run(config, self.context, so_far)
    }

    fn remember(&mut self, what: StateChange, plan: &Plan, so_far: &[Outcome]) -> Vec<Outcome> {
        state_changes::run(what, plan, self.context, so_far)
    }

    fn changed_input(&mut self, input: &Map<String, Value>, plan: &Plan) -> Vec<Outcome> {
        let Some(changed) = ChangedCall::new(self.context, input) else { return Vec::new() };
        panics::plan_is_known(plan, self.context.is_first_stop());
        run::run(&changed.plan, &mut LiveWorld::new(&changed.plan, &changed.context)).outcomes
    }

    fn stop_signal(&self) -> Option<&'static str> {
        process::stop_signal()
    }
}

impl DecidingWorld for LiveWorld<'_> {
    fn permit(&mut self, at: ClaimedAt) -> Option<Permit> {
        permits::claim(self.context, at)
    }

    fn is_first_stop(&self) -> bool {
        self.context.is_first_stop()
    }

    fn count_block(&mut self, max: u32, cause: &BlockCause) -> Result<BlockCount, CountError> {
        self.context.count_block(max, cause)
    }

    fn record(&mut self, plan: &Plan, run: &mut Run<'_>, decided: &Ruling) -> Option<String> {
        record::write(self.context, plan, run, decided)
    }

    fn record_number(&self) -> Option<u64> {
        if self.context.is_audited() {
            Some(Trail::of(&self.context.root.folder, None).last_number())
        } else {
            None
        }
    }
}
