//! `conclaude explain`: what would happen at an event and why, without running anything.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::cases::cases;
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

/// In one line, however it is broken.
fn flat(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
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
      ✗ uneditableFiles "*.lock" in .conclaude.yaml:4
          does not cover build/nested
          covers build/nested/Cargo.lock
      · uneditableFiles "src/gen/" in .conclaude.yaml:5 is for other agents than
        main
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
      · uneditableFiles "*.lock" in .conclaude.yaml:4 does not cover src/gen/a.rs
      ✗ uneditableFiles "src/gen/" in .conclaude.yaml:5 covers src/gen/a.rs
      · uneditableFiles "!src/gen/keep.md" in .conclaude.yaml:6 does not cover
        src/gen/a.rs
      · unreadableFiles ".env*" in .conclaude.yaml:7 is not compared: nothing is
        read
      · preventRootAdditions in .conclaude.yaml:8 leaves src/gen/a.rs free: it is
        not in the root
      · each of 2 toolUsageValidation in .conclaude.yaml:10-11 is for other tools
        than Write
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
    if all fail
    the same after 3 blocks (maxBlocks)
    ");
}

#[test]
fn what_did_not_change_keeps_a_command_from_running() {
    let shown = flat(&explained(&project(), &["subagent-stop", "--agent", "coder", "--file", "README.md"]));
    assert!(shown.contains("matches, but `files: [src/**]` covers no changed file (README.md)"), "{shown}");
    assert!(shown.contains("Commands, in this order none runs"), "{shown}");
}

#[test]
fn a_call_with_markers_shows_what_gate_1_finds() {
    let test = project().step(&workflow::done());
    let input = json!({"prompt": MARKERS, "subagent_type": "tester"}).to_string();
    assert_snapshot!(explained(&test, &["PreToolUse", "--tool", "Agent", "--input", &input]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Agent on the main thread
      prompt: ‹!-- DES-VALIDATION: required --> …
      subagent_type: tester
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      no file is touched that its input names

    Guards
      · each of 3 uneditableFiles in .conclaude.yaml:4-6 is not compared: nothing is
        written or deleted
          "*.lock", "src/gen/", "!src/gen/keep.md"
      · unreadableFiles ".env*" in .conclaude.yaml:7 is not compared: nothing is
        read
      · preventRootAdditions in .conclaude.yaml:8 is not compared: no file is
        written
      · each of 2 toolUsageValidation in .conclaude.yaml:10-11 is for other tools
        than Agent
          "Bash git push --force*", "Bash git *"
      · worktreeFence is not compared: no file is written

    Gates
      • Gate 1: the prompt's markers name the step file steps/01-01.json
        ✗ AGENT_MISMATCH: DES-AGENT is coder, but this is tester → call that agent,
        or change the marker
        ✗ STEP_DONE: steps/01-01.json is DONE already → go on with the next step, or
        let the user reopen this one

    Commands, in this order
      none runs
      · ./audit-shell
         preToolUse.commands "Bash" in .conclaude.yaml:13 does not match Agent

    Answer
      denied (exit 2)
        conclaude denies this call of an agent:
        ✗ AGENT_MISMATCH: DES-AGENT is coder, but this is tester → call that agent,
        or change the marker
        ✗ STEP_DONE: steps/01-01.json is DONE already → go on with the next step, or
        let the user reopen this one
    "#);
}

#[test]
fn a_real_payload_of_a_gated_stop_is_judged_as_the_hook_does() {
    let test = Test::gated_stop(&workflow::with(3, json!({"status": "IN_PROGRESS"})));
    let payload = test.input();
    let test = test.file("payload.json", &payload);
    assert_snapshot!(explained(&test, &["--payload", "payload.json"]), @"
    exit 0
    ----- stdout
    SubagentStop of the agent coder
    ⚠ no agent coder is known here: there is no file for it in .claude/agents
    ⚠ SubagentStop is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      none: the defaults apply

    Gates
      • Gate 3: the prompt's markers name the step file steps/01-01.json
        ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED
        with PASS or FAIL, or SKIPPED
        ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository
        → look yourself at what was changed: the scope was not checked

    Commands, in this order
      none runs

    Answer
      blocked (exit 2)
        conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
        ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED
        with PASS or FAIL, or SKIPPED
        ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository
        → look yourself at what was changed: the scope was not checked
        Fix what is marked ✗, then give your complete report again: your caller sees
        only your last message.
      the same after 3 blocks (maxBlocks): allowed_despite_failure (exit 0)
        conclaude: SubagentStop of coder (a1b2c3)
        ✗ ABANDONED_PHASE GREEN_UNIT: it is still IN_PROGRESS → finish it: EXECUTED
        with PASS or FAIL, or SKIPPED
        ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository
        → look yourself at what was changed: the scope was not checked
        This would have blocked, but the agent may stop: it was blocked 3 times
        already (maxBlocks).
    ");
    test.run().blocked();
}

#[test]
fn a_payload_may_come_on_stdin_and_name_a_folder_that_is_elsewhere() {
    let test = project();
    let mut command = conclaude_in(&test.root());
    command
        .args(["explain", "--payload", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let payload = crate::common::capture("variants/PreToolUse.Write.json");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &payload).unwrap();
    let shown = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(shown.contains("PreToolUse: Write of the agent coder"), "{shown}");
    assert!(shown.contains("is not here"), "{shown}");
}

#[test]
fn an_untrusted_config_shows_what_would_not_run() {
    let test = project();
    let (code, _, _) = run_in(&test.root(), &["install", "--user"]);
    assert_eq!(code, Some(0));
    let shown = flat(&explained(&test, &["SubagentStop", "--agent", "coder", "--file", "src/main.rs"]));
    assert!(shown.contains("⚠ nothing of it runs: [ROOT]/.conclaude.yaml is not trusted"), "{shown}");
    assert!(shown.contains("⚠ npm run lint is not trusted"), "{shown}");
}

#[test]
fn a_broken_config_is_explained_with_its_lines() {
    let test = Test::stop().config("maxBlocks: 99\nsubagentStop: {commands: {'*': [{run: 'true'}]}}\n");
    assert_snapshot!(explained(&test, &["SubagentStop", "--agent", "Plan"]), @"
    exit 0
    ----- stdout
    SubagentStop of the agent Plan
    ⚠ SubagentStop is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml
      ✗ invalid config [ROOT]/.conclaude.yaml: 1 problem;
        `conclaude validate` shows every problem; its guards and permissions count
        as far as they can be read
        .conclaude.yaml:1: invalid value for `maxBlocks`: the number 99

    Gates
      none applies: no prompt with DES markers is known for this agent (a real
      payload, with --payload, names its transcript)

    Commands, in this order
      none runs

    Answer
      failed (exit 1)
        conclaude: invalid config [ROOT]/.conclaude.yaml: 1
        problem

        error: invalid value for `maxBlocks`: the number 99
         --> [ROOT]/.conclaude.yaml:1:12
          |
        1 | maxBlocks: 99
          |            ^^ expected a whole number from 1 to 7
    ");
}

#[test]
fn layers_are_listed_and_named() {
    let test = project().file(".conclaude.local.yaml", "preToolUse: {uneditableFiles: ['!*.lock']}\n");
    let shown = flat(&explained(&test, &["PreToolUse", "--file", "Cargo.lock"]));
    assert!(shown.contains("project .conclaude.yaml local .conclaude.local.yaml"), "{shown}");
    assert!(shown.contains("cannot free it from `*.lock` of an outer layer"), "{shown}");
}

#[test]
fn a_rule_of_a_pack_is_named_by_the_pack() {
    let test = Test::stop().config("extends: ['pack:lockfiles']\n");
    let (_, out, _) =
        run_in(&test.root(), &["explain", "PreToolUse", "--file", "package-lock.json", "--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["guards"]["findings"][0]["rule"]["file"], "pack:lockfiles");
    let files: Vec<&str> = json["config"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["pack:lockfiles", "[ROOT]/.conclaude.yaml"]);
}

#[test]
fn rules_that_do_not_match_take_few_lines() {
    let test = Test::stop().config("extends: ['pack:secrets', 'pack:git-safety']\n");
    assert_snapshot!(explained(&test, &["PreToolUse", "--command", "cat notes.txt .env"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Bash on the main thread
      command: cat notes.txt .env
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  pack:secrets
      project  pack:git-safety
      project  .conclaude.yaml

    What it does, as guards see it
      runs `cat notes.txt .env`
        reads notes.txt (which does not exist)
        reads .env (which does not exist)

    Guards
      · each of 13 uneditableFiles in pack:secrets:42-54 is not compared: nothing is
        written or deleted
          ".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template",
          "!.env.dist", "*.pem", "~/.ssh/", "~/.gnupg/", "~/.aws/", "~/.kube/",
          "~/.netrc", "~/.git-credentials"
      · uneditableFiles ".git/" in pack:git-safety:37 is not compared: nothing is
        written or deleted
      ✗ unreadableFiles ".env" in pack:secrets:5
          does not cover notes.txt
          covers .env
      · each of 35 unreadableFiles in pack:secrets:6-40 does not cover notes.txt,
        .env
          ".env.*", "!.env.example", "!.env.sample", "!.env.template", "!.env.dist",
          "*.pem", "*.p12", "*.pfx", "*.jks", "*.keystore", "id_rsa", "id_dsa",
          "id_ecdsa", "id_ed25519", ".netrc", ".pgpass", ".git-credentials",
          ".htpasswd", "~/.ssh/", "!~/.ssh/known_hosts", "!~/.ssh/*.pub",
          "~/.gnupg/", "~/.aws/credentials", "~/.azure/", "~/.config/gcloud/",
          "~/.config/gh/hosts.yml", "~/.kube/config", "~/.docker/config.json",
          "~/.npmrc", "~/.pypirc", "~/.cargo/credentials.toml", "credentials.json",
          "service-account*.json", "*.tfstate", "*.kdbx"
      · each of 32 toolUsageValidation in pack:git-safety:4-35 does not match cat
        notes.txt .env
          "Bash git push -f,--force", "Bash git push * +*", "Bash git push
          --mirror,--prune", "Bash git push -d,--delete", "Bash git push * :*",
          "Bash git commit -n,--no-verify", "Bash git {push,merge,rebase,am}
          --no-verify", "Bash
          {HUSKY=0,HUSKY_SKIP_HOOKS=*,LEFTHOOK=0,LEFTHOOK=false,SKIP=*} git
          {commit,push,merge,rebase,am}*", "Bash
          {GIT_CONFIG_KEY_*=core.hooksPath,GIT_CONFIG_KEY_*=alias.*,GIT_CONFIG_PARAMETERS=*}
          git *", "Bash {,*/}git -*{core.hookspath,alias.*}=*", "Bash git push
          --force-with-lease,--force-if-includes", "Bash git commit --amend", "Bash
          git reset --hard", "Bash git clean -f,--force", "Bash git checkout *-- *",
          "Bash git checkout {,* }{.,./,:/}", "Bash git {checkout,switch}
          -f,--force,--discard-changes", "Bash git restore -W,--worktree", "Bash git
          restore -S,--staged", "Bash git restore", "Bash git stash {drop,clear}*",
          "Bash git branch -D,-f,--force", "Bash git tag -d,--delete", "Bash git
          worktree remove -f,--force", "Bash git filter-{branch,repo}*", "Bash git
          reflog {expire,delete}*", "Bash git gc --prune", "Bash git prune", "Bash
          git update-ref -d", "Bash git config --system", "Bash git config
          --global", "Bash git config *core.hookspath *"
      · worktreeFence is for agents in a worktree of their own

    Gates
      none applies: on the main thread only calls of agents have one

    Commands, in this order
      none runs

    Answer
      denied (exit 2)
        conclaude denies this tool:
        ✗ GUARD_DENIED: reading .env: `unreadableFiles` has `.env` in pack:secrets:5
        → it holds secrets: read .env.example for the names, and ask the user for
        values
    "#);
}

#[test]
fn rules_for_permissions_say_which_matches_or_why_the_user_is_asked() {
    let config = "permissionRequest:\n  allow: ['Bash(git status*)', Read]\n  deny: ['Bash(rm *)']\n";
    let test = Test::stop().config(config);
    assert_snapshot!(explained(&test, &["PermissionRequest", "--command", "git status -s"]), @r#"
    exit 0
    ----- stdout
    PermissionRequest: Bash on the main thread
      command: git status -s
    ⚠ PermissionRequest is not registered with Claude Code here, so none of this
      happens: `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      runs `git status -s`

    Guards
      · worktreeFence is not compared: no file is written

    Rules for permissions
      · permissionRequest.deny "Bash(rm *)" in .conclaude.yaml:3 does not match `git
        status -s`, nor a command in it
      ✓ permissionRequest.allow "Bash(git status*)" in .conclaude.yaml:2 matches
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for another tool than
        Bash

    Commands, in this order
      none runs

    Answer
      allowed (exit 0)
    "#);
    assert_snapshot!(explained(&test, &["PermissionRequest", "--command", "git status && make"]), @r#"
    exit 0
    ----- stdout
    PermissionRequest: Bash on the main thread
      command: git status && make
    ⚠ PermissionRequest is not registered with Claude Code here, so none of this
      happens: `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    What it does, as guards see it
      runs `git status`
      runs `make`

    Guards
      · worktreeFence is not compared: no file is written

    Rules for permissions
      · permissionRequest.deny "Bash(rm *)" in .conclaude.yaml:3 does not match `git
        status && make`, nor a command in it
      · permissionRequest.allow "Bash(git status*)" in .conclaude.yaml:2 does not
        allow it alone: it does not match `make`
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for another tool than
        Bash
      ? the user is asked: no rule allows `make`

    Commands, in this order
      none runs

    Answer
      asked (exit 0)
    "#);
}

#[test]
fn a_prompt_shows_the_context_that_is_added_and_what_is_not() {
    let config = "userPromptSubmit:\n  contextRules:\n    - {pattern: deploy, prompt: Read docs/deploy.md first.}\n    - {pattern: release, prompt: x}\n  slashCommands: {commands: {ship: [{run: ./ship}]}}\n";
    let test = Test::stop().config(config);
    assert_snapshot!(explained(&test, &["UserPromptSubmit", "--input", r#"{"prompt": "deploy it"}"#]), @r#"
    exit 0
    ----- stdout
    UserPromptSubmit on the main thread
    ⚠ UserPromptSubmit is not registered with Claude Code here, so none of this
      happens: `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    Commands, in this order
      none runs
      • context is added: userPromptSubmit.contextRules "deploy" in
        .conclaude.yaml:3 matches
      · the context for "release"
         userPromptSubmit.contextRules "release" in .conclaude.yaml:4 does not match
         the prompt "deploy it"
      · ./ship
         userPromptSubmit.slashCommands.commands "ship" in .conclaude.yaml:5 does
         not match: it is for slash commands of that name

    Answer
      allowed (exit 0)
        Read docs/deploy.md first.
    "#);
    let shown = flat(&explained(&test, &["UserPromptSubmit", "--input", r#"{"prompt": "/ship it"}"#]));
    assert!(
        shown.contains(
            "1. ./ship userPromptSubmit.slashCommands.commands \"ship\" in .conclaude.yaml:5 matches ship"
        ),
        "{shown}"
    );
}

#[test]
fn a_broken_config_is_explained_at_the_start_of_a_session_too() {
    let test = Test::stop().config("maxBlocks: 99\n");
    let shown = flat(&explained(&test, &["SessionStart"]));
    assert!(shown.contains("failed (exit 1)") && shown.contains("as far as they can be read"), "{shown}");
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
    for event in conclaude::event::names() {
        let tool: &[&str] =
            if event.contains("Tool") || event.contains("Permission") { &["--tool", "Bash"] } else { &[] };
        let (code, out, err) = run_in(&test.root(), &[&["explain", event], tool].concat());
        assert_eq!((code, err.as_str()), (Some(0), ""), "{event}");
        assert!(out.starts_with(event), "{event}: {out}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_write() {
    let test = project().file("unnamed.json", "{\"hook_event_name\":5}");
    let test = test.file("write.json", "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\"}");
    let refused = |arguments: &[&str]| {
        let (code, out, err) = run_in(&test.root(), &[&["explain"], arguments].concat());
        assert_eq!((code, out.as_str()), (Some(1), ""), "{arguments:?}");
        err
    };
    let all = [
        refused(&["PreToolUs", "--file", "x"]),
        refused(&["Zzz zzz"]),
        refused(&["Nope"]),
        refused(&["Stop", "--payload", "write.json"]),
        refused(&["--payload", "write.json", "--permission-mode", "plan"]),
        refused(&[]),
        refused(&["PreToolUse"]),
        refused(&["Stop", "--agent", "coder"]),
        refused(&["Stop", "--command", "ls"]),
        refused(&["SessionStart", "--file", "x"]),
        refused(&["PreToolUse", "--tool", "WebFetch", "--file", "x"]),
        refused(&["PreToolUse", "--tool", "Write", "--command", "ls"]),
        refused(&["PreToolUse", "--input", "[1]"]),
        refused(&["PreToolUse", "--input", "{"]),
        refused(&["PreToolUse", "--input", "{}"]),
        refused(&["--payload", "missing.json"]),
        refused(&["--payload", "unnamed.json"]),
        refused(&["--payload", "src/main.rs"]),
    ];
    assert_snapshot!(all.concat(), @"
    conclaude: unknown event `PreToolUs`; did you mean `PreToolUse`?
    conclaude: unknown event `Zzz zzz`; `conclaude events` lists them
    conclaude: unknown event `Nope`: this version does not know it, and the config has no section `nope`; `conclaude events` lists them
    conclaude: Stop was named, but the `hook_event_name` of the payload is PreToolUse: leave the event out, or take a payload of Stop
    error: the argument '--payload <FILE>' cannot be used with '--permission-mode <MODE>'

    Usage: conclaude explain --payload <FILE> [EVENT]

    For more information, try '--help'.
    conclaude: name an event, such as `conclaude explain PreToolUse --file .env`
    conclaude: PreToolUse needs a tool: add --command CMD, --file PATH or --tool NAME
    conclaude: Stop comes from the main thread: --agent has no meaning there; SubagentStop is the stop of an agent
    conclaude: Stop has no tool: --tool and --command have no meaning there; PreToolUse and PostToolUse have one
    conclaude: SessionStart is not about a file: --file has no meaning there
    conclaude: WebFetch has no file: use --command, or --input
    conclaude: --command is the command of Bash, Monitor or PowerShell, and the tool is Write: use --input
    conclaude: --input is JSON, but not an object: {…} is expected
    conclaude: --input is not JSON: EOF while parsing an object at line 1 column 1
    conclaude: --input needs --tool NAME
    conclaude: missing.json: No such file or directory (os error 2)
    conclaude: the payload has no `hook_event_name` that is a text: name the event
    conclaude: the payload src/main.rs is not JSON: EOF while parsing a value at line 1 column 0
    ");
}

#[test]
fn an_event_that_only_the_config_knows_is_explained() {
    let test = Test::event("Stop").config("nope: {commands: [{run: make nope}]}");
    assert_snapshot!(explained(&test, &["Nope"]), @r#"
    exit 0
    ----- stdout
    Nope on the main thread
    ⚠ Nope is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml

    Commands, in this order
      1. make nope
         nope.commands "*" in .conclaude.yaml:1
         in ., by /bin/sh; a failure warns; no timeout

    Their environment
      CONCLAUDE_CONFIG_DIR=[ROOT]
      CONCLAUDE_SESSION_ID=explain
      CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/.claude/explain.jsonl
      CONCLAUDE_CWD=[ROOT]
      CONCLAUDE_HOOK_EVENT=Nope

    Answer
      if it succeeds: allowed (exit 0)
      if `make nope` fails: allowed (exit 0)
        shown at the next event that Claude Code shows:
        conclaude: ⚠ `make nope` exited with code 1
    "#);
}

#[test]
fn where_nobody_can_be_asked_what_would_be_asked_is_denied() {
    let config =
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git push*', action: ask}]}";
    let test = Test::event("Stop").config(config);
    let decision = |mode: &[&str]| {
        let arguments = ["explain", "PreToolUse", "--command", "git push", "--json"];
        let (_, out, _) = run_in(&test.root(), &[&arguments, mode].concat());
        let explained: Value = serde_json::from_str(&out).unwrap();
        explained["answers"][0]["decision"].as_str().unwrap().to_owned()
    };
    assert_snapshot!(decision(&[]), @"asked");
    assert_snapshot!(decision(&["--permission-mode", "dontAsk"]), @"denied");
}

#[test]
fn an_unknown_tool_or_agent_gets_a_suggestion() {
    let shown = explained(&project(), &["PreToolUse", "--tool", "Wriet", "--agent", "codr"]);
    assert!(shown.contains("⚠ no tool Wriet is known; did you mean Write?"), "{shown}");
    assert!(shown.contains("⚠ no agent codr is known here; did you mean coder?"), "{shown}");
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

/// What the hook answers, in a word.
fn answered(test: Test) -> (String, Test) {
    let answer = test.run();
    let json: Value =
        if answer.stdout.is_empty() { Value::Null } else { serde_json::from_str(&answer.stdout).unwrap() };
    let word = match json["hookSpecificOutput"]["permissionDecision"].as_str() {
        Some("deny") => "denied",
        Some("ask") => "asked",
        _ => "allowed",
    };
    (word.to_owned(), answer.again())
}

#[test]
fn explain_decides_as_the_hook_does() {
    let config = "audit: {enabled: false}\npreToolUse:\n  uneditableFiles: ['*.lock', '.env*', 'src/gen/', '!src/gen/keep.md']\n  unreadableFiles: ['.env*', 'secrets/']\n  toolUsageValidation:\n    - {tool: Bash, commandPattern: 'git push --force*', action: block}\n    - {tool: Bash, commandPattern: 'npm publish', matchMode: prefix, action: block}\n    - {tool: Bash, commandPattern: 'terraform apply', matchMode: prefix, action: ask}\n";
    let mut test = Test::event("PreToolUse").without("agent_id").without("agent_type").config(config);
    for file in [
        ".env",
        "Cargo.lock",
        "src/gen/api.rs",
        "src/gen/keep.md",
        "secrets/key.pem",
        "build/nested/Cargo.lock",
    ] {
        test = test.file(file, "x");
    }
    let table = include_str!("../fixtures/guards/bash.txt");
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut compared = std::collections::BTreeSet::new();
    // Every line in CI.
    for line in lines.step_by(cases(12, 1) as usize) {
        let command = line.split_once('\t').unwrap().1.replace('⏎', "\n");
        let (word, again) =
            answered(test.payload("tool_name", "Bash").payload("tool_input", json!({ "command": command })));
        test = again;
        let (_, out, err) = run_in(&test.root(), &["explain", "PreToolUse", "--json", "--command", &command]);
        let json: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{command}: {error} {err}"));
        assert_eq!(json["answers"][0]["decision"], word, "{command}");
        compared.insert(word);
    }
    assert_eq!(compared.len(), 3, "denied, asked and allowed");
}

#[test]
fn an_event_happens_in_the_folder_that_is_named() {
    let test = Test::stop()
        .config("preToolUse: {uneditableFiles: ['/part/*.lock']}")
        .file("part/a.lock", "")
        .file("text", "");
    let denied = |arguments: &[&str]| {
        let shown = explained(&test, arguments);
        shown.contains("uneditableFiles \"/part/*.lock\" in .conclaude.yaml:1 covers part/a.lock")
    };
    let event = ["PreToolUse", "--file", "a.lock"];
    assert!(!denied(&event));
    assert!(denied(&[&event[..], &["--cwd", "part"]].concat()));
    let test = test.file("payload.json", json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/nowhere", "tool_name": "Write", "tool_input": {"file_path": "a.lock"}}).to_string());
    let shown = explained(&test, &["--payload", "payload.json", "--cwd", "part"]);
    assert!(shown.contains("covers part/a.lock") && !shown.contains("/nowhere"), "{shown}");
    let errors = [&["--cwd", "none"], &["--cwd", "text"]]
        .map(|wrong: &[&str; 2]| run_in(&test.root(), &[&["explain"], &event[..], &wrong[..]].concat()).2);
    assert_snapshot!(errors.concat(), @"
    conclaude: --cwd none: No such file or directory (os error 2)
    conclaude: --cwd text is no folder
    ");
}

#[test]
fn each_rule_for_permissions_that_does_not_match_says_why() {
    let config = "permissionRequest:
  allow: ['Bash(git *)', 'Edit(src/**)', 'WebFetch(domain:docs.rs)', {pattern: Read, agent: tester}, 'Agent(coder)']
  deny: ['Bash(rm *)', 'Read(.env*)', Write]
";
    let test = Test::stop().config(config);
    let rules = |arguments: &[&str]| {
        let shown = explained(&test, &[&["PermissionRequest"], arguments].concat());
        let from = shown.find("Rules for permissions").unwrap();
        shown[from..shown.find("\nCommands, in").unwrap()].to_owned()
    };
    let all = [
        rules(&["--command", "git status && make > out"]),
        rules(&["--tool", "Edit", "--file", "docs/a.md"]),
        rules(&["--tool", "WebFetch", "--input", r#"{"url": "https://example.com/a"}"#]),
        rules(&["--tool", "Agent", "--input", r#"{"subagent_type": "reviewer"}"#]),
    ];
    assert_snapshot!(all.join("\n"), @r#"
    Rules for permissions
      · permissionRequest.deny "Bash(rm *)" in .conclaude.yaml:3 does not match `git
        status && make > out`, nor a command in it
      · permissionRequest.deny "Read(.env*)" in .conclaude.yaml:3 does not match: no
        file is known to be read
      · permissionRequest.deny "Write" in .conclaude.yaml:3 is for another tool than
        Bash
      · permissionRequest.allow "Bash(git *)" in .conclaude.yaml:2 does not allow it
        alone: `make` writes to a file by a redirection
      · permissionRequest.allow "Edit(src/**)" in .conclaude.yaml:2 is for tools of
        files, and not for what Bash does to them
      · permissionRequest.allow "WebFetch(domain:docs.rs)" in .conclaude.yaml:2 is
        for another tool than Bash
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for other agents than
        main
      · permissionRequest.allow "Agent(coder)" in .conclaude.yaml:2 is for another
        tool than Bash
      ? the user is asked: `make` writes to a file by a redirection

    Rules for permissions
      · permissionRequest.deny "Bash(rm *)" in .conclaude.yaml:3 is for another tool
        than Edit
      · permissionRequest.deny "Read(.env*)" in .conclaude.yaml:3 is for another
        tool than Edit
      · permissionRequest.deny "Write" in .conclaude.yaml:3 is for another tool than
        Edit
      · permissionRequest.allow "Bash(git *)" in .conclaude.yaml:2 is for another
        tool than Edit
      · permissionRequest.allow "Edit(src/**)" in .conclaude.yaml:2 does not cover
        docs/a.md
      · permissionRequest.allow "WebFetch(domain:docs.rs)" in .conclaude.yaml:2 is
        for another tool than Edit
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for other agents than
        main
      · permissionRequest.allow "Agent(coder)" in .conclaude.yaml:2 is for another
        tool than Edit
      ? the user is asked: no rule matches

    Rules for permissions
      · permissionRequest.deny "Bash(rm *)" in .conclaude.yaml:3 is for another tool
        than WebFetch
      · permissionRequest.deny "Read(.env*)" in .conclaude.yaml:3 is for another
        tool than WebFetch
      · permissionRequest.deny "Write" in .conclaude.yaml:3 is for another tool than
        WebFetch
      · permissionRequest.allow "Bash(git *)" in .conclaude.yaml:2 is for another
        tool than WebFetch
      · permissionRequest.allow "Edit(src/**)" in .conclaude.yaml:2 is for another
        tool than WebFetch
      · permissionRequest.allow "WebFetch(domain:docs.rs)" in .conclaude.yaml:2 does
        not match example.com
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for other agents than
        main
      · permissionRequest.allow "Agent(coder)" in .conclaude.yaml:2 is for another
        tool than WebFetch
      ? the user is asked: no rule matches

    Rules for permissions
      · permissionRequest.deny "Bash(rm *)" in .conclaude.yaml:3 is for another tool
        than Agent
      · permissionRequest.deny "Read(.env*)" in .conclaude.yaml:3 is for another
        tool than Agent
      · permissionRequest.deny "Write" in .conclaude.yaml:3 is for another tool than
        Agent
      · permissionRequest.allow "Bash(git *)" in .conclaude.yaml:2 is for another
        tool than Agent
      · permissionRequest.allow "Edit(src/**)" in .conclaude.yaml:2 is for another
        tool than Agent
      · permissionRequest.allow "WebFetch(domain:docs.rs)" in .conclaude.yaml:2 is
        for another tool than Agent
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for other agents than
        main
      · permissionRequest.allow "Agent(coder)" in .conclaude.yaml:2 does not match
        its `subagent_type`, "reviewer"
      ? the user is asked: no rule matches
    "#);
}

#[test]
fn a_context_rule_that_does_not_match_says_why() {
    let config = "userPromptSubmit:
  contextRules:
    - {pattern: Deploy, prompt: x}
    - {pattern: release, prompt: x}
    - {pattern: deploy, prompt: x, enabled: false}
";
    let test = Test::stop().config(config);
    let shown = explained(&test, &["UserPromptSubmit", "--input", r#"{"prompt": "deploy it"}"#]);
    let from = shown.find("Commands, in").unwrap();
    assert_snapshot!(&shown[from..], @r#"
    Commands, in this order
      none runs
      · the context for "Deploy"
         userPromptSubmit.contextRules "Deploy" in .conclaude.yaml:3 does not match
         the prompt "deploy it"; with `caseInsensitive: true` it would
      · the context for "release"
         userPromptSubmit.contextRules "release" in .conclaude.yaml:4 does not match
         the prompt "deploy it"
      · the context for "deploy"
         userPromptSubmit.contextRules "deploy" in .conclaude.yaml:5 is switched off
         by `enabled: false`

    Answer
      allowed (exit 0)
    "#);
}
