//! The section `budget` of the config.

use insta::assert_snapshot;

use super::{answers, decision, in_agent, is_free, project};
use crate::common::Test;
use crate::common::transcripts::Transcripts;

fn validate(budget: &str) -> String {
    Test::event("Stop").config(budget).shows(&["validate"])
}

#[test]
fn amounts_are_above_0_and_unknown_keys_are_errors() {
    assert_snapshot!(validate(
        "budget:\n  session: {cost: 0, tokens: 5m}\n  agent: {toolCalls: -1, minutes: \"30\", tokens: 500K}\n  day: {costs: 5}\n  at: 120%\n  then: deny\n"
    ), @r#"
    exit 1
    ----- stdout
    error: invalid value for `cost`: the number 0
     --> [ROOT]/.conclaude.yaml:2:19
      |
    2 |   session: {cost: 0, tokens: 5m}
      |                   ^ expected a number above 0, as it is or as `500k` or `5M`

    error: invalid value for `tokens`: the text "5m"
     --> [ROOT]/.conclaude.yaml:2:30
      |
    2 |   session: {cost: 0, tokens: 5m}
      |                              ^^ expected a number above 0, as it is or as `500k` or `5M`
      |
      = help: write 5M: `k` is a thousand, `M` a million

    error: invalid value for `toolCalls`: the number -1
     --> [ROOT]/.conclaude.yaml:3:22
      |
    3 |   agent: {toolCalls: -1, minutes: "30", tokens: 500K}
      |                      ^^ expected a number above 0, as it is or as `500k` or `5M`

    error: invalid value for `minutes`: the text "30"
     --> [ROOT]/.conclaude.yaml:3:35
      |
    3 |   agent: {toolCalls: -1, minutes: "30", tokens: 500K}
      |                                   ^^^^ expected a number above 0, as it is or as `500k` or `5M`
      |
      = help: write 30

    error: invalid value for `tokens`: the text "500K"
     --> [ROOT]/.conclaude.yaml:3:49
      |
    3 |   agent: {toolCalls: -1, minutes: "30", tokens: 500K}
      |                                                 ^^^^ expected a number above 0, as it is or as `500k` or `5M`
      |
      = help: write 500k: `k` is a thousand, `M` a million

    error: unknown key `costs` in `day`
     --> [ROOT]/.conclaude.yaml:4:9
      |
    4 |   day: {costs: 5}
      |         ^^^^^ not a key of this section
      |
      = help: did you mean `cost`?

    error: invalid value for `at`: the text "120%"
     --> [ROOT]/.conclaude.yaml:5:7
      |
    5 |   at: 120%
      |       ^^^^ expected 1% to 100%

    error: invalid value for `then`: the text "deny"
     --> [ROOT]/.conclaude.yaml:6:9
      |
    6 |   then: deny
      |         ^^^^ expected one of `warn`, `ask`, `block`
      |
      = help: did you mean `block`?

    error: invalid config [ROOT]/.conclaude.yaml: 8 problems
    "#);
}

#[test]
fn what_is_valid_is_listed() {
    assert_snapshot!(validate(
        "budget: {session: {cost: 20, tokens: 5M}, agent: {toolCalls: 200, minutes: 0.5, tokens: 500k}, day: {cost: 100, tokens: 20M}, at: 75, then: ask}\n"
    ), @"
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      budget: session $20.00, session 5M tokens, agent 200 tool calls, agent 0.5 minutes, agent 500k tokens, day $100.00, day 20M tokens; reported at 75 %, then ask
    ");
}

#[test]
fn a_budget_without_an_amount_counts_nothing() {
    let shown = validate("budget: {then: block}\n");
    assert!(shown.contains("no amount is set, so nothing is counted"), "{shown}");
}

#[test]
fn a_file_with_errors_keeps_its_budget() {
    let (test, mut lines) =
        super::with_config("budget: {session: {tokens: 1k}, then: block}\nstop: {commands: 5}\n");
    answers(&mut lines, None, 1);
    assert_eq!(decision(&test.run()), "deny");
}

/// A project whose user has this budget in their own config.
fn with_user(user: &str, project: &str) -> (Test, Transcripts) {
    let (test, lines) = super::project(project);
    let home = test.root().join(".home/.config");
    (
        test.file(".home/.config/conclaude/config.yaml", format!("budget: {user}\n"))
            .env("XDG_CONFIG_HOME", home.to_str().unwrap()),
        lines,
    )
}

#[test]
fn an_inner_layer_can_only_be_stricter() {
    for (user, project, answered, expected) in [
        ("{session: {tokens: 3k}, then: block}", "{session: {tokens: 9k}}", 3, "deny"),
        ("{session: {tokens: 3k}, then: block}", "{session: {tokens: 9k}, then: warn}", 3, "deny"),
        ("{session: {tokens: 3k}, then: block}", "null", 3, "deny"),
        ("{session: {tokens: 9k}, then: warn}", "{session: {tokens: 3k}, then: block}", 3, "deny"),
        ("{session: {tokens: 9k}, then: ask}", "{session: {tokens: 3k}, then: warn}", 3, "ask"),
        ("{session: {tokens: 9k}, then: block}", "{day: {tokens: 1k}}", 3, "free"),
    ] {
        let (test, mut lines) = with_user(user, project);
        answers(&mut lines, None, answered);
        assert_eq!(decision(&test.run()), expected, "{user} {project}");
    }
}

#[test]
fn an_inner_layer_does_not_have_the_user_told_later() {
    for (user, project, told) in [
        ("{session: {tokens: 10k}}", "{at: 100%}", true),
        ("{session: {tokens: 10k}, at: 90%}", "{at: 100%}", false),
        ("{session: {tokens: 10k}, at: 90%}", "{at: 50%}", true),
    ] {
        let (test, mut lines) = with_user(user, project);
        answers(&mut lines, None, 8);
        assert_eq!(!test.run().stdout.is_empty(), told, "{user} {project}");
    }
}

#[test]
fn validate_names_what_an_outer_layer_does_not_let_be_looser() {
    let (test, _) = with_user("{session: {cost: 5}, then: block}", "{session: {cost: 50}, then: warn}");
    let config = test.root().join(".home/.config");
    let output = crate::common::conclaude_in(&test.root())
        .arg("validate")
        .env("XDG_CONFIG_HOME", config)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for key in ["budget.session.cost: this value has no effect", "budget.then: this value has no effect"] {
        assert!(text.contains(key), "{text}");
    }
}

/// The events that `install` registers, with their matchers.
fn registered(config: &str) -> String {
    let test = Test::event("Stop").config(config);
    test.shows(&["install"]);
    let settings = std::fs::read_to_string(test.root().join(".claude/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let events = settings["hooks"].as_object().unwrap().iter().map(|(event, entries)| {
        match entries[0]["matcher"].as_str() {
            Some(matcher) => format!("{event}({matcher})"),
            None => event.clone(),
        }
    });
    events.collect::<Vec<_>>().join(" ")
}

#[test]
fn install_registers_what_a_budget_needs_and_no_more() {
    let off = "des: {enabled: false}\n";
    let of = |budget: &str| registered(&format!("{off}budget: {budget}\n"));
    assert_snapshot!(registered(off), @"SessionStart SessionEnd");
    assert_snapshot!(of("{session: {cost: 20}}"), @"SessionStart PreToolUse PostToolUse(Agent|Task) UserPromptSubmit SubagentStop Stop SessionEnd");
    assert_snapshot!(of("{agent: {toolCalls: 200}}"), @"SessionStart PreToolUse PostToolUse(Agent|Task) UserPromptSubmit Stop SessionEnd");
    assert_snapshot!(of("{agent: {minutes: 30}}"), @"SessionStart PreToolUse PostToolUse(Agent|Task) UserPromptSubmit SubagentStart SubagentStop Stop SessionEnd");
    assert_snapshot!(of("{day: {tokens: 5M}, then: ask}"), @"SessionStart PreToolUse PostToolUse UserPromptSubmit SubagentStop Stop SessionEnd PostToolUseFailure");
    assert_snapshot!(of("{then: block}"), @"SessionStart SessionEnd");
}

#[test]
fn explain_names_the_amounts_and_a_sample_uses_nothing() {
    let (test, mut lines) = project("{session: {tokens: 1k}, agent: {minutes: 1}, then: block}");
    answers(&mut lines, None, 1);
    let test = test.run().status(2).again();
    let shown = test.shows(&["explain", "PreToolUse", "--command", "ls"]);
    assert!(
        shown.contains("(session.tokens 1k tokens,\n    agent.minutes 1 minute); then: block"),
        "{shown}"
    );
    assert!(shown.contains("→ allowed"), "{shown}");
    // A real payload is of a session whose use is known.
    let payload = String::from_utf8(test.input()).unwrap();
    let test = test.file("payload.json", payload);
    let shown = test.shows(&["explain", "--payload", "payload.json"]);
    assert!(shown.contains("→ denied") && shown.contains("is used up: 1.1k of 1k tokens"), "{shown}");
}

#[test]
fn agents_may_not_raise_their_budget() {
    let (test, _) = project("{session: {tokens: 1M}}");
    let raise = |command: &str| serde_json::json!({"command": command});
    for command in [
        "conclaude budget raise",
        "npx conclaude budget raise --by 100%",
        "tmux new -d 'conclaude budget raise'",
    ] {
        let (one, _) = project("{session: {tokens: 1M}}");
        let outcome = one.payload("tool_input", raise(command)).run();
        assert_eq!(decision(&outcome), "ask", "{command}");
        assert_eq!(decision(&in_agent(outcome.again(), "a1").run()), "deny", "{command}");
    }
    is_free(test.payload("tool_input", raise("conclaude budget --json")));
}
