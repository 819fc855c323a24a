//! The audit trail for other programs: sent to a collector on loopback, or written as CSV and JSON.

use insta::assert_snapshot;
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use serde_json::{Value, json};

use crate::common::collector::Collector;
use crate::common::snapshot::pretty;
use crate::common::{Test, conclaude_in, run_in};

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: 'exit 3'}, {run: 'true'}]}}\n";
const TRACE: &str = "4a9aea12848f2328348bd68ac55dcd08";
const PARENT: &str = "c1d20566b50b02e1";

/// A project with a decision in a trace of the client.
fn recorded() -> Test {
    Test::stop().config(CONFIG).env("TRACEPARENT", &format!("00-{TRACE}-{PARENT}-01")).run().status(0).again()
}

fn export(test: &Test, arguments: &[&str]) -> String {
    test.shows(&[&["audit", "export"], arguments].concat())
}

/// The body of a request with an attribute to a line, and without what differs from run to run.
fn steady(body: &Value) -> String {
    fn replace(value: &mut Value) {
        match value {
            Value::Object(fields) if fields.contains_key("key") => {
                let key = fields["key"].as_str().unwrap().to_owned();
                let varies = [
                    "started",
                    "duration_ms",
                    "hash",
                    "host.name",
                    "project",
                    "version",
                    "os.type",
                    "instance.id",
                ];
                let is_known = varies.iter().any(|end| key.ends_with(end));
                let of = fields["value"].as_object().unwrap().iter().next().unwrap();
                let shown = if is_known { "[VARIES]".into() } else { of.1.to_string() };
                *value = format!("{key}: {} {shown}", of.0).into();
            }
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    match name.as_str() {
                        name if name.ends_with("UnixNano") => *value = "[TIME]".into(),
                        "spanId" => *value = "[SPAN]".into(),
                        "parentSpanId" if value != PARENT => *value = "[DECISION]".into(),
                        "version" => *value = "[VERSION]".into(),
                        _ => replace(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(replace),
            _ => {}
        }
    }
    let mut body = body.clone();
    replace(&mut body);
    pretty(&body)
}

#[test]
fn a_record_holds_the_trace_of_the_client_and_when_it_started() {
    let test = recorded();
    let done = test.then("PreToolUse").payload("tool_name", "Write").payload("tool_use_id", "toolu_1");
    let done = done.payload("tool_input", json!({"file_path": "x.lock", "content": ""}));
    let records = done.config("preToolUse: {uneditableFiles: ['*.lock']}").run().status(2).audit();
    let time = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(records[0]["traceparent"], format!("00-{TRACE}-{PARENT}-01"));
    let (started, first) = (time(&records[0]["started"]), time(&records[0]["commands"][0]["started"]));
    assert!(started <= first && first <= time(&records[0]["commands"][1]["started"]));
    assert_eq!(records[1]["tool"]["use_id"], "toolu_1");
}

#[test]
fn the_record_of_a_reset_holds_the_trace_of_the_client() {
    let test = recorded();
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let mut reset = conclaude_in(&test.root());
    reset.args(["audit", "reset"]).env("HOME", test.root().join(".home")).env("TRACEPARENT", &traceparent);
    assert!(reset.output().unwrap().status.success());
    let record =
        std::fs::read_to_string(test.root().join(".conclaude/audit/audit-0000000002.jsonl")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!((&record["event"], &record["traceparent"]), (&json!("audit reset"), &json!(traceparent)));
}

#[test]
fn a_broken_traceparent_is_not_recorded() {
    let done = Test::stop().config(CONFIG).env("TRACEPARENT", "00-zz-1-01").run().status(0);
    assert_eq!(done.audit()[0].get("traceparent"), None);
}

#[test]
fn a_decision_is_a_span_below_the_clients_and_its_commands_are_below_it() {
    let (test, collector) = (recorded(), Collector::new());
    assert_snapshot!(export(&test, &["--otlp", &collector.url]), @"
    exit 0
    ----- stdout
    sent to http://127.0.0.1:[PORT]: 1 record as logs; 1 record as traces; 1 record as metrics
    ");
    let requests = collector.received();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].logs().len(), 1);
    let spans = requests[1].spans();
    let [decision, first, second] = spans.as_slice() else { panic!("{spans:?}") };
    assert!(decision.start_time_unix_nano <= first.start_time_unix_nano);
    assert!(first.end_time_unix_nano <= second.end_time_unix_nano);
    assert!(second.end_time_unix_nano <= decision.end_time_unix_nano);
    assert_eq!((&first.parent_span_id, &second.parent_span_id), (&decision.span_id, &decision.span_id));
    assert_eq!(requests[0].ids(), requests[1].ids()[..1], "the log names the span of the decision");
    assert_snapshot!(steady(&requests[0].body), @r#"
    {
      "resourceLogs": [
        {
          "resource": {
            "attributes": [
              "service.name: stringValue \"conclaude\"",
              "service.version: stringValue [VARIES]",
              "service.instance.id: stringValue [VARIES]",
              "host.name: stringValue [VARIES]",
              "os.type: stringValue [VARIES]",
              "conclaude.project: stringValue [VARIES]"
            ]
          },
          "schemaUrl": "https://opentelemetry.io/schemas/1.37.0",
          "scopeLogs": [
            {
              "scope": {
                "name": "conclaude",
                "version": "[VERSION]"
              },
              "logRecords": [
                {
                  "timeUnixNano": "[TIME]",
                  "observedTimeUnixNano": "[TIME]",
                  "severityNumber": 13,
                  "severityText": "WARN",
                  "eventName": "conclaude.decision",
                  "body": {
                    "stringValue": "SubagentStop coder allowed: `exit 3` exited with code 3; `true` passed"
                  },
                  "attributes": [
                    "session.id: stringValue \"session-1\"",
                    "agent_id: stringValue \"a1b2c3\"",
                    "gen_ai.agent.id: stringValue \"a1b2c3\"",
                    "gen_ai.agent.name: stringValue \"coder\"",
                    "conclaude.seq: intValue \"1\"",
                    "conclaude.event: stringValue \"SubagentStop\"",
                    "conclaude.decision: stringValue \"allowed\"",
                    "conclaude.hash: stringValue [VARIES]",
                    "gen_ai.conversation.id: stringValue \"a1b2c3\"",
                    "gen_ai.operation.name: stringValue \"invoke_agent\"",
                    "conclaude.rule.key: arrayValue {\"values\":[{\"stringValue\":\"subagentStop.commands\"}]}",
                    "conclaude.rule.pattern: arrayValue {\"values\":[{\"stringValue\":\"coder\"}]}",
                    "conclaude.rule.file: arrayValue {\"values\":[{\"stringValue\":\".conclaude.yaml\"}]}",
                    "conclaude.rule.line: arrayValue {\"values\":[{\"stringValue\":\"1\"}]}",
                    "conclaude.matched: arrayValue {\"values\":[{\"stringValue\":\"coder\"}]}",
                    "conclaude.message: arrayValue {\"values\":[{\"stringValue\":\"\"}]}",
                    "conclaude.duration_ms: doubleValue [VARIES]"
                  ],
                  "flags": 1,
                  "traceId": "4a9aea12848f2328348bd68ac55dcd08",
                  "spanId": "[SPAN]"
                }
              ],
              "schemaUrl": "https://opentelemetry.io/schemas/1.37.0"
            }
          ]
        }
      ]
    }
    "#);
    assert_snapshot!(steady(&requests[1].body), @r#"
    {
      "resourceSpans": [
        {
          "resource": {
            "attributes": [
              "service.name: stringValue \"conclaude\"",
              "service.version: stringValue [VARIES]",
              "service.instance.id: stringValue [VARIES]",
              "host.name: stringValue [VARIES]",
              "os.type: stringValue [VARIES]",
              "conclaude.project: stringValue [VARIES]"
            ]
          },
          "schemaUrl": "https://opentelemetry.io/schemas/1.37.0",
          "scopeSpans": [
            {
              "scope": {
                "name": "conclaude",
                "version": "[VERSION]"
              },
              "spans": [
                {
                  "traceId": "4a9aea12848f2328348bd68ac55dcd08",
                  "spanId": "[SPAN]",
                  "flags": 769,
                  "name": "conclaude SubagentStop",
                  "kind": 1,
                  "startTimeUnixNano": "[TIME]",
                  "endTimeUnixNano": "[TIME]",
                  "attributes": [
                    "session.id: stringValue \"session-1\"",
                    "agent_id: stringValue \"a1b2c3\"",
                    "gen_ai.agent.id: stringValue \"a1b2c3\"",
                    "gen_ai.agent.name: stringValue \"coder\"",
                    "conclaude.seq: intValue \"1\"",
                    "conclaude.event: stringValue \"SubagentStop\"",
                    "conclaude.decision: stringValue \"allowed\"",
                    "conclaude.hash: stringValue [VARIES]",
                    "gen_ai.conversation.id: stringValue \"a1b2c3\"",
                    "gen_ai.operation.name: stringValue \"invoke_agent\"",
                    "conclaude.rule.key: arrayValue {\"values\":[{\"stringValue\":\"subagentStop.commands\"}]}",
                    "conclaude.rule.pattern: arrayValue {\"values\":[{\"stringValue\":\"coder\"}]}",
                    "conclaude.rule.file: arrayValue {\"values\":[{\"stringValue\":\".conclaude.yaml\"}]}",
                    "conclaude.rule.line: arrayValue {\"values\":[{\"stringValue\":\"1\"}]}",
                    "conclaude.matched: arrayValue {\"values\":[{\"stringValue\":\"coder\"}]}",
                    "conclaude.message: arrayValue {\"values\":[{\"stringValue\":\"\"}]}"
                  ],
                  "events": [],
                  "status": {},
                  "parentSpanId": "c1d20566b50b02e1"
                },
                {
                  "traceId": "4a9aea12848f2328348bd68ac55dcd08",
                  "spanId": "[SPAN]",
                  "flags": 1,
                  "name": "conclaude command exit",
                  "kind": 1,
                  "startTimeUnixNano": "[TIME]",
                  "endTimeUnixNano": "[TIME]",
                  "attributes": [
                    "conclaude.command.pattern: stringValue \"coder\"",
                    "conclaude.command.run: stringValue \"exit 3\"",
                    "conclaude.command.status: stringValue \"exited with code 3\"",
                    "conclaude.command.exit_code: intValue \"3\"",
                    "conclaude.command.started: stringValue [VARIES]",
                    "conclaude.command.duration_ms: intValue [VARIES]",
                    "conclaude.command.verdict: stringValue \"warn\"",
                    "conclaude.command.matched: stringValue \"coder\"",
                    "conclaude.command.rule.key: stringValue \"subagentStop.commands\"",
                    "conclaude.command.rule.pattern: stringValue \"coder\"",
                    "conclaude.command.rule.file: stringValue \".conclaude.yaml\"",
                    "conclaude.command.rule.line: intValue \"1\"",
                    "process.command_line: stringValue \"exit 3\"",
                    "process.exit.code: intValue \"3\""
                  ],
                  "events": [],
                  "status": {
                    "code": 2,
                    "message": "exited with code 3"
                  },
                  "parentSpanId": "[DECISION]"
                },
                {
                  "traceId": "4a9aea12848f2328348bd68ac55dcd08",
                  "spanId": "[SPAN]",
                  "flags": 1,
                  "name": "conclaude command true",
                  "kind": 1,
                  "startTimeUnixNano": "[TIME]",
                  "endTimeUnixNano": "[TIME]",
                  "attributes": [
                    "conclaude.command.pattern: stringValue \"coder\"",
                    "conclaude.command.run: stringValue \"true\"",
                    "conclaude.command.status: stringValue \"exited with code 0\"",
                    "conclaude.command.exit_code: intValue \"0\"",
                    "conclaude.command.started: stringValue [VARIES]",
                    "conclaude.command.duration_ms: intValue [VARIES]",
                    "conclaude.command.verdict: stringValue \"pass\"",
                    "conclaude.command.matched: stringValue \"coder\"",
                    "conclaude.command.rule.key: stringValue \"subagentStop.commands\"",
                    "conclaude.command.rule.pattern: stringValue \"coder\"",
                    "conclaude.command.rule.file: stringValue \".conclaude.yaml\"",
                    "conclaude.command.rule.line: intValue \"1\"",
                    "process.command_line: stringValue \"true\"",
                    "process.exit.code: intValue \"0\""
                  ],
                  "events": [],
                  "status": {},
                  "parentSpanId": "[DECISION]"
                }
              ],
              "schemaUrl": "https://opentelemetry.io/schemas/1.37.0"
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn without_a_trace_of_the_client_a_session_is_one_and_what_it_does_not_sample_is_no_span() {
    let test = Test::stop().config(CONFIG).run().status(0).again();
    let test = test.run().status(0).again();
    let unsampled = format!("00-{TRACE}-{PARENT}-00");
    let test = test.env("TRACEPARENT", &unsampled).run().status(0).again();
    let collector = Collector::new();
    export(&test, &["--otlp", &collector.url]);
    let requests = collector.received();
    let logs = requests[0].logs();
    assert_eq!(logs.len(), 3);
    assert_eq!(logs[0].trace_id, logs[1].trace_id);
    let spans = requests[1].spans();
    assert_eq!(spans.len(), 6, "of the first two records");
    assert!(spans.iter().all(|span| span.trace_id == logs[0].trace_id));
    assert!(spans[0].parent_span_id.is_empty());
}

#[test]
fn a_record_that_was_tampered_with_says_so_in_the_collector() {
    let (test, collector) = (recorded(), Collector::new());
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"exit_code\":3", "\"exit_code\":0")).unwrap();
    export(&test, &["--otlp", &collector.url]);
    let log = &collector.received()[0].logs()[0];
    assert_eq!(log.severity_text, "ERROR");
    assert!(log.attributes.iter().any(|attribute| attribute.key == "conclaude.doubt"));
}

#[test]
fn a_denial_is_exported_with_its_rules_and_what_each_matched() {
    let config =
        "preToolUse:\n  uneditableFiles:\n    - \"*.lock\"\n    - {pattern: /src/, message: Ask Ada}\n";
    let test = Test::event("PreToolUse").config(config).payload("tool_name", "Bash");
    let command = "echo x > Cargo.lock; rm src/a.rs";
    let answer = test.payload("tool_input", json!({ "command": command })).run();
    answer.tool("deny");
    let test = answer.again();
    assert_snapshot!(export(&test, &["--csv"]), @r#"
    exit 0
    ----- stdout
    seq,time,event,decision,session,agent,agent_id,tool,tool_use_id,tool_file,tool_command,step,phase,permission_mode,reason,findings,rule,rule_pattern,rule_file,rule_line,matched,message,commands,failed_commands,trace_id,doubt
    1,[TIME],PreToolUse,denied,session-1,coder,a1b2c3,Bash,,,echo x > Cargo.lock; rm src/a.rs,,,,,GUARD_DENIED: Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`.; GUARD_DENIED: Ask Ada,preToolUse.uneditableFiles; preToolUse.uneditableFiles,*.lock; /src/,.conclaude.yaml; .conclaude.yaml,3; 4,Cargo.lock; src/a.rs,"Do it another way, or ask the user.; Ask Ada",,0,,
    "#);
    let collector = Collector::new();
    export(&test, &["--otlp", &collector.url]);
    let requests = collector.received();
    let (log, span) = (&requests[0].logs()[0], &requests[1].spans()[0]);
    for attributes in [&log.attributes, &span.attributes] {
        let why = attributes.iter().filter(|one| {
            one.key.starts_with("conclaude.rule.")
                || ["conclaude.matched", "conclaude.message"].contains(&one.key.as_str())
        });
        let texts = why.map(|one| {
            let Some(any_value::Value::ArrayValue(list)) = one.value.as_ref().unwrap().value.as_ref() else {
                panic!("{one:?}")
            };
            let text = |value: &AnyValue| match value.value.as_ref().unwrap() {
                any_value::Value::StringValue(text) => text.clone(),
                other => panic!("{other:?}"),
            };
            format!("{}: {}", one.key, list.values.iter().map(text).collect::<Vec<_>>().join(", "))
        });
        assert_eq!(
            texts.collect::<Vec<_>>(),
            [
                "conclaude.rule.key: preToolUse.uneditableFiles, preToolUse.uneditableFiles",
                "conclaude.rule.pattern: *.lock, /src/",
                "conclaude.rule.file: .conclaude.yaml, .conclaude.yaml",
                "conclaude.rule.line: 3, 4",
                "conclaude.matched: Cargo.lock, src/a.rs",
                "conclaude.message: Do it another way, or ask the user., Ask Ada",
            ]
        );
    }
}

/// What the config says of a failure is what the agent was shown.
#[test]
fn the_message_of_a_command_that_failed_is_exported() {
    let config = "subagentStop: {commands: {coder: [{run: 'exit 3', message: Linting failed}]}}\n";
    let test = Test::stop().config(config).run().status(0).again();
    let shown = export(&test, &["--csv"]);
    let (heading, row) = shown.split_once("----- stdout\n").unwrap().1.split_once('\n').unwrap();
    let column = heading.split(',').position(|name| name == "message").unwrap();
    assert_eq!(row.split(',').nth(column), Some("Linting failed"), "{row}");
    let collector = Collector::new();
    export(&test, &["--otlp", &collector.url]);
    let log = &collector.received()[0].logs()[0];
    let Some(any_value::Value::StringValue(body)) = log.body.as_ref().unwrap().value.clone() else {
        panic!("{log:?}")
    };
    assert_eq!(body, "SubagentStop coder allowed: Linting failed: `exit 3` exited with code 3");
}

#[test]
fn csv_and_json_are_printed_or_written_to_a_file() {
    let test = recorded();
    let root = test.root();
    assert_snapshot!(export(&test, &["--csv"]), @"
    exit 0
    ----- stdout
    seq,time,event,decision,session,agent,agent_id,tool,tool_use_id,tool_file,tool_command,step,phase,permission_mode,reason,findings,rule,rule_pattern,rule_file,rule_line,matched,message,commands,failed_commands,trace_id,doubt
    1,[TIME],SubagentStop,allowed,session-1,coder,a1b2c3,,,,,,,,,,subagentStop.commands,coder,.conclaude.yaml,1,coder,,`exit 3` exited with code 3; `true` exited with code 0,1,4a9aea12848f2328348bd68ac55dcd08,
    ");
    let (_, shown, _) = run_in(&root, &["audit", "show", "--json"]);
    assert_eq!(run_in(&root, &["audit", "export", "--jsonl"]), (Some(0), shown, String::new()));
    for (format, name) in [("--csv", "trail.csv"), ("--jsonl", "trail.jsonl")] {
        std::fs::write(root.join(name), "what was there before").unwrap();
        let written = run_in(&root, &["audit", "export", format, "-o", name, "--agent", "coder"]);
        assert_eq!(written, (Some(0), format!("1 record written to {name}\n"), String::new()));
    }
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    assert_eq!(read("trail.jsonl"), read(".conclaude/audit/audit-0000000001.jsonl"), "as it is recorded");
    assert!(read("trail.csv").starts_with("seq,time,") && read("trail.csv").ends_with("\r\n"));
}

#[test]
fn wrong_calls_of_export_say_what_to_do() {
    let test = recorded().env("HOME", "/");
    let calls: [&[&str]; 7] = [
        &[],
        &["--csv", "--jsonl"],
        &["--otlp"],
        &["--otlp", "localhost:4318"],
        &["--otlp", "http://user:secret@localhost:4318"],
        &["--otlp", "http://localhost:4318", "--agent", "coder"],
        &["--csv", "--decision", "blokced"],
    ];
    let shown: Vec<String> = calls.iter().map(|call| export(&test, call)).collect();
    assert_snapshot!(shown.join("\n=====\n"), @r#"
    exit 1
    ----- stderr
    error: the following required arguments were not provided:
      <--otlp [<URL>]|--csv|--jsonl>

    Usage: conclaude audit export <--otlp [<URL>]|--csv|--jsonl>

    For more information, try '--help'.
    =====
    exit 1
    ----- stderr
    error: the argument '--csv' cannot be used with '--jsonl'

    Usage: conclaude audit export <--otlp [<URL>]|--csv|--jsonl>

    For more information, try '--help'.
    =====
    exit 1
    ----- stderr
    conclaude: no endpoint: name it on the command line, or as `telemetry: {endpoint: URL}` in the config, or in OTEL_EXPORTER_OTLP_ENDPOINT
    =====
    exit 1
    ----- stderr
    conclaude: "localhost:4318" is not an endpoint; expected one such as http://localhost:4318
    =====
    exit 1
    ----- stderr
    conclaude: an endpoint has no user or password: use `headers`, with ${NAME} for what is secret
    =====
    exit 1
    ----- stderr
    conclaude: --otlp sends every record once, so it cannot leave out some of them: only --since is allowed
    =====
    exit 1
    ----- stderr
    conclaude: there is no decision `blokced`; did you mean `blocked`?
    "#);
}
