//! Guards of `preToolUse`: compares the effects of a tool call with the rules that protect files and commands.

use std::collections::HashSet;

use call::Advice;
use conclaude_core::rule::{OUT_OF_TIME, OWN_FILES, Rule};
use conclaude_core::text::ended;
use conclaude_os::budget::Budget;
use open_questions::open_question;
use own_commands::own_commands;
use shell_effects::Access;
use tool_checks::{allowing_layer, tools};

mod additions;
mod call;
mod command_pattern;
mod comparison_log;
mod compile;
mod doubt_questions;
mod file_checks;
mod file_rules;
mod file_usage;
mod link_makers;
mod named_files;
mod open_questions;
pub mod own_commands;
mod resolve;
mod rules;
mod search;
mod settled;
mod shell_environment;
mod somewhere;
mod sql;
mod tool_checks;
mod tool_rule;
mod touch_pattern;
mod unknown_arguments;
mod unusable_rules;

pub use call::{Finding, OwnFiles, ToolCall, UnknownPart, UnknownUse};
pub use command_pattern::{CommandForms, CommandPattern, Match, joins};
pub use comparison_log::{Comparison, ComparisonLog};
pub use compile::{Sources, rule_sources};
pub use file_rules::{FileQuery, FileRule, FileRules, FileUsage};
pub use own_commands::{only_records, read_shell};
pub use resolve::{Effects, Ground, Touch, Uncertainty};
pub use rules::{Action, AgentFilter, GuardRules, InputPattern, RuleOrigin, is_about};
pub use search::EntryCount;
pub use settled::doubtful_program;
pub use tool_rule::pipeline;
pub use touch_pattern::TouchPattern;
pub use unusable_rules::{UNUSABLE_RULES, UncheckedCall, unusable_rules};

/// Compares a call with the rules. No finding means that the guards allow it.
pub fn check(rules: &GuardRules, call: &ToolCall<'_>, effects: &Effects) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for touch in &effects.touches {
        // A sourced file may also be read in other ways.
        let usage = file_usage::usage(effects, touch);
        if !seen.insert((touch.access, touch.named(), touch.with_contents, touch.brings, usage)) {
            continue;
        }
        if call.ground.budget.is_over() {
            found.push(out_of_time(call, touch.shown()));
            return found;
        }
        found.extend(file_checks::all(rules, call, effects, touch));
    }
    // Out of time, every rule would seem to match.
    if call.ground.budget.is_over() {
        if found.is_empty() {
            found.push(out_of_time(call, call.tool));
        }
        return found;
    }
    if !perhaps(rules, call, effects, &mut found) {
        return found;
    }
    own_commands(call, effects, &mut found);
    found.extend(effects.unclear.iter().filter_map(|unclear| file_checks::removed(call, unclear)));
    found.extend(effects.unclear.iter().filter_map(|unclear| file_checks::rewritten(call, unclear)));
    found.extend(effects.unclear.iter().filter_map(|unclear| file_checks::named_like_own(call, unclear)));
    tools(rules, call, effects, &mut found);
    let mut seen = HashSet::new();
    let unclear = effects.unclear.iter().filter(|unclear| seen.insert(*unclear));
    found.extend(unclear.filter_map(|unclear| open_question(rules, call, effects, unclear)));
    let mut seen = HashSet::new();
    found.retain(|finding| seen.insert(finding.clone()));
    found
}

/// Out of time the answer is a denial: Claude Code may have stopped waiting.
fn out_of_time(call: &ToolCall<'_>, matched: &str) -> Finding {
    Finding {
        action: Action::Block,
        reason: format!(
            "The guards could not check everything that {} touches: {}.",
            call.tool,
            Budget::exceeded()
        ),
        advice: Advice::claude("Do it in smaller steps, or ask the user to shorten the guards."),
        about: None,
        origin: Rule::built_in(OUT_OF_TIME),
        matched: matched.to_owned(),
        unknown: None,
    }
}

/// Checks the files that the input of a foreign tool names. Only its server knows what it does to them, so a finding asks the
/// user. A rule that allows the tool is an answer, unless the rule for the file belongs to an outer layer. Returns whether there
/// was time for all files.
fn perhaps(rules: &GuardRules, call: &ToolCall<'_>, effects: &Effects, found: &mut Vec<Finding>) -> bool {
    let mut named = effects.unclear.iter().filter_map(|unclear| match unclear {
        Uncertainty::Named { access, path } => Some((*access, path)),
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
        // The tool's name does not show whether it writes. Then only the rules for existing files and for our own files are
        // compared.
        let against = if access == Access::Link {
            let mut against = file_checks::files(rules, call, effects, &touch);
            file_checks::own_files(call, &touch, &mut against);
            against
        } else {
            file_checks::all(rules, call, effects, &touch)
        };
        found.extend(against.into_iter().map(|finding| Finding {
            action: if finding.origin == Rule::built_in(OWN_FILES) { finding.action } else { Action::Ask },
            reason: format!(
                "It is unknown what {} does to {}. {}",
                call.tool,
                touch.shown(),
                ended(&finding.reason)
            ),
            advice: Advice::both(finding.advice.claude, "Allow it if you know what it does."),
            about: None,
            unknown: None,
            ..finding
        }));
    }
    true
}

#[cfg(test)]
mod tests;
