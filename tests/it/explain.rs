//! `conclaude explain`: what would happen at an event and why, without running anything.

mod configs;
mod gates;
mod request;
mod rules;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::workflow::{self, MARKERS};
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
    test.shows(&[&["explain", "--all"][..], arguments].concat())
}

#[test]
fn the_decision_and_the_rules_that_made_it_come_first() {
    let test = project();
    let shown = |arguments: &[&str]| test.shows(&[&["explain"], arguments].concat());
    assert_snapshot!(shown(&["PreToolUse", "--command", "cd build && rm -rf nested; git push origin"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Bash on the main thread → denied
      command: cd build && rm -rf nested; git push origin
      ✗ uneditableFiles "*.lock" in .conclaude.yaml:4 covers build/nested/Cargo.lock
          Do it another way, or ask the user.
      ? toolUsageValidation "Bash git *" in .conclaude.yaml:11 matches git push
        origin, and asks
          Running `git push origin` needs a confirmation: `toolUsageValidation` has
          `Bash git *`.
      ▸ runs `./audit-shell`: a failure warns (preToolUse.commands "Bash" in
        .conclaude.yaml:13)
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs
    `--all` shows the config files, every rule that was compared, and every answer
    "#);
    assert_snapshot!(shown(&["PreToolUse", "--file", "src/new.rs"]), @"
    exit 0
    ----- stdout
    PreToolUse: Write on the main thread → allowed
      file_path: src/new.rs
      no rule forbids it, and no command runs
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs
    `--all` shows the config files, every rule that was compared, and every answer
    ");
    assert_snapshot!(shown(&["SubagentStop", "--agent", "tester-1", "--file", "src/a.rs"]), @r#"
    exit 0
    ----- stdout
    SubagentStop of the agent tester-1 → allowed if all succeed
      ▸ runs `npm run lint`: a failure blocks (subagentStop.commands "*" in
        .conclaude.yaml:17)
      ▸ runs `npm test`: a failure warns (subagentStop.commands "test*" in
        .conclaude.yaml:19)
      ▸ runs `npm run e2e`: a failure warns (subagentStop.commands "test*" in
        .conclaude.yaml:20)
    ⚠ no agent tester-1 is known here: there is no file for it in .claude/agents
    ⚠ SubagentStop is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs
    `--all` shows the config files, every rule that was compared, and every answer
    "#);
    let all = shown(&["PreToolUse", "--file", "Cargo.lock", "--all"]);
    let short = shown(&["PreToolUse", "--file", "Cargo.lock"]);
    let (start, _) = short.split_once("`--all` shows").unwrap();
    assert!(all.starts_with(start) && all.contains("\nGuards\n"), "{all}");
}

/// Two commands had one environment, that of the first.
#[test]
fn the_variables_of_each_command_are_shown_with_it() {
    let test = Test::stop().config(
        "stop: {commands: [{run: a, env: {CI: '1', TERM: dumb}}, {run: b, env: {CI: '2'}}, {run: c}]}\n",
    );
    let shown = explained(&test, &["Stop"]);
    let lines: Vec<&str> = shown.lines().map(str::trim).filter(|line| line.contains("CI=")).collect();
    assert_eq!(lines, ["env: CI=1, TERM=dumb", "env: CI=2"], "{shown}");
}

#[test]
fn a_command_that_is_denied_names_every_rule_and_why() {
    let shown =
        explained(&project(), &["PreToolUse", "--command", "cd build && rm -rf nested; git push origin"]);
    // What comes before is what is shown without `--all`.
    let (_, rest) = shown.split_once("\n\nConfig\n").unwrap();
    assert_snapshot!(rest, @r#"
      project  .conclaude.yaml

    What it does, as guards see it
      runs `cd build`
      runs `rm -rf nested`
        deletes build/nested with all that is in it
      runs `git push origin`

    Guards
      ✗ uneditableFiles "*.lock" in .conclaude.yaml:4
          does not cover build/nested
          covers build/nested/Cargo.lock
      · uneditableFiles "src/gen/" in .conclaude.yaml:5 does not apply to main
      · uneditableFiles "!src/gen/keep.md" in .conclaude.yaml:6 does not cover
        build/nested, build/nested/Cargo.lock
      · unreadableFiles ".env*" in .conclaude.yaml:7 is not compared: nothing is
        read
      · preventRootAdditions in .conclaude.yaml:8 is not compared: no file is
        written
      · toolUsageValidation "Bash git push --force*" in .conclaude.yaml:10 does not
        match cd build, rm -rf nested, git push origin
      ? toolUsageValidation "Bash git *" in .conclaude.yaml:11
          does not match cd build, rm -rf nested
          matches git push origin, and asks
      · worktreeFence is for agents in a worktree of their own

    Gates
      none applies: on the main thread only calls of agents have one

    Commands, in this order
      1. ./audit-shell
         preToolUse.commands "Bash" in .conclaude.yaml:13 matches Bash
         in ., by /bin/sh; a failure warns; after 10 s it is terminated, which warns

    Their environment
      CONCLAUDE_CONFIG_DIR=[ROOT]
      CONCLAUDE_CLIENT=claude
      CONCLAUDE_CLIENT_TOOL_NAME=Bash
      CONCLAUDE_COMMAND=cd build && rm -rf nested; git push origin
      CONCLAUDE_SESSION_ID=explain
      CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/.claude/explain.jsonl
      CONCLAUDE_CWD=[ROOT]
      CONCLAUDE_HOOK_EVENT=PreToolUse
      CONCLAUDE_TOOL_USE_ID=toolu_sample
      CONCLAUDE_PERMISSION_MODE=default
      CONCLAUDE_TOOL_NAME=Bash
      CONCLAUDE_TOOL_INPUT={"command":"cd build && rm -rf nested; git push origin"}

    Answer
      denied (exit 2)
        ✗ Deleting build/nested with build/nested/Cargo.lock in it is not allowed:
        `uneditableFiles` has `*.lock`. Do it another way, or ask the user.
        (.conclaude.yaml:4)
        ? Running `git push origin` needs a confirmation: `toolUsageValidation` has
        `Bash git *`. Do it another way, or ask the user. (.conclaude.yaml:11)
    "#);
}

#[test]
fn a_write_inside_an_agent_is_compared_with_the_rules_for_it() {
    assert_snapshot!(explained(&project(), &["pretooluse", "--file", "./src/../src/gen/a.rs", "--agent", "coder"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Write of the agent coder → denied
      file_path: ./src/../src/gen/a.rs
      ✗ uneditableFiles "src/gen/" in .conclaude.yaml:5 covers src/gen/a.rs
          run make gen instead
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      writes src/gen/a.rs (which does not exist)

    Guards
      · uneditableFiles "*.lock" in .conclaude.yaml:4 does not cover src/gen/a.rs
      ✗ uneditableFiles "src/gen/" in .conclaude.yaml:5 covers src/gen/a.rs
      · uneditableFiles "!src/gen/keep.md" in .conclaude.yaml:6 does not cover
        src/gen/a.rs
      · unreadableFiles ".env*" in .conclaude.yaml:7 is not compared: nothing is
        read
      · preventRootAdditions in .conclaude.yaml:8 does not apply to src/gen/a.rs: it
        is not in the root
      · each of 2 toolUsageValidation in .conclaude.yaml:10-11 does not apply to
        Write
          "Bash git push --force*", "Bash git *"
      · worktreeFence is for agents in a worktree of their own

    Gates
      none applies: no prompt with DES markers is known for this agent (a real
      payload, with --payload, names its transcript)

    Commands, in this order
      none runs
      · ./audit-shell
         preToolUse.commands "Bash" in .conclaude.yaml:13 does not match Write

    Answer
      denied (exit 2)
        run make gen instead (.conclaude.yaml:5)
    "#);
}

#[test]
fn a_stop_shows_commands_in_order_with_their_environment_and_every_answer() {
    let test = project();
    assert_snapshot!(explained(&test, &["SubagentStop", "--agent", "tester", "--file", "src/main.rs"]), @r#"
    exit 0
    ----- stdout
    SubagentStop of the agent tester → allowed if all succeed
      ▸ runs `npm run lint`: a failure blocks (subagentStop.commands "*" in
        .conclaude.yaml:17)
      ▸ runs `npm test`: a failure warns (subagentStop.commands "test*" in
        .conclaude.yaml:19)
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
         subagentStop.commands "*" in .conclaude.yaml:17 matches tester
         CONCLAUDE_FILES: src/main.rs
         in ., by /bin/sh; a failure blocks; no timeout
      2. npm test
         subagentStop.commands "test*" in .conclaude.yaml:19 matches tester
         in ., by /bin/sh; a failure warns; no timeout
      · npm run e2e
         subagentStop.commands "test*" in .conclaude.yaml:20 matches, but `agent:
         tester-*` does not match tester

    Their environment
      CONCLAUDE_CONFIG_DIR=[ROOT]
      CONCLAUDE_SUBAGENT_NAME=tester
      CONCLAUDE_SUBAGENT_TYPE=tester
      CONCLAUDE_AGENT_ID=a0000000000000000
      CONCLAUDE_AGENT_TRANSCRIPT_PATH=[ROOT]/.claude/explain/subagents/agent-a0000000000000000.jso …
      CONCLAUDE_CLIENT=claude
      CONCLAUDE_AGENT_NAME=tester
      CONCLAUDE_SKILL_NAME=tester
      CONCLAUDE_SESSION_ID=explain
      CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/.claude/explain.jsonl
      CONCLAUDE_CWD=[ROOT]
      CONCLAUDE_HOOK_EVENT=SubagentStop
      CONCLAUDE_PERMISSION_MODE=default
      CONCLAUDE_STOP_HOOK_ACTIVE=false
      CONCLAUDE_LAST_ASSISTANT_MESSAGE=All done.

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
      if all fail: blocked (exit 2)
        conclaude: tester (a0000000000000000) may not stop yet (block 1 of 2):
        ✗ Linting failed
          `npm run lint` exited with code 1
        ⚠ `npm test` exited with code 1
        Fix what is marked ✗, then give your complete report again: your caller sees
        only your last message.
      the same after 2 blocks (maxBlocks): allowed_despite_failure (exit 0)
        conclaude: SubagentStop of tester (a0000000000000000)
        ✗ Linting failed
          `npm run lint` exited with code 1
        ⚠ `npm test` exited with code 1
        This would have blocked, but the agent may stop: it was blocked 2 times
        already (maxBlocks).
    "#);
}

#[test]
fn each_command_that_fails_alone_has_an_answer_of_its_own() {
    let test = Test::stop().config(
        "stop: {commands: [{run: npm run lint, message: Linting failed}, {run: npm test, message: Tests failed, timeout: 5}]}",
    );
    let shown = explained(&test, &["Stop"]);
    let (_, answer) = shown.split_once("Answer\n").unwrap();
    assert_snapshot!(answer, @"
    if all succeed: allowed (exit 0)
    if `npm run lint` fails: blocked (exit 2)
      conclaude: you may not stop yet (block 1 of 3):
      ✗ Linting failed
        `npm run lint` exited with code 1
      Fix what is marked ✗, then finish again.
    if `npm test` fails: blocked (exit 2)
      conclaude: you may not stop yet (block 1 of 3):
      ✗ Tests failed
        `npm test` exited with code 1
      Fix what is marked ✗, then finish again.
    if `npm test` times out: blocked (exit 2)
      conclaude: you may not stop yet (block 1 of 3):
      ✗ Tests failed
        `npm test` timed out after 5 s and was terminated
      Fix what is marked ✗, then finish again.
    if `npm test` times out again: allowed_despite_failure (exit 0)
      conclaude: ⚠ Tests failed
        `npm test` timed out after 5 s and was terminated
        (it only warns now: timeouts block an agent only once)
    if all fail: blocked (exit 2)
      conclaude: you may not stop yet (block 1 of 3):
      ✗ Linting failed
        `npm run lint` exited with code 1
      ✗ Tests failed
        `npm test` exited with code 1
      Fix what is marked ✗, then finish again.
    the same after 3 blocks (maxBlocks): allowed_despite_failure (exit 0)
      conclaude: ✗ Linting failed
        `npm run lint` exited with code 1
      ✗ Tests failed
        `npm test` exited with code 1
      This would have blocked, but the agent may stop: it was blocked 3 times
      already (maxBlocks).
    ");
    let (_, stdout, _) = run_in(&test.root(), &["explain", "Stop", "--json"]);
    let json: Value = serde_json::from_str(&stdout).unwrap();
    let cases: Vec<&str> =
        json["answers"].as_array().unwrap().iter().map(|answer| answer["when"].as_str().unwrap()).collect();
    assert_snapshot!(cases.join("\n"), @"
    if all succeed
    if `npm run lint` fails
    if `npm test` fails
    if `npm test` times out
    if `npm test` times out again
    if all fail
    the same after 3 blocks (maxBlocks)
    ");
}

#[test]
fn what_did_not_change_keeps_a_command_from_running() {
    let shown = explained(&project(), &["subagent-stop", "--agent", "coder", "--file", "README.md"]);
    assert_snapshot!(shown, @r#"
    exit 0
    ----- stdout
    SubagentStop of the agent coder → allowed
      no rule forbids it, and no command runs
    ⚠ SubagentStop is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    Gates
      none applies: no prompt with DES markers is known for this agent (a real
      payload, with --payload, names its transcript)

    Commands, in this order
      none runs
      · npm test
         subagentStop.commands "test*" in .conclaude.yaml:19 does not match coder
      · npm run e2e
         subagentStop.commands "test*" in .conclaude.yaml:20 does not match coder
      · npm run lint
         subagentStop.commands "*" in .conclaude.yaml:17 matches, but `files:
         [src/**]` covers no changed file (README.md)

    Answer
      allowed (exit 0)
    "#);
}

#[test]
fn nothing_is_run_and_nothing_is_written() {
    let test = Test::stop().config(
        "subagentStop: {commands: [{run: touch ran}]}\nsessionStart: {commands: [{run: touch ran}]}\n",
    );
    for event in ["SubagentStop", "SessionStart", "SessionEnd", "Stop", "UserPromptSubmit"] {
        let (code, _, _) = run_in(&test.root(), &["explain", event]);
        assert_eq!(code, Some(0), "{event}");
    }
    let mut left: Vec<String> = std::fs::read_dir(test.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, [".conclaude.yaml"]);
}

#[test]
fn every_event_can_be_explained() {
    let test = Test::stop().config("{}\n");
    for event in conclaude_core::event::names() {
        let tool: &[&str] =
            if event.contains("Tool") || event.contains("Permission") { &["--tool", "Bash"] } else { &[] };
        let (code, out, err) = run_in(&test.root(), &[&["explain", event], tool].concat());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{event}");
        assert!(out.starts_with(event), "{event}: {out}");
    }
}

#[test]
fn json_has_the_same() {
    let (code, out, _) =
        run_in(&project().root(), &["explain", "PreToolUse", "--command", "cat .env", "--json"]);
    assert_eq!(code, Some(0));
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["answers"][0]["decision"], "denied");
    assert_eq!(json["answers"][0]["exit"], 2);
    assert_eq!(json["guards"]["findings"][0]["rule"]["line"], 7);
    assert_eq!(json["guards"]["findings"][0]["matched"], ".env");
    assert_eq!(json["effects"]["touches"][0]["names"][0], ".env");
    assert_eq!(json["commands"][0]["run"], "./audit-shell");
    assert_eq!(json["commands"][0]["environment"]["CONCLAUDE_COMMAND"], "cat .env");
    assert_eq!(json["config"]["files"][0]["layer"], "project");
}
