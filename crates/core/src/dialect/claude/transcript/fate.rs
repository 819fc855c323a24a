//! What became of a call of a tool: the line with its result says so.

use std::borrow::Cow;

use super::{MessageBlock, TranscriptEntry};
use crate::json::Fields;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFate {
    Ran,
    Failed,
    DeniedByHook,
    RejectedByUser,
    /// Rules or the mode of permissions were against it, or nobody was there to ask.
    NotPermitted,
}

/// The kind of a denial where the user said no, or could not be asked.
const REJECTED: &str = "user-rejected";

/// How a result starts after a rejection, also where an older version writes no kind.
const REJECTION: &str = "The user doesn't want to proceed with this tool use.";

impl<'a> TranscriptEntry<'a> {
    /// A field of what Claude Code writes beside a result since it records permissions.
    fn permission(&self, name: &str) -> Option<Cow<'a, str>> {
        Fields::of(self.permission_decision?).ok()?.text(name)
    }

    /// What became of the call that this is the result of.
    pub fn fate(&self, result: &MessageBlock<'_>) -> CallFate {
        if !result.is_error.is_true() {
            return CallFate::Ran;
        }
        if result.is_denied_by_hook() {
            return CallFate::DeniedByHook;
        }
        match (self.tool_denial_kind.text(), self.permission("source").as_deref()) {
            (Some(_), Some("hook")) => CallFate::DeniedByHook,
            (Some(REJECTED), None) => CallFate::RejectedByUser,
            (Some(REJECTED), Some(source)) if source.starts_with("user") => CallFate::RejectedByUser,
            (Some(_), _) => CallFate::NotPermitted,
            (None, _) if result.answer(REJECTION.len()).is_some_and(|text| text == REJECTION) => {
                CallFate::RejectedByUser
            }
            (None, _) => CallFate::Failed,
        }
    }

    /// Whether PermissionRequest came before this result, apart from what hooks answered to it; none where the version that wrote
    /// it does not say.
    pub fn was_asked(&self, fate: CallFate) -> Option<bool> {
        let has_reason = |reason: &str| self.permission("reasonCode").is_some_and(|found| found == reason);
        match (self.tool_denial_kind.text(), fate) {
            // What a hook asks about is refused without another hook where nobody can be asked.
            (Some(REJECTED), _) => Some(!has_reason("hook:PreToolUse")),
            (Some(_), _) => Some(has_reason("hook:PermissionRequest")),
            (None, CallFate::DeniedByHook) => Some(false),
            (None, CallFate::RejectedByUser) => Some(true),
            (None, _) => self.permission("source").map(|source| source.starts_with("user")),
        }
    }

    /// The call that a hook answered for the user, at PermissionRequest.
    pub fn answered_request(&self) -> Option<&str> {
        let attachment = self.attachment.as_ref()?;
        let is_request = attachment.hook_event.text() == Some("PermissionRequest");
        attachment.tool_use_id.text().filter(|_| is_request)
    }
}

impl MessageBlock<'_> {
    /// The id of the agent that a call started in the background.
    pub fn launched_agent(&self) -> Option<String> {
        const START: &str = "Async agent launched";
        let is_launch = self.content.is_some_and(|value| value.contains(START));
        let text = is_launch.then(|| self.answer(2_000)).flatten().filter(|text| text.starts_with(START))?;
        let (_, rest) = text.split_once("agentId: ")?;
        Some(rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect())
    }
}
