//! What of a line is in no form that this version knows: it is counted, and nothing is concluded from it.

use std::borrow::Cow;

use super::kinds::{self, is_in, unknown};
use super::{MessageBlock, MessageContent, TranscriptEntry};

impl<'a> TranscriptEntry<'a> {
    /// Says of everything that is not understood what it is, in words that follow "a line".
    pub fn each_unread(&self, mut note: impl FnMut(Cow<'static, str>)) {
        match self.kind.text() {
            Some(kind @ ("user" | "assistant")) => {
                match self.message.as_ref().map(|message| &message.content) {
                    None => note(format!("of kind `{kind}` without a message").into()),
                    Some(MessageContent::Other) => {
                        note(format!("of kind `{kind}` whose content is neither text nor blocks").into());
                    }
                    Some(MessageContent::Text(_)) => {}
                    Some(MessageContent::Blocks(blocks)) => {
                        blocks.iter().filter_map(MessageBlock::unread).for_each(note)
                    }
                }
            }
            Some("system") => {
                let subtype = self.subtype.text();
                if !subtype.is_some_and(|subtype| is_in(&kinds::SYSTEM, subtype)) {
                    note(unknown("of kind `system` with a subtype", subtype));
                }
            }
            Some("attachment") => {
                let kind = self.attachment.as_ref().and_then(|attachment| attachment.kind.text());
                let is_known = |kind| {
                    kind == kinds::QUEUED || is_in(&kinds::HOOKS, kind) || is_in(&kinds::ATTACHMENTS, kind)
                };
                if !kind.is_some_and(is_known) {
                    note(unknown("with an attachment", kind));
                }
            }
            _ => {}
        }
    }

    /// Whether this line calls a tool, or may do so in what was not understood of it.
    pub fn may_call(&self) -> bool {
        match self.message.as_ref().map(|message| &message.content) {
            Some(MessageContent::Blocks(blocks)) => {
                blocks.iter().any(|block| block.is_call() || block.is_unknown())
            }
            Some(MessageContent::Text(_)) => false,
            Some(MessageContent::Other) | None => true,
        }
    }
}

impl<'a> MessageBlock<'a> {
    pub(super) fn is_call(&self) -> bool {
        self.kind.text() == Some("tool_use")
    }

    fn is_unknown(&self) -> bool {
        !self.kind.text().is_some_and(|kind| is_in(&kinds::BLOCKS, kind))
    }

    /// The call of a tool: id, name, input.
    pub(super) fn call(&self) -> Option<(&str, &str, &'a str)> {
        self.is_call().then_some(())?;
        Some((self.id.text()?, self.name.text()?, self.input?))
    }

    fn unread(&self) -> Option<Cow<'static, str>> {
        match self.kind.text() {
            Some("tool_use") if self.call().is_none() => {
                Some("with a `tool_use` without an id, a name and an input".into())
            }
            Some("tool_result") if self.tool_use_id.text().is_none() => {
                Some("with a `tool_result` without a `tool_use_id`".into())
            }
            kind => self.is_unknown().then(|| unknown("with a block", kind)),
        }
    }
}
