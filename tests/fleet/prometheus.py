"""Runs queries in Prometheus over what was sent, with the names and cumulative sums that the collector gives it. Reads {requests, queries} and
prints for each query its number of series, or the error."""

import json
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from otlp import attributes, points

UNITS = {"s": "_seconds", "USD": "_USD"}


def label(name):
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


def labels(resource, point, more=()):
    all_labels = {"job": resource["service.name"], "instance": resource["service.instance.id"]} | resource | attributes(point["attributes"])
    pairs = [f"{label(name)}={json.dumps(value)}" for name, value in (all_labels | dict(more)).items()]
    return "{" + ",".join(pairs) + "}"


def series(requests):
    """Each series with its increases, by the family that it is of."""
    families = {}
    for kind in ["sum", "histogram"]:
        for resource, metric, point in points(requests, kind):
            name = label(metric["name"]) + UNITS.get(metric["unit"], "")
            of = families.setdefault((name, "counter" if kind == "sum" else "histogram"), {})

            def add(suffix, value, more=()):
                key = name + suffix + labels(resource, point, more)
                of[key] = of.get(key, 0.0) + value

            if kind == "sum":
                add("_total", float(point.get("asInt", point.get("asDouble"))))
                continue
            total = 0
            for bound, count in zip([*point["explicitBounds"], "+Inf"], point["bucketCounts"]):
                total += int(count)
                add("_bucket", total, [("le", str(bound))])
            add("_sum", point["sum"])
            add("_count", int(point["count"]))
    return families


def open_metrics(requests, now):
    """A zero five minutes ago, and the sums a minute ago."""
    lines = []
    for (name, kind), of in series(requests).items():
        lines.append(f"# TYPE {name} {kind}")
        for key, value in of.items():
            lines += [f"{key} 0 {now - 300}", f"{key} {value} {now - 240}", f"{key} {value} {now - 60}"]
    return "\n".join([*lines, "# EOF", ""])


def without_variables(query):
    for name, value in [("$__rate_interval", "10m"), ("$__range", "1h"), ("$project", ".*")]:
        query = query.replace(name, value)
    return query


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def ask(base, query, now):
    values = re.fullmatch(r"label_values\((\w+), (\w+)\)", query)
    if values:
        metric, name = values.groups()
        return get(f"{base}/api/v1/label/{name}/values?" + urllib.parse.urlencode({"match[]": metric}))
    return get(f"{base}/api/v1/query?" + urllib.parse.urlencode({"query": without_variables(query), "time": now}))


def main():
    given = json.load(sys.stdin)
    folder, now = Path(tempfile.mkdtemp()), int(time.time())
    (folder / "sent.txt").write_text(open_metrics(given["requests"], now))
    (folder / "prometheus.yml").write_text("global: {}\n")
    promtool = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(folder / "sent.txt"), str(folder / "data")]
    subprocess.run(promtool, check=True, stdout=subprocess.DEVNULL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    options = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"]
    server = subprocess.Popen(["prometheus", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        base, until = f"http://{address}", time.time() + 60
        while True:
            try:
                urllib.request.urlopen(f"{base}/-/ready", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                if time.time() > until:
                    raise
                time.sleep(0.1)
        found = {}
        for name, query in given["queries"]:
            answer = ask(base, query, now)
            data = answer.get("data")
            series_found = data["result"] if isinstance(data, dict) and "result" in data else data
            found[name] = len(series_found) if answer["status"] == "success" else answer.get("error", "failed")
        json.dump(found, sys.stdout)
    finally:
        server.terminate()
        server.wait()


main()
