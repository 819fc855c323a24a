//! Merges the answers of commands that act as hooks.

use super::{Decision, Ruling};
use crate::dialect::claude::HookReply;
use crate::event::Blocking;
use crate::messages;
use crate::outcome::{Outcome, Verdict};
use crate::plan::Plan;
use crate::text::{LIMIT, join_within};

fn all(outcomes: &[Outcome]) -> impl Iterator<Item = &HookReply> {
    outcomes.iter().filter_map(Outcome::reply)
}

/// Adds the parts of hooks' answers other than their verdicts.
pub(super) fn with_replies(plan: &Plan, outcomes: &[Outcome], decided: Ruling) -> Ruling {
    if all(outcomes).next().is_none() {
        return decided;
    }
    let mut result = decided.result;
    for reply in all(outcomes) {
        result.passed_on.extend(&reply.passed_on);
    }
    result.stop_reason = stop_reason(outcomes);
    let texts: Vec<String> =
        result.message.take().into_iter().chain(messages::of_replies(outcomes)).collect();
    if !texts.is_empty() {
        result.message = Some(texts.join("\n"));
    }
    if !result.is_allowed() && !matches!(result.decision, Decision::GoOn(_) | Decision::Ask(_)) {
        result.context = context(plan, outcomes);
    }
    Ruling { result, ..decided }
}

/// The context for Claude besides a refusal.
fn context(plan: &Plan, outcomes: &[Outcome]) -> Option<String> {
    let texts: Vec<&str> = all(outcomes).filter_map(|reply| reply.context.as_deref()).collect();
    let is_given = !texts.is_empty() && plan.event.blocking() != Blocking::Worktree;
    if is_given { Some(join_within(&texts, LIMIT)) } else { None }
}

/// Why Claude stops, if a hook stops it.
pub(super) fn stop_reason(outcomes: &[Outcome]) -> Option<String> {
    let reasons: Vec<&str> = all(outcomes).filter_map(|reply| reply.stop_reason.as_deref()).collect();
    if reasons.is_empty() {
        return None;
    }
    Some(reasons.into_iter().filter(|reason| !reason.is_empty()).collect::<Vec<_>>().join("\n"))
}

/// The reasons with which hooks grant a permission.
pub(super) fn grant_reason(outcomes: &[Outcome]) -> Option<String> {
    let granting = all(outcomes).filter(|reply| reply.verdict == Verdict::Grant);
    let reasons: Vec<&str> = granting.filter_map(|reply| reply.reason.as_deref()).collect();
    if reasons.is_empty() { None } else { Some(reasons.join("\n")) }
}

/// The text with which an agent continues, if hooks request that and nothing blocks.
pub(super) fn go_on(outcomes: &[Outcome]) -> Option<String> {
    let mut blocking = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Block);
    let is_wanted = blocking.all(|outcome| outcome.reply().is_some_and(HookReply::goes_on));
    let texts: Vec<&str> = all(outcomes).filter_map(|reply| reply.context.as_deref()).collect();
    if is_wanted && !texts.is_empty() { Some(join_within(&texts, LIMIT)) } else { None }
}
