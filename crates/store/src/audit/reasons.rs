//! The reasons of a decision as text, the same wherever a record is shown. The text is untrusted: callers clean it.

use serde_json::Value;

use super::fields::text_or_empty as text;

/// How a command that passed ended.
const PASSED: &str = "exited with code 0";

/// The kind of a finding, the phase that it is about, and what was found.
pub fn of_finding(finding: &Value) -> String {
    finding_by(text(finding, "code"), text(finding, "phase"), text(finding, "what"))
}

/// The same from its parts, for a record that is not read whole.
pub fn finding_by(code: &str, phase: &str, what: &str) -> String {
    if phase.is_empty() { format!("{code}: {what}") } else { format!("{code} {phase}: {what}") }
}

/// How a command ended; where it failed, what the config says of that comes first.
pub fn of_command(command: &Value, name: &str) -> String {
    command_by(name, text(command, "status"), text(command, "message"))
}

pub fn command_by(name: &str, status: &str, message: &str) -> String {
    match (status, message.trim()) {
        (PASSED, _) => format!("`{name}` passed"),
        (status, "") => format!("`{name}` {status}"),
        (status, message) => format!("{message}: `{name}` {status}"),
    }
}

/// A decision as the user reads it; filters and JSON have the recorded word.
pub fn decision_in_words(decision: &str) -> &str {
    match decision {
        "allowed_failed" => "allowed with an admitted failure",
        "allowed_despite_failure" => "allowed despite a failure",
        "unfinished" => "never stopped",
        "IN_PROGRESS" => "in progress",
        other => other,
    }
}

/// What a rule gave or allowed.
pub fn of_applied(applied: &Value) -> String {
    let rule = applied.get("rule").unwrap_or(&Value::Null);
    applied_by(text(applied, "what"), text(rule, "key"), text(rule, "pattern"))
}

pub fn applied_by(what: &str, key: &str, pattern: &str) -> String {
    if pattern.is_empty() { format!("{what} by {key}") } else { format!("{what} by {key} {pattern:?}") }
}

pub fn has_passed(command: &Value) -> bool {
    text(command, "status") == PASSED
}

/// Whether a finding or a command only warns. Older records say no verdict of a command.
pub fn warns(reason: &Value) -> bool {
    match text(reason, "verdict") {
        "" => reason.get("status").is_some() && !has_passed(reason),
        verdict => verdict == "warn",
    }
}

/// What counts for the decision, in words: what blocks or asks; where nothing does, what warns.
pub fn counting<'a>(
    findings: impl Iterator<Item = &'a Value> + Clone,
    commands: impl Iterator<Item = &'a Value> + Clone,
) -> Vec<String> {
    let pick = |is_meant: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let findings = findings.clone().filter(|one| is_meant(one)).map(|finding| {
            // What a guard denies, its message says.
            match text(finding, "code") {
                "GUARD_DENIED" | "GUARD_ASKS" => text(finding, "what").to_owned(),
                _ => of_finding(finding),
            }
        });
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
        assert_eq!(
            of_command(&json!({"status": PASSED, "message": "Linting failed"}), "lint"),
            "`lint` passed"
        );
    }
}
