//! What follows once a plan has run: permits of the user, the decision, its record, and the words of the answer.
//!
//! A hook, a rehearsal and a replay conclude in the same way. What differs between them is a method of [`DecidingWorld`].

use super::permits;
use super::run::{Run, World};
use conclaude_core::blocks::{BlockCause, BlockCount, CountError};
use conclaude_core::decide::{self, Decision, HookResult, Ruling};
use conclaude_core::messages;
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::Plan;
use conclaude_store::store::permits::{ClaimedAt, Permit};

/// A world in which something is decided.
pub(super) trait DecidingWorld: World {
    /// The permit of the user that lets the call of the event through.
    fn permit(&mut self, at: ClaimedAt) -> Option<Permit>;

    /// Whether the client says that nobody has blocked the agent yet.
    fn is_first_stop(&self) -> bool;

    fn count_block(&mut self, max: u32, cause: &BlockCause) -> Result<BlockCount, CountError>;

    /// Records the decision, and returns a problem that changes nothing. If a required record cannot be written, that is one
    /// more outcome of the run.
    fn record(&mut self, _plan: &Plan, _run: &mut Run<'_>, _decided: &Ruling) -> Option<String> {
        None
    }

    /// The number of the record by which the user can permit the call.
    fn record_number(&self) -> Option<u64> {
        None
    }
}

/// The result of an event.
pub(super) struct Conclusion {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) recorded: RecordedRuling,
}

/// A decision, and what went wrong when it was recorded.
pub(super) struct RecordedRuling {
    pub(super) ruling: Ruling,
    pub(super) problem: Option<String>,
}

pub(super) fn conclude(plan: &Plan, mut run: Run<'_>, world: &mut impl DecidingWorld) -> Conclusion {
    permits::apply(plan, &mut run.outcomes, world);
    let is_first_stop = world.is_first_stop();
    let count = || world.count_block(plan.gates.max_blocks, &BlockCause::of(&run.outcomes));
    let ruling = decide::decide(plan, &run.outcomes, is_first_stop, count);
    let problem = world.record(plan, &mut run, &ruling);
    let outcomes = run.outcomes;
    let ruling = decide::unless_unrecorded(plan, &outcomes, ruling);
    let ruling = with_way_out(plan, &outcomes, ruling, world);
    Conclusion { outcomes, recorded: RecordedRuling { ruling, problem } }
}

/// A denial in a client that cannot ask anybody says how the user can decide.
fn with_way_out(plan: &Plan, outcomes: &[Outcome], ruling: Ruling, world: &impl DecidingWorld) -> Ruling {
    let Decision::Deny(reason) = &ruling.result.decision else { return ruling };
    if !ruling.is_unasked || !plan.client.never_asks() {
        return ruling;
    }
    let reason = format!("{reason}\n{}", messages::never_asked(plan, outcomes, world.record_number()));
    let result = HookResult { decision: Decision::Deny(reason), ..ruling.result };
    Ruling { result, ..ruling }
}
