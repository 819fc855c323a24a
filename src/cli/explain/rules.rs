//! Guards and permission rules as text: matches in detail, the others in as few lines as possible.

use std::io;

use super::layout::{BAD, FAINT, GOOD, WARNING, marked, paragraph};
use super::words;
use crate::cli::out::{Out, Paint};
use conclaude_checks::guard::Comparison;
use conclaude_checks::permission::PermissionExplanation;
use conclaude_core::config::PACK;
use conclaude_core::finding::Audience;
use conclaude_core::outcome::{Outcome, Verdict};
use conclaude_core::rule::Rule;
use conclaude_engine::hooks::rehearse::{GuardReport, Rehearsal};

/// A rule with the result of its comparisons.
struct RuleLine<'a> {
    rule: &'a Rule,
    mark: (Paint, &'static str),
    why: Vec<String>,
}

pub(super) fn guards(out: &mut Out<'_>, rehearsal: &Rehearsal, guarded: &GuardReport) -> io::Result<()> {
    let findings = findings(rehearsal);
    let considered: Vec<RuleLine<'_>> =
        guarded.rules.iter().map(|rule| consider(rule, guarded, &findings, |_| true)).collect();
    let is_same = |one: &RuleLine<'_>, other: &RuleLine<'_>| {
        one.mark.1 == "·"
            && other.mark.1 == "·"
            && one.why == other.why
            && (&one.rule.key, &one.rule.file) == (&other.rule.key, &other.rule.file)
    };
    for group in considered.chunk_by(is_same) {
        print_group(out, group)?;
    }
    built_in(out, rehearsal, &findings)?;
    if guarded.rules.is_empty() {
        writeln!(out, "  none is configured")?;
    }
    Ok(())
}

/// The matching guards, each with its finding and its message, denials first. Returns whether there are any.
pub(super) fn deciding_guards(
    out: &mut Out<'_>,
    rehearsal: &Rehearsal,
    guarded: &GuardReport,
) -> io::Result<bool> {
    let (denials, others): (Vec<&Outcome>, Vec<&Outcome>) =
        findings(rehearsal).into_iter().partition(|outcome| outcome.verdict == Verdict::Block);
    let all: Vec<&Outcome> = denials.iter().chain(&others).copied().collect();
    let lines = guarded.rules.iter().map(|rule| consider(rule, guarded, &all, |one| one.is_match));
    let lines = lines.filter(|line| line.mark.1 != "·");
    let (refusing, asking): (Vec<RuleLine<'_>>, Vec<RuleLine<'_>>) =
        lines.partition(|line| line.mark.1 == "✗");
    let is_any = !refusing.is_empty() || !asking.is_empty();
    refusing.into_iter().try_for_each(|line| deciding_guard(out, line, &denials))?;
    let mut is_built_in = built_in(out, rehearsal, &denials)?;
    asking.into_iter().try_for_each(|line| deciding_guard(out, line, &others))?;
    is_built_in |= built_in(out, rehearsal, &others)?;
    let is_settled = unasked(out, guarded)?;
    Ok(is_built_in || is_any || is_settled)
}

/// The questions for the sandbox, or why they are asked anyway. Returns whether there are any.
fn unasked(out: &mut Out<'_>, guarded: &GuardReport) -> io::Result<bool> {
    for finding in &guarded.settled {
        let what = format!("{} {SETTLED}", finding.reason);
        marked(out, 2, Some((GOOD, "✓")), &what)?;
    }
    if let Some(why) = &guarded.why_asked {
        let what = format!("The sandbox does not answer that: {why}.");
        marked(out, 2, Some((WARNING, "?")), &what)?;
    }
    Ok(!guarded.settled.is_empty() || guarded.why_asked.is_some())
}

/// Why a question is not asked.
const SETTLED: &str = "That is not asked about: the sandbox refuses protected files when the command runs (`enforce`). In a session that is started with `--settings` it is asked about.";

/// A matching guard and its message.
fn deciding_guard(out: &mut Out<'_>, line: RuleLine<'_>, findings: &[&Outcome]) -> io::Result<()> {
    let rule = line.rule;
    print_group(out, &[line])?;
    let is_own =
        |outcome: &&&Outcome| outcome.as_finding().and_then(|finding| finding.rule.as_deref()) == Some(rule);
    let Some(outcome) = findings.iter().find(is_own) else { return Ok(()) };
    let Some(finding) = outcome.as_finding() else { return Ok(()) };
    let audience = if outcome.verdict == Verdict::Ask { Audience::User } else { Audience::Claude };
    // The message of a rule says everything.
    let fix = finding.fix_for(audience);
    paragraph(out, 6, if fix.is_empty() { &finding.what } else { fix })?;
    rule.switch_off().map_or(Ok(()), |switch| paragraph(out, 6, &format!("off with `{switch}`")))
}

fn findings(rehearsal: &Rehearsal) -> Vec<&Outcome> {
    rehearsal.checks.iter().flatten().filter(|outcome| outcome.as_finding().is_some()).collect()
}

/// Prints the findings without a rule of the config. Returns whether there are any.
fn built_in(out: &mut Out<'_>, rehearsal: &Rehearsal, findings: &[&Outcome]) -> io::Result<bool> {
    let mut is_any = false;
    for outcome in findings.iter().filter(|outcome| !rehearsal.is_of_gate(outcome)) {
        let Some(finding) = outcome.as_finding() else { continue };
        if finding.rule.as_ref().is_some_and(|rule| rule.key == "built-in") {
            let paint = if outcome.verdict == Verdict::Block { BAD } else { WARNING };
            marked(out, 2, Some((paint, &outcome.verdict.mark().to_string())), &finding.what)?;
            is_any = true;
        }
    }
    Ok(is_any)
}

/// A rule with those of its comparisons that are shown.
fn consider<'a>(
    rule: &'a Rule,
    guarded: &GuardReport,
    findings: &[&Outcome],
    is_shown: fn(&Comparison) -> bool,
) -> RuleLine<'a> {
    let is_own =
        |outcome: &&&Outcome| outcome.as_finding().and_then(|finding| finding.rule.as_deref()) == Some(rule);
    let mark = match findings.iter().filter(is_own).map(|outcome| outcome.verdict).max() {
        Some(Verdict::Block) => (BAD, "✗"),
        Some(_) => (WARNING, "?"),
        None if guarded.compared.iter().any(|one| one.rule == *rule && one.is_match) => (GOOD, "○"),
        None => (FAINT, "·"),
    };
    // It is expected that the same rule in an outer layer decides first.
    let itself = format!("cannot relax `{}`", rule.pattern.as_deref().unwrap_or_default());
    let is_news = |one: &&Comparison| one.rule == *rule && is_shown(one) && !one.why.contains(&itself);
    let compared: Vec<&Comparison> = guarded.compared.iter().filter(is_news).collect();
    let why =
        if compared.is_empty() { vec![words::not_compared(rule).to_owned()] } else { reasons(&compared) };
    RuleLine { rule, mark, why }
}

/// The reasons. Those that differ only in the subject are joined: `does not cover a, b`.
fn reasons(compared: &[&Comparison]) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for one in compared {
        let (text, subject) = match one.why.strip_suffix(&one.subject) {
            Some(common) if !one.is_match && !one.subject.is_empty() => {
                (common.to_owned(), Some(one.subject.as_str()))
            }
            _ => (one.why.clone(), None),
        };
        match found.iter_mut().find(|(known, _)| *known == text) {
            Some((_, subjects)) => subjects.extend(subject),
            None => found.push((text, subject.into_iter().collect())),
        }
    }
    found.into_iter().map(|(text, subjects)| format!("{text}{}", subjects.join(", "))).collect()
}

fn print_group(out: &mut Out<'_>, group: &[RuleLine<'_>]) -> io::Result<()> {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return Ok(()) };
    let mark = Some(first.mark);
    if group.len() > 1 {
        let key = short(&first.rule.key);
        let position = positions(first.rule, last.rule);
        let count = group.len();
        let title = format!("each of {count} {key} in {position} {}", first.why.join("; "));
        marked(out, 2, mark, &title)?;
        // Rules of packs are known by their names, and their patterns are long.
        let names = group.iter().filter_map(|one| match (one.rule.name, &one.rule.pattern) {
            (Some(name), _) => Some(name.to_owned()),
            (None, pattern) => pattern.as_ref().map(|pattern| format!("{pattern:?}")),
        });
        return paragraph(out, 6, &names.collect::<Vec<_>>().join(", "));
    }
    let name = first.rule.to_string();
    match first.why.as_slice() {
        [only] => marked(out, 2, mark, &format!("{} {only}", short(&name))),
        several => {
            marked(out, 2, mark, short(&name))?;
            several.iter().try_for_each(|why| paragraph(out, 6, why))
        }
    }
}

/// The positions of neighbouring rules in one file.
fn positions(first: &Rule, last: &Rule) -> String {
    let file = first.file.as_deref().unwrap_or_default();
    match (first.line, last.line) {
        _ if file.starts_with(PACK) => file.to_owned(),
        (Some(from), Some(to)) if from != to => format!("{file}:{from}-{to}"),
        _ => first.position().unwrap_or_default(),
    }
}

/// The key without the section, which the heading names.
fn short(name: &str) -> &str {
    name.strip_prefix("preToolUse.").unwrap_or(name)
}

pub(super) fn permissions(out: &mut Out<'_>, permitted: &PermissionExplanation) -> io::Result<()> {
    permission_rules(out, permitted, true).map(|_| ())
}

/// The matching rules, or why the user is asked. Returns whether there are either.
pub(super) fn deciding_permissions(out: &mut Out<'_>, permitted: &PermissionExplanation) -> io::Result<bool> {
    permission_rules(out, permitted, false)
}

fn permission_rules(out: &mut Out<'_>, permitted: &PermissionExplanation, all: bool) -> io::Result<bool> {
    let mut is_any = permitted.asked.is_some();
    for (rule, why_not) in permitted.rules.iter().filter(|(_, why_not)| all || why_not.is_none()) {
        let (mark, word) = match (why_not, rule.key.ends_with("deny")) {
            (None, true) => ((BAD, "✗"), "matches"),
            (None, false) => ((GOOD, "✓"), "matches"),
            (Some(why), _) => ((FAINT, "·"), why.as_str()),
        };
        marked(out, 2, Some(mark), &format!("{rule} {word}"))?;
        is_any = true;
    }
    if let Some(why) = &permitted.asked {
        marked(out, 2, Some((WARNING, "?")), &format!("the user is asked: {why}"))?;
    }
    Ok(is_any)
}
