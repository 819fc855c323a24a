//! Turns outcomes into one decision, within the limit on blocks.

use crate::blocks::{BlockCount, CountError};
use crate::event::Blocking;
use crate::finding::Code;
use crate::messages;
use crate::outcome::{Evidence, Outcome, Verdict};
use crate::plan::Plan;
use crate::text;

mod replies;
mod result;

pub use result::DeliveredMessage;
pub use result::{Decision, HookResult};

/// A decision in one word, as records have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Allowed,
    Warned,
    /// The step failed and admits it.
    AllowedFailed,
    /// It would have blocked, but a limit is reached: the limit on blocks, or the limit on blocks by timeouts and missing
    /// programs.
    AllowedDespiteFailure,
    Blocked,
    Denied,
    Asked,
}

impl Word {
    pub const ALL: [Word; 7] = [
        Word::Allowed,
        Word::Warned,
        Word::AllowedFailed,
        Word::AllowedDespiteFailure,
        Word::Blocked,
        Word::Denied,
        Word::Asked,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Word::Allowed => "allowed",
            Word::Warned => "warned",
            Word::AllowedFailed => "allowed_failed",
            Word::AllowedDespiteFailure => "allowed_despite_failure",
            Word::Blocked => "blocked",
            Word::Denied => "denied",
            Word::Asked => "asked",
        }
    }

    /// The decision in a record. `None` if no hook decided.
    #[must_use]
    pub fn of(recorded: &str) -> Option<Word> {
        Word::ALL.into_iter().find(|word| word.as_str() == recorded)
    }
}

/// The decision as a word, and the result of counting it as a block.
pub struct Ruling {
    pub result: HookResult,
    pub word: Word,
    pub count: Option<BlockCount>,
    /// It is denied, because rules ask about it and nobody can be asked.
    pub is_unasked: bool,
}

impl Ruling {
    fn of(result: HookResult, word: Word) -> Ruling {
        Ruling { result, word, count: None, is_unasked: false }
    }

    fn denied(reason: String) -> Ruling {
        Ruling::of(HookResult { decision: Decision::Deny(reason), ..HookResult::success() }, Word::Denied)
    }
}

/// The decision. `is_first_stop`: the client says that nobody has blocked the agent yet. `count` counts a block, and is called
/// only for one.
pub fn decide(
    plan: &Plan,
    outcomes: &[Outcome],
    is_first_stop: bool,
    count: impl FnOnce() -> Result<BlockCount, CountError>,
) -> Ruling {
    let decided = by_verdicts(plan, outcomes, is_first_stop, count);
    with_failures(outcomes, replies::with_replies(plan, outcomes, decided))
}

fn by_verdicts(
    plan: &Plan,
    outcomes: &[Outcome],
    is_first_stop: bool,
    count: impl FnOnce() -> Result<BlockCount, CountError>,
) -> Ruling {
    let wants_block = outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    match plan.event.blocking() {
        Blocking::Tool if wants_block => Ruling::denied(messages::deny_reason(plan, outcomes)),
        Blocking::Tool if outcomes.iter().any(|outcome| outcome.verdict == Verdict::Ask) => {
            let is_ours = |outcome: &Outcome| outcome.verdict == Verdict::Ask && outcome.reply().is_none();
            // Claude Code handles a hook's question.
            if plan.can_ask || !outcomes.iter().any(is_ours) {
                Ruling::of(
                    HookResult {
                        decision: Decision::Ask(messages::ask_reason(outcomes)),
                        ..allowing_result(plan, outcomes)
                    },
                    Word::Asked,
                )
            } else {
                Ruling { is_unasked: true, ..Ruling::denied(messages::unasked(plan, outcomes)) }
            }
        }
        Blocking::Tool if outcomes.iter().any(|outcome| outcome.verdict == Verdict::Grant) => {
            let allowed = allow(plan, outcomes);
            let decision = Decision::Permit(replies::grant_reason(outcomes));
            Ruling { result: HookResult { decision, ..allowed.result }, ..allowed }
        }
        // This takes precedence over a block, which is then not counted.
        Blocking::Stop(_) if wants_block && replies::stop_reason(outcomes).is_some() => {
            let others: Vec<Outcome> = outcomes.iter().filter(|one| one.reply().is_none()).cloned().collect();
            let is_blocked = others.iter().any(|outcome| outcome.verdict == Verdict::Block);
            let allowed = allow(plan, &others);
            let word = if is_blocked { Word::AllowedDespiteFailure } else { allowed.word };
            Ruling { word, ..allowed }
        }
        Blocking::Stop(_) if wants_block => {
            let count = count();
            let counted = count.as_ref().ok().copied();
            Ruling { count: counted, ..at_limit(plan, outcomes, is_first_stop, count) }
        }
        Blocking::Never => allow(plan, outcomes),
        Blocking::Permission => permission(plan, outcomes),
        _ if wants_block => Ruling::of(HookResult::blocked(messages::refusal(plan, outcomes)), Word::Blocked),
        _ => allow(plan, outcomes),
    }
}

/// A failing event blocks nothing, and does not allow what was refused. If rules are unreadable, a permission was already asked
/// about, so that answer stands; but not if it must be recorded and cannot be.
fn with_failures(outcomes: &[Outcome], decided: Ruling) -> Ruling {
    let is_unrecorded = outcomes.iter().any(|outcome| matches!(outcome.evidence, Evidence::Unrecorded(_)));
    let mut result = decided.result;
    if matches!(result.decision, Decision::Permit(_)) && is_unrecorded {
        result.decision = Decision::Allow;
    }
    let mut failures: Vec<&str> = Vec::new();
    for failure in outcomes.iter().filter_map(Outcome::failure) {
        if !failures.contains(&failure.text.as_str()) {
            failures.push(&failure.text);
        }
    }
    if result.decision == Decision::Allow && !failures.is_empty() {
        result.error = Some(failures.join("\n"));
    }
    Ruling { result, ..decided }
}

/// The final decision, after the record is written. If a required record cannot be written, an agent's call is denied and other
/// events fail.
pub fn unless_unrecorded(plan: &Plan, outcomes: &[Outcome], decided: Ruling) -> Ruling {
    let is_unrecorded =
        |outcome: &Outcome| outcome.as_finding().is_some_and(|finding| finding.code == Code::NotRecorded);
    if outcomes.iter().any(is_unrecorded) {
        Ruling::denied(messages::deny_reason(plan, outcomes))
    } else {
        with_failures(outcomes, decided)
    }
}

fn allow(plan: &Plan, outcomes: &[Outcome]) -> Ruling {
    let word = if outcomes.iter().any(|outcome| outcome.repeated_obstacle().is_some()) {
        Word::AllowedDespiteFailure
    } else if outcomes.iter().any(|outcome| outcome.evidence == Evidence::HonestFailure) {
        Word::AllowedFailed
    } else if outcomes.iter().any(|outcome| outcome.as_finding().is_some()) {
        Word::Warned
    } else {
        Word::Allowed
    };
    let shown = messages::shown(outcomes);
    let message = if shown.is_empty() { None } else { Some(messages::message(plan, &shown)) };
    Ruling::of(HookResult { message, ..allowing_result(plan, outcomes) }, word)
}

/// The rest of an allowing answer: context for Claude, changed tool input, or the path of a new worktree.
fn allowing_result(plan: &Plan, outcomes: &[Outcome]) -> HookResult {
    let updated_input = outcomes.iter().filter_map(Outcome::updated_input).next_back().cloned();
    let texts: Vec<&str> = outcomes.iter().filter_map(Outcome::for_claude).collect();
    let (context, worktree) = match plan.event.blocking() {
        Blocking::Worktree => (None, worktree(outcomes).map(str::to_owned)),
        // It would make the agent continue.
        Blocking::Stop(_) => (None, None),
        _ if texts.is_empty() => (None, None),
        _ => (Some(text::join_within(&texts, text::LIMIT)), None),
    };
    HookResult { context, worktree, updated_input, ..HookResult::success() }
}

/// The path of the new worktree: the last line that a command printed.
pub fn worktree(outcomes: &[Outcome]) -> Option<&str> {
    let printed = outcomes.iter().filter_map(Outcome::for_claude).flat_map(str::lines);
    printed.map(str::trim).rfind(|line| !line.is_empty())
}

/// A guard's question goes to the user, whatever a rule allows.
fn permission(plan: &Plan, outcomes: &[Outcome]) -> Ruling {
    let any = |verdict: Verdict| outcomes.iter().any(|outcome| outcome.verdict == verdict);
    let unasked = |outcome: &&Outcome| outcome.verdict != Verdict::Ask;
    let others: Vec<Outcome> = outcomes.iter().filter(unasked).cloned().collect();
    if any(Verdict::Block) {
        return Ruling::of(HookResult::blocked(messages::refusal(plan, &others)), Word::Denied);
    }
    let decided = allow(plan, &others);
    if any(Verdict::Ask) {
        Ruling { word: Word::Asked, ..decided }
    } else if any(Verdict::Grant) {
        let decision = Decision::Permit(replies::grant_reason(outcomes));
        let result = HookResult { decision, ..decided.result };
        Ruling::of(result, Word::Allowed)
    } else if others.iter().filter_map(Outcome::reply).any(|reply| reply.problem.is_some()) {
        // It decided nothing, so nothing was allowed.
        Ruling { word: Word::Warned, ..decided }
    } else {
        decided
    }
}

fn at_limit(
    plan: &Plan,
    outcomes: &[Outcome],
    is_first_stop: bool,
    count: Result<BlockCount, CountError>,
) -> Ruling {
    let max = plan.gates.max_blocks;
    let despite = |why: String| {
        let text = messages::allowed_despite(&messages::shown(outcomes), &why);
        let message = Some(messages::message(plan, &text));
        Ruling::of(HookResult { message, ..HookResult::success() }, Word::AllowedDespiteFailure)
    };
    match count {
        Ok(BlockCount::Blocks(nth)) => {
            if let Some(text) = replies::go_on(outcomes) {
                let decision = Decision::GoOn(text);
                return Ruling::of(HookResult { decision, ..HookResult::success() }, Word::Blocked);
            }
            let reason = match messages::asked_to_go_on(outcomes) {
                Some(message) => messages::go_on(message, nth, max),
                None => messages::block_reason(plan, outcomes, nth, max),
            };
            Ruling::of(HookResult::blocked(reason), Word::Blocked)
        }
        // That was its purpose, not a failure.
        Ok(BlockCount::Exhausted) if messages::asked_to_go_on(outcomes).is_some() => {
            let message = Some(messages::message(plan, &messages::gone_on(max)));
            Ruling::of(HookResult { message, ..HookResult::success() }, Word::Allowed)
        }
        Ok(BlockCount::Exhausted) => despite(messages::blocked_already(max)),
        // Without a count the limit is one, and only if the client says that nobody has blocked the agent yet.
        Err(error) if is_first_stop => {
            let note = Outcome::note(messages::uncounted(&error));
            let outcomes: Vec<Outcome> = outcomes.iter().cloned().chain([note]).collect();
            Ruling::of(HookResult::blocked(messages::block_reason(plan, &outcomes, 1, 1)), Word::Blocked)
        }
        Err(error) => despite(messages::perhaps_blocked(&error)),
    }
}
