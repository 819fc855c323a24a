//! The explanation as text.

use std::io;

use anstyle::{AnsiColor, Style};

use super::layout::{marked, paragraph};
use super::{Explained, cases, words};
use crate::cli::out::{Out, Paint};
use crate::config::Reaction;
use crate::exit::Exit;
use crate::hooks::rehearse::{Guarded, Rehearsal};
use crate::outcome::{Outcome, Verdict};
use crate::plan::environment::FILES;
use crate::plan::{Action, Command};
use crate::rule::Rule;
use crate::text::clean_line;

const BOLD: Paint = Paint(Style::new().bold());
const FAINT: Paint = Paint(Style::new().dimmed());
const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());

pub(super) fn all(out: &mut Out<'_>, explained: &Explained) -> io::Result<()> {
    head(out, explained)?;
    let Some(rehearsal) = &explained.rehearsal else {
        return paragraph(out, 0, "Nothing happens: this is the stop of an agent that nobody started.");
    };
    files(out, rehearsal)?;
    if let Some(guarded) = &rehearsal.guards {
        effects(out, guarded)?;
        guards(out, rehearsal, guarded)?;
    }
    gates(out, rehearsal)?;
    commands(out, rehearsal)?;
    answers(out, rehearsal)
}

fn section(out: &mut Out<'_>, title: &str) -> io::Result<()> {
    writeln!(out, "\n{BOLD}{title}{BOLD:#}")
}

fn head(out: &mut Out<'_>, explained: &Explained) -> io::Result<()> {
    let asked = &explained.asked;
    let agent = explained.rehearsal.as_ref().and_then(|rehearsal| rehearsal.agent.as_deref());
    let who = agent.map_or_else(
        || "on the main thread".to_owned(),
        |agent| format!("of the agent {}", clean_line(agent)),
    );
    let tool = asked.text("tool_name").map(|tool| format!(": {}", clean_line(tool))).unwrap_or_default();
    writeln!(out, "{BOLD}{}{tool} {who}{BOLD:#}", asked.event)?;
    let input = asked.payload.get("tool_input").and_then(serde_json::Value::as_object);
    for (name, value) in input.into_iter().flatten() {
        if let Some(text) = value.as_str() {
            paragraph(out, 2, &format!("{name}: {}", crate::messages::short(text)))?;
        }
    }
    for note in &explained.notes {
        marked(out, 0, Some((WARNING, "⚠")), note)?;
    }
    Ok(())
}

fn files(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    section(out, "Config")?;
    for source in &rehearsal.files {
        let name = rehearsal.file_name(&source.path);
        writeln!(out, "  {:<7}  {}", source.layer.name(), clean_line(&name))?;
        if let Some(why) = &source.untrusted {
            marked(out, 11, Some((WARNING, "⚠")), &format!("nothing of it runs: {why}"))?;
        }
    }
    if rehearsal.files.is_empty() && rehearsal.config_error.is_none() {
        writeln!(out, "  none: the defaults apply")?;
    }
    if let Some(error) = &rehearsal.config_error {
        marked(out, 2, Some((BAD, "✗")), &error.brief())?;
        for problem in error.located() {
            let name = rehearsal.file_name(error.path());
            paragraph(out, 4, &format!("{name}:{}: {}", problem.line, problem.message))?;
        }
    }
    Ok(())
}

fn effects(out: &mut Out<'_>, guarded: &Guarded) -> io::Result<()> {
    section(out, "What it does, as guards see it")?;
    let effects = &guarded.effects;
    if effects.commands.is_empty() && effects.touches.is_empty() && effects.unclear.is_empty() {
        return writeln!(out, "  no file is touched that its input names");
    }
    for touch in effects.touches.iter().filter(|touch| touch.command.is_none()) {
        paragraph(out, 2, &words::of_touch(touch))?;
    }
    for (index, command) in effects.commands.iter().enumerate() {
        paragraph(out, 2, &format!("runs `{}`", crate::messages::short(command)))?;
        for touch in effects.touches.iter().filter(|touch| touch.command == Some(index)) {
            paragraph(out, 4, &words::of_touch(touch))?;
        }
    }
    for unclear in &effects.unclear {
        marked(out, 2, Some((WARNING, "?")), &words::of_unclear(unclear))?;
    }
    Ok(())
}

fn guards(out: &mut Out<'_>, rehearsal: &Rehearsal, guarded: &Guarded) -> io::Result<()> {
    section(out, "Guards")?;
    let findings: Vec<&Outcome> =
        rehearsal.checks.iter().flatten().filter(|outcome| outcome.as_finding().is_some()).collect();
    let verdict = |rule: &Rule| {
        let own = findings
            .iter()
            .filter(|outcome| outcome.as_finding().and_then(|finding| finding.rule.as_deref()) == Some(rule));
        own.map(|outcome| outcome.verdict).max()
    };
    for rule in &guarded.rules {
        let mark = match verdict(rule) {
            Some(Verdict::Block) => (BAD, "✗"),
            Some(_) => (WARNING, "?"),
            None => (FAINT, "·"),
        };
        let name = rule.to_string();
        let name = name.trim_start_matches("preToolUse.");
        let compared = guarded.compared.iter().filter(|one| one.rule == *rule);
        let mut why: Vec<&str> = compared.map(|one| one.why.as_str()).collect();
        why.dedup();
        if why.is_empty() {
            why.push(words::not_compared(rule));
        }
        match why.as_slice() {
            [only] => marked(out, 2, Some(mark), &format!("{name} {only}"))?,
            several => {
                marked(out, 2, Some(mark), name)?;
                several.iter().try_for_each(|why| paragraph(out, 6, why))?;
            }
        }
    }
    for outcome in &findings {
        let Some(finding) = outcome.as_finding() else { continue };
        let is_built_in = finding.rule.as_ref().is_some_and(|rule| rule.key == "built-in");
        if is_built_in && !rehearsal.is_of_gate(outcome) {
            let paint = if outcome.verdict == Verdict::Block { BAD } else { WARNING };
            marked(out, 2, Some((paint, &outcome.verdict.mark().to_string())), &finding.what)?;
        }
    }
    if guarded.rules.is_empty() {
        writeln!(out, "  none is configured")?;
    }
    Ok(())
}

fn gates(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    for (step, checks) in rehearsal.plan.steps.iter().zip(&rehearsal.checks) {
        if !matches!(step.action, Action::Gate(_)) {
            continue;
        }
        section(out, "Gates")?;
        marked(out, 2, Some((BOLD, "•")), &format!("{}: {}", step.action, step.reason))?;
        for outcome in checks {
            paragraph(out, 4, &outcome.message)?;
        }
        if checks.is_empty() {
            writeln!(out, "    finds nothing")?;
        }
    }
    if let Some(why) = &rehearsal.no_gate {
        section(out, "Gates")?;
        paragraph(out, 2, &format!("none applies: {why}"))?;
    }
    Ok(())
}

fn commands(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    let plan = &rehearsal.plan;
    let untrusted: Vec<&Command> = plan.untrusted.iter().flat_map(|untrusted| untrusted.commands()).collect();
    section(out, "Commands, in this order")?;
    for (number, command) in plan.commands().enumerate() {
        let number = format!("{}.", number + 1);
        marked(out, 2, Some((GOOD, &number)), &crate::messages::short(&command.script))?;
        describe(out, command, rehearsal)?;
    }
    if plan.commands().next().is_none() {
        writeln!(out, "  none runs")?;
    }
    for step in &plan.steps {
        if matches!(step.action, Action::Wait(_) | Action::Continue(_) | Action::Judge(_) | Action::Report(_))
        {
            marked(out, 2, Some((GOOD, "•")), &format!("{}: {}", step.action, step.reason))?;
        }
    }
    for command in untrusted {
        marked(
            out,
            2,
            Some((WARNING, "⚠")),
            &format!("{} is not trusted", crate::messages::short(&command.script)),
        )?;
        paragraph(out, 5, &command.rule.to_string())?;
    }
    for skipped in &rehearsal.not_run {
        marked(out, 2, Some((FAINT, "·")), &crate::messages::short(&skipped.script))?;
        paragraph(out, 5, &format!("{} {}", skipped.rule, skipped.why))?;
    }
    if let Some(command) = plan.commands().next() {
        section(out, "Their environment")?;
        let values = command.env.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (name, value) in values.filter(|(name, _)| *name != FILES) {
            writeln!(out, "  {name}={}", crate::messages::short(value))?;
        }
    }
    Ok(())
}

fn describe(out: &mut Out<'_>, command: &Command, rehearsal: &Rehearsal) -> io::Result<()> {
    let subject = Some(&command.subject).filter(|subject| !subject.is_empty());
    let matches = subject.map(|subject| format!(" matches {subject}")).unwrap_or_default();
    paragraph(out, 5, &format!("{}{matches}", command.rule))?;
    let files = command.env.iter().find(|(name, _)| name == FILES).and_then(|(_, value)| value.as_deref());
    if let Some(files) = files {
        paragraph(out, 5, &format!("{FILES}: {}", files.replace('\n', ", ")))?;
    }
    let does = |reaction: Reaction| match reaction {
        Reaction::Warn => "warns",
        Reaction::Block => "blocks",
    };
    let folder = rehearsal.file_name(&command.cwd);
    let folder = if folder.is_empty() { ".".to_owned() } else { folder };
    let timeout = match command.timeout {
        Some(timeout) => {
            format!("after {} s it is terminated, which {}", timeout.as_secs(), does(command.on_timeout))
        }
        None => "no timeout".to_owned(),
    };
    let text =
        format!("in {folder}, by {}; a failure {}; {timeout}", command.shell, does(command.on_failure));
    paragraph(out, 5, &text)
}

fn answers(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    section(out, "Answer")?;
    for case in cases::all(rehearsal) {
        let answered = &case.answered;
        let word = answered.word.map_or("failed", |word| word.as_str());
        let code = answered.answer.exit.code();
        let when = if case.when.is_empty() { String::new() } else { format!("{}: ", case.when) };
        let paint = if answered.answer.exit == Exit::Success { GOOD } else { BAD };
        paragraph(out, 2, &format!("{when}{word} (exit {code})")).map(|()| paint)?;
        let shown = words::text_of(&answered.answer);
        if let Some(text) = shown.as_deref().filter(|text| !text.is_empty()) {
            paragraph(out, 4, text)?;
        }
        if let Some(later) = &answered.later {
            paragraph(out, 4, "shown at the next event that Claude Code shows:")?;
            paragraph(out, 4, later)?;
        }
    }
    if rehearsal.plan.steps.iter().any(|step| matches!(step.action, Action::Judge(_))) {
        paragraph(out, 2, "The judge is asked last, if nothing else blocks, and can only add a block.")?;
    }
    Ok(())
}
