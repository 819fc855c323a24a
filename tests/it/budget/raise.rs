//! `conclaude budget raise`: for a user at a terminal.

use insta::assert_snapshot;
use serde_json::Value;

use super::{answers, decision, in_agent, is_free, project, prompt, tool};
use crate::common::tmux::Tmux;
use crate::common::{Test, conclaude_in, run_in};

/// What it shows on a terminal.
fn raise(test: &Test, arguments: &str, answer: &str) -> String {
    let tmux = Tmux::start(&test.root(), &format!("budget raise {arguments}"));
    let asked =
        tmux.until("a question or the end", |screen| screen.contains("[y/N]") || screen.contains("exit "));
    if asked.contains("[y/N]") {
        tmux.keys(&[answer, "Enter"]);
    }
    tmux.shows("exit ").trim_end().lines().skip(1).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_newest_session_that_has_used_up_its_budget_is_raised_by_half() {
    let (test, mut lines) = project("{session: {tokens: 3k}, agent: {toolCalls: 5}, then: block, at: 100%}");
    answers(&mut lines, None, 3);
    let test = test.run().status(2).again();
    let other = test.payload("session_id", "session-2").payload("transcript_path", "/nowhere.jsonl");
    let test = is_free(other)
        .payload("session_id", "session-1")
        .payload("transcript_path", lines.path(None).display().to_string());
    assert_snapshot!(raise(&test, "", "n"), @"
    session session-1
      session.tokens: 3k tokens → 4.5k tokens
    Raise it for this session? [y/N] n
    not raised
    exit 1
    ");
    let test = test.run().status(2).again();
    assert_snapshot!(raise(&test, "", "y"), @"
    session session-1
      session.tokens: 3k tokens → 4.5k tokens
    Raise it for this session? [y/N] y
    raised by 50 %
    exit 0
    ");
    let test = is_free(prompt(test, "go on"));
    let test = is_free(tool(test));
    assert!(
        test.shows(&["why"]).contains("the user raises session.tokens by 50 % for this session"),
        "{}",
        test.shows(&["why"])
    );
    answers(&mut lines, None, 2);
    let outcome = test.run();
    assert_eq!(decision(&outcome), "deny");
    assert!(outcome.stderr.contains("5.5k of 4.5k tokens"), "{}", outcome.stderr);
    assert_eq!(run_in(&outcome.root(), &["audit", "verify"]).0, Some(0));
}

#[test]
fn a_session_is_named_by_the_start_of_its_id_and_what_is_still_used_up_is_said() {
    let (test, mut lines) = project("{agent: {tokens: 1k}, then: block}");
    answers(&mut lines, Some("a1"), 3);
    let test = in_agent(test, "a1").run().status(2).again();
    assert_snapshot!(raise(&test, "--session sess --by 10%", "y"), @"
    session session-1
      agent.tokens: 1k tokens → 1.1k tokens
    Raise it for this session? [y/N] y
    raised by 10 %
    still used up: agent.tokens: 3.3k of 1.1k tokens; raise it again
    exit 0
    ");
    let test = test.run().status(2).again();
    raise(&test, "--by 900", "y");
    is_free(test);
}

#[test]
fn agents_and_pipes_are_refused() {
    let (test, mut lines) = project("{session: {tokens: 1k}, then: block}");
    answers(&mut lines, None, 1);
    let test = test.run().status(2).again();
    let (code, _, stderr) = run_in(&test.root(), &["budget", "raise"]);
    assert_eq!((code, stderr.contains("only a user at a terminal")), (Some(1), true), "{stderr}");
    let output =
        conclaude_in(&test.root()).args(["budget", "raise"]).env("CLAUDECODE", "1").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("an agent cannot raise its own budget"), "{stderr}");
    let json: Value = serde_json::from_str(&run_in(&test.root(), &["budget", "--json"]).1).unwrap();
    assert_eq!(json["sessions"][0]["limits"][0]["with_raise"].as_f64(), Some(1000.0));
}
