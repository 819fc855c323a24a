//! The tables of records: decisions, findings, commands and their output.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use serde_json::Value;

use super::{MAX_ROWS, code, code_within, duration, heading, name_of, row, rows, time};
use crate::report::model::{Lane, RecordDetails, Report};
use conclaude_core::decide::Word;
use conclaude_core::finding::Code;
use conclaude_store::audit::fields::text_or_empty as text;
use conclaude_store::audit::{reasons, words};

/// The most important texts have more room.
const MAX_REASON: usize = 600;

/// The last lines of an output, which say what failed.
const MAX_OUTPUT: usize = 10;

const RECORD_COLUMNS: [&str; 6] = ["record", "time", "event", "decision", "agent", "why"];

/// The newest rows of a table, and how many are before them.
#[derive(Default)]
struct NewestRows {
    rows: VecDeque<Vec<String>>,
    older: u64,
}

impl NewestRows {
    fn push(&mut self, row: Vec<String>) {
        if self.rows.len() == MAX_ROWS {
            self.rows.pop_front();
            self.older += 1;
        }
        self.rows.push_back(row);
    }

    fn write(&self, out: &mut String, title: &str, columns: &[&str]) {
        if self.rows.is_empty() {
            return;
        }
        heading(out, title, columns);
        self.rows.iter().for_each(|cells| row(out, cells));
        if self.older > 0 {
            let _ = writeln!(out, "\n… and {} before these", self.older);
        }
    }
}

/// A finding's kind, with its number and the phases that it names.
type FindingKinds = BTreeMap<String, (u64, BTreeSet<String>)>;
/// A command, with its runs, failures and longest time.
type CommandRuns = BTreeMap<String, (u64, u64, u64)>;

/// The shown parts of records. They are read once, because there are many.
#[derive(Default)]
pub(super) struct RecordTables {
    decided: NewestRows,
    /// Those that were tampered with.
    changed: NewestRows,
    outputs: NewestRows,
    kinds: FindingKinds,
    commands: CommandRuns,
}

impl RecordTables {
    pub(super) fn of(report: &Report) -> RecordTables {
        let mut tables = RecordTables::default();
        for record in &report.records {
            tables.add(&record.details(), report.lanes.get(record.lane));
        }
        tables
    }

    pub(super) fn write(self, out: &mut String) {
        self.changed.write(out, "Records that were tampered with", &RECORD_COLUMNS);
        self.decided.write(out, "Blocked, denied and asked", &RECORD_COLUMNS);
        self.outputs.write(out, "Output of failed commands", &["record", "command", "output"]);
        findings(out, self.kinds);
        commands(out, self.commands);
    }

    fn add(&mut self, record: &RecordDetails, lane: Option<&Lane>) {
        let (findings, commands) = (record.findings(), record.commands());
        if is_against(&record.decision) {
            let counting = reasons::counting(findings.iter(), commands.iter());
            let applied = record.applied();
            let applied = applied.iter().map(reasons::of_applied);
            let why: Vec<String> = record.reason.iter().cloned().chain(counting).chain(applied).collect();
            self.decided.push(record_row(record, lane, &why.join("; ")));
        }
        if let Some(doubt) = &record.doubt {
            self.changed.push(record_row(record, lane, doubt));
        }
        // A permission is not a finding.
        for finding in findings.iter().filter(|one| text(one, "code") != Code::PermissionAllowed.as_str()) {
            let kind = reasons::kind_in_words(text(finding, "code"));
            let (count, phases) = self.kinds.entry(kind.to_owned()).or_default();
            *count += 1;
            phases.extend(finding.get("phase").and_then(Value::as_str).map(str::to_owned));
        }
        for command in &commands {
            let (runs, failures, longest) = self.commands.entry(text(command, "run").to_owned()).or_default();
            *runs += 1;
            *failures += u64::from(!reasons::has_passed(command));
            let took = command.get("duration_ms").and_then(Value::as_u64).unwrap_or_default();
            *longest = took.max(*longest);
            self.output(record.seq, command);
        }
    }

    /// The output of a failed command.
    fn output(&mut self, seq: u64, command: &Value) {
        let output = reasons::shown_output(command);
        if output.is_empty() {
            return;
        }
        let lines: Vec<&str> = output.lines().collect();
        let end = lines.get(lines.len().saturating_sub(MAX_OUTPUT)..).unwrap_or_default();
        let end: Vec<String> = end.iter().map(|line| code(line)).filter(|line| !line.is_empty()).collect();
        self.outputs.push(vec![seq.to_string(), code(text(command, "run")), end.join("<br>")]);
    }
}

fn is_against(decision: &str) -> bool {
    match Word::of(decision) {
        Some(word) => {
            matches!(word, Word::Blocked | Word::Denied | Word::Asked | Word::AllowedDespiteFailure)
        }
        None => decision == words::UNFINISHED,
    }
}

fn record_row(record: &RecordDetails, lane: Option<&Lane>, why: &str) -> Vec<String> {
    vec![
        record.seq.to_string(),
        time(record.time),
        code(&record.event),
        code(reasons::decision_in_words(&record.decision)),
        name_of(lane),
        code_within(why, MAX_REASON),
    ]
}

fn findings(out: &mut String, kinds: FindingKinds) {
    if kinds.is_empty() {
        return;
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (count, _))| Reverse(*count));
    heading(out, "Findings by kind", &["kind", "count", "phases"]);
    rows(out, &kinds, |(kind, (count, phases))| {
        let phases: Vec<String> = phases.iter().map(|phase| code(phase)).collect();
        vec![code(kind), count.to_string(), phases.join(", ")]
    });
}

fn commands(out: &mut String, all: CommandRuns) {
    if all.is_empty() {
        return;
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, (.., longest))| Reverse(*longest));
    heading(out, "Slowest commands", &["command", "runs", "failures", "longest"]);
    rows(out, &all, |(run, (runs, failures, longest))| {
        vec![code(run), runs.to_string(), failures.to_string(), duration(*longest)]
    });
}
