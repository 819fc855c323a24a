//! What each subagent may use.

use insta::assert_snapshot;
use serde_json::json;

use super::{answers, decision, in_agent, is_free, on_main, project, prompt, told, tool};
use crate::common::Test;

fn start(test: Test, id: &str) -> Test {
    is_free(in_agent(test, id).then("SubagentStart")).then("PreToolUse")
}

#[test]
fn ten_tool_calls_are_ten_for_each_agent_and_none_for_the_main_thread() {
    let (test, _) = project("{agent: {toolCalls: 10}, then: block, at: 100%}");
    let mut test = in_agent(test, "a1");
    for _ in 0..9 {
        test = is_free(test);
    }
    // The tenth is the last, and says so.
    let outcome = test.run();
    assert!(
        told(&outcome)
            .0
            .starts_with("100 % of the budget of the agent coder (a1) is used: 10 of 10 tool calls.")
    );
    let outcome = outcome.again().run();
    assert_eq!(decision(&outcome), "deny");
    assert_snapshot!(outcome.stderr, @"The budget of the agent coder (a1) is used up: 10 of 10 tool calls. Use no more tools: finish now, and report what is done and what is left. Only the user can raise it, by `conclaude budget raise --session session-1`. (.conclaude.yaml:1)");
    let outcome = outcome.again().run();
    assert!(outcome.stderr.contains("10 of 10"), "what is denied does not count");
    let test = is_free(in_agent(outcome.again(), "a2"));
    let test = is_free(on_main(test));
    let test = is_free(prompt(test, "go on"));
    // It may stop and report.
    is_free(in_agent(test, "a1").then("SubagentStop").payload("last_assistant_message", "Done."));
}

#[test]
fn an_agent_whose_budget_is_used_up_may_still_record_that_its_step_failed() {
    let (test, _) = project("{agent: {toolCalls: 1}, then: block, at: 100%}");
    let test = in_agent(test, "a1").run().again();
    let call = |test: Test, command: &str| test.payload("tool_input", json!({"command": command}));
    let fail = "conclaude des fail steps/01-01.json --reason 'the budget is used up'";
    let test = is_free(call(test, fail));
    let outcome = call(test, &format!("{fail}; make")).run();
    assert_eq!(decision(&outcome), "deny", "the rest of the command is a tool call like any other");
    let outcome = call(outcome.again(), "conclaude des run steps/01-01.json GREEN -- make").run();
    assert_eq!(decision(&outcome), "deny");
    // It uses nothing.
    is_free(call(outcome.again(), fail));
}

#[test]
fn what_a_guard_refuses_is_no_tool_call() {
    let (test, _) = super::with_config(
        "preToolUse: {uneditableFiles: [x]}\nbudget: {agent: {toolCalls: 1}, then: block}\n",
    );
    let test = in_agent(test, "a1");
    let test = test.payload("tool_input", json!({"command": "rm x"})).run().status(2).again();
    let outcome = test.payload("tool_input", json!({"command": "ls"})).run();
    assert!(told(&outcome).0.contains("1 of 1 tool call."), "{}", outcome.stdout);
    assert_eq!(decision(&outcome.again().run()), "deny");
}

#[test]
fn inside_a_subagent_the_agent_is_told_at_once_and_the_user_through_the_outbox() {
    let (test, mut lines) = project("{agent: {tokens: 1k}, then: warn}");
    answers(&mut lines, Some("a1"), 1);
    let outcome = in_agent(test, "a1").run();
    let (agent, user) = told(&outcome);
    assert_snapshot!(agent, @"The budget of the agent coder (a1) is used up: 1.1k of 1k tokens. Finish now, and report what is done and what is left.");
    assert_eq!(user, "");
    let test = on_main(outcome.again()).then("Stop").payload("stop_hook_active", false);
    assert_snapshot!(test.run().system_message(), @"conclaude: ⚠ The budget of the agent coder (a1) is used up: 1.1k of 1k tokens. Nothing is denied, since `then` is `warn`. (.conclaude.yaml:1)");
}

#[test]
fn the_user_is_shown_once_that_an_agent_is_denied_its_tools() {
    let (test, mut lines) = project("{agent: {tokens: 1k}, then: block}");
    answers(&mut lines, Some("a1"), 1);
    let outcome = in_agent(test, "a1").run().status(2);
    let outcome = outcome.again().run().status(2);
    let test = on_main(outcome.again())
        .then("PostToolUse")
        .payload("tool_name", "Agent")
        .payload("tool_response", json!({"agentId": "a1"}));
    let message = test.run().system_message();
    assert_snapshot!(message, @"conclaude: ⚠ The budget of the agent coder (a1) is used up: 1.1k of 1k tokens. The tools of coder (a1) are denied. `conclaude budget raise --session session-1` in a terminal raises it.");
}

#[test]
fn minutes_are_wall_time_since_its_start() {
    // Six microseconds.
    let (test, _) = project("{agent: {minutes: 0.0000001}, then: block}");
    // Nobody saw its start.
    let test = is_free(in_agent(test, "a0"));
    let test = start(test, "a1");
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert_eq!(decision(&test.run()), "deny");
    let (test, _) = project("{agent: {minutes: 30}, then: block}");
    is_free(start(test, "a1"));
}

#[test]
fn an_agent_that_starts_again_has_its_time_again_and_not_its_calls() {
    let (test, _) = project("{agent: {toolCalls: 1, minutes: 30}, then: block, at: 100%}");
    let test = start(test, "a1").run().again();
    let test = is_free(in_agent(test, "a1").then("SubagentStop"));
    assert_eq!(decision(&tool(start(test, "a1")).run()), "deny");
}

#[test]
fn parallel_agents_are_all_counted() {
    let (test, _) = project("{agent: {toolCalls: 16}, then: block, at: 100%}");
    let test = in_agent(test, "a1");
    let children: Vec<_> = (0..15).map(|_| test.spawn()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    }
    let outcome = test.run();
    assert!(told(&outcome).0.contains("16 of 16 tool calls"), "{}", outcome.stdout);
    assert_eq!(decision(&outcome.again().run()), "deny");
}
