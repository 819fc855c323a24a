use std::path::Path;

use super::*;

fn parse(text: &str) -> ConclaudeConfig {
    ConclaudeConfig::parse(text, Path::new(".conclaude.yaml")).unwrap_or_else(|error| panic!("{error}"))
}

fn error_of(text: &str) -> String {
    ConclaudeConfig::parse(text, Path::new(".conclaude.yaml")).unwrap_err().to_string()
}

// Scenario: Valid subagentStop configuration
#[test]
fn a_full_config_loads() {
    let config = parse(
        r#"
maxBlocks: 5
subagentStart:
  commands:
    "*":
      - run: echo start
        onFailure: warn
subagentStop:
  match: first
  commands:
    coder:
      - run: npm run lint
        message: Linting failed
        showStdout: true
        showStderr: false
        maxOutputLines: 100
        timeout: 600
        onFailure: block
        onTimeout: warn
        shell: bash
    "test*":
      - run: |
          npm test
          npm run e2e
notifications:
  enabled: true
  hooks: ["*", Stop]
"#,
    );
    assert_eq!(config.max_blocks(), 5);
    let stop = config.section(EventKind::SubagentStop).unwrap();
    assert_eq!(stop.mode, Some(crate::pattern::MatchMode::First));
    let [(coder, commands), (test, scripts)] = stop.entries() else { panic!("two patterns expected") };
    assert_eq!((coder.as_str(), test.as_str()), ("coder", "test*"));
    assert_eq!(commands[0].run.as_str(), "npm run lint");
    assert_eq!(commands[0].message.as_deref(), Some("Linting failed"));
    assert_eq!(commands[0].max_output_lines.map(Bounded::get), Some(100));
    assert_eq!(commands[0].timeout.map(Seconds::get), Some(600));
    assert_eq!(commands[0].on_failure, Some(Reaction::Block));
    assert_eq!(commands[0].on_timeout, Some(Reaction::Warn));
    assert_eq!(scripts[0].run.as_str(), "npm test\nnpm run e2e\n");
    let hooks = config.notifications.unwrap().hooks.unwrap();
    assert_eq!(*hooks, [HookName::All, HookName::One(EventKind::Stop)]);
}

// Scenario: Multiple pattern configuration
#[test]
fn wildcard_and_specific_patterns_live_together_in_the_order_of_the_file() {
    let config =
        parse("subagentStop:\n  commands:\n    z: [{run: a}]\n    \"*\": [{run: b}]\n    a: [{run: c}]\n");
    let section = config.section(EventKind::SubagentStop).unwrap();
    let patterns: Vec<_> = section.entries().iter().map(|(p, _)| p.as_str()).collect();
    assert_eq!(patterns, ["z", "*", "a"]);
}

#[test]
fn null_equals_absent_everywhere() {
    let empty = ConclaudeConfig::default();
    for text in [
        "",
        "# only a comment\n",
        "---\n",
        "null\n",
        "{}\n",
        "\u{feff}",
        "maxBlocks: null\nsubagentStop: ~\n",
    ] {
        assert_eq!(parse(text), empty, "{text:?}");
    }
    let config = parse(
        "subagentStart:\n  match:\n  commands:\nsubagentStop:\n  commands:\n    a:\n    b: [{run: x, message: null, timeout: ~}]\nnotifications:\n  hooks:\n  enabled:\n",
    );
    assert_eq!(config.section(EventKind::SubagentStop).unwrap().entries().len(), 2);
}

#[test]
fn crlf_and_a_bom_do_not_matter() {
    let config = parse("\u{feff}subagentStop:\r\n  commands:\r\n    a:\r\n      - run: x\r\n");
    assert_eq!(config.section(EventKind::SubagentStop).unwrap().entries()[0].1[0].run.as_str(), "x");
}

#[test]
fn a_command_named_like_a_boolean_must_be_quoted() {
    let error = error_of("subagentStop: {commands: {a: [{run: true}]}}");
    assert!(error.contains("quote it to make it text: \"true\""), "{error}");
    let config = parse("subagentStop: {commands: {a: [{run: \"true\"}]}}");
    assert_eq!(config.section(EventKind::SubagentStop).unwrap().entries()[0].1[0].run.as_str(), "true");
}

// Scenario: Invalid command structure
#[test]
fn a_command_without_run_is_named() {
    insta::assert_snapshot!(error_of("subagentStop:\n  commands:\n    coder:\n      - message: Linting failed\n"), @"
    invalid config .conclaude.yaml: 1 problem

    error: missing field `run` in `coder`
     --> .conclaude.yaml:4:9
      |
    4 |       - message: Linting failed
      |         ^^^^^^^ `run` is required here
    ");
}

// Scenario: Invalid maxOutputLines value
#[test]
fn max_output_lines_out_of_range_names_the_range() {
    for (value, found) in [
        ("0", "the number 0"),
        ("-1", "the number -1"),
        ("10001", "the number 10001"),
        ("1.5", "1.5"),
        ("many", "\"many\""),
    ] {
        let error = error_of(&format!(
            "subagentStop:\n  commands:\n    a:\n      - run: x\n        maxOutputLines: {value}\n"
        ));
        assert!(error.contains("expected a whole number from 1 to 10000"), "{error}");
        assert!(error.contains(found) && error.contains(".conclaude.yaml:5:25"), "{error}");
    }
}

// Scenario: Pattern is empty string
#[test]
fn an_empty_pattern_is_an_error() {
    insta::assert_snapshot!(error_of("subagentStop:\n  commands:\n    \"\":\n      - run: x\n"), @r#"
    invalid config .conclaude.yaml: 1 problem

    error: invalid pattern: a pattern cannot be empty
     --> .conclaude.yaml:3:5
      |
    3 |     "":
      |     ^^ not a valid pattern
      |
      = help: patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character
    "#);
}

#[test]
fn all_problems_are_reported_at_once() {
    insta::assert_snapshot!(
        error_of(
            r#"maxBlocks: 9
subagentStop:
  comands: {}
  match: frist
  commands:
    "[a":
      - run: ""
        showStdout: yes
        timeot: 5
    coder:
      run: npm run lint
    coder: []
subagentStart:
  commands:
    "*":
      - run: x
        onFailure: block
notifications:
  hooks: [SubagentStoop]
frobnicate: 1
"#
        ),
        @r#"
    invalid config .conclaude.yaml: 12 problems

    error: invalid value for `maxBlocks`: the number 9
     --> .conclaude.yaml:1:12
      |
    1 | maxBlocks: 9
      |            ^ expected a whole number from 1 to 7

    error: unknown key `comands` in `subagentStop`
     --> .conclaude.yaml:3:3
      |
    3 |   comands: {}
      |   ^^^^^^^ not a key of this section
      |
      = help: did you mean `commands`?

    error: invalid value for `match`: the text "frist"
     --> .conclaude.yaml:4:10
      |
    4 |   match: frist
      |          ^^^^^ expected one of `all`, `first`
      |
      = help: did you mean `first`?

    error: invalid pattern `[a`: `[` without a `]` after it
     --> .conclaude.yaml:6:5
      |
    6 |     "[a":
      |     ^^^^ not a valid pattern
      |
      = help: patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character

    error: invalid value for `run`: the text ""
     --> .conclaude.yaml:7:14
      |
    7 |       - run: ""
      |              ^^ expected text that is not blank

    error: invalid value for `showStdout`: the text "yes"
     --> .conclaude.yaml:8:21
      |
    8 |         showStdout: yes
      |                     ^^^ expected `true` or `false`
      |
      = help: did you mean `true`?

    error: unknown key `timeot` in `[a`
     --> .conclaude.yaml:9:9
      |
    9 |         timeot: 5
      |         ^^^^^^ not a key of this section
      |
      = help: did you mean `timeout`?

    error: invalid value for `coder`: a mapping
      --> .conclaude.yaml:11:7
       |
    11 |       run: npm run lint
       |       ^^^^^^^^^^^^^^^^^ expected a list
       |
       = help: start each entry with `- `

    error: duplicate key `coder` in `commands`
      --> .conclaude.yaml:12:5
       |
    12 |     coder: []
       |     ^^^^^ already given on line 10
       |
       = help: merge the two, or remove one

    error: invalid value for `onFailure`: the text "block"
      --> .conclaude.yaml:17:20
       |
    17 |         onFailure: block
       |                    ^^^^^ expected `warn`
       |
       = help: this event cannot be blocked, use `warn`; events that can: `preToolUse`, `postToolUse`, `userPromptSubmit`, `subagentStop`, `stop`, `postToolUseFailure`, `postToolBatch`, `permissionRequest`, `userPromptExpansion`, `preCompact`, `preModelSwitch`, `taskCreated`, `taskCompleted`, `teammateIdle`, `elicitation`, `elicitationResult`, `configChange`, `worktreeCreate`

    error: invalid value for `hooks`: the text "SubagentStoop"
      --> .conclaude.yaml:19:11
       |
    19 |   hooks: [SubagentStoop]
       |           ^^^^^^^^^^^^^ expected one of 34 known names
       |
       = help: did you mean `SubagentStop`?

    error: unknown key `frobnicate` in the config
      --> .conclaude.yaml:20:1
       |
    20 | frobnicate: 1
       | ^^^^^^^^^^ not a key of this section
       |
       = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `packs`, `report`, `enforce`, `clients`, `budget`, and events in camelCase, such as `subagentStop`
    "#
    );
}

#[test]
fn an_unquoted_star_says_quote_it() {
    insta::assert_snapshot!(error_of("subagentStop:\n  commands:\n    *coder:\n      - run: x\n"), @r#"
    invalid config .conclaude.yaml: 1 problem

    error: `*coder` must be quoted
     --> .conclaude.yaml:3:5
      |
    3 |     *coder:
      |     ^ an alias of an unknown anchor
      |
      = help: YAML reads a leading `*` as its own syntax: write "*coder"
    "#);
    for key in ["*", "[ab]*", "{foo,bar}", "*:x"] {
        let error = error_of(&format!("subagentStop:\n  commands:\n    {key}:\n      - run: x\n"));
        assert!(error.contains(&format!("`{key}` must be quoted")), "{error}");
        assert!(error.contains(".conclaude.yaml:3:"), "{error}");
    }
}

#[test]
fn broken_yaml_has_a_position() {
    for (text, position) in [
        ("a: b: c\n", ":1:5"),
        ("maxBlocks: 3\nsubagentStop: {", ":2:15"),
        ("a:\n  b: 1\n c: 2\n", ":3:2"),
        ("- list\n", ":1:1"),
        ("---\nmaxBlocks: 1\n---\nmaxBlocks: 2\n", ":3:1"),
    ] {
        let error = error_of(text);
        assert!(error.contains(&format!(".conclaude.yaml{position}")), "{text:?}: {error}");
    }
}

#[test]
fn an_alias_bomb_is_an_error() {
    let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let refs = vec![format!("*a{}", level - 1); 10].join(",");
        text.push_str(&format!("a{level}: &a{level} [{refs}]\n"));
    }
    assert!(error_of(&text).contains(".conclaude.yaml:"));
}

#[test]
fn probable_mistakes_are_warnings() {
    let config = parse(
        "subagentStop:\n  match: first\n  commands:\n    \"*\": [{run: x, maxOutputLines: 5, show: never}]\n    coder: []\nnotifications: {enabled: true}\n",
    );
    let warnings: Vec<String> = config.warnings().iter().map(Remark::in_one_line).collect();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings.iter().any(|s| s.contains("`coder` has no commands")));
    assert!(warnings.iter().any(|s| s.contains("limits output that is never shown")));
    assert!(warnings.iter().any(|s| s.contains("names no event")));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_config_panic(text in "[-a-z:*\\[\\]{}\"'#&! \n\t0-9]{0,80}") {
        if let Err(error) = ConclaudeConfig::parse(&text, Path::new("x")) {
            proptest::prop_assert!(error.to_string().contains("x:"), "{}", error);
        }
    }
}

#[test]
fn a_duplicate_key_is_an_error_everywhere() {
    for yaml in [
        "maxBlocks: 1\nmaxBlocks: 2\n",
        "subagentStop: {match: all, match: first}\n",
        "subagentStop: {commands: {a: [{run: x}], b: [{run: x}], a: [{run: y}]}}\n",
        "subagentStop: {commands: {a: [{run: x, run: y}]}}\n",
        "subagentStart: {commands: {a: [{run: x}], 'a': null}}\n",
        "notifications: {enabled: true, enabled: false}\n",
        "des: {scope: warn, scope: off}\n",
        "des: {judge: {prompt: x, prompt: y}}\n",
        "audit: {required: true, required: false}\n",
    ] {
        let error = ConclaudeConfig::parse(yaml, Path::new("x.yaml")).unwrap_err().to_string();
        assert!(error.contains("duplicate key"), "{yaml}: {error}");
    }
}

#[test]
fn anchors_are_kept_in_keys_that_start_with_x() {
    let text = "x-lint: &lint {run: npm run lint, timeout: 60}\nsubagentStop:\n  x-note: why\n  commands:\n    x-ray: [*lint]\n    coder:\n      - <<: *lint\n        x-more: {a: 1}\n        onFailure: block\n";
    let config = ConclaudeConfig::parse(text, Path::new("x")).unwrap();
    let section = config.section(EventKind::SubagentStop).unwrap();
    let names: Vec<&str> = section.entries().iter().map(|(pattern, _)| pattern.as_str()).collect();
    assert_eq!(names, ["x-ray", "coder"]);
    assert_eq!(
        section.commands().map(|command| command.run.as_str()).collect::<Vec<_>>(),
        ["npm run lint"; 2]
    );
}

#[test]
fn every_key_without_a_meaning_for_hooks_is_one_of_a_command() {
    let fields = crate::yaml::fields_of::<CommandConfig>();
    for key in commands::NOT_FOR_HOOKS {
        assert!(fields.contains(&key), "{key}");
    }
}
