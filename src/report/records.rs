//! The records of the audit trail.

use std::collections::VecDeque;
use std::io;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::StepNames;
use super::lanes::Lanes;
use super::model::{Command, Record, Report};
use super::threads::start_of;
use crate::audit::{Entry, Filter, Reader, Trail};

/// The newest records are kept, and older ones counted: a page of more is slow to open.
const MAX_RECORDS: usize = 200_000;

/// How much is kept of a text, in characters.
const MAX_TEXT: usize = 2_000;

/// Fields that are shown elsewhere, or belong to the chain.
const KNOWN: [&str; 17] = [
    "seq",
    "time",
    "prev",
    "hash",
    "v",
    "event",
    "session",
    "agent_id",
    "agent",
    "step",
    "phase",
    "decision",
    "reason",
    "findings",
    "commands",
    "evidence",
    "unanchored",
];

/// Reads the records that the filter admits, and names their step files.
pub(super) fn read(
    report: &mut Report,
    lanes: &mut Lanes,
    trail: &Trail,
    filter: &Filter,
) -> io::Result<StepNames> {
    let mut steps = StepNames::new();
    let (mut records, mut left_out) = (VecDeque::new(), 0);
    Reader::new(trail).each(filter, |entry| {
        if records.len() == MAX_RECORDS {
            records.pop_front();
            left_out += 1;
        }
        let record = record(report, lanes, entry);
        if let Some(step) = record.step.as_ref().filter(|step| !steps.contains(*step)) {
            steps.insert(step.clone());
        }
        records.push_back(record);
        Ok(())
    })?;
    report.records = records.into();
    if left_out > 0 {
        report.left_out.push(format!(
            "the {} before these are left out: --since or --session shows them",
            crate::text::count(left_out, "record")
        ));
    }
    Ok(steps)
}

fn record(report: &mut Report, lanes: &mut Lanes, entry: &Entry) -> Record {
    let value = &entry.record;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let short = |name: &str| text(name).map(|text| start_of(text, MAX_TEXT));
    let time = text("time").and_then(|time| time.parse::<Timestamp>().ok());
    let time = time.map(Timestamp::as_millisecond).unwrap_or_default();
    let session = text("session").map(|id| lanes.session(report, id));
    let lane = lanes.lane(report, session, text("agent_id").filter(|_| session.is_some()));
    let decision = text("decision").unwrap_or_default();
    Lanes::touch(report, lane, time);
    if let Some(lane) = report.lanes.get_mut(lane) {
        *lane.decisions.entry(decision.to_owned()).or_default() += 1;
        // Of an agent without a transcript the trail may know the name.
        if let (Some(name), Some(id)) = (text("agent"), &lane.id)
            && lane.name == *id
        {
            lane.name = name.to_owned();
        }
    }
    Record {
        seq: value.get("seq").and_then(Value::as_u64).unwrap_or_default(),
        time,
        lane,
        event: text("event").unwrap_or_default().to_owned(),
        decision: decision.to_owned(),
        reason: short("reason"),
        step: text("step").map(str::to_owned),
        phase: text("phase").map(str::to_owned),
        findings: list(value, "findings").map(shortened).collect(),
        commands: list(value, "commands").map(command).collect(),
        evidence: value.get("evidence").map(shortened),
        doubt: entry.doubt.clone(),
        more: more(value),
    }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn command(value: &Value) -> Command {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    Command {
        run: start_of(text("run"), MAX_TEXT),
        status: start_of(text("status"), MAX_TEXT),
        exit_code: value.get("exit_code").and_then(Value::as_i64),
        duration_ms: value.get("duration_ms").and_then(Value::as_u64).unwrap_or_default(),
    }
}

/// A value whose texts are cut.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(start_of(text, MAX_TEXT)),
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shortened(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// What else a record holds: newer versions may add to it.
fn more(value: &Value) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten();
    let others = fields.filter(|(name, _)| !KNOWN.contains(&name.as_str()));
    // The agent of a record without an id is somebody else: the one that is called, or who ran a command.
    let agent = value.get("agent").filter(|_| value.get("agent_id").is_none());
    let agent = agent.map(|agent| ("agent".to_owned(), agent.clone()));
    others.map(|(name, value)| (name.clone(), shortened(value))).chain(agent).collect()
}
