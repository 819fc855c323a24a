//! What a mistake is answered: what is wrong, where, and what to write instead.

mod command_line;
mod formats;

use crate::common::{Test, conclaude_in, run_in};
use insta::assert_snapshot;
use serde_json::Value;

/// The answer of `validate` to a config, without its last line.
fn validate(yaml: &str) -> String {
    let shown = Test::stop().config(yaml).shows(&["validate"]);
    let text = shown.strip_prefix("exit 1\n----- stdout\n").unwrap_or(&shown);
    let text = text.split("\n\nerror: invalid config").next().unwrap();
    format!("# {}\n{text}\n", yaml.trim_end().replace('\n', "\n# "))
}

fn command(line: &str) -> String {
    let arguments: Vec<&str> = line.split(' ').collect();
    format!("$ conclaude {line}\n{}\n", Test::stop().shows(&arguments))
}

#[test]
fn every_mistake_in_a_config_gets_a_suggestion() {
    let mistakes = [
        "des: {requiredSections: Goal}",
        "des: {phases: tdd}",
        "des: {phases: something}",
        "des: {phases: []}",
        "des:\n  phases:\n    - RED\n    - GREEN\n    - RED",
        "notifications: {hooks: [Foo]}",
        "subagentStop:\n  commands:\n    coder:\n      - npm test",
        "subagentStop: {commands: {coder: npm test}}",
        "subagentStop: {commands: {\"general-purpose|Explore\": [{run: x}]}}",
        "subagentStop: {commands: {coder: [{run: x, timeout: 5 minutes}]}}",
        "subagentStop: {commands: {coder: [{run: x, timeout: 2h}]}}",
        "subagentStop: {commands: {coder: [{run: true}]}}",
        "subagentStop: {commands: {coder: [{run: x, message: 5}]}}",
        "subagentStop: {commands: {coder: [{run: x, maxOutputLines: '5'}]}}",
        "subagentStop: {commands: {coder: [{run: x, showStdout: 'true'}]}}",
        "subagentStop: {commands: {coder: [{run: x, showStdout: yes}]}}",
        "des: {judge: {prompt: x, timeout: '30'}}",
    ];
    assert_snapshot!(mistakes.map(validate).join("\n"), @r#"
    # des: {requiredSections: Goal}
    error: invalid value for `requiredSections`: the text "Goal"
     --> [ROOT]/.conclaude.yaml:1:25
      |
    1 | des: {requiredSections: Goal}
      |                         ^^^^ expected a list
      |
      = help: write it as a list: ["Goal"]

    # des: {phases: tdd}
    error: invalid value for `phases`: the text "tdd"
     --> [ROOT]/.conclaude.yaml:1:15
      |
    1 | des: {phases: tdd}
      |               ^^^ expected one of `tdd-14`, `tdd-3` or a list
      |
      = help: did you mean `tdd-14`?

    # des: {phases: something}
    error: invalid value for `phases`: the text "something"
     --> [ROOT]/.conclaude.yaml:1:15
      |
    1 | des: {phases: something}
      |               ^^^^^^^^^ expected one of `tdd-14`, `tdd-3` or a list
      |
      = help: a list is written as ["something"]

    # des: {phases: []}
    error: `phases` is an empty list
     --> [ROOT]/.conclaude.yaml:1:15
      |
    1 | des: {phases: []}
      |               ^^ expected at least one entry
      |
      = help: list at least one, or remove the key for the default

    # des:
    #   phases:
    #     - RED
    #     - GREEN
    #     - RED
    error: duplicate entry `RED` in `phases`
     --> [ROOT]/.conclaude.yaml:5:7
      |
    5 |     - RED
      |       ^^^ already given on line 3
      |
      = help: remove one, or give it another name

    # notifications: {hooks: [Foo]}
    error: invalid value for `hooks`: the text "Foo"
     --> [ROOT]/.conclaude.yaml:1:25
      |
    1 | notifications: {hooks: [Foo]}
      |                         ^^^ expected one of 34 known names
      |
      = help: the most similar are `Stop`, `Setup`, `PreToolUse`; `conclaude schema` lists all

    # subagentStop:
    #   commands:
    #     coder:
    #       - npm test
    error: invalid value for `coder`: the text "npm test"
     --> [ROOT]/.conclaude.yaml:4:9
      |
    4 |       - npm test
      |         ^^^^^^^^ expected a mapping with `run`
      |
      = help: write `- run: npm test`

    # subagentStop: {commands: {coder: npm test}}
    error: invalid value for `coder`: the text "npm test"
     --> [ROOT]/.conclaude.yaml:1:34
      |
    1 | subagentStop: {commands: {coder: npm test}}
      |                                  ^^^^^^^^ expected a list
      |
      = help: write it as a list: `- run: npm test`

    # subagentStop: {commands: {"general-purpose|Explore": [{run: x}]}}
    error: invalid pattern `general-purpose|Explore`: `|` does not separate alternatives here
     --> [ROOT]/.conclaude.yaml:1:27
      |
    1 | subagentStop: {commands: {"general-purpose|Explore": [{run: x}]}}
      |                           ^^^^^^^^^^^^^^^^^^^^^^^^^ not a valid pattern
      |
      = help: write "{general-purpose,Explore}"

    # subagentStop: {commands: {coder: [{run: x, timeout: 5 minutes}]}}
    error: invalid value for `timeout`: the text "5 minutes"
     --> [ROOT]/.conclaude.yaml:1:53
      |
    1 | subagentStop: {commands: {coder: [{run: x, timeout: 5 minutes}]}}
      |                                                     ^^^^^^^^^ expected 1 to 3600 seconds, as a number or as `90s` or `5m`
      |
      = help: did you mean `5m`?

    # subagentStop: {commands: {coder: [{run: x, timeout: 2h}]}}
    error: invalid value for `timeout`: the text "2h"
     --> [ROOT]/.conclaude.yaml:1:53
      |
    1 | subagentStop: {commands: {coder: [{run: x, timeout: 2h}]}}
      |                                                     ^^ expected 1 to 3600 seconds, as a number or as `90s` or `5m`

    # subagentStop: {commands: {coder: [{run: true}]}}
    error: invalid value for `run`: `true`
     --> [ROOT]/.conclaude.yaml:1:41
      |
    1 | subagentStop: {commands: {coder: [{run: true}]}}
      |                                         ^^^^ expected text that is not blank
      |
      = help: quote it to make it text: "true"

    # subagentStop: {commands: {coder: [{run: x, message: 5}]}}
    error: invalid value for `message`: the number 5
     --> [ROOT]/.conclaude.yaml:1:53
      |
    1 | subagentStop: {commands: {coder: [{run: x, message: 5}]}}
      |                                                     ^ expected text
      |
      = help: quote it to make it text: "5"

    # subagentStop: {commands: {coder: [{run: x, maxOutputLines: '5'}]}}
    error: invalid value for `maxOutputLines`: the text "5"
     --> [ROOT]/.conclaude.yaml:1:60
      |
    1 | subagentStop: {commands: {coder: [{run: x, maxOutputLines: '5'}]}}
      |                                                            ^^^ expected a whole number from 1 to 10000
      |
      = help: remove the quotes: 5

    # subagentStop: {commands: {coder: [{run: x, showStdout: 'true'}]}}
    error: invalid value for `showStdout`: the text "true"
     --> [ROOT]/.conclaude.yaml:1:56
      |
    1 | subagentStop: {commands: {coder: [{run: x, showStdout: 'true'}]}}
      |                                                        ^^^^^^ expected `true` or `false`
      |
      = help: remove the quotes: true

    # subagentStop: {commands: {coder: [{run: x, showStdout: yes}]}}
    error: invalid value for `showStdout`: the text "yes"
     --> [ROOT]/.conclaude.yaml:1:56
      |
    1 | subagentStop: {commands: {coder: [{run: x, showStdout: yes}]}}
      |                                                        ^^^ expected `true` or `false`
      |
      = help: did you mean `true`?

    # des: {judge: {prompt: x, timeout: '30'}}
    error: invalid value for `timeout`: the text "30"
     --> [ROOT]/.conclaude.yaml:1:35
      |
    1 | des: {judge: {prompt: x, timeout: '30'}}
      |                                   ^^^^ expected 1 to 600 seconds, as a number or as `90s` or `5m`
      |
      = help: remove the quotes: 30
    "#);
}

#[test]
fn what_is_valid_now_is_not_complained_about() {
    let valid = [
        "subagentStop: {commands: {coder: [{run: x, timeout: 5m}, {run: x, timeout: 90s}, {run: x, timeout: 1h}]}}",
        "subagentStop: {commands: {'{general-purpose,Explore}': [{run: x}], 'a[|]b\\|c': [{run: x}]}}",
        "des: {phases: [RED, GREEN]}",
        "des: {onViolation: warn, judge: {prompt: x, timeout: 2m}}",
        "des: {enabled: false}",
        "audit: {required: true}",
    ];
    assert_snapshot!(valid.map(validate).join("\n"), @r"
    # subagentStop: {commands: {coder: [{run: x, timeout: 5m}, {run: x, timeout: 90s}, {run: x, timeout: 1h}]}}
    exit 0
    ----- stdout
    warning: subagentStop: the timeouts of `coder` add up to 3990 s
     --> [ROOT]/.conclaude.yaml:1:27
      |
    1 | subagentStop: {commands: {coder: [{run: x, timeout: 5m}, {run: x, timeout: 90s}, {run: x, timeout: 1h}]}}
      |                           ^^^^^ Claude Code stops SubagentStop after 3600 s: it terminates the running command, later commands do not run, and nothing is blocked
      |
      = help: use shorter timeouts

    valid: [ROOT]/.conclaude.yaml
      subagentStop: 1 pattern, 3 commands

    # subagentStop: {commands: {'{general-purpose,Explore}': [{run: x}], 'a[|]b\|c': [{run: x}]}}
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      subagentStop: 2 patterns, 2 commands

    # des: {phases: [RED, GREEN]}
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      des: gates for prompts with markers, 2 phases, findings block

    # des: {onViolation: warn, judge: {prompt: x, timeout: 2m}}
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      des: gates for prompts with markers, 14 phases, findings warn, with a judge

    # des: {enabled: false}
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      des: off

    # audit: {required: true}
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      no rules configured
      = help: add `subagentStop:` with commands, or uncomment what `conclaude init` wrote; prompts with markers are gated without any rule
    ");
}

#[test]
fn a_timeout_with_a_unit_is_that_time() {
    let config = "subagentStop: {commands: {coder: [{run: sleep 60, timeout: 1s}]}}";
    let reason = Test::stop().config(config).payload("stop_hook_active", false).run().blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `sleep 60` timed out after 1 s and was terminated
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

/// What `doctor` says about the config.
fn about_config(shown: &str) -> String {
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains(" config ")).collect();
    lines.join("\n")
}

#[test]
fn timeouts_that_claude_code_would_cut_short_are_warned_of() {
    let config = "subagentStop:\n  commands:\n    '*': [{run: x, timeout: 40m}]\n    coder: [{run: y, timeout: 15m}, {run: z, timeout: 10m}]\n    tester: [{run: y, timeout: 10m}]\n";
    let test = Test::stop().config(config);
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: subagentStop: the timeouts of `coder` and `*` add up to 3900 s
     --> [ROOT]/.conclaude.yaml:4:5
      |
    4 |     coder: [{run: y, timeout: 15m}, {run: z, timeout: 10m}]
      |     ^^^^^ Claude Code stops SubagentStop after 3600 s: it terminates the running command, later commands do not run, and nothing is blocked
      |
      = help: use shorter timeouts

    valid: [ROOT]/.conclaude.yaml
      subagentStop: 3 patterns, 4 commands
    ");
    let doctor = run_in(&test.root(), &["doctor"]).1;
    assert_snapshot!(about_config(&doctor), @"
    ✓ config       .conclaude.yaml is valid: subagentStop: 3 patterns, 4 commands
    ⚠ config       subagentStop: the timeouts of `coder` and `*` add up to 3900 s: Claude Code stops SubagentStop after 3600 s: it terminates the running command, later commands do not run, and nothing is blocked
    ");
    let first = Test::stop().config(&config.replace("  commands:", "  match: first\n  commands:"));
    assert_snapshot!(first.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: subagentStop: `coder` can never run
     --> [ROOT]/.conclaude.yaml:5:5
      |
    5 |     coder: [{run: y, timeout: 15m}, {run: z, timeout: 10m}]
      |     ^^^^^ `match: first` stops at `*`, which comes before it
      |
      = help: move it before `*`, or remove `match: first`

    warning: subagentStop: `tester` can never run
     --> [ROOT]/.conclaude.yaml:6:5
      |
    6 |     tester: [{run: y, timeout: 10m}]
      |     ^^^^^^ `match: first` stops at `*`, which comes before it
      |
      = help: move it before `*`, or remove `match: first`

    valid: [ROOT]/.conclaude.yaml
      subagentStop: 3 patterns, 4 commands
    ");
}

#[test]
fn doctor_says_what_is_configured() {
    let configs = ["des: {phases: tdd-3}", "maxBlocks: 3", "subagentStop: {commands: {'*': [{run: x}]}}"];
    let shown =
        configs.map(|config| about_config(&run_in(&Test::stop().config(config).root(), &["doctor"]).1));
    assert_snapshot!(shown.join("\n"), @"
    ✓ config       .conclaude.yaml is valid: des: gates for prompts with markers, 3 phases, findings block
    ✓ config       .conclaude.yaml is valid: no rules configured
    ✓ config       .conclaude.yaml is valid: subagentStop: 1 pattern, 1 command
    ");
}
