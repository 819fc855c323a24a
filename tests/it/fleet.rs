//! docs/explanation/fleet.md names what is sent: its queries and tables are compared with what `audit export --otlp` sends.

use std::collections::BTreeSet;

use regex_lite::Regex;
use serde_json::{Value, json};

use crate::common::Test;
use crate::common::collector::{Collector, Request};
use crate::common::transcripts::Transcripts;

const FLEET: &str = include_str!("../../docs/explanation/fleet.md");

/// Records that have all that is queried. They are in no chain, and so doubtful.
fn records() -> String {
    let rule = json!({"key": "preToolUse.uneditableFiles", "pattern": "*.lock", "file": ".conclaude.yaml", "line": 3});
    let common = json!({
        "time": "2026-01-01T10:00:01Z", "started": "2026-01-01T10:00:00Z", "session": "s", "agent": "coder", "agent_id": "a1",
        "permission_mode": "default", "step": "steps/1.json", "prev": "0",
    });
    let records = [
        json!({
            "seq": 1, "event": "PreToolUse", "decision": "denied", "tool": {"name": "Write", "use_id": "t1", "file": "Cargo.lock"},
            "findings": [{"code": "GUARD_DENIED", "what": "writing", "fix": "leave it", "matched": "Cargo.lock", "rule": rule, "verdict": "block"}],
        }),
        json!({"seq": 2, "event": "PreToolUse", "decision": "denied", "tool": {"name": "Bash", "command": "rm x"}}),
        json!({
            "seq": 3, "event": "SubagentStop", "decision": "blocked", "blocks": {"count": 1, "max": 3},
            "commands": [{"run": "npm test", "status": "exited with code 1", "exit_code": 1, "started": "2026-01-01T10:00:00Z", "duration_ms": 5, "verdict": "block", "rule": rule, "output": "1 failed"}],
        }),
        json!({"seq": 4, "event": "des skip", "decision": "SKIPPED", "phase": "REFACTOR", "reason": "NOT_APPLICABLE: none"}),
    ];
    let with_all = |record: &Value| {
        let mut all = common.clone();
        all.as_object_mut().unwrap().extend(record.as_object().unwrap().clone());
        all["hash"] = "h".into();
        format!("{all}\n")
    };
    records.iter().map(with_all).collect()
}

/// The names of what is sent: attributes of the resource, of logs, of spans and of their events, with the names of these.
struct SentNames {
    resource: BTreeSet<String>,
    log: BTreeSet<String>,
    span: BTreeSet<String>,
    event: BTreeSet<String>,
    metric: BTreeSet<String>,
}

/// The attributes of all points.
fn labels(body: &Value) -> BTreeSet<String> {
    let key = Regex::new(r#""key":"([^"]+)""#).unwrap();
    key.captures_iter(&body.to_string()).map(|found| found[1].to_owned()).collect()
}

fn sent() -> SentNames {
    let test = Test::event("Stop").file(".conclaude/audit/audit-0000000001.jsonl", records());
    let collector = Collector::new();
    let usage = json!({"input_tokens": 7, "output_tokens": 3});
    let answer = json!({"type": "assistant", "timestamp": jiff::Timestamp::now().to_string(), "cwd": test.root(),
        "message": {"id": "m1", "model": "claude-sonnet-4-5", "content": [], "usage": usage}});
    Transcripts::of(&test.root(), "s").raw(None, &format!("{answer}\n"));
    let test = test.config(&format!("telemetry: {{endpoint: '{}', output: true}}\n", collector.url));
    test.shows(&["trust", "--yes"]);
    test.shows(&["audit", "export", "--otlp", &collector.url, "--retry-for", "0"]);
    let requests = collector.received();
    let keys = |pointer: &str, body: &Value| -> BTreeSet<String> {
        let key = |one: &Value| one["key"].as_str().unwrap().to_owned();
        body.pointer(pointer).and_then(Value::as_array).unwrap().iter().map(key).collect()
    };
    let of_each = |items: &Value| -> BTreeSet<String> {
        items.as_array().unwrap().iter().flat_map(|item| keys("/attributes", item)).collect()
    };
    let (logs, traces) = (&requests[0].body["resourceLogs"][0], &requests[1].body["resourceSpans"][0]);
    let spans = &traces["scopeSpans"][0]["spans"];
    assert_eq!(keys("/resource/attributes", logs), keys("/resource/attributes", traces));
    let metrics: Vec<_> = requests[2..].iter().flat_map(Request::metrics).collect();
    let of_metrics = metrics.iter().map(|metric| metric.name.clone());
    let of_points = requests[2..].iter().flat_map(|request| labels(&request.body));
    let events = spans.as_array().unwrap().iter().flat_map(|span| span["events"].as_array().unwrap());
    let name = |event: &Value| event["name"].as_str().unwrap().to_owned();
    SentNames {
        resource: keys("/resource/attributes", logs),
        log: of_each(&logs["scopeLogs"][0]["logRecords"]),
        span: of_each(spans),
        metric: of_metrics.chain(of_points).collect(),
        event: events.clone().flat_map(|event| keys("/attributes", event)).chain(events.map(name)).collect(),
    }
}

/// What a pattern finds in the page, by its first group.
fn named<'a>(pattern: &str, text: &'a str) -> BTreeSet<&'a str> {
    let pattern = Regex::new(pattern).unwrap();
    pattern.captures_iter(text).map(|found| found.get(1).unwrap().as_str()).collect()
}

#[test]
fn every_attribute_that_a_query_names_is_sent() {
    let sent = sent();
    let missing = |kind: &str, named: BTreeSet<&str>, sent: &[&BTreeSet<String>], is_underscored: bool| {
        assert!(!named.is_empty(), "{kind}");
        let sent: BTreeSet<String> = sent
            .iter()
            .flat_map(|names| names.iter())
            .map(|name| if is_underscored { name.replace('.', "_") } else { name.clone() })
            .collect();
        let missing =
            named.into_iter().filter(|name| !sent.contains(*name)).map(|name| format!("{kind}: {name}"));
        missing.collect::<Vec<_>>()
    };
    let SentNames { resource, log, span, event, metric } = &sent;
    let wrong = [
        missing("ClickHouse, logs", named(r"LogAttributes\['([^']+)'\]", FLEET), &[log], false),
        missing("ClickHouse, spans", named(r"SpanAttributes\['([^']+)'\]", FLEET), &[span], false),
        missing("ClickHouse, resource", named(r"ResourceAttributes\['([^']+)'\]", FLEET), &[resource], false),
        missing("Elastic", named(r"[^.\w]attributes\.([a-z_.]+)", FLEET), &[log, span], false),
        missing("Elastic, resource", named(r"resource\.attributes\.([a-z_.]+)", FLEET), &[resource], false),
        missing("Tempo", named(r"[{(]\s*span\.([a-z_.]+)", FLEET), &[span], false),
        missing("Tempo, resource", named(r"\{ resource\.([a-z_.]+)", FLEET), &[resource], false),
        missing(
            "Loki",
            named(r"[ ({]((?:conclaude|gen_ai|host|agent|service)_[a-z_]+)\s*[=!~,)]", FLEET),
            &[log, resource],
            true,
        ),
        missing(
            "the table",
            named(
                r"`((?:conclaude|gen_ai|session|process|tool|agent|service|host|os)[._][a-z_.]+)`",
                table(),
            ),
            &[resource, log, span, event, metric],
            false,
        ),
    ];
    assert_eq!(wrong.concat(), Vec::<String>::new());
}

/// The table of what is sent.
fn table() -> &'static str {
    let (_, after) = FLEET.split_once("## What is sent").unwrap();
    let (table, _) = after.split_once("## The collector").unwrap();
    table
}
