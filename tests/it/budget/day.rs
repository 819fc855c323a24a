//! What all sessions of a project may use on one day.

use jiff::{SignedDuration, Timestamp};

use super::{answers, decision, is_free, project, prompt, tool};
use crate::common::Test;
use crate::common::transcripts::Transcripts;

/// A zone in which it is about noon now: no test runs across its midnight.
fn noon_zone() -> String {
    let hour = (Timestamp::now().as_second() / 3600).rem_euclid(24);
    // East is negative in such a zone.
    format!("TST{:+}", hour - 12)
}

fn session(test: Test, id: &str) -> (Test, Transcripts) {
    let lines = Transcripts::of(&test.root(), id);
    let path = lines.path(None).display().to_string();
    (test.payload("session_id", id).payload("transcript_path", path), lines)
}

#[test]
fn a_day_is_that_of_all_sessions_by_the_times_of_their_lines() {
    let (test, _) = project("{day: {tokens: 4k}, then: block, at: 100%}");
    let test = test.env("TZ", &noon_zone());
    let now = Timestamp::now();
    let (test, mut first) = session(test, "one");
    // Of yesterday, also if an hour begins meanwhile.
    answers(first.at(now - SignedDuration::from_hours(14)), None, 9);
    answers(first.at(now), None, 2);
    let test = is_free(test);
    let (test, mut second) = session(test, "two");
    answers(second.at(now), None, 1);
    let test = is_free(prompt(test, "hello"));
    answers(&mut second, None, 1);
    let outcome = tool(test).run();
    assert_eq!(decision(&outcome), "deny");
    assert!(outcome.stderr.contains("The budget of this project for today is used up: 4.4k of 4k tokens."));
    // Every session of the project is over it.
    let (test, _) = session(outcome.again(), "three");
    prompt(test, "hello").run().status(2);
}

#[test]
fn a_day_begins_at_local_midnight() {
    let (test, _) = project("{day: {tokens: 1k}, then: block}");
    let now = Timestamp::now();
    let (test, mut lines) = session(test, "one");
    // Eleven hours ago is today at noon, and yesterday in a zone eight hours to the west.
    answers(lines.at(now - SignedDuration::from_hours(11)), None, 1);
    let hour = (now.as_second() / 3600).rem_euclid(24);
    let west = format!("TST{:+}", hour - 4);
    let test = is_free(test.env("TZ", &west));
    // The same lines in a project whose zone is another.
    let (other, _) = project("{day: {tokens: 1k}, then: block}");
    let (other, mut lines) = session(other, "one");
    answers(lines.at(now - SignedDuration::from_hours(11)), None, 1);
    assert_eq!(decision(&other.env("TZ", &noon_zone()).run()), "deny");
    drop(test);
}
