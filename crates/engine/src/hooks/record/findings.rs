//! What was found, as records hold it: with the rule, and what that did.

use serde_json::Value;

use super::super::context::Context;
use super::super::remember;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::Plan;
use conclaude_core::rule::{self, Rule};
use conclaude_os::files;

/// The findings among the outcomes. What a report found has records of its own.
pub(super) fn findings(context: &Context<'_>, plan: &Plan, outcomes: &[Outcome]) -> Vec<Value> {
    let is_reported =
        |outcome: &Outcome| outcome.as_finding().is_some_and(|one| one.code == Code::Unfinished);
    let others = outcomes.iter().filter(|outcome| !is_reported(outcome));
    others.filter_map(|outcome| finding(outcome, |found| rule_of(found, plan, context))).collect()
}

/// A finding. `written` says where its rule is, as far as it does not say so itself.
pub(in crate::hooks) fn finding(outcome: &Outcome, written: impl FnOnce(&Finding) -> Rule) -> Option<Value> {
    let finding = outcome.as_finding()?;
    let rule = match finding.rule.as_deref() {
        // What it compared is known, and where that is written is not.
        Some(rule) if matches!(finding.code.written(), rule::RuleSource::Step(field) if field == rule.key) => {
            Rule { pattern: rule.pattern.clone(), ..written(finding) }
        }
        Some(rule) => rule.clone(),
        None => written(finding),
    };
    let mut value = serde_json::to_value(Finding { rule: Some(Box::new(rule)), ..finding.clone() }).ok()?;
    value.as_object_mut()?.insert("verdict".into(), outcome.verdict.as_str().into());
    Some(value)
}

/// The rule of a gate's finding: in the config, in the prompt or in the step.
fn rule_of(finding: &Finding, plan: &Plan, context: &Context<'_>) -> Rule {
    let written = finding.code.written();
    let rule = written.rule(&context.config.origins, &context.root.folder);
    let rule::RuleSource::Step(field) = written else { return rule };
    let Some(step) = remember::recorded_step(plan, context) else { return rule };
    let text = files::read_text(&context.root.work.join(&step), 1 << 20).unwrap_or_default();
    let named = finding.phase.as_deref().unwrap_or(field);
    let line = text.lines().position(|line| line.contains(&format!("\"{named}\"")));
    rule.at(step, line.map(|index| index + 1))
}
