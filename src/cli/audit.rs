//! `conclaude audit …`: shows, verifies and summarises the audit trail.

use std::io;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use crate::cli::out::{Out, Paint};
use crate::cli::table;
use conclaude_core::exit::Exit;
use conclaude_core::text::{count, printable_line};
use conclaude_os::environment::Variables;
use conclaude_store::audit::{CommandStats, Filter, Reader, Stats, TraceParent, Trail, Verdict, verify};
use filter::FilterArgs;

mod export;
mod filter;
mod show;

pub(super) use filter::since;

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const FAINT: Paint = Paint(Style::new().dimmed());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());

#[derive(clap::Subcommand)]
pub(super) enum AuditSubcommand {
    /// Show the records, newest last
    Show {
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        view: show::ShowArgs,
    },
    /// Check that no record was changed, removed, inserted or moved; exits with 0 or 1
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Send the records to a collector, or write them as CSV or JSON
    ///
    /// Sent records are marked as such for each endpoint: the next call continues after them. Exits with 1 if something could not
    /// be sent; the next call sends it.
    Export {
        #[command(flatten)]
        request: Box<export::ExportRequest>,
    },
    /// Archive a trail that is broken or too long, and start a new one that records the reset
    Reset,
    /// Count decisions, commands and findings
    Stats {
        #[command(flatten)]
        filter: FilterArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl AuditSubcommand {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let root = super::root()?;
        let trail = Trail::of(&root.folder, None);
        let mut out = Out::buffered_stdout();
        let exit = match self {
            AuditSubcommand::Show { filter, view } => {
                show::run(&mut out, &trail, &filter.filter(&trail)?, &view)?;
                Exit::Success
            }
            AuditSubcommand::Stats { filter, json } => {
                count_records(&mut out, &trail, &filter.filter(&trail)?, json)?;
                Exit::Success
            }
            AuditSubcommand::Reset => {
                match trail.reset(TraceParent::of(&Variables::of_process()))? {
                    Some(archive) => {
                        writeln!(out, "the old trail is in {}; a new one was started", archive.display())?;
                    }
                    None => writeln!(out, "there is no trail in {}", trail.folder().display())?,
                }
                Exit::Success
            }
            AuditSubcommand::Export { request } => export::run(*request, &root, &trail)?,
            AuditSubcommand::Verify { json } => report(&mut out, &verify(&trail)?, json)?,
        };
        out.flush()?;
        Ok(exit)
    }
}

fn count_records(out: &mut Out<'_>, trail: &Trail, filter: &Filter, json: bool) -> anyhow::Result<()> {
    let mut reader = Reader::new(trail);
    let mut stats = Stats::default();
    let found = reader.each(filter, |entry| {
        stats.add(&entry.record);
        Ok(())
    })?;
    filter::check_known(filter, &reader)?;
    match (json, found) {
        (true, _) => print_stats_json(out, &stats)?,
        (false, 0) => writeln!(out, "{}", filter::nothing_found(trail, &reader))?,
        (false, _) => print_stats(out, &stats)?,
    }
    Ok(())
}

fn report(out: &mut Out<'_>, verdict: &Verdict, json: bool) -> io::Result<Exit> {
    let exit = if verdict.problem.is_none() { Exit::Success } else { Exit::Failure };
    if json {
        let Verdict { good, problem, warnings, notes, compared } = verdict;
        let report = json!({
            "ok": problem.is_none(), "records": good, "problem": problem, "warnings": warnings, "notes": notes,
            "end_compared": compared,
        });
        out.json(&report)?;
        return Ok(exit);
    }
    for note in &verdict.notes {
        writeln!(out, "{FAINT}note: {note}{FAINT:#}")?;
    }
    for warning in &verdict.warnings {
        writeln!(out, "{WARNING}warning:{WARNING:#} {warning}")?;
    }
    let good = count(verdict.good, "record");
    match &verdict.problem {
        None => writeln!(out, "{GOOD}✓{GOOD:#} {good} in order")?,
        Some(problem) => writeln!(out, "{BAD}✗{BAD:#} {problem}\n  {good} before it in order")?,
    }
    Ok(exit)
}

const BOLD: Paint = Paint(Style::new().bold());

/// Longer commands are cut in the table.
const MAX_COMMAND_CHARS: usize = 60;

fn print_stats_json(out: &mut Out<'_>, stats: &Stats) -> io::Result<()> {
    let commands: Vec<Value> = stats
        .commands
        .iter()
        .map(|(run, stats)| {
            json!({
                "run": run, "runs": stats.runs, "failed": stats.failures,
                "total_ms": stats.total_ms, "max_ms": stats.max_ms,
            })
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

fn print_stats(out: &mut Out<'_>, stats: &Stats) -> io::Result<()> {
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
    for (run, CommandStats { runs, failures, total_ms, max_ms }) in &stats.commands {
        let mean = total_ms / runs.max(&1);
        let short: String = printable_line(run).chars().take(MAX_COMMAND_CHARS).collect();
        rows.push([short, runs.to_string(), failures.to_string(), mean.to_string(), max_ms.to_string()]);
    }
    rows
}

fn findings(stats: &Stats) -> Vec<[String; 2]> {
    let mut rows = vec![["FINDING", "COUNT"].map(str::to_owned)];
    rows.extend(stats.findings.iter().map(|(code, n)| [printable_line(code), n.to_string()]));
    rows
}
