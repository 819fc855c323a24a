//! What would be answered in each case: all commands succeed, each fails or times out alone, all fail, the limit on blocks is reached.

use conclaude_core::config::Reaction;
use conclaude_core::decide::{Count, Word};
use conclaude_core::messages;
use conclaude_core::plan::Command;
use conclaude_core::text;
use conclaude_engine::hooks::rehearse::{Answered, End, Rehearsal};

pub(super) struct Case {
    /// Empty where there is only one.
    pub(super) when: String,
    pub(super) answered: Answered,
}

pub(super) fn all(rehearsal: &Rehearsal) -> Vec<Case> {
    let commands: Vec<&Command> = rehearsal.plan.commands().collect();
    let first = rehearsal.answer(|_| End::Exits(0), Count::Blocks(1));
    let is_blocked = matches!(first.word, Some(Word::Blocked));
    if commands.is_empty() || matches!(first.word, Some(Word::Denied | Word::Asked)) {
        let mut cases = vec![Case { when: String::new(), answered: first }];
        if is_blocked {
            cases.extend(at_limit(rehearsal, |_| End::Exits(0)));
        }
        return cases;
    }
    let when = if commands.len() == 1 { "if it succeeds" } else { "if all succeed" };
    let mut cases = vec![Case { when: when.into(), answered: first }];
    if is_blocked {
        cases.extend(at_limit(rehearsal, |_| End::Exits(0)));
    }
    for command in &commands {
        cases.push(case(rehearsal, command, End::Exits(1), "fails"));
        if commands.len() == 1 && command.on_failure == Reaction::Block {
            cases.extend(at_limit(rehearsal, |_| End::Exits(1)));
        }
        if command.timeout.is_some() {
            cases.extend(timeouts(rehearsal, command));
        }
    }
    if commands.len() > 1 {
        let answered = rehearsal.answer(|_| End::Exits(1), Count::Blocks(1));
        let is_blocked = matches!(answered.word, Some(Word::Blocked));
        cases.push(Case { when: "if all fail".into(), answered });
        if is_blocked {
            cases.extend(at_limit(rehearsal, |_| End::Exits(1)));
        }
    }
    cases
}

/// The first timeout, and the next one where that has another answer.
fn timeouts(rehearsal: &Rehearsal, command: &Command) -> Vec<Case> {
    let first = case(rehearsal, command, End::TimesOut, "times out");
    let again = case(rehearsal, command, End::TimesOutAgain, "times out again");
    if first.answered.word == again.answered.word { vec![first] } else { vec![first, again] }
}

/// One command ends so, and all others succeed.
fn ends(one: &Command, end: End) -> impl Fn(&Command) -> End {
    move |command| if std::ptr::eq(command, one) { end } else { End::Exits(0) }
}

fn case(rehearsal: &Rehearsal, command: &Command, end: End, what: &str) -> Case {
    let when = format!("if `{}` {what}", messages::short(&command.script));
    Case { when, answered: rehearsal.answer(ends(command, end), Count::Blocks(1)) }
}

/// The same once the agent was blocked as often as it may be, where that is counted.
fn at_limit(rehearsal: &Rehearsal, end: impl Fn(&Command) -> End) -> Option<Case> {
    let answered = rehearsal.answer(end, Count::Exhausted);
    let is_counted = !matches!(answered.word, Some(Word::Blocked | Word::Denied | Word::Asked) | None);
    let blocks = text::count(rehearsal.plan.gates.max_blocks.into(), "block");
    let when = format!("the same after {blocks} (maxBlocks)");
    if is_counted { Some(Case { when, answered }) } else { None }
}
