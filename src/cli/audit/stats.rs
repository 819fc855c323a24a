//! `audit stats`: decisions, durations, commands and findings, counted.

use std::io;

use anstyle::Style;
use serde_json::{Value, json};

use crate::cli::out::{Out, Paint};
use crate::cli::table;
use conclaude_core::text::printable_line;
use conclaude_store::audit::Stats;

const BOLD: Paint = Paint(Style::new().bold());

/// Longer commands are cut in the table.
const MAX_COMMAND_CHARS: usize = 60;

pub(super) fn print_json(out: &mut Out<'_>, stats: &Stats) -> io::Result<()> {
    let commands: Vec<Value> = stats
        .commands
        .iter()
        .map(|(run, (runs, failed, total, max))| {
            json!({ "run": run, "runs": runs, "failed": failed, "total_ms": total, "max_ms": max })
        })
        .collect();
    let durations: Vec<Value> = stats
        .durations
        .iter()
        .map(|(agent, (stops, seconds))| json!({ "agent": agent, "stops": stops, "total_seconds": seconds }))
        .collect();
    let all = json!({
        "agents": stats.agents, "commands": commands, "findings": stats.findings, "durations": durations,
    });
    out.json(&all)
}

pub(super) fn print_tables(out: &mut Out<'_>, stats: &Stats) -> io::Result<()> {
    table(out, &agents(stats), BOLD)?;
    table_unless_empty(out, &durations(stats))?;
    table_unless_empty(out, &commands(stats))?;
    table_unless_empty(out, &findings(stats))
}

fn table_unless_empty<const N: usize>(out: &mut Out<'_>, rows: &[[String; N]]) -> io::Result<()> {
    // The first row is the heading.
    if rows.len() > 1 {
        writeln!(out)?;
        table(out, rows, BOLD)?;
    }
    Ok(())
}

fn agents(stats: &Stats) -> Vec<[String; 3]> {
    let mut rows = vec![["AGENT", "DECISION", "COUNT"].map(str::to_owned)];
    for (agent, decisions) in &stats.agents {
        for (decision, n) in decisions {
            rows.push([printable_line(agent), printable_line(decision), n.to_string()]);
        }
    }
    rows
}

fn durations(stats: &Stats) -> Vec<[String; 3]> {
    let mut rows = vec![["AGENT", "STOPS", "MEAN S"].map(str::to_owned)];
    for (agent, (stops, seconds)) in &stats.durations {
        let mean = seconds / f64::from(u32::try_from(*stops).unwrap_or(u32::MAX).max(1));
        rows.push([printable_line(agent), stops.to_string(), format!("{mean:.1}")]);
    }
    rows
}

fn commands(stats: &Stats) -> Vec<[String; 5]> {
    let mut rows = vec![["COMMAND", "RUNS", "FAILED", "MEAN MS", "MAX MS"].map(str::to_owned)];
    for (run, (runs, failed, total, max)) in &stats.commands {
        let mean = total / runs.max(&1);
        let short: String = printable_line(run).chars().take(MAX_COMMAND_CHARS).collect();
        rows.push([short, runs.to_string(), failed.to_string(), mean.to_string(), max.to_string()]);
    }
    rows
}

fn findings(stats: &Stats) -> Vec<[String; 2]> {
    let mut rows = vec![["FINDING", "COUNT"].map(str::to_owned)];
    rows.extend(stats.findings.iter().map(|(code, n)| [printable_line(code), n.to_string()]));
    rows
}
