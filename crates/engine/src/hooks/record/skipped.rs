//! What applied and was not done, and why.

use super::super::context::Context;
use super::super::not_run;
use conclaude_core::outcome::{Evidence, Outcome};
use conclaude_core::plan::{Action, Plan, Step, WhyNot};
use conclaude_core::rule::Rule;
use conclaude_os::process;
use conclaude_store::audit::{STILL_RUN, Skip};

/// What makes Claude go on.
pub(super) const INFINITE: [&str; 2] = ["stop", "infinite"];

/// Commands whose `files` cover nothing that changed. They alone are no reason for a record, or each event would have one.
pub(super) fn without_files(plan: &Plan, context: &Context<'_>) -> Vec<Skip> {
    let files = not_run::of_section(plan, context, |why| why == WhyNot::Files);
    files
        .map(|one| Skip { what: format!("`{}`", one.script.trim()), why: one.why, rule: Some(one.rule) })
        .collect()
}

pub(super) fn skipped(plan: &Plan, outcomes: &[Outcome], context: &Context<'_>) -> Vec<Skip> {
    let skip = |step: &Step, why: &str| {
        let rule = match &step.action {
            Action::Command(command) => Some((*command.rule).clone()),
            Action::Judge(_) => Some(Rule::key("des.judge")),
            Action::Continue(_) => Some(context.config.rule(&INFINITE, &context.root)),
            _ => None,
        };
        Skip { what: step.action.to_string(), rule, why: why.to_owned() }
    };
    let mut skips: Vec<Skip> = Vec::new();
    if let Some(untrusted) = &plan.untrusted {
        let steps = untrusted.steps.iter().flat_map(Step::parts);
        skips.extend(steps.map(|step| skip(step, &untrusted.why)));
    }
    let signal = process::stop_signal();
    let mut ran = outcomes.iter().filter_map(Outcome::run).count();
    for step in &plan.steps {
        match &step.action {
            Action::Wait(waiting) => {
                let why = format!("{STILL_RUN}: {}", waiting.agents.join(", "));
                skips.extend(waiting.steps.iter().map(|step| skip(step, &why)));
            }
            Action::Command(_) if ran > 0 => ran -= 1,
            Action::Command(_) => {
                skips.extend(signal.map(|signal| skip(step, &format!("stopped by {signal}"))));
            }
            Action::Judge(_) => skips.extend(not_judged(outcomes, signal).map(|why| skip(step, &why))),
            _ => {}
        }
    }
    skips
}

fn not_judged(outcomes: &[Outcome], signal: Option<&str>) -> Option<String> {
    let is = |test: fn(&Evidence) -> bool| outcomes.iter().any(|outcome| test(&outcome.evidence));
    if is(|evidence| matches!(evidence, Evidence::Judge(..))) {
        return None;
    }
    Some(match signal {
        Some(signal) => format!("stopped by {signal}"),
        None if is(|evidence| *evidence == Evidence::HonestFailure) => "the step admits its failure".into(),
        None => "something else was found, and the judge can only add a block".into(),
    })
}
