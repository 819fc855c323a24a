//! From what was found and run to one decision, within the bound on blocks, and its record.

use super::plan::Plan;
use super::run::{self, Run};
use super::{Config, gate, post, records, report};
use crate::event::Blocking;
use crate::log;
use crate::outcome::{Decision, HookResult, Result};
use crate::root::Root;
use crate::store::{Bound, Session};
use crate::types::HookPayload;

/// The results as one decision, within the bound on blocks, and recorded.
pub(super) fn settle(
    plan: &Plan,
    runs: &[Run],
    gated: Option<&gate::Gated>,
    payload: &HookPayload,
    session: &Session,
    config: &Config,
    root: &Root,
) -> Result<HookResult> {
    let (mut result, decision) = conclude(plan, runs, gated, payload, session, config.settings.max_blocks());
    if let Some(gated) = gated.filter(|_| result.decision == Decision::Allow) {
        gated.release(session);
    }
    if let Some(record) =
        records::record_subagent(plan.event, payload.session_id(), &plan.agent, gated, runs, decision)
    {
        let recorded = config.audit(root, &record);
        if let (Decision::Block(reason), Some(problem)) =
            (&mut result.decision, records::unrecorded(&recorded))
        {
            reason.push_str(&format!("\n({problem})"));
        }
        match recorded {
            Ok(None) => {}
            Ok(Some(problem)) if result.decision == Decision::Allow => {
                let shown = result
                    .message
                    .map_or_else(|| report::message(plan, &problem), |text| format!("{text}\n{problem}"));
                result.message = Some(shown);
            }
            // A block stands, whatever becomes of its record.
            Err(error) if result.decision == Decision::Allow => {
                if let Some(message) = &result.message {
                    post::keep(payload, Some(&plan.agent), root, message);
                }
                return Err(error);
            }
            Ok(Some(_)) | Err(_) => {}
        }
    }
    Ok(result)
}

/// What is decided, and its word in the audit trail.
fn conclude(
    plan: &Plan,
    runs: &[Run],
    gated: Option<&gate::Gated>,
    payload: &HookPayload,
    session: &Session,
    max: u32,
) -> (HookResult, &'static str) {
    let allow = |text: String| HookResult::showing(run::shorten(report::message(plan, &text), session));
    let block = |text: &str, nth, max| {
        HookResult::blocked(run::shorten(report::block_reason(plan, text, nth, max), session))
    };
    let findings = gated.and_then(|gated| report::lines(&gated.findings));
    let failure = gated.and_then(|gated| gated.failure.as_ref().map(|reason| (gated, reason)));
    let failure_words = failure
        .map(|(gated, reason)| report::honest_failure(gated.step.as_deref().unwrap_or_default(), reason));
    let withheld = plan.withheld.as_ref().and_then(|held| report::withheld(held, gated.is_some()));
    let parts: Vec<String> =
        findings.into_iter().chain(report::shown(runs)).chain(failure_words).chain(withheld).collect();
    let wants_block = runs.iter().any(Run::wants_block) || gated.is_some_and(gate::Gated::wants_block);
    if plan.event.row().blocking != Blocking::Stop || !wants_block {
        let word = match gated {
            Some(_) if failure.is_some() => "allowed_failed",
            Some(gated) if !gated.findings.is_empty() => "warned",
            _ => "allowed",
        };
        return (if parts.is_empty() { HookResult::success() } else { allow(parts.join("\n")) }, word);
    }
    let shown = parts.join("\n");
    match session.count_block(&plan.agent, max) {
        Ok(Bound::Blocks(nth)) => (block(&shown, nth, max), "blocked"),
        Ok(Bound::Exhausted) => {
            log::warn(|| format!("{} may stop: it was sent back {max} times already", plan.agent.name));
            let why = format!("it was sent back {max} times already (maxBlocks)");
            (allow(report::let_go(&shown, &why)), "allowed_despite_failure")
        }
        // Without a count the bound is one, and only where the client says that nobody has sent the agent back yet.
        Err(error) if payload.is_first_stop() => {
            (block(&format!("{shown}\n(blocks cannot be counted: {error})"), 1, 1), "blocked")
        }
        Err(error) => {
            log::warn(|| format!("cannot count blocks: {error}"));
            let why = format!("it may have been sent back before, and blocks cannot be counted: {error}");
            (allow(report::let_go(&shown, &why)), "allowed_despite_failure")
        }
    }
}
