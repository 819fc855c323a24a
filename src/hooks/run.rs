//! Runs a plan, step by step: every step ends in outcomes, whatever became of the one before.

use super::context::Context;
use super::{commands, gates, guards, panics, permissions, prompts, remember, session};
use crate::decide;
use crate::error::Result;
use crate::event::{Blocking, EventKind};
use crate::finding::{Code, Finding};
use crate::messages;
use crate::outcome::{Evidence, Outcome, Verdict};
use crate::plan::{Action, Plan};
use crate::process;
use crate::{deadline, log};

pub(super) fn run(plan: &Plan, context: &Context<'_>) -> Result<Vec<Outcome>> {
    panics::panic_here_in_tests("plan");
    match plan.event {
        EventKind::SubagentStart => remember::resume(context),
        EventKind::UserPromptSubmit => session::prompt(context),
        _ => {}
    }
    let mut outcomes = Vec::new();
    let mut tree = gates::tree_before_commands(plan, context);
    let mut outputs = Vec::new();
    for step in &plan.steps {
        log::debug(|| step.to_string());
        let more = match &step.action {
            Action::Report(report) => session::run(*report, context)?,
            Action::Command(command) => {
                let (outcome, output) = commands::run(command, context);
                deadline::start();
                outputs.push((outcomes.len(), output));
                vec![outcome]
            }
            Action::Judge(judge) => {
                // What others write while the judge is asked is not the commands' doing.
                gates::note_written_files(context, tree.take());
                let judged = gates::judge(judge, context, &outcomes);
                deadline::start();
                judged.into_iter().collect()
            }
            action => check(action, plan, context),
        };
        outcomes.extend(more);
        if process::stop_signal().is_some() {
            break;
        }
    }
    commands::show(&mut outcomes, outputs, context);
    gates::note_written_files(context, tree);
    if process::stop_signal().is_none() {
        outcomes.extend(no_worktree(plan, &outcomes));
        outcomes.extend(remember::admit(plan, context, &outcomes));
    }
    outcomes.extend(gates::config_note(plan, context.config.error.as_ref(), &outcomes));
    outcomes.extend(untrusted(plan));
    Ok(outcomes)
}

/// What a check finds, for which nothing is run and nothing is written: the same for whoever only looks.
pub(super) fn check(action: &Action, plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    match action {
        Action::Guards(guards) => guards::run(guards, plan, context),
        Action::Permissions(rules) => permissions::run(rules, context),
        Action::Gate(gate) => gates::run(gate, plan, context),
        Action::Context(rule) => prompts::run(rule, &context.root.folder),
        Action::Wait(agents) => vec![Outcome::note(messages::waiting(agents))],
        Action::Continue(message) => {
            vec![Outcome { verdict: Verdict::Block, message: message.clone(), evidence: Evidence::Continue }]
        }
        Action::Report(_) | Action::Command(_) | Action::Judge(_) => Vec::new(),
    }
}

/// Claude Code needs a path from the commands that make a worktree.
fn no_worktree(plan: &Plan, outcomes: &[Outcome]) -> Option<Outcome> {
    let is_asked = plan.event.blocking() == Blocking::Worktree && plan.commands().next().is_some();
    let is_refused = outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    (is_asked && !is_refused && decide::worktree(outcomes).is_none()).then(|| {
        let what = "no command of `worktreeCreate` has printed a path";
        let fix = "the last line that one prints must be the path of the worktree that it made";
        Outcome::finding(Finding::new(Code::NoWorktree, what, fix), true)
    })
}

/// What is reported of steps that nobody trusts.
pub(super) fn untrusted(plan: &Plan) -> Option<Outcome> {
    plan.untrusted.as_ref().map(|untrusted| Outcome {
        verdict: Verdict::Warn,
        message: messages::untrusted(untrusted),
        evidence: Evidence::Skipped,
    })
}
