//! The parts of an explanation in words, and the answer in each case: all commands succeed, each fails or times out alone, all
//! fail, the limit on blocks is reached.

use serde_json::Value;

use conclaude_checks::guard::{Touch, Uncertainty};
use conclaude_core::blocks::BlockCount;
use conclaude_core::config::{BudgetConfig, Reaction};
use conclaude_core::decide::Word;
use conclaude_core::dialect::Answer;
use conclaude_core::exit::Exit;
use conclaude_core::messages::short;
use conclaude_core::outcome::Evidence;
use conclaude_core::plan::{Action, Command, Report};
use conclaude_core::rule::Rule;
use conclaude_core::spending;
use conclaude_core::text;
use conclaude_engine::hooks::rehearse::{CommandEnd, Rehearsal, RehearsedAnswer};
use shell_effects::{Access, SimpleCommand};

pub(super) fn of_touch(touch: &Touch) -> String {
    let names: Vec<&str> = touch.names.iter().map(|name| name.shown()).collect();
    let all = if touch.with_contents { " with all that is in it" } else { "" };
    let new = if touch.exists { "" } else { " (which does not exist)" };
    format!("{} {}{all}{new}", touch.access.does(), names.join(", which leads to "))
}

pub(super) fn of_command(command: &SimpleCommand) -> String {
    match &command.plain(None).text {
        Some(plain) => format!("runs `{}`, which is `{}`", short(&command.text), short(plain)),
        None => format!("runs `{}`", short(&command.text)),
    }
}

pub(super) fn of_unclear(unclear: &Uncertainty) -> String {
    match unclear {
        Uncertainty::Path { access, written, .. } => {
            format!("{} `{written}`, which is unknown before it runs", access.does())
        }
        Uncertainty::Somewhere { written, .. } => {
            format!("reads `{written}`, which is unknown before it runs")
        }
        Uncertainty::Names { access, written, .. } => {
            format!("{} `{written}`, whose name is not known before it runs", access.does())
        }
        Uncertainty::WorkTree { command, .. } => format!("`{command}` may change any file of the work tree"),
        Uncertainty::Doubt(doubt) => doubt.to_string(),
        Uncertainty::Named { access: Access::Link, path } => {
            format!("may read or write `{path}`, or neither")
        }
        Uncertainty::Named { access: Access::Read, path } => format!("may read `{path}`"),
        Uncertainty::Named { path, .. } => format!("may write `{path}`"),
        Uncertainty::Input { field, .. } => format!("its `{field}` is missing or cannot be read"),
    }
}

pub(super) fn not_compared(rule: &Rule) -> &'static str {
    match rule.key.as_str() {
        "preToolUse.uneditableFiles" => "is not compared: nothing is written or deleted",
        "preToolUse.unreadableFiles" => "is not compared: nothing is read",
        _ => "is not compared: no file is written",
    }
}

/// The description of a step that is neither a check nor a command.
pub(super) fn of_action(action: &Action) -> Option<String> {
    match action {
        Action::Report(Report::Installation) => {
            Some("reports installation problems (not checked by `explain`)".into())
        }
        Action::Report(Report::Unfinished) => {
            Some("reports gated agents that never stopped (not checked by `explain`)".into())
        }
        Action::Report(Report::Enforcement) => {
            Some("adds new files to those that the sandbox protects (not checked by `explain`)".into())
        }
        Action::Report(Report::Denials) => {
            Some("shows Claude the rule if the sandbox refused something".into())
        }
        Action::Note(text) | Action::Remark(text) => Some(text.clone()),
        Action::Wait(waiting) => Some(format!("waits for background agents: {}", waiting.agents.join(", "))),
        Action::Continue(_) => Some("`stop.infinite` asks Claude to go on".into()),
        Action::Judge(_) => {
            Some("the judge is asked last, if nothing else blocks; it can only add a block".into())
        }
        Action::Budget(config) => Some(of_budget(config)),
        Action::Context(context) => Some(format!("context is added: {} matches", context.rule)),
        Action::Guards(_)
        | Action::Permissions(_)
        | Action::Gate(_)
        | Action::UnknownGate(_)
        | Action::Report(Report::Config)
        | Action::Command(_)
        | Action::Remember(_)
        | Action::Worktree => None,
    }
}

/// The compared amounts. A used-up amount is shown as a check.
fn of_budget(config: &BudgetConfig) -> String {
    let amounts = config
        .limits()
        .map(|limit| format!("{} {}", limit.name(), spending::in_words(limit.measure, limit.amount)));
    let amounts = amounts.collect::<Vec<_>>().join(", ");
    format!("the budget is compared with the usage ({amounts}); then: {}", config.reaction().as_str())
}

pub(super) fn decision(rehearsal: &Rehearsal, answered: &RehearsedAnswer) -> &'static str {
    let is_asked = rehearsal.permissions.as_ref().is_some_and(|permitted| permitted.asked.is_some());
    match answered.word {
        // No answer at all leaves the decision to the user.
        Some(Word::Allowed) if is_asked => Word::Asked.as_str(),
        Some(word) => word.as_str(),
        None if answered.answer.exit == Exit::Success => "allowed, and the error is shown",
        None => "failed",
    }
}

/// The permits of the user that let it through, in words.
pub(super) fn permits(rehearsal: &Rehearsal) -> Vec<String> {
    let answered = rehearsal.answer(|_| CommandEnd::Exits(0), BlockCount::Blocks(1));
    let words = answered.outcomes.into_iter().filter_map(|outcome| match outcome.evidence {
        Evidence::Permitted(_, words) => Some(words),
        _ => None,
    });
    words.collect()
}

/// The answer's stdout: JSON, or a text.
pub(super) fn stdout(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|_| answer.stdout.clone().into())
}

/// The texts of the answer, for the model and for the user.
pub(super) fn text_of(answer: &Answer) -> Option<String> {
    let json = stdout(answer);
    let pointers = [
        "/reason",
        "/systemMessage",
        "/hookSpecificOutput/permissionDecisionReason",
        "/hookSpecificOutput/additionalContext",
        "/hookSpecificOutput/decision/message",
    ];
    let texts = pointers.into_iter().filter_map(|pointer| json.pointer(pointer));
    let found: Vec<&str> = texts.filter_map(Value::as_str).collect();
    let text = if found.is_empty() { answer.stderr.clone() } else { found.join("\n") };
    if text.is_empty() { None } else { Some(text) }
}

pub(super) struct Case {
    /// When this answer is given. Empty if there is only one case.
    pub(super) when: String,
    pub(super) answered: RehearsedAnswer,
}

pub(super) fn cases(rehearsal: &Rehearsal) -> Vec<Case> {
    let commands: Vec<&Command> = rehearsal.plan.commands().collect();
    let first = rehearsal.answer(|_| CommandEnd::Exits(0), BlockCount::Blocks(1));
    let is_blocked = matches!(first.word, Some(Word::Blocked));
    if commands.is_empty() || matches!(first.word, Some(Word::Denied | Word::Asked)) {
        let mut cases = vec![Case { when: String::new(), answered: first }];
        if is_blocked {
            cases.extend(at_limit(rehearsal, |_| CommandEnd::Exits(0)));
        }
        return cases;
    }
    let when = if commands.len() == 1 { "if it succeeds" } else { "if all succeed" };
    let mut cases = vec![Case { when: when.into(), answered: first }];
    if is_blocked {
        cases.extend(at_limit(rehearsal, |_| CommandEnd::Exits(0)));
    }
    for command in &commands {
        let what = if command.is_hook() { "exits with 2" } else { "fails" };
        cases.push(case(rehearsal, command, failure(command), what));
        if commands.len() == 1 && (command.is_hook() || command.on_failure == Reaction::Block) {
            cases.extend(at_limit(rehearsal, failure));
        }
        if command.timeout.is_some() {
            cases.extend(timeouts(rehearsal, command));
        }
    }
    if commands.len() > 1 {
        let answered = rehearsal.answer(failure, BlockCount::Blocks(1));
        let is_blocked = matches!(answered.word, Some(Word::Blocked));
        cases.push(Case { when: "if all fail".into(), answered });
        if is_blocked {
            cases.extend(at_limit(rehearsal, failure));
        }
    }
    cases
}

/// A command fails with any exit code but 0; a hook refuses with 2.
fn failure(command: &Command) -> CommandEnd {
    CommandEnd::Exits(if command.is_hook() { 2 } else { 1 })
}

/// The first timeout, and the next one if it has another answer.
fn timeouts(rehearsal: &Rehearsal, command: &Command) -> Vec<Case> {
    let first = case(rehearsal, command, CommandEnd::TimesOut, "times out");
    let again = case(rehearsal, command, CommandEnd::TimesOutAgain, "times out again");
    if first.answered.word == again.answered.word { vec![first] } else { vec![first, again] }
}

/// One command ends like this, and all others succeed.
fn ends(one: &Command, end: CommandEnd) -> impl Fn(&Command) -> CommandEnd {
    move |command| if std::ptr::eq(command, one) { end } else { CommandEnd::Exits(0) }
}

fn case(rehearsal: &Rehearsal, command: &Command, end: CommandEnd, what: &str) -> Case {
    let when = format!("if `{}` {what}", short(&command.script));
    Case { when, answered: rehearsal.answer(ends(command, end), BlockCount::Blocks(1)) }
}

/// The answer once the block limit is reached, if blocks are counted here.
fn at_limit(rehearsal: &Rehearsal, end: impl Fn(&Command) -> CommandEnd) -> Option<Case> {
    let answered = rehearsal.answer(end, BlockCount::Exhausted);
    let is_counted = !matches!(answered.word, Some(Word::Blocked | Word::Denied | Word::Asked) | None);
    let blocks = text::count(rehearsal.plan.gates.max_blocks.into(), "block");
    let when = format!("the same after {blocks} (maxBlocks)");
    if is_counted { Some(Case { when, answered }) } else { None }
}
