"""What `audit export --otlp` sent, as rows: one dictionary for each log, span and point."""

import json


def text(value):
    """A value as the exporters of the collector write it into a map of texts."""
    (kind, of), = value.items()
    if kind == "arrayValue":
        return json.dumps([text(one) for one in of.get("values", [])], separators=(",", ":"))
    if kind == "boolValue":
        return "true" if of else "false"
    return str(of)


def attributes(of):
    return {one["key"]: text(one["value"]) for one in of}


def seconds(nanoseconds):
    return f"{int(nanoseconds) // 10**9}.{int(nanoseconds) % 10**9:09}"


def items(requests, resources, scopes, name):
    for request in requests:
        for resource in request["body"].get(resources, []):
            of_resource = attributes(resource["resource"]["attributes"])
            for scope in resource[scopes]:
                for item in scope[name]:
                    yield of_resource, item


def points(requests, kind):
    for resource, metric in items(requests, "resourceMetrics", "scopeMetrics", "metrics"):
        for point in metric.get(kind, {}).get("dataPoints", []):
            yield resource, metric, point
