//! Budgets in other clients, whose transcripts are not read.

use insta::assert_snapshot;

use super::{answers, decision, in_agent, project};
use crate::common::{Outcome, Test, binary};

/// As it is registered with the client.
fn run_with(client: &str, test: Test) -> Outcome {
    let mut command = test.program(binary());
    command.args(["--client", client, "PreToolUse"]);
    test.run_as(command)
}

#[test]
fn only_calls_and_minutes_count_where_transcripts_are_not_read() {
    let (test, mut lines) =
        project("{session: {tokens: 1k}, agent: {toolCalls: 2, tokens: 1}, then: block, at: 100%}");
    answers(&mut lines, None, 3);
    answers(&mut lines, Some("a1"), 3);
    let test = run_with("qwen", test).silent().again();
    let test = run_with("qwen", in_agent(test, "a1")).status(0).again();
    let test = run_with("qwen", test).status(0).again();
    let outcome = run_with("qwen", test);
    assert_eq!(decision(&outcome), "deny");
    assert!(outcome.stderr.contains("2 of 2 tool calls"), "{}", outcome.stderr);
}

#[test]
fn a_question_of_a_budget_where_nobody_can_be_asked_is_a_denial_that_names_no_permit() {
    let (test, _) = project("{agent: {toolCalls: 1}, then: ask, at: 100%}");
    let test = run_with("codex", in_agent(test, "a1")).status(0).again();
    let outcome = run_with("codex", test).status(2);
    assert_snapshot!(outcome.stderr, @"
    The budget of the agent coder (a1) is used up: 1 of 1 tool call. Only the user can let this go on, or raise it by `conclaude budget raise --session session-1`: finish now, and report what is done and what is left. (.conclaude.yaml:1)
    In Codex nobody can be asked, so it is denied.
    ");
}

#[test]
fn validate_says_what_never_counts() {
    let test = Test::event("Stop").config(
        "clients: [claude, codex]\nbudget: {session: {cost: 20}, agent: {toolCalls: 5, tokens: 1M}}\n",
    );
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: codex: `session.cost`, `agent.tokens` of `budget` never count: conclaude does not read the transcripts of Codex, so only tool calls and minutes count
     --> [ROOT]/.conclaude.yaml:2:26
      |
    2 | budget: {session: {cost: 20}, agent: {toolCalls: 5, tokens: 1M}}
      |                          ^^

    valid: [ROOT]/.conclaude.yaml
      budget: session $20.00, agent 5 tool calls, agent 1M tokens; reported at 80 %, then warn
    ");
}
