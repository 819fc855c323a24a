//! The boundaries that Gate 1 adds to the prompt of a subagent.

use serde_json::{Map, Value};

use super::gates::OpenStep;
use super::phases;
use super::scope::Scope;
use conclaude_core::config::DesConfig;
use conclaude_core::dialect::claude::agents;
use shell_effects::quoted_if_needed;

/// The boundaries of one subagent, as text.
#[must_use]
pub fn boundaries(opened: &OpenStep, scope: &Scope, phases: &[String], des: &DesConfig) -> String {
    let step = conclaude_core::text::clean_line(&opened.name);
    let quoted = quoted_if_needed(&opened.name);
    let log = opened.step.phases().unwrap_or_default();
    let left: Vec<&str> = phases
        .iter()
        .filter(|phase| !log.iter().any(|entry| entry.name == **phase && entry.is_finished()))
        .map(String::as_str)
        .collect();
    let mut text = format!("\n\n---\nThis task is gated by conclaude. Its step file is `{step}`.\n");
    if opened.step.has_phases() {
        text.push_str(&format!(
            "- Phases left, in this order: {}.\n- Record each phase as you do it; do not edit the JSON by hand:\n  {}\
             `conclaude des start {quoted} PHASE`, then `conclaude des finish {quoted} PHASE --pass|--fail --details \"…\"` for work without a command;\n  \
             `conclaude des skip {quoted} PHASE --reason \"NOT_APPLICABLE: …\"`.\n",
            if left.is_empty() { "none".to_owned() } else { left.join(", ") },
            typed_commands(&quoted, des),
        ));
        text.push_str(&evidence(&quoted, des));
    }
    if scope.is_limited() {
        let patterns = scope.describe(|pattern| format!("`{}`", conclaude_core::text::clean_line(pattern)));
        text.push_str(&format!("- You may write only to {patterns}, and to the step file.\n"));
    }
    text.push_str(&format!(
        "- You may stop when every phase is recorded and the step is DONE. If you cannot finish, say so honestly: \
         `conclaude des fail {quoted} --reason \"…\"`; an admitted failure may stop.\n"
    ));
    text
}

/// How the agent's own command proves a phase, if the config has no commands.
fn typed_commands(step: &str, des: &DesConfig) -> String {
    if !des.evidence_commands().is_empty() {
        return String::new();
    }
    format!(
        "`conclaude des run {step} PHASE -- COMMAND` runs a command and records PASS or FAIL from its exit code (RED and RED_* phases expect a failure);\n  "
    )
}

/// The phases that need proof, and the config's commands for them.
fn evidence(step: &str, des: &DesConfig) -> String {
    let commands = des.evidence_commands();
    if commands.is_empty() {
        return match des.evidence().join(", ") {
            phases if phases.is_empty() => String::new(),
            phases => format!("- These phases count only with `conclaude des run`: {phases}.\n"),
        };
    }
    let mut text =
        "- These phases count only with the command of the config, which is run as follows:\n".to_owned();
    for (phase, command) in commands {
        let expected = if phases::expects_failure(phase) { ", which must fail" } else { "" };
        let command = conclaude_core::text::clean_line(command);
        text.push_str(&format!("  `conclaude des run {step} {phase}` runs `{command}`{expected};\n"));
    }
    text.push_str("  another command is refused.\n");
    text
}

/// The input of the call with the boundaries appended to its prompt.
#[must_use]
pub fn with_boundaries(input: &Map<String, Value>, boundaries: &str) -> Map<String, Value> {
    let mut input = input.clone();
    if let Some(Value::String(prompt)) = input.get_mut(agents::PROMPT)
        && !prompt.contains(boundaries.trim())
    {
        prompt.push_str(boundaries);
    }
    input
}
