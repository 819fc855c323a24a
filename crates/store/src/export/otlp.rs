//! Requests of OTLP/HTTP in JSON, and a decision as a log record.

use serde_json::{Value, json};

use super::attributes::{attribute, of_record, rule_part};
use super::spans::{self, SpanContext, nanoseconds, time};
use crate::audit::fields::{list, text};
use crate::audit::words::Meaning;
use crate::audit::{TrailEntry, reasons};
use conclaude_core::config::Signal;
use conclaude_core::decide::Word;
use conclaude_core::text::{Excerpt, clean_line, head_and_tail};

/// What a record is in this signal; nothing if it has no part in it.
pub(super) fn items(signal: Signal, entry: &TrailEntry) -> Vec<Value> {
    match signal {
        Signal::Logs => vec![log_of(entry)],
        Signal::Traces => spans::of_entry(entry),
    }
}

/// The body of a request with these.
pub(super) fn request_body(signal: Signal, resource: &Value, items: &[Value]) -> String {
    let scope = json!({ "name": "conclaude", "version": env!("CARGO_PKG_VERSION") });
    let all = match signal {
        Signal::Logs => json!({ "resourceLogs": [
            { "resource": resource, "scopeLogs": [{ "scope": scope, "logRecords": items }] },
        ] }),
        Signal::Traces => json!({ "resourceSpans": [
            { "resource": resource, "scopeSpans": [{ "scope": scope, "spans": items }] },
        ] }),
    };
    all.to_string()
}

/// How many of them a collector that accepted the request has rejected, and what it says.
pub(super) fn rejected(signal: Signal, answer: &str) -> (u64, Option<String>) {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let partial = answer.get("partialSuccess").unwrap_or(&Value::Null);
    let count = partial.get(match signal {
        Signal::Logs => "rejectedLogRecords",
        Signal::Traces => "rejectedSpans",
    });
    // As JSON of protobuf it is a text; not everybody writes it so.
    let count = count.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
    let said = partial.get("errorMessage").and_then(Value::as_str).filter(|text| !text.is_empty());
    (count.unwrap_or(0), said.map(str::to_owned))
}

/// Which machine and project the records are of.
pub(super) fn resource(project: &str) -> Value {
    let host = host();
    let pairs = [
        ("service.name", Some("conclaude")),
        ("service.version", Some(env!("CARGO_PKG_VERSION"))),
        ("host.name", host.as_deref()),
        ("os.type", Some(std::env::consts::OS)),
        ("conclaude.project", Some(project)),
    ];
    let attributes = pairs
        .iter()
        .filter_map(|(key, value)| Some(json!({ "key": key, "value": { "stringValue": (*value)? } })));
    json!({ "attributes": attributes.collect::<Vec<_>>() })
}

#[cfg(unix)]
fn host() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

/// Longer lines are cut in the middle, in characters.
const MAX_BODY: usize = 4_000;

/// Number and text of OpenTelemetry.
const INFO: (u8, &str) = (9, "INFO");
const WARN: (u8, &str) = (13, "WARN");
const ERROR: (u8, &str) = (17, "ERROR");

fn log_of(entry: &TrailEntry) -> Value {
    let (record, context) = (&entry.record, SpanContext::of(entry));
    let at = time(record, "time").map_or_else(|| "0".to_owned(), nanoseconds);
    let (severity, word) = severity(entry);
    let mut attributes = of_record(record);
    attributes
        .extend(entry.doubt.as_ref().and_then(|doubt| attribute("conclaude.doubt", &doubt.as_str().into())));
    let times = time(record, "time").zip(time(record, "started"));
    let duration = times.map(|(ended, started)| ended.duration_since(started).as_millis_f64().max(0.0));
    attributes.extend(duration.and_then(|ms| attribute("conclaude.duration_ms", &ms.into())));
    json!({
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": severity,
        "severityText": word,
        "eventName": "conclaude.decision",
        "body": { "stringValue": body(record) },
        "attributes": attributes,
        "flags": context.flags(),
        "traceId": context.trace,
        "spanId": context.span,
    })
}

fn severity(entry: &TrailEntry) -> (u8, &'static str) {
    if entry.doubt.is_some() {
        return ERROR;
    }
    let has_failed = |command: &Value| command.get("exit_code").and_then(Value::as_i64) != Some(0);
    if list(&entry.record, "commands").any(has_failed) {
        return WARN;
    }
    let decision = text(&entry.record, "decision").unwrap_or_default();
    match Meaning::of(decision) {
        // A question is no failure.
        Meaning::Warning if decision == Word::Asked.as_str() => INFO,
        Meaning::Warning | Meaning::Bad => WARN,
        Meaning::Good | Meaning::Neutral => INFO,
    }
}

fn body(record: &Value) -> String {
    let said = |value: &Value, name: &str| text(value, name).map(clean_line).unwrap_or_default();
    let agent = text(record, "agent").map(|agent| format!(" {}", clean_line(agent))).unwrap_or_default();
    let mut parts: Vec<String> = text(record, "reason").map(clean_line).into_iter().collect();
    parts.extend(
        list(record, "findings")
            .map(|finding| format!("{}: {}", said(finding, "code"), said(finding, "what"))),
    );
    let ended = |command: &Value| clean_line(&reasons::of_command(command, &said(command, "run")));
    parts.extend(list(record, "commands").map(ended));
    let applied = list(record, "applied").filter(|one| one.get("verdict").is_some());
    parts.extend(applied.map(|one| format!("{} by {}", said(one, "what"), rule_part(one, "key"))));
    let what = format!("{}{agent} {}", said(record, "event"), said(record, "decision"));
    let line = if parts.is_empty() { what } else { format!("{what}: {}", parts.join("; ")) };
    match head_and_tail(&line, MAX_BODY) {
        Some(Excerpt { head, tail, .. }) => format!("{head} … {tail}"),
        None => line,
    }
}
