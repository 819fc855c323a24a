//! Counts over records.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{self, list};

/// The common name for all further names, if there are too many.
const OTHERS: &str = "(others)";

/// The memory for all names together, however long the trail is.
const MAX_NAME_BYTES: usize = 4 << 20;

/// The memory of a name in addition to its own bytes.
const NAME_COST: usize = 100;

/// The runs of one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandStats {
    pub runs: u64,
    pub failures: u64,
    pub total_ms: u64,
    pub max_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// By agent: decisions by name.
    pub agents: BTreeMap<String, BTreeMap<String, u64>>,
    pub commands: BTreeMap<String, CommandStats>,
    pub findings: BTreeMap<String, u64>,
    /// By agent: how many stops have a time, and their total in seconds.
    pub durations: BTreeMap<String, (u64, f64)>,
    names: Names,
}

impl Stats {
    pub fn add(&mut self, record: &Value) {
        let names = &mut self.names;
        let decisions = names.entry(&mut self.agents, text(record, "agent"));
        *names.entry(decisions, text(record, "decision")) += 1;
        for command in list(record, "commands") {
            let failed = command.get("exit_code").and_then(Value::as_i64) != Some(0);
            add_run(names.entry(&mut self.commands, text(command, "run")), command, failed);
        }
        if let Some(proof) = record.get("evidence") {
            let failed = text(record, "decision") != "PASS";
            add_run(names.entry(&mut self.commands, text(proof, "command")), proof, failed);
        }
        let time = |name: &str| record.get("des")?.get(name)?.as_str()?.parse::<Timestamp>().ok();
        if let (Some(start), Some(end)) = (time("start_time"), time("end_time")) {
            let (stops, seconds) = names.entry(&mut self.durations, text(record, "agent"));
            *stops += 1;
            *seconds += end.duration_since(start).as_secs_f64();
        }
        for finding in list(record, "findings") {
            *names.entry(&mut self.findings, text(finding, "code")) += 1;
        }
    }
}

fn add_run(stats: &mut CommandStats, run: &Value, failed: bool) {
    let duration = run.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
    stats.runs += 1;
    stats.failures += u64::from(failed);
    stats.total_ms = stats.total_ms.saturating_add(duration);
    stats.max_ms = stats.max_ms.max(duration);
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    fields::text(value, name).unwrap_or("-")
}

/// The bytes that all names take.
#[derive(Clone, Debug, Default, PartialEq)]
struct Names(usize);

impl Names {
    /// The entry of a name, or the common entry if there is no room for another name.
    fn entry<'a, T: Default>(&mut self, map: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
        let is_new = !map.contains_key(name);
        let cost = name.len() + NAME_COST;
        if is_new && self.0 + cost > MAX_NAME_BYTES {
            return map.entry(OTHERS.to_owned()).or_default();
        }
        if is_new {
            self.0 += cost;
        }
        map.entry(name.to_owned()).or_default()
    }
}
