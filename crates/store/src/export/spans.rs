//! A decision as a child of the client's span, and its commands as children of the decision.

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::attributes::{attribute, of_object, of_record};
use crate::audit::fields::{list, text};
use crate::audit::{TraceParent, TrailEntry};
use conclaude_core::text::hex;

/// The parent is known to be in another process.
const REMOTE_PARENT: u32 = 0x300;

/// The bit that says whether the client records this trace.
const SAMPLED: u8 = 1;

const INTERNAL: u8 = 1;
const ERROR: u8 = 2;

/// The position of a record in a trace.
pub(super) struct SpanContext {
    pub(super) trace: String,
    pub(super) span: String,
    parent: Option<TraceParent>,
}

impl SpanContext {
    /// If the client has no trace, the decisions of a session form one of their own.
    pub(super) fn of(entry: &TrailEntry) -> SpanContext {
        let parent = text(&entry.record, "traceparent").and_then(|text| text.to_owned().try_into().ok());
        let trace = match &parent {
            Some(parent) => TraceParent::trace_id(parent).to_owned(),
            None => trace_id(text(&entry.record, "session").unwrap_or(&entry.line)),
        };
        SpanContext { trace, span: span_id("decision", &entry.line), parent }
    }

    /// Whether spans are sent: if the client does not record a trace, we add no spans to it.
    pub(super) fn is_sampled(&self) -> bool {
        self.parent.as_ref().is_none_or(|parent| parent.flags() & SAMPLED != 0)
    }

    pub(super) fn flags(&self) -> u32 {
        u32::from(self.parent.as_ref().map_or(SAMPLED, TraceParent::flags))
    }
}

/// The spans of a record: its decision, then its commands. Empty without a time.
pub(super) fn of_entry(entry: &TrailEntry) -> Vec<Value> {
    let (record, context) = (&entry.record, SpanContext::of(entry));
    let Some(recorded) = time(record, "time") else { return Vec::new() };
    if !context.is_sampled() {
        return Vec::new();
    }
    let evidence = record.get("evidence").unwrap_or(&Value::Null);
    let started = time(record, "started").or_else(|| time(evidence, "started_at")).unwrap_or(recorded);
    let commands: Vec<Span> = list(record, "commands")
        .enumerate()
        .filter_map(|(n, command)| of_command(command, n, entry))
        .collect();
    // Times have different precisions. A command must not end after its decision.
    let ended = commands.iter().map(|command| command.ended).chain([recorded, started]).max();
    let ended = ended.unwrap_or(recorded);
    let mut attributes = of_record(record);
    attributes
        .extend(entry.doubt.as_ref().and_then(|doubt| attribute("conclaude.doubt", &doubt.as_str().into())));
    attributes.extend(evidence.get("command").and_then(|line| attribute("process.command_line", line)));
    attributes.extend(evidence.get("exit_code").and_then(|code| attribute("process.exit.code", code)));
    let decision = Span {
        name: format!("conclaude {}", text(record, "event").unwrap_or("record")),
        id: context.span.clone(),
        parent: context.parent.as_ref().map(|parent| parent.span_id().to_owned()),
        started,
        ended,
        attributes,
        events: list(record, "findings").map(|finding| event(finding, recorded)).collect(),
        error: None,
    };
    let remote = if context.parent.is_some() { REMOTE_PARENT } else { 0 };
    let mut spans = vec![decision.json(&context, remote)];
    spans.extend(commands.into_iter().map(|command| command.json(&context, 0)));
    spans
}

fn of_command(command: &Value, number: usize, entry: &TrailEntry) -> Option<Span> {
    let started = time(command, "started")?;
    let duration = command.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
    let run = text(command, "run").unwrap_or_default();
    let code = command.get("exit_code").and_then(Value::as_i64);
    let mut attributes = of_object("conclaude.command", command);
    attributes.extend(attribute("process.command_line", &run.into()));
    attributes.extend(code.and_then(|code| attribute("process.exit.code", &code.into())));
    let status = text(command, "status").unwrap_or_default();
    Some(Span {
        name: command_name(run)
            .map_or_else(|| "conclaude command".into(), |name| format!("conclaude command {name}")),
        id: span_id("command", &format!("{number} {}", entry.line)),
        parent: Some(span_id("decision", &entry.line)),
        started,
        ended: started.checked_add(jiff::SignedDuration::from_millis(i64::try_from(duration).ok()?)).ok()?,
        attributes,
        events: Vec::new(),
        error: if code == Some(0) { None } else { Some(status.to_owned()) },
    })
}

/// The name of the command's program. Names of spans and labels must have few values, and command lines have many.
pub(super) fn command_name(script: &str) -> Option<&str> {
    let program = script.split_whitespace().next().and_then(|word| word.rsplit('/').next())?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    let is_name = (1..=40).contains(&program.len()) && program.chars().all(is_plain);
    if is_name { Some(program) } else { None }
}

fn event(finding: &Value, at: Timestamp) -> Value {
    json!({
        "timeUnixNano": nanoseconds(at),
        "name": "conclaude.finding",
        "attributes": of_object("conclaude.finding", finding),
    })
}

struct Span {
    name: String,
    id: String,
    parent: Option<String>,
    started: Timestamp,
    ended: Timestamp,
    attributes: Vec<Value>,
    events: Vec<Value>,
    /// Why it failed.
    error: Option<String>,
}

impl Span {
    fn json(self, context: &SpanContext, remote: u32) -> Value {
        let mut span = json!({
            "traceId": context.trace,
            "spanId": self.id,
            "flags": context.flags() | remote,
            "name": self.name,
            "kind": INTERNAL,
            "startTimeUnixNano": nanoseconds(self.started),
            "endTimeUnixNano": nanoseconds(self.ended),
            "attributes": self.attributes,
            "events": self.events,
            "status": self.error.map_or_else(|| json!({}), |why| json!({ "code": ERROR, "message": why })),
        });
        if let (Some(parent), Some(fields)) = (self.parent, span.as_object_mut()) {
            fields.insert("parentSpanId".into(), parent.into());
        }
        span
    }
}

/// A time before 1970 does not count.
pub(super) fn time(value: &Value, name: &str) -> Option<Timestamp> {
    text(value, name)?.parse().ok().filter(|time: &Timestamp| time.as_nanosecond() >= 0)
}

/// As text, because JSON has no such large numbers.
pub(super) fn nanoseconds(time: Timestamp) -> String {
    time.as_nanosecond().to_string()
}

/// 32 hexadecimal digits.
pub(super) fn trace_id(of: &str) -> String {
    first_bytes::<16>("trace", of)
}

/// 16 hexadecimal digits.
pub(super) fn span_id(kind: &str, of: &str) -> String {
    first_bytes::<8>(kind, of)
}

/// Never all zeros, which stands for no id.
fn first_bytes<const N: usize>(kind: &str, of: &str) -> String {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(of).finalize();
    let mut id = [0; N];
    id.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    if id == [0; N] { "1".repeat(N * 2) } else { hex(&id) }
}
