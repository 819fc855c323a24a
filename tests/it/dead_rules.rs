//! `validate` finds rules that look alive and are dead.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::snapshot::pretty;
use crate::common::{Test, run_in};

mod layers;

const DEAD: &str = "subagentStop:
  match: first
  commands:
    \"*\":
      - run: npm run lint
    codr:
      - run: npm test
        files: [\"lib/**\"]
preToolUse:
  uneditableFiles: [\"!*.md\", \"*.lock\"]
  toolUsageValidation:
    - {tool: Bahs, action: block}
    - {tool: Bash, commandPattern: \"git *\", action: block}
    - {tool: Bash, commandPattern: \"git status\", action: allow}
";

fn project(config: &str) -> Test {
    Test::stop()
        .config(config)
        .file(".claude/agents/coder.md", "---\nname: coder\n---\n")
        .file("src/a.ts", "")
}

#[test]
fn an_exception_to_nothing_is_dead() {
    let config = "preToolUse:\n  uneditableFiles: ['*.txt', '!zzz', '!keep.md', '!docs/a.md', '!src', '!made', '!new/', '!a.txt']\n";
    let test = project(config).file(".gitignore", "made/\n").git(&["init", "-q"]);
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: uneditableFiles: `!zzz` has no effect
     --> [ROOT]/.conclaude.yaml:2:30
      |
    2 |   uneditableFiles: ['*.txt', '!zzz', '!keep.md', '!docs/a.md', '!src', '!made', '!new/', '!a.txt']
      |                              ^^^^^^ no pattern before it covers such a file
      |
      = help: remove it, or write `!zzz/` if it is a directory

    warning: uneditableFiles: `!keep.md` has no effect
     --> [ROOT]/.conclaude.yaml:2:38
      |
    2 |   uneditableFiles: ['*.txt', '!zzz', '!keep.md', '!docs/a.md', '!src', '!made', '!new/', '!a.txt']
      |                                      ^^^^^^^^^^ no pattern before it covers such a file
      |
      = help: remove it, or write `!keep.md/` if it is a directory

    warning: uneditableFiles: `!docs/a.md` has no effect
     --> [ROOT]/.conclaude.yaml:2:50
      |
    2 |   uneditableFiles: ['*.txt', '!zzz', '!keep.md', '!docs/a.md', '!src', '!made', '!new/', '!a.txt']
      |                                                  ^^^^^^^^^^^^ no pattern before it covers such a file
      |
      = help: remove it, or write `!docs/a.md/` if it is a directory

    valid: [ROOT]/.conclaude.yaml
      preToolUse: 8 guards
    ");
}

#[test]
fn a_pattern_of_the_project_that_is_for_what_is_outside_is_dead() {
    let config = "preToolUse:\n  uneditableFiles: [{pattern: src/gen, outside: true}, {pattern: //usr/, outside: true}, {pattern: '*.pem', outside: true}]\n";
    assert_snapshot!(project(config).shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: uneditableFiles: `src/gen` covers nothing
     --> [ROOT]/.conclaude.yaml:2:22
      |
    2 |   uneditableFiles: [{pattern: src/gen, outside: true}, {pattern: //usr/, outside: true}, {pattern: '*.pem', outside: true}]
      |                      ^^^^^^^ a pattern with `/` matches files of the project, which `outside` excludes
      |
      = help: remove `outside`, or start the pattern with `//` or `~/`

    valid: [ROOT]/.conclaude.yaml
      preToolUse: 3 guards
    ");
}

#[test]
fn rules_that_the_rest_of_their_section_makes_superfluous_are_dead() {
    let config = "permissionRequest: {default: allow, allow: [Read], deny: [Bash]}\nstop: {infiniteMessage: go on}\n\
                  postToolUse: {commands: {mcp__github: [{run: x}], mcp__github__get: [{run: x}]}}\n\
                  userPromptSubmit: {contextRules: [{pattern: ^$, prompt: x}, {pattern: 'x*', prompt: y}]}\n";
    assert_snapshot!(project(config).shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: permissionRequest: `Read` is redundant
     --> [ROOT]/.conclaude.yaml:1:45
      |
    1 | permissionRequest: {default: allow, allow: [Read], deny: [Bash]}
      |                                             ^^^^ `default: allow` in line 1 allows it anyway
      |
      = help: remove it

    warning: stop: `infiniteMessage` has no effect
     --> [ROOT]/.conclaude.yaml:2:25
      |
    2 | stop: {infiniteMessage: go on}
      |                         ^^^^^ `infinite` is not `true`
      |
      = help: write `infinite: true`, or remove it

    warning: postToolUse: `mcp__github` matches nothing
     --> [ROOT]/.conclaude.yaml:3:26
      |
    3 | postToolUse: {commands: {mcp__github: [{run: x}], mcp__github__get: [{run: x}]}}
      |                          ^^^^^^^^^^^ it is a server, and its tools are compared
      |
      = help: write `mcp__github__*`

    warning: userPromptSubmit: this pattern of `contextRules` matches every prompt
     --> [ROOT]/.conclaude.yaml:4:71
      |
    4 | userPromptSubmit: {contextRules: [{pattern: ^$, prompt: x}, {pattern: 'x*', prompt: y}]}
      |                                                                       ^^^^

    valid: [ROOT]/.conclaude.yaml
      permissionRequest: 3 rules
      stop: 0 patterns, 0 commands
      postToolUse: 2 patterns, 2 commands
      userPromptSubmit: 2 context rules
    ");
}

// Scenario: `*` as a fallback, after the patterns of the other agents
#[test]
fn a_wildcard_that_is_not_first_is_noted_since_it_is_no_fallback() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - run: 'true'\n    \"*\":\n      - run: 'true'\n    Explore:\n      - run: 'true'\n";
    let test = project(config);
    assert_snapshot!(test.shows(&["validate", "--strict"]), @r#"
    exit 0
    ----- stdout
    note: subagentStop: `*` is not a fallback here
     --> [ROOT]/.conclaude.yaml:5:5
      |
    5 |     "*":
      |     ^^^ its commands run first, and for every agent, also where another pattern matches
      |
      = help: write `match: first` for one pattern per agent, or `match: all` if that is intended

    valid: [ROOT]/.conclaude.yaml
      subagentStop: 3 patterns, 3 commands
    "#);
    let json: Value = serde_json::from_str(&run_in(&test.root(), &["validate", "--json"]).1).unwrap();
    assert_eq!((json["notes"][0]["line"].as_u64(), &json["warnings"]), (Some(5), &serde_json::json!([])));
    assert!(
        run_in(&test.root(), &["validate", "--format", "github"])
            .1
            .starts_with("::notice file=.conclaude.yaml,line=5,")
    );
    // One that is first, or a section that says how it is meant.
    let first = "subagentStop: {commands: {'*': [{run: 'true'}], coder: [{run: 'true'}]}}";
    let said = |mode: &str| config.replace("  commands:", &format!("  match: {mode}\n  commands:"));
    for config in [first, &said("all"), &said("first").replace("    Explore:\n      - run: 'true'\n", "")] {
        let (code, out, _) = run_in(&project(config).root(), &["validate", "--strict"]);
        assert_eq!((code, out.contains("note: ")), (Some(0), false), "{config}\n{out}");
    }
}

#[test]
fn each_dead_rule_is_shown_with_its_line_the_reason_and_what_to_write() {
    assert_snapshot!(project(DEAD).shows(&["validate"]), @r#"
    exit 0
    ----- stdout
    warning: subagentStop: `codr` matches nothing
     --> [ROOT]/.conclaude.yaml:6:5
      |
    6 |     codr:
      |     ^^^^ neither the project, you nor Claude Code has an agent of this name
      |
      = help: did you mean `coder`?

    warning: subagentStop: `codr` can never run
     --> [ROOT]/.conclaude.yaml:6:5
      |
    6 |     codr:
      |     ^^^^ `match: first` stops at `*`, which comes before it
      |
      = help: move it before `*`, or remove `match: first`

    warning: subagentStop: `lib/**` matches no file
     --> [ROOT]/.conclaude.yaml:8:17
      |
    8 |         files: ["lib/**"]
      |                 ^^^^^^^^ the project has none like that
      |
      = help: write the path from the project's root, or a name for any depth

    warning: uneditableFiles: `!*.md` has no effect
      --> [ROOT]/.conclaude.yaml:10:21
       |
    10 |   uneditableFiles: ["!*.md", "*.lock"]
       |                     ^^^^^^^ no pattern before it protects anything
       |
       = help: move it after the patterns that it is an exception to

    warning: toolUsageValidation: `Bahs` matches nothing
      --> [ROOT]/.conclaude.yaml:12:14
       |
    12 |     - {tool: Bahs, action: block}
       |              ^^^^ Claude Code has no tool of this name
       |
       = help: did you mean `Bash`?

    warning: toolUsageValidation: this rule for `Bash` can never decide
      --> [ROOT]/.conclaude.yaml:14:14
       |
    14 |     - {tool: Bash, commandPattern: "git status", action: allow}
       |              ^^^^ the rule in line 13 matches all that it matches, and comes first
       |
       = help: move it before that one

    valid: [ROOT]/.conclaude.yaml
      subagentStop: 2 patterns, 2 commands
      preToolUse: 5 guards
    "#);
}

#[test]
fn warnings_fail_only_where_that_is_asked_for() {
    let (dead, good) = (project(DEAD), project("subagentStop: {commands: {coder: [{run: x}]}}"));
    for (test, arguments, expected) in [
        (&dead, vec!["validate"], 0),
        (&dead, vec!["validate", "--strict"], 1),
        (&good, vec!["validate", "--strict"], 0),
    ] {
        assert_eq!(run_in(&test.root(), &arguments).0, Some(expected), "{arguments:?}");
    }
}

#[test]
fn programs_get_the_position_of_a_dead_rule() {
    let test = project("postToolUse:\n  commands:\n    Wirte: [{run: x}]\n");
    let (code, stdout, _) = run_in(&test.root(), &["validate", "--json"]);
    let json: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &json["valid"], &json["problems"]), (Some(0), &json!(true), &json!([])));
    assert_snapshot!(pretty(&json["warnings"]), @r#"
    [
      {
        "path": "[ROOT]/.conclaude.yaml",
        "line": 3,
        "column": 5,
        "end_column": 10,
        "message": "postToolUse: `Wirte` matches nothing",
        "label": "Claude Code has no tool of this name",
        "help": "did you mean `Write`?"
      }
    ]
    "#);
    assert_snapshot!(test.shows(&["validate", "--format", "github"]), @"
    exit 0
    ----- stdout
    ::warning file=.conclaude.yaml,line=3,col=5,endColumn=10::postToolUse: `Wirte` matches nothing: Claude Code has no tool of this name%0Ahelp: did you mean `Write`?
    ");
}

#[test]
fn a_config_of_the_original_says_what_is_different_here() {
    let config = "skillStart:\n  commands:\n    coder: [{run: x}]\n    \"*\": [{run: y}]\ntaskCompleted:\n  commands:\n    \"*\": [{run: z}]\nstop:\n  infinite: true\n";
    assert_snapshot!(project(config).shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: `skillStart` is a key of conclaude 0.2
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | skillStart:
      | ^^^^^^^^^^ read as what it is here
      |
      = help: write `subagentStart`

    warning: subagentStart: every pattern that matches runs its commands
     --> [ROOT]/.conclaude.yaml:2:3
      |
    2 |   commands:
      |   ^^^^^^^^ conclaude 0.2 ran only those of the first one
      |
      = help: write `match: first` for that, or `match: all` if that is intended

    warning: taskCompleted: a command that fails only warns
     --> [ROOT]/.conclaude.yaml:6:3
      |
    6 |   commands:
      |   ^^^^^^^^ in conclaude 0.2 exit code 2 blocked
      |
      = help: write `onFailure: block` for that, or `onFailure: warn`

    warning: stop: `infinite` stops after `maxBlocks` rounds for one prompt
     --> [ROOT]/.conclaude.yaml:9:13
      |
    9 |   infinite: true
      |             ^^^^ conclaude 0.2 had no limit
      |
      = help: `maxBlocks: 7` is the most

    warning: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    valid: [ROOT]/.conclaude.yaml
      subagentStart: 2 patterns, 2 commands
      taskCompleted: 1 pattern, 1 command
      stop: 0 patterns, 0 commands
    ");
    let imported = project(config).shows(&["init", "--import", "--dry-run", "--local"]);
    let notes: Vec<&str> = imported.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_snapshot!(notes.join("\n"), @"
    note: `skillStart` is a key of conclaude 0.2: read as what it is here; write `subagentStart`
    note: taskCompleted: a command that fails only warns: in conclaude 0.2 exit code 2 blocked; write `onFailure: block` for that, or `onFailure: warn`
    note: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    note: stop: `infinite` stops after `maxBlocks` rounds for one prompt: conclaude 0.2 had no limit; `maxBlocks: 7` is the most
    ");
    // What was decided is not asked again.
    let settled = "skillStart:\n  match: first\n  commands:\n    coder: [{run: x}]\n    \"*\": [{run: y}]\npreToolUse: {preventRootAdditions: true}\n";
    let shown = project(settled).shows(&["validate"]);
    let warnings: Vec<&str> = shown.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings, ["warning: `skillStart` is a key of conclaude 0.2"]);
}

#[test]
fn timeouts_of_slash_commands_are_added_up_as_well() {
    let config = "userPromptSubmit:\n  slashCommands:\n    commands:\n      deploy: [{run: x, timeout: 40m}, {run: y, timeout: 30m}]\n";
    assert_snapshot!(project(config).shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: userPromptSubmit.slashCommands: the timeouts of `deploy` add up to 4200 s
     --> [ROOT]/.conclaude.yaml:4:7
      |
    4 |       deploy: [{run: x, timeout: 40m}, {run: y, timeout: 30m}]
      |       ^^^^^^ Claude Code stops UserPromptSubmit after 3600 s: it terminates the running command, later commands do not run, and nothing is blocked
      |
      = help: use shorter timeouts

    valid: [ROOT]/.conclaude.yaml
      userPromptSubmit: 2 slash commands
    ");
}

#[test]
fn a_misspelt_tool_is_named_wherever_it_is_written() {
    let config = "\
preToolUse:
  commands: {Bahs: [{run: x}]}
  toolUsageValidation:
    - {tool: Bsh, action: block}
    - {tool: \"{Edit,Wrte}\", action: block}
    - {tool: Frobnicate, action: block}
    - {tool: CronCreate, action: block}
    - {tool: \"Web*\", action: block}
    - {tool: mcp__db__drop, action: block}
permissionRequest: {allow: [Red], deny: [\"Edti\"]}
";
    assert_snapshot!(project(config).shows(&["validate"]), @r#"
    exit 0
    ----- stdout
    warning: preToolUse: `Bahs` matches nothing
     --> [ROOT]/.conclaude.yaml:2:14
      |
    2 |   commands: {Bahs: [{run: x}]}
      |              ^^^^ Claude Code has no tool of this name
      |
      = help: did you mean `Bash`?

    warning: toolUsageValidation: `Bsh` matches nothing
     --> [ROOT]/.conclaude.yaml:4:14
      |
    4 |     - {tool: Bsh, action: block}
      |              ^^^ Claude Code has no tool of this name
      |
      = help: did you mean `Bash`?

    warning: toolUsageValidation: `Wrte` matches nothing
     --> [ROOT]/.conclaude.yaml:5:14
      |
    5 |     - {tool: "{Edit,Wrte}", action: block}
      |              ^^^^^^^^^^^^^ Claude Code has no tool of this name
      |
      = help: did you mean `Write`?

    warning: toolUsageValidation: `Frobnicate` matches nothing
     --> [ROOT]/.conclaude.yaml:6:14
      |
    6 |     - {tool: Frobnicate, action: block}
      |              ^^^^^^^^^^ Claude Code has no tool of this name
      |
      = help: remove it, unless a newer Claude Code has it; tools of MCP servers are `mcp__SERVER__TOOL`

    warning: permissionRequest: `Red` matches nothing
      --> [ROOT]/.conclaude.yaml:10:29
       |
    10 | permissionRequest: {allow: [Red], deny: ["Edti"]}
       |                             ^^^ Claude Code has no tool of this name
       |
       = help: did you mean `Read`?

    warning: permissionRequest: `Edti` matches nothing
      --> [ROOT]/.conclaude.yaml:10:42
       |
    10 | permissionRequest: {allow: [Red], deny: ["Edti"]}
       |                                          ^^^^^^ Claude Code has no tool of this name
       |
       = help: did you mean `Edit`?

    valid: [ROOT]/.conclaude.yaml
      preToolUse: 1 pattern, 1 command, 6 guards
      permissionRequest: 2 rules
    "#);
}

#[test]
fn rules_that_cannot_decide_are_named() {
    let config = "\
userPromptSubmit: {contextRules: [{pattern: deploy, prompt: \"see @docs/missing.md and @src/a.ts\"}]}
preToolUse:
  toolUsageValidation:
    - {tool: Bash, commandPattern: \"git  push\", action: block}
    - {tool: Bash, commandPattern: \"*\", action: allow}
    - {tool: Bash, commandPattern: \"rm *\", action: block}
";
    assert_snapshot!(project(config).shows(&["validate"]), @r#"
    exit 0
    ----- stdout
    warning: userPromptSubmit: `@docs/missing.md` is not inserted
     --> [ROOT]/.conclaude.yaml:1:61
      |
    1 | userPromptSubmit: {contextRules: [{pattern: deploy, prompt: "see @docs/missing.md and @src/a.ts"}]}
      |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the project has no such file
      |
      = help: write its path from the project's root; `@@` at the start of a word is an `@`

    warning: toolUsageValidation: `git  push` matches hardly anything
     --> [ROOT]/.conclaude.yaml:4:36
      |
    4 |     - {tool: Bash, commandPattern: "git  push", action: block}
      |                                    ^^^^^^^^^^^ the words of a command are joined by one space
      |
      = help: write "git push"

    warning: toolUsageValidation: this rule for `Bash` can never decide
     --> [ROOT]/.conclaude.yaml:6:14
      |
    6 |     - {tool: Bash, commandPattern: "rm *", action: block}
      |              ^^^^ the rule in line 5 allows all that it matches as it is written, and comes first
      |
      = help: move it before that one

    valid: [ROOT]/.conclaude.yaml
      userPromptSubmit: 1 context rule
      preToolUse: 3 guards
    "#);
}

#[test]
fn an_exception_to_a_pack_and_the_old_name_of_a_tool_are_no_mistakes() {
    let config = "\
extends: [\"pack:lockfiles\"]
preToolUse: {uneditableFiles: [\"!package-lock.json\"]}
permissionRequest: {allow: [Task]}
";
    assert_snapshot!(project(config).shows(&["validate"]), @"
    exit 0
    ----- stdout
    valid: pack:lockfiles
    valid: [ROOT]/.conclaude.yaml
      preToolUse: 30 guards
      permissionRequest: 1 rule
    ");
}

#[test]
fn a_glob_where_a_regular_expression_belongs_is_an_error_with_the_expression() {
    let config = "userPromptSubmit:\n  contextRules:\n    - {pattern: \"*deploy*\", prompt: x}\n    - {pattern: \"*.md\", prompt: x}\n";
    let shown = project(config).shows(&["validate"]);
    assert!(shown.contains("this is a regular expression, not a glob, and it can match anywhere in the prompt: write \"deploy\""), "{shown}");
    assert!(shown.contains("write \"\\\\.md\""), "{shown}");
    let config = "userPromptSubmit: {contextRules: [{pattern: '{deploy,release}', prompt: x}]}\n";
    let shown = project(config).shows(&["validate"]);
    assert!(shown.contains("write \"(deploy|release)\""), "{shown}");
}
