//! A collector of OpenTelemetry on loopback, which answers as it is told and gives away what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use serde_json::Value;

/// Long enough for any machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub path: String,
    pub head: String,
    pub body: Value,
}

/// What is answered.
pub(crate) enum Reply {
    /// Status with its reason, further headers, body.
    Says(&'static str, &'static str, &'static str),
    /// The connection is held, and never answered.
    Nothing,
}

pub(crate) const FINE: Reply = Reply::Says("200 OK", "", "{}");

pub(crate) struct Collector {
    pub url: String,
    requests: Receiver<Request>,
}

impl Collector {
    /// Accepts everything.
    pub(crate) fn new() -> Collector {
        Collector::answering(|_, _| FINE)
    }

    /// Answers each request, by its number from 0.
    pub(crate) fn answering(reply: impl Fn(usize, &Request) -> Reply + Send + 'static) -> Collector {
        Collector::on(TcpListener::bind("127.0.0.1:0").unwrap(), reply)
    }

    pub(crate) fn on(
        listener: TcpListener,
        reply: impl Fn(usize, &Request) -> Reply + Send + 'static,
    ) -> Collector {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let request = read(&stream);
                let answer = reply(number, &request);
                if sender.send(request).is_err() {
                    return;
                }
                match answer {
                    Reply::Says(status, headers, body) => write(stream, status, headers, body),
                    Reply::Nothing => held.push(stream),
                }
            }
        });
        Collector { url, requests }
    }

    /// What has come until now.
    pub(crate) fn received(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }

    /// The next request, which is on its way.
    pub(crate) fn next(&self) -> Request {
        self.requests.recv_timeout(PATIENCE).expect("a request comes")
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() <= 2 {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let path = head.split_whitespace().nth(1).unwrap().to_owned();
    Request { path, head, body: serde_json::from_slice(&body).unwrap() }
}

fn write(mut stream: TcpStream, status: &str, headers: &str, body: &str) {
    // Whoever asked may be gone.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}",
        body.len()
    );
}

impl Request {
    /// The spans, read as OpenTelemetry's own types read them.
    pub(crate) fn spans(&self) -> Vec<opentelemetry_proto::tonic::trace::v1::Span> {
        assert_eq!(self.path, "/v1/traces");
        let request: ExportTraceServiceRequest = serde_json::from_value(self.body.clone()).unwrap();
        contains(&serde_json::to_value(&request).unwrap(), &self.body, "");
        let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// The log records, in the same way.
    pub(crate) fn logs(&self) -> Vec<opentelemetry_proto::tonic::logs::v1::LogRecord> {
        assert_eq!(self.path, "/v1/logs");
        let request: ExportLogsServiceRequest = serde_json::from_value(self.body.clone()).unwrap();
        contains(&serde_json::to_value(&request).unwrap(), &self.body, "");
        let scopes = request.resource_logs.into_iter().flat_map(|resource| resource.scope_logs);
        scopes.flat_map(|scope| scope.log_records).collect()
    }

    /// The numbers of the records in it.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        let of = |list: &Value| {
            let seq = list.as_array().unwrap().iter().find(|one| one["key"] == "conclaude.seq");
            seq.map(|seq| seq["value"]["intValue"].as_str().unwrap().parse().unwrap())
        };
        self.items().iter().filter_map(|item| of(&item["attributes"])).collect()
    }

    /// The ids of the spans in it.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.items().iter().map(|item| item["spanId"].as_str().unwrap().to_owned()).collect()
    }

    fn items(&self) -> Vec<Value> {
        let logs = &self.body["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
        let spans = &self.body["resourceSpans"][0]["scopeSpans"][0]["spans"];
        logs.as_array().or(spans.as_array()).unwrap().clone()
    }
}

/// Whether all of ours was understood: a field with another name would be ignored.
fn contains(theirs: &Value, ours: &Value, at: &str) {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            for (name, value) in ours {
                contains(theirs.get(name).unwrap_or(&Value::Null), value, &format!("{at}/{name}"));
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            assert_eq!(theirs.len(), ours.len(), "{at}");
            for (index, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                contains(theirs, ours, &format!("{at}/{index}"));
            }
        }
        (Value::Null, Value::Object(ours)) if ours.is_empty() => {}
        (theirs, ours) => assert_eq!(theirs, ours, "{at}"),
    }
}
