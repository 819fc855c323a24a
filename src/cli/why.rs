//! `conclaude why`: a decision of the trail with its rules, and whether today's config would decide so again.

use std::io;

use anyhow::anyhow;
use serde_json::{Value, json};

use crate::cli::explain::layout::{BAD, BOLD, FAINT, GOOD, WARNING, marked, paragraph};
use crate::cli::explain::print as explain;
use crate::cli::out::Out;
use conclaude_core::dialect::claude::tools;
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_core::text::printable_line;
use conclaude_store::audit::fields::{list, text};
use conclaude_store::audit::words::PASS;
use conclaude_store::audit::{Filter, Reader, Trail, TrailEntry, newest, reasons as words};
use reassessment::Reassessment;

mod command_ends;
mod reassessment;
mod summary;

pub(super) use summary::title;

pub(super) const EXAMPLES: &str = "Examples:
  conclaude why             the newest record
  conclaude why 17          the record with this number in `conclaude audit show`
  conclaude why --all       with every rule that was considered, and all of the output

Exits with 0 whatever was decided, and with 1 if there is no such record.";

#[derive(clap::Args)]
pub(super) struct WhyRequest {
    /// The number of the record, as `conclaude audit show` prints it [default: the newest]
    #[arg(value_name = "NUMBER", conflicts_with = "last")]
    number: Option<u64>,
    /// The newest record
    #[arg(long)]
    last: bool,
    /// Print everything: every field, every rule that was considered, and the output of failed commands
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(request: &WhyRequest) -> anyhow::Result<Exit> {
    let trail = Trail::of(&super::root()?.folder, None);
    let entry = find(&trail, request.number)?;
    let today = reassessment::today(&entry.record);
    let mut out = Out::stdout();
    if request.json {
        out.json(&json!({ "record": entry.record, "tampered": entry.doubt, "today": today.json() }))?;
    } else if request.all {
        print_record(&mut out, &entry, &today)?;
    } else {
        summary::print(&mut out, &entry, &today)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// The record with this number, or the newest.
fn find(trail: &Trail, number: Option<u64>) -> anyhow::Result<TrailEntry> {
    let Some(number) = number else {
        return newest(trail)?.ok_or_else(|| {
            anyhow!(
                "there are no records in {}: `conclaude explain EVENT` shows what would happen",
                trail.folder().display()
            )
        });
    };
    numbered(trail, number)
}

pub(super) fn numbered(trail: &Trail, number: u64) -> anyhow::Result<TrailEntry> {
    let mut reader = Reader::new(trail);
    let mut found: Option<TrailEntry> = None;
    let mut last = 0;
    reader.each(&Filter::default(), |entry| {
        let seq = entry.record.get("seq").and_then(Value::as_u64).unwrap_or(0);
        last = last.max(seq);
        if number == seq {
            found = Some(entry.clone());
        }
        Ok(())
    })?;
    found.ok_or_else(|| {
        anyhow::Error::msg(match last {
            1.. => format!(
                "there is no record {number}: the newest is {last}, and `conclaude audit show` lists them"
            ),
            0 => format!(
                "there are no records in {}: `conclaude explain EVENT` shows what would happen",
                trail.folder().display()
            ),
        })
    })
}

fn print_record(out: &mut Out<'_>, entry: &TrailEntry, today: &Reassessment) -> io::Result<()> {
    let record = &entry.record;
    head(out, record)?;
    if let Some(doubt) = &entry.doubt {
        marked(out, 2, Some((BAD, "✗")), &format!("tampered with here: {doubt}"))?;
    }
    writeln!(out, "\n{BOLD}Why{BOLD:#}")?;
    if !reasons(out, record)? {
        writeln!(out, "  nothing was found, and no command ran")?;
    }
    writeln!(out, "\n{BOLD}Today{BOLD:#}")?;
    print_today(out, today)
}

fn head(out: &mut Out<'_>, record: &Value) -> io::Result<()> {
    let seq = record.get("seq").and_then(Value::as_u64).unwrap_or(0);
    let event = text(record, "event").unwrap_or_default();
    let title = format!("{seq}: {event} {}", decision(record));
    writeln!(out, "{BOLD}{title}{BOLD:#}")?;
    for name in
        ["time", "client", "session", "agent", "agent_id", "permission_mode", "step", "phase", "reason"]
    {
        if let Some(value) = text(record, name) {
            paragraph(out, 2, &format!("{name}: {value}"))?;
        }
    }
    let tool = record.get("tool").unwrap_or(&Value::Null);
    if let Some(name) = text(tool, "name") {
        let what = text(tool, "command").or_else(|| text(tool, "file")).unwrap_or_default();
        paragraph(out, 2, &format!("tool: {name} {what}"))?;
    }
    Ok(())
}

/// The decision, in words after the event.
fn decision(record: &Value) -> &str {
    match text(record, "decision").unwrap_or_default() {
        // The record is about an agent, at an event of the main thread.
        "unfinished" => "reported an agent that never stopped",
        decision => words::decision_in_words(decision),
    }
}

/// Prints the gate, the markers of its prompt, and what it checked. Returns whether there was one.
fn gate(out: &mut Out<'_>, record: &Value) -> io::Result<bool> {
    let Some(markers) = record.get("des") else { return Ok(false) };
    let tool = record.pointer("/tool/name").and_then(Value::as_str);
    let (gate, checked) = match (text(record, "event").and_then(EventKind::named), tool) {
        (Some(EventKind::PreToolUse), Some(tool)) if tools::starts_agent(tool) => (
            "Gate 1",
            "the markers, the step file, the agent, the safety flags and the required sections of the prompt",
        ),
        (Some(EventKind::PreToolUse), _) => ("Gate 2", "whether it writes outside the scope of the step"),
        (Some(EventKind::SubagentStop), _) => (
            "Gate 3",
            "the phases with their outcomes, skips and proofs, the limits, the state of the step, and the files that were changed",
        ),
        _ => return Ok(false),
    };
    let is_clear = list(record, "findings").next().is_none();
    let (mark, found) =
        if is_clear { ((GOOD, "✓"), "found nothing") } else { ((FAINT, "·"), "found this") };
    marked(out, 2, Some(mark), &format!("{gate} looked at {checked}, and {found}"))?;
    let required = markers.get("validation_required").and_then(Value::as_bool).unwrap_or_default();
    let named = [
        ("DES-STEP-FILE", "step_file"),
        ("DES-AGENT", "agent_name"),
        ("DES-COMMAND", "command"),
        ("DES-PROJECT-ID", "project_id"),
    ];
    let named = named.iter().filter_map(|(name, field)| Some(format!("{name}: {}", text(markers, field)?)));
    let mut markers = Vec::new();
    if required {
        markers.push("DES-VALIDATION: required".to_owned());
    }
    markers.extend(named);
    paragraph(out, 6, &format!("the prompt has {}", markers.join(", ")))?;
    Ok(true)
}

/// Prints the reasons. Returns whether there were any.
fn reasons(out: &mut Out<'_>, record: &Value) -> io::Result<bool> {
    let mut is_any = gate(out, record)?;
    for finding in list(record, "findings") {
        item(out, finding, &words::of_finding(finding))?;
        is_any = true;
    }
    for command in list(record, "commands") {
        let run = conclaude_core::messages::short(text(command, "run").unwrap_or_default());
        item(out, command, &words::of_command(command, &run))?;
        words::of_changed_input(command).iter().try_for_each(|what| paragraph(out, 6, what))?;
        print_output(out, Some(command))?;
        is_any = true;
    }
    if let Some(run) = evidence(record) {
        let mark = if text(record, "decision") == Some(PASS) { (GOOD, "✓") } else { (BAD, "✗") };
        marked(out, 2, Some(mark), &run)?;
        print_output(out, record.get("evidence"))?;
        is_any = true;
    }
    for applied in list(record, "applied") {
        item(out, applied, text(applied, "what").unwrap_or_default())?;
        is_any = true;
    }
    for skip in list(record, "skipped") {
        let (what, why) = (text(skip, "what"), text(skip, "why"));
        item(out, skip, &format!("{} did not run: {}", what.unwrap_or_default(), why.unwrap_or_default()))?;
        is_any = true;
    }
    if let Some(blocks) = record.get("blocks") {
        let number = |name: &str| blocks.get(name).and_then(Value::as_u64).unwrap_or(0);
        let rule = blocks.get("rule").map(rule).unwrap_or_default();
        paragraph(out, 2, &format!("block {} of {} ({rule})", number("count"), number("max")))?;
    }
    if let Some(message) = record.pointer("/config_error/message").and_then(Value::as_str) {
        marked(out, 2, Some((WARNING, "⚠")), message)?;
    }
    Ok(is_any)
}

/// The recorded output of a command.
fn print_output(out: &mut Out<'_>, command: Option<&Value>) -> io::Result<()> {
    let lines = command.map(words::shown_output).into_iter().flat_map(str::lines);
    for line in lines {
        writeln!(out, "      {FAINT}{}{FAINT:#}", printable_line(line))?;
    }
    Ok(())
}

/// The command that proved a phase, and how it ended.
fn evidence(record: &Value) -> Option<String> {
    let evidence = record.get("evidence")?;
    let command = text(evidence, "command").map(conclaude_core::messages::short)?;
    let code = evidence.get("exit_code").and_then(Value::as_i64)?;
    let expected = text(evidence, "expected").map(|word| format!(", and was to {word}")).unwrap_or_default();
    Some(format!("`{command}` exited with code {code}{expected}"))
}

/// One reason, with its rule and the text that it matched.
fn item(out: &mut Out<'_>, value: &Value, title: &str) -> io::Result<()> {
    let mark = match value.get("verdict").and_then(Value::as_str) {
        Some("pass") => (GOOD, "✓"),
        Some("block") => (BAD, "✗"),
        Some("ask") => (WARNING, "?"),
        Some("warn") => (WARNING, "⚠"),
        _ => (FAINT, "·"),
    };
    marked(out, 2, Some(mark), title)?;
    let matched = text(value, "matched").map(|matched| format!(" matched {matched}")).unwrap_or_default();
    match value.get("rule") {
        Some(of) => {
            paragraph(out, 6, &format!("{}{matched}{}", rule(of), files(value)))?;
            switch_off(value).map_or(Ok(()), |switch| paragraph(out, 6, &switch))
        }
        None => paragraph(out, 6, "its rule is not recorded: the record is one of an older version"),
    }
}

/// The changed files for which a command ran.
fn files(command: &Value) -> String {
    let files: Vec<&str> = list(command, "files").filter_map(Value::as_str).collect();
    let more = command.get("more_files").and_then(Value::as_u64);
    let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
    if files.is_empty() { String::new() } else { format!(", files: {}{more}", files.join(", ")) }
}

/// The switch for the rule of a pack that blocks or asks.
fn switch_off(reason: &Value) -> Option<String> {
    let rule = reason.get("rule")?;
    let switch = conclaude_core::rule::switch_off(text(rule, "file")?, text(rule, "name")?)?;
    Some(format!("off with `{switch}`"))
}

fn rule(value: &Value) -> String {
    let pattern = text(value, "pattern").map(|pattern| format!(" {pattern:?}")).unwrap_or_default();
    let position = words::position(value).map(|position| format!(" in {position}")).unwrap_or_default();
    format!("{}{pattern}{position}", text(value, "key").unwrap_or_default())
}

fn print_today(out: &mut Out<'_>, today: &Reassessment) -> io::Result<()> {
    match today {
        Reassessment::Unknown(missing) => paragraph(out, 2, &format!("cannot be determined: {missing}")),
        Reassessment::Decided { decision, is_same, why, command, rehearsal } => {
            let (how, decision) =
                (if *is_same { "the same" } else { "otherwise" }, words::decision_in_words(decision));
            paragraph(out, 2, &format!("the config would decide {how}: {decision}"))?;
            for line in why {
                marked(out, 2, Some((FAINT, "·")), line)?;
            }
            // In one line, so that it can be copied.
            command.iter().try_for_each(|command| writeln!(out, "  all of it: {command}"))?;
            explain::considered(out, rehearsal)?;
            explain::commands(out, rehearsal)
        }
    }
}
