//! The tools of Copilot. Events in PascalCase have Claude Code's names for them, others its own. The fields are its own in both.

use crate::dialect::tool::Tool;

pub(super) const TOOLS: &[Tool] = &[
    Tool::new(&["Bash", "bash"], "Bash", &[]),
    Tool::new(&["Write", "create"], "Write", &[("path", "file_path"), ("file_text", "content")]),
    // With some models the input is a patch.
    Tool::new(
        &["Edit", "edit", "apply_patch"],
        "Edit",
        &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string"), ("input", "patch")],
    ),
    Tool::new(&["Read", "view"], "Read", &[("path", "file_path")]),
    Tool::new(&["Grep", "grep", "rg"], "Grep", &[]),
    Tool::new(&["Glob", "glob"], "Glob", &[]),
    Tool::new(&["Agent", "task"], "Agent", &[("agent_type", "subagent_type")]),
];
