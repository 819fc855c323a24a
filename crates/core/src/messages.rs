//! The texts of an answer, from the plan and its outcomes.

use std::cmp::Reverse;

use crate::agent::Agent;
use crate::blocks::CountError;
use crate::config::{Reaction, TRUST_IT};
use crate::event::{BlockCounter, Blocking};
use crate::finding::{Audience, Code, Finding};
use crate::outcome::{CommandRun, Evidence, NOT_EXECUTABLE, Obstacle, Outcome, Verdict};
use crate::plan::{Command, Gate, GateSubject, Plan, UntrustedSteps};
use crate::text::{clean, clean_line, count, indent, visible};

mod replies;

use replies::reason_of;
pub use replies::{of_replies, of_reply};

/// A script in one line.
#[must_use]
pub fn short(script: &str) -> String {
    let mut lines = script.trim().lines();
    let first = clean_line(&visible(lines.next().unwrap_or_default()));
    let cut: String = first.chars().take(80).collect();
    if cut.len() < first.len() || lines.next().is_some() { format!("{cut} …") } else { cut }
}

/// The name of a command: its script, unless that must not be shown.
#[must_use]
pub fn command_name(command: &Command) -> String {
    match &command.message {
        _ if command.is_shown => format!("`{}`", short(&command.run)),
        Some(message) => format!("the command \"{}\"", short(message)),
        None => "a command".into(),
    }
}

/// The agent's name and task, with its id if that differs.
#[must_use]
pub fn agent_name(agent: &Agent) -> String {
    let name = clean_line(&agent.name);
    match agent.id.as_deref().map(clean_line) {
        Some(id) if id != name => format!("{} ({id})", described(agent).unwrap_or(name)),
        _ => name,
    }
}

/// The agent as the user knows it: its name and task, as far as known.
fn described(agent: &Agent) -> Option<String> {
    let what = short(agent.description.as_deref()?);
    if what.is_empty() { None } else { Some(format!("{} · \"{what}\"", clean_line(&agent.name))) }
}

/// The gates, as a check.
const STEP: &str = "the step";

/// The name of a check, when it blocks and when it passes later. Remarks have no name.
#[must_use]
pub fn check(outcome: &Outcome) -> Option<String> {
    match &outcome.evidence {
        Evidence::Command(run) => Some(command_name(&run.command)),
        Evidence::Finding(_) | Evidence::HonestFailure => Some(STEP.into()),
        Evidence::Judge(..) => Some("the judge's review".into()),
        Evidence::Note
        | Evidence::Context(..)
        | Evidence::Allowed(_)
        | Evidence::Permitted(..)
        | Evidence::Budget(_)
        | Evidence::UpdatedInput(_)
        | Evidence::Skipped
        | Evidence::ConfigError(_)
        | Evidence::Unrecorded(_)
        | Evidence::Explanation(_)
        | Evidence::Continue => None,
    }
}

/// The line about an agent that may stop after these checks blocked it.
#[must_use]
pub fn block_summary(agent: &Agent, blocks: u32, checks: &[String], outcomes: &[Outcome]) -> String {
    let name = described(agent).unwrap_or_else(|| agent_name(agent));
    let blocks = count(blocks.into(), "block");
    let has_failed = |outcome: &&Outcome| match outcome.as_finding() {
        Some(finding) => finding.blocks(),
        None => outcome.verdict != Verdict::Pass,
    };
    let failed: Vec<String> = outcomes.iter().filter(has_failed).filter_map(check).collect();
    if checks.is_empty() || checks.iter().any(|check| failed.contains(check)) {
        return format!("⚠ {name}: stopped after {blocks}");
    }
    // The config was changed meanwhile, or is no longer trusted. A step without findings has no outcome.
    let ran: Vec<String> = outcomes.iter().filter_map(check).collect();
    let left: Vec<&str> =
        checks.iter().filter(|check| *check != STEP && !ran.contains(check)).map(String::as_str).collect();
    if !left.is_empty() {
        return format!("⚠ {name}: stopped after {blocks}; not run again: {}", left.join(", "));
    }
    format!("✓ {name}: {} passed after {blocks}", checks.join(", "))
}

/// The request to Claude instead of stopping, if nothing else blocks.
#[must_use]
pub fn asked_to_go_on(outcomes: &[Outcome]) -> Option<&str> {
    let mut blocking = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Block);
    let only = blocking.next().filter(|outcome| outcome.evidence == Evidence::Continue)?;
    if blocking.next().is_none() { Some(&only.message) } else { None }
}

/// The message of a stop whose commands wait.
#[must_use]
pub fn waiting(agents: &[String]) -> String {
    let names: Vec<String> = agents.iter().map(|name| clean_line(name)).collect();
    let what = count(agents.len() as u64, "background agent");
    format!("the checks of `stop` wait for {what} ({}), and run at the stop after that", names.join(", "))
}

/// All messages, one below the other.
#[must_use]
pub fn shown(outcomes: &[Outcome]) -> String {
    let messages = outcomes.iter().map(|outcome| outcome.message.as_str());
    messages.filter(|message| !message.is_empty()).collect::<Vec<_>>().join("\n")
}

#[must_use]
pub fn message(plan: &Plan, shown: &str) -> String {
    match &plan.agent {
        Some(agent) => format!("conclaude: {} of {}\n{shown}", plan.event, agent_name(agent)),
        None => format!("conclaude: {shown}"),
    }
}

/// The model's message if it may not use a tool.
#[must_use]
pub fn deny_reason(plan: &Plan, outcomes: &[Outcome]) -> String {
    if let Some(reason) = reason_of(outcomes, Verdict::Block) {
        return reason;
    }
    if let Some(text) = of_guards(outcomes, Audience::Claude) {
        return text;
    }
    let what = match plan.gate() {
        Some(Gate::Call { .. } | Gate::Helper { .. }) => "this call of an agent",
        Some(Gate::Write { written: GateSubject::Shell(_), .. }) => "this command",
        Some(Gate::Write { .. }) => "this write",
        _ => "this tool",
    };
    format!("conclaude denies {what}:\n{}{}", without_notes(outcomes), notes(outcomes))
}

/// The message of a block that is neither a stop nor a tool.
#[must_use]
pub fn refusal(plan: &Plan, outcomes: &[Outcome]) -> String {
    if let Some(reason) = reason_of(outcomes, Verdict::Block) {
        return reason;
    }
    if let Some(text) = of_guards(outcomes, Audience::Claude) {
        return text;
    }
    let what = match plan.event.blocking() {
        Blocking::Action { says, .. } => says,
        Blocking::Permission => "conclaude denies this permission",
        Blocking::Worktree => "conclaude: the worktree is not created",
        _ => "conclaude: after this tool call",
    };
    let fix = match plan.event.blocking() {
        Blocking::Feedback | Blocking::Context => "\nFix what is marked ✗.",
        _ => "",
    };
    format!("{what}:\n{}{}{fix}", without_notes(outcomes), notes(outcomes))
}

/// The user's message if a guard asks about a tool.
#[must_use]
pub fn ask_reason(outcomes: &[Outcome]) -> String {
    question(outcomes, Audience::User)
}

/// Like `ask_reason`, for Claude, if nobody can be asked.
#[must_use]
pub fn unasked(plan: &Plan, outcomes: &[Outcome]) -> String {
    let reason = question(outcomes, Audience::Claude);
    // How the user can still decide is added once the record has a number.
    if plan.client.never_asks() {
        return reason;
    }
    format!("{reason}\nIn this permission mode nobody can be asked, so it is denied.")
}

/// How the user can decide if the client cannot ask. `record` is the number of the denial's record, if there is one.
#[must_use]
pub fn never_asked(plan: &Plan, outcomes: &[Outcome], record: Option<u64>) -> String {
    let is_rule = |outcome: &Outcome| {
        let rule = outcome.as_finding().and_then(|finding| finding.rule.as_deref());
        outcome.verdict == Verdict::Ask && rule.is_some_and(|rule| rule.key.contains("toolUsageValidation"))
    };
    let is_budget =
        |outcome: &&Outcome| outcome.as_finding().is_some_and(|finding| finding.code == Code::BudgetReached);
    let mut questions = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Ask).peekable();
    // A budget's question cannot be permitted call by call.
    if questions.peek().is_some() && questions.all(|outcome| is_budget(&outcome)) {
        return format!("In {} nobody can be asked, so it is denied.", plan.client.title);
    }
    let number = record.map(|number| format!(" {number}")).unwrap_or_default();
    let by_rule = if outcomes.iter().any(is_rule) { ", or add a rule with action: allow" } else { "" };
    format!(
        "In {} nobody can be asked, so it is denied: run it yourself, or permit it: conclaude allow{number}{by_rule}.",
        plan.client.title
    )
}

fn question(outcomes: &[Outcome], audience: Audience) -> String {
    if let Some(reason) = reason_of(outcomes, Verdict::Ask) {
        return reason;
    }
    if let Some(text) = of_guards(outcomes, audience) {
        return text;
    }
    format!("conclaude asks about this tool:\n{}{}", without_notes(outcomes), notes(outcomes))
}

/// The text of guards, if only they have something to say. It starts with a reason, because many clients show one line.
fn of_guards(outcomes: &[Outcome], audience: Audience) -> Option<String> {
    let mut found: Vec<(Verdict, &Finding)> = Vec::new();
    let shown = |outcome: &&Outcome| !outcome.message.is_empty() && outcome.evidence != Evidence::Note;
    for outcome in outcomes.iter().filter(shown) {
        let finding = outcome.as_finding().filter(|finding| finding.code.is_of_guard())?;
        found.push((outcome.verdict, finding));
    }
    // A denial counts, whatever other rules ask.
    found.sort_by_key(|(verdict, _)| Reverse(*verdict));
    let text = match found.as_slice() {
        [] => return None,
        [(_, only)] => only.text_for(audience),
        all => {
            let lines =
                all.iter().map(|(verdict, one)| format!("{} {}", verdict.mark(), one.text_for(audience)));
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    Some(format!("{text}{}", notes(outcomes)))
}

/// The message for a blocked agent.
#[must_use]
pub fn block_reason(plan: &Plan, outcomes: &[Outcome], nth: u32, max: u32) -> String {
    if let Some(reason) = reason_of(outcomes, Verdict::Block) {
        return reason;
    }
    let (who, then) = match (plan.event.blocking(), &plan.agent) {
        (Blocking::Stop(BlockCounter::Task(_)), _) => {
            ("this task may not be completed yet".to_owned(), "complete it again")
        }
        // A caller sees only the last message: "done, fixed the lint" would replace the whole report.
        (Blocking::Stop(BlockCounter::Agent), Some(agent)) => (
            format!("{} may not stop yet", agent_name(agent)),
            "give your complete report again: your caller sees only your last message",
        ),
        (_, Some(agent)) => (format!("{} may not stop yet", agent_name(agent)), "finish again"),
        (_, None) => ("you may not stop yet".to_owned(), "finish again"),
    };
    let by = if is_validation(plan, outcomes) { "Validation failed" } else { "conclaude" };
    format!(
        "{by}: {who} (block {nth} of {max}):\n{}{}\nFix what is marked ✗, then {then}.",
        without_notes(outcomes),
        notes(outcomes),
    )
}

/// Whether Gate 3 or the judge blocks. A command's reason comes from conclaude alone.
fn is_validation(plan: &Plan, outcomes: &[Outcome]) -> bool {
    let is_found = |outcome: &Outcome| {
        outcome.verdict == Verdict::Block
            && matches!(outcome.evidence, Evidence::Finding(_) | Evidence::Judge(..))
    };
    matches!(plan.gate(), Some(Gate::Stop { .. } | Gate::MissingState { .. }))
        && outcomes.iter().any(is_found)
}

fn without_notes(outcomes: &[Outcome]) -> String {
    let mut outcomes: Vec<Outcome> =
        outcomes.iter().filter(|outcome| outcome.evidence != Evidence::Note).cloned().collect();
    // Questions come after denials.
    outcomes.sort_by_key(|outcome| outcome.verdict == Verdict::Ask);
    shown(&outcomes)
}

/// The first lines of all notes. A refused agent cannot do anything about the rest.
fn notes(outcomes: &[Outcome]) -> String {
    let notes = outcomes.iter().filter(|outcome| outcome.evidence == Evidence::Note);
    notes.map(|note| format!("\n({})", note.message.lines().next().unwrap_or_default())).collect()
}

/// The message of a command: requested output, and every failure.
#[must_use]
pub fn of_command(run: &CommandRun, verdict: Verdict) -> String {
    let name = command_name(&run.command);
    let mut text = match (&run.command.message, run.is_success) {
        (_, true) if run.stdout.is_none() && run.stderr.is_none() => return String::new(),
        (_, true) => format!("✓ {}", name.trim_matches('`')),
        (None, false) => format!("{} {name} {}", verdict.mark(), run.status),
        (Some(message), false) => {
            let name = if run.command.is_shown { &name } else { "the command" };
            format!("{} {}\n  {name} {}", verdict.mark(), clean(message).trim_end(), run.status)
        }
    };
    let both = run.stdout.is_some() && run.stderr.is_some();
    for (name, stream) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        if let Some(stream) = stream {
            if both {
                text.push_str(&format!("\n  {name}:"));
            }
            text.push('\n');
            text.push_str(&indent(stream, if both { "    " } else { "  " }));
        }
    }
    if let Some(hint) = run.obstacle().and_then(|obstacle| obstacle_hint(run, obstacle, verdict)) {
        text.push_str(&format!("\n  ({hint})"));
    }
    text
}

/// The message with which Claude continues.
#[must_use]
pub fn go_on(message: &str, nth: u32, max: u32) -> String {
    format!("{message}\n(conclaude: `stop.infinite`, {nth} of {max} for this prompt)")
}

/// The message when Claude has continued as often as allowed.
#[must_use]
pub fn gone_on(max: u32) -> String {
    let times = count(max.into(), "time");
    format!("`stop.infinite` made Claude go on {times} (maxBlocks): it may stop now")
}

/// The message of a block that the limit prevents.
#[must_use]
pub fn allowed_despite(shown: &str, why: &str) -> String {
    format!("{shown}\nThis would have blocked, but the agent may stop: {why}.")
}

/// Why a block is no longer due.
#[must_use]
pub fn blocked_already(max: u32) -> String {
    format!("it was blocked {} already (maxBlocks)", count(max.into(), "time"))
}

#[must_use]
pub fn uncounted(error: &CountError) -> String {
    format!("blocks cannot be counted: {error}")
}

#[must_use]
pub fn perhaps_blocked(error: &CountError) -> String {
    format!("it may have been blocked before, and {}", uncounted(error))
}

/// The fix for a command that could not check anything.
fn obstacle_hint(run: &CommandRun, obstacle: Obstacle, verdict: Verdict) -> Option<String> {
    match (verdict, obstacle) {
        (Verdict::Warn, _) if run.reaction() == Reaction::Block => {
            Some(format!("it only warns now: {} block an agent only once", obstacle.cause()))
        }
        (Verdict::Block, Obstacle::MissingProgram) if run.exit_code == Some(NOT_EXECUTABLE) => Some(
            "the check itself cannot run: make that file executable, or tell the user which one it is".into(),
        ),
        (Verdict::Block, Obstacle::MissingProgram) => {
            Some("the check itself cannot run: install what is missing, or tell the user what it is".into())
        }
        _ => None,
    }
}

/// The commands that did not run, and the judge that was not asked. Empty if there were none.
#[must_use]
pub fn untrusted(untrusted: &UntrustedSteps) -> String {
    let commands = untrusted.commands().map(|command| format!("{} did not run", command_name(command)));
    let contexts =
        untrusted.contexts().map(|pattern| format!("the context for \"{}\" was not given", short(pattern)));
    let mut what: Vec<String> = commands.chain(contexts).collect();
    if untrusted.has_judge() {
        what.push("the judge was not asked".to_owned());
    }
    if untrusted.has_continue() {
        what.push("`stop.infinite` did not make Claude go on".to_owned());
    }
    if what.is_empty() {
        return String::new();
    }
    format!("⚠ {}: {}. {TRUST_IT}", what.join(", "), untrusted.why)
}

/// The user's message at the start of a session with an untrusted config.
#[must_use]
pub fn untrusted_session(why: &str, commands: usize, rules: &[&str]) -> String {
    let mut what = Vec::new();
    if commands > 0 {
        what.push(count(commands as u64, "command"));
    }
    what.extend(rules.iter().map(|rule| (*rule).to_owned()));
    format!("{why}. These parts are off: {}. {TRUST_IT}", what.join(" and "))
}

/// The message of a step that admits its failure.
#[must_use]
pub fn honest_failure(step: &str, reason: &str) -> String {
    format!("⚠ the step {} failed, and says so: {}", clean_line(step), clean_line(reason))
}

#[must_use]
pub fn interrupted(plan: &Plan, outcomes: &[Outcome], signal: &str) -> String {
    let runs: Vec<&CommandRun> = outcomes.iter().filter_map(Outcome::run).collect();
    let left = count(plan.commands().count().saturating_sub(runs.len()) as u64, "further command");
    let is_judged = outcomes.iter().any(|outcome| matches!(outcome.evidence, Evidence::Judge(..)));
    match runs.last() {
        _ if is_judged => format!("stopped by {signal} while the judge was asked; all commands had run"),
        Some(run) => format!(
            "stopped by {signal} while {} ran; it was terminated with its children, {left} did not run",
            command_name(&run.command)
        ),
        None => format!("stopped by {signal} before any command ran; {left} did not run"),
    }
}

#[must_use]
pub fn notification_body(plan: &Plan, outcomes: &[Outcome], session: &str) -> String {
    // The guard's reason says more than the refused agent's name.
    let mut refused: Vec<&Outcome> =
        outcomes.iter().filter(|outcome| outcome.verdict >= Verdict::Ask).collect();
    refused.sort_by_key(|outcome| Reverse(outcome.verdict));
    let mut found = refused.into_iter().filter_map(Outcome::as_finding);
    if let Some(finding) = found.find(|finding| finding.code.is_of_guard()) {
        let reason = finding.text_for(Audience::User);
        return match &plan.agent {
            Some(agent) => format!("{}: {reason}", agent_name(agent)),
            None => reason,
        };
    }
    let Some(agent) = plan.agent.as_ref().map(agent_name) else {
        return format!("session {}", clean_line(session));
    };
    let runs: Vec<&CommandRun> = outcomes.iter().filter_map(Outcome::run).collect();
    let failed = runs.iter().filter(|run| !run.is_success).count();
    match (runs.len() as u64, failed) {
        (0, _) => agent,
        (all, 0) => format!("{agent}: {} ran", count(all, "command")),
        (all, failed) => format!("{agent}: {failed} of {} failed", count(all, "command")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_named_by_its_first_line() {
        assert_eq!(short("npm test"), "npm test");
        assert_eq!(short("\nnpm test\nnpm run e2e\n"), "npm test …");
        assert_eq!(short(&"x".repeat(100)), format!("{} …", "x".repeat(80)));
        assert_eq!(
            short("printf '\u{1b}[31m<bash-input>'"),
            r"printf '\u{1b}[31m‹bash-input>'",
            "nothing of it is hidden"
        );
        assert_eq!(short("touch x #\rnpm test"), r"touch x #\rnpm test");
    }
}
