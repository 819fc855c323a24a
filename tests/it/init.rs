//! `conclaude init`: a config to start with, never at the cost of one that exists.

mod import;
mod questions;
mod repositories;
mod suggestions;

use std::path::Path;

use crate::common::{Test, program, run_in};

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The copy of the settings as they were.
fn backup(root: &Path) -> std::path::PathBuf {
    let folders = std::fs::read_dir(root.join(".state-home/conclaude/backups")).unwrap().flatten();
    let copies = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
    let is_copy =
        |path: &std::path::PathBuf| path.to_string_lossy().contains("settings.json.before-conclaude.");
    copies.map(|entry| entry.path()).find(is_copy).unwrap()
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
    ## What conclaude does in this project. Nothing runs until you uncomment it.
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
    #         onFailure: block     # it must be fixed first; `warn` only reports it
    #       - run: "cargo clippy --all-targets -- -D warnings"
    #         message: "Linting failed"
    #         maxOutputLines: 50
    #         timeout: 600
    #         onFailure: block
    #       - run: "npm run test"
    #         message: "Tests failed"
    #         maxOutputLines: 50
    #         timeout: 600
    #         onFailure: block
    #       - run: "cargo test"
    #         message: "Tests failed"
    #         maxOutputLines: 50
    #         timeout: 600
    #         onFailure: block

    ## Commands when Claude itself stops, at the end of each answer to you.
    # stop:
    #   commands:
    #     - run: "npm run lint"
    #       message: "Linting failed"
    #       maxOutputLines: 50   # of what it prints, which is shown when it fails
    #       timeout: 600         # seconds; then it is killed with all its children
    #       onFailure: block     # it must be fixed first; `warn` only reports it

    ## Commands after a tool, here after each edit of such files. What they say goes to Claude at once, so they should be fast.
    ## `conclaude install` then registers the event.
    # postToolUse:
    #   commands:
    #     "{Write,Edit}":
    #       - run: "cargo fmt --check"
    #         files: ["*.rs"]
    #         onFailure: block

    ## Commands when a subagent starts. They can show and prepare things, but never block.
    # subagentStart:
    #   commands:
    #     "*":
    #       - run: "git status --short"

    ## Ready-made guards; `conclaude pack list` says what each is for. `conclaude install` then registers what they need.
    # extends: ["pack:secrets", "pack:git-safety", "pack:destructive-commands", "pack:lockfiles", "pack:cloud", "pack:containers", "pack:databases"]

    ## Who else keeps rules for files: the operating system, for commands, and Claude Code, for its file tools.
    ## `conclaude install` then registers what it needs, and `conclaude install --enforce` writes the rules into Claude Code's settings.
    # enforce: [sandbox, permissions]

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
    // Packs and commands after a tool need `conclaude install`, as the file says.
    let sections =
        config.split("\n\n").filter(|section| !section.contains("`conclaude install` then registers"));
    let wanted: String = sections
        .flat_map(str::lines)
        .skip(1)
        .filter(|line| !line.starts_with("##"))
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
        conclaude: [ROOT]/[CONFIG] already exists, and is left unchanged
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
        the old config is kept in [ROOT]/[CONFIG].before-init
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
    @@ -0,0 +1,68 @@
    +# yaml-language-server: $schema=./.conclaude/schema.json
    +##
    +## What conclaude does in this project. Nothing runs until you uncomment it.
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
    +#         onFailure: block     # it must be fixed first; `warn` only reports it
    +#       - run: "go test ./..."
    +#         message: "Tests failed"
    +#         maxOutputLines: 50
    +#         timeout: 600
    +#         onFailure: block
    +
    +## Commands when Claude itself stops, at the end of each answer to you.
    +# stop:
    +#   commands:
    +#     - run: "go vet ./..."
    +#       message: "Linting failed"
    +#       maxOutputLines: 50   # of what it prints, which is shown when it fails
    +#       timeout: 600         # seconds; then it is killed with all its children
    +#       onFailure: block     # it must be fixed first; `warn` only reports it
    +
    +## Commands after a tool, here after each edit of such files. What they say goes to Claude at once, so they should be fast.
    +## `conclaude install` then registers the event.
    +# postToolUse:
    +#   commands:
    +#     "{Write,Edit}":
    +#       - run: "test -z \"$(gofmt -l {files})\""
    +#         files: ["*.go"]
    +#         onFailure: block
    +
    +## Commands when a subagent starts. They can show and prepare things, but never block.
    +# subagentStart:
    +#   commands:
    +#     "*":
    +#       - run: "git status --short"
    +
    +## Ready-made guards; `conclaude pack list` says what each is for. `conclaude install` then registers what they need.
    +# extends: ["pack:secrets", "pack:git-safety", "pack:destructive-commands", "pack:lockfiles", "pack:cloud", "pack:containers", "pack:databases"]
    +
    +## Who else keeps rules for files: the operating system, for commands, and Claude Code, for its file tools.
    +## `conclaude install` then registers what it needs, and `conclaude install --enforce` writes the rules into Claude Code's settings.
    +# enforce: [sandbox, permissions]
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
    +# - name: general-purpose is checked
    +#   event: SubagentStop
    +#   agent: general-purpose
    +#   results: {"go vet ./...": 1}   # not executed: this is its exit code; 0 by default
    +#   expect: {blocks: "Linting failed"}
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
    conclaude: [ROOT]/.claude/settings.json is left unchanged: `hooks` is not a JSON object
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
    warning: [ROOT]/.claude/commands/step.md is another command, and is left unchanged; `--force` replaces it, and keeps a copy
    next: uncomment what you want there, then `conclaude doctor` checks the installation
    ");
    assert_eq!(read(own.root().join(".claude/commands/step.md")), "mine\n");
}

/// The packs that a config extends.
fn extends(root: &Path) -> String {
    let text = read(root.join(".conclaude.yaml"));
    text.lines().filter(|line| line.starts_with("extends:")).collect::<Vec<_>>().join("\n")
}

#[test]
fn packs_that_are_named_are_switched_on() {
    let cargo = "[package]\nname = \"a\"\n";
    for (arguments, expected) in [
        (&["init", "--pack", "lockfiles"][..], r#"extends: ["pack:lockfiles"]"#),
        (&["init", "--pack", "secrets,lockfiles"], r#"extends: ["pack:secrets", "pack:lockfiles"]"#),
        (
            &["init", "--yes", "--pack", "lockfiles", "--pack", "secrets"],
            r#"extends: ["pack:secrets", "pack:git-safety", "pack:destructive-commands", "pack:lockfiles"]"#,
        ),
    ] {
        let test = Test::stop().file("Cargo.toml", cargo);
        let shown = transcript(&test.root(), arguments);
        assert!(shown.starts_with("exit 0"), "{shown}");
        assert_eq!(extends(&test.root()), expected);
        // They are registered, and what was written is tested.
        assert!(read(test.root().join(".claude/settings.json")).contains("PreToolUse"), "{arguments:?}");
        let (code, out, _) = run_in(&test.root(), &["test"]);
        assert_eq!(code, Some(0), "{out}");
        assert!(out.contains("(pack:lockfiles)"), "{out}");
    }
}

#[test]
fn packs_are_added_to_what_is_taken_over() {
    let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sh done.sh"}]}]}}"#;
    let test = Test::stop().file(".claude/settings.json", hooks);
    assert_eq!(run_in(&test.root(), &["init", "--import", "--pack", "secrets"]).0, Some(0));
    assert_eq!(extends(&test.root()), r#"extends: ["pack:secrets"]"#);
    let test = Test::stop().file(".claude/settings.json", hooks).config("# mine\nmaxBlocks: 2\n");
    assert_eq!(run_in(&test.root(), &["init", "--import", "--pack", "secrets"]).0, Some(0));
    let text = read(test.root().join(".conclaude.yaml"));
    assert!(text.contains("# mine") && text.contains("pack:secrets") && text.contains("done.sh"), "{text}");
}

#[test]
fn a_pack_that_is_unknown_or_a_config_that_exists_is_refused_with_what_to_do() {
    let test = Test::stop();
    insta::assert_snapshot!(transcript(&test.root(), &["init", "--pack", "secret"]), @"
    exit 1
    conclaude: there is no pack `secret`; did you mean `pack:secrets`?
    ");
    assert!(!test.root().join(".conclaude.yaml").exists());
    let test = test.config("maxBlocks: 2\n");
    insta::assert_snapshot!(transcript(&test.root(), &["init", "--pack", "secrets"]), @"
    exit 1
    conclaude: [ROOT]/.conclaude.yaml already exists, and is left unchanged
      `conclaude pack add secrets` adds the packs that you named
      `conclaude install` registers conclaude for it
      `conclaude init --import` takes over hooks of your own, and a config of the original conclaude
      `conclaude init --force` starts again, and keeps a copy
    ");
}
