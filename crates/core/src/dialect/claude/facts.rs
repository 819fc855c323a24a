//! Small facts about Claude Code: limits, environment variables, permission modes, names, sessions.

/// Limits and versions of Claude Code, from which others are derived.
pub mod limits {
    use std::time::Duration;

    /// Longer strings of an answer are cut; counted in UTF-16 units.
    pub const MAX_ANSWER: usize = 10_000;

    /// No line of a transcript is longer.
    pub const MAX_TRANSCRIPT_LINE_BYTES: u64 = 32 << 20;

    /// Claude Code kills a hook this long after it has asked it to stop.
    pub const KILLED_AFTER: Duration = Duration::from_millis(1_400);

    /// The version in which all of this was observed.
    pub const TESTED_VERSION: &str = "2.1.325";

    /// Since then the tool that starts agents is called `Agent`.
    pub const OLDEST_VERSION: [u64; 3] = [2, 1, 63];
}

/// Environment variables that Claude Code sets for hooks and shells, or that its users set for it.
pub mod variables {
    /// The folder in which the session was started.
    pub const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

    /// The folder with the user's settings, agents and transcripts, instead of `.claude` in the home folder.
    pub const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

    /// The folder for temporary files.
    pub const TMPDIR: &str = "CLAUDE_CODE_TMPDIR";

    /// The session that started this shell.
    pub const SESSION_ID: &str = "CLAUDE_CODE_SESSION_ID";

    /// At least one of these is set in the shells of Claude Code and of other agents, and none in a user's terminal.
    pub const OF_AGENTS: [&str; 12] = [
        "CLAUDECODE",
        SESSION_ID,
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_PID",
        "AI_AGENT",
        "COPILOT_CLI",
        "QWEN_CODE_SESSION_ID",
        "GEMINI_SESSION_ID",
        "CODEX_SANDBOX",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "QWEN_CODE",
    ];
}

/// The permission modes of Claude Code.
pub mod modes {
    /// Modes in which Claude Code does not ask the user.
    const NOBODY_ASKED: [&str; 2] = ["dontAsk", "bypassPermissions"];

    /// Whether the user can be asked in this mode.
    #[must_use]
    pub fn can_ask(mode: Option<&str>) -> bool {
        mode.is_none_or(|mode| !NOBODY_ASKED.contains(&mode))
    }

    /// Whether an agent in this mode may change files.
    #[must_use]
    pub fn may_write(mode: &str) -> bool {
        mode != "plan"
    }
}

/// Names of Claude Code itself.
pub mod names {
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
}

/// The starts of a session of Claude Code.
pub mod session {
    /// Whether a SessionStart with this `source` continues a session after compacting or clearing.
    pub fn goes_on(source: &str) -> bool {
        matches!(source, "compact" | "clear")
    }
}
