//! `then: ask`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{answers, decision, is_free, project, prompt, told, tool};
use crate::common::Test;

/// The tool was used, so the user said yes.
fn used(test: Test, call: &str) -> Test {
    is_free(test.then("PostToolUse").payload("tool_use_id", call).payload("tool_response", json!({})))
}

fn call(test: Test, id: &str) -> Test {
    tool(test).payload("tool_use_id", id)
}

#[test]
fn after_a_yes_the_user_is_asked_again_at_each_further_ten_percent() {
    let (test, mut lines) = project("{session: {tokens: 11010}, then: ask, at: 100%}");
    answers(&mut lines, None, 10);
    let outcome = call(test, "t1").run().status(0);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(decision(&outcome), "ask");
    assert_snapshot!(json["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap(), @"The budget of this session is used up: 11k of 11k tokens. If you allow it, you are asked again at 110 %. `conclaude budget raise --session session-1` in a terminal raises it. (.conclaude.yaml:1)");
    // Nobody said yes to that call.
    let outcome = call(outcome.again(), "t2").run();
    assert_eq!(decision(&outcome), "ask");
    let test = used(outcome.again(), "another");
    let outcome = call(test, "t3").run();
    assert_eq!(decision(&outcome), "ask");
    let test = used(outcome.again(), "t3");
    let test = is_free(call(test, "t4"));
    answers(&mut lines, None, 1);
    let outcome = call(test, "t5").run();
    assert_eq!(decision(&outcome), "ask");
    let test = used(outcome.again(), "t5");
    is_free(call(is_free(call(test, "t6")), "t7"));
}

#[test]
fn a_yes_counts_also_where_a_command_has_something_against_the_result() {
    let (test, mut lines) = super::with_config(
        "budget: {session: {tokens: 1k}, then: ask}\npostToolUse: {commands: {Bash: [{run: 'false', onFailure: block}]}}\n",
    );
    answers(&mut lines, None, 1);
    let outcome = call(test, "t1").run();
    assert_eq!(decision(&outcome), "ask");
    let test = outcome.again().then("PostToolUse").payload("tool_response", json!({}));
    is_free(call(test.run().status(2).again(), "t2"));
}

#[test]
fn at_prompts_it_is_shown_and_nothing_is_refused() {
    let (test, mut lines) = project("{session: {tokens: 1k}, then: ask}");
    answers(&mut lines, None, 1);
    let outcome = prompt(test, "go on").run();
    assert_snapshot!(told(&outcome).1, @"conclaude: ⚠ The budget of this session is used up: 1.1k of 1k tokens. You are asked about tools. `conclaude budget raise --session session-1` in a terminal raises it. (.conclaude.yaml:1)");
    let outcome = prompt(outcome.again(), "go on").run();
    assert!(told(&outcome).1.contains("used up"), "at every prompt");
}

#[test]
fn where_nobody_can_be_asked_tools_are_denied() {
    let (test, mut lines) = project("{session: {tokens: 1k}, then: ask}");
    answers(&mut lines, None, 1);
    let outcome = test.payload("permission_mode", "dontAsk").run().status(2);
    assert_snapshot!(outcome.stderr, @"
    The budget of this session is used up: 1.1k of 1k tokens. Only the user can let this go on, or raise it by `conclaude budget raise --session session-1`: finish now, and report what is done and what is left. (.conclaude.yaml:1)
    In this permission mode nobody can be asked, so it is denied.
    ");
}
