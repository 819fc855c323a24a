//! A record of the trail as a line: the decision and the reason, and its commands below it.

use jiff::Timestamp;
use serde_json::Value;

use super::line::{ActivityLine, Detail, Details, MAX_DETAIL, MAX_TEXT, Mark, Part, cut, cut_lines};
use super::words::{named, step_name, took as took_in_words};
use conclaude_core::decide::Word;
use conclaude_store::audit::fields::{list, text_or_empty as text};
use conclaude_store::audit::words::Meaning;
use conclaude_store::audit::{MAX_OUTPUT_BYTES, reasons};

/// Findings, commands and skips of one record beyond this are only counted.
const MAX_PARTS: usize = 50;

/// A longer record is not kept for its details.
const MAX_RECORD: usize = 64 << 10;

/// The record as it is in the trail, and parsed.
pub(super) fn line(
    number: u64,
    time: Timestamp,
    (text_of, record): (&str, &Value),
    doubt: Option<&str>,
) -> ActivityLine {
    let details = if text_of.len() > MAX_RECORD {
        Details::Known(details(record, doubt))
    } else {
        Details::Record(text_of.into(), doubt.map(Into::into))
    };
    ActivityLine {
        number,
        time,
        mark: if doubt.is_some() { Mark::Bad } else { mark_of(record) },
        text: cut(&summary(record, doubt), MAX_TEXT),
        took: took(record),
        details,
        parts: list(record, "commands").take(MAX_PARTS).map(command).collect(),
        call: record.pointer("/tool/use_id").and_then(Value::as_str).map(str::to_owned),
        is_said: false,
    }
}

/// Whether a rule answered a request for a permission, so that the user was not asked.
pub(super) fn permits(record: &Value) -> bool {
    let rules = list(record, "findings").chain(list(record, "applied")).filter_map(|one| one.get("rule"));
    rules.into_iter().any(|rule| text(rule, "key").starts_with("permissionRequest.allow"))
}

impl Details {
    /// The details of the line itself.
    pub(super) fn of_line(&self) -> Vec<Detail> {
        match self {
            Details::Known(details) => details.clone(),
            Details::Record(text, doubt) => details(&read(text), doubt.as_deref()),
        }
    }

    /// The details of the command with this number.
    pub(super) fn of_command(&self, at: usize) -> Vec<Detail> {
        match self {
            Details::Known(_) => Vec::new(),
            Details::Record(text, _) => {
                list(&read(text), "commands").nth(at).map(command_details).unwrap_or_default()
            }
        }
    }
}

fn read(record: &str) -> Value {
    serde_json::from_str(record).unwrap_or_default()
}

/// The meaning of a decision for the user.
fn mark_of(record: &Value) -> Mark {
    let decision = text(record, "decision");
    let warns = || list(record, "findings").chain(list(record, "commands")).any(reasons::warns);
    match Meaning::of(decision) {
        Meaning::Good if decision == Word::Allowed.as_str() && warns() => Mark::Warning,
        Meaning::Good => Mark::Good,
        Meaning::Warning => Mark::Warning,
        Meaning::Bad => Mark::Bad,
        Meaning::Neutral => Mark::None,
    }
}

/// How long an event or a run took, in milliseconds.
fn took(record: &Value) -> Option<i64> {
    if let Some(ran) = record.pointer("/evidence/duration_ms") {
        return ran.as_i64();
    }
    let time = |name: &str| text(record, name).parse::<Timestamp>().ok();
    let (started, ended) = (time("started")?, time("time")?);
    Some((ended.as_millisecond() - started.as_millisecond()).max(0))
}

/// One line: what, decision, why.
fn summary(record: &Value, doubt: Option<&str>) -> String {
    let mut what = text(record, "event").to_owned();
    if let Some(tool) = record.get("tool") {
        what = format!("{what} {}", tool_in_short(record, tool));
    }
    let is_own = record.get("agent_id").is_some();
    let agent = text(record, "agent");
    if !agent.is_empty() && !is_own && record.get("tool").is_some() {
        what = format!("{what} of {agent}");
    }
    // An agent's own step is shown with the agent.
    let (phase, step) = (text(record, "phase"), text(record, "step"));
    if !phase.is_empty() {
        what = format!("{what} {phase}");
    } else if !is_own && !step.is_empty() {
        what = format!("{what} step {}", step_name(step));
    }
    let mut line = format!("{what} {}", reasons::decision_in_words(text(record, "decision")));
    if let Some((count, max)) = blocks(record) {
        line = format!("{line} ({count} of {max})");
    }
    if let Some(doubt) = doubt {
        return format!("{line}: tampered with here: {doubt}");
    }
    match why(record) {
        Some(why) => format!("{line}: {why}"),
        None => line,
    }
}

/// The first reason that counts.
fn why(record: &Value) -> Option<String> {
    let reason = Some(text(record, "reason").to_owned()).filter(|reason| !reason.is_empty());
    let config = || record.pointer("/config_error/message").and_then(Value::as_str).map(str::to_owned);
    let judge =
        || record.pointer("/judge/error").and_then(Value::as_str).map(|why| format!("the judge: {why}"));
    let ran = || {
        let evidence = record.get("evidence")?;
        let code = evidence.get("exit_code").and_then(Value::as_i64)?;
        Some(format!("`{}` exited with code {code}", text(evidence, "command")))
    };
    let counting = reasons::counting(list(record, "findings"), list(record, "commands"));
    let applied = || list(record, "applied").next().map(reasons::of_applied);
    counting.into_iter().next().or(reason).or_else(applied).or_else(judge).or_else(config).or_else(ran)
}

fn command(command: &Value) -> Part {
    let mark = match text(command, "verdict") {
        "block" => Mark::Bad,
        _ if reasons::warns(command) => Mark::Warning,
        _ => Mark::Good,
    };
    let text = reasons::of_command(command, text(command, "run"));
    Part { mark, text: cut(&text, MAX_TEXT), took: command.get("duration_ms").and_then(Value::as_i64) }
}

fn command_details(command: &Value) -> Vec<Detail> {
    let mut details = Vec::new();
    push(&mut details, "command", text(command, "run"));
    push(&mut details, "message", text(command, "message"));
    push(&mut details, "status", text(command, "status"));
    push(&mut details, "then", text(command, "verdict"));
    details.extend(rule(command));
    push(&mut details, "matched", text(command, "matched"));
    push(&mut details, "started", text(command, "started"));
    push_output(&mut details, command);
    details
}

fn details(record: &Value, doubt: Option<&str>) -> Vec<Detail> {
    let mut details = Vec::new();
    push(&mut details, "tampered with", doubt.unwrap_or_default());
    push(&mut details, "event", text(record, "event"));
    push(&mut details, "decision", reasons::decision_in_words(text(record, "decision")));
    if let Some((count, max)) = blocks(record) {
        push(&mut details, "blocks", &format!("{count} of {max}"));
    }
    push(&mut details, "reason", text(record, "reason"));
    if let Some(tool) = record.get("tool") {
        push(&mut details, "tool", &tool_of(tool));
    }
    add_causes(&mut details, record);
    let who = [
        ("phase", "phase"),
        ("step", "step"),
        ("agent", "agent"),
        ("agent id", "agent_id"),
        ("session", "session"),
        ("mode", "permission_mode"),
    ];
    for (name, field) in who {
        push(&mut details, name, text(record, field));
    }
    if let Some(seq) = record.get("seq").and_then(Value::as_u64) {
        details.push(("record", format!("{seq}; `conclaude why {seq}` explains it")));
    }
    details
}

/// The causes of the decision.
fn add_causes(details: &mut Vec<Detail>, record: &Value) {
    for finding in list(record, "findings").take(MAX_PARTS) {
        details.push(("found", cut_lines(&reasons::of_finding(finding), MAX_DETAIL)));
        push(details, "fix", reasons::fix_of(record, finding).unwrap_or_default());
        details.extend(rule(finding));
        push(details, "matched", text(finding, "matched"));
    }
    for command in list(record, "commands").take(MAX_PARTS) {
        let ms = command.get("duration_ms").and_then(Value::as_i64).unwrap_or_default();
        let ended = reasons::of_command(command, text(command, "run"));
        push(details, "command", &format!("{ended} ({})", took_in_words(ms)));
        push_output(details, command);
    }
    for applied in list(record, "applied").take(MAX_PARTS) {
        push(details, "applied", text(applied, "what"));
        details.extend(rule(applied));
        push(details, "matched", text(applied, "matched"));
    }
    for skip in list(record, "skipped").take(MAX_PARTS) {
        push(details, "skipped", &format!("{}: {}", text(skip, "what"), text(skip, "why")));
    }
    for (name, field) in [("config error", "config_error"), ("evidence", "evidence"), ("judge", "judge")] {
        if let Some(value) = record.get(field) {
            let mut rest = value.clone();
            let output = rest.as_object_mut().and_then(|fields| fields.shift_remove("output"));
            push(details, name, &rest.to_string());
            if output.is_some() {
                push_output(details, value);
            }
        }
    }
}

fn push(details: &mut Vec<Detail>, name: &'static str, value: &str) {
    if !value.is_empty() {
        details.push((name, cut_lines(value, MAX_DETAIL)));
    }
}

/// All that is recorded of a command's output.
fn push_output(details: &mut Vec<Detail>, command: &Value) {
    let output = reasons::shown_output(command);
    if !output.is_empty() {
        details.push(("output", cut_lines(output, MAX_OUTPUT_BYTES)));
    }
}

/// The rule of a finding or a command, with its file and line.
fn rule(of: &Value) -> Option<Detail> {
    let rule = of.get("rule")?;
    let mut shown = text(rule, "key").to_owned();
    if let Some(pattern) = rule.get("pattern").and_then(Value::as_str) {
        shown = format!("{shown} \"{pattern}\"");
    }
    if let Some(position) = reasons::position(rule) {
        shown = format!("{shown} in {position}");
    }
    Some(("rule", cut(&shown, MAX_DETAIL)))
}

/// The file as the rule saw it, relative to the project.
fn tool_in_short(record: &Value, tool: &Value) -> String {
    let file = text(tool, "file");
    let mut matched = list(record, "findings").map(|finding| text(finding, "matched"));
    let is_file = |matched: &&str| file.strip_suffix(matched).is_some_and(|folder| folder.ends_with('/'));
    match matched.find(is_file).filter(|matched| !matched.is_empty()) {
        Some(matched) => named(text(tool, "name"), matched),
        None => tool_of(tool),
    }
}

fn tool_of(tool: &Value) -> String {
    let file = Some(text(tool, "file")).filter(|file| !file.is_empty());
    named(text(tool, "name"), file.unwrap_or(text(tool, "command")))
}

fn blocks(record: &Value) -> Option<(u64, u64)> {
    let number = |name: &str| record.pointer(&format!("/blocks/{name}")).and_then(Value::as_u64);
    Some((number("count")?, number("max")?))
}
