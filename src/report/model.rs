//! The report as data: what `--format json` prints and the page embeds. Times are milliseconds since 1970, lanes are indexes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Scope;
use super::active_time::ActiveTime;
use super::tables::UsageTables;
use conclaude_core::decide::Word;
use conclaude_core::event::EventKind;
use conclaude_core::prices::{self, Tokens};
use conclaude_store::audit::reasons;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) version: &'static str,
    pub(crate) generated: i64,
    pub(crate) project: String,
    pub(crate) all_projects: bool,
    /// The scope of the report, in words.
    pub(crate) range: String,
    pub(crate) sessions: Vec<SessionReport>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) usage: UsageTables,
    /// The day of the list prices.
    pub(crate) prices_of: &'static str,
    pub(crate) records: Vec<Record>,
    pub(crate) calls: Vec<Call>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) steps: Vec<Step>,
    pub(crate) chain: Chain,
    pub(crate) transcripts: Transcripts,
    /// Models without a price, in the config or built in.
    pub(crate) unpriced: Vec<String>,
    /// The parts that were left out, in words.
    pub(crate) left_out: Vec<String>,
}

impl Report {
    pub(super) fn new(scope: &Scope<'_>) -> Report {
        let range = match (scope.session, scope.since) {
            (Some(session), _) => format!("session {session}"),
            (None, Some(since)) => format!("since {since}"),
            (None, None) => "everything".into(),
        };
        let range = if scope.all_projects { format!("all projects, {range}") } else { range };
        Report {
            version: env!("CARGO_PKG_VERSION"),
            generated: Timestamp::now().as_millisecond(),
            project: scope.root.display().to_string(),
            all_projects: scope.all_projects,
            range,
            sessions: Vec::new(),
            lanes: Vec::new(),
            usage: UsageTables::default(),
            prices_of: prices::LIST_DATE,
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

    /// The clients other than Claude Code.
    pub(super) fn clients(&self) -> BTreeSet<&str> {
        self.sessions.iter().filter_map(|session| session.client.as_deref()).collect()
    }

    /// How many records have this decision, including omitted ones.
    pub(super) fn decided(&self, word: Word) -> u64 {
        self.lanes.iter().filter_map(|lane| lane.decisions.get(word.as_str())).sum()
    }

    pub(crate) fn record_count(&self) -> u64 {
        self.lanes.iter().flat_map(|lane| lane.decisions.values()).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.lanes.is_empty()
    }
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct SessionReport {
    pub(crate) id: String,
    /// The client, unless it is Claude Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// The start of the first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The folder in which it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<i64>,
    /// The working time in milliseconds, without gaps over five minutes.
    pub(crate) active: i64,
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
    /// `None` for records that name no session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<usize>,
    /// `None` for the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<i64>,
    /// The working time, as for a session.
    pub(crate) active: i64,
    #[serde(skip)]
    pub(super) active_time: ActiveTime,
    pub(crate) state: State,
    /// Why it never stopped, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    pub(crate) messages: u64,
    pub(crate) models: Vec<String>,
    /// The tokens by day, model and branch.
    pub(crate) usage: Vec<UsageCell>,
    pub(crate) tokens: Tokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// The number of calls of tools.
    pub(crate) tools: u64,
    /// The files that its tools wrote, and how often.
    pub(crate) files: Vec<(String, u64)>,
    pub(crate) decisions: BTreeMap<String, u64>,
    /// The decision at its last stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<String>,
    /// The verdict in words, with the number of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    /// It stopped with a warning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) warned: bool,
}

impl Lane {
    /// Tokens of models without a price, which are not in the cost.
    pub(super) fn unpriced(&self) -> u64 {
        let cells = self.usage.iter().filter(|cell| cell.cost.is_none());
        cells.map(|cell| cell.tokens.all()).fold(0, u64::saturating_add)
    }

    /// Counts a decision.
    pub(super) fn decided(&mut self, event: Option<&str>, decision: &str, warns: impl Fn() -> bool) {
        match self.decisions.get_mut(decision) {
            Some(count) => *count += 1,
            None => drop(self.decisions.insert(decision.to_owned(), 1)),
        }
        if event.and_then(EventKind::named).is_some_and(EventKind::is_stop) {
            self.warned = warns();
            if self.verdict.as_deref() != Some(decision) {
                self.verdict = Some(decision.to_owned());
            }
        }
    }

    /// The final result, in words.
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

/// The answers of one lane on one day, by one model, on one branch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct UsageCell {
    /// In the time zone of this machine.
    pub(crate) day: String,
    pub(crate) model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    pub(crate) answers: u64,
    pub(crate) tokens: Tokens,
    /// `None` for a model without a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    #[default]
    Main,
    Stopped,
    Running,
    NeverStopped,
    /// Its result is unknown.
    Unknown,
}

/// A record of the trail. There may be a hundred thousand, so its fields stay text until they are needed.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) lane: usize,
    /// The content of its JSON object.
    fields: Box<str>,
}

impl Record {
    pub(super) fn new(lane: usize, details: &RecordDetails) -> serde_json::Result<Record> {
        let json = serde_json::to_string(details)?;
        let fields = json.strip_prefix('{').and_then(|json| json.strip_suffix('}')).unwrap_or_default();
        Ok(Record { lane, fields: fields.into() })
    }

    pub(super) fn details(&self) -> RecordDetails {
        serde_json::from_str(&format!("{{{}}}", self.fields)).unwrap_or_default()
    }

    /// Its approximate size on a page.
    pub(super) fn size(&self) -> usize {
        self.fields.len() + 12
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = format!("{{\"lane\":{},{}}}", self.lane, self.fields);
        RawValue::from_string(json).map_err(Error::custom)?.serialize(serializer)
    }
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct RecordDetails {
    pub(crate) seq: u64,
    pub(crate) time: i64,
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

impl RecordDetails {
    /// The findings. Empty if it is not a list.
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

/// A call of a tool: lane, start, duration, tool, arguments, reason of failure. A tuple, because there are many.
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
    /// Its fate, in words.
    pub(crate) kind: String,
    /// The event, with the tool if there is one.
    pub(crate) hook: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
}

/// A step file that records name, in its current state.
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

/// The part of the transcripts that was read.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Transcripts {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) problems: Vec<String>,
    /// The versions of Claude Code that wrote them.
    pub(crate) versions: Vec<String>,
}
