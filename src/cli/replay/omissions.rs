//! The omissions of a replay, on one line. JSON explains each part.

use super::ReplaySummary;
use conclaude_core::text::{clean_line, count};
use conclaude_store::transcript::stream::Counts;

/// `None` if nothing was left out.
pub(super) fn line(replayed: &ReplaySummary<'_>) -> Option<String> {
    let gaps = replayed.totals.not_replayed;
    let counted = [
        (replayed.totals.unjudged, "event", "that could not be judged"),
        (gaps.requests, "call", "at PermissionRequest (whether you were asked is not known)"),
        (gaps.step_files, "call", "without the step file of that time (Gate 1)"),
        (gaps.scopes, "writing call", "without the scope of that time (Gate 2)"),
        (gaps.gated_stops, "stop", "without the step of that time (Gate 3)"),
        (gaps.sidechain_lines, "line", "of subagents in a main transcript"),
        (gaps.old_files, "transcript", "older than --since"),
        (replayed.not_listed.empty, "empty transcript", ""),
        (replayed.not_listed.links, "link", ""),
    ];
    let mut parts: Vec<String> = unread_lines(&replayed.totals.counts).into_iter().collect();
    let counted = counted.into_iter().filter(|(n, ..)| *n > 0);
    parts.extend(counted.map(|(n, noun, what)| format!("{} {what}", count(n, noun)).trim_end().to_owned()));
    let sections = replayed.replayer.other_sections();
    if !sections.is_empty() {
        parts.push(format!("the commands of {}", sections.join(", ")));
    }
    if replayed.replayer.has_budget() {
        parts.push("the budget".to_owned());
    }
    if parts.is_empty() { None } else { Some(format!("{} (--json says why)", parts.join("; "))) }
}

/// The most frequent kind, with its first line.
fn unread_lines(counts: &Counts) -> Option<String> {
    let all: u64 = counts.unread.values().map(|unread| unread.lines).sum();
    let (what, unread) = counts.unread.iter().max_by_key(|(_, unread)| unread.lines)?;
    let (path, line) = &unread.first;
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let others = counts.unread.len() as u64 - 1;
    let others = if others > 0 { format!("; {}", count(others, "other kind")) } else { String::new() };
    let (what, file) = (clean_line(what), clean_line(file));
    Some(format!("{} not read ({file}{line}: {what}{others})", count(all, "line")))
}
