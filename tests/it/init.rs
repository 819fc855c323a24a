//! `conclaude init`: a config to start with, never at the cost of one that exists.

use std::path::Path;

use crate::common::{Test, program, run_in};

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The copy of the settings as they were.
fn backup(root: &Path) -> std::path::PathBuf {
    let folders = std::fs::read_dir(root.join(".state-home/conclaude/backups")).unwrap().flatten();
    let copies = folders.map(|folder| folder.path().join("settings.json.before-conclaude"));
    copies.into_iter().find(|path| path.exists()).unwrap()
}

/// Exit code, stdout and stderr as one text.
fn transcript(root: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = run_in(root, arguments);
    format!("exit {}\n{out}{err}", code.unwrap())
}

#[test]
fn a_new_project_gets_a_config_a_schema_and_the_registration() {
    let test = Test::stop()
        .file("package.json", r#"{"scripts": {"lint": "eslint", "test": "jest"}}"#)
        .file("Cargo.toml", "[package]\n")
        .file(".claude/agents/coder.md", "---\nname: coder\n---\n");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml, based on package.json, Cargo.toml
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: uncomment what you want there, then `conclaude doctor` checks the installation
    ");
    insta::assert_snapshot!(read(root.join(".conclaude.yaml")), @r#"
    # yaml-language-server: $schema=./.conclaude/schema.json
    ##
    ## What conclaude does when subagents start and stop. Nothing runs until you uncomment it.
    ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    ##
    ## Found here: package.json, Cargo.toml; agents that can write: coder.

    ## Commands when a subagent stops, by its name: * ? [a-z] {a,b} work, and "*" is every one.
    ## Agents that only read, such as Explore and Plan, cannot fix anything: a check should not block them.
    # subagentStop:
    #   commands:
    #     "{general-purpose,coder}":
    #       - run: "npm run lint"
    #         message: "Linting failed"
    #         maxOutputLines: 50   # of what it prints, which is shown when it fails
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # the agent must fix it first; `warn` only reports it
    #       - run: "cargo clippy --all-targets -- -D warnings"
    #         message: "Linting failed"
    #         maxOutputLines: 50   # of what it prints, which is shown when it fails
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # the agent must fix it first; `warn` only reports it
    #       - run: "npm run test"
    #         message: "Tests failed"
    #         maxOutputLines: 50   # of what it prints, which is shown when it fails
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # the agent must fix it first; `warn` only reports it
    #       - run: "cargo test"
    #         message: "Tests failed"
    #         maxOutputLines: 50   # of what it prints, which is shown when it fails
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # the agent must fix it first; `warn` only reports it

    ## Commands when a subagent starts. They can show and prepare things, but never block.
    # subagentStart:
    #   commands:
    #     "*":
    #       - run: "git status --short"

    ## Ready-made guards; `conclaude pack list` says what each is for. `conclaude install` then registers what they need.
    # extends: ["pack:secrets", "pack:git-safety", "pack:destructive-commands", "pack:lockfiles"]

    ## The gates for prompts with the marker DES-VALIDATION: required are on without any of this.
    # des:
    #   scope: block          # block | warn | off: files outside of the step's patterns
    #   evidence: []          # phases that only count if `conclaude des run` recorded them

    ## How often the stop of one agent is blocked, for whatever reason, before it is allowed (1-7).
    # maxBlocks: 3

    ## A desktop notification when something failed.
    # notifications:
    #   enabled: true
    #   hooks: ["SubagentStop"]
    #   showErrors: true
    #   showSystemEvents: false
    "#);
    assert_eq!(read(root.join(".conclaude/schema.json")), read("conclaude.schema.json"));
    assert_eq!(run_in(&root, &["validate"]).0, Some(0));
    assert!(root.join(".claude/settings.json").exists());
}

#[test]
fn what_is_registered_does_for_the_suggested_commands_too() {
    let test = Test::event("SessionStart").file("Cargo.toml", "[package]\n");
    let root = test.root();
    run_in(&root, &["init"]);
    let config = read(root.join(".conclaude.yaml"));
    let wanted: String = config
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with("##") && !line.contains("pack:"))
        .map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line)))
        .collect();
    test.config(&wanted).run().silent();
}

#[test]
fn a_config_that_exists_is_left_alone() {
    for name in [".conclaude.yaml", ".conclaude.yml"] {
        let test = Test::stop().file(name, "maxBlocks: 5\n");
        let root = test.root();
        let shown = transcript(&root, &["init"]).replace(name, "[CONFIG]");
        insta::allow_duplicates! { insta::assert_snapshot!(shown, @"
        exit 1
        conclaude: [ROOT]/[CONFIG] exists already, and is left as it is
          `conclaude install` registers conclaude for it
          `conclaude init --import` takes over hooks of your own, and a config of the original conclaude
          `conclaude init --force` starts again, and keeps a copy
        "); }
        assert_eq!(read(root.join(name)), "maxBlocks: 5\n");
        assert!(!root.join(".claude").exists(), "nothing else is done either");
    }
}

#[test]
fn forced_it_keeps_a_copy_of_each_config_that_it_replaces() {
    for name in [".conclaude.yaml", ".conclaude.yml"] {
        let test = Test::stop().file(name, "maxBlocks: 5\n");
        let root = test.root();
        let shown = transcript(&root, &["init", "--force"]).replace(name, "[CONFIG]");
        insta::allow_duplicates! { insta::assert_snapshot!(shown, @"
        exit 0
        the config as it was is kept in [ROOT]/[CONFIG].before-init
        wrote [ROOT]/[CONFIG]
        wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
        warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
        registered conclaude in [ROOT]/.claude/settings.json
        next: uncomment what you want there, then `conclaude doctor` checks the installation
        "); }
        let copy = format!("{name}.before-init");
        assert_eq!(read(root.join(&copy)), "maxBlocks: 5\n");
        let written = read(root.join(name));
        run_in(&root, &["init", "--force"]);
        assert_eq!(read(root.join(&copy)), "maxBlocks: 5\n", "no copy is lost");
        assert_eq!(read(root.join(format!("{copy}-2"))), written);
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let settings = "{\n  \"model\": \"opus\"\n}\n";
    let test = Test::stop().file("go.mod", "module x\n").file(".claude/settings.json", settings);
    let root = test.root();
    let shown = transcript(&root, &["init", "--dry-run"]);
    let install = transcript(&root, &["install", "--dry-run"]);
    let config = shown.strip_suffix(install.strip_prefix("exit 0\n").unwrap());
    insta::assert_snapshot!(config.unwrap_or(&shown), @r#"
    exit 0
    --- [ROOT]/.conclaude.yaml
    +++ [ROOT]/.conclaude.yaml
    @@ -0,0 +1,46 @@
    +# yaml-language-server: $schema=./.conclaude/schema.json
    +##
    +## What conclaude does when subagents start and stop. Nothing runs until you uncomment it.
    +## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    +##
    +## Found here: go.mod; no agents of your own that can write.
    +
    +## Commands when a subagent stops, by its name: * ? [a-z] {a,b} work, and "*" is every one.
    +## Agents that only read, such as Explore and Plan, cannot fix anything: a check should not block them.
    +# subagentStop:
    +#   commands:
    +#     "general-purpose":
    +#       - run: "go vet ./..."
    +#         message: "Linting failed"
    +#         maxOutputLines: 50   # of what it prints, which is shown when it fails
    +#         timeout: 600         # seconds; then it is killed with all its children
    +#         onFailure: block     # the agent must fix it first; `warn` only reports it
    +#       - run: "go test ./..."
    +#         message: "Tests failed"
    +#         maxOutputLines: 50   # of what it prints, which is shown when it fails
    +#         timeout: 600         # seconds; then it is killed with all its children
    +#         onFailure: block     # the agent must fix it first; `warn` only reports it
    +
    +## Commands when a subagent starts. They can show and prepare things, but never block.
    +# subagentStart:
    +#   commands:
    +#     "*":
    +#       - run: "git status --short"
    +
    +## Ready-made guards; `conclaude pack list` says what each is for. `conclaude install` then registers what they need.
    +# extends: ["pack:secrets", "pack:git-safety", "pack:destructive-commands", "pack:lockfiles"]
    +
    +## The gates for prompts with the marker DES-VALIDATION: required are on without any of this.
    +# des:
    +#   scope: block          # block | warn | off: files outside of the step's patterns
    +#   evidence: []          # phases that only count if `conclaude des run` recorded them
    +
    +## How often the stop of one agent is blocked, for whatever reason, before it is allowed (1-7).
    +# maxBlocks: 3
    +
    +## A desktop notification when something failed.
    +# notifications:
    +#   enabled: true
    +#   hooks: ["SubagentStop"]
    +#   showErrors: true
    +#   showSystemEvents: false
    --- [ROOT]/.conclaude.test.yaml
    +++ [ROOT]/.conclaude.test.yaml
    @@ -0,0 +1,15 @@
    +# yaml-language-server: $schema=./.conclaude/test.schema.json
    +# What conclaude should do in this project: `conclaude test` plays these cases, without running anything.
    +cases:
    +  - name: subagents do not change the rules
    +    event: PreToolUse
    +    agent: coder
    +    tool: Write
    +    input: {file_path: .conclaude.yaml}
    +    expect: {denies: "conclaude's own config"}
    +
    +# - name: the coder is linted
    +#   event: SubagentStop
    +#   agent: coder
    +#   results: {"npm run lint": 1}          # not executed: this is how it ends; 0 by default
    +#   expect: {runs: ["npm run lint"], blocks: "Linting failed"}
    "#);
    assert!(!root.join(".conclaude.yaml").exists() && !root.join(".conclaude").exists());
    assert_eq!(read(root.join(".claude/settings.json")), settings);
}

#[test]
fn settings_that_cannot_be_changed_keep_the_config_from_being_written_too() {
    let test = Test::stop().file(".claude/settings.json", "{\"hooks\": []}\n");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init"]), @"
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: `hooks` is not a JSON object
    ");
    assert!(!root.join(".conclaude.yaml").exists());
}

#[test]
fn a_config_further_up_belongs_to_something_larger() {
    let test = Test::stop().config("maxBlocks: 5\n").file("inner/.git/HEAD", "x");
    let inner = test.root().join("inner");
    assert_eq!(run_in(&inner, &["init"]).0, Some(0));
    assert!(inner.join(".conclaude.yaml").exists() && inner.join(".claude/settings.json").exists());
}

/// A project with a lock file, scripts and agents: what `init --yes` is for.
fn npm_project() -> Test {
    let lint = "sh -c 'echo src/a.js: unused >&2; test -e fixed'";
    Test::stop()
        .file("package.json", format!(r#"{{"scripts": {{"lint": "{}"}}}}"#, lint.replace('"', "\\\"")))
        .file("package-lock.json", "{}")
        .file(".claude/agents/coder.md", "---\nname: coder\ntools: Read, Edit\n---\n")
        .file(".claude/agents/reviewer.md", "---\nname: reviewer\ntools: Read, Grep\n---\n")
}

/// A folder with an `npm` that runs the script of package.json.
fn fake_npm(root: &Path) -> String {
    let script =
        "#!/bin/sh\n[ \"$1 $2\" = \"run lint\" ] || exit 9\necho 'src/a.js: unused' >&2\ntest -e fixed\n";
    program::script(root.join("bin/npm"), script);
    format!("{}:/usr/bin:/bin", root.join("bin").display())
}

#[test]
fn yes_writes_rules_that_work_at_once() {
    let test = npm_project();
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--yes"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml, based on package.json
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    let config = read(root.join(".conclaude.yaml"));
    insta::assert_snapshot!(config.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n"), @r#"
    # yaml-language-server: $schema=./.conclaude/schema.json
    ##
    ## What conclaude does when subagents start and stop. What is not commented out runs.
    ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    ##
    ## Found here: package.json; agents that can write: coder.

    ## Commands when a subagent stops, by its name: * ? [a-z] {a,b} work, and "*" is every one.
    ## Agents that only read, such as Explore and Plan, cannot fix anything: a check should not block them.
    subagentStop:
      commands:
        "{general-purpose,coder}":
          - run: "npm run lint"
            message: "Linting failed"
            maxOutputLines: 50   # of what it prints, which is shown when it fails
            timeout: 600         # seconds; then it is killed with all its children
            onFailure: block     # the agent must fix it first; `warn` only reports it
    "#);
    assert_eq!(run_in(&root, &["validate"]).0, Some(0));
    let path = fake_npm(&root);
    let done = test.env("PATH", &path).run().status(2);
    insta::assert_snapshot!(done.steady(&done.stderr), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ Linting failed
      `npm run lint` exited with code 1
      src/a.js: unused
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn agents_that_cannot_fix_anything_are_not_blocked() {
    for agent in ["Explore", "Plan", "reviewer"] {
        let test = npm_project();
        run_in(&test.root(), &["init", "--yes"]);
        let path = fake_npm(&test.root());
        test.agent(agent).env("PATH", &path).run().silent();
    }
}

#[test]
fn each_workspace_is_checked_in_its_own_folder() {
    let test = Test::stop()
        .file("package.json", r#"{"workspaces": ["packages/*"]}"#)
        .file("packages/a/package.json", r#"{"scripts": {"lint": "x"}}"#)
        .file("packages/b/package.json", r#"{"scripts": {"lint": "x"}}"#)
        .file("packages/b/fixed", "");
    let root = test.root();
    run_in(&root, &["init", "--yes"]);
    let path = fake_npm(&root);
    let done = test.agent("general-purpose").env("PATH", &path).run().status(2);
    insta::assert_snapshot!(done.steady(&done.stderr), @"
    conclaude: general-purpose (a1b2c3) may not stop yet (block 1 of 3):
    ✗ Linting failed in packages/a
      `npm run lint` exited with code 1
      src/a.js: unused
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn many_workspaces_share_the_time_that_claude_code_gives() {
    let mut test = Test::stop().file("package.json", r#"{"workspaces": ["packages/*"]}"#);
    for name in ["a", "b", "c", "d", "e"] {
        let scripts = r#"{"scripts": {"lint": "x", "test": "x"}}"#;
        test = test.file(&format!("packages/{name}/package.json"), scripts);
    }
    let root = test.root();
    run_in(&root, &["init", "--yes"]);
    assert_eq!(read(root.join(".conclaude.yaml")).matches("timeout: 360         # seconds").count(), 10);
    insta::assert_snapshot!(transcript(&root, &["validate"]), @"
    exit 0
    valid: [ROOT]/.conclaude.yaml
      subagentStop: 1 pattern, 10 commands
    ");
}

#[test]
fn a_target_that_does_not_exist_is_never_suggested() {
    let test = Test::stop().file("Makefile", "all:\n\tcc x.c\n");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--yes"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: no lint or test command was found, so nothing runs yet: write yours there, then `conclaude doctor` checks the installation
    ");
    let config = read(root.join(".conclaude.yaml"));
    assert!(!config.contains("make "), "{config}");
    insta::assert_snapshot!(config.split("\n\n").nth(1).unwrap(), @r#"
    ## Commands when a subagent stops, by its name: * ? [a-z] {a,b} work, and "*" is every one.
    ## Agents that only read, such as Explore and Plan, cannot fix anything: a check should not block them.
    ## No lint or test command was found here: write yours instead of this one.
    # subagentStop:
    #   commands:
    #     "general-purpose":
    #       - run: "git diff --check"
    #         message: "Conflict markers or white space at the end of a line"
    #         maxOutputLines: 50   # of what it prints, which is shown when it fails
    #         onFailure: block     # the agent must fix it first; `warn` only reports it
    "#);
}

const HOOKS: &str = r#"{
  "model": "opus",
  "hooks": {
    "SubagentStop": [
      {
        "matcher": "coder",
        "hooks": [
          {
            "type": "command",
            "command": "npm run lint",
            "timeout": 60
          }
        ]
      }
    ],
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      }
    ]
  }
}
"#;

#[test]
fn a_hook_that_would_run_the_same_command_twice_is_named() {
    let test = npm_project().file(".claude/settings.json", HOOKS);
    insta::assert_snapshot!(transcript(&test.root(), &["init"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml, based on package.json
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    warning: `npm run lint` is a hook of SubagentStop in [ROOT]/.claude/settings.json as well, and would run twice: remove it there, or `conclaude init --import --project`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    next: uncomment what you want there, then `conclaude doctor` checks the installation
    ");
}

#[test]
fn import_takes_hooks_over_and_out_of_the_settings() {
    let test = npm_project().file(".claude/settings.json", HOOKS);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml, based on package.json
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    took over the hook `npm run lint` of SubagentStop: it is in the config now, and no longer in the settings
      when it fails, that is a warning; add `onFailure: block` there if it should block, as a hook does with exit 2
    took over the hook `say done` of Stop: it is in the config now, and no longer in the settings
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    let config = read(root.join(".conclaude.yaml"));
    insta::assert_snapshot!(config.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n"), @r#"
    # yaml-language-server: $schema=./.conclaude/schema.json
    ##
    ## What conclaude does when subagents start and stop. What was taken over runs; the rest does when you uncomment it.
    ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    ##
    ## Found here: package.json; agents that can write: coder.

    subagentStop:
      commands:
        "coder":
          - run: "npm run lint"
            timeout: 60
    "#);
    let settings = read(root.join(".claude/settings.json"));
    assert!(!settings.contains("npm run lint") && !settings.contains("say done"), "{settings}");
    assert_eq!(read(backup(&root)), HOOKS);
    let again = transcript(&root, &["init", "--import"]);
    insta::assert_snapshot!(again, @"
    exit 0
    [ROOT]/.conclaude.yaml is left as it is
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    [ROOT]/.claude/settings.json has all that is needed already
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    let path = fake_npm(&root);
    insta::assert_snapshot!(test.env("PATH", &path).run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `npm run lint` exited with code 1
      src/a.js: unused
    ");
}

/// What a hook of SubagentStop is, as a settings file.
fn stop_hook(matcher: &str, command: &str) -> String {
    let hook = serde_json::json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
    serde_json::json!({"hooks": {"SubagentStop": [hook]}}).to_string()
}

#[test]
fn import_removes_a_hook_that_the_config_runs_in_another_spelling() {
    let config = "subagentStop:\n  commands:\n    coder: [{run: npm test, onFailure: block}]\n    tester: [{run: npm run test, onFailure: block}]\n";
    let hook = stop_hook("coder|tester", "cd \"$CLAUDE_PROJECT_DIR\" && npm run test || exit 2");
    let test = Test::stop().config(config).file(".claude/settings.json", &hook);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import"]), @r#"
    exit 0
    [ROOT]/.conclaude.yaml is left as it is
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    removed the hook `cd "$CLAUDE_PROJECT_DIR" && npm run test || exit 2` of SubagentStop from the settings: the config runs it already
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    "#);
    assert_eq!(read(root.join(".conclaude.yaml")), config);
    assert!(!read(root.join(".claude/settings.json")).contains("npm"));
    assert_eq!(read(backup(&root)), hook);
}

#[test]
fn a_hook_for_more_agents_than_the_config_is_left_with_what_to_change() {
    let config = "subagentStop:\n  commands:\n    coder: [{run: npm test}]\n";
    let hook = stop_hook("coder|tester", "npm run test");
    let test = Test::stop().config(config).file(".claude/settings.json", hook);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import"]), @r#"
    exit 0
    [ROOT]/.conclaude.yaml is left as it is
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    not taken over: the hook `npm run test` of SubagentStop: `subagentStop` of the config runs it for "coder" only, and the hook for coder and tester: write "{coder,tester}" instead of "coder" there, then `conclaude init --import` removes the hook
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    "#);
    insta::assert_snapshot!(about_hooks(&root), @r#"
    ⚠ hooks        `npm test` runs twice at SubagentStop: by the config, and as a hook of your own in .claude/settings.json
                   → `subagentStop` of the config runs it for "coder" only, and the hook for coder and tester: write "{coder,tester}" instead of "coder" there, then `conclaude init --import` removes the hook
    "#);
    // What it says is enough.
    let test = test.config("subagentStop:\n  commands:\n    \"{coder,tester}\": [{run: npm test}]\n");
    insta::assert_snapshot!(about_hooks(&root), @"
    ⚠ hooks        `npm test` runs twice at SubagentStop: by the config, and as a hook of your own in .claude/settings.json
                   → conclaude init --import --project
    ");
    run_in(&root, &["init", "--import", "--project"]);
    insta::assert_snapshot!(about_hooks(&root), @"nothing");
    let config = "subagentStop:\n  commands:\n    \"*\": [{run: npm test}]\n";
    let test = test.config(config).file(".claude/settings.json", stop_hook("^cod", "npm test; say done"));
    insta::assert_snapshot!(transcript(&test.root(), &["init", "--import"]), @"
    exit 0
    [ROOT]/.conclaude.yaml is left as it is
    not taken over: the hook `npm test; say done` of SubagentStop: its matcher is a regular expression, and patterns here are globs; it stays where it is
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    insta::assert_snapshot!(about_hooks(&root), @"
    ⚠ hooks        `npm test` runs twice at SubagentStop: by the config, and as a hook of your own in .claude/settings.json
                   → ${EDITOR:-vi} [ROOT]/.claude/settings.json  # remove that hook
    ");
}

/// What `doctor` says about hooks of the user's.
fn about_hooks(root: &Path) -> String {
    let shown = run_in(root, &["doctor"]).1;
    let lines: Vec<&str> = shown.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("⚠ hooks"));
    at.map_or_else(|| "nothing".into(), |at| lines[at..at + 2].join("\n"))
}

#[test]
fn an_import_that_is_only_tried_shows_both_files_and_changes_none() {
    let test = npm_project().file(".claude/settings.json", HOOKS);
    let root = test.root();
    let shown = transcript(&root, &["init", "--import", "--dry-run"]);
    for line in
        ["+subagentStop:", "+      - run: \"npm run lint\"", "-            \"command\": \"npm run lint\","]
    {
        assert!(shown.lines().any(|own| own == line), "{line:?} is not in\n{shown}");
    }
    assert_eq!(read(root.join(".claude/settings.json")), HOOKS);
    assert!(!root.join(".conclaude.yaml").exists());
}

#[test]
fn import_takes_a_config_of_the_original_over() {
    let original = "\
stop:
  rounds: 2
  commands:
    - run: npm test
subagentStop:
  commands:
    \"cod*\":
      - run: npm run lint
        showStderr: true
        showCommand: false
preToolUse:
  uneditableFiles: [\"*.lock\"]
notifications:
  enabled: true
  hooks: [\"SubagentStop\"]
";
    let test = npm_project().config(original);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import"]), @"
    exit 0
    the config as it was is kept in [ROOT]/.conclaude.yaml.before-init
    wrote [ROOT]/.conclaude.yaml, based on package.json
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    not taken over: `stop.rounds`: conclaude 0.2 had this key: write `infinite: true`; `maxBlocks` is the number of rounds
    note: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    let config = read(root.join(".conclaude.yaml"));
    insta::assert_snapshot!(config, @r#"
    # yaml-language-server: $schema=./.conclaude/schema.json
    ##
    ## What conclaude does when subagents start and stop. What was taken over runs; the rest does when you uncomment it.
    ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    ##
    ## Found here: package.json; agents that can write: coder.
    ## Not taken over: `stop.rounds`: conclaude 0.2 had this key: write `infinite: true`; `maxBlocks` is the number of rounds

    stop:
      commands: [{"run":"npm test"}]

    subagentStop:
      commands:
        "cod*":
          - run: "npm run lint"
            showStderr: true
            showCommand: false

    preToolUse:
      uneditableFiles: ["*.lock"]

    notifications:
      enabled: true
      hooks: ["SubagentStop"]

    ## Commands when a subagent starts. They can show and prepare things, but never block.
    # subagentStart:
    #   commands:
    #     "*":
    #       - run: "git status --short"

    ## Ready-made guards; `conclaude pack list` says what each is for. `conclaude install` then registers what they need.
    # extends: ["pack:secrets", "pack:git-safety", "pack:destructive-commands", "pack:lockfiles"]

    ## The gates for prompts with the marker DES-VALIDATION: required are on without any of this.
    # des:
    #   scope: block          # block | warn | off: files outside of the step's patterns
    #   evidence: []          # phases that only count if `conclaude des run` recorded them

    ## How often the stop of one agent is blocked, for whatever reason, before it is allowed (1-7).
    # maxBlocks: 3
    "#);
    assert_eq!(read(root.join(".conclaude.yaml.before-init")), original);
    assert_eq!(run_in(&root, &["validate"]).0, Some(0));
    let broken = Test::stop().config("subagentStop: [\n");
    let shown = transcript(&broken.root(), &["init", "--import"]);
    assert!(shown.starts_with("exit 1\nconclaude: invalid config"), "{shown}");
    assert_eq!(read(broken.root().join(".conclaude.yaml")), "subagentStop: [\n");
}

#[test]
fn import_adds_to_a_config_that_exists() {
    let test = Test::stop().config("maxBlocks: 5 # enough\n").file(".claude/settings.local.json", HOOKS);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import", "--local"]), @"
    exit 0
    the config as it was is kept in [ROOT]/.conclaude.yaml.before-init
    wrote [ROOT]/.conclaude.yaml
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    took over the hook `npm run lint` of SubagentStop: it is in the config now, and no longer in the settings
      when it fails, that is a warning; add `onFailure: block` there if it should block, as a hook does with exit 2
    took over the hook `say done` of Stop: it is in the config now, and no longer in the settings
    registered conclaude in [ROOT]/.claude/settings.local.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.local.json.before-conclaude
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    insta::assert_snapshot!(read(root.join(".conclaude.yaml")), @r#"
    maxBlocks: 5 # enough

    subagentStop:
      commands:
        "coder":
          - run: "npm run lint"
            timeout: 60

    stop:
      commands:
        "*":
          - run: "say done"
            onFailure: "warn"
    "#);
    insta::assert_snapshot!(transcript(&root, &["init", "--import", "--user"]), @"
    exit 1
    conclaude: --import takes over hooks of a project, and yours are for all of them: use it without --user, or with --local
    ");
}

#[test]
fn steps_writes_a_slash_command_beside_whatever_config_there_is() {
    let test = Test::stop().config("maxBlocks: 5\n");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--steps"]), @"
    exit 0
    wrote [ROOT]/.claude/commands/step.md: `/step 01` in Claude Code starts the step whose file name starts with 01
    ");
    insta::assert_snapshot!(read(root.join(".claude/commands/step.md")), @"
    ---
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
    ");
    assert_eq!(read(root.join(".conclaude.yaml")), "maxBlocks: 5\n");
    assert!(!root.join(".claude/settings.json").exists());
    insta::assert_snapshot!(transcript(&root, &["init", "--steps"]), @"
    exit 0
    [ROOT]/.claude/commands/step.md is there already
    ");
    let own = Test::stop().file(".claude/commands/step.md", "mine\n");
    insta::assert_snapshot!(transcript(&own.root(), &["init", "--steps"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    warning: [ROOT]/.claude/commands/step.md is another command, and is left as it is; `--force` replaces it, and keeps a copy
    next: uncomment what you want there, then `conclaude doctor` checks the installation
    ");
    assert_eq!(read(own.root().join(".claude/commands/step.md")), "mine\n");
}
