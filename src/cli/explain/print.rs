//! The explanation as text.

use std::io;

use super::layout::{BAD, BOLD, FAINT, GOOD, WARNING, marked, paragraph};
use super::{Explanation, rules, words};
use crate::cli::out::{Out, Paint};
use crate::cli::rule_enforcement;
use conclaude_core::config::Reaction;
use conclaude_core::decide::Word;
use conclaude_core::event::Blocking;
use conclaude_core::outcome::Outcome;
use conclaude_core::plan::Command;
use conclaude_core::plan::environment::FILES;
use conclaude_core::rule::Rule;
use conclaude_core::text::printable_line;
use conclaude_engine::hooks::rehearse::{GuardReport, Rehearsal};

/// The decision and its rules. With `all`, everything that was compared.
pub(super) fn text(out: &mut Out<'_>, explained: &Explanation, all: bool) -> io::Result<()> {
    head(out, explained)?;
    let Some(rehearsal) = &explained.rehearsal else {
        notes(out, explained)?;
        return paragraph(out, 0, "Nothing happens: this is the stop of an agent that nobody started.");
    };
    if !causes(out, rehearsal)? {
        paragraph(out, 2, "no rule forbids it, and no command runs")?;
    }
    enforced_rules(out, explained, rehearsal, all)?;
    notes(out, explained)?;
    if !all {
        let what = "`--all` shows the config files, every rule that was compared, and every answer";
        return writeln!(out, "{FAINT}{what}{FAINT:#}");
    }
    considered(out, rehearsal)?;
    gates(out, rehearsal)?;
    commands(out, rehearsal)?;
    environment(out, rehearsal)?;
    answers(out, rehearsal)
}

/// Who enforces the rules that match, or all of them.
fn enforced_rules(
    out: &mut Out<'_>,
    explained: &Explanation,
    rehearsal: &Rehearsal,
    all: bool,
) -> io::Result<()> {
    if explained.enforced.is_empty() {
        return Ok(());
    }
    if all {
        section(out, "Who enforces each rule")?;
        return rule_enforcement::lines(&explained.enforced)
            .iter()
            .try_for_each(|line| paragraph(out, 2, line));
    }
    let found = rehearsal.checks.iter().flatten().filter_map(|outcome| outcome.as_finding()?.rule.as_deref());
    let mut seen: Vec<&Rule> = Vec::new();
    for rule in found {
        if let Some(one) = explained.enforced.iter().find(|one| one.rule == *rule && !seen.contains(&rule)) {
            seen.push(rule);
            paragraph(out, 2, &format!("{}: {}", one.class, one.why))?;
        }
    }
    Ok(())
}

/// The config files that were read, and every rule for a tool with the reason why it applies or does not.
pub(in crate::cli) fn considered(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    files(out, rehearsal)?;
    if let Some(guarded) = &rehearsal.guards {
        effects(out, guarded)?;
        section(out, "Guards")?;
        rules::guards(out, rehearsal, guarded)?;
    }
    if let Some(permitted) = &rehearsal.permissions {
        section(out, "Rules for permissions")?;
        rules::permissions(out, permitted)?;
    }
    Ok(())
}

/// Prints the rules and commands that take part in the decision. Returns whether there are any.
fn causes(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<bool> {
    let mut is_any = false;
    if let Some(error) = &rehearsal.config_error {
        marked(out, 2, Some((BAD, "✗")), &error.brief())?;
        is_any = true;
    }
    if let Some(guarded) = &rehearsal.guards {
        is_any |= rules::deciding_guards(out, rehearsal, guarded)?;
    }
    if let Some(permitted) = &rehearsal.permissions {
        is_any |= rules::deciding_permissions(out, permitted)?;
    }
    for permit in words::permits(rehearsal) {
        marked(out, 2, Some((GOOD, "✓")), &permit)?;
        is_any = true;
    }
    let gates = rehearsal.plan.steps.iter().zip(&rehearsal.checks).filter(|(step, _)| step.action.is_gate());
    for (step, checks) in gates {
        if checks.is_empty() {
            marked(out, 2, Some((GOOD, "✓")), &format!("{} finds nothing", step.action))?;
        }
        checks.iter().try_for_each(|outcome| paragraph(out, 2, &outcome.message))?;
        is_any = true;
    }
    for outcome in budget(rehearsal) {
        paragraph(out, 2, &outcome.message)?;
        is_any = true;
    }
    for command in rehearsal.plan.commands() {
        let failure = if command.is_hook() {
            "it answers as a hook".to_owned()
        } else {
            format!("a failure {}", does(command.on_failure))
        };
        let name = conclaude_core::messages::short(&command.script);
        marked(out, 2, Some((GOOD, "▸")), &format!("runs `{name}`: {failure} ({})", command.rule))?;
        is_any = true;
    }
    for what in rehearsal.plan.steps.iter().filter_map(|step| words::of_action(&step.action)) {
        marked(out, 2, Some((GOOD, "•")), &what)?;
        is_any = true;
    }
    if let Some(untrusted) = &rehearsal.plan.untrusted {
        marked(out, 2, Some((WARNING, "⚠")), &format!("none of it runs: {}", untrusted.why))?;
        is_any = true;
    }
    Ok(is_any)
}

/// The lines about the budget.
fn budget(rehearsal: &Rehearsal) -> impl Iterator<Item = &Outcome> {
    let steps = rehearsal.plan.steps.iter().zip(&rehearsal.checks);
    let budgets = steps.filter(|(step, _)| step.action.is_budget());
    budgets.flat_map(|(_, checks)| checks)
}

fn section(out: &mut Out<'_>, title: &str) -> io::Result<()> {
    writeln!(out, "\n{BOLD}{title}{BOLD:#}")
}

fn head(out: &mut Out<'_>, explained: &Explanation) -> io::Result<()> {
    let asked = &explained.asked;
    let agent = explained.rehearsal.as_ref().and_then(|rehearsal| rehearsal.agent.as_deref());
    let who = agent.map_or_else(
        || "on the main thread".to_owned(),
        |agent| format!("of the agent {}", printable_line(agent)),
    );
    let tool = asked.text("tool_name").map(|tool| format!(": {}", printable_line(tool))).unwrap_or_default();
    write!(out, "{BOLD}{}{tool} {who}{BOLD:#}", asked.event)?;
    match explained.rehearsal.as_ref().and_then(decision) {
        Some(Conclusion { paint, text }) => writeln!(out, " → {paint}{text}{paint:#}")?,
        None => writeln!(out)?,
    }
    let input = asked.payload.get("tool_input").and_then(serde_json::Value::as_object);
    for (name, value) in input.into_iter().flatten() {
        if let Some(text) = value.as_str() {
            paragraph(out, 2, &format!("{name}: {}", conclaude_core::messages::short(text)))?;
        }
    }
    Ok(())
}

struct Conclusion {
    paint: Paint,
    text: String,
}

/// The decision if all commands succeed.
fn decision(rehearsal: &Rehearsal) -> Option<Conclusion> {
    let case = words::cases(rehearsal).into_iter().next()?;
    let paint = match case.answered.word {
        Some(Word::Blocked | Word::Denied) => BAD,
        Some(Word::Allowed) => GOOD,
        _ => WARNING,
    };
    let word = words::decision(rehearsal, &case.answered);
    let text = if case.when.is_empty() { word.to_owned() } else { format!("{word} {}", case.when) };
    Some(Conclusion { paint, text })
}

fn notes(out: &mut Out<'_>, explained: &Explanation) -> io::Result<()> {
    explained.notes.iter().try_for_each(|note| marked(out, 0, Some((WARNING, "⚠")), note))
}

fn files(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    section(out, "Config")?;
    for source in &rehearsal.files {
        let name = rehearsal.file_name(&source.path);
        writeln!(out, "  {:<7}  {}", source.layer.name(), printable_line(&name))?;
        if let Some(why) = &source.untrusted {
            marked(out, 11, Some((WARNING, "⚠")), &format!("none of it runs: {why}"))?;
        }
    }
    if rehearsal.files.is_empty() && rehearsal.config_error.is_none() {
        writeln!(out, "  none: the defaults apply")?;
    }
    if let Some(error) = &rehearsal.config_error {
        marked(
            out,
            2,
            Some((BAD, "✗")),
            &format!("{}; its guards and permissions count as far as they can be read", error.brief()),
        )?;
        for problem in error.located() {
            let name = rehearsal.file_name(error.path());
            paragraph(out, 4, &format!("{name}:{}: {}", problem.line, problem.message))?;
        }
    }
    Ok(())
}

fn effects(out: &mut Out<'_>, guarded: &GuardReport) -> io::Result<()> {
    section(out, "What it does, as guards see it")?;
    let effects = &guarded.effects;
    if effects.commands.is_empty() && effects.touches.is_empty() && effects.unclear.is_empty() {
        return writeln!(out, "  it touches no file that its input names");
    }
    for touch in effects.touches.iter().filter(|touch| touch.command.is_none()) {
        paragraph(out, 2, &words::of_touch(touch))?;
    }
    for (index, command) in effects.commands.iter().enumerate() {
        paragraph(out, 2, &words::of_command(command))?;
        for touch in effects.touches.iter().filter(|touch| touch.command == Some(index)) {
            paragraph(out, 4, &words::of_touch(touch))?;
        }
    }
    for unclear in &effects.unclear {
        marked(out, 2, Some((WARNING, "?")), &words::of_unclear(unclear))?;
    }
    Ok(())
}

fn gates(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    for (step, checks) in rehearsal.plan.steps.iter().zip(&rehearsal.checks) {
        if !step.action.is_gate() {
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

/// The commands that would run, and why others would not.
pub(in crate::cli) fn commands(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    let plan = &rehearsal.plan;
    let untrusted: Vec<&Command> = plan.untrusted.iter().flat_map(|untrusted| untrusted.commands()).collect();
    section(out, "Commands, in this order")?;
    for (number, command) in plan.commands().enumerate() {
        let number = format!("{}.", number + 1);
        marked(out, 2, Some((GOOD, &number)), &conclaude_core::messages::short(&command.script))?;
        describe(out, command, rehearsal)?;
    }
    if plan.commands().next().is_none() {
        writeln!(out, "  none runs")?;
    }
    for step in &plan.steps {
        if let Some(what) = words::of_action(&step.action) {
            marked(out, 2, Some((GOOD, "•")), &what)?;
        }
    }
    for command in untrusted {
        marked(
            out,
            2,
            Some((WARNING, "⚠")),
            &format!("{} is not trusted", conclaude_core::messages::short(&command.script)),
        )?;
        paragraph(out, 5, &command.rule.to_string())?;
    }
    for skipped in &rehearsal.not_run {
        marked(out, 2, Some((FAINT, "·")), &conclaude_core::messages::short(&skipped.script))?;
        paragraph(out, 5, &format!("{} {}", skipped.rule, skipped.after_rule()))?;
    }
    Ok(())
}

fn environment(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    if let Some(command) = rehearsal.plan.commands().next() {
        section(out, "Their environment")?;
        let values = command.env.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let is_own = |name: &String| command.own_env.iter().any(|(own, _)| own == name);
        for (name, value) in values.filter(|(name, _)| *name != FILES && !is_own(name)) {
            writeln!(out, "  {name}={}", conclaude_core::messages::short(value))?;
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
    let own = command.own_env.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let own: Vec<String> =
        own.map(|(name, value)| format!("{name}={}", conclaude_core::messages::short(value))).collect();
    if !own.is_empty() {
        paragraph(out, 5, &format!("env: {}", own.join(", ")))?;
    }
    let folder = rehearsal.file_name(&command.cwd);
    let folder = if folder.is_empty() { ".".to_owned() } else { folder };
    let is_stop = matches!(rehearsal.plan.event.blocking(), Blocking::Stop(_));
    let once = if is_stop && command.on_timeout == Reaction::Block { " once" } else { "" };
    let timeout = match command.timeout {
        Some(timeout) => {
            let does = does(command.on_timeout);
            format!("after {} s it is terminated, which {does}{once}", timeout.as_secs())
        }
        None => "no timeout".to_owned(),
    };
    let failure = if command.is_hook() {
        "it answers as a hook: exit 2 blocks, and JSON on stdout is its answer".to_owned()
    } else {
        format!("a failure {}", does(command.on_failure))
    };
    let parallel =
        if command.is_parallel { "; at the same time as its neighbours with `parallel`" } else { "" };
    paragraph(out, 5, &format!("in {folder}, by {}; {failure}; {timeout}{parallel}", command.shell))
}

fn does(reaction: Reaction) -> &'static str {
    match reaction {
        Reaction::Warn => "warns",
        Reaction::Block => "blocks",
    }
}

fn answers(out: &mut Out<'_>, rehearsal: &Rehearsal) -> io::Result<()> {
    section(out, "Answer")?;
    for case in words::cases(rehearsal) {
        let answered = &case.answered;
        let code = answered.answer.exit.code();
        let word = words::decision(rehearsal, answered);
        let when = if case.when.is_empty() { String::new() } else { format!("{}: ", case.when) };
        paragraph(out, 2, &format!("{when}{word} (exit {code})"))?;
        let shown = words::text_of(&answered.answer);
        if let Some(text) = shown.as_deref().filter(|text| !text.is_empty()) {
            paragraph(out, 4, text)?;
        }
        if let Some(later) = &answered.later {
            paragraph(out, 4, "shown at the next event that Claude Code shows:")?;
            paragraph(out, 4, later)?;
        }
    }
    Ok(())
}
