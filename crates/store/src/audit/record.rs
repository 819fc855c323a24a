//! What is recorded of one decision.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::trace::TraceParent;
use conclaude_core::rule::Rule;

/// What is recorded of one decision. Number, time and chain are added when it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// The hook event, or the subcommand: `des run`.
    pub event: String,
    /// When the event arrived; the time of the record is its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The span of the client that the decision belongs to. Added when it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<TraceParent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Claude Code's `permission_mode`: `default`, `acceptEdits`, `plan`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool call, at the events of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolRecord>,
    /// The step file, relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What was extracted from the prompt's markers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub des: Option<Value>,
    pub decision: String,
    /// Why, in the words of whoever decided: the reason of a skip or of an admitted failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandRecord>,
    /// Rules that are against nothing: what gave context, what allowed the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<AppliedRule>,
    /// What applied and was not done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skip>,
    /// The limit on blocks, where a stop was to be blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Blocks>,
    /// The desktop was notified of a success or a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification: Option<&'static str>,
    /// What is wrong with the config, whose rules do not count then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_error: Option<Value>,
    /// What was run for a phase, as proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommandRecord {
    pub pattern: String,
    pub run: String,
    /// How it ended, in words.
    pub status: String,
    /// What the config says of its failure, where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub started: String,
    pub duration_ms: u64,
    /// What that does: `pass`, `warn` or `block`.
    pub verdict: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// What the pattern matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
    /// The changed files that its `files` cover, of many the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How many more these are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_files: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// A rule that gave something, allowed the call, or made Claude go on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AppliedRule {
    pub what: String,
    pub rule: Rule,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub matched: String,
    /// Only where it decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
}

/// Of changed files, this many are named at each command.
pub const MAX_FILES: usize = 20;

/// Why the checks of a stop wait, before the names of the agents.
pub const STILL_RUN: &str = "background agents still run";

/// Something that applied and was not done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skip {
    pub what: String,
    pub why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// How often an agent was blocked, and may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocks {
    pub count: u32,
    pub max: u32,
    pub rule: Rule,
}

/// A tool call, by what the guards look at: its file or its shell command.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolRecord {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command is longer than what is recorded of it.
    #[serde(rename = "cut", skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Where relative paths start, unless that is the project's root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// A time as records hold it.
#[must_use]
pub fn in_record(time: Timestamp) -> String {
    time.round(jiff::Unit::Microsecond).unwrap_or(time).to_string()
}
