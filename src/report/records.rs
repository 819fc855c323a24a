//! The records of the audit trail. There may be a hundred thousand, so values that are only shown are not parsed.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::ControlFlow;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess};
use serde_json::Value;
use serde_json::value::RawValue;

use super::lanes::Lanes;
use super::model::{Record, RecordDetails, Report, values};
use super::threads::start_of;
use super::{Scope, StepNames};
use conclaude_store::audit::{MAX_OUTPUT_BYTES, Reader, Trail, reasons};

/// Older records are only counted: a larger page is slow to open.
const MAX_RECORDS: usize = 200_000;
const MAX_RECORD_BYTES: usize = 64 << 20;

/// Longer texts are cut, in characters.
const MAX_TEXT: usize = 2_000;

/// Reads the requested records, and names their step files.
pub(super) fn read(
    report: &mut Report,
    lanes: &mut Lanes,
    trail: &Trail,
    scope: &Scope<'_>,
) -> io::Result<StepNames> {
    let mut steps = StepNames::new();
    let (mut records, mut left_out, mut not_records) = (VecDeque::new(), 0, 0);
    let mut bytes = 0;
    Reader::new(trail).each_line(|_, line, doubt| {
        let Ok(fields) = serde_json::from_str::<Fields<'_>>(line) else {
            not_records += 1;
            return Ok(ControlFlow::Continue(()));
        };
        if !fields.is_wanted(scope) {
            return Ok(ControlFlow::Continue(()));
        }
        let (record, step) = record(report, lanes, &fields, doubt)?;
        if let Some(step) = step.filter(|step| !steps.contains(step)) {
            steps.insert(step);
        }
        bytes += record.size();
        records.push_back(record);
        while (records.len() > MAX_RECORDS || bytes > MAX_RECORD_BYTES)
            && let Some(oldest) = records.pop_front()
        {
            bytes -= oldest.size();
            left_out += 1;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    report.records = records.into();
    note_gaps(report, left_out, not_records);
    Ok(steps)
}

/// Names what the report does not show.
fn note_gaps(report: &mut Report, left_out: u64, not_records: u64) {
    let count = conclaude_core::text::count;
    if left_out > 0 {
        let records = count(left_out, "record");
        report
            .left_out
            .push(format!("the {records} before these are left out: --since or --session shows them"));
    }
    let clients = Vec::from_iter(report.clients()).join(", ");
    if !clients.is_empty() {
        report.left_out.push(format!(
            "tokens, files and calls come from Claude Code's transcripts alone: of {clients} there are only records"
        ));
    }
    if not_records > 0 {
        report
            .left_out
            .push(format!("not a record, and not shown: {} of the audit trail", count(not_records, "line")));
    }
}

/// A record's fields, as they were written.
#[derive(Default)]
struct Fields<'a> {
    seq: u64,
    time: Option<Timestamp>,
    session: Option<Cow<'a, str>>,
    client: Option<Cow<'a, str>>,
    agent_id: Option<Cow<'a, str>>,
    agent: Option<Cow<'a, str>>,
    event: Option<Cow<'a, str>>,
    decision: Option<Cow<'a, str>>,
    reason: Option<Cow<'a, str>>,
    step: Option<Cow<'a, str>>,
    phase: Option<Cow<'a, str>>,
    findings: Option<&'a RawValue>,
    commands: Option<&'a RawValue>,
    evidence: Option<&'a RawValue>,
    others: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// A `Cow` alone would always be a copy.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Fields::default();
                while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
                    fields.set(name, value);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

impl<'a> Fields<'a> {
    fn set(&mut self, name: Cow<'a, str>, value: &'a RawValue) {
        match name.as_ref() {
            "seq" => self.seq = value.get().parse().unwrap_or_default(),
            "time" => self.time = text(value).and_then(|time| time.parse().ok()),
            "session" => self.session = text(value),
            "client" => {
                self.client = text(value);
                self.others.push((name, value));
            }
            "agent_id" => self.agent_id = text(value),
            "agent" => self.agent = text(value),
            "event" => self.event = text(value),
            "decision" => self.decision = text(value),
            "reason" => self.reason = text(value),
            "step" => self.step = text(value),
            "phase" => self.phase = text(value),
            "findings" => self.findings = Some(value),
            "commands" => self.commands = Some(value),
            "evidence" => self.evidence = Some(value),
            // They belong to the chain.
            "prev" | "hash" | "v" | "unanchored" => {}
            _ => self.others.push((name, value)),
        }
    }

    fn is_wanted(&self, scope: &Scope<'_>) -> bool {
        let session = self.session.as_deref().unwrap_or_default();
        scope.session.is_none_or(|wanted| session.starts_with(wanted))
            && scope.since.is_none_or(|since| self.time.is_some_and(|time| time >= since))
    }

    /// The other fields of the record, as one object.
    fn more(&self) -> Option<Box<RawValue>> {
        let mut all = String::new();
        let mut add = |name: &str, value: &str| {
            all.push(if all.is_empty() { '{' } else { ',' });
            all.push_str(&Value::from(name).to_string());
            all.push(':');
            all.push_str(value);
        };
        for (name, value) in &self.others {
            add(name, &shortened(value.get()));
        }
        // Without an id, the record's agent is another one: the agent that is called, or the one that ran a command.
        if let (Some(agent), None) = (&self.agent, &self.agent_id) {
            add("agent", &Value::from(agent.as_ref()).to_string());
        }
        if all.is_empty() {
            return None;
        }
        all.push('}');
        RawValue::from_string(all).ok()
    }
}

/// The text of a string, which rarely has anything escaped.
fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(value.get()).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

/// A record, and the step that it names.
fn record(
    report: &mut Report,
    lanes: &mut Lanes,
    fields: &Fields<'_>,
    doubt: Option<String>,
) -> io::Result<(Record, Option<String>)> {
    let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(|text| start_of(text, MAX_TEXT));
    let kept = |value: &RawValue| RawValue::from_string(shortened(value.get()).into_owned()).ok();
    let is_list = |value: &&RawValue| value.get().starts_with('[');
    let time = fields.time.map(Timestamp::as_millisecond).unwrap_or_default();
    let session = fields.session.as_deref().map(|id| lanes.session(report, id));
    if let Some(client) = &fields.client
        && let Some(session) = session.and_then(|at| report.sessions.get_mut(at))
    {
        session.client.get_or_insert_with(|| start_of(client, MAX_TEXT));
    }
    let agent_id = fields.agent_id.as_deref().filter(|id| session.is_some() && !id.is_empty());
    let lane = lanes.lane(report, session, agent_id);
    Lanes::touch(report, lane, time);
    if let Some(lane) = report.lanes.get_mut(lane) {
        let warns = || [fields.findings, fields.commands].map(values).iter().flatten().any(reasons::warns);
        lane.decided(fields.event.as_deref(), fields.decision.as_deref().unwrap_or_default(), warns);
        // The trail may know the name of an agent without a transcript.
        if let (Some(name), Some(id)) = (&fields.agent, &lane.id)
            && lane.name == *id
        {
            lane.name = start_of(name, MAX_TEXT);
        }
    }
    let details = RecordDetails {
        seq: fields.seq,
        time,
        event: owned(&fields.event).unwrap_or_default(),
        decision: owned(&fields.decision).unwrap_or_default(),
        reason: owned(&fields.reason),
        step: owned(&fields.step),
        phase: owned(&fields.phase),
        findings: fields.findings.filter(is_list).and_then(kept),
        commands: fields.commands.filter(is_list).and_then(kept),
        evidence: fields.evidence.and_then(kept),
        doubt,
        more: fields.more(),
    };
    lanes.take_record(lane, &details);
    Ok((Record::new(lane, &details)?, details.step))
}

/// A value whose texts are cut.
fn shortened(json: &str) -> Cow<'_, str> {
    if json.len() <= MAX_TEXT {
        return Cow::Borrowed(json);
    }
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    Cow::Owned(cut(value).to_string())
}

fn cut(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(start_of(&text, MAX_TEXT)),
        Value::Array(items) => items.into_iter().map(cut).collect(),
        // The output of a command is limited when it is recorded. Its end shows what failed.
        Value::Object(fields) => {
            let kept = |name: &str, value: &Value| {
                name == "output" && value.as_str().is_some_and(|text| text.len() <= MAX_OUTPUT_BYTES)
            };
            let cut_field = |(name, value): (String, Value)| {
                let value = if kept(&name, &value) { value } else { cut(value) };
                (name, value)
            };
            fields.into_iter().map(cut_field).collect()
        }
        other => other,
    }
}
