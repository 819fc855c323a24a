//! The report as data: what `--format json` prints and the page embeds. Times are milliseconds since 1970, lanes are indexes.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use conclaude_core::decide::Word;
use conclaude_store::audit::reasons;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) version: &'static str,
    pub(crate) generated: i64,
    pub(crate) project: String,
    /// What the report is about, in words.
    pub(crate) range: String,
    pub(crate) sessions: Vec<SessionReport>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) records: Vec<Record>,
    pub(crate) calls: Vec<Call>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) steps: Vec<Step>,
    pub(crate) chain: Chain,
    pub(crate) transcripts: Transcripts,
    /// Models that have no price in the config.
    pub(crate) unpriced: Vec<String>,
    /// What was left out.
    pub(crate) left_out: Vec<String>,
}

impl Report {
    pub(super) fn new(root: &Path, session: Option<&str>, since: Option<Timestamp>) -> Report {
        let range = match (session, since) {
            (Some(session), _) => format!("session {session}"),
            (None, Some(since)) => format!("since {since}"),
            (None, None) => "everything".into(),
        };
        Report {
            version: env!("CARGO_PKG_VERSION"),
            generated: Timestamp::now().as_millisecond(),
            project: root.display().to_string(),
            range,
            sessions: Vec::new(),
            lanes: Vec::new(),
            records: Vec::new(),
            calls: Vec::new(),
            hooks: Vec::new(),
            steps: Vec::new(),
            chain: Chain::default(),
            transcripts: Transcripts::default(),
            unpriced: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.lanes.is_empty()
    }
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct SessionReport {
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<i64>,
    pub(crate) prompts: u64,
    #[serde(skip)]
    pub(crate) has_ended: bool,
    /// The cost that Claude Code recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_of_client: Option<f64>,
}

/// The main thread of a session, or one of its subagents.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Lane {
    /// None for records that name no session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<usize>,
    /// None for the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<i64>,
    pub(crate) state: State,
    /// Why it never stopped, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    pub(crate) messages: u64,
    pub(crate) models: Vec<String>,
    pub(crate) tokens: Tokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// The number of calls of tools.
    pub(crate) tools: u64,
    /// The files that its tools wrote, and how often.
    pub(crate) files: Vec<(String, u64)>,
    pub(crate) decisions: BTreeMap<String, u64>,
    /// What was decided when it last stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<String>,
    /// The same in words: after how many blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    /// It stopped with a warning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) warned: bool,
}

impl Lane {
    /// Counts a decision.
    pub(super) fn decided(&mut self, event: Option<&str>, decision: &str, warns: impl Fn() -> bool) {
        match self.decisions.get_mut(decision) {
            Some(count) => *count += 1,
            None => drop(self.decisions.insert(decision.to_owned(), 1)),
        }
        if matches!(event, Some("Stop" | "SubagentStop")) {
            self.warned = warns();
            if self.verdict.as_deref() != Some(decision) {
                self.verdict = Some(decision.to_owned());
            }
        }
    }

    /// What became of it in the end, in words.
    pub(super) fn in_words(&self) -> Option<String> {
        let verdict = self.verdict.as_deref()?;
        if verdict != Word::Allowed.as_str() {
            return Some(reasons::decision_in_words(verdict).to_owned());
        }
        let after = match self.decisions.get(Word::Blocked.as_str()) {
            Some(blocks) => format!(" after {}", conclaude_core::text::count(*blocks, "block")),
            None => String::new(),
        };
        Some(format!("passed{after}{}", if self.warned { ", with a warning" } else { "" }))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    #[default]
    Main,
    Stopped,
    Running,
    NeverStopped,
    /// It is not known what became of it.
    Unknown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    /// What of it was written to be kept for an hour.
    #[serde(skip)]
    pub(crate) cache_write_1h: u64,
}

impl Tokens {
    pub(super) fn add(&mut self, other: Tokens) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cache_write_1h += other.cache_write_1h;
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Record {
    pub(crate) seq: u64,
    pub(crate) time: i64,
    pub(crate) lane: usize,
    pub(crate) event: String,
    pub(crate) decision: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    /// Lists, as they were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) findings: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commands: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<Box<RawValue>>,
    /// Why the record was tampered with, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) doubt: Option<String>,
    /// Other fields of the record. Newer versions may add some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) more: Option<Box<RawValue>>,
}

impl Record {
    /// What was found; empty if it is not a list.
    pub(super) fn findings(&self) -> Vec<Value> {
        values(self.findings.as_deref())
    }

    pub(super) fn commands(&self) -> Vec<Value> {
        values(self.commands.as_deref())
    }

    /// Rules that decided without a finding or a command.
    pub(super) fn applied(&self) -> Vec<Value> {
        let more: Option<Value> = self.more.as_deref().and_then(|more| serde_json::from_str(more.get()).ok());
        let applied = more.as_ref().and_then(|more| more.get("applied")?.as_array());
        applied.into_iter().flatten().filter(|one| one.get("verdict").is_some()).cloned().collect()
    }
}

/// The values of a list; none if it is not a list.
pub(super) fn values(json: Option<&RawValue>) -> Vec<Value> {
    json.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
}

/// A call of a tool: lane, start, duration, tool, what it was called with, why it failed. A tuple, since there are many.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Call(
    pub(crate) usize,
    pub(crate) i64,
    pub(crate) Option<i64>,
    pub(crate) String,
    pub(crate) Option<String>,
    pub(crate) Option<&'static str>,
);

/// A hook that failed or was cancelled. Claude Code does not show that.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Hook {
    pub(crate) time: i64,
    pub(crate) lane: usize,
    /// What became of it, in words.
    pub(crate) kind: String,
    /// The event, with the tool where there is one.
    pub(crate) hook: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
}

/// A step file that records name, as it is now.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Step {
    pub(crate) step: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) state: String,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    pub(crate) phases: Vec<Phase>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Phase {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked_by: Option<String>,
}

/// The result of verifying the whole trail.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Chain {
    pub(crate) ok: bool,
    pub(crate) records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) end_compared: bool,
}

/// What was read of the transcripts.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Transcripts {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) problems: Vec<String>,
    /// The versions of Claude Code that wrote them.
    pub(crate) versions: Vec<String>,
}
