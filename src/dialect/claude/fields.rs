//! What the payloads of Claude Code hold that a command can use as a variable, event by event.

use crate::event::EventKind;

/// The fields that every payload has, and those that many have.
pub const COMMON: &[&str] =
    &["session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode"];

/// The fields of events that come from inside a subagent as well.
const AGENT: &[&str] = &["agent_id", "agent_type"];

/// The fields of the event that are text, a number or a flag, beside the common ones.
#[must_use]
pub fn own(event: EventKind) -> &'static [&'static str] {
    match event {
        EventKind::PreToolUse => &["tool_name", "tool_use_id"],
        EventKind::PostToolUse => &["tool_name", "tool_use_id", "duration_ms"],
        EventKind::PostToolUseFailure => {
            &["tool_name", "tool_use_id", "error", "is_interrupt", "duration_ms"]
        }
        EventKind::PermissionRequest => &["tool_name"],
        EventKind::PermissionDenied => &["tool_name", "tool_use_id", "reason"],
        EventKind::UserPromptSubmit => &["prompt"],
        EventKind::UserPromptExpansion => {
            &["expansion_type", "command_name", "command_args", "command_source", "prompt"]
        }
        EventKind::SessionStart => &["source", "model", "agent_type"],
        EventKind::SessionEnd => &["reason"],
        EventKind::Setup => &["trigger"],
        EventKind::SubagentStop => &["agent_transcript_path", "stop_hook_active", "last_assistant_message"],
        EventKind::Stop => &["stop_hook_active", "last_assistant_message"],
        EventKind::StopFailure => &["error", "error_details", "last_assistant_message"],
        EventKind::Notification => &["message", "title", "notification_type"],
        EventKind::PreCompact => &["trigger", "custom_instructions"],
        EventKind::PostCompact => &["trigger", "compact_summary"],
        EventKind::PreModelSwitch | EventKind::PostModelSwitch => &[
            "from_model",
            "to_model",
            "requested_model",
            "source",
            "context_tokens",
            "prompt_cache_warm",
            "cache_ttl",
            "estimated_cache_write_usd",
            "pricing",
        ],
        EventKind::TaskCreated | EventKind::TaskCompleted => {
            &["task_id", "task_subject", "task_description", "teammate_name", "team_name"]
        }
        EventKind::TeammateIdle => &["teammate_name", "team_name"],
        EventKind::Elicitation => &["mcp_server_name", "message", "mode", "url", "elicitation_id"],
        EventKind::ElicitationResult => &["mcp_server_name", "mode", "action", "elicitation_id"],
        EventKind::ConfigChange => &["source", "file_path"],
        EventKind::InstructionsLoaded => {
            &["file_path", "memory_type", "load_reason", "trigger_file_path", "parent_file_path"]
        }
        EventKind::CwdChanged => &["old_cwd", "new_cwd"],
        EventKind::FileChanged => &["file_path", "event"],
        EventKind::DirectoryAdded => &["directory", "source"],
        EventKind::WorktreeCreate => &["name"],
        EventKind::WorktreeRemove => &["worktree_path"],
        EventKind::MessageDisplay => &["turn_id", "message_id", "index", "final", "delta"],
        EventKind::SubagentStart | EventKind::PostToolBatch | EventKind::Future(_) => &[],
    }
}

/// Whether the event may come from inside a subagent.
#[must_use]
pub fn agent(event: EventKind) -> &'static [&'static str] {
    match event {
        EventKind::PreToolUse
        | EventKind::PostToolUse
        | EventKind::PostToolUseFailure
        | EventKind::PostToolBatch
        | EventKind::PermissionRequest
        | EventKind::PermissionDenied
        | EventKind::StopFailure
        | EventKind::TeammateIdle
        | EventKind::SubagentStart
        | EventKind::SubagentStop
        | EventKind::Future(_) => AGENT,
        _ => &[],
    }
}

/// The fields of a tool's input that name the file it works on.
pub const FILE_FIELDS: [&str; 2] = ["file_path", "notebook_path"];

/// The field of a tool's input with the shell command.
pub const COMMAND_FIELD: &str = "command";

/// Whether the event is about one tool.
#[must_use]
pub(crate) fn has_tool(event: EventKind) -> bool {
    own(event).contains(&"tool_name")
}

/// The values of the field that patterns of the event's section are compared with, and whether there are no others.
#[must_use]
pub(crate) fn values(event: EventKind) -> Option<(&'static [&'static str], bool)> {
    Some(match event {
        EventKind::SessionStart => (&["startup", "resume", "clear", "compact", "fork"], true),
        EventKind::SessionEnd => (&["clear", "resume", "logout", "prompt_input_exit", "other"], false),
        EventKind::Setup => (&["init", "maintenance"], true),
        EventKind::PreCompact | EventKind::PostCompact => (&["manual", "auto"], true),
        EventKind::ConfigChange => {
            (&["user_settings", "project_settings", "local_settings", "policy_settings", "skills"], false)
        }
        _ => return None,
    })
}
