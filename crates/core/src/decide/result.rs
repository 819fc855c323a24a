//! The result of an event.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::dialect::claude::UnknownReplyFields;
use crate::event::EventKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// The tool is used without asking the user, with an optional reason.
    Permit(Option<String>),
    /// The agent continues with this text, which is not an error.
    GoOn(String),
    /// The agent may not stop, for this reason.
    Block(String),
    /// The tool is not used, for this reason.
    Deny(String),
    /// The user is asked whether the tool is used, for this reason, which may be empty.
    Ask(String),
}

/// The result of handling an event: everything that the answer needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookResult {
    pub decision: Decision,
    /// The message for the user.
    pub message: Option<String>,
    /// Why the event fails, although no rule forbids it.
    pub error: Option<String>,
    /// The context for Claude.
    pub context: Option<String>,
    /// The replaced input of the tool.
    pub updated_input: Option<Map<String, Value>>,
    /// Claude stops, for this reason, which may be empty.
    pub stop_reason: Option<String>,
    /// Other fields of a hook's answer.
    pub passed_on: UnknownReplyFields,
    /// The path of a worktree that a command made.
    pub worktree: Option<String>,
    /// Queued messages that are shown with this answer. They are marked as delivered once the answer is written.
    pub delivered: Vec<DeliveredMessage>,
}

/// A queued message, and who receives it with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredMessage {
    /// The file of the message.
    pub path: PathBuf,
    pub to_user: bool,
    pub to_claude: bool,
}

impl HookResult {
    /// Allowed, and nothing to show.
    #[must_use]
    pub fn success() -> Self {
        HookResult {
            decision: Decision::Allow,
            message: None,
            error: None,
            context: None,
            updated_input: None,
            stop_reason: None,
            passed_on: UnknownReplyFields::default(),
            worktree: None,
            delivered: Vec::new(),
        }
    }

    #[must_use]
    pub fn blocked(reason: impl Into<String>) -> Self {
        HookResult { decision: Decision::Block(reason.into()), ..HookResult::success() }
    }

    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self.decision, Decision::Allow | Decision::Permit(_))
    }

    /// Whether it is answered with exit 1. If another client would read a failure as a denial, or if the answer has fields that
    /// the client reads only with exit 0, the error is only shown.
    #[must_use]
    pub fn fails(&self, event: EventKind) -> bool {
        let is_given = self.context.is_some()
            || self.worktree.is_some()
            || self.updated_input.is_some()
            || self.stop_reason.is_some()
            || self.passed_on != UnknownReplyFields::default();
        self.error.is_some() && self.is_allowed() && !is_given && !event.row().failure_denies
    }

    /// The shown message, including the error.
    #[must_use]
    pub fn message_with_error(&self) -> Option<String> {
        let error = self.error.as_ref().map(|error| format!("conclaude: {error}"));
        let parts: Vec<&str> = self.message.as_deref().into_iter().chain(error.as_deref()).collect();
        if parts.is_empty() { None } else { Some(parts.join("\n")) }
    }
}
