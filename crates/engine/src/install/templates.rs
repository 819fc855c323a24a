//! The files that `conclaude init` writes in addition to the config.

use serde_json::Value;

use super::starter::{Choices, GENERAL, Pack, SuggestedCheck};
use conclaude_core::config::Reaction;

/// Cases that hold for every config.
const FIRST_CASES: &str = r#"# yaml-language-server: $schema=./.conclaude/test.schema.json
# What conclaude should do in this project: `conclaude test` plays these cases, without running anything.
cases:
  - name: subagents do not change the rules
    event: PreToolUse
    agent: coder
    tool: Write
    input: {file_path: .conclaude.yaml}
    expect: {denies: "conclaude's own config"}
"#;

/// The first cases for `conclaude test`: active ones for the enabled parts of the config, else one example.
pub fn first_cases(choices: Option<&Choices>, suggested: &[SuggestedCheck]) -> String {
    let mut text = FIRST_CASES.to_owned();
    let checks = choices.map(|choices| choices.checks.as_slice()).unwrap_or_default();
    if let Some(choices) = choices
        && !checks.is_empty()
    {
        if choices.audience.has_agents() {
            text.push_str(&stop_cases(choices, Some(GENERAL)));
            text.push_str("\n  - name: agents that only read are not checked\n    event: SubagentStop\n    agent: Explore\n    expect: {runs: [], allows: true}\n");
        }
        if choices.audience.has_main() {
            text.push_str(&stop_cases(choices, None));
        }
    } else {
        text.push_str(&example(suggested.first()));
    }
    let packs = choices.map(|choices| choices.packs.as_slice()).unwrap_or_default();
    packs.iter().for_each(|pack| text.push_str(&pack_case(pack)));
    text
}

/// The stop of an agent, or of Claude itself: the commands, and the effect of a failure of each.
fn stop_cases(choices: &Choices, agent: Option<&str>) -> String {
    let who = agent.unwrap_or("Claude itself");
    let event = match agent {
        Some(agent) => format!("event: SubagentStop\n    agent: {agent}"),
        None => "event: Stop".to_owned(),
    };
    let runs: Vec<Value> = choices.checks.iter().map(|check| check.run.as_str().into()).collect();
    let runs = Value::from(runs);
    let mut text = format!(
        "\n  - name: {who} may stop when all checks pass\n    {event}\n    expect: {{runs: {runs}, allows: true}}\n"
    );
    for check in &choices.checks {
        let (run, message) = (Value::from(check.run.as_str()), Value::from(check.message.as_str()));
        let (does, expected) = match choices.reaction {
            Reaction::Block => ("blocks", format!("blocks: {message}")),
            Reaction::Warn => ("does not block", format!("blocks: false, shows: {message}")),
        };
        let name = Value::from(format!("a failure of `{}` {does} {who}", check.run));
        // The command is not executed: this is its exit code.
        text.push_str(&format!(
            "\n  - name: {name}\n    {event}\n    results: {{{run}: 1}}\n    expect: {{{expected}}}\n"
        ));
    }
    text
}

fn pack_case(pack: &Pack) -> String {
    let case = pack.case;
    format!(
        "\n  - name: {} (pack:{})\n    event: PreToolUse\n    tool: {}\n    input: {{{}: {}}}\n    expect: {{denies: true}}\n",
        case.name,
        pack.name,
        case.tool,
        case.field,
        Value::from(case.value)
    )
}

/// A case for a command that is commented out in the config.
fn example(check: Option<&SuggestedCheck>) -> String {
    let run = check.map_or("git diff --check", |check| check.run.as_str());
    let message = check.map_or("Conflict markers", |check| check.message.as_str());
    let (run, message) = (Value::from(run), Value::from(message));
    format!(
        "\n# - name: {GENERAL} is checked\n#   event: SubagentStop\n#   agent: {GENERAL}\n#   results: {{{run}: 1}}   # not executed: this is its exit code; 0 by default\n#   expect: {{blocks: {message}}}\n"
    )
}

/// Where Claude Code looks for the slash command.
pub const STEP_COMMAND_PATH: &str = ".claude/commands/step.md";

/// The slash command that starts a step: only Claude has the Agent tool, and not the user.
pub const STEP_COMMAND: &str = r#"---
description: Start a gated step (conclaude) with a subagent, such as /step 01
argument-hint: STEP [AGENT]
allowed-tools: Bash(conclaude des status:*), Bash(conclaude des prompt:*), Bash(conclaude des check:*), Agent, Task
---
Start the step `$ARGUMENTS`. Its first word names the step, a second word the subagent that is to do it.

1. Run `conclaude des status`. The step is the one whose file name starts with the first word. If none or several do,
   show me the list and stop.
2. If no subagent was named, take the one of this project that suits the step; `general-purpose` if none does.
3. Run `conclaude des prompt FILE --agent AGENT` and call that subagent once with the Agent tool. Its prompt is the whole
   output, unchanged, with the comments (`<!-- DES-… -->`) at the start; below it you may add what the agent must know.
4. Do no part of the step yourself, and do not edit the step file. If the call is denied, show me why.
5. When the agent has stopped, run `conclaude des check FILE` and report in three lines: what was done, whether the step is
   complete, and what is missing.
"#;
