//! Metrics of `audit export --otlp`, read as OpenTelemetry's own types read them, and the attributes of the resource.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric, number_data_point};
use serde_json::{Value, json};

use crate::common::collector::{Collector, Request};
use crate::common::transcripts::Transcripts;
use crate::common::{Test, binary};

const CONFIG: &str =
    "preToolUse: {uneditableFiles: ['*.lock']}\nstop: {commands: [{run: 'exit 3', onFailure: warn}]}\n";

fn labels(of: &[KeyValue]) -> String {
    let one = |label: &KeyValue| match label.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => format!("{}={text}", label.key),
        other => panic!("{other:?}"),
    };
    of.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Each point as a line; of histograms only the number of values.
fn lines(metrics: &[Metric]) -> Vec<String> {
    let mut lines = Vec::new();
    for metric in metrics {
        let name = format!("{} [{}]", metric.name, metric.unit);
        match metric.data.as_ref().unwrap() {
            metric::Data::Sum(sum) => {
                assert!(sum.is_monotonic && sum.aggregation_temporality == 1, "delta");
                for point in &sum.data_points {
                    assert!(point.start_time_unix_nano <= point.time_unix_nano);
                    let value = match point.value.unwrap() {
                        number_data_point::Value::AsInt(count) => count.to_string(),
                        number_data_point::Value::AsDouble(number) => format!("{number:.6}"),
                    };
                    lines.push(format!("{name} {value} {}", labels(&point.attributes)));
                }
            }
            metric::Data::Histogram(histogram) => {
                assert_eq!(histogram.aggregation_temporality, 1, "delta");
                for point in &histogram.data_points {
                    assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
                    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
                    assert!(point.min <= point.max && point.sum >= point.max);
                    lines.push(format!("{name} {} {}", point.count, labels(&point.attributes)));
                }
            }
            other => panic!("{other:?}"),
        }
    }
    lines.sort();
    lines
}

fn of_metrics(requests: &[Request]) -> Vec<String> {
    let metrics = requests.iter().filter(|request| request.path == "/v1/metrics");
    lines(&metrics.flat_map(Request::metrics).collect::<Vec<_>>())
}

fn send(test: &Test, collector: &Collector) -> Vec<Request> {
    test.shows(&["audit", "export", "--otlp", &collector.url, "--retry-for", "0"]);
    collector.received()
}

/// An agent was denied a lock file, and a command failed at a stop.
fn recorded(config: &str) -> Test {
    let test = Test::event("PreToolUse").config(config).writes("Write", "file_path", "Cargo.lock");
    let test = test.run().status(2).again().without("agent_id").without("agent_type");
    test.without("tool_name")
        .without("tool_use_id")
        .without("tool_input")
        .then("Stop")
        .run()
        .status(0)
        .again()
}

#[test]
fn decisions_and_durations_are_counted_and_what_was_counted_is_not_sent_again() {
    let (test, collector) = (recorded(CONFIG), Collector::new());
    assert_snapshot!(of_metrics(&send(&test, &collector)).join("\n"), @r#"
    conclaude.command.duration [s] 1 conclaude.event=Stop conclaude.command=exit conclaude.command.verdict=warn
    conclaude.decisions [{decision}] 1 conclaude.event=PreToolUse conclaude.decision=denied conclaude.rule=preToolUse.uneditableFiles "*.lock"
    conclaude.decisions [{decision}] 1 conclaude.event=Stop conclaude.decision=allowed conclaude.rule=stop.commands "*"
    conclaude.hook.duration [s] 1 conclaude.event=PreToolUse
    conclaude.hook.duration [s] 1 conclaude.event=Stop
    "#);
    assert_eq!(of_metrics(&send(&test, &collector)), [""; 0]);
}

fn answer(id: &str, model: &str, usage: Value) -> Value {
    let content = json!([{"type": "text", "text": "ok"}]);
    json!({"type": "assistant", "message": {"id": id, "model": model, "role": "assistant", "content": content, "usage": usage}})
}

/// Adds a line of now to a transcript.
fn say(all: &mut Transcripts, agent: Option<&str>, mut line: Value, root: &std::path::Path) {
    line["timestamp"] = json!(jiff::Timestamp::now().to_string());
    line["cwd"] = json!(root);
    all.raw(agent, &format!("{line}\n"));
}

#[test]
fn tokens_and_their_cost_are_counted_by_model_and_type_each_answer_once() {
    let (test, collector) = (recorded(CONFIG), Collector::new());
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    let usage = |output: u64| {
        json!({"input_tokens": 1000, "output_tokens": output, "cache_read_input_tokens": 500,
        "cache_creation_input_tokens": 200, "cache_creation": {"ephemeral_1h_input_tokens": 100, "ephemeral_5m_input_tokens": 100}})
    };
    say(&mut all, None, answer("m1", "claude-sonnet-4-5", usage(1)), &root);
    say(&mut all, None, answer("m1", "claude-sonnet-4-5", usage(50)), &root);
    say(
        &mut all,
        Some("a1"),
        answer("m2", "nobody-knows-it", json!({"input_tokens": 7, "output_tokens": 3})),
        &root,
    );
    let mut old = answer("m0", "claude-sonnet-4-5", usage(9));
    old["timestamp"] = json!("2020-01-01T00:00:00Z");
    all.raw(None, &format!("{old}\n"));
    let tokens = |requests: &[Request]| -> Vec<String> {
        let found = of_metrics(requests).into_iter();
        found.filter(|line| line.contains("tokens") || line.contains("cost")).collect()
    };
    assert_snapshot!(tokens(&send(&test, &collector)).join("\n"), @"
    conclaude.cost [USD] 0.000150 model=claude-sonnet-4-5 type=cacheRead
    conclaude.cost [USD] 0.000750 model=claude-sonnet-4-5 type=output
    conclaude.cost [USD] 0.000975 model=claude-sonnet-4-5 type=cacheCreation
    conclaude.cost [USD] 0.003000 model=claude-sonnet-4-5 type=input
    conclaude.tokens [{token}] 1000 model=claude-sonnet-4-5 type=input
    conclaude.tokens [{token}] 200 model=claude-sonnet-4-5 type=cacheCreation
    conclaude.tokens [{token}] 3 model=nobody-knows-it type=output
    conclaude.tokens [{token}] 50 model=claude-sonnet-4-5 type=output
    conclaude.tokens [{token}] 500 model=claude-sonnet-4-5 type=cacheRead
    conclaude.tokens [{token}] 7 model=nobody-knows-it type=input
    ");
    assert_eq!(tokens(&send(&test, &collector)), [""; 0]);
    // The rest of an answer whose first lines were counted, and a session that repeats it.
    say(&mut all, None, answer("m1", "claude-sonnet-4-5", usage(75)), &root);
    let mut resumed = Transcripts::of(&root, "session-2");
    say(&mut resumed, None, answer("m1", "claude-sonnet-4-5", usage(75)), &root);
    assert_snapshot!(tokens(&send(&test, &collector)).join("\n"), @"
    conclaude.cost [USD] 0.000375 model=claude-sonnet-4-5 type=output
    conclaude.tokens [{token}] 25 model=claude-sonnet-4-5 type=output
    ");
}

#[test]
fn the_resource_has_the_attributes_of_the_config_above_those_of_the_environment() {
    let collector = Collector::new();
    let resource =
        "{team: '${TEAM}', host.name: build-7, service.name: mine, deployment.environment.name: ci}";
    let config = format!("{CONFIG}telemetry: {{endpoint: '{}', resource: {resource}}}\n", collector.url);
    let test = recorded(CONFIG).config(&config);
    test.shows(&["trust", "--yes"]);
    let export = |variables: &[(&str, &str)]| {
        let mut command = test.program(binary());
        command.args(["audit", "export", "--otlp", "--retry-for", "0"]).envs(variables.iter().copied());
        let output = command.output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let unset = export(&[]);
    assert!(unset.contains("telemetry.resource: team: the environment variable TEAM is not set"), "{unset}");
    export(&[
        ("TEAM", "payments"),
        ("OTEL_RESOURCE_ATTRIBUTES", "team=other,region=eu%2Dwest,service.name=theirs"),
    ]);
    let requests = collector.received();
    let mut seen = BTreeMap::new();
    for request in &requests {
        let (list, scope) = match request.path.as_str() {
            "/v1/logs" => ("resourceLogs", "scopeLogs"),
            "/v1/traces" => ("resourceSpans", "scopeSpans"),
            _ => ("resourceMetrics", "scopeMetrics"),
        };
        let of = &request.body[list][0];
        assert_eq!(of["schemaUrl"], of[scope][0]["schemaUrl"]);
        let attributes = of["resource"]["attributes"].as_array().unwrap().iter();
        let attributes: BTreeMap<String, String> = attributes
            .map(|one| {
                (one["key"].as_str().unwrap().into(), one["value"]["stringValue"].as_str().unwrap().into())
            })
            .collect();
        seen.insert(request.path.clone(), attributes);
    }
    assert_eq!(seen.len(), 3);
    let logs = &seen["/v1/logs"];
    assert!(seen.values().all(|other| other == logs));
    for (name, value) in [
        ("team", "payments"),
        ("region", "eu-west"),
        ("host.name", "build-7"),
        ("service.name", "conclaude"),
        ("deployment.environment.name", "ci"),
    ] {
        assert_eq!(logs[name], value, "{name}");
    }
    assert_eq!(logs["service.instance.id"].len(), 36);
}

#[test]
fn signals_choose_what_is_sent() {
    let collector = Collector::new();
    let config = format!("{CONFIG}telemetry: {{endpoint: '{}', signals: [metrics]}}\n", collector.url);
    let test = recorded(CONFIG).config(&config);
    test.shows(&["trust", "--yes"]);
    test.shows(&["audit", "export", "--otlp"]);
    let paths: Vec<String> = collector.received().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/metrics"]);
}
