//! Looking into the trail.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

/// Which records are wanted; what is not set matches all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The session, or the start of its id.
    pub session: Option<String>,
    /// The agent's name or id.
    pub agent: Option<String>,
    /// A part of the step file's path.
    pub step: Option<String>,
    pub event: Option<String>,
    pub decision: Option<String>,
    /// The earliest time.
    pub since: Option<Timestamp>,
}

impl Filter {
    pub(super) fn admits(&self, record: &Value) -> bool {
        let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        let is = |wanted: &Option<String>, test: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(test);
        let recent = || {
            text("time").parse::<Timestamp>().is_ok_and(|time| self.since.is_none_or(|since| time >= since))
        };
        is(&self.session, &|wanted| text("session").starts_with(wanted))
            && is(&self.agent, &|wanted| text("agent") == wanted || text("agent_id") == wanted)
            && is(&self.step, &|wanted| text("step").contains(wanted))
            && is(&self.event, &|wanted| text("event").eq_ignore_ascii_case(wanted))
            && is(&self.decision, &|wanted| text("decision").eq_ignore_ascii_case(wanted))
            && (self.since.is_none() || recent())
    }
}

/// Counts over records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// By agent: decisions by name.
    pub agents: BTreeMap<String, BTreeMap<String, u64>>,
    /// By command: runs, failures, milliseconds in all, the longest.
    pub commands: BTreeMap<String, (u64, u64, u64, u64)>,
    pub findings: BTreeMap<String, u64>,
    /// By agent: how many stops have a time, and the seconds in all.
    pub durations: BTreeMap<String, (u64, f64)>,
}

impl Stats {
    #[must_use]
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Value>) -> Stats {
        let mut stats = Stats::default();
        for record in records {
            let text =
                |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or("-").to_owned();
            *stats
                .agents
                .entry(text(record, "agent"))
                .or_default()
                .entry(text(record, "decision"))
                .or_default() += 1;
            let list = |name: &str| record.get(name).and_then(Value::as_array).into_iter().flatten();
            for command in list("commands") {
                let duration = command.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
                let failed = command.get("exit_code").and_then(Value::as_i64) != Some(0);
                let entry = stats.commands.entry(text(command, "run")).or_default();
                *entry =
                    (entry.0 + 1, entry.1 + u64::from(failed), entry.2 + duration, entry.3.max(duration));
            }
            if let Some(proof) = record.get("evidence") {
                let duration = proof.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
                let failed = text(record, "decision") != "PASS";
                let entry = stats.commands.entry(text(proof, "command")).or_default();
                *entry =
                    (entry.0 + 1, entry.1 + u64::from(failed), entry.2 + duration, entry.3.max(duration));
            }
            let time = |name: &str| record.get("des")?.get(name)?.as_str()?.parse::<Timestamp>().ok();
            if let (Some(start), Some(end)) = (time("start_time"), time("end_time")) {
                let entry = stats.durations.entry(text(record, "agent")).or_default();
                *entry = (entry.0 + 1, entry.1 + end.duration_since(start).as_secs_f64());
            }
            for finding in list("findings") {
                *stats.findings.entry(text(finding, "code")).or_default() += 1;
            }
        }
        stats
    }
}
