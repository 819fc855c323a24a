//! One line of Claude Code's transcripts. Most bytes of a transcript do not matter (snapshots of requests, listings, results of
//! tools), so a line is read only as far as necessary.

use std::borrow::Cow;

use serde::de::IgnoredAny;

mod entry;
mod kinds;
mod outcome;
mod usage;

pub use entry::{
    AgentProgress, Attachment, MessageBlock, MessageContent, Scalar, TranscriptEntry, TranscriptMessage,
};
pub use outcome::{CallFate, Ending};
pub use usage::{AdvisorUsage, AnswerUsage};

use crate::json::JsonScanner;
use kinds::{is_in, unknown};

/// A tool call of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCall<'e, 'a> {
    pub id: &'e str,
    pub name: &'e str,
    /// The input as JSON.
    pub input: &'a str,
}

#[derive(Debug)]
pub enum TranscriptLine<'a> {
    Entry(Box<TranscriptEntry<'a>>),
    /// A kind without information about what happened.
    Ignored,
    /// A kind that this version does not know, described in words that follow "a line".
    Unknown(Cow<'static, str>),
    /// JSON in a form that this version does not know.
    OtherForm,
    Malformed,
}

impl<'a> TranscriptLine<'a> {
    pub fn read(line: &'a [u8]) -> TranscriptLine<'a> {
        let head = kinds::scan(line);
        match (head.kind, head.attachment) {
            (Some(kind), _) if is_in(&kinds::IGNORED, kind) => return TranscriptLine::Ignored,
            (Some(kind), _) if !is_in(&kinds::READ, kind) => {
                return if is_json(line) {
                    TranscriptLine::of_unknown(kind)
                } else {
                    TranscriptLine::Malformed
                };
            }
            (Some(kinds::PROGRESS), _) if !is_of_agent(line) => return TranscriptLine::Ignored,
            (_, Some(attachment)) if is_in(&kinds::ATTACHMENTS, attachment) => {
                return TranscriptLine::Ignored;
            }
            _ => {}
        }
        match std::str::from_utf8(line).ok().and_then(|line| TranscriptEntry::read(line).ok()) {
            Some(entry) => TranscriptLine::of(entry),
            None if is_json(line) => TranscriptLine::OtherForm,
            None => TranscriptLine::Malformed,
        }
    }

    fn of(entry: Box<TranscriptEntry<'a>>) -> TranscriptLine<'a> {
        match entry.kind.text() {
            Some(kind) if is_in(&kinds::IGNORED, kind) => TranscriptLine::Ignored,
            Some(kinds::PROGRESS) if entry.progress.is_none() => TranscriptLine::Ignored,
            Some(kind) if is_in(&kinds::READ, kind) => TranscriptLine::Entry(entry),
            Some(kind) => TranscriptLine::of_unknown(kind),
            None => TranscriptLine::OtherForm,
        }
    }

    fn of_unknown(kind: &str) -> TranscriptLine<'a> {
        TranscriptLine::Unknown(unknown("of a kind", Some(kind)))
    }
}

/// Whether a line of progress may come from an agent. Most come from commands and hooks.
fn is_of_agent(line: &[u8]) -> bool {
    memchr::memmem::find(line, kinds::AGENT_PROGRESS.as_bytes()).is_some()
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

impl<'a> TranscriptEntry<'a> {
    pub fn is(&self, kind: &str) -> bool {
        self.kind.text() == Some(kind)
    }

    pub fn is_message(&self) -> bool {
        self.is("user") || self.is("assistant")
    }

    pub fn blocks(&self) -> &[MessageBlock<'a>] {
        match self.message.as_ref().map(|message| &message.content) {
            Some(MessageContent::Blocks(blocks)) => blocks,
            _ => &[],
        }
    }

    /// The text that the user typed, also while Claude was working, or the task of a subagent.
    pub fn prompt(&self) -> Option<Cow<'_, str>> {
        if self.is("attachment") {
            return self.attachment.as_ref()?.queued_prompt();
        }
        if !self.is("user") || self.is_meta.is_true() || self.is_compact_summary.is_true() {
            return None;
        }
        match &self.message.as_ref()?.content {
            MessageContent::Text(text) => Some(Cow::Borrowed(text)),
            // A line with the result of a tool is not the user's, even if it contains texts.
            MessageContent::Blocks(blocks)
                if blocks.iter().all(|block| block.tool_use_id.text().is_none()) =>
            {
                texts(blocks)
            }
            _ => None,
        }
    }

    /// Whether it is a prompt that arrived while Claude was working: the same turn continues.
    pub fn is_queued(&self) -> bool {
        self.is("attachment") && self.prompt().is_some()
    }

    /// The tool calls. One without an id, a name or an input does not count.
    pub fn calls(&self) -> impl Iterator<Item = BlockCall<'_, 'a>> {
        let blocks = if self.is("assistant") { self.blocks() } else { &[] };
        blocks.iter().filter_map(MessageBlock::call)
    }

    pub fn results(&self) -> impl Iterator<Item = &MessageBlock<'a>> {
        let is_result = |block: &&MessageBlock<'a>| block.kind.text() == Some("tool_result");
        self.blocks().iter().filter(is_result)
    }
}

impl<'a> Attachment<'a> {
    /// A prompt that was entered while Claude was working. Claude Code submits it before the next request, like other prompts.
    /// Messages of agents and other sessions have no mode.
    fn queued_prompt(&self) -> Option<Cow<'a, str>> {
        let is_submitted = match self.mode.text() {
            Some(mode) => QUEUED_MODES.contains(&mode),
            None => self.origin.is_none(),
        };
        if self.kind.text() != Some(kinds::QUEUED) || !is_submitted || self.is_meta.is_true() {
            return None;
        }
        match MessageContent::read(&mut JsonScanner::of(self.prompt?)).ok()? {
            MessageContent::Text(text) => Some(text),
            MessageContent::Blocks(blocks) => texts(&blocks),
            MessageContent::Other => None,
        }
    }
}

/// The modes of queued prompts for which UserPromptSubmit fires.
const QUEUED_MODES: [&str; 2] = ["prompt", "task-notification"];

fn texts<'a>(blocks: &[MessageBlock<'a>]) -> Option<Cow<'a, str>> {
    let texts: Vec<Cow<'_, str>> = blocks.iter().filter_map(MessageBlock::text).collect();
    if texts.is_empty() { None } else { Some(Cow::Owned(texts.join("\n"))) }
}

#[cfg(test)]
mod tests;
