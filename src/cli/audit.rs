//! `conclaude audit …`: who did what, and whether the trail is whole.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::audit::{Filter, Stats, Trail, records, verify};
use crate::exit::Exit;
use crate::text::{clean_line, count};

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const FAINT: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

/// The verbs of `conclaude audit`.
#[derive(Subcommand)]
pub(super) enum Verb {
    /// Show the records, newest last
    Show {
        #[command(flatten)]
        which: Which,
        /// Print the records as lines of JSON
        #[arg(long)]
        json: bool,
    },
    /// Check that no record was changed, removed, inserted or moved; exits with 0 or 1
    Verify,
    /// Put a trail aside that is broken or too long, and begin a new one that says so
    Reset,
    /// Count decisions, commands and findings
    Stats {
        #[command(flatten)]
        which: Which,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Which records.
#[derive(Args)]
pub(super) struct Which {
    /// Of this session; the beginning of its id is enough
    #[arg(long)]
    session: Option<String>,
    /// Of this agent, by name or id
    #[arg(long)]
    agent: Option<String>,
    /// Of steps whose path contains this
    #[arg(long)]
    step: Option<String>,
    /// Of this event, such as SubagentStop or "des run"
    #[arg(long)]
    event: Option<String>,
    /// With this decision, such as blocked
    #[arg(long)]
    decision: Option<String>,
    /// Since this time (2026-01-31T12:00:00Z) or for so long (30m, 12h, 7d)
    #[arg(long, value_parser = since)]
    since: Option<Timestamp>,
}

fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let help = || format!("{text:?} is neither a time (2026-01-31T12:00:00Z) nor a length (30m, 12h, 7d)");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(help)?;
    let number: i64 = number.trim().parse().map_err(|_| help())?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(help()),
    };
    let seconds = number.checked_mul(seconds).ok_or_else(help)?;
    Timestamp::now().checked_sub(jiff::SignedDuration::from_secs(seconds)).map_err(|_| help())
}

impl Which {
    fn filter(self) -> Filter {
        let Which { session, agent, step, event, decision, since } = self;
        Filter { session, agent, step, event, decision, since }
    }
}

fn trail() -> io::Result<Trail> {
    Ok(Trail::of(&super::root()?.folder, None))
}

impl Verb {
    pub(super) fn run(self) -> io::Result<Exit> {
        let trail = trail()?;
        let mut out = anstream::stdout().lock();
        match self {
            Verb::Show { which, json } => {
                let found = records(&trail, &which.filter())?;
                for (line, record) in &found {
                    if json { writeln!(out, "{line}")? } else { show(&mut out, record)? }
                }
                if found.is_empty() && !json {
                    writeln!(out, "no records in {}", trail.folder().display())?;
                }
            }
            Verb::Stats { which, json } => {
                let found = records(&trail, &which.filter())?;
                stats(&mut out, &Stats::of(found.iter().map(|(_, record)| record)), json)?;
            }
            Verb::Reset => match trail.reset()? {
                Some(aside) => writeln!(out, "the trail is in {} now; a new one has begun", aside.display())?,
                None => writeln!(out, "there is no trail in {}", trail.folder().display())?,
            },
            Verb::Verify => {
                let verdict = verify(&trail)?;
                for note in &verdict.notes {
                    writeln!(out, "{FAINT}note: {note}{FAINT:#}")?;
                }
                let good = count(verdict.good, "record");
                match &verdict.problem {
                    None => writeln!(out, "{GOOD}✓{GOOD:#} {good} in order")?,
                    Some(problem) => {
                        writeln!(out, "{BAD}✗{BAD:#} {problem}\n  {good} before it in order")?;
                        return Ok(Exit::Failure);
                    }
                }
            }
        }
        out.flush()?;
        Ok(Exit::Success)
    }
}

fn show(out: &mut impl Write, record: &Value) -> io::Result<()> {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(clean_line);
    let list = |name: &str| record.get(name).and_then(Value::as_array).into_iter().flatten();
    let seq = record.get("seq").and_then(Value::as_u64).unwrap_or(0);
    let decision = text(record, "decision").unwrap_or_default();
    let style = match decision.as_str() {
        "blocked" | "denied" | "unfinished" | "FAIL" | "FAILED" | "allowed_despite_failure" => BAD,
        _ => GOOD,
    };
    write!(out, "{FAINT}{seq:>5} {}{FAINT:#} ", text(record, "time").unwrap_or_default())?;
    write!(out, "{} {style}{decision}{style:#}", text(record, "event").unwrap_or_default())?;
    for name in ["agent", "agent_id", "step", "phase"] {
        if let Some(value) = text(record, name) {
            write!(out, " {FAINT}{name}={FAINT:#}{value}")?;
        }
    }
    writeln!(out)?;
    for finding in list("findings") {
        let phase = text(finding, "phase").map(|phase| format!(" {phase}")).unwrap_or_default();
        writeln!(
            out,
            "        {}{phase}: {}",
            text(finding, "code").unwrap_or_default(),
            text(finding, "what").unwrap_or_default()
        )?;
    }
    for command in list("commands") {
        let duration = command.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
        writeln!(
            out,
            "        `{}` {} in {duration} ms",
            text(command, "run").unwrap_or_default(),
            text(command, "status").unwrap_or_default()
        )?;
    }
    if let Some(proof) = record.get("evidence") {
        let code = proof.get("exit_code").and_then(Value::as_i64).unwrap_or(-1);
        writeln!(out, "        `{}` exited with code {code}", text(proof, "command").unwrap_or_default())?;
    }
    Ok(())
}

fn stats(out: &mut impl Write, stats: &Stats, as_json: bool) -> io::Result<()> {
    if as_json {
        let commands: Vec<Value> = stats
            .commands
            .iter()
            .map(|(run, (runs, failed, total, longest))| {
                json!({ "run": run, "runs": runs, "failed": failed, "total_ms": total, "longest_ms": longest })
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
        return writeln!(out, "{}", serde_json::to_string_pretty(&all)?);
    }
    let mut agents = vec![["AGENT", "DECISION", "COUNT"].map(str::to_owned)];
    for (agent, decisions) in &stats.agents {
        for (decision, n) in decisions {
            agents.push([clean_line(agent), clean_line(decision), n.to_string()]);
        }
    }
    super::table(out, &agents, BOLD)?;
    let mut durations = vec![["AGENT", "STOPS", "MEAN S"].map(str::to_owned)];
    for (agent, (stops, seconds)) in &stats.durations {
        let mean =
            if *stops == 0 { 0.0 } else { seconds / f64::from(u32::try_from(*stops).unwrap_or(u32::MAX)) };
        durations.push([clean_line(agent), stops.to_string(), format!("{mean:.1}")]);
    }
    if durations.len() > 1 {
        writeln!(out)?;
        super::table(out, &durations, BOLD)?;
    }
    let mut commands = vec![["COMMAND", "RUNS", "FAILED", "MEAN MS", "LONGEST MS"].map(str::to_owned)];
    for (run, (runs, failed, total, longest)) in &stats.commands {
        let mean = total / runs.max(&1);
        let short: String = clean_line(run).chars().take(60).collect();
        commands.push([short, runs.to_string(), failed.to_string(), mean.to_string(), longest.to_string()]);
    }
    if commands.len() > 1 {
        writeln!(out)?;
        super::table(out, &commands, BOLD)?;
    }
    let mut findings = vec![["FINDING", "COUNT"].map(str::to_owned)];
    findings.extend(stats.findings.iter().map(|(code, n)| [clean_line(code), n.to_string()]));
    if findings.len() > 1 {
        writeln!(out)?;
        super::table(out, &findings, BOLD)?;
    }
    Ok(())
}
