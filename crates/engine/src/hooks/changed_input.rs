//! A command that answers as a hook may change the input of a tool. Guards and gates also judge the changed input, before the
//! tool uses it.

use serde_json::{Map, Value};

use super::context::Context;
use conclaude_core::event::Blocking;
use conclaude_core::messages;
use conclaude_core::outcome::{Outcome, Verdict};
use conclaude_core::plan::Plan;

/// The call with the changed input, and its plan: guards, permission rules and gates, but no commands.
pub(super) struct ChangedCall<'a> {
    pub(super) context: Context<'a>,
    pub(super) plan: Plan,
}

impl<'a> ChangedCall<'a> {
    pub(super) fn new(context: &Context<'a>, input: &Map<String, Value>) -> Option<ChangedCall<'a>> {
        let context = context.with_tool_input(input)?;
        let mut plan = context.plan().ok()?;
        plan.steps.retain(|step| step.action.is_check());
        // The original plan has reported this already.
        plan.untrusted = None;
        plan.config_error = None;
        Some(ChangedCall { context, plan })
    }
}

/// The tool input from a hook, if nothing refuses the call already.
pub(super) fn changed_input<'a>(plan: &Plan, outcomes: &'a [Outcome]) -> Option<&'a Map<String, Value>> {
    let is_refused = outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    if is_refused || !matches!(plan.event.blocking(), Blocking::Tool | Blocking::Permission) {
        return None;
    }
    outcomes.iter().filter_map(Outcome::reply).filter_map(|reply| reply.updated_input.as_ref()).next_back()
}

/// The findings in the changed input that the original did not have, with a note on who changed it.
pub(super) fn new_findings(so_far: &[Outcome], found: Vec<Outcome>) -> Vec<Outcome> {
    let mut new: Vec<Outcome> = found.into_iter().filter(|outcome| !so_far.contains(outcome)).collect();
    if new.iter().any(|outcome| outcome.verdict >= Verdict::Ask) {
        let changing =
            so_far.iter().rfind(|outcome| outcome.reply().is_some_and(|one| one.updated_input.is_some()));
        let name = changing.and_then(Outcome::run).map(|run| messages::command_name(&run.command));
        let name = name.unwrap_or_else(|| "a hook".into());
        new.push(Outcome::note(format!(
            "{name} changed the input of this tool: this applies to the changed input"
        )));
    }
    new
}
