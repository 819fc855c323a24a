//! Environment variables that Claude Code sets for hooks and shells, or that its users set for it.

/// The folder in which the session was started.
pub const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

/// Where the user's settings, agents and transcripts are, instead of `.claude` in the home folder.
pub const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// Where it makes temporary files.
pub const TMPDIR: &str = "CLAUDE_CODE_TMPDIR";

/// The session whose shell this is.
pub const SESSION_ID: &str = "CLAUDE_CODE_SESSION_ID";
