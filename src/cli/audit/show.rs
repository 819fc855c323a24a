//! `audit show`: each record in a few lines, or as JSON.

use std::io;

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use super::known::{self, nothing_found};
use crate::audit::{Entry, Filter, Reader, Trail, reasons};
use crate::cli::out::{Out, Paint};
use crate::text::{count, printable_line};

pub(super) mod follow;
mod time;

use time::Clock;

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const FAINT: Paint = Paint(Style::new().dimmed());

#[derive(clap::Args)]
pub(in crate::cli) struct View {
    /// Print the records as lines of JSON
    #[arg(long)]
    json: bool,
    /// Only the last N records
    #[arg(short, long = "number", value_name = "N")]
    number: Option<usize>,
    /// Go on with new records as they are written
    #[arg(short, long)]
    follow: bool,
}

pub(super) fn run(out: &mut Out<'_>, trail: &Trail, filter: &Filter, view: &View) -> io::Result<()> {
    // The last of them are known when all were read once: so none has to be held.
    let mut before = match view.number {
        Some(number) => Reader::new(trail).each(filter, |_| Ok(()))?.saturating_sub(number as u64),
        None => 0,
    };
    let mut reader = Reader::new(trail);
    let clock = Clock::of(Out::is_terminal());
    let found = reader.each(filter, |entry| match before.checked_sub(1) {
        Some(left) => {
            before = left;
            Ok(())
        }
        None => print(out, entry, view, &clock),
    })?;
    // Nothing was printed, if there is no such word.
    known::check(filter, &reader)?;
    if found == 0 && !view.json && !view.follow {
        writeln!(out, "{}", nothing_found(trail, &reader))?;
    }
    if reader.doubtful > 0 {
        let lines = count(reader.doubtful, "line");
        let what =
            format!("{lines} of the trail cannot be believed: `conclaude audit verify` names the first");
        // Lines of JSON stay lines of JSON.
        if view.json {
            writeln!(Out::stderr(), "conclaude: warning: {what}")?;
        } else {
            writeln!(out, "{BAD}✗ {what}{BAD:#}")?;
        }
    }
    if view.follow { follow_on(out, &mut reader, filter, view) } else { Ok(()) }
}

/// Until the user stops it, or nobody reads any more.
fn follow_on(out: &mut Out<'_>, reader: &mut Reader<'_>, filter: &Filter, view: &View) -> io::Result<()> {
    loop {
        out.flush()?;
        follow::wait_for_more()?;
        let clock = Clock::of(Out::is_terminal());
        reader.each(filter, |entry| print(out, entry, view, &clock))?;
    }
}

fn print(out: &mut Out<'_>, entry: &Entry, view: &View, clock: &Clock) -> io::Result<()> {
    if view.json { out.json_text(&entry.line) } else { print_entry(out, entry, clock) }
}

fn print_entry(out: &mut Out<'_>, entry: &Entry, clock: &Clock) -> io::Result<()> {
    let record = &entry.record;
    heading(out, record, clock)?;
    if let Some(doubt) = &entry.doubt {
        writeln!(out, "        {BAD}✗ tampered with here: {}{BAD:#}", printable_line(doubt))?;
    }
    if let Some(reason) = text(record, "reason") {
        writeln!(out, "        {reason}")?;
    }
    for finding in list(record, "findings") {
        writeln!(out, "        {}", reasons::of_finding(finding))?;
    }
    for command in list(record, "commands") {
        let duration = command.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
        let ended = reasons::of_command(command, &text(command, "run").unwrap_or_default());
        writeln!(out, "        {ended} ({duration} ms)")?;
    }
    for applied in list(record, "applied") {
        writeln!(out, "        {}", reasons::of_applied(applied))?;
    }
    for skip in list(record, "skipped") {
        let (what, why) = (text(skip, "what"), text(skip, "why"));
        writeln!(out, "        {} did not run: {}", what.unwrap_or_default(), why.unwrap_or_default())?;
    }
    if let Some(evidence) = record.get("evidence") {
        let code = evidence.get("exit_code").and_then(Value::as_i64).unwrap_or(-1);
        let command = text(evidence, "command").unwrap_or_default();
        writeln!(out, "        `{command}` exited with code {code}")?;
    }
    Ok(())
}

fn heading(out: &mut Out<'_>, record: &Value, clock: &Clock) -> io::Result<()> {
    let seq = record.get("seq").and_then(Value::as_u64).unwrap_or(0);
    let decision = text(record, "decision").unwrap_or_default();
    let style = match decision.as_str() {
        "blocked" | "denied" | "unfinished" | "FAIL" | "FAILED" | "allowed_despite_failure" => BAD,
        _ => GOOD,
    };
    let time = clock.show(&text(record, "time").unwrap_or_default());
    write!(out, "{FAINT}{seq:>5} {time}{FAINT:#} ")?;
    write!(out, "{} {style}{decision}{style:#}", text(record, "event").unwrap_or_default())?;
    for name in ["agent", "agent_id", "step", "phase"] {
        if let Some(value) = text(record, name) {
            write!(out, " {FAINT}{name}={FAINT:#}{value}")?;
        }
    }
    writeln!(out)
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(printable_line)
}

fn list<'a>(record: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    record.get(name).and_then(Value::as_array).into_iter().flatten()
}
