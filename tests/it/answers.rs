//! Exit codes, blocks and their bound, errors: what the client is told.

use std::io::{Seek, Write};

use crate::common::{Test, capture, conclaude};
use conclaude::event;
use conclaude::types::HookPayload;

const BLOCKING: &str = r#"
subagentStop:
  commands:
    coder:
      - run: "echo 'src/a.rs: unused' ; exit 1"
        message: Linting failed
        showStdout: true
        onFailure: block
"#;

#[test]
fn a_failing_command_with_on_failure_block_blocks() {
    let reason = Test::stop().config(BLOCKING).run().blocked();
    assert_eq!(
        reason,
        "conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):\n✗ Linting failed\n  `echo 'src/a.rs: unused' ; exit 1` exited with code 1\n  src/a.rs: unused\nMend what is marked ✗, then finish again."
    );
}

#[test]
fn a_time_out_blocks_and_the_rest_still_runs() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: sleep 60, timeout: 1, message: Too slow}\n      - {run: touch ran.txt}\n";
    let done = Test::stop().config(config).run();
    let reason = done.blocked();
    assert!(reason.contains("✗ Too slow\n  `sleep 60` timed out after 1 s and was terminated"), "{reason}");
    assert!(done.has("ran.txt"));
}

#[test]
fn on_timeout_warn_and_on_failure_warn_do_not_block() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: sleep 60, timeout: 1, onTimeout: warn, onFailure: block}\n      - {run: 'false', onFailure: warn}\n";
    let message = Test::stop().config(config).run().message();
    assert!(
        message.contains("timed out after 1 s") && message.contains("`false` exited with code 1"),
        "{message}"
    );
}

#[test]
fn what_only_warns_is_told_with_the_block_too() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: echo note, showStdout: true}\n      - {run: exit 3, onFailure: warn}\n      - {run: 'false', onFailure: block}\n";
    let reason = Test::stop().config(config).run().blocked();
    assert!(
        reason.contains("✓ echo note\n  note\n⚠ `exit 3` exited with code 3\n✗ `false` exited with code 1"),
        "{reason}"
    );
}

#[test]
fn after_max_blocks_it_lets_go_and_says_so() {
    let mut test = Test::stop().config(&format!("maxBlocks: 2\n{BLOCKING}"));
    for nth in 1..=2 {
        let done = test.run();
        assert!(done.blocked().contains(&format!("block {nth} of 2")));
        test = done.again().payload("stop_hook_active", true);
    }
    for _ in 0..3 {
        let done = test.run();
        let message = done.message();
        assert!(message.contains("✗ Linting failed"), "{message}");
        assert!(message.ends_with("This would have blocked, but the agent may stop: it was sent back 2 times already (maxBlocks)."), "{message}");
        test = done.again();
    }
}

#[test]
fn blocks_are_counted_per_session_and_agent() {
    let test = Test::stop().config(&format!("maxBlocks: 1\n{BLOCKING}"));
    let done = test.run();
    done.blocked();
    let done = done.again().payload("agent_id", "another").run();
    done.blocked();
    let done = done.again().payload("session_id", "session-2").run();
    done.blocked();
    // The first one again, also after a resume: a start does not reset the count.
    let done = done
        .again()
        .payload("session_id", "session-1")
        .payload("agent_id", "a1b2c3")
        .then("SubagentStart")
        .run()
        .silent();
    done.again().then("SubagentStop").run().message();
}

#[test]
fn max_blocks_is_three_by_default() {
    let mut test = Test::stop().config(BLOCKING);
    for _ in 0..3 {
        let done = test.run();
        done.blocked();
        test = done.again();
    }
    test.run().message();
}

#[cfg(unix)]
#[test]
fn blocks_that_cannot_be_counted_are_bounded_by_one() {
    // A file where our folder should be: nothing can be remembered.
    let test = Test::stop().config(BLOCKING).file(".conclaude", "in the way");
    let done = test.payload("stop_hook_active", false).run();
    let reason = done.blocked();
    assert!(
        reason.contains("blocks cannot be counted") && reason.contains(".conclaude is not a folder"),
        "{reason}"
    );
    for again in [serde_json::json!(true), serde_json::Value::Null] {
        let message = Test::stop()
            .config(BLOCKING)
            .file(".conclaude", "x")
            .payload("stop_hook_active", again)
            .run()
            .message();
        assert!(
            message.contains("the agent may stop: it may have been sent back before, and blocks cannot be"),
            "{message}"
        );
    }
}

#[test]
fn a_block_whose_words_the_client_misreads_is_said_on_stdout_too() {
    // The client ignores an exit 2 with "no such file" on stderr, unless stdout has the decision.
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: ls /nowhere, showStderr: true, onFailure: block}\n";
    let reason = Test::stop().config(config).run().blocked();
    assert!(reason.to_lowercase().contains("no such file"), "{reason}");
}

#[test]
fn all_events_without_behaviour_are_a_silent_exit_0() {
    for name in event::names().filter(|name| !name.starts_with("Subagent") && *name != "PreToolUse") {
        for stdin in [&capture(&format!("{name}.json"))[..], b"", b"{}", b"nonsense"] {
            let done = Test::event(name).stdin(stdin).run().silent();
            assert_eq!(done.stderr, "", "{name}");
        }
    }
}

#[test]
fn every_capture_of_the_client_parses() {
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
    Test::stop()
        .payload("cwd", ".")
        .run()
        .error("invalid payload: `cwd` is \".\", expected an absolute path");
}

#[test]
fn a_payload_that_is_too_large_is_refused() {
    let mut input = b"{\"session_id\": \"".to_vec();
    input.resize(65 << 20, b'x');
    let done = Test::stop().stdin(input).run().status(1);
    // A busy machine may not get that far in time.
    let refused =
        ["the payload on stdin is larger than 64 MiB", "the payload on stdin did not end within 5 s"];
    assert!(
        done.stdout.is_empty() && refused.iter().any(|reason| done.stderr.contains(reason)),
        "{}",
        done.stderr
    );
}

/// A file is read in as large pieces as there is room for, and the whole of one that was too large was taken.
#[test]
fn a_file_on_stdin_may_not_be_larger_either() {
    let test = Test::stop();
    let mut large = tempfile::tempfile().unwrap();
    let start = String::from_utf8(test.input()).unwrap();
    write!(large, "{},\"more\": \"{}\"}}", start.strip_suffix('}').unwrap(), "x".repeat(70 << 20)).unwrap();
    large.seek(std::io::SeekFrom::Start(0)).unwrap();
    let output = test.command().stdin(large).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the payload on stdin is larger than 64 MiB"));
}

#[test]
fn the_end_of_a_session_waits_half_a_second_for_its_payload() {
    let test = Test::event("SessionEnd");
    let mut child = test.command().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    Write::write_all(&mut stdin, b"{\"session_id\": \"s").unwrap();
    let started = std::time::Instant::now();
    assert!(child.wait().unwrap().success());
    assert!(started.elapsed() < std::time::Duration::from_secs(4), "the client gives it 1.5 s");
    drop(stdin);
}

#[test]
fn the_end_of_a_session_removes_what_ended_long_ago() {
    let done = Test::stop().config(BLOCKING).run();
    done.blocked();
    let done = done.again().then("SessionEnd").run().silent();
    let state = done.root().join(".conclaude/state");
    let session =
        std::fs::read_dir(&state).unwrap().flatten().find(|e| e.file_name().len() == 64).unwrap().path();
    let age = |days: u64| {
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 24 * 3600);
        let file = std::fs::File::open(session.join("ended")).unwrap();
        file.set_times(std::fs::FileTimes::new().set_modified(then)).unwrap();
    };
    age(6);
    let done = done.again().payload("session_id", "another").run().silent();
    assert!(session.exists());
    age(8);
    // A session that is taken up again is not an old one.
    let done = done.again().payload("session_id", "session-1").then("SessionStart").run().silent();
    let done = done.again().payload("session_id", "another").then("SessionEnd").run().silent();
    assert!(session.exists());
    let done = done.again().payload("session_id", "session-1").run().silent();
    age(8);
    done.again().payload("session_id", "another").run().silent();
    assert!(!session.exists());
}

#[test]
fn an_unknown_event_is_exit_1_with_the_nearest_name() {
    for (typed, near) in
        [("SubagentStopp", "SubagentStop"), ("subagentstart", "SubagentStart"), ("valdate", "validate")]
    {
        let output = conclaude().args(["help", typed]).output().unwrap();
        assert!(String::from_utf8(output.stderr).unwrap().contains(&format!("did you mean `{near}`?")));
        let output = conclaude().arg(typed).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            format!("conclaude: unknown event or verb `{typed}`; did you mean `{near}`?\n")
        );
    }
    let output = conclaude().arg("frobnicate").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("`conclaude --help` lists"));
}

#[test]
fn wrong_arguments_are_never_exit_2() {
    for arguments in [
        &["SubagentStop", "--loud"][..],
        &["SubagentStop", "extra"],
        &["--frobnicate"],
        &["validate", "a", "b"],
        &["completions"],
        &["completions", "tcsh"],
        &[],
        &[""],
        &["--", "x"],
    ] {
        let output = conclaude().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_payload_of_another_event_is_refused() {
    Test::stop().stdin(capture("Stop.json")).run().error(
        "invalid payload: `hook_event_name` is \"Stop\", expected \"SubagentStop\": register each event with its own name",
    );
}

#[test]
fn missing_and_blank_fields_are_named_without_side_effects() {
    let config = "subagentStop: {commands: {'*': [{run: touch ran.txt}]}}";
    for field in ["session_id", "transcript_path", "cwd", "hook_event_name"] {
        let done = Test::stop().config(config).without(field).run();
        let done = done.error(&format!(
            "invalid payload: missing required field `{field}`: expected a non-empty string"
        ));
        assert!(!done.has("ran.txt") && !done.has(".conclaude"));
        let done = done.again().payload(field, " ").run();
        done.error(&format!("invalid payload: {field} cannot be empty: expected a non-empty string"));
    }
    Test::stop()
        .payload("agent_id", 5)
        .run()
        .error("invalid payload: `agent_id` is the number 5, expected a non-empty string");
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
    let test = Test::stop();
    let mut child = test.command().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    Write::write_all(&mut stdin, b"{\"session_id\": \"s").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "conclaude: the payload on stdin did not end within 5 s (17 bytes came)\n"
    );
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
fn a_panic_is_exit_1_and_asks_for_a_report() {
    let done = Test::stop()
        .env("CONCLAUDE_TEST_PANIC", "plan")
        .run()
        .error_with("internal error at src/hooks/guard.rs");
    done.stderr_has("asked for by CONCLAUDE_TEST_PANIC").stderr_has("please report it");
}

#[test]
fn a_panic_where_a_gate_applies_blocks_once_and_never_silently_allows() {
    let test =
        Test::stop().config(BLOCKING).env("CONCLAUDE_TEST_PANIC", "plan").payload("stop_hook_active", false);
    let done = test.run();
    assert!(done.blocked().contains("please report it"));
    done.again().payload("stop_hook_active", true).run().error_with("please report it");
}

#[test]
fn arrivals_are_noted_once_there_is_a_folder_for_them() {
    let done = Test::event("Stop").run().silent();
    assert!(!done.has(".conclaude"), "an event without anything to do writes nothing");
    let done = done.again().file(".conclaude/state/last/x", "").run().silent();
    assert!(done.has(".conclaude/state/last/Stop"));
}
