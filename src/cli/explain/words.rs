//! What is explained, in words.

use serde_json::Value;

use conclaude_checks::guard::{Touch, Unclear};
use conclaude_core::decide::Word;
use conclaude_core::dialect::claude::Answer;
use conclaude_core::exit::Exit;
use conclaude_core::messages::short;
use conclaude_core::plan::{Action, Report};
use conclaude_core::rule::Rule;
use conclaude_engine::hooks::rehearse::{Rehearsal, RehearsedAnswer};
use shell_effects::{Access, Simple};

pub(super) fn of_touch(touch: &Touch) -> String {
    let names: Vec<&str> = touch.names.iter().map(|name| name.shown()).collect();
    let all = if touch.with_contents { " with all that is in it" } else { "" };
    let new = if touch.exists { "" } else { " (which does not exist)" };
    format!("{} {}{all}{new}", touch.access.does(), names.join(", which leads to "))
}

pub(super) fn of_command(command: &Simple) -> String {
    match &command.plain(None).text {
        Some(plain) => format!("runs `{}`, which is `{}`", short(&command.text), short(plain)),
        None => format!("runs `{}`", short(&command.text)),
    }
}

pub(super) fn of_unclear(unclear: &Unclear) -> String {
    match unclear {
        Unclear::Path { access, written } => {
            format!("{} `{written}`, which is not known before it runs", access.does())
        }
        Unclear::WorkTree { command, .. } => format!("`{command}` may change any file of the work tree"),
        Unclear::Doubt(doubt) => doubt.to_string(),
        Unclear::Named { access: Access::Link, path } => format!("may read or write `{path}`, or neither"),
        Unclear::Named { access: Access::Read, path } => format!("may read `{path}`"),
        Unclear::Named { path, .. } => format!("may write `{path}`"),
        Unclear::Input { field, .. } => format!("its `{field}` is missing or cannot be read"),
    }
}

pub(super) fn not_compared(rule: &Rule) -> &'static str {
    match rule.key.as_str() {
        "preToolUse.uneditableFiles" => "is not compared: nothing is written or deleted",
        "preToolUse.unreadableFiles" => "is not compared: nothing is read",
        _ => "is not compared: no file is written",
    }
}

/// What a step does that is neither a check nor a command.
pub(super) fn of_action(action: &Action) -> Option<String> {
    match action {
        Action::Report(Report::Installation) => {
            Some("reports what will not work in the session; that is not looked at here".into())
        }
        Action::Report(Report::Unfinished) => {
            Some("reports gated agents that never stopped; that is not looked at here".into())
        }
        Action::Note(text) | Action::Remark(text) => Some(text.clone()),
        Action::Wait(waiting) => Some(format!("waits for background agents: {}", waiting.agents.join(", "))),
        Action::Continue(_) => Some("`stop.infinite` asks Claude to go on".into()),
        Action::Judge(_) => {
            Some("the judge is asked last, if nothing else blocks; it can only add a block".into())
        }
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

pub(super) fn decision(rehearsal: &Rehearsal, answered: &RehearsedAnswer) -> &'static str {
    let is_asked = rehearsal.permissions.as_ref().is_some_and(|permitted| permitted.asked.is_some());
    match answered.word {
        // No answer at all leaves it to the user.
        Some(Word::Allowed) if is_asked => Word::Asked.as_str(),
        Some(word) => word.as_str(),
        None if answered.answer.exit == Exit::Success => "allowed, and the error is shown",
        None => "failed",
    }
}

/// The answer's stdout: JSON, or a text.
pub(super) fn stdout(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|_| answer.stdout.clone().into())
}

/// What the answer says, whoever reads it.
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
    (!text.is_empty()).then_some(text)
}
