//! The words of an answer, made from what was planned and run.

use super::plan::{Plan, Withheld};
use super::run::Run;
use crate::agent::Agent;
use crate::config::ConclaudeConfig;
use crate::des::findings::Finding;
use crate::event::Event;
use crate::install::registration::Problem;
use crate::text::{clean, clean_line, count, indent, visible};

/// A script in one line.
pub(super) fn short(script: &str) -> String {
    let mut lines = script.trim().lines();
    let first = clean_line(&visible(lines.next().unwrap_or_default()));
    let cut: String = first.chars().take(80).collect();
    if cut.len() < first.len() || lines.next().is_some() { format!("{cut} …") } else { cut }
}

/// What the runs have to show: output that is wanted, and every failure.
pub(super) fn shown(runs: &[Run]) -> Option<String> {
    let parts: Vec<String> = runs.iter().filter_map(one).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn one(run: &Run) -> Option<String> {
    let stdout = run.finished.stdout.excerpt(run.step.max_lines);
    let stderr = run.finished.stderr.excerpt(run.step.max_lines);
    let script = short(&run.step.script);
    let mut text = match (&run.step.message, run.is_success()) {
        (_, true) if stdout.is_none() && stderr.is_none() => return None,
        (_, true) => format!("✓ {script}"),
        (None, false) => format!("{} `{script}` {}", mark(run), run.finished.status.describe()),
        (Some(message), false) => {
            format!(
                "{} {}\n  `{script}` {}",
                mark(run),
                clean(message).trim_end(),
                run.finished.status.describe()
            )
        }
    };
    let both = stdout.is_some() && stderr.is_some();
    for (name, stream) in [("stdout", stdout), ("stderr", stderr)] {
        if let Some(stream) = stream {
            if both {
                text.push_str(&format!("\n  {name}:"));
            }
            text.push('\n');
            text.push_str(&indent(&stream, if both { "    " } else { "  " }));
        }
    }
    Some(text)
}

/// What blocks must be told from what only warns: an agent that is sent back mends the first.
fn mark(run: &Run) -> char {
    if run.wants_block() { '✗' } else { '⚠' }
}

pub(super) fn agent_words(agent: &Agent) -> String {
    let name = clean_line(&agent.name);
    match agent.id.as_deref().map(clean_line) {
        Some(id) if id != name => format!("{name} ({id})"),
        _ => name,
    }
}

/// What is shown to the person.
pub(super) fn message(plan: &Plan, shown: &str) -> String {
    format!("conclaude: {} of {}\n{shown}", plan.event.name(), agent_words(&plan.agent))
}

/// Findings as lines, each marked by whether it blocks.
pub(super) fn lines(findings: &[Finding]) -> Option<String> {
    let mark = |finding: &Finding| if finding.blocks() { '✗' } else { '⚠' };
    let lines: Vec<String> = findings.iter().map(|finding| format!("{} {finding}", mark(finding))).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What the model reads when a tool is not used.
pub(super) fn deny_reason(
    what: &str,
    findings: &[Finding],
    notes: impl IntoIterator<Item = String>,
) -> String {
    let notes: String =
        notes.into_iter().map(|note| format!("\n({})", note.lines().next().unwrap_or_default())).collect();
    format!("conclaude denies {what}:\n{}{notes}", lines(findings).unwrap_or_default())
}

/// What is told of commands that did not run, and of a judge that was not asked. Nothing, if there was nothing to do.
pub(super) fn withheld(withheld: &Withheld, is_gated: bool) -> Option<String> {
    let scripts: Vec<String> =
        withheld.steps.iter().map(|step| format!("`{}` did not run", short(&step.script))).collect();
    let judge = (withheld.judge && is_gated).then(|| "the judge was not asked".to_owned());
    let what: Vec<String> = scripts.into_iter().chain(judge).collect();
    (!what.is_empty()).then(|| format!("⚠ {}: {}. {TRUST_IT}", what.join(", "), withheld.why))
}

const TRUST_IT: &str = "Look at the file, then run `conclaude trust` in the project";

/// What a person is told at the beginning of a session whose config nobody trusts.
pub(super) fn untrusted(why: &str, config: &ConclaudeConfig) -> String {
    let commands = (config.commands() > 0).then(|| count(config.commands() as u64, "command"));
    let judge = config.judge().map(|_| "the judge".to_owned());
    let what: Vec<String> = commands.into_iter().chain(judge).collect();
    format!("{}, so what it would run stays off: {}. {TRUST_IT}", why, what.join(" and "))
}

/// What the user is shown when registration and config are out of sync.
pub(super) fn out_of_sync(problems: &[Problem]) -> String {
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("⚠ {}", clean_line(&problem.what))).collect();
    let mut fixes: Vec<&str> = problems.iter().map(|problem| problem.fix.as_str()).collect();
    fixes.dedup();
    format!(
        "what is registered with Claude Code is out of sync with the config:\n{}\nTo fix it: {}",
        lines.join("\n"),
        fixes.join("; ")
    )
}

/// What is told of a step that admits its failure.
pub(super) fn honest_failure(step: &str, reason: &str) -> String {
    format!("⚠ the step {} failed, and says so: {}", clean_line(step), clean_line(reason))
}

/// What the agent reads when it is sent back.
pub(super) fn block_reason(plan: &Plan, shown: &str, nth: u32, max: u32) -> String {
    format!(
        "conclaude: {} may not stop yet (block {nth} of {max}):\n{shown}\nMend what is marked ✗, then finish again.",
        agent_words(&plan.agent)
    )
}

/// What is shown when a block is due and must not be.
pub(super) fn let_go(shown: &str, why: &str) -> String {
    format!("{shown}\nThis would have blocked, but the agent may stop: {why}.")
}

/// Why a call ended early.
pub(super) fn interrupted(plan: &Plan, runs: &[Run], signal: &str) -> String {
    let left = count(plan.steps.len().saturating_sub(runs.len()) as u64, "further command");
    match runs.last() {
        Some(run) => format!(
            "stopped by {signal} while `{}` ran; it was terminated with its children, {left} did not run",
            short(&run.step.script)
        ),
        None => format!("stopped by {signal} before any command ran; {left} did not run"),
    }
}

pub(super) fn notification_title(event: Event) -> String {
    format!("conclaude: {}", event.name())
}

pub(super) fn notification_body(plan: &Plan, runs: &[Run]) -> String {
    let failed = runs.iter().filter(|run| !run.is_success()).count() as u64;
    let agent = agent_words(&plan.agent);
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
        assert_eq!(short("printf '\u{1b}[31m<b>'"), r"printf '\u{1b}[31m‹b>'", "nothing of it is hidden");
        assert_eq!(short("touch x #\rnpm test"), r"touch x #\rnpm test");
    }
}
