//! `conclaude audit …`: shows, verifies and summarises the audit trail.

use std::io;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use serde_json::json;

use crate::audit::{Filter, Reader, Stats, Trail, Verdict, last_session, verify};
use crate::cli::out::{Out, Paint};
use crate::exit::Exit;
use crate::text::count;

mod export;
mod known;
mod show;
mod stats;

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const FAINT: Paint = Paint(Style::new().dimmed());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());

#[derive(clap::Subcommand)]
pub(super) enum Subcommand {
    /// Show the records, newest last
    Show {
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        view: show::View,
    },
    /// Check that no record was changed, removed, inserted or moved; exits with 0 or 1
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Send the records to a collector, or write them as CSV or JSON
    ///
    /// Sent records are marked as such for each endpoint: the next call goes on after them. Exits with 1 if something could not
    /// be sent; it is sent by the next call.
    Export {
        #[command(flatten)]
        request: Box<export::Request>,
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

#[derive(clap::Args)]
pub(super) struct FilterArgs {
    /// Only records of this session; the start of its id is enough
    #[arg(long)]
    session: Option<String>,
    /// Only records of the session of the newest record
    #[arg(long, conflicts_with = "session")]
    last_session: bool,
    /// Only records of this agent, by name or id
    #[arg(long)]
    agent: Option<String>,
    /// Only records of steps whose path contains this
    #[arg(long)]
    step: Option<String>,
    /// Only records of this event, such as SubagentStop or "des run"
    #[arg(long)]
    event: Option<String>,
    /// Only records with this decision, such as blocked
    #[arg(long)]
    decision: Option<String>,
    /// Only records since this time (2026-01-31T12:00:00Z) or of the last 30m, 12h or 7d
    #[arg(long, value_parser = since)]
    since: Option<Timestamp>,
}

pub(super) fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let help = || format!("{text:?} is neither a time (2026-01-31T12:00:00Z) nor a duration (30m, 12h, 7d)");
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

impl FilterArgs {
    fn has_more_than_since(&self) -> bool {
        let FilterArgs { session, last_session, agent, step, event, decision, since: _ } = self;
        *last_session || [session, agent, step, event, decision].into_iter().any(Option::is_some)
    }

    /// What is wanted of this trail.
    fn filter(self, trail: &Trail) -> io::Result<Filter> {
        let FilterArgs { mut session, last_session: is_last, agent, step, event, decision, since } = self;
        if is_last {
            let last = last_session(trail)?;
            session = Some(last.ok_or_else(|| io::Error::other("no record names a session yet"))?);
        }
        Ok(Filter { session, agent, step, event, decision, since })
    }
}

impl Subcommand {
    pub(super) fn run(self) -> io::Result<Exit> {
        let root = super::root()?;
        let trail = Trail::of(&root.folder, None);
        let mut out = Out::stdout();
        let exit = match self {
            Subcommand::Show { filter, view } => {
                show::run(&mut out, &trail, &filter.filter(&trail)?, &view)?;
                Exit::Success
            }
            Subcommand::Stats { filter, json } => {
                count_records(&mut out, &trail, &filter.filter(&trail)?, json)?;
                Exit::Success
            }
            Subcommand::Reset => {
                match trail.reset()? {
                    Some(archive) => {
                        writeln!(out, "the old trail is in {}; a new one was started", archive.display())?;
                    }
                    None => writeln!(out, "there is no trail in {}", trail.folder().display())?,
                }
                Exit::Success
            }
            Subcommand::Export { request } => export::run(*request, &root, &trail)?,
            Subcommand::Verify { json } => report(&mut out, &verify(&trail)?, json)?,
        };
        out.flush()?;
        Ok(exit)
    }
}

fn count_records(out: &mut Out<'_>, trail: &Trail, filter: &Filter, json: bool) -> io::Result<()> {
    let mut reader = Reader::new(trail);
    let mut stats = Stats::default();
    let found = reader.each(filter, |entry| {
        stats.add(&entry.record);
        Ok(())
    })?;
    known::check(filter, &reader)?;
    match (json, found) {
        (true, _) => stats::print_json(out, &stats),
        (false, 0) => writeln!(out, "{}", nothing_found(trail, &reader)),
        (false, _) => stats::print_tables(out, &stats),
    }
}

/// Why there is nothing to show.
fn nothing_found(trail: &Trail, reader: &Reader<'_>) -> String {
    match reader.total {
        0 => format!(
            "no records in {}: they are written at gates and commands, and by `conclaude des`; `conclaude doctor` shows whether Claude Code calls conclaude here",
            trail.folder().display()
        ),
        total => format!("no record matches, of {} in {}", count(total, "record"), trail.folder().display()),
    }
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
