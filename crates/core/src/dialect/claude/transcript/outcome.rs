//! The result of a tool call or a hook, and the start and stop of a turn.

use std::borrow::Cow;

use super::{Attachment, MessageBlock, MessageContent, TranscriptEntry};
use crate::dialect::claude::prompt;
use crate::event::EventKind;
use crate::json::ObjectFields;

/// The fate of a tool call, judging by the line with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFate {
    Ran,
    Failed,
    DeniedByHook,
    RejectedByUser,
    /// Rules or the permission mode forbade it, or nobody could be asked.
    NotPermitted,
}

impl Attachment<'_> {
    /// Whether a hook, ours or another, blocked a stop.
    #[must_use]
    pub fn is_blocked_stop(&self) -> bool {
        self.kind.text() == Some("hook_blocking_error")
            && self.hook_event.text().and_then(EventKind::named).is_some_and(EventKind::is_stop)
    }

    /// How a hook failed, in words that follow its name. Claude Code does not show such failures.
    #[must_use]
    pub fn hook_failure(&self) -> Option<String> {
        Some(match self.kind.text()? {
            "hook_non_blocking_error" | "hook_error_during_execution" => match self.exit_code.number() {
                Some(code) => format!("exited with code {code}, which blocks nothing"),
                None => "failed, which blocks nothing".to_owned(),
            },
            "hook_cancelled" if self.timed_out.is_true() => "timed out".to_owned(),
            "hook_cancelled" => "was cancelled".to_owned(),
            _ => return None,
        })
    }
}

/// The kind of a denial if the user refused, or could not be asked.
const REJECTED: &str = "user-rejected";

/// The start of a result after a rejection, also in older versions, which write no kind.
const REJECTION: &str = "The user doesn't want to proceed with this tool use.";

impl<'a> TranscriptEntry<'a> {
    /// A field of `permissionDecision`, which newer versions write beside a result.
    fn permission(&self, name: &str) -> Option<Cow<'a, str>> {
        ObjectFields::of(self.permission_decision?).ok()?.text(name)
    }

    /// The fate of the call that has this result.
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

    /// Whether PermissionRequest fired before this result, whatever hooks answered to it. `None` if the version that wrote the
    /// line does not record that.
    pub fn was_asked(&self, fate: CallFate) -> Option<bool> {
        let has_reason = |reason: &str| self.permission("reasonCode").is_some_and(|found| found == reason);
        match (self.tool_denial_kind.text(), fate) {
            // If nobody can be asked, a hook's question is refused without another hook.
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
        if attachment.hook_event.text() != Some("PermissionRequest") {
            return None;
        }
        attachment.tool_use_id.text()
    }
}

impl MessageBlock<'_> {
    /// The id of the agent that a call started in the background.
    pub fn launched_agent(&self) -> Option<String> {
        const START: &str = "Async agent launched";
        if !self.content.is_some_and(|value| value.contains(START)) {
            return None;
        }
        let text = self.answer(2_000).filter(|text| text.starts_with(START))?;
        let (_, rest) = text.split_once("agentId: ")?;
        Some(rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect())
    }
}

/// The text of a system line about a prompt that a hook blocked, before and after the reason.
const BLOCKED: &str = "UserPromptSubmit operation blocked by hook:";
const ORIGINAL: &str = "\n\nOriginal prompt: ";

/// An answer with which a turn may stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The id that all lines of one answer share.
    pub message: String,
    /// Whether the answer has a `stop_reason`. Without one, the following lines show whether it was the last.
    pub is_certain: bool,
}

impl TranscriptEntry<'_> {
    /// The prompt of the main thread, in the form of UserPromptSubmit.
    pub fn submitted(&self) -> Option<Cow<'_, str>> {
        let prompt = self.prompt()?;
        if let Some(command) = slash_command(prompt.trim_start()) {
            return Some(Cow::Owned(command));
        }
        if prompt::is_submitted(&prompt) { Some(prompt) } else { None }
    }

    /// Whether this line is a request of the user, or the task of an agent. Claude Code also sends other prompts, such as the
    /// notification that a background agent has stopped.
    pub fn asks(&self) -> bool {
        self.submitted().is_some_and(|prompt| !prompt::is_notification(&prompt))
    }

    /// A prompt that a hook blocked. The transcript contains it only in the message about the block.
    pub fn blocked_prompt(&self) -> Option<&str> {
        if !self.is("system") {
            return None;
        }
        let message = self.content.text()?;
        if !message.starts_with(BLOCKED) {
            return None;
        }
        Some(message.split_once(ORIGINAL).map_or("", |(_, prompt)| prompt))
    }

    /// Whether the user interrupted Claude before this line.
    pub fn is_interruption(&self) -> bool {
        self.prompt().is_some_and(|prompt| prompt::is_interruption(&prompt))
    }

    /// Whether a hook blocked the stop before this line.
    pub fn is_stop_feedback(&self) -> bool {
        let content = self.message.as_ref().map(|message| &message.content);
        self.is_meta.is_true()
            && matches!(content, Some(MessageContent::Text(text)) if text.starts_with("Stop hook feedback:"))
    }

    /// An answer without a tool call, with which the main thread or an agent may stop. `None` after an API error, because no stop
    /// follows, and for an answer that is not understood.
    pub fn ending(&self) -> Option<Ending> {
        let message = self.message.as_ref()?;
        if !self.is("assistant") || self.is_api_error_message.is_true() || self.may_call() {
            return None;
        }
        let is_certain = match message.stop_reason.text() {
            Some("end_turn" | "stop_sequence") => true,
            None => false,
            Some(_) => return None,
        };
        Some(Ending { message: message.id.text().unwrap_or_default().to_owned(), is_certain })
    }
}

/// A slash command as it was typed.
fn slash_command(prompt: &str) -> Option<String> {
    let part = |name: &str| {
        let (_, rest) = prompt.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(text, _)| text.trim())
    };
    if !prompt.starts_with("<command-message>") {
        return None;
    }
    let name = part("command-name")?;
    let arguments = part("command-args").unwrap_or_default();
    Some(format!("{name} {arguments}").trim_end().to_owned())
}
