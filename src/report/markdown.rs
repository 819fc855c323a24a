//! The report as Markdown, for a pull request. Foreign text is always in a code span, where it is neither a link, nor a tag, nor a mention.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use super::model::{Lane, Record, Report, State};
use conclaude_core::decide::Word;
use conclaude_core::finding::Code;
use conclaude_core::text::{count, printable_line};
use conclaude_store::audit::fields::text_or_empty as text;
use conclaude_store::audit::{reasons, words};

/// Longer tables are cut, and say so.
const MAX_ROWS: usize = 50;

/// Longer texts in a table are cut.
const MAX_CHARS: usize = 160;

/// The most important texts have more room.
const MAX_REASON: usize = 600;

/// The last lines of an output, which say what failed.
const MAX_OUTPUT: usize = 10;

pub(crate) fn markdown(report: &Report) -> String {
    let mut out = String::from("## conclaude report\n\n");
    summary(&mut out, report);
    agents(&mut out, report);
    changed(&mut out, report);
    decisions(&mut out, report);
    outputs(&mut out, report);
    findings(&mut out, report);
    commands(&mut out, report);
    steps(&mut out, report);
    hooks(&mut out, report);
    unfinished(&mut out, report);
    footer(&mut out, report);
    out
}

fn code(text: &str) -> String {
    code_within(text, MAX_CHARS)
}

fn code_within(text: &str, max: usize) -> String {
    let clean = printable_line(text).replace('`', "'");
    let short: String = clean.chars().take(max).collect();
    let short = if short.len() < clean.len() { format!("{short}…") } else { short };
    let short = short.replace('|', "\\|");
    if short.trim().is_empty() { String::new() } else { format!("`{}`", short.trim()) }
}

fn heading(out: &mut String, title: &str, columns: &[&str]) {
    let rule: Vec<&str> = columns.iter().map(|_| "---").collect();
    let _ = writeln!(out, "\n### {title}\n\n| {} |\n| {} |", columns.join(" | "), rule.join(" | "));
}

fn row(out: &mut String, cells: &[String]) {
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// The rows of a table, and how many there is no room for.
fn rows<T>(out: &mut String, items: &[T], cells: impl Fn(&T) -> Vec<String>) {
    items.iter().take(MAX_ROWS).for_each(|item| row(out, &cells(item)));
    if items.len() > MAX_ROWS {
        let _ = writeln!(out, "\n… and {} more", items.len() - MAX_ROWS);
    }
}

/// The same as on the page.
fn duration(ms: u64) -> String {
    let (seconds, tenths) = (ms / 1_000, (ms + 50) / 100);
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{}.{} s", tenths / 10, tenths % 10),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..172_800 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

fn time(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn took(lane: &Lane) -> String {
    let ms = lane.started.zip(lane.ended).map(|(start, end)| end.saturating_sub(start));
    ms.and_then(|ms| u64::try_from(ms).ok()).map_or_else(|| "–".into(), duration)
}

fn name_of(lane: Option<&Lane>) -> String {
    match lane {
        Some(lane) if lane.id.is_some() => code(&lane.name),
        _ => "main thread".into(),
    }
}

fn summary(out: &mut String, report: &Report) {
    let agents = report.lanes.iter().filter(|lane| lane.id.is_some()).count();
    let of =
        |word: Word| report.records.iter().filter(|record| record.decision == word.as_str()).count() as u64;
    let cost: Vec<f64> = report.lanes.iter().filter_map(|lane| lane.cost).collect();
    let cost = if cost.is_empty() { String::new() } else { format!(", ${:.2}", cost.iter().sum::<f64>()) };
    let chain = match &report.chain.problem {
        None => format!("✓ audit trail in order ({})", count(report.chain.records, "record")),
        Some(problem) => format!("✗ **audit trail broken**: {}", code_within(problem, usize::MAX)),
    };
    let _ = writeln!(
        out,
        "{}: {}, {}, {}{cost}; {} blocked, {} denied, {} asked.\n\n{chain}",
        code(&report.range),
        count(report.sessions.len() as u64, "session"),
        count(agents as u64, "subagent"),
        count(report.records.len() as u64, "record"),
        of(Word::Blocked),
        of(Word::Denied),
        of(Word::Asked),
    );
}

fn agents(out: &mut String, report: &Report) {
    let lanes: Vec<&Lane> = report.lanes.iter().filter(|lane| lane.session.is_some()).collect();
    if lanes.is_empty() {
        return;
    }
    let has_sessions = report.sessions.len() > 1;
    let columns = [
        "session",
        "agent",
        "task",
        "verdict",
        "time",
        "tokens in",
        "out",
        "cache read",
        "cache write",
        "cost",
        "files written by tools",
        "decisions",
        "state",
    ];
    // One session needs no name.
    let skipped = usize::from(!has_sessions);
    heading(out, "Agents", columns.get(skipped..).unwrap_or_default());
    rows(out, &lanes, |lane| {
        let decisions: Vec<String> = lane
            .decisions
            .iter()
            .map(|(word, n)| format!("{n} {}", code(reasons::decision_in_words(word))))
            .collect();
        let state = match lane.state {
            State::Main | State::Unknown => "",
            State::Stopped => "stopped",
            State::Running => "running",
            State::NeverStopped => "**never stopped**",
        };
        let session = lane.session.and_then(|at| report.sessions.get(at));
        let id: String = session.map(|session| session.id.chars().take(8).collect()).unwrap_or_default();
        let cells = vec![
            code(&id),
            name_of(Some(lane)),
            code(lane.description.as_deref().unwrap_or_default()),
            code(lane.outcome.as_deref().unwrap_or_default()),
            took(lane),
            lane.tokens.input.to_string(),
            lane.tokens.output.to_string(),
            lane.tokens.cache_read.to_string(),
            lane.tokens.cache_write.to_string(),
            lane.cost.map_or_else(|| "–".into(), |cost| format!("${cost:.4}")),
            files(lane, &report.project),
            decisions.join(", "),
            state.into(),
        ];
        cells.into_iter().skip(skipped).collect()
    });
}

/// Further files of an agent are only counted.
const MAX_FILES: usize = 3;

/// Files of the project are named from its root.
fn files(lane: &Lane, project: &str) -> String {
    let inside = |path: &str| {
        Path::new(path).strip_prefix(project).map_or(path.to_owned(), |rest| rest.display().to_string())
    };
    let shown = lane.files.iter().take(MAX_FILES);
    let mut named: Vec<String> = shown.map(|(path, _)| code(&inside(path))).collect();
    let more = lane.files.len().saturating_sub(MAX_FILES);
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named.join(", ")
}

fn decisions(out: &mut String, report: &Report) {
    let bad = |record: &&Record| match Word::of(&record.decision) {
        Some(word) => {
            matches!(word, Word::Blocked | Word::Denied | Word::Asked | Word::AllowedDespiteFailure)
        }
        None => record.decision == words::UNFINISHED,
    };
    let records: Vec<&Record> = report.records.iter().filter(bad).collect();
    if records.is_empty() {
        return;
    }
    heading(out, "Blocked, denied and asked", &["record", "time", "event", "decision", "agent", "why"]);
    // The newest of them.
    let older = records.len().saturating_sub(MAX_ROWS);
    rows(out, records.get(older..).unwrap_or_default(), |record| {
        let counting = reasons::counting(record.findings().iter(), record.commands().iter());
        let applied = record.applied();
        let applied = applied.iter().map(reasons::of_applied);
        let why: Vec<String> = record.reason.iter().cloned().chain(counting).chain(applied).collect();
        vec![
            record.seq.to_string(),
            time(record.time),
            code(&record.event),
            code(reasons::decision_in_words(&record.decision)),
            name_of(report.lanes.get(record.lane)),
            code_within(&why.join("; "), MAX_REASON),
        ]
    });
    if older > 0 {
        let _ = writeln!(out, "\n… and {older} before these");
    }
}

/// What commands printed that failed, the newest of them.
fn outputs(out: &mut String, report: &Report) {
    let mut printed: Vec<(u64, Value)> = Vec::new();
    for record in &report.records {
        let commands = record.commands().into_iter();
        printed.extend(
            commands.filter(|one| !reasons::shown_output(one).is_empty()).map(|one| (record.seq, one)),
        );
    }
    if printed.is_empty() {
        return;
    }
    heading(out, "Output of failed commands", &["record", "command", "output"]);
    let older = printed.len().saturating_sub(MAX_ROWS);
    rows(out, printed.get(older..).unwrap_or_default(), |(seq, command)| {
        let lines: Vec<&str> = reasons::shown_output(command).lines().collect();
        let end = lines.get(lines.len().saturating_sub(MAX_OUTPUT)..).unwrap_or_default();
        let end: Vec<String> = end.iter().map(|line| code(line)).filter(|line| !line.is_empty()).collect();
        vec![seq.to_string(), code(text(command, "run")), end.join("<br>")]
    });
    if older > 0 {
        let _ = writeln!(out, "\n… and {older} before these");
    }
}

/// Records that were tampered with.
fn changed(out: &mut String, report: &Report) {
    let records: Vec<(&Record, &String)> =
        report.records.iter().filter_map(|record| Some((record, record.doubt.as_ref()?))).collect();
    if records.is_empty() {
        return;
    }
    heading(
        out,
        "Records that were tampered with",
        &["record", "time", "event", "decision", "agent", "what"],
    );
    rows(out, &records, |(record, doubt)| {
        vec![
            record.seq.to_string(),
            time(record.time),
            code(&record.event),
            code(reasons::decision_in_words(&record.decision)),
            name_of(report.lanes.get(record.lane)),
            code_within(doubt, MAX_REASON),
        ]
    });
}

fn findings(out: &mut String, report: &Report) {
    let mut kinds: BTreeMap<String, (u64, BTreeSet<String>)> = BTreeMap::new();
    // A permission is not a finding.
    let is_against = |finding: &Value| text(finding, "code") != Code::PermissionAllowed.as_str();
    for finding in report.records.iter().flat_map(Record::findings).filter(is_against) {
        let kind = reasons::kind_in_words(text(&finding, "code"));
        let (count, phases) = kinds.entry(kind.to_owned()).or_default();
        *count += 1;
        phases.extend(finding.get("phase").and_then(Value::as_str).map(str::to_owned));
    }
    if kinds.is_empty() {
        return;
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (count, _))| Reverse(*count));
    heading(out, "Findings by kind", &["kind", "count", "phases"]);
    rows(out, &kinds, |(kind, (count, phases))| {
        let phases: Vec<String> = phases.iter().map(|phase| code(phase)).collect();
        vec![code(kind), count.to_string(), phases.join(", ")]
    });
}

fn commands(out: &mut String, report: &Report) {
    let mut all: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for command in report.records.iter().flat_map(Record::commands) {
        let (runs, failures, longest) = all.entry(text(&command, "run").to_owned()).or_default();
        *runs += 1;
        *failures += u64::from(!reasons::has_passed(&command));
        let took = command.get("duration_ms").and_then(Value::as_u64).unwrap_or_default();
        *longest = took.max(*longest);
    }
    if all.is_empty() {
        return;
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, (.., longest))| Reverse(*longest));
    heading(out, "Slowest commands", &["command", "runs", "failures", "longest"]);
    rows(out, &all, |(run, (runs, failures, longest))| {
        vec![code(run), runs.to_string(), failures.to_string(), duration(*longest)]
    });
}

fn steps(out: &mut String, report: &Report) {
    if report.steps.is_empty() {
        return;
    }
    heading(out, "Steps", &["step", "task", "state", "phases"]);
    rows(out, &report.steps, |step| {
        let is_done = |status: &Option<String>| {
            status.as_deref().is_some_and(|status| {
                matches!(status.trim().to_ascii_uppercase().as_str(), "EXECUTED" | "SKIPPED")
            })
        };
        let done = step.phases.iter().filter(|phase| is_done(&phase.status)).count();
        let state = step.problem.as_deref().unwrap_or(&step.state);
        let phases = format!("{done} of {}", step.phases.len());
        vec![code(&step.step), code(step.name.as_deref().unwrap_or_default()), code(state), phases]
    });
}

fn hooks(out: &mut String, report: &Report) {
    if report.hooks.is_empty() {
        return;
    }
    heading(out, "Hooks that failed silently", &["time", "hook", "what", "agent", "command", "error"]);
    rows(out, &report.hooks, |hook| {
        vec![
            time(hook.time),
            code(&hook.hook),
            code(&hook.kind),
            name_of(report.lanes.get(hook.lane)),
            code(hook.command.as_deref().unwrap_or_default()),
            code(hook.stderr.as_deref().unwrap_or_default()),
        ]
    });
}

fn unfinished(out: &mut String, report: &Report) {
    let lanes: Vec<&Lane> = report.lanes.iter().filter(|lane| lane.state == State::NeverStopped).collect();
    if lanes.is_empty() {
        return;
    }
    heading(out, "Agents that started and never stopped", &["agent", "id", "task", "why"]);
    rows(out, &lanes, |lane| {
        vec![
            code(&lane.name),
            code(lane.id.as_deref().unwrap_or_default()),
            code(lane.description.as_deref().unwrap_or_default()),
            code(lane.why.as_deref().unwrap_or_default()),
        ]
    });
}

fn footer(out: &mut String, report: &Report) {
    let warnings = report.chain.warnings.iter().chain(&report.transcripts.problems).chain(&report.left_out);
    let warnings: Vec<String> =
        warnings.map(|warning| format!("* ⚠ {}", code_within(warning, usize::MAX))).collect();
    if !warnings.is_empty() {
        let _ = writeln!(out, "\n{}", warnings.join("\n"));
    }
    if !report.unpriced.is_empty() {
        let models: Vec<String> = report.unpriced.iter().map(|model| code(model)).collect();
        let _ = writeln!(out, "\nNo price in the config, and not in the cost: {}.", models.join(", "));
    }
    let _ = writeln!(
        out,
        "\nFrom {} with {}, by conclaude {}.",
        count(report.transcripts.files, "transcript"),
        count(report.transcripts.lines, "line"),
        report.version
    );
}
