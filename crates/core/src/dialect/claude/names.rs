//! Names that Claude Code itself has.

/// The types of its own agents.
pub const AGENTS: [&str; 7] = [
    "general-purpose",
    "Explore",
    "Plan",
    "claude",
    "statusline-setup",
    "output-style-setup",
    "claude-code-guide",
];
