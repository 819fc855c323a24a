//! Records as metrics: the number of decisions, and the durations of hooks and commands. Each minute has its own points, which
//! count what is new since the previous points (delta). So only a time is kept between two requests.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::attributes::{reasons, rule_part};
use super::spans::{command_name, nanoseconds, time};
use crate::audit::TrailEntry;
use crate::audit::fields::{list, text};

/// Upper bounds of the buckets of durations, in seconds.
const BOUNDS: [f64; 16] =
    [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

/// OpenTelemetry's number for points that count only new values.
const DELTA: u8 = 1;

/// Patterns can be long, and labels are stored with every point.
const MAX_LABEL: usize = 200;

/// Two points of the same name need different times.
const STEP: SignedDuration = SignedDuration::from_micros(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    Decisions,
    HookDuration,
    CommandDuration,
    Tokens,
    Cost,
}

impl Metric {
    /// Name, unit and description.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Metric::Decisions => ("conclaude.decisions", "{decision}", "Decisions of conclaude."),
            Metric::HookDuration => {
                ("conclaude.hook.duration", "s", "How long hooks took until they answered.")
            }
            Metric::CommandDuration => ("conclaude.command.duration", "s", "How long commands of hooks ran."),
            Metric::Tokens => ("conclaude.tokens", "{token}", "Tokens of answers."),
            Metric::Cost => ("conclaude.cost", "USD", "What tokens cost by list prices."),
        }
    }
}

/// Names and values of a point.
pub(super) type Labels = Vec<(&'static str, String)>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Amount {
    Count(u64),
    Number(f64),
    Durations(Histogram),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Histogram {
    buckets: [u64; BOUNDS.len() + 1],
    sum: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl Histogram {
    fn add(&mut self, seconds: f64) {
        let at = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        if let Some(bucket) = self.buckets.get_mut(at) {
            *bucket += 1;
        }
        self.sum += seconds;
        self.min = Some(self.min.map_or(seconds, |min| min.min(seconds)));
        self.max = Some(self.max.map_or(seconds, |max| max.max(seconds)));
    }
}

/// The points of one minute.
#[derive(Debug, Default)]
struct Window {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    points: BTreeMap<(Metric, Labels), Amount>,
}

/// Points by minute.
#[derive(Debug, Default)]
pub(super) struct Points(BTreeMap<i64, Window>);

impl Points {
    pub(super) fn take(&mut self, entry: &TrailEntry) {
        let record = &entry.record;
        let Some(recorded) = time(record, "time") else { return };
        let event = label(text(record, "event").unwrap_or("record"));
        let labels = vec![
            ("conclaude.event", event.clone()),
            ("conclaude.decision", label(text(record, "decision").unwrap_or_default())),
            ("conclaude.rule", rule(record)),
        ];
        self.count(recorded, Metric::Decisions, labels, 1);
        if let Some(started) = time(record, "started") {
            let took = recorded.duration_since(started).as_secs_f64();
            self.duration(recorded, Metric::HookDuration, vec![("conclaude.event", event.clone())], took);
        }
        for command in list(record, "commands") {
            #[expect(clippy::cast_precision_loss, reason = "no command runs for 2^53 milliseconds")]
            let took = command.get("duration_ms").and_then(Value::as_u64).map(|ms| ms as f64 / 1_000.0);
            let name = command_name(text(command, "run").unwrap_or_default()).unwrap_or_default();
            let labels = vec![
                ("conclaude.event", event.clone()),
                ("conclaude.command", name.to_owned()),
                ("conclaude.command.verdict", label(text(command, "verdict").unwrap_or_default())),
            ];
            if let Some(took) = took {
                self.duration(recorded, Metric::CommandDuration, labels, took);
            }
        }
    }

    pub(super) fn count(&mut self, at: Timestamp, metric: Metric, labels: Labels, more: u64) {
        if let Amount::Count(count) = self.point(at, metric, labels, Amount::Count(0)) {
            *count += more;
        }
    }

    pub(super) fn number(&mut self, at: Timestamp, metric: Metric, labels: Labels, more: f64) {
        if let Amount::Number(number) = self.point(at, metric, labels, Amount::Number(0.0)) {
            *number += more;
        }
    }

    fn duration(&mut self, at: Timestamp, metric: Metric, labels: Labels, seconds: f64) {
        if let Amount::Durations(all) =
            self.point(at, metric, labels, Amount::Durations(Histogram::default()))
        {
            all.add(seconds.max(0.0));
        }
    }

    fn point(&mut self, at: Timestamp, metric: Metric, labels: Labels, none: Amount) -> &mut Amount {
        let window = self.0.entry(at.as_second().div_euclid(60)).or_default();
        window.first = Some(window.first.map_or(at, |first| first.min(at)));
        window.last = Some(window.last.map_or(at, |last| last.max(at)));
        let labels = labels.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        window.points.entry((metric, labels)).or_insert(none)
    }

    /// The metrics, and the time up to which they count. Each point starts at the end of the previous one, as collectors that add
    /// them up expect.
    pub(super) fn metrics(self, mut until: Option<Timestamp>) -> (Vec<Value>, Option<Timestamp>) {
        let mut points: BTreeMap<Metric, Vec<Value>> = BTreeMap::new();
        for window in self.0.into_values() {
            let Some((first, last)) = window.first.zip(window.last) else { continue };
            let after = until.and_then(|until| until.checked_add(STEP).ok());
            let end = after.map_or(last, |after| last.max(after));
            let start = until.unwrap_or(first).min(end);
            for ((metric, labels), amount) in window.points {
                points.entry(metric).or_default().push(point(&labels, amount, start, end));
            }
            until = Some(end);
        }
        (points.into_iter().map(|(metric, points)| whole(metric, points)).collect(), until)
    }
}

fn whole(metric: Metric, points: Vec<Value>) -> Value {
    let (name, unit, description) = metric.words();
    let mut whole = json!({ "name": name, "unit": unit, "description": description });
    let (kind, data) = match metric {
        Metric::HookDuration | Metric::CommandDuration => {
            ("histogram", json!({ "dataPoints": points, "aggregationTemporality": DELTA }))
        }
        Metric::Decisions | Metric::Tokens | Metric::Cost => {
            ("sum", json!({ "dataPoints": points, "aggregationTemporality": DELTA, "isMonotonic": true }))
        }
    };
    if let Some(fields) = whole.as_object_mut() {
        fields.insert(kind.into(), data);
    }
    whole
}

fn point(labels: &Labels, amount: Amount, start: Timestamp, end: Timestamp) -> Value {
    let labels: Vec<Value> =
        labels.iter().map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect();
    let mut point = json!({
        "attributes": labels, "startTimeUnixNano": nanoseconds(start), "timeUnixNano": nanoseconds(end),
    });
    let values = match amount {
        Amount::Count(count) => json!({ "asInt": count.to_string() }),
        Amount::Number(number) => json!({ "asDouble": number }),
        Amount::Durations(Histogram { buckets, sum, min, max }) => {
            let count: u64 = buckets.iter().sum();
            let buckets: Vec<String> = buckets.iter().map(u64::to_string).collect();
            json!({
                "count": count.to_string(), "sum": sum, "min": min, "max": max,
                "bucketCounts": buckets, "explicitBounds": BOUNDS,
            })
        }
    };
    if let (Some(point), Value::Object(values)) = (point.as_object_mut(), values) {
        point.extend(values);
    }
    point
}

/// The first rule that decided: there is one point for each decision.
fn rule(record: &Value) -> String {
    let reasons = reasons(record);
    let Some(reason) = reasons.first() else { return String::new() };
    let (key, pattern) = (rule_part(reason, "key"), rule_part(reason, "pattern"));
    label(&if pattern.is_empty() { key } else { format!("{key} {pattern:?}") })
}

fn label(text: &str) -> String {
    text.chars().take(MAX_LABEL).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn times(metrics: &[Value]) -> Vec<(String, String)> {
        let points = metrics.iter().flat_map(|metric| metric["sum"]["dataPoints"].as_array().unwrap());
        let time = |point: &Value, name: &str| {
            let nanoseconds: i128 = point[name].as_str().unwrap().parse().unwrap();
            Timestamp::from_nanosecond(nanoseconds).unwrap().to_string()
        };
        points.map(|point| (time(point, "startTimeUnixNano"), time(point, "timeUnixNano"))).collect()
    }

    #[test]
    fn points_of_two_requests_never_overlap_whatever_the_times_of_records() {
        let mut points = Points::default();
        for time in ["2026-01-01T10:00:01Z", "2026-01-01T10:00:31Z", "2026-01-01T10:02:00Z"] {
            points.count(at(time), Metric::Decisions, Vec::new(), 1);
        }
        let (metrics, until) = points.metrics(None);
        assert_eq!(
            times(&metrics),
            [
                ("2026-01-01T10:00:01Z".into(), "2026-01-01T10:00:31Z".into()),
                ("2026-01-01T10:00:31Z".into(), "2026-01-01T10:02:00Z".into()),
            ]
        );
        let mut late = Points::default();
        late.count(at("2026-01-01T10:01:59Z"), Metric::Decisions, Vec::new(), 1);
        let (metrics, until) = late.metrics(until);
        let after = "2026-01-01T10:02:00.000001Z";
        assert_eq!(times(&metrics), [("2026-01-01T10:02:00Z".into(), after.into())]);
        assert_eq!(until, Some(at(after)));
    }

    #[test]
    fn durations_are_counted_in_the_bucket_that_they_fit() {
        let mut all = Histogram::default();
        for seconds in [0.0, 0.001, 0.0011, 400.0] {
            all.add(seconds);
        }
        assert_eq!((all.buckets[0], all.buckets[1], all.buckets[16]), (2, 1, 1));
        assert_eq!((all.min, all.max), (Some(0.0), Some(400.0)));
    }
}
