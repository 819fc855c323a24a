//! `conclaude budget`.

use insta::assert_snapshot;
use regex_lite::Regex;
use serde_json::Value;

use super::{answers, in_agent, is_free, project, with_config};
use crate::common::{Test, run_in};

/// Without the time of the count.
fn shown(test: &Test, arguments: &[&str]) -> String {
    let text = test.shows(arguments);
    Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d").unwrap().replace_all(&text, "[COUNTED]").into_owned()
}

fn used() -> Test {
    let config = "report: {prices: {claude-test-1: {input: 1000, output: 0, cacheRead: 0, cacheWrite: 0}}}\nbudget: {session: {cost: 20, tokens: 5M}, agent: {toolCalls: 2, minutes: 30, tokens: 500k}, at: 100%, then: block}\n";
    let (test, mut lines) = with_config(config);
    answers(&mut lines, None, 3);
    let test = is_free(test);
    answers(&mut lines, Some("a1"), 2);
    let test = in_agent(test, "a1");
    let test = is_free(test).run().again();
    // After the last event.
    answers(&mut lines, None, 1);
    test
}

#[test]
fn it_shows_where_each_amount_stands_also_after_the_last_event() {
    assert_snapshot!(shown(&used(), &["budget"]), @"
    exit 0
    ----- stdout
    session session-1, counted at [COUNTED]
      cost              $6.00 of $20.00               30 %
      tokens            6.6k of 5M tokens             0 %
      coder (a1)
        toolCalls       2 of 2 tool calls             100 %
        tokens          2.2k of 500k tokens           0 %
    reported at 100 %, then: block
    ");
}

#[test]
fn as_json_it_has_the_same_numbers() {
    let test = used();
    let (code, text, _) = run_in(&test.root(), &["budget", "--json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, json["then"].as_str(), json["at"].as_u64()), (Some(0), Some("block"), Some(100)));
    let session = &json["sessions"][0];
    assert_eq!(session["session"], "session-1");
    assert_eq!(session["limits"][0]["limit"], "session.cost");
    assert_eq!(
        (session["limits"][0]["used"].as_f64(), session["limits"][0]["percent"].as_u64()),
        (Some(6.0), Some(30))
    );
    let agent = &session["agents"][0];
    assert_eq!((agent["id"].as_str(), agent["name"].as_str()), (Some("a1"), Some("coder")));
    assert_eq!(
        (agent["limits"][0]["limit"].as_str(), agent["limits"][0]["percent"].as_u64()),
        (Some("agent.toolCalls"), Some(100))
    );
}

#[test]
fn without_a_budget_or_a_count_it_says_so() {
    let test = Test::event("Stop").config("maxBlocks: 3\n");
    assert!(test.shows(&["budget"]).contains("no budget: the config has no amounts under `budget`"));
    let (test, _) = project("{day: {cost: 5}}");
    assert_snapshot!(shown(&test, &["budget"]), @"
    exit 0
    ----- stdout
    nothing is counted yet: counting starts with the next event of a session
    today, in all sessions
      cost              $0.00 of $5.00                0 %
    reported at 80 %, then: warn
    ");
    let (code, _, stderr) = run_in(&test.root(), &["budget", "--session", "x"]);
    assert_eq!((code, stderr.contains("nothing was counted of a session x")), (Some(1), true), "{stderr}");
}

#[test]
fn uninstall_with_purge_removes_the_count() {
    let (test, mut lines) = project("{session: {tokens: 5k}}");
    answers(&mut lines, None, 1);
    let test = is_free(test);
    let folder = test.root().join(".state-home/conclaude/budget");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let (code, stdout, stderr) = run_in(&test.root(), &["uninstall", "--purge"]);
    assert_eq!(
        (code, stdout.contains("what sessions used, for their budgets")),
        (Some(0), true),
        "{stdout}{stderr}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn an_unknown_price_is_shown() {
    let (test, mut lines) = project("{session: {cost: 5}}");
    answers(&mut lines, None, 1);
    let test = test.run().again();
    let text = shown(&test, &["budget"]);
    assert!(text.contains("an unknown part of $5.00") && text.contains("the price is not known"), "{text}");
}
