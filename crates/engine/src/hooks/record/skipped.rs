//! What applied and was not done, and why.

use super::super::context::Context;
use super::super::not_run;
use super::super::run::Run;
use conclaude_core::plan::{Action, Plan, SkipReason, Step};
use conclaude_core::rule::Rule;
use conclaude_store::audit::Skip;

/// What makes Claude go on.
pub(super) const INFINITE: [&str; 2] = ["stop", "infinite"];

/// Commands whose `files` cover nothing that changed. They alone are no reason for a record, or each event would have one.
pub(super) fn without_files(plan: &Plan, context: &Context<'_>) -> Vec<Skip> {
    let files = not_run::of_section(plan, context, |why| why == SkipReason::Files);
    files
        .map(|one| Skip { what: format!("`{}`", one.script.trim()), why: one.why, rule: Some(one.rule) })
        .collect()
}

/// What nobody trusts, and what the run left out.
pub(super) fn skipped(plan: &Plan, run: &Run<'_>, context: &Context<'_>) -> Vec<Skip> {
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
    skips.extend(run.skipped.iter().map(|skipped| skip(skipped.step, &skipped.why)));
    skips
}
