//! The fields of a line, read from its JSON. A field of an unexpected type counts as absent: another version may have changed
//! it. If a field is there twice, the last one counts, as in Claude Code.

use std::borrow::Cow;

use super::kinds::AGENT_PROGRESS;
use crate::json::{JsonError, JsonScanner, text};

/// A line that tells what happened. Fields of an unexpected type count as absent.
#[derive(Debug, Default)]
pub struct TranscriptEntry<'a> {
    pub kind: Scalar<'a>,
    pub subtype: Scalar<'a>,
    pub timestamp: Scalar<'a>,
    pub session_id: Scalar<'a>,
    pub agent_id: Scalar<'a>,
    pub cwd: Scalar<'a>,
    pub version: Scalar<'a>,
    pub permission_mode: Scalar<'a>,
    pub prompt_id: Scalar<'a>,
    /// Whether the line belongs to a subagent. Older versions wrote such lines into the transcript of the main thread.
    pub is_sidechain: Scalar<'a>,
    /// Whether Claude Code itself wrote it: feedback of a hook, a reminder.
    pub is_meta: Scalar<'a>,
    /// Whether it is the summary after a compaction, which nobody typed.
    pub is_compact_summary: Scalar<'a>,
    pub is_api_error_message: Scalar<'a>,
    /// The text of a system line.
    pub content: Scalar<'a>,
    /// Next to the result of a tool that was not used: who or what prevented it.
    pub tool_denial_kind: Scalar<'a>,
    /// Next to the result of a tool: how it was permitted or refused.
    pub permission_decision: Option<&'a str>,
    /// The cost of a session so far, by Claude Code's own prices.
    pub total_cost: Scalar<'a>,
    /// The subject of a session, on a separate line.
    pub summary: Scalar<'a>,
    pub message: Option<TranscriptMessage<'a>>,
    pub attachment: Option<Attachment<'a>>,
    pub progress: Option<AgentProgress<'a>>,
    /// Next to the result of a tool: the tool's message to Claude Code.
    pub tool_use_result: Option<&'a str>,
    pub git_branch: Scalar<'a>,
    /// For a line of progress: the call that it belongs to.
    parent_call: Scalar<'a>,
    /// Whether an earlier message could not be read completely.
    pub follows_gap: bool,
    /// Its number in its file, if known.
    pub line: Option<u64>,
}

#[derive(Debug, Default)]
pub struct TranscriptMessage<'a> {
    /// The same on all lines of one answer. Each line contains one block.
    pub id: Scalar<'a>,
    pub model: Scalar<'a>,
    pub content: MessageContent<'a>,
    /// `end_turn` if the main thread or an agent stops.
    pub stop_reason: Scalar<'a>,
    /// The tokens, which few callers need.
    pub usage: Option<&'a str>,
}

/// A message of an agent in the transcript of its caller.
#[derive(Debug)]
pub struct AgentProgress<'a> {
    /// The call that started the agent.
    pub call: Scalar<'a>,
    /// The message as a line of the agent's own transcript, with the agent's id.
    pub line: Box<TranscriptEntry<'a>>,
}

/// The result of a hook, or a prompt that arrived while Claude was working.
#[derive(Debug, Default)]
pub struct Attachment<'a> {
    pub kind: Scalar<'a>,
    pub hook_name: Scalar<'a>,
    pub hook_event: Scalar<'a>,
    pub tool_use_id: Scalar<'a>,
    pub command: Scalar<'a>,
    pub stderr: Scalar<'a>,
    pub exit_code: Scalar<'a>,
    pub duration_ms: Scalar<'a>,
    pub timed_out: Scalar<'a>,
    /// If a hook blocked: its command, and its answer.
    pub blocking_error: Option<&'a str>,
    pub is_meta: Scalar<'a>,
    /// For a queued prompt: how it was entered, its text or blocks, and its sender.
    pub(super) mode: Scalar<'a>,
    pub(super) prompt: Option<&'a str>,
    pub(super) origin: Option<&'a str>,
}

impl<'a> TranscriptEntry<'a> {
    pub(super) fn read(line: &'a str) -> Result<Box<TranscriptEntry<'a>>, JsonError> {
        // The entry is large, so it is filled in place instead of being moved.
        let mut entry = Box::<TranscriptEntry<'a>>::default();
        let mut scan = JsonScanner::of(line);
        scan.object(|name, scan| entry.set(name, scan))?;
        scan.finish()?;
        entry.complete_progress();
        Ok(entry)
    }

    /// Gives the message of an agent the fields of the line that contains it.
    fn complete_progress(&mut self) {
        let Some(progress) = &mut self.progress else { return };
        progress.call = std::mem::take(&mut self.parent_call);
        let line = &mut progress.line;
        if line.timestamp == Scalar::Other {
            line.timestamp.clone_from(&self.timestamp);
        }
        line.git_branch.clone_from(&self.git_branch);
        line.cwd.clone_from(&self.cwd);
    }

    fn set(&mut self, name: &str, scan: &mut JsonScanner<'a>) -> Result<(), JsonError> {
        let scalar = match name {
            "type" => &mut self.kind,
            "subtype" => &mut self.subtype,
            "timestamp" => &mut self.timestamp,
            "sessionId" => &mut self.session_id,
            "agentId" => &mut self.agent_id,
            "cwd" => &mut self.cwd,
            "version" => &mut self.version,
            "permissionMode" => &mut self.permission_mode,
            "promptId" => &mut self.prompt_id,
            "isSidechain" => &mut self.is_sidechain,
            "isMeta" => &mut self.is_meta,
            "isCompactSummary" => &mut self.is_compact_summary,
            "isApiErrorMessage" => &mut self.is_api_error_message,
            "content" => &mut self.content,
            "toolDenialKind" => &mut self.tool_denial_kind,
            "summary" => &mut self.summary,
            "totalCostUSD" => &mut self.total_cost,
            "gitBranch" => &mut self.git_branch,
            "parentToolUseID" => &mut self.parent_call,
            "data" => {
                self.progress = AgentProgress::read(scan)?;
                return Ok(());
            }
            "toolUseResult" => {
                self.tool_use_result = scan.present()?;
                return Ok(());
            }
            "message" => {
                self.message = if scan.is_null()? { None } else { Some(TranscriptMessage::read(scan)?) };
                return Ok(());
            }
            "attachment" => {
                self.attachment = if scan.is_null()? { None } else { Some(Attachment::read(scan)?) };
                return Ok(());
            }
            "permissionDecision" => {
                self.permission_decision = scan.present()?;
                return Ok(());
            }
            _ => return scan.value().map(drop),
        };
        *scalar = Scalar::of(scan.value()?);
        Ok(())
    }
}

impl<'a> AgentProgress<'a> {
    /// `None` if the progress is not that of an agent.
    fn read(scan: &mut JsonScanner<'a>) -> Result<Option<AgentProgress<'a>>, JsonError> {
        if scan.first() != Some(b'{') {
            return scan.value().map(|_| None);
        }
        let (mut kind, mut agent_id) = (Scalar::Other, Scalar::Other);
        let mut line = Box::<TranscriptEntry<'a>>::default();
        scan.object(|name, scan| {
            match name {
                "type" => kind = Scalar::of(scan.value()?),
                "agentId" => agent_id = Scalar::of(scan.value()?),
                "message" if scan.first() == Some(b'{') => scan.object(|name, scan| match name {
                    // Messages inside messages would be read recursively, and the text is untrusted.
                    "data" => scan.value().map(drop),
                    _ => line.set(name, scan),
                })?,
                _ => drop(scan.value()?),
            }
            Ok(())
        })?;
        line.agent_id = agent_id;
        let is_of_agent = kind.text() == Some(AGENT_PROGRESS) && line.agent_id.text().is_some();
        Ok(if is_of_agent { Some(AgentProgress { call: Scalar::Other, line }) } else { None })
    }
}

impl<'a> TranscriptMessage<'a> {
    fn read(scan: &mut JsonScanner<'a>) -> Result<TranscriptMessage<'a>, JsonError> {
        let mut message = TranscriptMessage::default();
        scan.object(|name, scan| {
            match name {
                "id" => message.id = Scalar::of(scan.value()?),
                "model" => message.model = Scalar::of(scan.value()?),
                "content" => message.content = MessageContent::read(scan)?,
                "stop_reason" => message.stop_reason = Scalar::of(scan.value()?),
                "usage" => message.usage = scan.present()?,
                _ => drop(scan.value()?),
            }
            Ok(())
        })?;
        Ok(message)
    }
}

impl<'a> Attachment<'a> {
    fn read(scan: &mut JsonScanner<'a>) -> Result<Attachment<'a>, JsonError> {
        let mut attachment = Attachment::default();
        scan.object(|name, scan| {
            let value = scan.present()?;
            let scalar = match name {
                "type" => &mut attachment.kind,
                "hookName" => &mut attachment.hook_name,
                "hookEvent" => &mut attachment.hook_event,
                "toolUseID" => &mut attachment.tool_use_id,
                "command" => &mut attachment.command,
                "stderr" => &mut attachment.stderr,
                "exitCode" => &mut attachment.exit_code,
                "durationMs" => &mut attachment.duration_ms,
                "timedOut" => &mut attachment.timed_out,
                "isMeta" => &mut attachment.is_meta,
                "commandMode" => &mut attachment.mode,
                _ => {
                    let whole = match name {
                        "blockingError" => &mut attachment.blocking_error,
                        "prompt" => &mut attachment.prompt,
                        "origin" => &mut attachment.origin,
                        _ => return Ok(()),
                    };
                    *whole = value;
                    return Ok(());
                }
            };
            *scalar = value.map(Scalar::of).unwrap_or_default();
            Ok(())
        })?;
        Ok(attachment)
    }
}

/// A text, a number, a flag, or anything else.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scalar<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Flag(bool),
    #[default]
    Other,
}

impl<'a> Scalar<'a> {
    pub(super) fn of(value: &'a str) -> Scalar<'a> {
        match value.as_bytes().first() {
            Some(b'"') => text(value).map_or(Scalar::Other, Scalar::Text),
            Some(b'-' | b'0'..=b'9') => value.parse().map_or(Scalar::Other, Scalar::Number),
            _ => value.parse().map_or(Scalar::Other, Scalar::Flag),
        }
    }
}

impl Scalar<'_> {
    pub fn text(&self) -> Option<&str> {
        match self {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn is_true(&self) -> bool {
        *self == Scalar::Flag(true)
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Scalar::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// The content of a message: a text, or blocks.
#[derive(Debug, Default)]
pub enum MessageContent<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<MessageBlock<'a>>),
    #[default]
    Other,
}

impl<'a> MessageContent<'a> {
    pub(super) fn read(scan: &mut JsonScanner<'a>) -> Result<MessageContent<'a>, JsonError> {
        if scan.first() != Some(b'[') {
            return Ok(text(scan.value()?).map_or(MessageContent::Other, MessageContent::Text));
        }
        let mut blocks = Vec::new();
        scan.list(|scan| {
            blocks.push(MessageBlock::read(scan)?);
            Ok(())
        })?;
        Ok(MessageContent::Blocks(blocks))
    }
}

/// A block of a message: a text, a call of a tool, or its result.
#[derive(Debug, Default)]
pub struct MessageBlock<'a> {
    pub kind: Scalar<'a>,
    /// Not decoded: most texts are answers that nobody needs.
    text: Option<&'a str>,
    pub id: Scalar<'a>,
    pub name: Scalar<'a>,
    pub input: Option<&'a str>,
    pub tool_use_id: Scalar<'a>,
    pub is_error: Scalar<'a>,
    /// The answer of a tool: a text, or blocks with texts.
    pub content: Option<&'a str>,
}

impl<'a> MessageBlock<'a> {
    fn read(scan: &mut JsonScanner<'a>) -> Result<MessageBlock<'a>, JsonError> {
        let mut block = MessageBlock::default();
        scan.object(|name, scan| {
            let value = scan.value()?;
            match name {
                "type" => block.kind = Scalar::of(value),
                "text" => block.text = Some(value),
                "id" => block.id = Scalar::of(value),
                "name" => block.name = Scalar::of(value),
                "input" => block.input = if value == "null" { None } else { Some(value) },
                "tool_use_id" => block.tool_use_id = Scalar::of(value),
                "is_error" => block.is_error = Scalar::of(value),
                "content" => block.content = if value == "null" { None } else { Some(value) },
                _ => {}
            }
            Ok(())
        })?;
        Ok(block)
    }

    pub fn text(&self) -> Option<Cow<'a, str>> {
        self.text.and_then(text)
    }

    /// The start of a tool's answer, if it is a text.
    pub fn answer(&self, max: usize) -> Option<String> {
        let text = match MessageContent::read(&mut JsonScanner::of(self.content?)).ok()? {
            MessageContent::Text(text) => text,
            MessageContent::Blocks(blocks) => blocks.iter().find_map(MessageBlock::text)?,
            MessageContent::Other => return None,
        };
        Some(text.chars().take(max).collect())
    }

    /// Whether a hook prevented the use of the tool. Claude Code says so in the result for the model.
    pub fn is_denied_by_hook(&self) -> bool {
        const START: &str = "PreToolUse:";
        self.is_error.is_true()
            && self.content.is_some_and(|value| value.contains(START))
            && self.answer(400).is_some_and(|text| text.starts_with(START) && text.contains(" hook "))
    }
}
