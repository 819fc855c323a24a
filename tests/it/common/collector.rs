//! A collector of OpenTelemetry: a server, and what its requests hold.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use serde_json::Value;

#[cfg(unix)]
pub(crate) use super::server::ClosedPort;
pub(crate) use super::server::{FINE, Reply, Request, Server as Collector};

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

    /// The metrics, in the same way.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        assert_eq!(self.path, "/v1/metrics");
        let request: ExportMetricsServiceRequest = serde_json::from_value(self.body.clone()).unwrap();
        contains(&serde_json::to_value(&request).unwrap(), &self.body, "");
        let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
        scopes.flat_map(|scope| scope.metrics).collect()
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
