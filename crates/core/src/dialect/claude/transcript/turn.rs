//! Where a turn starts and where it stops.

use std::borrow::Cow;

use super::TranscriptEntry;
use crate::dialect::claude::prompt;

/// What a line of the system says about a prompt that a hook blocked, before and after the reason.
const BLOCKED: &str = "UserPromptSubmit operation blocked by hook:";
const ORIGINAL: &str = "\n\nOriginal prompt: ";

/// An answer with which a turn may stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// All lines of one answer have the same.
    pub message: String,
    /// It says so itself. Without that, what follows it says whether it was the last.
    pub is_certain: bool,
}

impl TranscriptEntry<'_> {
    /// The prompt of the main thread, as UserPromptSubmit gives it.
    pub fn submitted(&self) -> Option<Cow<'_, str>> {
        let prompt = self.prompt()?;
        if let Some(command) = slash_command(prompt.trim_start()) {
            return Some(Cow::Owned(command));
        }
        prompt::is_submitted(&prompt).then_some(prompt)
    }

    /// Whether the user asks for something with this line, or an agent is given its task: Claude Code says other things in prompts
    /// too, such as that an agent in the background has stopped.
    pub fn asks(&self) -> bool {
        self.submitted().is_some_and(|prompt| !prompt::is_notification(&prompt))
    }

    /// A prompt that a hook blocked: it is in the transcript only in the words about it.
    pub fn blocked_prompt(&self) -> Option<&str> {
        let said = self.content.text().filter(|_| self.is("system"))?;
        said.starts_with(BLOCKED).then(|| said.split_once(ORIGINAL).map_or("", |(_, prompt)| prompt))
    }

    /// Whether the user interrupted what came before this line.
    pub fn is_interruption(&self) -> bool {
        self.prompt().is_some_and(|prompt| prompt::is_interruption(&prompt))
    }

    /// Whether a hook blocked the stop before this line.
    pub fn is_stop_feedback(&self) -> bool {
        let content = self.message.as_ref().map(|message| &message.content);
        self.is_meta.is_true()
            && matches!(content, Some(super::MessageContent::Text(text)) if text.starts_with("Stop hook feedback:"))
    }

    /// An answer without a call of a tool, with which the main thread or an agent may stop. After an error of the API it does not,
    /// and of an answer that is not understood nothing is known.
    pub fn ending(&self) -> Option<Ending> {
        let message = self.message.as_ref().filter(|_| self.is("assistant"))?;
        if self.is_api_error_message.is_true() || self.may_call() {
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
    let name = prompt.starts_with("<command-message>").then(|| part("command-name")).flatten()?;
    let arguments = part("command-args").unwrap_or_default();
    Some(format!("{name} {arguments}").trim_end().to_owned())
}
