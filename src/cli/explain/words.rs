//! What is explained, in words.

use serde_json::Value;

use crate::dialect::claude::Answer;
use crate::guard::{Touch, Unclear};
use crate::rule::Rule;

pub(super) fn of_touch(touch: &Touch) -> String {
    let names: Vec<&str> = touch.names.iter().map(|name| name.shown()).collect();
    let all = if touch.with_contents { " with all that is in it" } else { "" };
    let new = if touch.exists { "" } else { " (which does not exist)" };
    format!("{} {}{all}{new}", touch.access.does(), names.join(", which leads to "))
}

pub(super) fn of_unclear(unclear: &Unclear) -> String {
    match unclear {
        Unclear::Path { access, written } => {
            format!("{} `{written}`, which is not known before it runs", access.does())
        }
        Unclear::WorkTree { command } => format!("`{command}` may change any file of the work tree"),
        Unclear::Doubt(doubt) => doubt.to_string(),
    }
}

pub(super) fn not_compared(rule: &Rule) -> &'static str {
    match rule.key.as_str() {
        "preToolUse.uneditableFiles" => "is not compared: nothing is written or deleted",
        "preToolUse.unreadableFiles" => "is not compared: nothing is read",
        _ => "is not compared: no file is written",
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
