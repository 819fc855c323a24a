//! The judge, asked over real HTTP on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use crate::common::Test;
use crate::common::workflow::{done, with};
use serde_json::{Value, json};

/// A server that answers every request with this, and gives away what it was asked.
struct Api {
    url: String,
    requests: Receiver<(String, Value)>,
}

fn api(status: &'static str, body: String) -> Api {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap() <= 2 {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut asked = vec![0; length];
            reader.read_exact(&mut asked).unwrap();
            sender.send((head, serde_json::from_slice(&asked).unwrap())).unwrap();
            let mut stream = stream;
            write!(stream, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    Api { url, requests }
}

fn says(text: &str) -> String {
    json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": text}]}).to_string()
}

fn stop(url: &str, more: &str) -> Test {
    let config =
        format!("des:\n  scope: off\n  judge:\n    prompt: Are the tests real?\n    timeout: 5\n{more}");
    Test::gated_stop(&done())
        .config(&config)
        .payload("last_assistant_message", "All green.")
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "key-1")
}

#[test]
fn a_judge_that_agrees_lets_the_agent_stop_and_is_given_what_it_needs() {
    let api = api("200 OK", says("{\"continue\": true}"));
    let done = stop(&api.url, "").run().silent();
    let (head, asked) = api.requests.try_recv().unwrap();
    assert!(
        head.starts_with("POST /v1/messages HTTP/1.1")
            && head.contains("x-api-key: key-1")
            && head.contains("anthropic-version:"),
        "{head}"
    );
    assert_eq!(asked["model"], "claude-haiku-5-5");
    let content = asked["messages"][0]["content"].as_str().unwrap();
    for part in ["Are the tests real?", "\"task_id\": \"01-01\"", "All green.", "<git-diff-stat>"] {
        assert!(content.contains(part), "{part} is not in {content}");
    }
    assert_eq!(done.audit()[0]["judge"], json!({"continue": true}));
}

#[test]
fn a_judge_that_refuses_adds_a_block() {
    let api =
        api("200 OK", says("```json\n{\"continue\": false, \"error\": \"no test for the error path\"}\n```"));
    let done = stop(&api.url, "    model: claude-sonnet-5\n").run();
    let reason = done.blocked();
    assert!(reason.contains("✗ JUDGE_REFUSED: no test for the error path → "), "{reason}");
    assert_eq!(api.requests.try_recv().unwrap().1["model"], "claude-sonnet-5");
    assert_eq!(done.audit()[0]["judge"]["error"], "no test for the error path");
}

#[test]
fn a_judge_never_removes_a_block_and_is_not_asked_about_one() {
    let api = api("200 OK", says("{\"continue\": true}"));
    let step = with(3, json!({"outcome": "FAIL"}));
    let reason = stop(&api.url, "").step(&step).run().blocked();
    assert!(reason.contains("FAILED_PHASE"), "{reason}");
    assert!(api.requests.try_recv().is_err());
}

#[test]
fn a_judge_that_fails_is_shown_and_recorded_and_allows_by_default() {
    let malformed = api("200 OK", says("looks good to me"));
    let broken = api("200 OK", "not json".into());
    let refused = api("500 Internal Server Error", "{\"error\": \"overloaded\"}".into());
    for (url, why) in [
        (malformed.url.as_str(), "it answered \"looks good to me\""),
        (broken.url.as_str(), "the answer is not JSON"),
        (refused.url.as_str(), "answered 500: "),
        ("http://127.0.0.1:1", "cannot reach http://127.0.0.1:1"),
        ("nonsense", "cannot reach nonsense"),
    ] {
        let done = stop(url, "").run();
        let message = done.message();
        assert!(
            message.contains("⚠ JUDGE_FAILED: the judge could not be asked: ") && message.contains(why),
            "{why}: {message}"
        );
        assert!(done.audit()[0]["judge"]["failed"].is_string());
        assert!(stop(url, "    onError: block\n").run().blocked().contains("✗ JUDGE_FAILED"));
    }
}

#[test]
fn without_a_key_the_judge_fails_aloud() {
    let message = stop("http://127.0.0.1:1", "").without_env("ANTHROPIC_API_KEY").run().message();
    assert!(message.contains("ANTHROPIC_API_KEY is not set"), "{message}");
}

#[test]
fn a_judge_that_is_slow_does_not_hold_the_hook() {
    // It accepts connections, in its backlog, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let config = "des: {scope: off, judge: {prompt: x, timeout: 1}}";
    let message = stop(&url, "").config(config).run().message();
    assert!(message.contains("no answer within 1 s"), "{message}");
}

#[test]
fn ad_hoc_agents_and_honest_failures_are_not_judged() {
    let api = api("200 OK", says("{\"continue\": false}"));
    stop(&api.url, "").agent_files("Just do it.").run().silent();
    let mut step = done();
    step["state"] = json!({"status": "FAILED", "failure_reason": "stuck"});
    stop(&api.url, "").step(&step).run().message();
    assert!(api.requests.try_recv().is_err());
}

#[test]
fn without_curl_the_judge_fails_aloud() {
    let path = tempfile::tempdir().unwrap();
    let message = stop("http://127.0.0.1:1", "").env("PATH", path.path().to_str().unwrap()).run().message();
    assert!(message.contains("`curl` is needed to ask, and is not on the PATH"), "{message}");
}

#[test]
fn a_judge_that_floods_is_cut_off_and_leaves_nothing() {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1 << 16]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while stream.write_all(&[b'x'; 1 << 16]).is_ok() {}
    });
    let folder = tempfile::tempdir().unwrap();
    let message = stop(&url, "").env("TMPDIR", folder.path().to_str().unwrap()).run().message();
    assert!(message.contains("JUDGE_FAILED") && message.contains("too long"), "{message}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file of the request is left");
}
