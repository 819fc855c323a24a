//! Why a rule matches, or does not.

use super::*;

#[test]
fn rules_that_do_not_match_take_few_lines() {
    let test = Test::stop().config("extends: ['pack:secrets', 'pack:lockfiles']\n");
    assert_snapshot!(explained(&test, &["PreToolUse", "--command", "cat notes.txt .env"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Bash on the main thread → denied
      command: cat notes.txt .env
      ✗ unreadableFiles ".env" in pack:secrets env covers .env
          This file holds secrets. Read .env.example for the names, and ask the user
          for values.
          off with `packs: {secrets: {env: allow}}`
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs

    Config
      project  pack:secrets
      project  pack:lockfiles
      project  .conclaude.yaml

    What it does, as guards see it
      runs `cat notes.txt .env`
        reads notes.txt (which does not exist)
        reads .env (which does not exist)

    Guards
      · each of 16 uneditableFiles in pack:secrets is not compared: nothing is
        written or deleted
          edit-env, edit-env-variants, "!.env.example", "!.env.sample",
          "!.env.template", "!.env.dist", edit-pem, edit-ssh, edit-gnupg, edit-aws,
          edit-kube, edit-netrc, edit-git-credentials, "!node_modules/", "!.venv/",
          "!site-packages/"
      · each of 29 uneditableFiles in pack:lockfiles is not compared: nothing is
        written or deleted
          package-lock, npm-shrinkwrap, yarn-lock, pnpm-lock, bun-lock, bun-lockb,
          deno-lock, cargo-lock, uv-lock, poetry-lock, pdm-lock, pipfile-lock,
          go-sum, go-work-sum, gemfile-lock, composer-lock, mix-lock, pubspec-lock,
          podfile-lock, package-resolved, gradle-lockfile, nuget-lock, flake-lock,
          terraform-lock, chart-lock, "!node_modules/", "!vendor/", "!.venv/",
          "!target/"
      ✗ unreadableFiles ".env" in pack:secrets env
          does not cover notes.txt
          covers .env
      · each of 57 unreadableFiles in pack:secrets does not cover notes.txt, .env
          env-variants, "!.env.example", "!.env.sample", "!.env.template",
          "!.env.dist", named-env, "!{example,sample,template}.env", secrets-files,
          tfvars, pem, key-files, keystores, ssh-key-files, netrc, pgpass,
          git-credentials, htpasswd, agent-tokens, other-users,
          "!//{home/*,Users/*,root}/.ssh/{known_hosts,*.pub}", ssh,
          "!~/.ssh/known_hosts", "!~/.ssh/*.pub", gnupg, aws, azure, gcloud,
          cli-tokens, kube, docker, npmrc, pypirc, registry-tokens, container-auth,
          keychains, system-passwords, histories, cargo, credentials-json,
          service-accounts, tfstate, kdbx, cloud-tokens, more-registry-tokens,
          database-passwords, service-tokens, sentry-token, secret-keys, wallets,
          fish-history, putty-keys, named-service-accounts, vault-passwords,
          named-tfvars, "!node_modules/", "!.venv/", "!site-packages/"
      · each of 11 toolUsageValidation in pack:secrets does not match cat notes.txt
        .env
          print-secret, send-environment, send-environment-as-argument,
          cloud-metadata, print-forge-token, print-cloud-token,
          print-cluster-secret, print-from-store, decrypt,
          print-settings-with-secrets, print-secret-variable
      · worktreeFence is for agents in a worktree of their own

    Gates
      none applies: on the main thread only calls of agents have one

    Commands, in this order
      none runs

    Answer
      denied (exit 2)
        This file holds secrets. Read .env.example for the names, and ask the user
        for values. (pack:secrets env, about .env)
    "#);
}

#[test]
fn rules_for_permissions_say_which_matches_or_why_the_user_is_asked() {
    let config = "permissionRequest:\n  allow: ['Bash(git status*)', Read]\n  deny: ['Bash(rm *)']\n";
    let test = Test::stop().config(config);
    assert_snapshot!(explained(&test, &["PermissionRequest", "--command", "git status -s"]), @r#"
    exit 0
    ----- stdout
    PermissionRequest: Bash on the main thread → allowed
      command: git status -s
      ✓ permissionRequest.allow "Bash(git status*)" in .conclaude.yaml:2 matches
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
      · permissionRequest.allow "Read" in .conclaude.yaml:2 does not apply to Bash

    Commands, in this order
      none runs

    Answer
      allowed (exit 0)
    "#);
    assert_snapshot!(explained(&test, &["PermissionRequest", "--command", "git status && make"]), @r#"
    exit 0
    ----- stdout
    PermissionRequest: Bash on the main thread → asked
      command: git status && make
      ? the user is asked: no rule allows `make`
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
      · permissionRequest.allow "Read" in .conclaude.yaml:2 does not apply to Bash
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
    UserPromptSubmit on the main thread → allowed
      • context is added: userPromptSubmit.contextRules "deploy" in
        .conclaude.yaml:3 matches
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
    let shown = explained(&test, &["UserPromptSubmit", "--input", r#"{"prompt": "/ship it"}"#]);
    assert_snapshot!(shown.split_once("Commands, in this order\n").unwrap().1, @r#"
      1. ./ship
         userPromptSubmit.slashCommands.commands "ship" in .conclaude.yaml:5 matches
         ship
         in ., by /bin/sh; a failure warns; no timeout
      · the context for "deploy"
         userPromptSubmit.contextRules "deploy" in .conclaude.yaml:3 does not match
         the prompt "/ship it"
      · the context for "release"
         userPromptSubmit.contextRules "release" in .conclaude.yaml:4 does not match
         the prompt "/ship it"

    Their environment
      CONCLAUDE_CONFIG_DIR=[ROOT]
      CONCLAUDE_CLIENT=claude
      CONCLAUDE_COMMAND_NAME=ship
      CONCLAUDE_COMMAND_ARGS=it
      CONCLAUDE_SESSION_ID=explain
      CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/.claude/explain.jsonl
      CONCLAUDE_CWD=[ROOT]
      CONCLAUDE_HOOK_EVENT=UserPromptSubmit
      CONCLAUDE_PERMISSION_MODE=default
      CONCLAUDE_USER_PROMPT=/ship it

    Answer
      if it succeeds: allowed (exit 0)
      if `./ship` fails: allowed (exit 0)
        conclaude: ⚠ `./ship` exited with code 1
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
fn each_rule_for_permissions_that_does_not_match_says_why() {
    let config = "permissionRequest:
  allow: ['Bash(git *)', 'Edit(src/**)', 'WebFetch(domain:docs.rs)', {pattern: Read, agent: tester}, 'Agent(coder)']
  deny: ['Bash(rm *)', 'Read(.env*)', Write]
";
    let test = Test::stop().config(config);
    let rules = |arguments: &[&str]| {
        let shown = explained(&test, &[&["PermissionRequest"], arguments].concat());
        let (_, rules) = shown.split_once("Rules for permissions\n").unwrap();
        let (rules, _) = rules.split_once("\nCommands, in").unwrap();
        // What is for another tool says nothing else.
        let rules = rules.replace("\n    ", " ");
        let is_other = |line: &&str| line.contains(" does not apply to ") && !line.ends_with("to main");
        let own = rules.lines().filter(|line| !is_other(line));
        format!("{}\n{}\n", arguments.join(" "), own.collect::<Vec<_>>().join("\n"))
    };
    let all = [
        rules(&["--command", "git status && make > out"]),
        rules(&["--tool", "Edit", "--file", "docs/a.md"]),
        rules(&["--tool", "WebFetch", "--input", r#"{"url": "https://example.com/a"}"#]),
        rules(&["--tool", "Agent", "--input", r#"{"subagent_type": "reviewer"}"#]),
    ];
    assert_snapshot!(all.join("\n"), @r#"
    --command git status && make > out
      · permissionRequest.deny "Bash(rm *)" in .conclaude.yaml:3 does not match `git status && make > out`, nor a command in it
      · permissionRequest.deny "Read(.env*)" in .conclaude.yaml:3 does not match: no file is known to be read
      · permissionRequest.allow "Bash(git *)" in .conclaude.yaml:2 does not allow it alone: `make` writes to a file by a redirection
      · permissionRequest.allow "Edit(src/**)" in .conclaude.yaml:2 is for tools of files, and not for what Bash does to them
      · permissionRequest.allow "Read" in .conclaude.yaml:2 does not apply to main
      ? the user is asked: `make` writes to a file by a redirection

    --tool Edit --file docs/a.md
      · permissionRequest.allow "Edit(src/**)" in .conclaude.yaml:2 does not cover docs/a.md
      · permissionRequest.allow "Read" in .conclaude.yaml:2 does not apply to main
      ? the user is asked: no rule matches

    --tool WebFetch --input {"url": "https://example.com/a"}
      · permissionRequest.allow "WebFetch(domain:docs.rs)" in .conclaude.yaml:2 does not match example.com
      · permissionRequest.allow "Read" in .conclaude.yaml:2 does not apply to main
      ? the user is asked: no rule matches

    --tool Agent --input {"subagent_type": "reviewer"}
      · permissionRequest.allow "Read" in .conclaude.yaml:2 does not apply to main
      · permissionRequest.allow "Agent(coder)" in .conclaude.yaml:2 does not match its `subagent_type`, "reviewer"
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
