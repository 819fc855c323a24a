//! The files that `conclaude init` writes beside the config.

/// The first cases for `conclaude test`. They hold whatever the config says.
pub const FIRST_CASES: &str = r#"# yaml-language-server: $schema=./.conclaude/test.schema.json
# What conclaude should do in this project: `conclaude test` plays these cases, without running anything.
cases:
  - name: subagents do not change the rules
    event: PreToolUse
    agent: coder
    tool: Write
    input: {file_path: .conclaude.yaml}
    expect: {denies: "conclaude's own config"}

# - name: the coder is linted
#   event: SubagentStop
#   agent: coder
#   results: {"npm run lint": 1}          # not executed: this is its exit code; 0 by default
#   expect: {runs: ["npm run lint"], blocks: "Linting failed"}
"#;

/// Where Claude Code looks for the slash command.
pub const STEP_COMMAND_PATH: &str = ".claude/commands/step.md";

/// The slash command that starts a step: a user has no Agent tool, Claude has.
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
