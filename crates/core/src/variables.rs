//! The environment variables that conclaude itself reads. Those of commands are in `plan::environment`.

/// The variables that `conclaude --help` lists, with their meanings.
pub const OWN: [(&str, &str); 4] = [
    ("CONCLAUDE", "0, off or false: every event is switched off, and the session's start says so"),
    ("CONCLAUDE_LOG", "error, warn, info (default), debug or off: log lines on stderr"),
    ("CONCLAUDE_NOTIFY_WAIT_MS", "how long a desktop notification may take (default 100)"),
    ("CLAUDE_PROJECT_DIR", "the folder from which the config is searched upward; set by Claude Code"),
];

/// Variables of other programs.
pub const OTHERS: [(&str, &str); 26] = [
    ("ANTHROPIC_API_KEY", "the key for `des.judge`"),
    ("ANTHROPIC_BASE_URL", "where the judge of `des.judge` is asked"),
    (
        "CLAUDE_CONFIG_DIR",
        "where your own settings, agents and transcripts of Claude Code are; `~/.claude` by default",
    ),
    ("CLAUDE_CODE_MANAGED_SETTINGS_PATH", "where the managed settings of Claude Code are"),
    ("CLAUDE_CODE_REMOTE", "tells `doctor` that Claude Code runs in the cloud"),
    ("CLAUDE_CODE_ENVIRONMENT_KIND", "tells `doctor` where Claude Code runs"),
    ("CLAUDE_CODE_TMPDIR", "where Claude Code makes temporary files"),
    (
        "CLAUDE_CODE_SHELL_PREFIX",
        "only in `env` of a project's settings, where `doctor` reports it: it keeps every hook from running",
    ),
    (
        "CLAUDECODE, CLAUDE_CODE_SESSION_ID, CLAUDE_CODE_CHILD_SESSION, CLAUDE_PID, AI_AGENT",
        "set in shells of Claude Code: `conclaude allow` refuses to run there",
    ),
    (
        "COPILOT_CLI, QWEN_CODE, QWEN_CODE_SESSION_ID, GEMINI_CLI, GEMINI_SESSION_ID, CODEX_SANDBOX, CODEX_THREAD_ID",
        "the same for shells of other clients",
    ),
    ("CODEX_HOME", "where your own settings of Codex are"),
    ("COPILOT_HOME", "where your own settings of Copilot are"),
    ("GITHUB_WORKSPACE", "the checkout to which `validate --format github` makes paths relative"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "the collector for `audit export --otlp`, where the config names none"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "headers for that collector"),
    ("OTEL_RESOURCE_ATTRIBUTES", "attributes of exported records and metrics, such as the team"),
    ("TRACEPARENT", "the span of Claude Code that a decision belongs to"),
    ("XDG_CONFIG_HOME", "where your own `conclaude/config.yaml` is; `~/.config` by default"),
    ("XDG_STATE_HOME", "where state outside of projects is kept; `~/.local/state` by default"),
    ("HOME", "your home folder"),
    ("PATH", "where programs are searched"),
    ("TMPDIR", "where temporary files of your system are"),
    ("TERM", "the terminal of `conclaude watch`"),
    ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE", "whether output has colours"),
    ("DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR", "the desktop that shows notifications"),
    ("GIT_*", "removed or set where conclaude starts git, so that nothing of the repository is run"),
];
