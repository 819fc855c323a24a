//! The report as Markdown, for a pull request. Foreign text is always in a code span, where it is neither a link, nor a tag, nor a mention.

use std::fmt::Write;
use std::path::Path;

use super::model::{Lane, Report, SessionReport, State};
use super::tables::{UsageRow, UsageTables};
use conclaude_core::decide::Word;
use conclaude_core::prices::Tokens;
use conclaude_core::text::{count, printable_line};
use conclaude_store::audit::reasons;

mod record_tables;

use record_tables::RecordTables;

/// Longer tables are cut, and say so.
const MAX_ROWS: usize = 50;

/// Longer texts in a table are cut.
const MAX_CHARS: usize = 160;

pub(crate) fn markdown(report: &Report) -> String {
    let mut out = String::from("## conclaude report\n\n");
    summary(&mut out, report);
    usage(&mut out, report);
    sessions(&mut out, report);
    agents(&mut out, report);
    RecordTables::of(report).write(&mut out);
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

/// The rows of a table, and how many do not fit.
fn rows<T>(out: &mut String, items: &[T], cells: impl Fn(&T) -> Vec<String>) {
    items.iter().take(MAX_ROWS).for_each(|item| row(out, &cells(item)));
    if items.len() > MAX_ROWS {
        let _ = writeln!(out, "\n… and {} more", items.len() - MAX_ROWS);
    }
}

/// A duration in the form of the page.
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

/// How long it was working, and the time from its start to its end if that differs.
fn took(lane: &Lane) -> String {
    let Some(span) = lane.started.zip(lane.ended).map(|(start, end)| end.saturating_sub(start)) else {
        return "–".into();
    };
    let (active, span) = (milliseconds(lane.active), milliseconds(span));
    if active == span { active } else { format!("{active} (in {span})") }
}

fn name_of(lane: Option<&Lane>) -> String {
    match lane {
        Some(lane) if lane.id.is_some() => code(&lane.name),
        _ => "main thread".into(),
    }
}

fn summary(out: &mut String, report: &Report) {
    let agents = report.lanes.iter().filter(|lane| lane.id.is_some()).count();
    let total = &report.usage.total;
    let cost = if total.cost.is_some() {
        format!(", {}", dollars(total.cost, total.unpriced, 2))
    } else {
        String::new()
    };
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
        count(report.record_count(), "record"),
        report.decided(Word::Blocked),
        report.decided(Word::Denied),
        report.decided(Word::Asked),
    );
}

/// Tokens and cost, by each property with more than one value.
fn usage(out: &mut String, report: &Report) {
    let UsageTables { days, models, projects, branches, agent_types, .. } = &report.usage;
    if days.is_empty() {
        return;
    }
    let days: Vec<UsageRow> = days.iter().rev().map(|day| day.total.clone()).collect();
    usage_table(out, "By model", "model", models);
    let has_sessions = report.sessions.len() > 1;
    for (title, column, rows) in [
        ("By day", "day", &days),
        ("By project", "project", projects),
        ("By branch", "branch", branches),
        // The agents of one session have a table of their own.
        ("By agent type", "agent", agent_types),
    ] {
        if rows.len() > 1 && (has_sessions || column != "agent") {
            usage_table(out, title, column, rows);
        }
    }
}

fn usage_table(out: &mut String, title: &str, column: &str, items: &[UsageRow]) {
    let columns = [column, "sessions", "answers", "tokens in", "out", "cache read", "cache write", "cost"];
    heading(out, title, &columns);
    rows(out, items, |row| {
        let Tokens { input, output, cache_read, cache_write, .. } = row.tokens;
        let numbers = [row.sessions, row.answers, input, output, cache_read, cache_write];
        let numbers = numbers.iter().map(u64::to_string);
        [code(&row.name)].into_iter().chain(numbers).chain([dollars(row.cost, row.unpriced, 2)]).collect()
    });
}

/// The sessions, if there is more than one: the newest first.
fn sessions(out: &mut String, report: &Report) {
    if report.sessions.len() < 2 {
        return;
    }
    heading(out, "Sessions", &["last active", "session", "id", "active", "span", "cost"]);
    let all: Vec<(usize, &SessionReport)> = report.sessions.iter().enumerate().collect();
    rows(out, &all, |(index, session)| {
        let lanes = || report.lanes.iter().filter(|lane| lane.session == Some(*index));
        let cost = lanes().filter_map(|lane| lane.cost).reduce(|sum, cost| sum + cost);
        let unpriced = lanes().map(Lane::unpriced).sum();
        vec![
            session.ended.map_or_else(|| "–".into(), time),
            code(session.name.as_deref().unwrap_or_default()),
            code(&session.id.chars().take(8).collect::<String>()),
            milliseconds(session.active),
            milliseconds(session.ended.unwrap_or_default() - session.started.unwrap_or_default()),
            dollars(cost, unpriced, 2),
        ]
    });
}

/// A cost, which may lack that of tokens without a price.
fn dollars(cost: Option<f64>, unpriced: u64, decimals: usize) -> String {
    let lacks = if unpriced > 0 { " + ?" } else { "" };
    cost.map_or_else(|| "–".into(), |cost| format!("${cost:.decimals$}{lacks}"))
}

fn milliseconds(ms: i64) -> String {
    u64::try_from(ms).map_or_else(|_| "–".into(), duration)
}

const AGENT_COLUMNS: [&str; 13] = [
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

fn agents(out: &mut String, report: &Report) {
    let lanes: Vec<&Lane> = report.lanes.iter().filter(|lane| lane.session.is_some()).collect();
    if lanes.is_empty() {
        return;
    }
    let has_sessions = report.sessions.len() > 1 || !report.clients().is_empty();
    // One session needs no name.
    let skipped = usize::from(!has_sessions);
    heading(out, "Agents", AGENT_COLUMNS.get(skipped..).unwrap_or_default());
    rows(out, &lanes, |lane| agent_cells(lane, report).into_iter().skip(skipped).collect());
}

fn agent_cells(lane: &Lane, report: &Report) -> [String; AGENT_COLUMNS.len()] {
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
    let client = session.and_then(|session| session.client.as_deref()).unwrap_or_default();
    [
        [code(&id), code(client)].join(" ").trim_end().to_owned(),
        name_of(Some(lane)),
        code(lane.description.as_deref().unwrap_or_default()),
        code(lane.outcome.as_deref().unwrap_or_default()),
        took(lane),
        lane.tokens.input.to_string(),
        lane.tokens.output.to_string(),
        lane.tokens.cache_read.to_string(),
        lane.tokens.cache_write.to_string(),
        dollars(lane.cost, lane.unpriced(), 4),
        files(lane, &report.project),
        decisions.join(", "),
        state.into(),
    ]
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
        let _ = writeln!(out, "\nWithout a known price, and not in the cost: {}.", models.join(", "));
    }
    let _ = writeln!(
        out,
        "\nFrom {} with {}, by conclaude {}. List prices of {}, unless `report.prices` has others.",
        count(report.transcripts.files, "transcript"),
        count(report.transcripts.lines, "line"),
        report.version,
        report.prices_of
    );
}
