//! The answer to Claude Code: exit code, stdout and stderr.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::decide::{Decision, HookResult};
use crate::error::HookError;
use crate::event::{Blocking, EventKind};
use crate::exit::Exit;
use crate::text::{Excerpt, LIMIT, clean, head_and_tail};

/// The complete answer of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How the process ends.
    pub exit: Exit,
    /// Empty, or exactly one JSON object.
    pub stdout: String,
    /// Log lines, or the reason alone.
    pub stderr: String,
}

/// The JSON that the client understands at the events that can answer.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct AnswerJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<ToolOutput<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
}

/// The answer about a tool.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct ToolOutput<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<PermissionDecision<'a>>,
}

/// The answer about a permission.
#[derive(Serialize)]
struct PermissionDecision<'a> {
    behavior: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

impl AnswerJson<'_> {
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

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
            Ok(result @ HookResult { decision: Decision::Allow, context, updated_input, .. }) => {
                let message =
                    if event.is_shown() { result.message_with_error() } else { result.message.clone() };
                let (message, context) = (message.as_deref().map(fit), context.as_deref().map(fit));
                let output = ToolOutput {
                    hook_event_name: event.name(),
                    additional_context: context.as_deref(),
                    updated_input: updated_input.as_ref(),
                    ..ToolOutput::default()
                };
                let has_output = updated_input.is_some() || context.is_some();
                let output = if has_output { Some(output) } else { None };
                let silent = message.is_none() && output.is_none();
                let json = AnswerJson {
                    system_message: message.as_deref(),
                    hook_specific_output: output,
                    ..AnswerJson::default()
                };
                let stdout = if silent { String::new() } else { json.text() };
                Answer { exit: Exit::Success, stdout, stderr: log_lines.join("\n") }
            }
            Ok(HookResult { decision: Decision::Permit, .. }) => Answer::permit(event, log_lines),
            Ok(HookResult { decision: Decision::Block(reason), .. }) => Answer::blocked(event, reason),
            Ok(HookResult { decision: Decision::Deny(reason), .. }) => Answer::deny(event, reason),
            Ok(HookResult { decision: Decision::Ask(reason), .. }) => Answer::ask(event, reason, log_lines),
            Err(error) => Answer::failure(event, &error.to_string()),
        }
    }

    /// A block, in the form that the event understands.
    #[must_use]
    pub fn blocked(event: EventKind, reason: &str) -> Answer {
        match event.blocking() {
            Blocking::Tool => Answer::deny(event, reason),
            Blocking::Permission => Answer::refuse_permission(event, reason),
            Blocking::Context => Answer::context(event, reason),
            // Whatever is on stdout would be the path.
            Blocking::Worktree => Answer { exit: Exit::Blocked, stdout: String::new(), stderr: fit(reason) },
            Blocking::Never | Blocking::Stop(_) | Blocking::Action { .. } | Blocking::Feedback => {
                Answer::block(reason)
            }
        }
    }

    fn permit(event: EventKind, log_lines: &[String]) -> Answer {
        let decision = PermissionDecision { behavior: "allow", message: None };
        let output =
            ToolOutput { hook_event_name: event.name(), decision: Some(decision), ..ToolOutput::default() };
        let stdout = AnswerJson { hook_specific_output: Some(output), ..AnswerJson::default() }.text();
        Answer { exit: Exit::Success, stdout, stderr: log_lines.join("\n") }
    }

    fn refuse_permission(event: EventKind, reason: &str) -> Answer {
        let reason = fit(reason);
        let decision = PermissionDecision { behavior: "deny", message: Some(&reason) };
        let output =
            ToolOutput { hook_event_name: event.name(), decision: Some(decision), ..ToolOutput::default() };
        let stdout = AnswerJson { hook_specific_output: Some(output), ..AnswerJson::default() }.text();
        Answer { exit: Exit::Success, stdout, stderr: String::new() }
    }

    fn context(event: EventKind, text: &str) -> Answer {
        let text = fit(text);
        let output = ToolOutput {
            hook_event_name: event.name(),
            additional_context: Some(&text),
            ..ToolOutput::default()
        };
        let stdout = AnswerJson { hook_specific_output: Some(output), ..AnswerJson::default() }.text();
        Answer { exit: Exit::Success, stdout, stderr: String::new() }
    }

    /// A block, on stdout and on stderr: the client ignores an exit 2 with certain words on stderr if stdout is empty, and
    /// other clients read stderr only.
    #[must_use]
    pub fn block(reason: &str) -> Answer {
        let reason = fit(reason);
        let stdout =
            AnswerJson { decision: Some("block"), reason: Some(&reason), ..AnswerJson::default() }.text();
        Answer { exit: Exit::Blocked, stdout, stderr: reason }
    }

    /// A denied tool, on stdout and stderr for the same reasons.
    #[must_use]
    pub fn deny(event: EventKind, reason: &str) -> Answer {
        let reason = fit(reason);
        let output = ToolOutput {
            hook_event_name: event.name(),
            permission_decision: Some("deny"),
            permission_decision_reason: Some(&reason),
            ..ToolOutput::default()
        };
        let stdout = AnswerJson { hook_specific_output: Some(output), ..AnswerJson::default() }.text();
        Answer { exit: Exit::Blocked, stdout, stderr: reason }
    }

    /// A tool that the user decides about.
    fn ask(event: EventKind, reason: &str, log_lines: &[String]) -> Answer {
        let reason = fit(reason);
        let output = ToolOutput {
            hook_event_name: event.name(),
            permission_decision: Some("ask"),
            permission_decision_reason: Some(&reason),
            ..ToolOutput::default()
        };
        let stdout = AnswerJson { hook_specific_output: Some(output), ..AnswerJson::default() }.text();
        Answer { exit: Exit::Success, stdout, stderr: log_lines.join("\n") }
    }

    /// The messages of the event, and why it fails.
    fn failed(event: EventKind, result: &HookResult) -> Answer {
        Answer::exit_1(event, &result.message_with_error().unwrap_or_default())
    }

    /// An error. It is shown to the user at events that the client shows; elsewhere stdout is empty.
    #[must_use]
    pub fn failure(event: EventKind, what: &str) -> Answer {
        Answer::exit_1(event, &format!("conclaude: {what}"))
    }

    fn exit_1(event: EventKind, text: &str) -> Answer {
        let stderr = fit(text);
        let stdout = if event.is_shown() {
            AnswerJson { system_message: Some(&stderr), ..AnswerJson::default() }.text()
        } else {
            String::new()
        };
        Answer { exit: Exit::Failure, stdout, stderr }
    }
}

/// A text as it is answered: cleaned, since it may contain untrusted text, and short enough that the client does not cut it.
fn fit(text: &str) -> String {
    let text = clean(text);
    match head_and_tail(&text, LIMIT) {
        None => text,
        Some(Excerpt { head, tail, left_out }) => {
            format!("{head}\n… {left_out} characters left out …\n{tail}")
        }
    }
}

#[cfg(test)]
mod tests {
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
            let answer = Answer::block(&text);
            assert!(length(&answer.stderr) < 10_000);
            assert!(answer.stderr.contains("characters left out"));
            let json: Value = serde_json::from_str(&answer.stdout).unwrap();
            assert_eq!(json["reason"], answer.stderr.as_str());
        }
    }
}
