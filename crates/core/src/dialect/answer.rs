//! Answers: exit code, stdout and stderr. Claude Code's answers are in its own folder; those of the other clients differ in a few
//! forms.

use serde_json::{Map, Value, json};

use super::Reply;
use crate::decide::{Decision, HookResult};
use crate::event::{Blocking, EventKind};
use crate::exit::Exit;
use crate::text::{Excerpt, LIMIT, clean, head_and_tail};

/// The complete answer of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code of the process.
    pub exit: Exit,
    /// Empty, or exactly one JSON object. It is plain text where Claude Code reads all of stdout as text.
    pub stdout: String,
    /// Log lines, or only the reason.
    pub stderr: String,
}

/// The forms of a client's answers.
pub struct AnswerForms {
    pub refusal: RefusalExit,
    pub denial: DenialForm,
    pub permission: PermissionForm,
    pub context: ContextForm,
    pub feedback: FeedbackForm,
    pub changed_input: ChangedInputForm,
    /// Events at which the client reads a failure as a denial. An error exits with 0 there.
    pub failure_denies: &'static [EventKind],
}

/// The exit code of a refusal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RefusalExit {
    /// Exit 2, with the reason on stderr too.
    Blocked,
    /// Exit 0: with exit 2 the model would not get the reason.
    Success,
}

/// How a tool is denied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DenialForm {
    /// `permissionDecision` in `hookSpecificOutput`.
    Permission,
    /// `decision: deny` at the top.
    Decision,
}

/// How a permission request is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PermissionForm {
    /// `decision` in `hookSpecificOutput`.
    Nested,
    /// `behavior` at the top.
    Flat,
}

/// The object in which the client reads `additionalContext`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ContextForm {
    Nested,
    Top,
}

/// How the model gets feedback about the result of a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FeedbackForm {
    Block,
    /// A block is ignored.
    Context,
}

/// How the input of a tool is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ChangedInputForm {
    /// Only together with `permissionDecision: allow`.
    Allowed,
    Updated,
    ToolInput,
    Impossible,
}

impl AnswerForms {
    pub(super) fn render(&self, reply: &Reply<'_>) -> Answer {
        match reply.result {
            Ok(result) if is_failure(result) => {
                self.failed(reply, &result.message_with_error().unwrap_or_default())
            }
            Ok(result) => self.decided(reply, result),
            Err(error) => self.failed(reply, &format!("conclaude: {error}")),
        }
    }

    fn failed(&self, reply: &Reply<'_>, text: &str) -> Answer {
        let exit = if self.failure_denies.contains(&reply.called) { Exit::Success } else { Exit::Failure };
        Answer { exit, stdout: String::new(), stderr: fit(text) }
    }

    fn decided(&self, reply: &Reply<'_>, result: &HookResult) -> Answer {
        let mut json = AnswerJson::default();
        let log_lines = || reply.log_lines.join("\n");
        let told = match self.decide(&mut json, reply, result) {
            AnsweredDecision::Refused(reason) => {
                let stdout = json.text(reply.name);
                return match self.refusal {
                    RefusalExit::Blocked => Answer { exit: Exit::Blocked, stdout, stderr: reason },
                    RefusalExit::Success => Answer { exit: Exit::Success, stdout, stderr: log_lines() },
                };
            }
            AnsweredDecision::Told(reason) => Some(reason),
            AnsweredDecision::Answered => None,
        };
        let given = if reply.takes_context { result.context.as_deref() } else { None };
        let context: Vec<&str> = told.into_iter().chain(given).collect();
        if !context.is_empty() {
            let context = fit(&context.join("\n"));
            match self.context {
                ContextForm::Nested => json.set_output("additionalContext", context),
                ContextForm::Top => json.set("additionalContext", context),
            }
        }
        if result.is_allowed() {
            if let Some(input) = &result.updated_input
                && reply.called.blocking() == Blocking::Tool
            {
                self.change_input(&mut json, input, reply);
            }
            if let Some(message) = result.message_with_error() {
                json.set("systemMessage", fit(&message));
            }
        }
        Answer { exit: Exit::Success, stdout: json.text(reply.name), stderr: log_lines() }
    }

    /// Denies a tool.
    fn deny(&self, json: &mut AnswerJson, reason: &str) {
        match self.denial {
            DenialForm::Permission => {
                json.set_output("permissionDecision", "deny");
                json.set_output("permissionDecisionReason", reason);
            }
            DenialForm::Decision => {
                json.set("decision", "deny");
                json.set("reason", reason);
            }
        }
    }

    /// Sets the decision. Questions and permission requests are answered with exit 0.
    fn decide<'r>(
        &self,
        json: &mut AnswerJson,
        reply: &Reply<'_>,
        result: &'r HookResult,
    ) -> AnsweredDecision<'r> {
        match (&result.decision, reply.called.blocking()) {
            (Decision::Permit(_), Blocking::Permission) => {
                self.permission(json, json!({"behavior": "allow"}));
                AnsweredDecision::Answered
            }
            (Decision::Deny(reason) | Decision::Block(reason), Blocking::Permission) => {
                self.permission(json, json!({"behavior": "deny", "message": fit(reason)}));
                AnsweredDecision::Answered
            }
            (Decision::Allow | Decision::Permit(_), _) => AnsweredDecision::Answered,
            (Decision::Ask(reason), _) => {
                json.set_output("permissionDecision", "ask");
                json.set_output("permissionDecisionReason", fit(reason));
                AnsweredDecision::Answered
            }
            (Decision::Deny(reason) | Decision::Block(reason), Blocking::Tool) => {
                let reason = fit(reason);
                self.deny(json, &reason);
                AnsweredDecision::Refused(reason)
            }
            (Decision::Block(reason), Blocking::Context) => AnsweredDecision::Told(reason),
            (Decision::Block(reason), Blocking::Feedback) if self.feedback == FeedbackForm::Context => {
                AnsweredDecision::Told(reason)
            }
            (Decision::GoOn(text), blocking) if !matches!(blocking, Blocking::Stop(_)) => {
                AnsweredDecision::Told(text)
            }
            (Decision::Deny(reason) | Decision::Block(reason) | Decision::GoOn(reason), _) => {
                let reason = fit(reason);
                json.set("decision", "block");
                json.set("reason", reason.as_str());
                AnsweredDecision::Refused(reason)
            }
        }
    }

    fn permission(&self, json: &mut AnswerJson, decision: Value) {
        match (self.permission, decision) {
            (PermissionForm::Nested, decision) => json.set_output("decision", decision),
            (PermissionForm::Flat, Value::Object(decision)) => json.answer.extend(decision),
            (PermissionForm::Flat, _) => {}
        }
    }

    /// Sets the replaced input, with the client's names for its fields.
    fn change_input(&self, json: &mut AnswerJson, input: &Map<String, Value>, reply: &Reply<'_>) {
        let mut input = input.clone();
        for (theirs, ours) in reply.renamed {
            if let Some(value) = input.remove(*ours) {
                input.insert((*theirs).to_owned(), value);
            }
        }
        match self.changed_input {
            ChangedInputForm::Allowed => {
                json.set_output("permissionDecision", "allow");
                json.set_output("updatedInput", input);
            }
            ChangedInputForm::Updated => json.set_output("updatedInput", input),
            ChangedInputForm::ToolInput => json.set_output("tool_input", input),
            ChangedInputForm::Impossible => {}
        }
    }
}

/// The form of a decision in an answer.
enum AnsweredDecision<'r> {
    /// The event is refused, for this reason.
    Refused(String),
    /// The model gets this text, and nothing is refused.
    Told(&'r str),
    Answered,
}

/// Whether an allowed event fails, and the answer has nothing else.
fn is_failure(result: &HookResult) -> bool {
    let is_given = result.context.is_some() || result.updated_input.is_some();
    result.error.is_some() && result.is_allowed() && !is_given
}

/// The JSON of an answer, built key by key. A later value replaces one that a hook passed on.
#[derive(Default)]
pub(super) struct AnswerJson {
    pub(super) answer: Map<String, Value>,
    /// `hookSpecificOutput`, without its `hookEventName`.
    pub(super) output: Map<String, Value>,
}

impl AnswerJson {
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.answer.insert(key.to_owned(), value.into());
    }

    pub(super) fn set_output(&mut self, key: &str, value: impl Into<Value>) {
        self.output.insert(key.to_owned(), value.into());
    }

    /// The JSON as text. Empty without any key.
    pub(super) fn text(mut self, event: &str) -> String {
        let mut json = Map::new();
        if !self.output.is_empty() {
            let mut output = Map::new();
            output.insert("hookEventName".into(), event.into());
            output.append(&mut self.output);
            json.insert("hookSpecificOutput".into(), output.into());
        }
        json.append(&mut self.answer);
        if json.is_empty() { String::new() } else { Value::Object(json).to_string() }
    }
}

/// A text for an answer: cleaned, because it may be untrusted, and short enough that the client does not cut it.
pub(super) fn fit(text: &str) -> String {
    let text = clean(text);
    match head_and_tail(&text, LIMIT) {
        None => text,
        Some(Excerpt { head, tail, left_out }) => {
            format!("{head}\n… {left_out} characters left out …\n{tail}")
        }
    }
}
