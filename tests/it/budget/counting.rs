//! The running count, from event to event.

use serde_json::json;

use super::{ANSWER, answers, decision, is_free, project, told};

#[test]
fn a_long_transcript_is_read_once() {
    let (test, mut lines) = project("{session: {tokens: 1M}, then: block}");
    answers(&mut lines, None, 1);
    let path = lines.path(None);
    let test = is_free(test);
    // What was counted cannot be read any more; only its end is compared.
    let mut text = std::fs::read(&path).unwrap();
    let end = text.len() - 100;
    text[..end].fill(b'x');
    std::fs::write(&path, text).unwrap();
    let count = usize::try_from(1_000_000 / ANSWER).unwrap();
    answers(&mut lines, None, count);
    assert_eq!(decision(&test.run()), "deny");
}

#[test]
fn a_transcript_that_is_emptied_does_not_give_a_budget_back() {
    let (test, mut lines) = project("{session: {tokens: 5k}, then: block}");
    answers(&mut lines, None, 3);
    let test = is_free(test);
    std::fs::write(lines.path(None), "").unwrap();
    let test = is_free(test);
    answers(&mut lines, None, 2);
    assert_eq!(decision(&test.run()), "deny");
}

#[test]
fn a_transcript_that_is_replaced_by_a_copy_is_not_counted_twice() {
    let (test, mut lines) = project("{session: {tokens: 5k}, then: block}");
    answers(&mut lines, None, 3);
    let test = is_free(test);
    let path = lines.path(None);
    let text = std::fs::read(&path).unwrap();
    let copy = path.with_extension("copy");
    std::fs::write(&copy, text).unwrap();
    std::fs::rename(copy, &path).unwrap();
    let test = is_free(test);
    answers(&mut lines, None, 2);
    assert_eq!(decision(&test.run()), "deny");
}

#[test]
fn the_lines_of_one_answer_count_once() {
    let (test, mut lines) = project("{session: {tokens: 1k}, then: block, at: 100%}");
    let mut line = |output: u64| {
        let usage = json!({"input_tokens": 500, "output_tokens": output});
        let message =
            json!({"id": "m1", "role": "assistant", "model": "claude-test-1", "content": [], "usage": usage});
        lines.line(None, json!({"type": "assistant", "message": message}));
    };
    line(1);
    line(1);
    let test = is_free(test);
    line(499);
    let test = is_free(test);
    line(500);
    assert_eq!(decision(&test.run()), "deny");
}

#[test]
fn answers_that_cannot_be_read_are_left_out_and_named() {
    let (test, mut lines) = project("{session: {tokens: 1k}}");
    let message = json!({"id": "m1", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": "many"}});
    lines.line(None, json!({"type": "assistant", "message": message}));
    lines.raw(None, "not a line\n");
    let test = is_free(test);
    let shown = test.shows(&["budget"]);
    assert!(shown.contains("1 answer could not be read and is not counted"), "{shown}");
}

#[test]
fn a_state_file_that_is_broken_is_counted_again() {
    let (test, mut lines) = project("{session: {tokens: 3k}}");
    answers(&mut lines, None, 2);
    let test = is_free(test);
    let folder = test.root().join(".state-home/conclaude/budget");
    let inner = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    for entry in std::fs::read_dir(inner).unwrap() {
        std::fs::write(entry.unwrap().path(), "{").unwrap();
    }
    answers(&mut lines, None, 1);
    let outcome = test.run();
    assert!(told(&outcome).0.contains("3.3k of 3k tokens"), "{}", outcome.stdout);
}
