//! `conclaude explain`: what would happen at an event and why, without running anything.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, conclaude_in, run_in};

const CONFIG: &str = r#"maxBlocks: 2
preToolUse:
  uneditableFiles:
    - "*.lock"
    - {pattern: "src/gen/", message: "run make gen instead", agent: coder}
    - "!src/gen/keep.md"
  unreadableFiles: [".env*"]
  preventRootAdditions: true
  toolUsageValidation:
    - {tool: Bash, commandPattern: "git push --force*", action: block, message: "push normally"}
    - {tool: Bash, commandPattern: "git *", action: ask}
  commands:
    Bash: [{run: ./audit-shell, timeout: 10}]
subagentStop:
  commands:
    "*":
      - {run: npm run lint, onFailure: block, message: "Linting failed", files: ["src/**"]}
    "test*":
      - {run: npm test}
      - {run: npm run e2e, agent: "tester-*"}
"#;

fn project() -> Test {
    let test = Test::stop().config(CONFIG).file("Cargo.lock", "").file("build/nested/Cargo.lock", "");
    test.file("src/main.rs", "").file(".claude/agents/coder.md", "---\nname: coder\n---\n")
}

fn explained(test: &Test, arguments: &[&str]) -> String {
    test.shows(&[&["explain"], arguments].concat())
}

#[test]
fn a_command_that_is_denied_names_every_rule_and_why() {
    assert_snapshot!(explained(&project(), &["PreToolUse", "--command", "cd build && rm -rf nested; git push origin"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Bash on the main thread
      command: cd build && rm -rf nested; git push origin
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      runs `cd build`
      runs `rm -rf nested`
        deletes build/nested with all that is in it
      runs `git push origin`

    Guards
      ✗ uneditableFiles "*.lock" .conclaude.yaml:4
          does not cover build/nested
          covers build/nested/Cargo.lock
      · uneditableFiles "src/gen/" .conclaude.yaml:5
          is for other agents than main
          is for other agents than main
      · uneditableFiles "!src/gen/keep.md" .conclaude.yaml:6
          does not cover build/nested
          does not cover build/nested/Cargo.lock
      · unreadableFiles ".env*" .conclaude.yaml:7
          has nothing to compare: nothing is read
      · preventRootAdditions .conclaude.yaml:8
          has nothing to compare: no file is written
      · toolUsageValidation "Bash git push --force*" .conclaude.yaml:10
          does not match cd build
          does not match rm -rf nested
          does not match git push origin
      ? toolUsageValidation "Bash git *" .conclaude.yaml:11
          does not match cd build
          does not match rm -rf nested
          matches git push origin, and asks
      · worktreeFence
          is for agents in a worktree of their own

    Gates
      none applies: on the main thread only calls of agents have one

    Commands, in this order
      1. ./audit-shell
         commands "Bash" .conclaude.yaml:13 matches Bash
         in ., by /bin/sh; a failure warns; after 10 s it is terminated, which warns

    Their environment
      CONCLAUDE_CONFIG_DIR=[ROOT]
      CONCLAUDE_COMMAND=cd build && rm -rf nested; git push origin
      CONCLAUDE_SESSION_ID=explain
      CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/.claude/explain.jsonl
      CONCLAUDE_CWD=[ROOT]
      CONCLAUDE_HOOK_EVENT=PreToolUse
      CONCLAUDE_TOOL_USE_ID=toolu_sample
      CONCLAUDE_PERMISSION_MODE=default
      CONCLAUDE_TOOL_NAME=Bash

    Answer
      denied (exit 2)
        conclaude denies this tool:
        ✗ GUARD_DENIED: deleting build/nested, which contains
        build/nested/Cargo.lock: `uneditableFiles` has `*.lock` in .conclaude.yaml:4
        → it may not be changed; do it another way, or ask the user
        ? GUARD_ASKS: running `git push origin`: `toolUsageValidation` has `Bash git
        *` in .conclaude.yaml:11 → do it another way, or ask the user
    "#);
}

#[test]
fn a_write_inside_an_agent_is_compared_with_the_rules_for_it() {
    assert_snapshot!(explained(&project(), &["pretooluse", "--file", "./src/../src/gen/a.rs", "--agent", "coder"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Write of the agent coder
      file_path: ./src/../src/gen/a.rs
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      writes src/gen/a.rs (which does not exist)

    Guards
      · uneditableFiles "*.lock" .conclaude.yaml:4
          does not cover src/gen/a.rs
      ✗ uneditableFiles "src/gen/" .conclaude.yaml:5
          covers src/gen/a.rs
      · uneditableFiles "!src/gen/keep.md" .conclaude.yaml:6
          does not cover src/gen/a.rs
      · unreadableFiles ".env*" .conclaude.yaml:7
          has nothing to compare: nothing is read
      · preventRootAdditions .conclaude.yaml:8
          leaves src/gen/a.rs free: it is not in the root
      · toolUsageValidation "Bash git push --force*" .conclaude.yaml:10
          is for other tools than Write
      · toolUsageValidation "Bash git *" .conclaude.yaml:11
          is for other tools than Write
      · worktreeFence
          is for agents in a worktree of their own

    Gates
      none applies: no prompt with DES markers is known for this agent (a real
      payload, with --payload, names its transcript)

    Commands, in this order
      none runs
      · ./audit-shell
         commands "Bash" .conclaude.yaml:13 does not match Write

    Answer
      denied (exit 2)
        conclaude denies this tool:
        ✗ GUARD_DENIED: writing src/gen/a.rs: `uneditableFiles` has `src/gen/` in
        .conclaude.yaml:5 → run make gen instead
    "#);
}

#[test]
fn a_stop_shows_commands_in_order_with_their_environment_and_every_answer() {
    let test = project();
    assert_snapshot!(explained(&test, &["SubagentStop", "--agent", "tester", "--file", "src/main.rs"]), @r#"
    exit 0
    ----- stdout
    SubagentStop of the agent tester
    ⚠ no agent tester is known here: there is no file for it in .claude/agents
    ⚠ SubagentStop is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    Gates
      none applies: no prompt with DES markers is known for this agent (a real
      payload, with --payload, names its transcript)

    Commands, in this order
      1. npm run lint
         subagentStop.commands "*" .conclaude.yaml:17 matches tester
         in ., by /bin/sh; a failure blocks; no timeout
      2. npm test
         subagentStop.commands "test*" .conclaude.yaml:19 matches tester
         in ., by /bin/sh; a failure warns; no timeout
      · npm run e2e
         subagentStop.commands "test*" .conclaude.yaml:20 matches, but `agent:
         tester-*` does not match tester

    Their environment
      CONCLAUDE_CONFIG_DIR=[ROOT]
      CONCLAUDE_SUBAGENT_NAME=tester
      CONCLAUDE_SUBAGENT_TYPE=tester
      CONCLAUDE_AGENT_ID=a0000000000000000
      CONCLAUDE_AGENT_TRANSCRIPT_PATH=[ROOT]/.claude/explain/subagents/agent-a0000000000000000.jso …
      CONCLAUDE_SESSION_ID=explain
      CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/.claude/explain.jsonl
      CONCLAUDE_CWD=[ROOT]
      CONCLAUDE_HOOK_EVENT=SubagentStop
      CONCLAUDE_PERMISSION_MODE=default
      CONCLAUDE_STOP_HOOK_ACTIVE=false
      CONCLAUDE_LAST_ASSISTANT_MESSAGE=All done.
      CONCLAUDE_FILES=src/main.rs

    Answer
      if all succeed: allowed (exit 0)
      if `npm run lint` fails: blocked (exit 2)
        conclaude: tester (a0000000000000000) may not stop yet (block 1 of 2):
        ✗ Linting failed
          `npm run lint` exited with code 1
        Fix what is marked ✗, then give your complete report again: your caller sees
        only your last message.
      if `npm test` fails: allowed (exit 0)
        conclaude: SubagentStop of tester (a0000000000000000)
        ⚠ `npm test` exited with code 1
      the same after 2 blocks (maxBlocks): allowed_despite_failure (exit 0)
        conclaude: SubagentStop of tester (a0000000000000000)
        ✗ Linting failed
          `npm run lint` exited with code 1
        This would have blocked, but the agent may stop: it was blocked 2 times
        already (maxBlocks).
    "#);
}
