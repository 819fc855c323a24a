//! The answer to Claude Code: exit code, stdout and stderr.

use serde_json::Map;

use crate::decide::{Decision, HookResult};
use crate::dialect::answer::{Answer, AnswerJson, fit};
use crate::error::HookError;
use crate::event::{Blocking, EventKind};
use crate::exit::Exit;

impl Answer {
    #[must_use]
    pub(super) fn of(
        event: EventKind,
        result: &Result<HookResult, HookError>,
        log_lines: &[String],
    ) -> Answer {
        match result {
            Ok(result) if result.fails(event) => Answer::failed(event, result),
            Ok(HookResult { decision: Decision::Allow, worktree: Some(path), .. }) => {
                Answer { exit: Exit::Success, stdout: path.clone(), stderr: log_lines.join("\n") }
            }
            Ok(result) => Answer::decided(event, result, log_lines),
            Err(error) => Answer::failure(event, &error.to_string()),
        }
    }

    /// A block, in the form that the event understands.
    #[must_use]
    pub fn blocked(event: EventKind, reason: &str) -> Answer {
        Answer::decided(event, &HookResult::blocked(reason), &[])
    }

    fn decided(event: EventKind, result: &HookResult, log_lines: &[String]) -> Answer {
        let mut json =
            AnswerJson { answer: result.passed_on.answer.clone(), output: result.passed_on.output.clone() };
        let refusal = decide(&mut json, event, result);
        let context = context(event, result);
        // Claude Code reads all of stdout as context there, even JSON, and `additionalContext` is an error.
        let is_printed = event.row().prints_context && !event.takes_context();
        if let Some(context) = &context
            && !is_printed
        {
            json.set_output("additionalContext", fit(context));
        }
        // For a permission it is part of the decision.
        if let Some(input) = &result.updated_input
            && event.blocking() != Blocking::Permission
        {
            json.set_output("updatedInput", input.clone());
        }
        set_message(&mut json, event, result);
        if let Some(reason) = &result.stop_reason {
            json.set("continue", false);
            if !reason.is_empty() {
                json.set("stopReason", fit(reason));
            }
        }
        match refusal {
            // Claude Code would read anything on stdout as the path.
            Some(Refusal::Exit(reason)) if event.blocking() == Blocking::Worktree => {
                Answer { exit: Exit::Blocked, stdout: String::new(), stderr: reason }
            }
            Some(Refusal::Exit(reason)) => {
                Answer { exit: Exit::Blocked, stdout: json.text(event.name()), stderr: reason }
            }
            Some(Refusal::Json) => {
                Answer { exit: Exit::Success, stdout: json.text(event.name()), stderr: String::new() }
            }
            None => {
                let mut stdout = json.text(event.name());
                if let Some(context) = context
                    && is_printed
                    && stdout.is_empty()
                {
                    stdout = fit(&context);
                }
                Answer { exit: Exit::Success, stdout, stderr: log_lines.join("\n") }
            }
        }
    }

    /// The answer to an event that fails: its messages, and the reason.
    fn failed(event: EventKind, result: &HookResult) -> Answer {
        Answer::exit_1(event, &result.message_with_error().unwrap_or_default())
    }

    /// An error. The user sees it at events that the client shows; at others stdout is empty.
    #[must_use]
    pub fn failure(event: EventKind, what: &str) -> Answer {
        Answer::exit_1(event, &format!("conclaude: {what}"))
    }

    fn exit_1(event: EventKind, text: &str) -> Answer {
        let stderr = fit(text);
        let stdout = if event.is_shown() {
            let mut json = AnswerJson::default();
            json.set("systemMessage", stderr.as_str());
            json.text(event.name())
        } else {
            String::new()
        };
        Answer { exit: Exit::Failure, stdout, stderr }
    }
}

/// How a refusal reaches the client.
enum Refusal {
    /// On stdout, and by exit 2 with this reason on stderr. If stdout is empty, the client ignores an exit 2 with certain words
    /// on stderr; other clients read only stderr.
    Exit(String),
    /// Only on stdout.
    Json,
}

/// Sets the decision, in the form of the event.
fn decide(json: &mut AnswerJson, event: EventKind, result: &HookResult) -> Option<Refusal> {
    match (&result.decision, event.blocking()) {
        (Decision::Allow | Decision::GoOn(_), _) => None,
        (Decision::Permit(_), Blocking::Permission) => {
            let mut decision = Map::new();
            decision.insert("behavior".into(), "allow".into());
            decision.extend(result.passed_on.permission.clone());
            if let Some(input) = &result.updated_input {
                decision.insert("updatedInput".into(), input.clone().into());
            }
            json.set_output("decision", decision);
            None
        }
        (Decision::Permit(reason), _) => {
            permission(json, "allow", reason.as_deref());
            None
        }
        (Decision::Ask(reason), _) => {
            let reason = if reason.is_empty() { None } else { Some(reason.as_str()) };
            permission(json, "ask", reason);
            None
        }
        (Decision::Block(reason), Blocking::Permission) => {
            let mut decision = Map::new();
            decision.insert("behavior".into(), "deny".into());
            decision.insert("message".into(), fit(reason).into());
            decision.extend(result.passed_on.permission.clone());
            json.set_output("decision", decision);
            Some(Refusal::Json)
        }
        (Decision::Block(_), Blocking::Context) => Some(Refusal::Json),
        (Decision::Deny(reason), _) | (Decision::Block(reason), Blocking::Tool) => {
            permission(json, "deny", Some(reason));
            Some(Refusal::Exit(fit(reason)))
        }
        (Decision::Block(reason), _) => {
            let reason = fit(reason);
            json.set("decision", "block");
            json.set("reason", reason.as_str());
            Some(Refusal::Exit(reason))
        }
    }
}

/// Sets the decision about a tool.
fn permission(json: &mut AnswerJson, decision: &str, reason: Option<&str>) {
    json.set_output("permissionDecision", decision);
    if let Some(reason) = reason {
        json.set_output("permissionDecisionReason", fit(reason));
    }
}

/// Sets the message for the user.
fn set_message(json: &mut AnswerJson, event: EventKind, result: &HookResult) {
    let is_error_shown = result.decision == Decision::Allow && event.is_shown();
    let message = if is_error_shown { result.message_with_error() } else { result.message.clone() };
    if let Some(message) = message {
        json.set("systemMessage", fit(&message));
    }
}

/// The context for Claude.
fn context(event: EventKind, result: &HookResult) -> Option<String> {
    match (&result.decision, &result.context) {
        (Decision::GoOn(text), _) => Some(text.clone()),
        (Decision::Block(reason), given) if event.blocking() == Blocking::Context => Some(match given {
            Some(given) => format!("{reason}\n{given}"),
            None => reason.clone(),
        }),
        (_, given) => given.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::text::length;

    fn lines() -> Vec<String> {
        vec!["conclaude: info: one".into(), "conclaude: info: two".into()]
    }

    fn answer(exit: Exit, stdout: &str, stderr: &str) -> Answer {
        Answer { exit, stdout: stdout.into(), stderr: stderr.into() }
    }

    #[test]
    fn nothing_to_say_is_an_empty_stdout_and_the_log() {
        assert_eq!(
            Answer::of(EventKind::SubagentStop, &Ok(HookResult::success()), &lines()),
            answer(Exit::Success, "", "conclaude: info: one\nconclaude: info: two")
        );
    }

    #[test]
    fn something_to_show_is_a_system_message() {
        let result = Ok(HookResult { message: Some("lint \"ok\"".into()), ..HookResult::success() });
        assert_eq!(
            Answer::of(EventKind::SubagentStop, &result, &[]),
            answer(Exit::Success, r#"{"systemMessage":"lint \"ok\""}"#, "")
        );
    }

    #[test]
    fn a_block_is_said_twice_and_nothing_else_is() {
        assert_eq!(
            Answer::of(EventKind::SubagentStop, &Ok(HookResult::blocked("tests failed")), &lines()),
            answer(Exit::Blocked, r#"{"decision":"block","reason":"tests failed"}"#, "tests failed")
        );
    }

    #[test]
    fn an_error_is_exit_1_and_shown_where_the_client_shows_any() {
        let error = || Err(HookError::Interrupted("stopped".into()));
        assert_eq!(
            Answer::of(EventKind::SubagentStop, &error(), &lines()),
            answer(Exit::Failure, "", "conclaude: stopped")
        );
        assert_eq!(
            Answer::of(EventKind::SessionStart, &error(), &lines()),
            answer(Exit::Failure, r#"{"systemMessage":"conclaude: stopped"}"#, "conclaude: stopped")
        );
    }

    #[test]
    fn long_texts_stay_below_the_clients_limit() {
        for text in ["x".repeat(30_000), "😀".repeat(30_000)] {
            let answer = Answer::blocked(EventKind::Stop, &text);
            assert!(length(&answer.stderr) < 10_000);
            assert!(answer.stderr.contains("characters left out"));
            let json: Value = serde_json::from_str(&answer.stdout).unwrap();
            assert_eq!(json["reason"], answer.stderr.as_str());
        }
    }
}
