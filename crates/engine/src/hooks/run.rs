//! Runs a plan, step by step: every step ends in outcomes, whatever became of the one before.

use super::commands::Shown;
use super::context::Context;
use super::{commands, config_error, gates, guards, panics, permissions, prompts, remember, reports};
use conclaude_core::decide;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::messages;
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::plan::{Action, Plan, Report};
use conclaude_os::deadline;
use conclaude_os::git::Snapshot;
use conclaude_os::log;
use conclaude_os::process;

pub(super) fn run(plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    panics::panic_here_in_tests("plan");
    let mut outcomes = Vec::new();
    let mut running = Running { tree: gates::tree_before_commands(plan, context), outputs: Vec::new() };
    for step in &plan.steps {
        log::debug(|| step.to_string());
        if !matches!(step.action, Action::Command(_)) && !running.outputs.is_empty() {
            running.finish(&mut outcomes, context);
        }
        let more = match &step.action {
            Action::Report(Report::Installation) => reports::installation(context),
            Action::Report(Report::Unfinished) => reports::unfinished(context),
            Action::Command(command) => {
                let (outcome, output) = commands::run(command, context);
                deadline::start();
                running.outputs.push(Shown { outcome: outcomes.len(), output });
                vec![outcome]
            }
            Action::Judge(judge) => {
                let judged = gates::judge(judge, plan, context, &outcomes);
                deadline::start();
                judged.into_iter().collect()
            }
            Action::Remember(what) => remember::run(*what, plan, context, &outcomes),
            Action::Worktree => no_worktree(plan, &outcomes).into_iter().collect(),
            action => check(action, plan, context),
        };
        outcomes.extend(more);
        if process::stop_signal().is_some() {
            break;
        }
    }
    running.finish(&mut outcomes, context);
    outcomes.extend(notes(plan, &outcomes));
    outcomes
}

/// What is left to do for commands once the last of them has ended.
struct Running<'a> {
    /// The tree before them.
    tree: Option<&'a Snapshot>,
    outputs: Vec<Shown>,
}

impl Running<'_> {
    /// At once: what others write later, such as while the judge is asked, is not the commands' doing.
    fn finish(&mut self, outcomes: &mut [Outcome], context: &Context<'_>) {
        commands::show(outcomes, std::mem::take(&mut self.outputs), context);
        gates::note_written_files(context, self.tree.take());
    }
}

/// What a check finds, for which nothing is run and nothing is written: the same for whoever only looks.
pub(super) fn check(action: &Action, plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    match action {
        Action::Guards(guards) => guards::run(guards, plan, context),
        Action::Permissions(rules) => permissions::run(rules, context),
        Action::Gate(gate) => gates::run(gate, plan, context),
        Action::UnknownGate(finding) => vec![Outcome::finding((**finding).clone(), false)],
        Action::Context(rule) => prompts::run(rule, &context.root.folder),
        Action::Note(text) => vec![Outcome::note(text.clone())],
        Action::Remark(text) => {
            log::info(|| text.clone());
            Vec::new()
        }
        Action::Wait(waiting) => vec![Outcome::note(messages::waiting(&waiting.agents))],
        Action::Continue(message) => {
            vec![Outcome { verdict: Verdict::Block, message: message.clone(), evidence: Evidence::Continue }]
        }
        Action::Report(Report::Config) => config_error::report(context).into_iter().collect(),
        Action::Report(Report::Installation | Report::Unfinished)
        | Action::Command(_)
        | Action::Judge(_)
        | Action::Remember(_)
        | Action::Worktree => Vec::new(),
    }
}

/// Claude Code needs a path from the commands that make a worktree.
fn no_worktree(plan: &Plan, outcomes: &[Outcome]) -> Option<Outcome> {
    let none_runs = plan.commands().next().is_none();
    let is_refused = outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    (!is_refused && decide::worktree(outcomes).is_none()).then(|| {
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
        Outcome::finding(Finding::new(Code::NoWorktree, what, fix), true)
    })
}

/// What the plan says of itself: that its gates run without the config, and that steps were left out which nobody trusts.
pub(super) fn notes(plan: &Plan, outcomes: &[Outcome]) -> Vec<Outcome> {
    let untrusted = plan.untrusted.as_ref().map(|untrusted| Outcome {
        verdict: Verdict::Warn,
        message: messages::untrusted(untrusted),
        evidence: Evidence::Skipped,
    });
    gates::config_note(plan, outcomes).into_iter().chain(untrusted).collect()
}
