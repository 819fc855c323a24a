//! Decisions in the traces of the client.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::Client;
use crate::http;
use crate::project::Project;
use crate::script::{Script, agent, says, uses};

/// Long enough for what is sent after the session.
const PATIENCE: Duration = Duration::from_secs(60);

/// A collector on loopback, which both the client and conclaude send to.
struct Collector {
    url: String,
    spans: Arc<Mutex<Vec<Value>>>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let spans = Arc::new(Mutex::new(Vec::new()));
        let found = Arc::clone(&spans);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(request) = http::read(&stream) else { continue };
                if request.path == "/v1/traces" {
                    let body: Value = serde_json::from_slice(&request.body).unwrap();
                    found.lock().unwrap().extend(spans_in(&body));
                }
                let _ = http::json(&stream, &Value::Object(serde_json::Map::new()));
            }
        });
        Collector { url, spans }
    }

    /// The spans, once there is one of this name.
    fn with(&self, name: &str) -> Vec<Value> {
        let begin = Instant::now();
        loop {
            let spans = self.spans.lock().unwrap().clone();
            if spans.iter().any(|span| span["name"] == name) {
                return spans;
            }
            assert!(begin.elapsed() < PATIENCE, "no span {name} in {spans:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn spans_in(body: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let scopes = list(&body["resourceSpans"]).into_iter().flat_map(|one| list(&one["scopeSpans"]));
    scopes.flat_map(|scope| list(&scope["spans"])).collect()
}

/// The span that this one is below of.
fn parent<'a>(spans: &'a [Value], span: &Value) -> &'a Value {
    let found = spans.iter().find(|other| other["spanId"] == span["parentSpanId"]);
    found.unwrap_or_else(|| panic!("no parent of {span:#} in {spans:#?}"))
}

/// One trace has the spans of both: a subagent's command is below its decision, and that below its Agent call.
pub(super) fn one_trace(client: &Client) {
    let collector = Collector::start();
    let config = format!(
        "telemetry: {{endpoint: '{}'}}\nsubagentStop: {{commands: {{coder: [{{run: 'true'}}]}}}}\n",
        collector.url
    );
    let project = Project::new().agents(&["coder"]).config(&config).installed();
    let project = [
        ("CLAUDE_CODE_ENABLE_TELEMETRY", "1"),
        ("CLAUDE_CODE_ENHANCED_TELEMETRY_BETA", "1"),
        // The model is not the one that the client knows, so it must be asked to.
        ("CLAUDE_CODE_PROPAGATE_TRACEPARENT", "1"),
        ("OTEL_TRACES_EXPORTER", "otlp"),
        ("OTEL_TRACES_EXPORT_INTERVAL", "200"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
    ]
    .into_iter()
    .fold(project, |project, (name, value)| project.env(name, value));
    let seen = client.play(
        &project,
        Script::main([uses([agent("coder", "CODER-PART: do it.")]), says("All is done.")])
            .agent("CODER-PART", [says("The code is written.")]),
    );
    seen.result().has("All is done.");
    collector.with("conclaude command true");
    let spans = collector.with("claude_code.interaction");
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap().clone();
    let (command, decision) = (named("conclaude command true"), named("conclaude SubagentStop"));
    assert_eq!(parent(&spans, &command)["spanId"], decision["spanId"]);
    let execution = parent(&spans, &decision);
    assert_eq!(execution["name"], "claude_code.tool.execution");
    let tool = parent(&spans, execution);
    let is_agent =
        |attribute: &Value| attribute["key"] == "tool_name" && attribute["value"]["stringValue"] == "Agent";
    assert!(tool["attributes"].as_array().unwrap().iter().any(is_agent), "{tool:#}");
    assert_eq!(parent(&spans, tool)["name"], "claude_code.interaction");
    assert_eq!(decision["traceId"], tool["traceId"]);
}
