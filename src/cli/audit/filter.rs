//! The filters of `audit show`, `stats` and `export`. A typo in a filter must not look like an empty trail.

use std::collections::BTreeSet;

use anyhow::anyhow;
use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp, Zoned};

use conclaude_core::decide::Word;
use conclaude_core::event;
use conclaude_core::text::{count, nearest};
use conclaude_store::audit::{Filter, Reader, Trail, last_session, words};

#[derive(clap::Args)]
pub(in crate::cli) struct FilterArgs {
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
    /// Only records since this date or time (2026-01-31, 2026-01-31T12:00:00Z, yesterday) or of the last 30m, 12h or 7d
    #[arg(long, value_parser = since)]
    pub(super) since: Option<Timestamp>,
}

pub(in crate::cli) fn since(text: &str) -> anyhow::Result<Timestamp> {
    since_at(text.trim(), &Zoned::now()).ok_or_else(|| {
        anyhow!("{text:?} is neither a date or time ({TIMES}) nor a duration (30m, 12h, 7d, 2w)")
    })
}

/// Examples for the error message. Dates and times without an offset are in the user's time zone.
const TIMES: &str = "2026-01-31, 2026-01-31 12:00, 2026-01-31T12:00:00Z, today, yesterday";

fn since_at(text: &str, now: &Zoned) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let midnight = |date: Date| date.to_zoned(now.time_zone().clone()).ok().map(|start| start.timestamp());
    match text.to_ascii_lowercase().as_str() {
        "now" => return Some(now.timestamp()),
        "today" => return midnight(now.date()),
        "yesterday" => return midnight(now.date().yesterday().ok()?),
        _ => {}
    }
    // With a time of day where there is one, else the start of the day.
    if let Ok(time) = text.parse::<DateTime>() {
        return time.to_zoned(now.time_zone().clone()).ok().map(|time| time.timestamp());
    }
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(split)?;
    let seconds = match unit.trim() {
        "s" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3_600,
        "d" | "day" | "days" => 86_400,
        "w" | "week" | "weeks" => 7 * 86_400,
        _ => return None,
    };
    let seconds = number.parse::<i64>().ok()?.checked_mul(seconds)?;
    now.timestamp().checked_sub(SignedDuration::from_secs(seconds)).ok()
}

impl FilterArgs {
    pub(super) fn has_more_than_since(&self) -> bool {
        let FilterArgs { session, last_session, agent, step, event, decision, since: _ } = self;
        *last_session || [session, agent, step, event, decision].into_iter().any(Option::is_some)
    }

    pub(super) fn filter(self, trail: &Trail) -> anyhow::Result<Filter> {
        let FilterArgs { mut session, last_session: is_last, agent, step, event, decision, since } = self;
        if is_last {
            let last = last_session(trail)?;
            session = Some(last.ok_or_else(|| anyhow!("no record names a session yet"))?);
        }
        Ok(Filter { session, agent, step, event, decision, since })
    }
}

/// # Errors
/// When the filter names a decision or an event that neither exists nor was recorded.
pub(super) fn check_known(filter: &Filter, reader: &Reader<'_>) -> anyhow::Result<()> {
    let decided = Word::ALL.map(Word::as_str);
    let decisions: Vec<&str> = decided.into_iter().chain(words::DECISIONS).collect();
    check_word("decision", filter.decision.as_deref(), &decisions, &reader.decisions)?;
    let events: Vec<&str> = event::names().chain(words::SUBCOMMANDS).collect();
    check_word("event", filter.event.as_deref(), &events, &reader.events)
}

fn check_word(
    what: &str,
    typed: Option<&str>,
    known: &[&str],
    seen: &BTreeSet<String>,
) -> anyhow::Result<()> {
    let all = || known.iter().copied().chain(seen.iter().map(String::as_str));
    let Some(typed) = typed.filter(|typed| !all().any(|word| word.eq_ignore_ascii_case(typed))) else {
        return Ok(());
    };
    let hint = match nearest(typed, all()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let words: BTreeSet<&str> = all().collect();
            format!("there are {}", words.into_iter().collect::<Vec<_>>().join(", "))
        }
    };
    Err(anyhow!("there is no {what} `{typed}`; {hint}"))
}

fn are(records: u64) -> String {
    let are = if records == 1 { "is" } else { "are" };
    format!("{are} {}", count(records, "record"))
}

/// Why there is nothing to show.
pub(super) fn nothing_found(trail: &Trail, reader: &Reader<'_>) -> String {
    match reader.total {
        0 => format!(
            "Nothing is recorded yet in {}. Records are written when commands run, when guards, permission rules or gates decide, and by `conclaude des`. `conclaude doctor` shows whether Claude Code calls conclaude here.",
            trail.folder().display()
        ),
        total => {
            format!("No record matches. There {} in {}.", are(total), trail.folder().display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_understood_as_people_type_them() {
        let now: Zoned = "2026-11-17T10:30:00+01:00[+01:00]".parse().unwrap();
        for (text, expected) in [
            ("2026-11-16", "2026-11-15T23:00:00Z"),
            ("2026-11-16 12:00", "2026-11-16T11:00:00Z"),
            ("2026-11-16T12:00:05", "2026-11-16T11:00:05Z"),
            ("2026-11-16T12:00:00Z", "2026-11-16T12:00:00Z"),
            ("2026-11-16T12:00:00+02:00", "2026-11-16T10:00:00Z"),
            ("today", "2026-11-16T23:00:00Z"),
            ("Yesterday", "2026-11-15T23:00:00Z"),
            ("90s", "2026-11-17T09:28:30Z"),
            ("30m", "2026-11-17T09:00:00Z"),
            ("12h", "2026-11-16T21:30:00Z"),
            ("7d", "2026-11-10T09:30:00Z"),
            ("2 weeks", "2026-11-03T09:30:00Z"),
        ] {
            assert_eq!(
                since_at(text, &now).map(|time| time.to_string()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        for text in ["", "d", "7", "7y", "-7d", "soon", "2026-13-01", "9999999999999999d", "ä", "7ä"] {
            assert_eq!(since_at(text, &now), None, "{text}");
        }
    }
}
