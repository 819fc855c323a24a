//! Budgets: what a session, an agent and a day may use, and what happens when it is used up.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::transcripts::Transcripts;
use crate::common::{Outcome, Test};

mod agents;
mod ask;
mod clients;
mod config;
mod counting;
mod day;
#[cfg(unix)]
mod raise;
mod status;

/// Tokens of one answer in a test, as budgets count them.
const ANSWER: u64 = 1_101;

/// A call of Bash on the main thread, in a project with this budget, and its transcripts.
fn project(budget: &str) -> (Test, Transcripts) {
    with_config(&format!("budget: {budget}\n"))
}

fn with_config(config: &str) -> (Test, Transcripts) {
    let test = Test::bash(config, "ls");
    let lines = Transcripts::of(&test.root(), "session-1");
    let path = lines.path(None).display().to_string();
    (test.payload("transcript_path", path), lines)
}

/// The same call in a subagent.
fn in_agent(test: Test, id: &str) -> Test {
    test.payload("agent_id", id).payload("agent_type", "coder")
}

fn on_main(test: Test) -> Test {
    test.without("agent_id").without("agent_type")
}

/// Claude answers so often.
fn answers(lines: &mut Transcripts, agent: Option<&str>, times: usize) {
    for _ in 0..times {
        lines.says(agent, "hm");
    }
}

fn prompt(test: Test, text: &str) -> Test {
    on_main(test).then("UserPromptSubmit").payload("prompt", text)
}

fn tool(test: Test) -> Test {
    test.then("PreToolUse")
}

/// What Claude is told beside an answer that allows, and what the user is shown.
fn told(outcome: &Outcome) -> (String, String) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    let context = json["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    let message = json["systemMessage"].as_str().unwrap_or_default();
    assert_eq!(json["hookSpecificOutput"].get("permissionDecision"), None, "{json}");
    (outcome.steady(context), outcome.steady(message))
}

#[track_caller]
fn is_free(test: Test) -> Test {
    test.run().silent().again()
}

fn decision(outcome: &Outcome) -> String {
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    let decision = json["hookSpecificOutput"]["permissionDecision"].as_str().or(json["decision"].as_str());
    decision.unwrap_or("free").to_owned()
}

#[test]
fn claude_and_the_user_are_told_once_at_80_percent_and_once_when_it_is_used_up() {
    let (test, mut lines) = project("{session: {tokens: 10k}}");
    answers(&mut lines, None, 7);
    let test = is_free(test);
    answers(&mut lines, None, 1);
    let outcome = test.run();
    let (claude, user) = told(&outcome);
    assert_snapshot!(claude, @"88 % of the budget of this session is used: 8.8k of 10k tokens. Do what matters most first.");
    assert_snapshot!(user, @"conclaude: ⚠ 88 % of the budget of this session is used: 8.8k of 10k tokens. When it is used up, nothing is denied. (.conclaude.yaml:1)");
    let test = is_free(outcome.again());
    let test = is_free(prompt(test, "go on"));
    answers(&mut lines, None, 2);
    let outcome = tool(test).run();
    let (claude, user) = told(&outcome);
    assert_snapshot!(claude, @"The budget of this session is used up: 11k of 10k tokens. Finish now, and report what is done and what is left.");
    assert_snapshot!(user, @"conclaude: ⚠ The budget of this session is used up: 11k of 10k tokens. Nothing is denied, since `then` is `warn`. (.conclaude.yaml:1)");
    answers(&mut lines, None, 20);
    is_free(is_free(outcome.again()).payload("tool_name", "Write"));
}

#[test]
fn at_says_when_it_is_told() {
    let (test, mut lines) = project("{session: {tokens: 10k}, at: 10%}");
    answers(&mut lines, None, 1);
    let outcome = test.run();
    assert!(told(&outcome).0.starts_with("11 % of the budget"), "{}", outcome.stdout);
    let (test, mut lines) = project("{session: {tokens: 10k}, at: 100%}");
    answers(&mut lines, None, 9);
    let test = is_free(test);
    answers(&mut lines, None, 1);
    let outcome = test.run();
    assert!(told(&outcome).0.starts_with("The budget of this session is used up"), "{}", outcome.stdout);
}

#[test]
fn block_denies_tools_and_refuses_prompts_and_never_a_stop_or_the_report_of_an_agent() {
    let (test, mut lines) = project("{session: {tokens: 3k}, then: block}");
    answers(&mut lines, None, 3);
    let outcome = test.run();
    assert_snapshot!(outcome.snapshot(), @r#"
    exit 2
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "The budget of this session is used up: 3.3k of 3k tokens. Use no more tools: finish now, and report what is done and what is left. Only the user can raise it, by `conclaude budget raise --session session-1`. (.conclaude.yaml:1)"
      }
    }
    ----- stderr: the same
    "#);
    let outcome = prompt(outcome.again(), "go on").run();
    assert_snapshot!(outcome.snapshot(), @r#"
    exit 2
    ----- stdout
    {
      "decision": "block",
      "reason": "The budget of this session is used up: 3.3k of 3k tokens. `conclaude budget raise --session session-1` in a terminal raises it. (.conclaude.yaml:1)"
    }
    ----- stderr: the same
    "#);
    let report =
        "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>";
    let outcome = prompt(outcome.again(), report).run();
    let (claude, user) = told(&outcome);
    assert!(claude.contains("used up") && user.contains("raises it"), "{claude}\n{user}");
    let test = is_free(prompt(outcome.again(), report));
    let test = is_free(test.then("Stop").payload("stop_hook_active", false));
    let test = is_free(test.then("SessionEnd").payload("reason", "clear"));
    // The result of a session that must have a form.
    let test = is_free(tool(test).payload("tool_name", "StructuredOutput"));
    // Another session has its own budget.
    is_free(
        tool(test)
            .payload("tool_name", "Bash")
            .payload("session_id", "session-2")
            .payload("transcript_path", "/nowhere.jsonl"),
    );
}

#[test]
fn a_session_is_its_main_thread_with_its_subagents() {
    let (test, mut lines) = project("{session: {tokens: 4k}, then: block}");
    answers(&mut lines, None, 1);
    let test = is_free(test);
    answers(&mut lines, Some("a1"), 1);
    let test = is_free(in_agent(test, "a1"));
    answers(&mut lines, Some("a2"), 2);
    // It has used no tool since, and is counted with the next prompt.
    let outcome = prompt(test, "go on").run().status(2);
    assert!(outcome.stderr.contains("4.4k of 4k tokens"), "{}", outcome.stderr);
    assert_eq!(decision(&tool(outcome.again()).run()), "deny");
}

#[test]
fn tokens_are_input_output_and_cache_writes_and_reads_only_cost() {
    let config =
        "report: {prices: {claude-test-1: {input: 1000, output: 0, cacheRead: 1000000, cacheWrite: 0}}}\n";
    let (test, mut lines) =
        with_config(&format!("{config}budget: {{session: {{tokens: 1101}}, then: block, at: 100%}}\n"));
    answers(&mut lines, None, 1);
    let outcome = test.run();
    assert!(outcome.stderr.contains("1.1k of 1.1k tokens"), "{}", outcome.stderr);
    // A thousand input tokens are a dollar, ten cache reads ten more.
    let (test, mut lines) = with_config(&format!("{config}budget: {{session: {{cost: 11}}, then: block}}\n"));
    answers(&mut lines, None, 1);
    let outcome = test.run();
    assert!(outcome.stderr.contains("$11.00 of $11.00"), "{}", outcome.stderr);
}

#[test]
fn models_have_built_in_prices_and_advisors_cost_as_well() {
    let (test, mut lines) = project("{session: {cost: 4}, then: block, at: 100%}");
    let usage = json!({"input_tokens": 200_000, "output_tokens": 0, "iterations": [
        {"type": "advisor_message", "model": "claude-opus-4-1-20250805", "input_tokens": 200_000, "output_tokens": 0}]});
    let message =
        json!({"id": "m", "role": "assistant", "model": "claude-opus-4-5", "content": [], "usage": usage});
    lines.line(None, json!({"type": "assistant", "message": message}));
    let outcome = test.run();
    assert!(outcome.stderr.contains("$4.00 of $4.00"), "{}", outcome.stderr);
}

#[test]
fn an_unknown_price_is_said_once_a_session_and_denies_nothing() {
    let (test, mut lines) = project("{session: {cost: 0.001, tokens: 100k}, then: block}");
    answers(&mut lines, None, 10);
    let outcome = test.run();
    let (claude, user) = told(&outcome);
    assert_eq!(claude, "");
    assert_snapshot!(user, @"conclaude: ⚠ The price of `claude-test-1` is not known, so what this session costs is not known either. Budgets of cost deny nothing in it; `report.prices` can say the price. (.conclaude.yaml:1)");
    answers(&mut lines, None, 10);
    let test = is_free(prompt(is_free(outcome.again()), "go on"));
    // Its tokens count anyway.
    answers(&mut lines, None, 75);
    assert_eq!(decision(&tool(test).run()), "deny");
}

#[test]
fn calls_that_something_else_refuses_are_not_told_about_a_budget_before_one_is_made() {
    let (test, mut lines) =
        with_config("preToolUse: {uneditableFiles: [x]}\nbudget: {session: {tokens: 1k}}\n");
    answers(&mut lines, None, 1);
    let outcome = test.payload("tool_input", json!({"command": "rm x"})).run().status(2);
    assert!(!outcome.stderr.contains("budget"), "{}", outcome.stderr);
    let outcome = outcome.again().payload("tool_input", json!({"command": "ls"})).run();
    assert!(told(&outcome).0.contains("used up"), "{}", outcome.stdout);
}

#[test]
fn everything_is_in_the_trail() {
    let (test, mut lines) = project("{session: {tokens: 3k}, then: block}");
    answers(&mut lines, None, 2);
    let test = is_free(test);
    answers(&mut lines, None, 1);
    let outcome = test.run();
    assert_snapshot!(outcome.again().shows(&["why"]), @"
    exit 0
    ----- stdout
    1: PreToolUse Bash ls denied
      ✗ The budget of this session is used up: 3.3k of 3k tokens.
        Use no more tools: finish now, and report what is done and what is left. Only the user can raise it, by `conclaude budget raise --session session-1`.
        budget.session.tokens in .conclaude.yaml:1
    today: cannot be determined: what was used then is no longer known; `conclaude budget` shows what is used now
    `conclaude why 1 --all` shows the rest
    ");
}

#[test]
fn events_without_a_budget_keep_no_count() {
    let (test, mut lines) = with_config("audit: {enabled: true}\n");
    answers(&mut lines, None, 3);
    let outcome = test.run().silent();
    assert!(!outcome.has(".state-home/conclaude/budget"));
}

#[test]
fn a_budget_that_cannot_be_counted_denies_nothing_and_says_so_at_prompts() {
    let (test, mut lines) = project("{session: {tokens: 1k}, then: block}");
    answers(&mut lines, None, 3);
    let test = is_free(test.file(".state-home/conclaude/budget", "not a folder"));
    let outcome = prompt(test, "go on").run();
    let message = outcome.system_message();
    assert!(message.contains("cannot be counted, so its budget denies nothing"), "{message}");
}
