//! `conclaude validate`: a summary, or every problem.

use insta::assert_snapshot;

use super::BROKEN;
use crate::common::Test;

#[test]
fn validate_summarises_a_config() {
    let test = Test::stop().config("subagentStart: {commands: {'*': [{run: a}]}}\nsubagentStop: {commands: {a: [{run: b}, {run: c}], b: [{run: d}]}}\nnotifications: {enabled: true, hooks: ['*']}\n");
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      subagentStart: 1 pattern, 1 command
      subagentStop: 2 patterns, 3 commands
      notifications: on
    ");
}

#[test]
fn validate_prints_every_problem_and_exits_1() {
    let test = Test::stop().config(BROKEN);
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 1
    ----- stdout
    error: unknown key `runn` in `coder`
     --> [ROOT]/.conclaude.yaml:4:9
      |
    4 |       - runn: npm run lint
      |         ^^^^ not a key of this section
      |
      = help: did you mean `run`?

    error: missing field `run` in `coder`
     --> [ROOT]/.conclaude.yaml:4:9
      |
    4 |       - runn: npm run lint
      |         ^^^^ `run` is required here

    error: invalid value for `timeout`: the number 9999
     --> [ROOT]/.conclaude.yaml:5:18
      |
    5 |         timeout: 9999
      |                  ^^^^ expected 1 to 3600 seconds, as a number or as `90s` or `5m`

    error: invalid config [ROOT]/.conclaude.yaml: 3 problems
    ");
}

#[test]
fn validate_takes_a_file_or_a_folder() {
    let test = Test::stop().config("").file("sub/other.yaml", "maxBlocks: 0\n");
    assert_snapshot!(test.shows(&["validate", "sub"]), @"
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      no rules configured
      = help: add `subagentStop:` with commands, or uncomment what `conclaude init` wrote; prompts with markers are gated without any rule
    ");
    assert_snapshot!(test.shows(&["validate", "sub/other.yaml"]), @"
    exit 1
    ----- stdout
    error: invalid value for `maxBlocks`: the number 0
     --> sub/other.yaml:1:12
      |
    1 | maxBlocks: 0
      |            ^ expected a whole number from 1 to 7

    error: invalid config sub/other.yaml: 1 problem
    ");
    assert_snapshot!(test.shows(&["validate", "missing.yaml"]), @"
    exit 1
    ----- stdout
    error: cannot read the config missing.yaml: No such file or directory (os error 2)
    ");
}

#[test]
fn validate_says_when_there_is_no_config() {
    assert_snapshot!(Test::stop().shows(&["validate"]), @"
    exit 1
    ----- stdout
    error: no config: neither .conclaude.yaml nor .conclaude.yml here nor in a folder above
    ");
}

#[test]
fn validate_warns_of_what_has_no_effect() {
    let test = Test::stop()
        .config("subagentStop:\n  match: first\n  commands:\n    \"*\": [{run: x}]\n    coder: [{run: y}]\n")
        .file(".conclaude.yml", "");
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: subagentStop: `coder` can never run
     --> [ROOT]/.conclaude.yaml:5:5
      |
    5 |     coder: [{run: y}]
      |     ^^^^^ `match: first` stops at `*`, which comes before it
      |
      = help: move it before `*`, or remove `match: first`

    warning: [ROOT]/.conclaude.yml is not read: .conclaude.yaml comes first
    valid: [ROOT]/.conclaude.yaml
      subagentStop: 2 patterns, 2 commands
    ");
}
