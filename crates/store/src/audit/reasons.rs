//! The reasons of a decision as text, the same wherever a record is shown. The text is untrusted: callers clean it.

use serde_json::Value;

use super::fields::{self, text_or_empty as text};
use super::words;
use conclaude_core::decide::Word;
use conclaude_core::finding::Code;
use conclaude_core::rule;

/// The recorded status of a command that passed.
const PASSED: &str = "exited with code 0";

const WARNS: &str = "warn";

/// A finding as text: its kind, its phase and its message. A guard's message needs neither kind nor phase.
pub fn of_finding(finding: &Value) -> String {
    if is_of_guard(finding) {
        return text(finding, "what").to_owned();
    }
    finding_by(text(finding, "code"), text(finding, "phase"), text(finding, "what"))
}

/// The message besides the reason, for the user who was asked, else for Claude.
pub fn fix_of<'a>(record: &Value, finding: &'a Value) -> Option<&'a str> {
    let is_asked = text(record, "decision") == Word::Asked.as_str();
    let of_user = if is_asked { finding.get("user_fix").and_then(Value::as_str) } else { None };
    // An empty text means that there is nothing to add.
    let fix = of_user.unwrap_or_else(|| text(finding, "fix"));
    if fix.is_empty() { None } else { Some(fix) }
}

/// The kind of a finding, as a reader of a summary knows it. Codes of guards are for records.
pub fn kind_in_words(code: &str) -> &str {
    match Code::GUARDS.into_iter().find(|guard| guard.as_str() == code) {
        Some(Code::GuardDenied) => "denied by a guard",
        Some(Code::GuardAsks) => "asked about by a guard",
        Some(Code::PermissionDenied) => "permission denied by a rule",
        Some(Code::PermissionAllowed) => "permission given by a rule",
        Some(Code::BudgetNear) => "budget used in part",
        Some(Code::BudgetReached) => "budget used up",
        Some(Code::PriceUnknown) => "price unknown",
        _ => code,
    }
}

fn is_of_guard(finding: &Value) -> bool {
    Code::GUARDS.iter().any(|code| code.as_str() == text(finding, "code"))
}

/// Where a rule is written. `None` if it is not in a file.
pub fn position(rule: &Value) -> Option<String> {
    let file = fields::text(rule, "file")?;
    Some(position_by(file, rule.get("line").and_then(Value::as_u64), fields::text(rule, "name")))
}

/// Like `position`, from its parts, for a record that is not fully parsed.
pub fn position_by(file: &str, line: Option<u64>, name: Option<&str>) -> String {
    rule::position(file, line.and_then(|line| usize::try_from(line).ok()), name)
}

/// The words of a guard, and where its rule is.
fn with_position(finding: &Value) -> String {
    let what = text(finding, "what");
    // The words of older records have it.
    match finding.get("rule").and_then(position) {
        Some(position) if !what.contains(&position) => format!("{what} ({position})"),
        _ => what.to_owned(),
    }
}

/// Like `finding`, from its parts, for a record that is not fully parsed.
pub fn finding_by(code: &str, phase: &str, what: &str) -> String {
    if phase.is_empty() { format!("{code}: {what}") } else { format!("{code} {phase}: {what}") }
}

/// The end of a command in words. If it failed, the config's message about the failure comes first.
pub fn of_command(command: &Value, name: &str) -> String {
    let end = CommandEnding {
        status: text(command, "status"),
        message: text(command, "message"),
        verdict: text(command, "verdict"),
    };
    end.in_words(name)
}

/// The recorded end of a command.
pub struct CommandEnding<'a> {
    pub status: &'a str,
    pub message: &'a str,
    pub verdict: &'a str,
}

impl CommandEnding<'_> {
    pub fn in_words(&self, name: &str) -> String {
        let CommandEnding { status, message, verdict } = *self;
        match (status, message.trim()) {
            // Only a hook can warn without a failure: Claude Code cannot use its answer.
            (PASSED, "") if verdict == WARNS => format!("`{name}` gave no usable answer"),
            (PASSED, message) if verdict == WARNS => format!("`{name}` gave no usable answer: {message}"),
            (PASSED, _) => format!("`{name}` passed"),
            (status, "") => format!("`{name}` {status}"),
            // Our message about a hook starts with its status.
            (status, message) if message.starts_with(status) => format!("`{name}` {message}"),
            (status, message) => format!("{message}: `{name}` {status}"),
        }
    }
}

/// The output of a command. Empty if its message already contains all of it: the stderr of a hook is its reason.
pub fn shown_output(command: &Value) -> &str {
    let output = text(command, "output");
    if is_said(output, text(command, "message")) { "" } else { output }
}

/// Whether a message has every line of the output.
pub fn is_said(output: &str, message: &str) -> bool {
    !message.is_empty() && output.lines().all(|line| message.contains(line.trim()))
}

/// The tool input that a hook has replaced, in words.
pub fn of_changed_input(command: &Value) -> Option<String> {
    let changed = command.get("updated_input")?;
    Some(changed_input_by(text(changed, "command"), text(changed, "file")))
}

/// Like `of_changed_input`, from its parts, for a record that is not fully parsed.
pub fn changed_input_by(command: &str, file: &str) -> String {
    let subject = [command, file].into_iter().find(|text| !text.is_empty());
    let to = subject.map(|subject| format!(" to `{subject}`")).unwrap_or_default();
    format!("it changed the input of the tool{to}")
}

/// The order in which reasons are shown: blocks, questions, warnings, passes.
pub fn rank_by(verdict: &str) -> u8 {
    match verdict {
        "block" => 0,
        "ask" => 1,
        WARNS => 2,
        _ => 3,
    }
}

/// A decision as the user reads it; filters and JSON have the recorded word.
pub fn decision_in_words(decision: &str) -> &str {
    match Word::of(decision) {
        Some(Word::AllowedFailed) => "allowed with an admitted failure",
        Some(Word::AllowedDespiteFailure) => "allowed despite a failure",
        Some(word) => word.as_str(),
        None => match decision {
            words::UNFINISHED => "never stopped",
            words::IN_PROGRESS => "in progress",
            other => other,
        },
    }
}

/// The effect of a rule that gave context or allowed something.
pub fn of_applied(applied: &Value) -> String {
    let rule = applied.get("rule").unwrap_or(&Value::Null);
    applied_by(text(applied, "what"), text(rule, "key"), text(rule, "pattern"))
}

pub fn applied_by(what: &str, key: &str, pattern: &str) -> String {
    if pattern.is_empty() { format!("{what} by {key}") } else { format!("{what} by {key} {pattern:?}") }
}

pub fn has_passed(command: &Value) -> bool {
    text(command, "status") == PASSED && text(command, "verdict") != WARNS
}

/// Whether a finding or a command only warns. In older records commands have no verdict.
pub fn warns(reason: &Value) -> bool {
    match text(reason, "verdict") {
        "" => reason.get("status").is_some() && !has_passed(reason),
        verdict => verdict == WARNS,
    }
}

/// The reasons of the decision in words: blocks and questions, or warnings if there are none.
pub fn counting<'a>(
    findings: impl Iterator<Item = &'a Value> + Clone,
    commands: impl Iterator<Item = &'a Value> + Clone,
) -> Vec<String> {
    let pick = |is_meant: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let findings = findings
            .clone()
            .filter(|one| is_meant(one))
            .map(|one| if is_of_guard(one) { with_position(one) } else { of_finding(one) });
        let commands = commands.clone().filter(|one| is_meant(one));
        findings.chain(commands.map(|command| of_command(command, text(command, "run")))).collect()
    };
    for verdict in ["block", "ask"] {
        let found = pick(&|one| text(one, "verdict") == verdict);
        if !found.is_empty() {
            return found;
        }
    }
    pick(&warns)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_blocks_counts_before_what_warns_and_is_named_with_its_phase_and_message() {
        let findings = [
            json!({"code": "STEP_BUSY", "what": "two agents", "verdict": "warn"}),
            json!({"code": "INCOMPLETE_PHASE", "phase": "COMMIT", "what": "it is NOT_EXECUTED", "verdict": "block"}),
        ];
        let lint = json!({"run": "npm run lint", "status": "exited with code 1", "message": "Linting failed", "verdict": "block"});
        let warning = json!({"run": "fmt", "status": "exited with code 2", "verdict": "warn"});
        let commands = [lint, warning];
        assert_eq!(
            counting(findings.iter(), commands.iter()),
            [
                "INCOMPLETE_PHASE COMMIT: it is NOT_EXECUTED",
                "Linting failed: `npm run lint` exited with code 1"
            ]
        );
        assert_eq!(
            counting(findings.iter().take(1), commands.iter().skip(1)),
            ["STEP_BUSY: two agents", "`fmt` exited with code 2"]
        );
        let rule = json!({"key": "preToolUse.toolUsageValidation", "pattern": "Bash git push", "file": "pack:git-safety", "line": 4, "name": "force-push"});
        let guard = json!({"code": "GUARD_DENIED", "what": "Force push rewrites the remote's history.", "verdict": "block", "rule": rule});
        assert_eq!(
            counting([&guard].into_iter(), [].into_iter()),
            ["Force push rewrites the remote's history. (pack:git-safety force-push)"],
            "the reason, and neither code nor pattern"
        );
        assert_eq!(
            of_command(&json!({"status": PASSED, "message": "Linting failed"}), "lint"),
            "`lint` passed"
        );
    }
}
