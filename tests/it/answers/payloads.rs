//! Payloads that are refused, and payloads that are not.

use serde_json::json;

use super::*;

#[test]
fn every_capture_of_claude_code_parses() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures");
    let mut parsed = 0;
    for name in ["", "variants"] {
        for entry in std::fs::read_dir(folder.join(name)).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            if !file.ends_with(".json") || file.starts_with("transcript") {
                continue;
            }
            let event = file.split('.').next().unwrap();
            HookPayload::parse(event, &std::fs::read(&path).unwrap())
                .unwrap_or_else(|error| panic!("{file}: {error}"));
            parsed += 1;
        }
    }
    assert!(parsed >= 33 + 29, "{parsed}");
}

#[test]
fn a_relative_cwd_is_refused_and_never_taken_from_the_process() {
    assert_snapshot!(Test::stop()
        .payload("cwd", ".")
        .run().snapshot(), @r#"
    exit 1
    ----- stderr
    conclaude: invalid payload: `cwd` is ".", expected an absolute path
    "#);
}

#[test]
fn a_payload_that_is_too_large_is_refused() {
    let mut input = b"{\"session_id\": \"".to_vec();
    input.resize(65 << 20, b'x');
    assert_snapshot!(refused(&Test::stop(), &input), @"conclaude: the payload on stdin is larger than 64 MiB");
}

/// What is answered to a payload in a file, which is there at once: a pipe may not be full before the deadline.
fn refused(test: &Test, payload: &[u8]) -> String {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(payload).unwrap();
    file.seek(std::io::SeekFrom::Start(0)).unwrap();
    let output = test.command().stdin(file).output().unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()));
    String::from_utf8(output.stderr).unwrap()
}

/// A file is read in as large pieces as there is room for, and the whole of one that was too large was taken.
#[test]
fn a_large_payload_is_refused_though_it_is_complete() {
    let test = Test::stop();
    let start = String::from_utf8(test.input()).unwrap();
    let large = format!("{},\"more\": \"{}\"}}", start.strip_suffix('}').unwrap(), "x".repeat(70 << 20));
    assert_snapshot!(refused(&test, large.as_bytes()), @"conclaude: the payload on stdin is larger than 64 MiB");
}

#[test]
fn a_session_end_whose_payload_never_ends_is_answered() {
    let test = Test::event("SessionEnd").env("TEST_LIMIT_OF_CONCLAUDE", "0");
    let (stdin, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"{\"session_id\": \"s").unwrap();
    let output = test.command().stdin(stdin).output().unwrap();
    // It was open until now: it would have waited for ever.
    drop(writer);
    assert!(output.status.success());
}

#[test]
fn a_payload_of_another_event_is_refused() {
    assert_snapshot!(Test::stop().stdin(capture("Stop.json")).run().snapshot(), @r#"
    exit 1
    ----- stderr
    conclaude: invalid payload: `hook_event_name` is "Stop", expected "SubagentStop": register each event with its own name
    "#);
}

#[test]
fn missing_and_blank_fields_are_named_without_side_effects() {
    let config = "subagentStop: {commands: {'*': [{run: touch ran.txt}]}}";
    let mut shown = String::new();
    for field in ["session_id", "transcript_path", "cwd", "hook_event_name"] {
        let missing = Test::stop().config(config).without(field).run().status(1);
        assert!(!missing.has("ran.txt") && !missing.has(".conclaude"));
        shown.push_str(&missing.stderr);
        shown.push_str(&missing.again().payload(field, " ").run().status(1).stderr);
    }
    shown.push_str(&Test::stop().payload("agent_id", 5).run().status(1).stderr);
    assert_snapshot!(shown, @"
    conclaude: invalid payload: missing required field `session_id`: expected a non-empty string
    conclaude: invalid payload: session_id cannot be empty: expected a non-empty string
    conclaude: invalid payload: missing required field `transcript_path`: expected a non-empty string
    conclaude: invalid payload: transcript_path cannot be empty: expected a non-empty string
    conclaude: invalid payload: missing required field `cwd`: expected a non-empty string
    conclaude: invalid payload: cwd cannot be empty: expected a non-empty string
    conclaude: invalid payload: missing required field `hook_event_name`: expected a non-empty string
    conclaude: invalid payload: hook_event_name cannot be empty: expected a non-empty string
    conclaude: invalid payload: `agent_id` is the number 5, expected a non-empty string
    ");
}

#[test]
fn a_pipe_that_never_closes_does_not_hang_the_hook() {
    let test = Test::stop().config("subagentStop: {commands: {'*': [{run: touch ran.txt}]}}");
    let mut child = test.command().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    Write::write_all(&mut stdin, &test.input()).unwrap();
    // Still open: one whole value is enough.
    assert!(child.wait().unwrap().success());
    assert!(test.root().join("ran.txt").exists());
    drop(stdin);
}

#[test]
fn a_payload_that_never_ends_is_refused_at_the_deadline() {
    let test = Test::stop().env("TEST_LIMIT_OF_CONCLAUDE", "0");
    let (stdin, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"{\"session_id\": \"s").unwrap();
    let output = test.command().stdin(stdin).output().unwrap();
    drop(writer);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"conclaude: the payload on stdin did not end within 5 s (17 bytes came)");
}

#[test]
fn what_follows_the_payload_is_ignored() {
    let test = Test::stop();
    let mut input = b"\xef\xbb\xbf\n ".to_vec();
    input.extend(test.input());
    input.extend(b"\n{\"another\": 1} junk");
    test.stdin(input).run().silent();
}

#[test]
fn an_eight_megabyte_message_reaches_the_command() {
    let config = "subagentStop: {commands: {'*': [{run: wc -c > size.txt}]}}";
    let done =
        Test::stop().config(config).payload("last_assistant_message", "x".repeat(8 << 20)).run().silent();
    assert!(done.read("size.txt").trim().parse::<usize>().unwrap() > 8 << 20);
}

#[test]
fn an_incomplete_payload_of_claude_code_is_an_error_unless_a_failure_may_be_read_as_a_denial() {
    let config = "stop: {commands: [{run: 'true'}]}\nworktreeCreate: {commands: [{run: pwd}]}\n";
    let broken = [
        json!({"hook_event_name": "Stop"}),
        json!({"hook_event_name": "Stop", "session_id": 5, "cwd": "/"}),
        json!({"hook_event_name": "Stop", "session_id": "s"}),
    ];
    for payload in broken {
        for event in ["Stop", "PostToolUse", "WorktreeCreate", "SubagentStop", "Notification"] {
            let answer =
                Test::event(event).config(config).stdin(payload.to_string().replace("Stop", event)).run();
            assert_eq!(answer.code, Some(1), "{event} {payload}: {}", answer.stderr);
            assert!(answer.stderr.starts_with("conclaude: "), "{event} {payload}: {}", answer.stderr);
        }
        for event in ["PreToolUse", "PermissionRequest", "UserPromptSubmit"] {
            let answer =
                Test::event(event).config(config).stdin(payload.to_string().replace("Stop", event)).run();
            assert_eq!(answer.code, Some(0), "{event} {payload}: {}", answer.stderr);
        }
    }
}
