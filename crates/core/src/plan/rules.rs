//! Guards and the rules for permissions, which compare a use of a tool.

use super::{Action, Facts, Step};
use crate::event::EventKind;

/// The steps for a tool that is about to be used, or that the user is asked about.
pub(super) fn rules(facts: &Facts<'_>) -> Vec<Step> {
    let actions = match facts.event.kind {
        // Guards only refuse, so they count also where nothing may run.
        EventKind::PreToolUse => vec![guards(facts)],
        EventKind::PermissionRequest if facts.config.permissions.has_rules() => permissions(facts),
        _ => Vec::new(),
    };
    actions.into_iter().map(Step::itself).collect()
}

fn guards(facts: &Facts<'_>) -> Action {
    Action::Guards(facts.config.guards.clone())
}

/// Where a guard asks, Claude Code asks the user in this way as well: no rule may answer for the user then. A file that nobody
/// trusts allows nothing.
fn permissions(facts: &Facts<'_>) -> Vec<Action> {
    let permissions =
        facts.config.permissions.trusted(|source| facts.origins.untrusted_source(source).is_none());
    let guards = permissions.may_allow().then(|| guards(facts));
    guards.into_iter().chain([Action::Permissions(Box::new(permissions))]).collect()
}
