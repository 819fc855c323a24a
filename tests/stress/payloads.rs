//! What may come on stdin instead of a payload.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::common::{Test, capture};
use crate::support::{MeasuredCall, figure, watch, watch_with};

/// Events that run commands, that gate a tool, that deliver messages, and that do nothing.
const EVENTS: [&str; 8] = [
    "SubagentStop",
    "SubagentStart",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
];

/// Nothing that comes on stdin takes longer; only one that never ends waits for the deadline of 5 s.
const MAX_TIME: Duration = Duration::from_secs(30);

/// The most memory of several calls.
#[derive(Default)]
struct Peaks {
    calls: usize,
    refused: usize,
    memory: f64,
    time: Duration,
}

impl Peaks {
    fn add(&mut self, what: &str, done: &MeasuredCall) {
        done.sound(what);
        assert!(done.time < MAX_TIME, "{what}: {:?}", done.time);
        self.calls += 1;
        self.refused += usize::from(done.output.status.code() == Some(1));
        self.memory = self.memory.max(done.peak);
        self.time = self.time.max(done.time);
    }

    fn report(&self, what: &str) {
        figure(&format!(
            "{what}: {} calls, {} refused, {:.1} MB and {:.1} s at most",
            self.calls,
            self.refused,
            self.memory,
            self.time.as_secs_f64()
        ));
    }
}

fn project(event: &str) -> Test {
    Test::event(event)
        .config("subagentStop: {commands: {'*': [{run: ':'}]}}\naudit: {enabled: false}\n")
        .payload("tool_name", "Write")
        .payload("tool_input", serde_json::json!({"file_path": "src/a.rs", "content": "x"}))
        .payload("prompt", "hello")
}

#[test]
fn a_payload_that_is_cut_at_any_byte() {
    for event in EVENTS {
        let whole = capture(&format!("{event}.json"));
        let whole = whole.trim_ascii_end();
        let mut most = Peaks::default();
        let mut test = project(event);
        for length in 0..whole.len() {
            test = test.stdin(&whole[..length]);
            most.add(&format!("{event} cut at {length}"), &watch(&test));
        }
        assert!(most.memory < 64.0, "{event}: {:.1} MB", most.memory);
        // An event that runs something takes no half payload for a whole one; and other clients would read an error at
        // a tool as a denial.
        let is_error = matches!(event, "SubagentStop" | "SubagentStart");
        assert_eq!(most.refused, if is_error { whole.len() } else { 0 }, "{event}");
        most.report(&format!("{event} cut at each of {} bytes", whole.len()));
    }
}

/// The payload of an event with this as the value of one more field.
fn with_field(event: &str, raw: &[u8]) -> Vec<u8> {
    let whole = project(event).input();
    let mut bytes = whole[..whole.len() - 1].to_vec();
    bytes.extend(b",\"last_assistant_message\":");
    bytes.extend(raw);
    bytes.push(b'}');
    bytes
}

fn nested(open: &str, close: &str) -> Vec<u8> {
    format!("{}1{}", open.repeat(100_000), close.repeat(100_000)).into_bytes()
}

#[test]
fn what_is_hardly_a_payload() {
    for event in EVENTS {
        let whole = project(event).input();
        let text = String::from_utf8(whole.clone()).unwrap();
        let kinds: Vec<(&str, Vec<u8>)> = vec![
            ("nothing", Vec::new()),
            ("blanks", b" \n\t\r ".to_vec()),
            ("a byte order mark alone", b"\xef\xbb\xbf".to_vec()),
            ("NULs", vec![0; 10_000]),
            ("invalid UTF-8 in a value", with_field(event, b"\"a\xff\xfe\xc3(\"")),
            ("invalid UTF-8 in a key", [&whole[..whole.len() - 1], b",\"\xff\":1}"].concat()),
            ("half a surrogate pair", with_field(event, br#""\ud83d""#)),
            ("the other half", with_field(event, br#""\ude00 \udc00\ud800""#)),
            ("a surrogate that is cut", with_field(event, br#""\ud83""#)),
            (
                "duplicate keys",
                text.replacen('{', "{\"session_id\":\"x\",\"cwd\":\"/\",\"agent_id\":\"y\",", 1).into(),
            ),
            (
                "a key 100,000 times",
                with_field(event, &[b"1".to_vec(), b",\"k\":1".repeat(100_000)].concat()),
            ),
            ("lists 100,000 deep in a field", with_field(event, &nested("[", "]"))),
            ("objects 100,000 deep in a field", with_field(event, &nested("{\"a\":", "}"))),
            (
                "a tool's input 100,000 deep",
                text.replacen(
                    '{',
                    &format!("{{\"tool_input\":{},", String::from_utf8(nested("[", "]")).unwrap()),
                    1,
                )
                .into(),
            ),
            ("lists 100,000 deep", nested("[", "]")),
            ("lists that never close", b"[".repeat(100_000)),
            ("closing alone", b"]".repeat(100_000)),
            ("a number", b"1e999999".to_vec()),
            (
                "a huge number in a field",
                with_field(event, &[b"1".repeat(100_000), b"e99999".to_vec()].concat()),
            ),
            (
                "a key of a megabyte",
                [&whole[..whole.len() - 1], b",\"", &b"k".repeat(1 << 20), b"\":1}"].concat(),
            ),
            ("only backslashes", [&b"{\""[..], &b"\\".repeat(1 << 20)].concat()),
        ];
        let mut most = Peaks::default();
        for (kind, bytes) in kinds {
            most.add(&format!("{event}, {kind}"), &watch(&project(event).stdin(bytes)));
        }
        assert!(most.memory < 64.0, "{event}: {:.1} MB", most.memory);
        most.report(&format!("{event}, what is hardly a payload"));
    }
}

#[test]
fn two_hundred_megabytes() {
    const SIZE: usize = 200 << 20;
    let chunk = |byte: u8| vec![byte; 1 << 20];
    for (kind, first, byte) in [
        ("a string", &b"{\"session_id\": \""[..], b'x'),
        ("blanks", b"", b' '),
        ("lists", b"", b'['),
        ("backslashes", b"{\"a\": \"", b'\\'),
    ] {
        let mut most = Peaks::default();
        for event in ["SubagentStop", "PreToolUse", "Stop"] {
            let (first, rest) = (first.to_vec(), chunk(byte));
            let done = watch_with(&project(event), move |stdin, _| {
                let mut sent = stdin.write_all(&first);
                for _ in 0..SIZE >> 20 {
                    // It stops reading when it has seen enough.
                    sent = sent.and_then(|()| stdin.write_all(&rest));
                }
            });
            let refused = done.output.status.code() == Some(1);
            assert_eq!(refused, event == "SubagentStop", "{kind} at {event}: {}", done.stderr());
            most.add(&format!("200 MB of {kind}"), &done);
        }
        // A payload may have 64 MiB; while it grows, what it grew out of is held as well.
        assert!(most.memory < 200.0, "{kind}: {:.1} MB", most.memory);
        most.report(&format!("200 MB of {kind}"));
    }
}

#[test]
fn a_pipe_that_never_closes() {
    let mut most = Peaks::default();
    for event in ["SubagentStop", "PreToolUse", "Stop", "SessionEnd"] {
        // A byte now and then, so that it is neither silent nor done.
        let test = project(event).env("TEST_LIMIT_OF_CONCLAUDE", "0");
        let done = watch_with(&test, |stdin, _| {
            let _ = stdin.write_all(b"{\"session_id\": \"");
            while stdin.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        most.add(&format!("{event}, dripping"), &done);
        // And not a byte.
        let started = Instant::now();
        let mut hook = test.command().spawn().unwrap();
        let stdin = hook.stdin.take().unwrap();
        let expected = if event == "SubagentStop" { 1 } else { 0 };
        assert_eq!(hook.wait_with_output().unwrap().status.code(), Some(expected), "{event}");
        assert!(started.elapsed() < MAX_TIME);
        drop(stdin);
    }
    most.report("a stdin that never closes");
}
