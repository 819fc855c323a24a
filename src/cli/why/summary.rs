//! A decision in at most twelve lines: what, why, and whether today's config would decide so again.

use std::io;

use serde_json::Value;

use super::reassessment::Reassessment;
use super::{decision, evidence, rule, switch_off};
use crate::cli::allow;
use crate::cli::explain::layout::{BAD, BOLD, FAINT, GOOD, WARNING};
use crate::cli::out::{Out, Paint};
use conclaude_core::messages::short;
use conclaude_core::text::{count, printable_line};
use conclaude_store::audit::fields::{list, text, text_or_empty};
use conclaude_store::audit::{TrailEntry, reasons};

/// With the title, today's decision and the hint.
const MAX_LINES: usize = 12;

/// Longer lines are cut, in characters.
const MAX_LINE: usize = 240;

struct SummaryLine {
    paint: Paint,
    mark: &'static str,
    text: String,
}

pub(super) fn print(out: &mut Out<'_>, entry: &TrailEntry, today: &Reassessment) -> io::Result<()> {
    let record = &entry.record;
    let seq = record.get("seq").and_then(Value::as_u64).unwrap_or(0);
    writeln!(out, "{BOLD}{seq}: {}{BOLD:#}", cut(&title(record)))?;
    let mut lines = reason_lines(record);
    if let Some(doubt) = &entry.doubt {
        lines.insert(0, line(BAD, "✗", format!("tampered with here: {doubt}")));
    }
    if lines.is_empty() {
        lines.push(line(FAINT, "·", "nothing was found, and no command ran".to_owned()));
    }
    // A program that reads this cannot permit anything.
    let is_offered = Out::is_terminal() && allow::is_permitted(entry);
    let room = MAX_LINES - 3 - usize::from(is_offered);
    let left_out = lines.len().saturating_sub(room);
    for SummaryLine { paint, mark, text } in lines.iter().take(if left_out > 0 { room - 1 } else { room }) {
        writeln!(out, "  {paint}{mark}{paint:#} {}", cut(text))?;
    }
    if left_out > 0 {
        writeln!(out, "  {FAINT}… {} more{FAINT:#}", count(left_out as u64 + 1, "line"))?;
    }
    writeln!(out, "today: {}", cut(&today_in_words(today)))?;
    if is_offered {
        writeln!(out, "{FAINT}`conclaude allow {seq}` permits this call once{FAINT:#}")?;
    }
    writeln!(out, "{FAINT}`conclaude why {seq} --all` shows the rest{FAINT:#}")
}

fn line(paint: Paint, mark: &'static str, text: String) -> SummaryLine {
    SummaryLine { paint, mark, text }
}

fn cut(text: &str) -> String {
    let clean = printable_line(text);
    match clean.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", clean.get(..end).unwrap_or_default()),
        None => clean,
    }
}

/// The event, its subject, the decision, and the agent.
pub(in crate::cli) fn title(record: &Value) -> String {
    let mut title = text_or_empty(record, "event").to_owned();
    if let Some(tool) = record.get("tool") {
        let subject = text(tool, "file").map(str::to_owned).or_else(|| text(tool, "command").map(short));
        title = format!("{title} {} {}", text_or_empty(tool, "name"), subject.unwrap_or_default());
    }
    if let Some(phase) = text(record, "phase") {
        title = format!("{title} {phase}");
    }
    title = format!("{} {}", title.trim_end(), decision(record));
    let about = [("agent", text(record, "agent")), ("client", text(record, "client"))];
    let about = about.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
    let about: Vec<String> = about.collect();
    if about.is_empty() { title } else { format!("{title} ({})", about.join(", ")) }
}

/// The order of importance: blocks, then questions, warnings and passes.
fn reason_lines(record: &Value) -> Vec<SummaryLine> {
    let mut found: Vec<(u8, Vec<SummaryLine>)> = Vec::new();
    for finding in list(record, "findings") {
        let mut lines = vec![reason(finding, reasons::of_finding(finding))];
        lines.extend(reasons::fix_of(record, finding).map(|fix| line(FAINT, " ", fix.to_owned())));
        lines.extend(finding.get("rule").map(|one| line(FAINT, " ", rule(one))));
        lines.extend(switch_off(finding).map(|switch| line(FAINT, " ", switch)));
        found.push((rank(finding), lines));
    }
    for command in list(record, "commands") {
        let name = short(text_or_empty(command, "run"));
        let mut lines = vec![reason(command, reasons::of_command(command, &name))];
        if !reasons::has_passed(command) {
            lines.extend(command.get("rule").map(|one| line(FAINT, " ", rule(one))));
        }
        lines.extend(reasons::of_changed_input(command).map(|what| line(FAINT, " ", what)));
        lines.extend(end_of_output(command));
        found.push((rank(command), lines));
    }
    for applied in list(record, "applied") {
        found.push((rank(applied), vec![reason(applied, reasons::of_applied(applied))]));
    }
    found.sort_by_key(|(rank, _)| *rank);
    let mut lines: Vec<SummaryLine> = Vec::new();
    lines.extend(text(record, "reason").map(|why| line(FAINT, "·", why.to_owned())));
    lines.extend(evidence(record).map(|run| line(FAINT, "·", run)));
    lines.extend(record.get("evidence").into_iter().flat_map(end_of_output));
    lines.extend(found.into_iter().flat_map(|(_, lines)| lines));
    for skip in list(record, "skipped") {
        let (what, why) = (text_or_empty(skip, "what"), text_or_empty(skip, "why"));
        lines.push(line(FAINT, "·", format!("{what} did not run: {why}")));
    }
    let config = record.pointer("/config_error/message").and_then(Value::as_str);
    lines.extend(config.map(|message| line(WARNING, "⚠", message.to_owned())));
    if let Some((count, max)) = record.pointer("/blocks/count").zip(record.pointer("/blocks/max")) {
        lines.push(line(FAINT, "·", format!("block {count} of {max}")));
    }
    lines
}

/// The last lines, which say what failed.
fn end_of_output(command: &Value) -> Vec<SummaryLine> {
    let output: Vec<&str> = reasons::shown_output(command).lines().collect();
    let end = output.get(output.len().saturating_sub(4)..).unwrap_or_default();
    end.iter().map(|one| line(FAINT, " ", format!("  {one}"))).collect()
}

fn rank(reason: &Value) -> u8 {
    reasons::rank_by(text_or_empty(reason, "verdict"))
}

fn reason(of: &Value, text: String) -> SummaryLine {
    let (paint, mark) = match text_or_empty(of, "verdict") {
        "pass" => (GOOD, "✓"),
        "block" => (BAD, "✗"),
        "ask" => (WARNING, "?"),
        "warn" => (WARNING, "⚠"),
        _ => (FAINT, "·"),
    };
    line(paint, mark, text)
}

fn today_in_words(today: &Reassessment) -> String {
    match today {
        Reassessment::Unknown(missing) => format!("cannot be determined: {missing}"),
        Reassessment::Decided { decision, is_same: true, .. } => {
            format!("the config would decide the same: {}", reasons::decision_in_words(decision))
        }
        Reassessment::Decided { decision, why, .. } => {
            let why = why.first().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("the config would decide otherwise: {}{why}", reasons::decision_in_words(decision))
        }
    }
}
