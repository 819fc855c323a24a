//! One line of Claude Code's transcripts. Most bytes of a transcript say nothing of what happened (snapshots of requests,
//! listings, results of tools), so a line is read no further than it takes to know that.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

mod fate;
mod head;
mod kinds;
mod scalar;
mod turn;
mod unread;

pub use fate::Fate;
pub use scalar::{Block, Content, Scalar};
pub use turn::Ending;

use kinds::{is_in, unknown};

#[derive(Debug)]
pub enum Line<'a> {
    Entry(Box<Entry<'a>>),
    /// It is of a kind that says nothing of what happened.
    Ignored,
    /// It is of a kind that this version does not know, which is said in words that follow "a line".
    Unknown(Cow<'static, str>),
    /// It is JSON, and not in the form that this version knows.
    OtherForm,
    Malformed,
}

/// A line that says what happened. Fields of another type than expected are as good as absent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Scalar<'a>,
    #[serde(borrow, default)]
    pub subtype: Scalar<'a>,
    #[serde(borrow, default)]
    pub timestamp: Scalar<'a>,
    #[serde(borrow, default)]
    pub session_id: Scalar<'a>,
    #[serde(borrow, default)]
    pub agent_id: Scalar<'a>,
    #[serde(borrow, default)]
    pub cwd: Scalar<'a>,
    #[serde(borrow, default)]
    pub version: Scalar<'a>,
    #[serde(borrow, default)]
    pub permission_mode: Scalar<'a>,
    #[serde(borrow, default)]
    pub prompt_id: Scalar<'a>,
    /// It is of a subagent. Older versions wrote such lines into the transcript of the main thread.
    #[serde(borrow, default)]
    pub is_sidechain: Scalar<'a>,
    /// Claude Code wrote it itself: feedback of a hook, a reminder.
    #[serde(borrow, default)]
    pub is_meta: Scalar<'a>,
    /// The summary that follows a compaction, which nobody typed.
    #[serde(borrow, default)]
    pub is_compact_summary: Scalar<'a>,
    #[serde(borrow, default)]
    pub is_api_error_message: Scalar<'a>,
    /// What a line of the system says.
    #[serde(borrow, default)]
    pub content: Scalar<'a>,
    /// Beside the result of a tool that was not used: who or what was against it.
    #[serde(borrow, default)]
    pub tool_denial_kind: Scalar<'a>,
    /// Beside the result of a tool: how it was permitted or not.
    #[serde(borrow, default)]
    pub permission_decision: Option<&'a RawValue>,
    /// What a session cost until then, by Claude Code's own prices.
    #[serde(rename = "totalCostUSD", borrow, default)]
    pub total_cost: Scalar<'a>,
    #[serde(borrow, default)]
    pub message: Option<Message<'a>>,
    #[serde(borrow, default)]
    pub attachment: Option<Attachment<'a>>,
    /// A message before it could not be read, or not all of it.
    #[serde(skip)]
    pub follows_gap: bool,
    /// Its number in its file, where that is known.
    #[serde(skip)]
    pub line: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    /// The same on all lines of one answer, of which each has one block.
    #[serde(borrow, default)]
    pub id: Scalar<'a>,
    #[serde(borrow, default)]
    pub model: Scalar<'a>,
    #[serde(borrow, default)]
    pub content: Content<'a>,
    /// `end_turn` where the main thread or an agent stops.
    #[serde(borrow, default)]
    pub stop_reason: Scalar<'a>,
    /// The tokens, which few ask for.
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_creation: Option<CacheCreation>,
}

/// What was written to the cache, by how long it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CacheCreation {
    pub ephemeral_1h_input_tokens: u64,
}

/// What became of a hook.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Scalar<'a>,
    #[serde(borrow, default)]
    pub hook_name: Scalar<'a>,
    #[serde(borrow, default)]
    pub hook_event: Scalar<'a>,
    #[serde(rename = "toolUseID", borrow, default)]
    pub tool_use_id: Scalar<'a>,
    #[serde(borrow, default)]
    pub command: Scalar<'a>,
    #[serde(borrow, default)]
    pub stderr: Scalar<'a>,
    #[serde(borrow, default)]
    pub exit_code: Scalar<'a>,
    #[serde(borrow, default)]
    pub duration_ms: Scalar<'a>,
    #[serde(borrow, default)]
    pub timed_out: Scalar<'a>,
    /// Where a hook blocked: its command, and what it answered.
    #[serde(borrow, default)]
    pub blocking_error: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    pub fn read(line: &'a [u8]) -> Line<'a> {
        let head = head::scan(line);
        match (head.kind, head.attachment) {
            (Some(kind), _) if is_in(&kinds::IGNORED, kind) => return Line::Ignored,
            (Some(kind), _) if !is_in(&kinds::READ, kind) => {
                return if is_json(line) { Line::of_unknown(kind) } else { Line::Malformed };
            }
            (_, Some(attachment)) if is_in(&kinds::ATTACHMENTS, attachment) => return Line::Ignored,
            _ => {}
        }
        match serde_json::from_slice::<Entry<'a>>(line) {
            Ok(entry) => Line::of(entry),
            Err(_) if is_json(line) => Line::OtherForm,
            Err(_) => Line::Malformed,
        }
    }

    fn of(entry: Entry<'a>) -> Line<'a> {
        match entry.kind.text() {
            Some(kind) if is_in(&kinds::IGNORED, kind) => Line::Ignored,
            Some(kind) if is_in(&kinds::READ, kind) => Line::Entry(Box::new(entry)),
            Some(kind) => Line::of_unknown(kind),
            None => Line::OtherForm,
        }
    }

    fn of_unknown(kind: &str) -> Line<'a> {
        Line::Unknown(unknown("of a kind", Some(kind)))
    }
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

impl Message<'_> {
    /// The tokens of an answer. None where there are none; an error where they are in a form that this version does not know.
    ///
    /// # Errors
    /// When it is no usage.
    pub fn usage(&self) -> Result<Option<Usage>, serde_json::Error> {
        self.usage.map(|raw| serde_json::from_str(raw.get())).transpose()
    }
}

impl<'a> Entry<'a> {
    pub fn is(&self, kind: &str) -> bool {
        self.kind.text() == Some(kind)
    }

    pub fn is_message(&self) -> bool {
        self.is("user") || self.is("assistant")
    }

    pub fn blocks(&self) -> &[Block<'a>] {
        match self.message.as_ref().map(|message| &message.content) {
            Some(Content::Blocks(blocks)) => blocks,
            _ => &[],
        }
    }

    /// What the user typed, or what a subagent was given as its task.
    pub fn prompt(&self) -> Option<Cow<'_, str>> {
        if !self.is("user") || self.is_meta.is_true() || self.is_compact_summary.is_true() {
            return None;
        }
        match &self.message.as_ref()?.content {
            Content::Text(text) => Some(Cow::Borrowed(text)),
            // A line with the result of a tool is none of the user's, whatever texts are beside it.
            Content::Blocks(blocks) if blocks.iter().all(|block| block.tool_use_id.text().is_none()) => {
                let texts: Vec<Cow<'_, str>> = blocks.iter().filter_map(Block::text).collect();
                (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
            }
            _ => None,
        }
    }

    /// The calls of tools: id, name, input. One that lacks any of these is none.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str, &'a RawValue)> {
        let blocks = if self.is("assistant") { self.blocks() } else { &[] };
        blocks.iter().filter_map(Block::call)
    }

    pub fn results(&self) -> impl Iterator<Item = &Block<'a>> {
        let is_result = |block: &&Block<'a>| block.kind.text() == Some("tool_result");
        self.blocks().iter().filter(is_result)
    }
}

#[cfg(test)]
mod tests;
