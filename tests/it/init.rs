//! `conclaude init`: a config to start with, never at the cost of one that exists.

use std::path::Path;

use crate::common::{Test, run_in};

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
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
    ## Found here: package.json, Cargo.toml; the agents coder.

    ## Commands when a subagent stops, by its name: * ? [a-z] {a,b} work, and "*" is every one.
    # subagentStop:
    #   commands:
    #     "coder":
    #       - run: "npm run lint"
    #         message: "Linting failed"
    #         showStdout: true
    #         maxOutputLines: 50
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # the agent must fix it first; `warn` only reports it
    #       - run: "cargo clippy --all-targets -- -D warnings"
    #         message: "Linting failed"
    #         showStdout: true
    #         maxOutputLines: 50
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # the agent must fix it first; `warn` only reports it
    #     "*":
    #       - run: "npm run test"
    #         message: "Tests failed"
    #         showStdout: true
    #         maxOutputLines: 50
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # the agent must fix it first; `warn` only reports it
    #       - run: "cargo test"
    #         message: "Tests failed"
    #         showStdout: true
    #         maxOutputLines: 50
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # the agent must fix it first; `warn` only reports it

    ## Commands when a subagent starts. They can show and prepare things, but never block.
    # subagentStart:
    #   commands:
    #     "*":
    #       - run: "git status --short"

    ## The gates for prompts with <!-- DES-VALIDATION: required --> are on without any of this.
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
        conclaude: [ROOT]/[CONFIG] exists already, and is left as it is
          `conclaude install` registers conclaude for it
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
    insta::assert_snapshot!(transcript(&root, &["init", "--dry-run"]), @r#"
    exit 0
    --- [ROOT]/.conclaude.yaml
    +++ [ROOT]/.conclaude.yaml
    @@ -0,0 +1,44 @@
    +# yaml-language-server: $schema=./.conclaude/schema.json
    +##
    +## What conclaude does when subagents start and stop. Nothing runs until you uncomment it.
    +## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    +##
    +## Found here: go.mod; no agents of your own yet.
    +
    +## Commands when a subagent stops, by its name: * ? [a-z] {a,b} work, and "*" is every one.
    +# subagentStop:
    +#   commands:
    +#     "*":
    +#       - run: "go vet ./..."
    +#         message: "Linting failed"
    +#         showStdout: true
    +#         maxOutputLines: 50
    +#         timeout: 600         # seconds; then it is killed with all its children
    +#         onFailure: block     # the agent must fix it first; `warn` only reports it
    +#       - run: "go test ./..."
    +#         message: "Tests failed"
    +#         showStdout: true
    +#         maxOutputLines: 50
    +#         timeout: 600         # seconds; then it is killed with all its children
    +#         onFailure: block     # the agent must fix it first; `warn` only reports it
    +
    +## Commands when a subagent starts. They can show and prepare things, but never block.
    +# subagentStart:
    +#   commands:
    +#     "*":
    +#       - run: "git status --short"
    +
    +## The gates for prompts with <!-- DES-VALIDATION: required --> are on without any of this.
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
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    --- [ROOT]/.claude/settings.json
    +++ [ROOT]/.claude/settings.json
    @@ -1,3 +1,97 @@
     {
    -  "model": "opus"
    +  "model": "opus",
    +  "hooks": {
    +    "SessionStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || { echo '{\"systemMessage\":\"conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: cargo install --path . in a checkout of conclaude, or copy its binary to a folder on the PATH.\"}'; exit 0; }; exec [BIN] SessionStart",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "PreToolUse": [
    +      {
    +        "matcher": "Agent|Write|Edit|MultiEdit|NotebookEdit",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] PreToolUse",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "PostToolUse": [
    +      {
    +        "matcher": "Agent",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] PostToolUse",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "UserPromptSubmit": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] UserPromptSubmit",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStart",
    +            "timeout": 3600,
    +            "statusMessage": "conclaude: subagentStart commands"
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStop",
    +            "timeout": 3600,
    +            "statusMessage": "conclaude: subagentStop commands"
    +          }
    +        ]
    +      }
    +    ],
    +    "Stop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] Stop",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "SessionEnd": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SessionEnd",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ]
    +  }
     }
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
