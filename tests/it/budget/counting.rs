//! The running count, from event to event.

use serde_json::json;

use super::{ANSWER, answers, decision, is_free, project, prompt, told};

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

/// Versions before 2.1 wrote the transcripts of agents beside that of the main thread.
#[test]
fn agents_beside_the_main_thread_count_for_the_session_that_their_lines_name() {
    let (test, mut lines) = project("{session: {tokens: 4k}, then: block, at: 100%}");
    answers(&mut lines, None, 1);
    let test = is_free(prompt(test, "go on"));
    let folder = lines.path(None).parent().unwrap().to_owned();
    answers(&mut lines, Some("a1"), 2);
    std::fs::rename(lines.path(Some("a1")), folder.join("agent-a1.jsonl")).unwrap();
    let text = std::fs::read_to_string(folder.join("agent-a1.jsonl")).unwrap();
    std::fs::write(folder.join("agent-b1.jsonl"), text.replace("session-1", "session-2")).unwrap();
    let test = is_free(prompt(test, "go on"));
    answers(&mut lines, Some("a1"), 1);
    let more = std::fs::read_to_string(lines.path(Some("a1"))).unwrap();
    std::fs::remove_file(lines.path(Some("a1"))).unwrap();
    std::fs::write(folder.join("agent-a1.jsonl"), text + &more).unwrap();
    let outcome = prompt(test, "go on").run().status(2);
    assert!(outcome.stderr.contains("4.4k of 4k tokens"), "{}", outcome.stderr);
}

/// Some versions wrote what an agent says into the transcript of its caller, and some into its own as well.
#[test]
fn what_an_agent_says_in_its_callers_transcript_counts_where_it_has_no_own() {
    let (test, mut lines) = project("{session: {tokens: 3k}, then: block, at: 100%}");
    let mut progress = |agent: &str, id: &str| {
        let usage = json!({"input_tokens": 1000, "output_tokens": 100});
        let message = json!({"id": id, "role": "assistant", "model": "claude-test-1", "content": [], "usage": usage});
        let line = json!({"type": "assistant", "timestamp": "2026-01-31T12:00:00Z", "agentId": agent, "message": message});
        let data = json!({"type": "agent_progress", "agentId": agent, "message": line});
        lines.line(None, json!({"type": "progress", "parentToolUseID": "t1", "data": data}));
    };
    // Twenty agents at once: the lines of an answer are far apart.
    let both = |agent: usize| if agent.is_multiple_of(2) { "a1" } else { "a2" };
    (0..40).for_each(|at| progress(both(at), &format!("m{}", at % 20)));
    let folder = lines.path(None).parent().unwrap().to_owned();
    for agent in ["a1", "a2"] {
        std::fs::write(folder.join(format!("agent-{agent}.jsonl")), "{\"sessionId\": \"session-1\"}\n").unwrap();
    }
    let test = is_free(prompt(test, "go on"));
    // Another session, whose agents have no files.
    let copy = folder.join("session-3.jsonl");
    let text = std::fs::read_to_string(lines.path(None)).unwrap();
    std::fs::write(&copy, text.replace("a1", "a3").replace("a2", "a4")).unwrap();
    let test = test.payload("session_id", "session-3").payload("transcript_path", copy.display().to_string());
    let outcome = prompt(test, "go on").run().status(2);
    assert!(outcome.stderr.contains("22k of 3k tokens"), "{}", outcome.stderr);
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
