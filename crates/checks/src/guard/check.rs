//! The rules against what a call touches. A denial counts more than a question, a question more than nothing.

use std::collections::HashSet;

use super::call::{Call, Finding};
use super::own_commands::own_commands;
use super::resolve::{Effects, Unclear};
use super::rules::{Action, Rules};
use super::tools::{allowing_layer, tools};
use super::touched;
use super::undecided::undecided;
use conclaude_core::rule::Rule;
use conclaude_os::budget::Budget;
use shell_effects::Access;

/// All that the rules have against a call; empty if it is free.
pub fn check(rules: &Rules, call: &Call<'_>, effects: &Effects) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for touch in &effects.touches {
        if !seen.insert((touch.access, touch.named(), touch.with_contents)) {
            continue;
        }
        if call.ground.budget.is_over() {
            found.push(out_of_time(call, touch.shown()));
            return found;
        }
        touched::all(rules, call, effects, touch, &mut found);
    }
    // Out of time, every rule would seem to match.
    if call.ground.budget.is_over() {
        found.extend(found.is_empty().then(|| out_of_time(call, call.tool)));
        return found;
    }
    if !perhaps(rules, call, effects, &mut found) {
        return found;
    }
    own_commands(call, effects, &mut found);
    found.extend(effects.unclear.iter().filter_map(|unclear| touched::removed(call, unclear)));
    tools(rules, call, effects, &mut found);
    let mut seen = HashSet::new();
    let unclear = effects.unclear.iter().filter(|unclear| seen.insert(*unclear));
    found.extend(unclear.filter_map(|unclear| undecided(rules, call, effects, unclear)));
    let mut seen = HashSet::new();
    found.retain(|finding| seen.insert(finding.clone()));
    found
}

/// Nobody waits for an answer that took too long.
fn out_of_time(call: &Call<'_>, matched: &str) -> Finding {
    Finding {
        action: Action::Block,
        what: format!("using {}", call.tool),
        rule: format!("the guards could not look at all that it touches: {}", Budget::exceeded()),
        advice: "do it in smaller steps, or let the user shorten the guards".into(),
        origin: Rule::built_in("out of time"),
        matched: matched.to_owned(),
    }
}

/// What is against a file that another tool is given: only its server knows what is done to it, so the user is asked. A rule that
/// allows the tool is an answer to that, unless the rule for the file is of an outer layer. Whether there was time for all of them.
fn perhaps(rules: &Rules, call: &Call<'_>, effects: &Effects, found: &mut Vec<Finding>) -> bool {
    let mut named = effects.unclear.iter().filter_map(|unclear| match unclear {
        Unclear::Named { access, path } => Some((*access, path)),
        _ => None,
    });
    let Some(first) = named.next() else { return true };
    let held = allowing_layer(rules, call).map(|layer| rules.of_outer(layer));
    let rules = held.as_ref().unwrap_or(rules);
    let mut seen = HashSet::new();
    for (access, path) in std::iter::once(first).chain(named).filter(|one| seen.insert(*one)) {
        if call.ground.budget.is_over() {
            found.push(out_of_time(call, path));
            return false;
        }
        let touch = call.ground.touch(access, path);
        let mut against = Vec::new();
        // Of a tool whose name says nothing it is not assumed that it writes.
        if access == Access::Link {
            touched::files(rules, call, &touch, &mut against);
        } else {
            touched::all(rules, call, effects, &touch, &mut against);
        }
        found.extend(against.into_iter().map(|finding| Finding {
            action: Action::Ask,
            what: format!("using {} with {}", call.tool, touch.shown()),
            rule: format!("{}, and what the tool does to it is not known", finding.rule),
            ..finding
        }));
    }
    true
}
