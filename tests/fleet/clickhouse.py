"""Runs queries in ClickHouse's engine over what was sent, in the tables of the collector's exporter. Reads {requests, queries} and prints
for each query its number of rows, or the error."""

import json
import re
import sys

import chdb.session
from otlp import attributes, items, points, seconds

MAP = "Map(LowCardinality(String), String)"
COMMON = f"ServiceName LowCardinality(String), ResourceAttributes {MAP}"
POINT = f"{COMMON}, MetricName String, MetricUnit String, Attributes {MAP}, StartTimeUnix DateTime64(9), TimeUnix DateTime64(9)"
TABLES = {
    "otel_logs": f"{COMMON}, Timestamp DateTime64(9), TraceId String, SpanId String, SeverityText String, SeverityNumber UInt8, "
    f"Body String, LogAttributes {MAP}",
    "otel_traces": f"{COMMON}, Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String, SpanName String, "
    f"SpanAttributes {MAP}, Duration UInt64, StatusCode String",
    "otel_metrics_sum": f"{POINT}, Value Float64, AggregationTemporality Int32, IsMonotonic Boolean",
    "otel_metrics_histogram": f"{POINT}, Count UInt64, Sum Float64, BucketCounts Array(UInt64), ExplicitBounds Array(Float64), "
    "Min Float64, Max Float64, AggregationTemporality Int32",
}


def common(resource):
    return {"ServiceName": resource["service.name"], "ResourceAttributes": resource}


def rows(requests):
    for resource, log in items(requests, "resourceLogs", "scopeLogs", "logRecords"):
        yield "otel_logs", common(resource) | {
            "Timestamp": seconds(log["timeUnixNano"]), "TraceId": log["traceId"], "SpanId": log["spanId"],
            "SeverityText": log["severityText"], "SeverityNumber": log["severityNumber"], "Body": log["body"]["stringValue"],
            "LogAttributes": attributes(log["attributes"]),
        }
    for resource, span in items(requests, "resourceSpans", "scopeSpans", "spans"):
        yield "otel_traces", common(resource) | {
            "Timestamp": seconds(span["startTimeUnixNano"]), "TraceId": span["traceId"], "SpanId": span["spanId"],
            "ParentSpanId": span.get("parentSpanId", ""), "SpanName": span["name"], "SpanAttributes": attributes(span["attributes"]),
            "Duration": int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]),
            "StatusCode": "Error" if span["status"].get("code") == 2 else "Unset",
        }
    for kind, table in [("sum", "otel_metrics_sum"), ("histogram", "otel_metrics_histogram")]:
        for resource, metric, point in points(requests, kind):
            row = common(resource) | {
                "MetricName": metric["name"], "MetricUnit": metric["unit"], "Attributes": attributes(point["attributes"]),
                "StartTimeUnix": seconds(point["startTimeUnixNano"]), "TimeUnix": seconds(point["timeUnixNano"]),
                "AggregationTemporality": metric[kind]["aggregationTemporality"],
            }
            if kind == "sum":
                row |= {"Value": float(point.get("asInt", point.get("asDouble"))), "IsMonotonic": True}
            else:
                row |= {
                    "Count": int(point["count"]), "Sum": point["sum"], "Min": point["min"], "Max": point["max"],
                    "BucketCounts": [int(count) for count in point["bucketCounts"]], "ExplicitBounds": point["explicitBounds"],
                }
            yield table, row


def without_macros(sql, project):
    """The query as Grafana sends it."""
    sql = re.sub(r"\$__timeFilter\((\w+)\)", r"(\1 BETWEEN now() - INTERVAL 1 YEAR AND now() + INTERVAL 1 DAY)", sql)
    sql = re.sub(r"\$__timeInterval\((\w+)\)", r"toStartOfInterval(\1, INTERVAL 60 second)", sql)
    return sql.replace("${project:singlequote}", f"'{project}'")


def main():
    given = json.load(sys.stdin)
    session = chdb.session.Session()
    session.query("CREATE DATABASE fleet")
    session.query("USE fleet")
    for table, columns in TABLES.items():
        session.query(f"CREATE TABLE {table} ({columns}) ENGINE = MergeTree ORDER BY tuple()")
    all_rows = list(rows(given["requests"]))
    for table, row in all_rows:
        session.query(f"INSERT INTO {table} FORMAT JSONEachRow {json.dumps(row)}")
    project = all_rows[0][1]["ResourceAttributes"]["conclaude.project"]
    found = {}
    for name, sql in given["queries"]:
        try:
            answer = str(session.query(without_macros(sql, project), "JSONEachRow"))
            found[name] = len(answer.splitlines())
        except Exception as error:  # The message is what the test shows.
            found[name] = str(error)[:500]
    json.dump(found, sys.stdout)


main()
