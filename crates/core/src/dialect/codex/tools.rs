//! The tools of Codex.

use crate::dialect::tool::Tool;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(&["Bash"], "Bash", &[]),
    // The patch is where a command is elsewhere.
    Tool::new(&["apply_patch"], "Edit", &[("command", "patch")]),
    Tool::new(&["view_image"], "Read", &[("path", "file_path")]),
    Tool::new(
        &["collaborationspawn_agent"],
        "Agent",
        &[("message", "prompt"), ("agent_type", "subagent_type"), ("task_name", "name")],
    ),
];
