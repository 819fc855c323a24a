//! What would be answered in each case: all commands succeed, each fails or times out alone, all fail, the limit on blocks is reached.

use conclaude_core::blocks::BlockCount;
use conclaude_core::config::Reaction;
use conclaude_core::decide::Word;
use conclaude_core::messages;
use conclaude_core::plan::Command;
use conclaude_core::text;
use conclaude_engine::hooks::rehearse::{CommandEnd, Rehearsal, RehearsedAnswer};

pub(super) struct Case {
    /// Empty where there is only one.
    pub(super) when: String,
    pub(super) answered: RehearsedAnswer,
}

pub(super) fn all(rehearsal: &Rehearsal) -> Vec<Case> {
    let commands: Vec<&Command> = rehearsal.plan.commands().collect();
    let first = rehearsal.answer(|_| CommandEnd::Exits(0), BlockCount::Blocks(1));
    let is_blocked = matches!(first.word, Some(Word::Blocked));
    if commands.is_empty() || matches!(first.word, Some(Word::Denied | Word::Asked)) {
        let limit = is_blocked.then(|| at_limit(rehearsal, |_| CommandEnd::Exits(0))).flatten();
        return std::iter::once(Case { when: String::new(), answered: first }).chain(limit).collect();
    }
    let when = if commands.len() == 1 { "if it succeeds" } else { "if all succeed" };
    let mut cases = vec![Case { when: when.into(), answered: first }];
    cases.extend(is_blocked.then(|| at_limit(rehearsal, |_| CommandEnd::Exits(0))).flatten());
    for command in &commands {
        cases.push(case(rehearsal, command, CommandEnd::Exits(1), "fails"));
        if commands.len() == 1 && command.on_failure == Reaction::Block {
            cases.extend(at_limit(rehearsal, |_| CommandEnd::Exits(1)));
        }
        if command.timeout.is_some() {
            cases.extend(timeouts(rehearsal, command));
        }
    }
    if commands.len() > 1 {
        let answered = rehearsal.answer(|_| CommandEnd::Exits(1), BlockCount::Blocks(1));
        let limit = matches!(answered.word, Some(Word::Blocked))
            .then(|| at_limit(rehearsal, |_| CommandEnd::Exits(1)));
        cases.push(Case { when: "if all fail".into(), answered });
        cases.extend(limit.flatten());
    }
    cases
}

/// The first timeout, and the next one where that has another answer.
fn timeouts(rehearsal: &Rehearsal, command: &Command) -> Vec<Case> {
    let first = case(rehearsal, command, CommandEnd::TimesOut, "times out");
    let again = case(rehearsal, command, CommandEnd::TimesOutAgain, "times out again");
    let is_other = first.answered.word != again.answered.word;
    std::iter::once(first).chain(is_other.then_some(again)).collect()
}

/// One command ends so, and all others succeed.
fn ends(one: &Command, end: CommandEnd) -> impl Fn(&Command) -> CommandEnd {
    move |command| if std::ptr::eq(command, one) { end } else { CommandEnd::Exits(0) }
}

fn case(rehearsal: &Rehearsal, command: &Command, end: CommandEnd, what: &str) -> Case {
    let when = format!("if `{}` {what}", messages::short(&command.script));
    Case { when, answered: rehearsal.answer(ends(command, end), BlockCount::Blocks(1)) }
}

/// The same once the agent was blocked as often as it may be, where that is counted.
fn at_limit(rehearsal: &Rehearsal, end: impl Fn(&Command) -> CommandEnd) -> Option<Case> {
    let answered = rehearsal.answer(end, BlockCount::Exhausted);
    let is_counted = !matches!(answered.word, Some(Word::Blocked | Word::Denied | Word::Asked) | None);
    let blocks = text::count(rehearsal.plan.gates.max_blocks.into(), "block");
    let when = format!("the same after {blocks} (maxBlocks)");
    is_counted.then_some(Case { when, answered })
}
