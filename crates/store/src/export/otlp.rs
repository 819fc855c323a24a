//! Requests of OTLP/HTTP in JSON.

use serde_json::{Value, json};

use super::{logs, spans};
use crate::audit::TrailEntry;
use conclaude_core::config::Signal;

/// What a record is in this signal; nothing if it has no part in it.
pub(super) fn items(signal: Signal, entry: &TrailEntry) -> Vec<Value> {
    match signal {
        Signal::Logs => vec![logs::of_entry(entry)],
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
