//! Rules that are dead because of another file, and rules for permissions.

use insta::assert_snapshot;
use serde_json::Value;

use super::project;
use crate::common::run_in;

#[test]
fn an_exception_to_a_rule_of_an_extended_file_is_on_purpose() {
    let allow =
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'make deploy*', action: allow}]}\n";
    let base =
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'make deploy', action: block}]}\n";
    let test = project(&format!("extends: [base.yaml]\n{allow}")).file("base.yaml", base);
    let (code, out, _) = run_in(&test.root(), &["validate", "--strict"]);
    assert_eq!((code, out.contains("warning")), (Some(0), false), "{out}");
}

#[test]
fn rules_for_permissions_that_never_count_are_named() {
    let config = "permissionRequest:
  allow:
    - Wriet
    - \"Bash(git status*)\"
    - \"Bash(git status -s)\"
    - \"Read(./docs/**)\"
    - {pattern: Write, agent: coder}
    - \"Agent(coder)\"
  deny:
    - \"Bash(rm *)\"
    - \"Bash(rm -rf *)\"
    - {pattern: \"Bash(rm *)\", agent: coder}
    - Agent
    - \"mcp__db__*\"
    - \"mcp__db__drop\"
";
    let (_, out, _) = run_in(&project(config).root(), &["validate", "--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    let line = |one: &Value| {
        format!(
            "{}: {}: {}\n",
            one["line"],
            one["message"].as_str().unwrap(),
            one["label"].as_str().unwrap_or_default()
        )
    };
    let shown: String = json["warnings"].as_array().unwrap().iter().map(line).collect();
    assert_snapshot!(shown, @"
    3: permissionRequest: `Wriet` matches nothing: Claude Code has no tool of this name
    5: permissionRequest: `Bash(git status -s)` is redundant: `Bash(git status*)` in line 4 covers everything that it covers
    8: permissionRequest: `Agent(coder)` can never allow anything: `deny` has `Agent`, which comes before `allow`
    11: permissionRequest: `Bash(rm -rf *)` is redundant: `Bash(rm *)` in line 10 covers everything that it covers
    12: permissionRequest: `Bash(rm *)` is redundant: `Bash(rm *)` in line 10 covers everything that it covers
    15: permissionRequest: `mcp__db__drop` is redundant: `mcp__db__*` in line 14 covers everything that it covers
    ");
}

#[test]
fn a_permission_that_an_outer_file_does_not_let_count_is_named() {
    let test = project("permissionRequest: {allow: [Read]}\n")
        .file(".home/.config/conclaude/config.yaml", "permissionRequest:\n  default: deny\n");
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: permissionRequest: `Read` can never allow anything
     --> [ROOT]/.conclaude.yaml:1:29
      |
    1 | permissionRequest: {allow: [Read]}
      |                             ^^^^ `default` is `deny` in [ROOT]/.home/.config/conclaude/config.yaml:2, an outer file
      |
      = help: remove it, or write `default: {answer: deny, overridable: true}` there

    valid: [ROOT]/.home/.config/conclaude/config.yaml
    valid: [ROOT]/.conclaude.yaml
      permissionRequest: 2 rules
    ");
}

#[test]
fn what_an_inner_file_cannot_relax_is_named_and_shown() {
    let user = "\
preToolUse:
  uneditableFiles: [\"*.lock\"]
  preventRootAdditions: true
  toolUsageValidation: [{tool: Bash, commandPattern: \"git push*\", action: block}]
permissionRequest: {default: deny}
";
    let own = "\
preToolUse:
  uneditableFiles: [\"*.md\", \"!Cargo.lock\"]
  preventRootAdditions: false
  toolUsageValidation: [{tool: Bash, commandPattern: \"git push origin*\", action: allow}]
permissionRequest: {default: ask}
";
    let test = project(own).file(".home/.config/conclaude/config.yaml", user);
    assert_snapshot!(test.shows(&["validate"]), @r#"
    exit 0
    ----- stdout
    warning: uneditableFiles: `!Cargo.lock` has no effect
     --> [ROOT]/.conclaude.yaml:2:29
      |
    2 |   uneditableFiles: ["*.md", "!Cargo.lock"]
      |                             ^^^^^^^^^^^^^ `*.lock` comes from an outer layer and is not overridable
      |
      = help: write `overridable: true` there, if it is yours

    warning: preToolUse: this value of `preventRootAdditions` has no effect
     --> [ROOT]/.conclaude.yaml:3:25
      |
    3 |   preventRootAdditions: false
      |                         ^^^^^ [ROOT]/.home/.config/conclaude/config.yaml:3 comes from an outer layer and is not overridable
      |
      = help: remove it, or write `overridable: true` there, if it is yours

    warning: toolUsageValidation: this rule for `Bash` can never decide
     --> [ROOT]/.conclaude.yaml:4:32
      |
    4 |   toolUsageValidation: [{tool: Bash, commandPattern: "git push origin*", action: allow}]
      |                                ^^^^ [ROOT]/.home/.config/conclaude/config.yaml:4 is stricter, comes from an outer layer and is not overridable
      |
      = help: write `overridable: true` there, if it is yours

    warning: permissionRequest: this value of `default` has no effect
     --> [ROOT]/.conclaude.yaml:5:30
      |
    5 | permissionRequest: {default: ask}
      |                              ^^^ [ROOT]/.home/.config/conclaude/config.yaml:5 comes from an outer layer and is not overridable
      |
      = help: remove it, or write `overridable: true` there, if it is yours

    valid: [ROOT]/.home/.config/conclaude/config.yaml
    valid: [ROOT]/.conclaude.yaml
      preToolUse: 6 guards
      permissionRequest: 1 rule
    "#);
    assert_snapshot!(test.shows(&["config", "show"]), @r#"
    exit 0
    ----- stdout
    # user     [ROOT]/.home/.config/conclaude/config.yaml
    # project  [ROOT]/.conclaude.yaml
    # preToolUse.uneditableFiles: `!pattern` of an inner layer excepts only what an outer one marks as overridable
    # preToolUse.toolUsageValidation: in each layer the first matching rule decides, and the strictest layer counts
    preToolUse:
      uneditableFiles:
        - "*.lock"
        - "*.md"
        - "!Cargo.lock"
      preventRootAdditions: true
      toolUsageValidation:
        - tool: Bash
          commandPattern: "git push origin*"
          action: allow
        - tool: Bash
          commandPattern: "git push*"
          action: block
    permissionRequest:
      default: deny
    "#);
}
