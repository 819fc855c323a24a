//! Permits of the user, from `conclaude allow`: they override guards and permission rules.

use super::conclude::DecidingWorld;
use super::context::Context;
use super::guards;
use conclaude_core::event::EventKind;
use conclaude_core::outcome::{Evidence, Outcome, RuleMatch, Verdict};
use conclaude_core::permit;
use conclaude_core::plan::Plan;
use conclaude_store::store::permits::{self, ClaimedAt, Permit, PermittedCall, input_hash};

/// Lets a call through that the user has permitted. State is looked up only if something is against the call.
pub(super) fn apply(plan: &Plan, outcomes: &mut [Outcome], world: &mut impl DecidingWorld) {
    let (at, mildest) = match plan.event {
        EventKind::PreToolUse => (ClaimedAt::Use, Verdict::Ask),
        // The user is already asked.
        EventKind::PermissionRequest => (ClaimedAt::PermissionRequest, Verdict::Block),
        _ => return,
    };
    // The permit does not cover an input that a hook has changed.
    if outcomes.iter().any(|outcome| outcome.updated_input().is_some()) {
        return;
    }
    let against: Vec<&mut Outcome> =
        outcomes.iter_mut().filter(|outcome| outcome.verdict >= mildest).collect();
    if against.is_empty() || !against.iter().all(|outcome| is_covered(outcome)) {
        return;
    }
    let Some(permit) = world.permit(at) else { return };
    for outcome in against {
        *outcome = overruled(outcome, &permit);
    }
}

/// Whether a permit of the user would override this outcome.
pub(super) fn is_covered(outcome: &Outcome) -> bool {
    let Evidence::Finding(finding) = &outcome.evidence else { return false };
    let built_in = finding.rule.as_deref().and_then(|rule| rule.built_in_name());
    permit::check_coverage(finding.code.as_str(), built_in).is_ok()
}

/// The permit for this call, if there is one. It is used up by that, if it is for one call.
pub(super) fn claim(context: &Context<'_>, at: ClaimedAt) -> Option<Permit> {
    let input = hash_of_input(context)?;
    call(context, &input).claim(at)
}

/// Like `claim`, without using it up.
pub(super) fn find(context: &Context<'_>, at: ClaimedAt) -> Option<Permit> {
    let input = hash_of_input(context)?;
    call(context, &input).find(at)
}

fn hash_of_input(context: &Context<'_>) -> Option<String> {
    let tool = guards::tool_of(&context.event)?;
    Some(input_hash(&tool.tool_name, &tool.tool_input))
}

fn call<'a>(context: &'a Context<'_>, input: &'a str) -> PermittedCall<'a> {
    PermittedCall {
        root: &context.root.folder,
        session: context.payload().session_id(),
        cwd: context.cwd_elsewhere(),
        input,
    }
}

/// A call that ran no longer asks for permission.
pub(super) fn finish(context: &Context<'_>) {
    let is_done = matches!(context.kind(), EventKind::PostToolUse | EventKind::PostToolUseFailure);
    if !is_done || !permits::has_any(context.payload().session_id()) {
        return;
    }
    if let Some(input) = hash_of_input(context) {
        call(context, &input).finish();
    }
}

fn overruled(outcome: &Outcome, permit: &Permit) -> Outcome {
    let kind = if outcome.verdict == Verdict::Ask { "question" } else { "denial" };
    let finding = outcome.as_finding();
    let overruled = RuleMatch {
        rule: finding.and_then(|finding| finding.rule.as_deref()).cloned().unwrap_or_default(),
        matched: finding.and_then(|finding| finding.matched.clone()).unwrap_or_default(),
    };
    let what = format!(
        "record {}: the user allowed this call ({}), which overrides a {kind}",
        permit.record, permit.time
    );
    Outcome { verdict: Verdict::Pass, message: String::new(), evidence: Evidence::Permitted(overruled, what) }
}
