//! Runs a plan, step by step. Every step ends in outcomes, even if the one before failed.
//!
//! A hook, a rehearsal, a replay and `conclaude run` take it through worlds of their own: what differs between them is a method of
//! [`World`], and everything else is the same for all. So they cannot disagree.

use super::{changed_input, gates};
use conclaude_core::config::{BudgetConfig, JudgeConfig, PermissionRequestConfig, PreToolUseConfig};
use conclaude_core::decide;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::messages;
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::plan::{
    Action, Command, ContextRule, Gate, PendingStop, Plan, Report, StateChange, Step, UntrustedSteps,
};
use conclaude_os::log;
use conclaude_store::audit::STILL_RUN;
use serde_json::{Map, Value};

/// The environment of a plan's steps: the disk, processes and the state of a session, or a simulation of them.
pub(super) trait World {
    /// A step starts.
    fn starts(&mut self, _step: &Step) {}

    fn guards(&mut self, config: &PreToolUseConfig, plan: &Plan) -> Vec<Outcome>;

    fn permissions(&mut self, config: &PermissionRequestConfig) -> Vec<Outcome>;

    fn gate(&mut self, gate: &Gate, plan: &Plan) -> Vec<Outcome>;

    /// Context for a prompt, with the files that its rule names.
    fn context(&mut self, rule: &ContextRule) -> Vec<Outcome>;

    fn report(&mut self, report: Report) -> Vec<Outcome>;

    /// `None` if the result is unknown.
    fn command(&mut self, command: &Command) -> Option<Outcome>;

    /// Commands that run in parallel. Each has a result, in their order.
    fn parallel_commands(&mut self, commands: &[&Command]) -> Vec<Option<Outcome>> {
        commands.iter().map(|command| self.command(command)).collect()
    }

    /// The last of these commands has ended.
    fn commands_ended(&mut self, _ended: &mut [Outcome]) {}

    /// Asks the judge. Only if nothing else blocks.
    fn judge(&mut self, config: &JudgeConfig, plan: &Plan) -> Option<Outcome>;

    /// Counts the usage, and compares it with the budget.
    fn budget(&mut self, config: &BudgetConfig, so_far: &[Outcome]) -> Vec<Outcome>;

    /// Changes the state of the session.
    fn remember(&mut self, what: StateChange, plan: &Plan, so_far: &[Outcome]) -> Vec<Outcome>;

    /// Checks tool input that a command replaced.
    fn changed_input(&mut self, _input: &Map<String, Value>, _plan: &Plan) -> Vec<Outcome> {
        Vec::new()
    }

    /// The signal to stop that we received, if any.
    fn stop_signal(&self) -> Option<&'static str> {
        None
    }
}

/// The outcomes of a plan.
#[derive(Default)]
pub(super) struct Run<'p> {
    pub(super) outcomes: Vec<Outcome>,
    /// The end of each step's outcomes. Every step has an entry, even a skipped one.
    ends: Vec<usize>,
    pub(super) skipped: Vec<SkippedStep<'p>>,
    /// How many commands have ended in a row. They share the space of the answer, so their output is shown once the last of them
    /// has ended. It is shown immediately: files that others write later, such as during the judge's request, do not come from
    /// the commands.
    commands: usize,
}

/// A step that applied and was skipped.
pub(super) struct SkippedStep<'p> {
    pub(super) step: &'p Step,
    pub(super) why: String,
}

impl<'p> Run<'p> {
    /// The outcomes of each step.
    pub(super) fn by_step(&self) -> Vec<Vec<Outcome>> {
        let mut start = 0;
        let mut steps = Vec::new();
        for end in &self.ends {
            steps.push(self.outcomes.get(start..*end).unwrap_or_default().to_vec());
            start = *end;
        }
        steps
    }

    fn skip(&mut self, step: &'p Step, why: &str) {
        self.skipped.push(SkippedStep { step, why: why.to_owned() });
    }

    fn skip_waiting(&mut self, waiting: &'p PendingStop) {
        let why = format!("{STILL_RUN}: {}", waiting.agents.join(", "));
        for step in &waiting.steps {
            self.skip(step, &why);
        }
    }

    /// A step that comes after the signal.
    fn interrupted(&mut self, step: &'p Step, signal: &str) {
        match &step.action {
            Action::Command(_) | Action::Judge(_) => self.skip(step, &format!("stopped by {signal}")),
            Action::Wait(waiting) => self.skip_waiting(waiting),
            // They check or note something, and nobody asks any more.
            Action::Guards(_)
            | Action::Permissions(_)
            | Action::Context(_)
            | Action::Gate(_)
            | Action::UnknownGate(_)
            | Action::Report(_)
            | Action::Note(_)
            | Action::Remark(_)
            | Action::Continue(_)
            | Action::Budget(_)
            | Action::Remember(_)
            | Action::Worktree => {}
        }
    }

    fn judge_changed_input(&mut self, plan: &Plan, world: &mut impl World) {
        if let Some(input) = changed_input::changed_input(plan, &self.outcomes) {
            let found = world.changed_input(input, plan);
            self.outcomes.extend(changed_input::new_findings(&self.outcomes, found));
        }
    }

    fn commands_ended(&mut self, world: &mut impl World) {
        let first = self.outcomes.len().saturating_sub(std::mem::take(&mut self.commands));
        world.commands_ended(self.outcomes.get_mut(first..).unwrap_or_default());
    }

    /// Adds the outcomes of the next step.
    fn add(&mut self, outcomes: impl IntoIterator<Item = Outcome>) {
        self.outcomes.extend(outcomes);
        self.ends.push(self.outcomes.len());
    }

    fn step(&mut self, step: &'p Step, plan: &Plan, world: &mut impl World) -> Vec<Outcome> {
        if self.commands > 0 && step.command().is_none() {
            self.commands_ended(world);
        }
        match &step.action {
            Action::Guards(config) => world.guards(config, plan),
            Action::Permissions(config) => world.permissions(config),
            Action::Gate(gate) => world.gate(gate, plan),
            Action::UnknownGate(finding) => vec![Outcome::finding((**finding).clone(), false)],
            Action::Context(rule) => world.context(rule),
            Action::Report(report) => world.report(*report),
            Action::Command(command) => {
                let ended = world.command(command);
                self.commands += usize::from(ended.is_some());
                ended.into_iter().collect()
            }
            Action::Note(text) => vec![Outcome::note(text.clone())],
            Action::Remark(text) => {
                log::info(|| text.clone());
                Vec::new()
            }
            Action::Wait(waiting) => {
                self.skip_waiting(waiting);
                vec![Outcome::note(messages::waiting(&waiting.agents))]
            }
            Action::Continue(message) => vec![Outcome {
                verdict: Verdict::Block,
                message: message.clone(),
                evidence: Evidence::Continue,
            }],
            Action::Judge(config) => match why_not_judged(&self.outcomes) {
                Some(why) => {
                    self.skip(step, why);
                    Vec::new()
                }
                None => world.judge(config, plan).into_iter().collect(),
            },
            Action::Budget(config) => world.budget(config, &self.outcomes),
            Action::Remember(what) => world.remember(*what, plan, &self.outcomes),
            Action::Worktree => no_worktree(plan, &self.outcomes).into_iter().collect(),
        }
    }
}

/// Runs the plan.
pub(super) fn run<'p>(plan: &'p Plan, world: &mut impl World) -> Run<'p> {
    let mut run = Run::default();
    let mut signal = None;
    for group in plan.steps.chunk_by(Step::is_parallel_with) {
        if let Some(signal) = signal {
            for step in group {
                run.interrupted(step, signal);
                run.add([]);
            }
            continue;
        }
        group.iter().for_each(|step| world.starts(step));
        if let [step] = group {
            let outcomes = run.step(step, plan, world);
            run.add(outcomes);
        } else {
            let commands: Vec<&Command> = group.iter().filter_map(Step::command).collect();
            for ended in world.parallel_commands(&commands) {
                run.commands += usize::from(ended.is_some());
                run.add(ended);
            }
        }
        signal = world.stop_signal();
    }
    run.commands_ended(world);
    run.judge_changed_input(plan, world);
    run.outcomes.extend(notes(plan, &run.outcomes));
    run
}

/// The judge can only add a block, so it is asked only if nothing else blocks. An admitted failure is not judged.
fn why_not_judged(so_far: &[Outcome]) -> Option<&'static str> {
    if so_far.iter().any(|outcome| outcome.evidence == Evidence::HonestFailure) {
        return Some("the step admits its failure");
    }
    let is_against = |outcome: &Outcome| {
        outcome.verdict == Verdict::Block || outcome.as_finding().is_some_and(Finding::blocks)
    };
    if so_far.iter().any(is_against) {
        return Some("something else was found, and the judge can only add a block");
    }
    None
}

/// Claude Code needs a path from the commands that make a worktree.
fn no_worktree(plan: &Plan, outcomes: &[Outcome]) -> Option<Outcome> {
    let is_refused = outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    if is_refused || decide::worktree(outcomes).is_some() {
        return None;
    }
    let none_runs = plan.commands().next().is_none();
    let (what, fix) = match &plan.untrusted {
        Some(untrusted) if none_runs => (
            format!("no command of `worktreeCreate` may run: {}", untrusted.why),
            "look at it with `conclaude trust`",
        ),
        None if none_runs => (
            "no command of `worktreeCreate` is for this event".into(),
            "`conclaude explain` says why each does not run",
        ),
        _ => (
            "no command of `worktreeCreate` has printed a path".into(),
            "the last line that one prints must be the path of the worktree that it made",
        ),
    };
    Some(Outcome::finding(Finding::new(Code::NoWorktree, what, fix), true))
}

/// The plan's own notes: its gates run without the config, and untrusted steps were skipped.
fn notes(plan: &Plan, outcomes: &[Outcome]) -> Vec<Outcome> {
    let skipped = |untrusted: &UntrustedSteps| Outcome {
        verdict: Verdict::Warn,
        message: messages::untrusted(untrusted),
        evidence: Evidence::Skipped,
    };
    gates::config_note(plan, outcomes).into_iter().chain(plan.untrusted.as_ref().map(skipped)).collect()
}
