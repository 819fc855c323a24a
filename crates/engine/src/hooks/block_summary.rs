//! An agent that stops after it was blocked: nobody has seen the blocks, so one line says how they ended.

use super::context::Context;
use conclaude_core::decide::{HookResult, Word};
use conclaude_core::messages;
use conclaude_core::outcome::{Outcome, Verdict};
use conclaude_core::plan::Plan;
use conclaude_os::log;

/// Adds the line to the result. What is allowed after `maxBlocks` says so itself; what timed out again blocks nothing any more.
pub(super) fn add(
    context: &Context<'_>,
    plan: &Plan,
    outcomes: &[Outcome],
    word: Word,
    result: HookResult,
) -> HookResult {
    // While the checks wait for background agents, nothing is known of how the blocks end.
    let is_final = result.is_allowed() && !plan.waits();
    let Some(agent) = context.stopping().filter(|_| is_final) else { return result };
    // Until the next prompt Claude is not made to go on any more.
    let has_gone_on = messages::asked_to_go_on(outcomes).is_some();
    let is_at_limit = word == Word::AllowedDespiteFailure
        && outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    if is_at_limit || has_gone_on {
        return result;
    }
    let blocks = context.session.take_blocks(&agent).unwrap_or_else(|error| {
        log::warn(|| format!("cannot read whether the agent was blocked: {error}"));
        None
    });
    let Some((blocks, checks)) = blocks else { return result };
    let line = messages::block_summary(&agent, blocks, &checks, outcomes);
    let message = match result.message {
        Some(message) => format!("{message}\n{line}"),
        None => format!("conclaude: {line}"),
    };
    HookResult { message: Some(message), ..result }
}
