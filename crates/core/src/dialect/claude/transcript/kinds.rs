//! The kinds of lines, system lines, attachments and blocks in transcripts. A kind that is not in these sorted tables is unknown
//! to this version. It is counted, and nothing is concluded from it.

use std::borrow::Cow;

use super::{BlockCall, MessageBlock, MessageContent, TranscriptEntry};

/// Known kinds of lines without information about what happened.
pub(super) const IGNORED: [&str; 26] = [
    "agent-color",
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "artifact-autoreact-ledger",
    "atis-latch",
    "bridge-session",
    "content-replacement",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "frame-link",
    "history-suppression",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "queue-operation",
    "relocated",
    "repl-mode",
    "resume-head-vouch",
    "tag",
    "tools-used",
    "worktree-state",
];

/// Kinds of lines that are read.
pub(super) const READ: [&str; 7] =
    ["assistant", "attachment", "cost-state", PROGRESS, "summary", "system", "user"];

/// The progress of a tool or an agent. Only lines of agents are read: some versions stored an agent's messages nowhere else.
pub(super) const PROGRESS: &str = "progress";
pub(super) const AGENT_PROGRESS: &str = "agent_progress";

/// Subtypes of system lines.
pub(super) const SYSTEM: [&str; 47] = [
    "account_memory_saved",
    "agents_killed",
    "api_error",
    "api_retry",
    "away_summary",
    "bridge_status",
    "cloud_session_status",
    "code_change_published",
    "compact_boundary",
    "feedback_draft_queued",
    "file_attachments_missing",
    "file_snapshot",
    "hook_progress",
    "hook_response",
    "hook_started",
    "informational",
    "init",
    "instruction_size_warning",
    "local_command",
    "local_command_output",
    "memory_recall",
    "memory_saved",
    "microcompact_boundary",
    "model_consent_fallback",
    "model_fallback",
    "model_refusal_fallback",
    "model_refusal_no_fallback",
    "notification",
    "peer_message_hold",
    "per_turn_effort_changed",
    "permission_denied",
    "permission_retry",
    "post_turn_summary",
    "read_divider",
    "rewind_stand_in",
    "scheduled_task_fire",
    "session_metadata",
    "session_writes_lost",
    "status",
    "stop_hook_summary",
    "task_notification",
    "task_progress",
    "task_started",
    "task_summary",
    "task_updated",
    "thinking",
    "turn_duration",
];

/// The attachment with a prompt that arrived while Claude was working: no line of kind `user` has it.
pub(super) const QUEUED: &str = "queued_command";

/// Attachments with the result of a hook. Only these and `QUEUED` are read.
pub(super) const HOOKS: [&str; 10] = [
    "hook_additional_context",
    "hook_blocking_error",
    "hook_cancelled",
    "hook_deferred_tool",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_stopped_continuation",
    "hook_success",
    "hook_system_message",
];

/// Known attachments without information about what happened.
pub(super) const ATTACHMENTS: [&str; 98] = [
    "account_memory_recall",
    "advisor_stripped",
    "advisor_tool",
    "agent_listing_delta",
    "agent_mention",
    "already_read_file",
    "artifact_opening_prefetch",
    "async_hook_response",
    "async_hook_response_batch",
    "at_mention_reference",
    "attention_budget",
    "auto_mode",
    "auto_mode_exit",
    "batching_reminder",
    "batching_reminder_sent",
    "claude_app_notice",
    "command_permissions",
    "compact_file_reference",
    "context_efficiency",
    "context_sections",
    "coordinator_context",
    "cowork_memory_context",
    "critical_system_reminder",
    "date",
    "date_change",
    "deferred_tools_delta",
    "deferred_tools_record",
    "diagnostics",
    "dir_sync_notice",
    "directory",
    "document",
    "dynamic_skill",
    "edited_text_file",
    "environment",
    "file",
    "fork_briefing",
    "goal_status",
    "image",
    "inlined_image_paths",
    "instruction_files_not_loaded",
    "instructions",
    "invoked_skills",
    "language",
    "max_turns_reached",
    "mcp_instructions_delta",
    "mcp_resource",
    "message_pdf_reads",
    "model",
    "nested_memory",
    "notebook",
    "output_limit_note",
    "output_style",
    "output_style_instructions",
    "pdf",
    "pdf_reference",
    "peer_mention",
    "plan_file_reference",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "poll_events",
    "project_doc_reads",
    "projects_thread_ask",
    "prompt_render_point",
    "prompt_snapshot",
    "read_truncation_notice",
    "relevant_memories",
    "remote_session_change",
    "repl_mcp_needs_auth",
    "sandbox_instructions",
    "secondary_reminder",
    "secondary_reminder_sent",
    "selected_lines_in_diff",
    "selected_lines_in_ide",
    "session_context",
    "session_cron_carry",
    "silent_turn_reminder",
    "skill_listing",
    "structured_output",
    "task_reminder",
    "task_status",
    "team_context",
    "teammate_mailbox",
    "teammate_shutdown_batch",
    "text",
    "thinking_stripped",
    "todo",
    "todo_reminder",
    "token_usage",
    "tool_host_result_lines",
    "tool_hosts_correction",
    "tool_hosts_notice",
    "tool_search_usage_reminder",
    "total_tokens_reminder",
    "ultra_effort_enter",
    "ultra_effort_exit",
    "withheld_memory",
    "workflow_size_guideline_change",
];

/// Blocks of messages. Tools of the server are used without a hook.
pub(super) const BLOCKS: [&str; 24] = [
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "compaction",
    "connector_text",
    "container_upload",
    "document",
    "fallback",
    "image",
    "mcp_tool_result",
    "mcp_tool_use",
    "redacted_thinking",
    "search_result",
    "server_tool_use",
    "text",
    "text_editor_code_execution_tool_result",
    "thinking",
    "tool_reference",
    "tool_result",
    "tool_search_tool_result",
    "tool_use",
    "web_fetch_tool_result",
    "web_search_result",
    "web_search_tool_result",
];

pub(super) fn is_in(table: &[&str], kind: &str) -> bool {
    table.binary_search(&kind).is_ok()
}

/// In words that follow "a line".
pub(super) fn unknown(what: &str, kind: Option<&str>) -> Cow<'static, str> {
    match kind {
        Some(kind) => format!("{what} that this version does not know: {kind}").into(),
        None => format!("{what} that does not say what it is").into(),
    }
}

/// The first fields of a line. Claude Code writes a few short fields first, so the rest need not be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head<'a> {
    pub(super) kind: Option<&'a str>,
    pub(super) attachment: Option<&'a str>,
}

/// The kind of a line comes within this number of fields.
const MAX_FIELDS: usize = 8;

/// Reads plain fields only. Everything else is left to a real parser.
pub(super) fn scan(line: &[u8]) -> Head<'_> {
    let mut head = Head::default();
    let mut rest = line;
    for number in 0..MAX_FIELDS {
        let Some((name, value)) = field(rest, if number == 0 { b'{' } else { b',' }) else { return head };
        match name {
            "type" => {
                head.kind = string(value).map(|(kind, _)| kind);
                return head;
            }
            "attachment" => {
                let kind = field(value, b'{').filter(|(name, _)| *name == "type");
                head.attachment = kind.and_then(|(_, value)| string(value)).map(|(kind, _)| kind);
                return head;
            }
            _ => match after_scalar(value) {
                Some(after) => rest = after,
                None => return head,
            },
        }
    }
    head
}

/// The name of a field after this character, and the text after its colon.
fn field(text: &[u8], before: u8) -> Option<(&str, &[u8])> {
    let (name, rest) = string(text.strip_prefix(&[before])?)?;
    Some((name, rest.strip_prefix(b":")?))
}

/// A string without escapes, and the text after it.
fn string(text: &[u8]) -> Option<(&str, &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', text)?;
    let (content, rest) = text.split_at_checked(end)?;
    Some((std::str::from_utf8(content).ok()?, rest.strip_prefix(b"\"")?))
}

/// The text after a string, a word or a number.
fn after_scalar(text: &[u8]) -> Option<&[u8]> {
    if let Some((_, rest)) = string(text) {
        return Some(rest);
    }
    let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
    text.get(end..).filter(|rest| end > 0 && rest.starts_with(b","))
}

impl<'a> TranscriptEntry<'a> {
    /// Reports everything that is not understood, in words that follow "a line".
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
                if !subtype.is_some_and(|subtype| is_in(&SYSTEM, subtype)) {
                    note(unknown("of kind `system` with a subtype", subtype));
                }
            }
            Some("attachment") => {
                let kind = self.attachment.as_ref().and_then(|attachment| attachment.kind.text());
                let is_known = |kind| kind == QUEUED || is_in(&HOOKS, kind) || is_in(&ATTACHMENTS, kind);
                if !kind.is_some_and(is_known) {
                    note(unknown("with an attachment", kind));
                }
            }
            _ => {}
        }
    }

    /// Whether this line calls a tool, or may do so in a part that was not understood.
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
        !self.kind.text().is_some_and(|kind| is_in(&BLOCKS, kind))
    }

    /// The call of a tool; `None` if it lacks an id, a name or an input.
    pub(super) fn call(&self) -> Option<BlockCall<'_, 'a>> {
        if !self.is_call() {
            return None;
        }
        Some(BlockCall { id: self.id.text()?, name: self.name.text()?, input: self.input? })
    }

    fn unread(&self) -> Option<Cow<'static, str>> {
        match self.kind.text() {
            Some("tool_use") if self.call().is_none() => {
                Some("with a `tool_use` without an id, a name and an input".into())
            }
            Some("tool_result") if self.tool_use_id.text().is_none() => {
                Some("with a `tool_result` without a `tool_use_id`".into())
            }
            kind if self.is_unknown() => Some(unknown("with a block", kind)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [&IGNORED[..], &READ, &SYSTEM, &HOOKS, &ATTACHMENTS, &BLOCKS] {
            assert!(table.is_sorted(), "{table:?}");
            assert!(table.iter().all(|kind| is_in(table, kind)));
        }
    }
}
