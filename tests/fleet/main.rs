//! The queries of docs/explanation/fleet.md and of the dashboards in docs/fleet, run over what `audit export --otlp` really sends: in ClickHouse's
//! engine (`chdb` from PyPI) and in Prometheus (from Debian). Run by name: `cargo test --test fleet`. `CONCLAUDE_FLEET_PYTHON` is a Python
//! that has `chdb`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

#[path = "../it/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use regex_lite::Regex;
use serde_json::{Value, json};

use common::Test;
use common::collector::Collector;
use common::transcripts::Transcripts;

const PAGE: &str = include_str!("../../docs/explanation/fleet.md");
const CLICKHOUSE: &str = include_str!("../../docs/fleet/grafana-clickhouse.json");
const PROMETHEUS: &str = include_str!("../../docs/fleet/grafana-prometheus-tempo.json");

const CONFIG: &str = "
preToolUse: {uneditableFiles: ['*.lock']}
stop: {commands: [{run: 'exit 3', onFailure: warn}]}
subagentStop: {commands: {coder: [{run: 'exit 1', onFailure: block}]}}
";

/// Name and text of a query.
type Query = (String, String);

/// What is sent after a denial, a blocked agent, a failed command and an answer.
fn sent() -> Vec<Value> {
    let test = Test::event("PreToolUse").config(CONFIG);
    let tool = json!({"file_path": test.root().join("Cargo.lock"), "content": "x"});
    let test = test.payload("tool_name", "Write").payload("tool_use_id", "t1").payload("tool_input", tool);
    let test = test.run().status(2).again().without("tool_name").without("tool_use_id").without("tool_input");
    let test = test.then("SubagentStop").run().status(2).again();
    let test = test.without("agent_id").without("agent_type").then("Stop").run().status(0).again();
    let usage = json!({"input_tokens": 1_000, "output_tokens": 50, "cache_read_input_tokens": 500});
    let answer = json!({"type": "assistant", "timestamp": jiff::Timestamp::now().to_string(), "cwd": test.root(),
        "message": {"id": "m1", "model": "claude-sonnet-4-5", "content": [], "usage": usage}});
    Transcripts::of(&test.root(), "session-1").raw(None, &format!("{answer}\n"));
    let collector = Collector::new();
    test.shows(&["audit", "export", "--otlp", &collector.url]);
    collector
        .received()
        .into_iter()
        .map(|request| json!({"path": request.path, "body": request.body}))
        .collect()
}

/// The queries of a dashboard for one kind of data source.
fn queries_of(dashboard: &str, source: &str) -> Vec<Query> {
    let dashboard: Value = serde_json::from_str(dashboard).unwrap();
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let query = ["rawSql", "expr", "query"].iter().find_map(|name| target[name].as_str());
            if target["datasource"]["type"] == source {
                found.push((panel["title"].as_str().unwrap().to_owned(), query.unwrap().to_owned()));
            }
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        if variable["datasource"]["type"] == source {
            let query = variable["query"].as_str().unwrap().to_owned();
            found.push((format!("${}", variable["name"].as_str().unwrap()), query));
        }
    }
    assert!(found.len() > 10, "{found:?}");
    found
}

/// What a script finds for each query: a number of rows, or an error.
fn found_by(script: &str, queries: &[Query]) -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = folder.join("target/fleet/bin/python").into_os_string();
    let python = std::env::var_os("CONCLAUDE_FLEET_PYTHON").unwrap_or(own);
    let mut command = Command::new(&python);
    command.arg(folder.join("tests/fleet").join(script)).env("PYTHONDONTWRITEBYTECODE", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap_or_else(|error| {
        panic!(
            "{}: {error}; `python3 -m venv target/fleet && target/fleet/bin/pip install chdb`",
            python.display()
        )
    });
    let given = json!({"requests": sent(), "queries": queries});
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn assert_all_find_something(found: &BTreeMap<String, Value>, but: &[&str]) {
    let is_wrong = |(name, rows): &(&String, &Value)| {
        rows.as_u64().is_none_or(|rows| rows == 0 && !but.iter().any(|but| name.starts_with(but)))
    };
    let wrong: Vec<_> = found.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_queries_of_clickhouse_find_what_was_sent() {
    let mut queries: Vec<Query> = Regex::new(r"```sql\n([^`]+)```")
        .unwrap()
        .captures_iter(PAGE)
        .enumerate()
        .map(|(at, found)| (format!("question {}", at + 1), found[1].replace('…', "session-1")))
        .collect();
    assert_eq!(queries.len(), 10);
    queries.extend(queries_of(CLICKHOUSE, "grafana-clickhouse-datasource"));
    // Nothing of what these ask for was sent: nobody stopped in spite of a failure or skipped a phase.
    assert_all_find_something(&found_by("clickhouse.py", &queries), &["question 4", "question 9"]);
}

#[test]
fn the_queries_of_prometheus_find_what_was_sent() {
    assert_all_find_something(&found_by("prometheus.py", &queries_of(PROMETHEUS, "prometheus")), &[]);
}
