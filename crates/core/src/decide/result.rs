//! What a call comes to.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::dialect::claude::UnknownReplyFields;
use crate::event::EventKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// The tool is used without asking the user; why, if that is to be said.
    Permit(Option<String>),
    /// The agent goes on with this text, which is no error.
    GoOn(String),
    /// The agent may not stop, for this reason.
    Block(String),
    /// The tool is not used, for this reason.
    Deny(String),
    /// The user is asked whether the tool is used, for this reason, which may be empty.
    Ask(String),
}

/// What handling a hook came to: all that an answer is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookResult {
    pub decision: Decision,
    /// What is shown to the user.
    pub message: Option<String>,
    /// Why the event fails, where nothing is against what it is about.
    pub error: Option<String>,
    /// What Claude is given beside it.
    pub context: Option<String>,
    /// What the tool is given instead.
    pub updated_input: Option<Map<String, Value>>,
    /// Claude stops, for this reason, which may be empty.
    pub stop_reason: Option<String>,
    /// What a hook answered beside that.
    pub passed_on: UnknownReplyFields,
    /// The path of a worktree that a command made.
    pub worktree: Option<String>,
    /// What was pending in the outbox and is shown with this: that is noted once the answer was written.
    pub delivered: Vec<DeliveredMessage>,
}

/// A pending message, and who gets it with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredMessage {
    /// The file that holds it.
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

    /// Whether it is answered with exit 1. Where another client would read a failure as a denial, or where the answer holds what
    /// the client takes with exit 0 alone, the error is only shown.
    #[must_use]
    pub fn fails(&self, event: EventKind) -> bool {
        let is_given = self.context.is_some()
            || self.worktree.is_some()
            || self.updated_input.is_some()
            || self.stop_reason.is_some()
            || self.passed_on != UnknownReplyFields::default();
        self.error.is_some() && self.is_allowed() && !is_given && !event.row().failure_denies
    }

    /// What is shown, with the error.
    #[must_use]
    pub fn message_with_error(&self) -> Option<String> {
        let error = self.error.as_ref().map(|error| format!("conclaude: {error}"));
        let parts: Vec<&str> = self.message.as_deref().into_iter().chain(error.as_deref()).collect();
        if parts.is_empty() { None } else { Some(parts.join("\n")) }
    }
}
