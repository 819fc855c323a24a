//! Requests of OTLP/HTTP in JSON, and a decision as a log record.

use serde_json::{Value, json};

use super::attributes::{attribute, of_record, rule_part};
use super::spans::{self, SpanContext, nanoseconds, time};
use crate::audit::fields::{list, text};
use crate::audit::words::Meaning;
use crate::audit::{Trail, TrailEntry, reasons};
use conclaude_core::config::{SERVICE_NAME, Signal};
use conclaude_core::decide::Word;
use conclaude_core::text::{Excerpt, clean_line, head_and_tail};

/// The conventions that our attributes follow.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.37.0";

/// The items of a record in this signal. Metrics have none here, because they are sums over records.
pub(super) fn items(signal: Signal, entry: &TrailEntry) -> Vec<Value> {
    match signal {
        Signal::Logs => vec![log_of(entry)],
        Signal::Traces => spans::of_entry(entry),
        Signal::Metrics => Vec::new(),
    }
}

/// The body of a request with these items.
pub(super) fn request_body(signal: Signal, resource: &Value, items: &[Value]) -> String {
    let scope = json!({ "name": "conclaude", "version": env!("CARGO_PKG_VERSION") });
    let (all, of_scope, list) = match signal {
        Signal::Logs => ("resourceLogs", "scopeLogs", "logRecords"),
        Signal::Traces => ("resourceSpans", "scopeSpans", "spans"),
        Signal::Metrics => ("resourceMetrics", "scopeMetrics", "metrics"),
    };
    let of_scope = json!({ of_scope: [{ "scope": scope, list: items, "schemaUrl": SCHEMA }] });
    let mut of_resource = json!({ "resource": resource, "schemaUrl": SCHEMA });
    if let (Some(of_resource), Value::Object(of_scope)) = (of_resource.as_object_mut(), of_scope) {
        of_resource.extend(of_scope);
    }
    json!({ all: [of_resource] }).to_string()
}

/// How many items a collector rejected although it accepted the request, and its message.
pub(super) fn rejected(signal: Signal, answer: &str) -> (u64, Option<String>) {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let partial = answer.get("partialSuccess").unwrap_or(&Value::Null);
    let count = partial.get(match signal {
        Signal::Logs => "rejectedLogRecords",
        Signal::Traces => "rejectedSpans",
        Signal::Metrics => "rejectedDataPoints",
    });
    // Protobuf's JSON has the count as a text, but some collectors write a number.
    let count = count.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
    let said = partial.get("errorMessage").and_then(Value::as_str).filter(|text| !text.is_empty());
    (count.unwrap_or(0), said.map(str::to_owned))
}

/// The machine and the project of the records. Attributes of the user replace ours, and later ones replace earlier ones. The name
/// of the service stays, because all queries use it.
pub(super) fn resource(trail: &Trail, of_user: &[(String, String)]) -> Value {
    let host = host();
    let instance = instance(host.as_deref().unwrap_or_default(), trail);
    let own = [
        (SERVICE_NAME, Some("conclaude".to_owned())),
        ("service.version", Some(env!("CARGO_PKG_VERSION").to_owned())),
        ("service.instance.id", Some(instance)),
        ("host.name", host),
        ("os.type", Some(std::env::consts::OS.to_owned())),
        ("conclaude.project", Some(trail.project())),
    ];
    let mut attributes: Vec<(&str, String)> =
        own.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    for (name, value) in of_user.iter().filter(|(name, _)| name != SERVICE_NAME) {
        match attributes.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.clone_from(value),
            None => attributes.push((name, value.clone())),
        }
    }
    let attributes =
        attributes.iter().map(|(name, value)| json!({ "key": name, "value": { "stringValue": value } }));
    json!({ "attributes": attributes.collect::<Vec<_>>() })
}

/// A UUID of the project on this machine. Two projects whose folders have the same name have different ones.
fn instance(host: &str, trail: &Trail) -> String {
    let id = spans::trace_id(&format!("{host} {}", trail.folder().display()));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts.into_iter().filter_map(|part| id.get(part)).collect::<Vec<_>>().join("-")
}

#[cfg(unix)]
fn host() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    conclaude_os::environment::text("COMPUTERNAME")
}

/// Longer lines are cut in the middle, in characters.
const MAX_BODY: usize = 4_000;

/// OpenTelemetry's severity, as number and text.
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
        // A question is not a failure.
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
