//! The results of a replay as text.

use std::collections::HashMap;
use std::io;

use anstyle::{AnsiColor, Style};

use super::{ReplaySummary, omissions};
use crate::cli::out::{Out, Paint};
use crate::cli::table;
use crate::replay::notes_of;
use crate::replay::totals::{Hit, Tally};
use conclaude_core::rule::Rule;
use conclaude_core::text::{count, printable_line};
use conclaude_engine::hooks::replay::{PlannedCommand, Prediction};

const BOLD: Paint = Paint(Style::new().bold());
const FAINT: Paint = Paint(Style::new().dimmed());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());

/// Longer tables are cut, and say so; JSON has more.
const MAX_ROWS: usize = 100;
const MAX_WHAT: usize = 60;
const MAX_NAME: usize = 24;
/// The start of a session's id that is enough to name it.
const MAX_SESSION: usize = 8;

pub(super) fn text(out: &mut Out<'_>, replayed: &ReplaySummary<'_>, with_unmatched: bool) -> io::Result<()> {
    hits(out, replayed)?;
    summary(out, replayed)?;
    rules(out, replayed)?;
    if with_unmatched {
        unmatched(out, replayed)?;
    }
    commands(out, replayed)?;
    let (problems, notes) = (replayed.totals.named_problems(), short_notes(replayed));
    let omissions = omissions::line(replayed);
    if !problems.is_empty() || !notes.is_empty() || omissions.is_some() {
        writeln!(out)?;
    }
    for problem in problems {
        writeln!(out, "{WARNING}warning:{WARNING:#} {problem}")?;
    }
    for note in notes {
        writeln!(out, "{FAINT}note: {note}{FAINT:#}")?;
    }
    if let Some(omissions) = omissions {
        writeln!(out, "{WARNING}left out:{WARNING:#} {omissions}")?;
    }
    Ok(())
}

fn short(text: &str, max: usize) -> String {
    let clean = printable_line(text);
    let start: String = clean.chars().take(max).collect();
    if start.len() < clean.len() { format!("{start}…") } else { start }
}

/// All hits, in the order in which they happened.
pub(super) fn by_time<'a>(replayed: &ReplaySummary<'a>) -> Vec<&'a Hit> {
    let mut hits: Vec<&Hit> = replayed.totals.hits.values().collect();
    hits.sort_by(|a, b| a.at.time.cmp(&b.at.time));
    hits
}

fn hits(out: &mut Out<'_>, replayed: &ReplaySummary<'_>) -> io::Result<()> {
    let hits = by_time(replayed);
    if hits.is_empty() {
        return Ok(());
    }
    let heading =
        ["TIMES", "LAST (UTC)", "SESSION", "AGENT", "EVENT", "WOULD BE", "HAPPENED", "WHAT", "RULE"]
            .map(str::to_owned);
    let groups = grouped(&hits);
    let rows: Vec<_> = std::iter::once(heading).chain(groups.iter().take(MAX_ROWS).map(row)).collect();
    table(out, &rows, BOLD)?;
    let in_rows: usize = groups.iter().take(MAX_ROWS).map(|group| group.times).sum();
    let more = (hits.len() - in_rows) as u64 + replayed.totals.left_out;
    if more > 0 {
        writeln!(out, "… and {more} more: --json has {} of them", hits.len())?;
    }
    if replayed.totals.differs > 0 {
        writeln!(out, "* differs from what would be decided now")?;
    }
    writeln!(out)
}

/// Events that differ only in time and session.
struct HitGroup {
    times: usize,
    /// The cells of the newest, which comes first.
    newest: [String; 8],
}

/// The newest first.
fn grouped(hits: &[&Hit]) -> Vec<HitGroup> {
    let mut groups: Vec<HitGroup> = Vec::new();
    let mut known: HashMap<Vec<String>, usize> = HashMap::new();
    for hit in hits.iter().rev() {
        let newest = cells(hit);
        // Everything except time and session.
        let same = newest.iter().skip(2).cloned().collect();
        match known.get(&same).and_then(|at| groups.get_mut(*at)) {
            Some(group) => group.times += 1,
            None => {
                known.insert(same, groups.len());
                groups.push(HitGroup { times: 1, newest });
            }
        }
    }
    groups
}

fn row(group: &HitGroup) -> [String; 9] {
    let [time, session, agent, event, would, happened, what, rule] = group.newest.clone();
    [group.times.to_string(), time, session, agent, event, would, happened, what, rule]
}

fn cells(hit: &Hit) -> [String; 8] {
    let at = &hit.at;
    let time = at.time.as_deref().and_then(|time| time.get(..19)).unwrap_or("-");
    let happened = hit.happened.as_str();
    let what = match &at.tool {
        Some(tool) => format!("{tool} {}", at.what),
        None => at.what.clone(),
    };
    let because = match hit.because.as_slice() {
        [] => String::new(),
        [one] => one.rule.to_string(),
        [first, more @ ..] => format!("{} and {} more", first.rule, more.len()),
    };
    let would = match hit.would {
        Prediction::Depends => "its commands decide",
        Prediction::Unknown => "not known: a gate",
        would => would.as_str(),
    };
    [
        printable_line(time),
        short(&hit.session, MAX_SESSION).trim_end_matches('…').to_owned(),
        short(&hit.agent, MAX_NAME),
        at.event.to_string(),
        would.to_owned(),
        if hit.differs { format!("{happened} *") } else { happened.to_owned() },
        short(&what, MAX_WHAT),
        printable_line(&because),
    ]
}

fn summary(out: &mut Out<'_>, replayed: &ReplaySummary<'_>) -> io::Result<()> {
    let totals = replayed.totals;
    #[expect(clippy::cast_precision_loss, reason = "no transcript is that large")]
    let megabytes = totals.counts.bytes as f64 / 1e6;
    writeln!(
        out,
        "{} ({} asked about), {} and {} in {} ({}, {megabytes:.1} MB in {:.1} s)",
        count(totals.tool_calls, "tool call"),
        totals.requests,
        count(totals.prompts, "prompt"),
        count(totals.stops, "stop"),
        count(replayed.sessions, "session"),
        count(replayed.transcripts, "transcript"),
        replayed.seconds
    )?;
    let words = [Prediction::Denied, Prediction::Asked, Prediction::Blocked, Prediction::Permitted];
    let counts: Vec<String> =
        words.iter().map(|would| format!("{} {}", totals.of(*would), would.as_str())).collect();
    let differ = if totals.differs == 1 { "differs" } else { "differ" };
    writeln!(out, "would be: {}; {} {differ} from what happened", counts.join(", "), totals.differs)?;
    let undecided = [
        (Prediction::Depends, "where commands that can block would run"),
        (Prediction::Unknown, "of agents with a step, whose gates cannot be replayed"),
    ];
    for (would, why) in undecided.into_iter().filter(|(would, _)| totals.of(*would) > 0) {
        writeln!(out, "not decided by rules: {} {why}", count(totals.of(would), "event"))?;
    }
    Ok(())
}

/// Rules with their decisions, the most frequent first.
pub(super) fn matched<'a>(replayed: &ReplaySummary<'a>) -> Vec<(&'a Rule, Tally)> {
    let mut found: Vec<_> = replayed.totals.rules.iter().map(|(rule, tally)| (rule, *tally)).collect();
    let key = |(rule, tally): &(&Rule, Tally)| {
        (std::cmp::Reverse((tally.decided(), tally.matched)), rule.file.clone(), rule.line, rule.to_string())
    };
    found.sort_by_cached_key(|one| key(one));
    found
}

/// Rules of the config that matched nothing.
pub(super) fn never_matched<'a>(replayed: &ReplaySummary<'a>) -> Vec<&'a Rule> {
    let rules = replayed.replayer.rules.iter();
    rules.filter(|rule| !replayed.totals.rules.contains_key(rule)).collect()
}

fn rules(out: &mut Out<'_>, replayed: &ReplaySummary<'_>) -> io::Result<()> {
    let matched = matched(replayed);
    if !matched.is_empty() {
        writeln!(out, "\n{BOLD}rules that matched{BOLD:#}")?;
    }
    for (rule, tally) in matched {
        writeln!(out, "  {}  {rule}", tally_words(tally))?;
    }
    Ok(())
}

/// A pack is for many projects, so most of its rules match nothing in one of them.
fn unmatched(out: &mut Out<'_>, replayed: &ReplaySummary<'_>) -> io::Result<()> {
    let is_of_pack = |rule: &&Rule| rule.file.as_deref().is_some_and(|file| file.starts_with("pack:"));
    let own: Vec<&Rule> = never_matched(replayed).into_iter().filter(|rule| !is_of_pack(rule)).collect();
    writeln!(out, "\n{BOLD}rules that never matched{BOLD:#}")?;
    if own.is_empty() {
        writeln!(out, "  none")?;
    }
    own.iter().try_for_each(|rule| writeln!(out, "  {rule}"))
}

fn tally_words(tally: Tally) -> String {
    let parts = [
        (tally.denied, "denied"),
        (tally.asked, "asked"),
        (tally.blocked, "blocked"),
        (tally.permitted, "permitted"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let text = if parts.is_empty() { format!("{} matched", tally.matched) } else { parts.join(", ") };
    format!("{text:>12}")
}

/// Commands that would have run, the most frequent first.
pub(super) fn planned<'a>(replayed: &ReplaySummary<'a>) -> Vec<(&'a PlannedCommand, u64)> {
    let mut found: Vec<(&PlannedCommand, u64)> =
        replayed.totals.commands.iter().map(|(command, n)| (command, *n)).collect();
    found.sort_by(|(a, n), (b, m)| {
        m.cmp(n).then_with(|| (&a.rule.file, a.rule.line, &a.run).cmp(&(&b.rule.file, b.rule.line, &b.run)))
    });
    found
}

fn commands(out: &mut Out<'_>, replayed: &ReplaySummary<'_>) -> io::Result<()> {
    let commands = planned(replayed);
    if commands.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{BOLD}commands that would have run{BOLD:#} (none was; how they would have ended is not known)"
    )?;
    for (command, n) in commands {
        let can_block = if command.can_block { ", can block" } else { "" };
        let times = count(n, "time");
        writeln!(out, "  {times:>12}  {}{can_block}: {}", short(&command.run, MAX_WHAT), command.rule)?;
    }
    Ok(())
}

/// Rules whose verdict depends on files, which may have changed since.
const OF_FILES: [(&str, &str); 3] = [
    ("preToolUse.preventAdditions", "whether a file existed"),
    ("preToolUse.preventRootAdditions", "whether a file existed"),
    ("preToolUse.preventUpdateGitIgnored", "what git ignored"),
];

/// Notes on reading the results.
fn short_notes(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let mut found = untrusted(replayed);
    found.extend(elsewhere(replayed));
    let unknown = replayed.totals.not_replayed.unknown_agents;
    if unknown > 0 {
        found.push(format!("{} without a type: rules see its id as its name", count(unknown, "subagent")));
    }
    let of_disk = of_disk(replayed);
    if !of_disk.is_empty() {
        found.push(format!("looked up on today's disk: {}", of_disk.join(", ")));
    }
    found
}

fn untrusted(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let of =
        |why: &String| format!("hooks do not use all of this config, and none of it was run here: {why}");
    replayed.untrusted.iter().map(of).collect()
}

/// The limits of a replay, with numbers and reasons.
pub(super) fn notes(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let mut found = untrusted(replayed);
    found.extend(elsewhere(replayed));
    found.extend(gates(replayed));
    found.extend(
        of_disk(replayed)
            .iter()
            .map(|what| format!("looked up on today's disk, not on the disk of that time: {what}")),
    );
    let omissions = replayed.totals.not_replayed;
    let of = |n: u64, noun: &str, what: &str| {
        if n > 0 { Some(format!("{} {what}", count(n, noun))) } else { None }
    };
    found.extend(of(
        omissions.requests,
        "call",
        "not replayed with `permissionRequest`: the transcript does not say whether the user was asked",
    ));
    found.extend(of(
        omissions.sidechain_lines,
        "line",
        "of subagents in a transcript of the main thread not replayed: older versions of Claude Code wrote them there",
    ));
    found.extend(of(omissions.unknown_agents, "subagent", "without a type: rules see its id as its name"));
    found.extend(of(omissions.old_files, "transcript", "not read: last written before the time of --since"));
    found.extend(notes_of(&replayed.not_listed));
    let others = replayed.replayer.other_sections();
    if !others.is_empty() {
        found.push(format!(
            "not replayed, since transcripts do not show these events: the commands of {}",
            others.join(", ")
        ));
    }
    if replayed.replayer.has_budget() {
        found.push(
            "not replayed: `budget`, since `conclaude report` shows what sessions have used".to_owned(),
        );
    }
    found
}

/// Sessions that hooks would not have judged with this config, or not in this folder.
fn elsewhere(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let kinds = [
        (
            &replayed.other_configs,
            "started in a folder with a config of its own, which was not used",
            "`conclaude replay` there uses it",
        ),
        (
            &replayed.gone,
            "started in a folder that is gone",
            "its config and files of that time are not known",
        ),
    ];
    let affected = kinds.into_iter().filter(|(of, ..)| of.sessions > 0);
    affected
        .map(|(of, what, why)| {
            let which = if of.sessions == 1 { "" } else { "the first: " };
            format!("{} {what} ({which}{}): {why}", count(of.sessions, "session"), of.first.display())
        })
        .collect()
}

/// Step files and trees of that time are gone.
fn gates(replayed: &ReplaySummary<'_>) -> Vec<String> {
    let omissions = replayed.totals.not_replayed;
    let gates = [
        (
            omissions.step_files,
            "call",
            "Gate 1 was replayed only for the prompt",
            "its step file of that time is not known",
        ),
        (
            omissions.scopes,
            "writing call",
            "Gate 2 was not replayed",
            "the scope of its step at that time is not known",
        ),
        (
            omissions.gated_stops,
            "stop",
            "Gate 3 and the judge were not replayed",
            "the step and the files of that time are not known",
        ),
    ];
    let affected = gates.into_iter().filter(|(n, ..)| *n > 0);
    affected
        .map(|(n, noun, what, why)| format!("{what} for {} of agents with a step: {why}", count(n, noun)))
        .collect()
}

/// The facts that are looked up on the disk.
fn of_disk(replayed: &ReplaySummary<'_>) -> Vec<&'static str> {
    let rules = &replayed.replayer.rules;
    let has = |key: &str| rules.iter().any(|rule| rule.key == key);
    let mut found: Vec<&str> = Vec::new();
    if replayed.totals.tool_calls > 0 && rules.iter().any(|rule| rule.key.starts_with("preToolUse")) {
        found.push("links, directories and globs of shell commands");
    }
    for (key, what) in OF_FILES {
        if has(key) && !found.contains(&what) {
            found.push(what);
        }
    }
    found
}
