//! Configs that are untrusted, broken, in layers, from packs, or ahead of this version.

use super::*;

#[test]
fn an_untrusted_config_shows_what_would_not_run() {
    let test = project();
    let (code, _, _) = run_in(&test.root(), &["install", "--user"]);
    assert_eq!(code, Some(0));
    assert_snapshot!(explained(&test, &["SubagentStop", "--agent", "coder", "--file", "src/main.rs"]), @r#"
    exit 0
    ----- stdout
    SubagentStop of the agent coder → allowed
      ⚠ none of it runs: [ROOT]/.conclaude.yaml is not trusted

    Config
      project  .conclaude.yaml
               ⚠ none of it runs: [ROOT]/.conclaude.yaml is not
                 trusted

    Gates
      none applies: no prompt with DES markers is known for this agent (a real
      payload, with --payload, names its transcript)

    Commands, in this order
      none runs
      ⚠ npm run lint is not trusted
         subagentStop.commands "*" in .conclaude.yaml:17
      · npm test
         subagentStop.commands "test*" in .conclaude.yaml:19 does not match coder
      · npm run e2e
         subagentStop.commands "test*" in .conclaude.yaml:20 does not match coder

    Answer
      allowed (exit 0)
        conclaude: SubagentStop of coder (a0000000000000000)
        ⚠ `npm run lint` did not run: [ROOT]/.conclaude.yaml is
        not trusted. Look at the file, then run `conclaude trust` in the project
    "#);
}

#[test]
fn rules_for_permissions_that_are_off_for_want_of_trust_are_listed() {
    let test = Test::stop().config("permissionRequest: {allow: ['Bash(ls *)'], deny: ['Bash(rm *)']}\n");
    assert_eq!(run_in(&test.root(), &["install", "--user"]).0, Some(0));
    let shown = explained(&test, &["PermissionRequest", "--command", "ls src"]);
    let rules = shown.split("Rules for permissions\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_snapshot!(rules, @r#"
    · permissionRequest.deny "Bash(rm *)" in .conclaude.yaml:1 does not match `ls
      src`, nor a command in it
    · permissionRequest.allow "Bash(ls *)" in .conclaude.yaml:1 is off: its file
      is not trusted
    ? the user is asked: no rule allows `ls src`
    "#);
}

#[test]
fn a_broken_config_is_explained_with_its_lines() {
    let test = Test::stop().config("maxBlocks: 99\nsubagentStop: {commands: {'*': [{run: 'true'}]}}\n");
    assert_snapshot!(explained(&test, &["SubagentStop", "--agent", "Plan"]), @"
    exit 0
    ----- stdout
    SubagentStop of the agent Plan → failed
      ✗ invalid config [ROOT]/.conclaude.yaml: 1 problem;
        `conclaude validate` shows every problem
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
    assert_snapshot!(explained(&test, &["PreToolUse", "--file", "Cargo.lock"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Write on the main thread → denied
      file_path: Cargo.lock
      ✗ uneditableFiles "*.lock" in .conclaude.yaml:4 covers Cargo.lock
          Do it another way, or ask the user.
      ○ uneditableFiles "!*.lock" in .conclaude.local.yaml:1 matches Cargo.lock, but
        cannot override `*.lock` of an outer layer
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml
      local    .conclaude.local.yaml

    What it does, as guards see it
      writes Cargo.lock

    Guards
      ✗ uneditableFiles "*.lock" in .conclaude.yaml:4 covers Cargo.lock
      · uneditableFiles "src/gen/" in .conclaude.yaml:5 does not apply to main
      · uneditableFiles "!src/gen/keep.md" in .conclaude.yaml:6 does not cover
        Cargo.lock
      ○ uneditableFiles "!*.lock" in .conclaude.local.yaml:1 matches Cargo.lock, but
        cannot override `*.lock` of an outer layer
      · unreadableFiles ".env*" in .conclaude.yaml:7 is not compared: nothing is
        read
      · preventRootAdditions in .conclaude.yaml:8 does not apply to Cargo.lock: it
        exists
      · each of 2 toolUsageValidation in .conclaude.yaml:10-11 does not apply to
        Write
          "Bash git push --force*", "Bash git *"
      · worktreeFence is for agents in a worktree of their own

    Gates
      none applies: on the main thread only calls of agents have one

    Commands, in this order
      none runs
      · ./audit-shell
         preToolUse.commands "Bash" in .conclaude.yaml:13 does not match Write

    Answer
      denied (exit 2)
        Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`. Do it
        another way, or ask the user. (.conclaude.yaml:4)
    "#);
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
fn a_broken_config_is_explained_at_the_start_of_a_session_too() {
    let test = Test::stop().config("maxBlocks: 99\n");
    assert_snapshot!(explained(&test, &["SessionStart"]), @"
    exit 0
    ----- stdout
    SessionStart on the main thread → failed
      ✗ invalid config [ROOT]/.conclaude.yaml: 1 problem;
        `conclaude validate` shows every problem
      • reports installation problems (not checked by `explain`)
    ⚠ SessionStart is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  .conclaude.yaml
      ✗ invalid config [ROOT]/.conclaude.yaml: 1 problem;
        `conclaude validate` shows every problem; its guards and permissions count
        as far as they can be read
        .conclaude.yaml:1: invalid value for `maxBlocks`: the number 99

    Commands, in this order
      none runs
      • reports installation problems (not checked by `explain`)

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
fn an_event_that_only_the_config_knows_is_explained() {
    let test = Test::event("Stop").config("nope: {commands: [{run: make nope}]}");
    assert_snapshot!(explained(&test, &["Nope"]), @r#"
    exit 0
    ----- stdout
    Nope on the main thread → allowed if it succeeds
      ▸ runs `make nope`: a failure warns (nope.commands "*" in .conclaude.yaml:1)
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
      CONCLAUDE_CLIENT=claude
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

/// A rule of the local file alone was listed as matching and, by another name, as not matching.
#[test]
fn a_rule_of_the_local_file_alone_is_listed_once() {
    let local = "userPromptSubmit: {contextRules: [{pattern: deploy, prompt: be careful}]}\n";
    let test = Test::event("Stop").file(".conclaude.local.yaml", local);
    assert_snapshot!(explained(&test, &["UserPromptSubmit", "--input", r#"{"prompt": "deploy it"}"#]), @r#"
    exit 0
    ----- stdout
    UserPromptSubmit on the main thread → allowed
      • context is added: userPromptSubmit.contextRules "deploy" in
        .conclaude.local.yaml:1 matches
    ⚠ UserPromptSubmit is not registered with Claude Code here, so none of this
      happens: `conclaude install` registers what the config needs

    Config
      local    .conclaude.local.yaml

    Commands, in this order
      none runs
      • context is added: userPromptSubmit.contextRules "deploy" in
        .conclaude.local.yaml:1 matches

    Answer
      allowed (exit 0)
        be careful
    "#);
}
