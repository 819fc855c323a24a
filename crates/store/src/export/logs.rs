//! A decision as a log record, which says in one line what was decided and why.

use serde_json::{Value, json};

use super::attributes::{attribute, of_record, rule_part};
use super::spans::{SpanContext, nanoseconds, time};
use crate::audit::fields::{list, text};
use crate::audit::{TrailEntry, reasons};
use conclaude_core::text::{clean_line, head_and_tail};

/// Longer lines are cut in the middle, in characters.
const MAX_BODY: usize = 4_000;

/// Number and text of OpenTelemetry.
const INFO: (u8, &str) = (9, "INFO");
const WARN: (u8, &str) = (13, "WARN");
const ERROR: (u8, &str) = (17, "ERROR");

pub(super) fn of_entry(entry: &TrailEntry) -> Value {
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
    match text(&entry.record, "decision").unwrap_or_default() {
        _ if list(&entry.record, "commands").any(has_failed) => WARN,
        "blocked"
        | "denied"
        | "warned"
        | "unfinished"
        | "interrupted"
        | "allowed_failed"
        | "allowed_despite_failure"
        | "FAIL"
        | "FAILED"
        | "PARTIAL" => WARN,
        _ => INFO,
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
        Some((head, tail, _)) => format!("{head} … {tail}"),
        None => line,
    }
}
