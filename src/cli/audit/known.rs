//! The words that filters are compared with: a typo must not look like an empty trail.

use std::collections::BTreeSet;

use anyhow::anyhow;

use conclaude_core::decide::Word;
use conclaude_core::event;
use conclaude_core::text::{count, nearest};
use conclaude_store::audit::{Filter, Reader, Trail};

/// The decisions of subcommands.
const DECISIONS: [&str; 10] =
    ["PASS", "FAIL", "IN_PROGRESS", "SKIPPED", "TODO", "DONE", "FAILED", "PARTIAL", "unfinished", "reset"];

/// The subcommands that are recorded.
const EVENTS: [&str; 8] =
    ["des start", "des finish", "des skip", "des run", "des fail", "des done", "des new", "audit reset"];

/// # Errors
/// When the filter names a decision or an event that neither exists nor was recorded.
pub(super) fn check(filter: &Filter, reader: &Reader<'_>) -> anyhow::Result<()> {
    let words = Word::ALL.map(Word::as_str);
    let decisions: Vec<&str> = words.into_iter().chain(["interrupted"]).chain(DECISIONS).collect();
    check_word("decision", filter.decision.as_deref(), &decisions, &reader.decisions)?;
    let events: Vec<&str> = event::names().chain(EVENTS).collect();
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

/// Why there is nothing to show.
pub(super) fn nothing_found(trail: &Trail, reader: &Reader<'_>) -> String {
    match reader.total {
        0 => format!(
            "no records in {}: they are written at gates and commands, and by `conclaude des`; `conclaude doctor` shows whether Claude Code calls conclaude here",
            trail.folder().display()
        ),
        total => format!("no record matches, of {} in {}", count(total, "record"), trail.folder().display()),
    }
}
