//! Why a rule matches, or does not.

use super::*;

#[test]
fn rules_that_do_not_match_take_few_lines() {
    let test = Test::stop().config("extends: ['pack:secrets', 'pack:git-safety']\n");
    assert_snapshot!(explained(&test, &["PreToolUse", "--command", "cat notes.txt .env"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Bash on the main thread → denied
      command: cat notes.txt .env
      ✗ unreadableFiles ".env" in pack:secrets:5 covers .env
          This file holds secrets. Read .env.example for the names, and ask the user
          for values.
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
      · each of 16 uneditableFiles in pack:secrets:52-67 is not compared: nothing is
        written or deleted
          ".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template",
          "!.env.dist", "*.pem", "~/.ssh/", "~/.gnupg/", "~/.aws/", "~/.kube/",
          "~/.netrc", "~/.git-credentials", "!node_modules/", "!.venv/",
          "!site-packages/"
      · each of 3 uneditableFiles in pack:git-safety:40-44 is not compared: nothing
        is written or deleted
          ".git/", "!.git/index.lock", "!{node_modules,.venv}/"
      ✗ unreadableFiles ".env" in pack:secrets:5
          does not cover notes.txt
          covers .env
      · each of 44 unreadableFiles in pack:secrets:6-50 does not cover notes.txt,
        .env
          ".env.*", "!.env.example", "!.env.sample", "!.env.template", "!.env.dist",
          "?*.env", "!{example,sample,template}.env",
          "{.envrc,.dev.vars,secrets.yaml,secrets.yml,secrets.json,secrets.toml}",
          "{terraform,*.auto}.tfvars", "*.pem", "*.key", "*.{p12,pfx,jks,keystore}",
          "id_{rsa,dsa,ecdsa,ed25519}", ".netrc", ".pgpass", ".git-credentials",
          ".htpasswd", "~/.{vault-token,claude/.credentials.json,codex/auth.json}",
          "~/.ssh/", "!~/.ssh/known_hosts", "!~/.ssh/*.pub", "~/.gnupg/", "~/.aws/",
          "~/.azure/", "~/.config/gcloud/",
          "~/.config/{gh/hosts.yml,glab-cli,containers/auth.json,hub,op,doctl,rclone/rclone.conf,sops}",
          "~/.kube/config", "~/.docker/config.json", "~/.npmrc", ".pypirc",
          "~/.{gem/credentials,local/share/gem/credentials,bundle/config,composer/auth.json,m2/settings.xml,gradle/gradle.properties,terraform.d/credentials.tfrc.json,terraformrc,fly/config.yml,pulumi/credentials.json,config/pulumi/credentials.json}",
          "//run/{user/*/,}containers/*/auth.json",
          "~/{Library/Keychains,.local/share/keyrings,.password-store}",
          "//{etc/{shadow,gshadow,sudoers,master.passwd,krb5.keytab,ssh/ssh_host_*_key}{,-},Library/Keychains}",
          "//{home/*,Users/*,root}/.{ssh,gnupg,aws,azure,kube,docker,netrc,pgpass,git-credentials,npmrc,config/{gh,gcloud,glab-cli}}",
          "!//{home/*,Users/*,root}/.ssh/{known_hosts,*.pub}",
          "~/.cargo/credentials.toml", "credentials.json", "service-account*.json",
          "*.tfstate", "*.kdbx", "!node_modules/", "!.venv/", "!site-packages/"
      · each of 32 toolUsageValidation in pack:git-safety:4-35 does not match cat
        notes.txt .env
          "Bash git push -f,--force", "Bash git push * +*", "Bash git push
          --mirror,--prune", "Bash git push -d,--delete", "Bash git push * :*",
          "Bash git commit -n,--no-verify", "Bash git {push,merge,rebase,am}
          --no-verify", "Bash
          {HUSKY=0,HUSKY_SKIP_HOOKS=*,LEFTHOOK=0,LEFTHOOK=false,SKIP=*} git
          {commit,push,merge,rebase,am}*", "Bash
          {GIT_CONFIG_KEY_*={core.hookspath,alias.*,include*.path,…},GIT_CONFIG_PARAMETERS=*}
          git *", "Bash git -*{core.hookspath,alias.*,include*.path}=*", "Bash
          {GIT_CONFIG_GLOBAL,GIT_CONFIG_SYSTEM,HOME,XDG_CONFIG_HOME}={* git
          {commit,push,merge,rebase,am}*,[!/]* git *,/[!d]* git *,/d[!e]* git *}",
          "Bash git push --force-with-lease,--force-if-includes", "Bash git commit
          --amend", "Bash git reset --hard", "Bash git clean -f,--force", "Bash git
          checkout *-- *", "Bash git checkout {,* }{.,./,:/}", "Bash * git
          checkout", "Bash git {checkout,switch} -f,--force,--discard-changes",
          "Bash git restore -W,--worktree", "Bash git restore -S,--staged", "Bash
          git restore", "Bash git stash {drop,clear}*", "Bash git branch
          -D,-f,--force", "Bash git tag -d,--delete", "Bash git worktree remove
          -f,--force", "Bash git filter-{branch,repo}*", "Bash git reflog
          {expire,delete}*", "Bash git gc --prune", "Bash git prune", "Bash git
          update-ref -d", "Bash git {update-ref,send-pack} *"
      · each of 2 toolUsageValidation in pack:git-safety:36-37 covers no file of cat
        notes.txt .env
          "Bash //etc/gitconfig git config", "Bash ~/.gitconfig git config"
      · toolUsageValidation "Bash git config {,*
        }{core.hookspath,include.path,includeif.*} *" in pack:git-safety:38 does not
        match cat notes.txt .env
      · each of 2 toolUsageValidation in pack:secrets:69-70 does not match cat
        notes.txt .env
          "Bash {,* | }{env,printenv,set,export,export -p,declare -x,declare -px} |
          {,* | }{curl,wget,nc,ncat,netcat,http,https,xh,telnet,ssh,mail} *", "Bash
          {curl,wget,http,https,xh,nc} *$({env,printenv,set,export -p}*"
      · worktreeFence is for agents in a worktree of their own

    Gates
      none applies: on the main thread only calls of agents have one

    Commands, in this order
      none runs

    Answer
      denied (exit 2)
        This file holds secrets. Read .env.example for the names, and ask the user
        for values. (pack:secrets:5, about .env)
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
        let own = rules.lines().filter(|line| !line.contains(" is for another tool than "));
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
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for other agents than main
      ? the user is asked: `make` writes to a file by a redirection

    --tool Edit --file docs/a.md
      · permissionRequest.allow "Edit(src/**)" in .conclaude.yaml:2 does not cover docs/a.md
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for other agents than main
      ? the user is asked: no rule matches

    --tool WebFetch --input {"url": "https://example.com/a"}
      · permissionRequest.allow "WebFetch(domain:docs.rs)" in .conclaude.yaml:2 does not match example.com
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for other agents than main
      ? the user is asked: no rule matches

    --tool Agent --input {"subagent_type": "reviewer"}
      · permissionRequest.allow "Read" in .conclaude.yaml:2 is for other agents than main
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
