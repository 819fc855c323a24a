//! Names that Claude Code itself has.

/// The types of its own agents.
pub(crate) const AGENTS: [&str; 7] = [
    "general-purpose",
    "Explore",
    "Plan",
    "claude",
    "statusline-setup",
    "output-style-setup",
    "claude-code-guide",
];

/// The tools that guards and patterns are usually about.
pub(crate) const TOOLS: [&str; 15] = [
    "Agent",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "Skill",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];
