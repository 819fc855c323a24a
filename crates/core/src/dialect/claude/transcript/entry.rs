//! What a line says, read from its JSON. Of a field that is there twice the last counts, as for Claude Code.

use serde::Deserialize;

use super::scalar::{MessageContent, Scalar};
use crate::json::{JsonError, JsonScanner};

/// A line that says what happened. Fields of another type than expected are as good as absent.
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
    /// It is of a subagent. Older versions wrote such lines into the transcript of the main thread.
    pub is_sidechain: Scalar<'a>,
    /// Claude Code wrote it itself: feedback of a hook, a reminder.
    pub is_meta: Scalar<'a>,
    /// The summary that follows a compaction, which nobody typed.
    pub is_compact_summary: Scalar<'a>,
    pub is_api_error_message: Scalar<'a>,
    /// What a line of the system says.
    pub content: Scalar<'a>,
    /// Beside the result of a tool that was not used: who or what was against it.
    pub tool_denial_kind: Scalar<'a>,
    /// Beside the result of a tool: how it was permitted or not.
    pub permission_decision: Option<&'a str>,
    /// What a session cost until then, by Claude Code's own prices.
    pub total_cost: Scalar<'a>,
    pub message: Option<TranscriptMessage<'a>>,
    pub attachment: Option<Attachment<'a>>,
    /// A message before it could not be read, or not all of it.
    pub follows_gap: bool,
    /// Its number in its file, where that is known.
    pub line: Option<u64>,
}

#[derive(Debug, Default)]
pub struct TranscriptMessage<'a> {
    /// The same on all lines of one answer, of which each has one block.
    pub id: Scalar<'a>,
    pub model: Scalar<'a>,
    pub content: MessageContent<'a>,
    /// `end_turn` where the main thread or an agent stops.
    pub stop_reason: Scalar<'a>,
    /// The tokens, which few ask for.
    pub usage: Option<&'a str>,
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

/// What became of a hook, or a prompt that came while Claude worked.
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
    /// Where a hook blocked: its command, and what it answered.
    pub blocking_error: Option<&'a str>,
    pub is_meta: Scalar<'a>,
    /// Of a queued prompt: how it was entered, its text or blocks, and who sent it.
    pub(super) mode: Scalar<'a>,
    pub(super) prompt: Option<&'a str>,
    pub(super) origin: Option<&'a str>,
}

impl TranscriptMessage<'_> {
    /// The tokens of an answer. None where there are none; an error where they are in a form that this version does not know.
    ///
    /// # Errors
    /// When it is no usage.
    pub fn usage(&self) -> Result<Option<Usage>, serde_json::Error> {
        self.usage.map(serde_json::from_str).transpose()
    }
}

impl<'a> TranscriptEntry<'a> {
    pub(super) fn read(line: &'a str) -> Result<Box<TranscriptEntry<'a>>, JsonError> {
        // It is large, and so not moved when it is filled.
        let mut entry = Box::<TranscriptEntry<'a>>::default();
        let mut scan = JsonScanner::of(line);
        scan.object(|name, scan| entry.set(name, scan))?;
        scan.finish().map(|()| entry)
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
            "totalCostUSD" => &mut self.total_cost,
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
