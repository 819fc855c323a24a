//! What there is in transcripts: kinds of lines, of lines of the system, of attachments and of blocks. Whatever is not in these
//! tables is of a version that this one does not know, and is counted as such. Each table is sorted.

use std::borrow::Cow;

/// Kinds of lines that are known and say nothing of what happened.
pub(super) const IGNORED: [&str; 28] = [
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
    "progress",
    "queue-operation",
    "relocated",
    "repl-mode",
    "resume-head-vouch",
    "summary",
    "tag",
    "tools-used",
    "worktree-state",
];

/// Kinds of lines that are read.
pub(super) const READ: [&str; 5] = ["assistant", "attachment", "cost-state", "system", "user"];

/// Subtypes of lines of the system.
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

/// The attachment of a prompt that came while Claude worked: no line of kind `user` has it.
pub(super) const QUEUED: &str = "queued_command";

/// Attachments that say what became of a hook; these and `QUEUED` alone are read.
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

/// Attachments that are known and say nothing of what happened.
pub(super) const ATTACHMENTS: [&str; 97] = [
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
