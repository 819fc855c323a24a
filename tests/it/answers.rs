//! Exit codes, blocks and their limit, errors: what Claude Code is answered.

use std::io::{Seek, Write};

use insta::assert_snapshot;

use crate::common::snapshot::same;
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
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ Linting failed
      `echo 'src/a.rs: unused' ; exit 1` exited with code 1
      src/a.rs: unused
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn a_timeout_blocks_and_the_rest_still_runs() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: sleep 60, timeout: 1, message: Too slow}\n      - {run: touch ran.txt}\n";
    let done = Test::stop().config(config).run();
    let reason = done.blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ Too slow
      `sleep 60` timed out after 1 s and was terminated
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert!(done.has("ran.txt"));
}

#[test]
fn on_timeout_warn_and_on_failure_warn_do_not_block() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: sleep 60, timeout: 1, onTimeout: warn, onFailure: block}\n      - {run: 'false', onFailure: warn}\n";
    let message = Test::stop().config(config).run().message();
    assert_snapshot!(message, @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `sleep 60` timed out after 1 s and was terminated
    ⚠ `false` exited with code 1
    ");
}

#[test]
fn an_explicit_on_failure_decides_for_timeouts_too() {
    let config =
        "subagentStop:\n  commands:\n    coder:\n      - {run: sleep 60, timeout: 1, onFailure: warn}\n";
    assert_snapshot!(Test::stop().config(config).run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `sleep 60` timed out after 1 s and was terminated
    ");
    let both = "subagentStop:\n  commands:\n    coder:\n      - {run: sleep 60, timeout: 1, onFailure: warn, onTimeout: block}\n";
    Test::stop().config(both).run().blocked();
}

#[test]
fn a_timeout_blocks_an_agent_once_and_other_failures_still_do() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: sleep 60, timeout: 1, onFailure: block}\n      - {run: test -e fixed, onFailure: block}\n";
    let done = Test::stop().config(config).run();
    assert_snapshot!(done.blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `sleep 60` timed out after 1 s and was terminated
    ✗ `test -e fixed` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let done = done.again().run();
    assert_snapshot!(done.blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 2 of 3):
    ⚠ `sleep 60` timed out after 1 s and was terminated
      (it only warns now: an agent is blocked by timeouts once)
    ✗ `test -e fixed` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let done = done.again().file("fixed", "").run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `sleep 60` timed out after 1 s and was terminated
      (it only warns now: an agent is blocked by timeouts once)
    ⚠ coder (a1b2c3): stopped after 2 blocks
    ");
    // Another agent has not been blocked by a timeout.
    done.again().payload("agent_id", "another").run().blocked();
}

#[test]
fn an_agent_that_passes_after_blocks_leaves_one_line() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: test -e $CONCLAUDE_AGENT_ID, onFailure: block}\n";
    let meta =
        |what: &str| format!(r#"{{"toolUseId":"toolu_1","agentType":"coder","description":"{what}"}}"#);
    let mut test = Test::stop()
        .config(config)
        .file("main/subagents/agent-one.meta.json", meta("Write greeting"))
        .file("main/subagents/agent-two.meta.json", meta("Write farewell"));
    for agent in ["one", "two", "two", "three"] {
        let done = test.payload("agent_id", agent).run();
        done.blocked();
        test = done.again();
    }
    let mut shown = Vec::new();
    for agent in ["one", "two", "three"] {
        let done = test.file(agent, "").payload("agent_id", agent).run();
        shown.push(done.message());
        // It was said.
        test = done.again().run().silent().again();
    }
    assert_snapshot!(shown.join("\n"), @r#"
    conclaude: ✓ coder · "Write greeting": `test -e $CONCLAUDE_AGENT_ID` passed after 1 block
    conclaude: ✓ coder · "Write farewell": `test -e $CONCLAUDE_AGENT_ID` passed after 2 blocks
    conclaude: ✓ coder (three): `test -e $CONCLAUDE_AGENT_ID` passed after 1 block
    "#);
    // Who was never blocked has nothing to say.
    test.file("four", "").payload("agent_id", "four").run().silent();
}

#[test]
fn after_a_block_by_a_timeout_nothing_is_said_to_have_passed() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: sleep 60, timeout: 1}\n";
    let done = Test::stop().config(config).run();
    done.blocked();
    assert_snapshot!(done.again().run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `sleep 60` timed out after 1 s and was terminated
      (it only warns now: an agent is blocked by timeouts once)
    ⚠ coder (a1b2c3): stopped after 1 block
    ");
}

#[test]
fn a_check_that_did_not_run_again_is_not_said_to_have_passed() {
    let config = "subagentStop: {commands: {coder: [{run: 'false', onFailure: block}]}}\n";
    let done = Test::stop().config(config).run();
    done.blocked();
    // The user takes the command out of the config while the agent works.
    let done = done.again().config("maxBlocks: 3\n").run();
    assert_snapshot!(done.message(), @"conclaude: ⚠ coder (a1b2c3): stopped after 1 block; not run again: `false`");
}

#[test]
fn what_only_warns_is_shown_with_the_block_too() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: echo note, showStdout: true}\n      - {run: exit 3, onFailure: warn}\n      - {run: 'false', onFailure: block}\n";
    let reason = Test::stop().config(config).run().blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✓ echo note
      note
    ⚠ `exit 3` exited with code 3
    ✗ `false` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn after_max_blocks_the_stop_is_allowed_and_that_is_shown() {
    let mut test = Test::stop().config(&format!("maxBlocks: 2\n{BLOCKING}"));
    for nth in ["block 1 of 2", "block 2 of 2"] {
        let done = test.run();
        assert_eq!(done.blocked().matches(nth).count(), 1);
        test = done.again().payload("stop_hook_active", true);
    }
    let mut shown = Vec::new();
    for _ in 0..3 {
        let done = test.run();
        shown.push(done.message());
        test = done.again();
    }
    assert_snapshot!(same(&shown), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✗ Linting failed
      `echo 'src/a.rs: unused' ; exit 1` exited with code 1
      src/a.rs: unused
    This would have blocked, but the agent may stop: it was blocked 2 times already (maxBlocks).
    ");
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
fn blocks_that_cannot_be_counted_are_limited_to_one() {
    // A file where our folder should be: nothing can be remembered.
    let test = Test::stop().config(BLOCKING).file(".conclaude", "in the way");
    let done = test.payload("stop_hook_active", false).run();
    let reason = done.blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 1):
    ✗ Linting failed
      `echo 'src/a.rs: unused' ; exit 1` exited with code 1
      src/a.rs: unused
    (blocks cannot be counted: [ROOT]/.conclaude is not a folder)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    (the audit trail cannot be written: [ROOT]/.conclaude is not a folder)
    ");
    let mut shown = Vec::new();
    for again in [serde_json::json!(true), serde_json::Value::Null] {
        let message = Test::stop()
            .config(BLOCKING)
            .file(".conclaude", "x")
            .payload("stop_hook_active", again)
            .run()
            .message();
        shown.push(message);
    }
    assert_snapshot!(same(&shown), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✗ Linting failed
      `echo 'src/a.rs: unused' ; exit 1` exited with code 1
      src/a.rs: unused
    This would have blocked, but the agent may stop: it may have been blocked before, and blocks cannot be counted: [ROOT]/.conclaude is not a folder.
    the audit trail cannot be written: [ROOT]/.conclaude is not a folder
    ");
}

#[test]
fn a_block_whose_text_claude_code_misreads_is_on_stdout_too() {
    // Claude Code ignores an exit 2 with "no such file" on stderr, unless stdout has the decision.
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: ls /nowhere, showStderr: true, onFailure: block}\n";
    let reason = Test::stop().config(config).run().blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `ls /nowhere` exited with code 2
      ls: cannot access '/nowhere': No such file or directory
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn all_events_without_behaviour_are_a_silent_exit_0() {
    for name in event::names().filter(|name| !name.starts_with("Subagent") && *name != "PreToolUse") {
        let done = Test::event(name).stdin(capture(&format!("{name}.json"))).run().silent();
        assert!(done.stderr.starts_with(&format!("conclaude: info: Processing {name} hook:")), "{name}");
        let done = Test::event(name).stdin("{}").run().silent();
        assert!(
            done.stderr.starts_with("conclaude: info: ") && done.stderr.lines().count() == 1,
            "{name}: a payload of nobody"
        );
        for stdin in ["", "nonsense"] {
            let done = Test::event(name).stdin(stdin).run();
            assert_eq!(done.code, Some(0), "{name}: {}", done.stderr);
            assert_eq!(done.stderr.lines().count(), 1, "{name}");
        }
    }
}

#[test]
fn every_event_is_logged_with_what_identifies_it() {
    let mut lines = Vec::new();
    for name in event::names() {
        // Without the markers, for which a gate would answer.
        let payload =
            String::from_utf8(capture(&format!("{name}.json"))).unwrap().replace("DES-VALIDATION", "x");
        let done = Test::event(name).stdin(payload).run().silent();
        lines.push(done.stderr.replace("conclaude: info: ", "").trim_end().to_owned());
    }
    assert_snapshot!(lines.join("\n"), @"
    Processing SessionStart hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, source=startup
    Processing PreToolUse hook: session_id=e057e862-e228-4872-b334-7b4e13120d96, tool_name=Agent, tool_use_id=toolu_44be361167fb4c94ac7fa859
    Processing PostToolUse hook: session_id=e057e862-e228-4872-b334-7b4e13120d96, tool_name=Agent, tool_use_id=toolu_44be361167fb4c94ac7fa859
    Processing UserPromptSubmit hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, prompt_id=64014077-e794-47d5-a8c7-3c477aa62521
    Processing SubagentStart hook: session_id=e057e862-e228-4872-b334-7b4e13120d96, agent_id=ae7af48d32583d25f, subagent_type=coder
    Processing SubagentStop hook: session_id=e057e862-e228-4872-b334-7b4e13120d96, agent_id=ae7af48d32583d25f, subagent_type=coder
    Processing Stop hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, prompt_id=64014077-e794-47d5-a8c7-3c477aa62521
    Processing SessionEnd hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, reason=other
    Processing PostToolUseFailure hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, agent_id=abf5c327cb231b8d6, tool_name=Bash, tool_use_id=toolu_d1c3632a174446f28a53c895
    Processing PostToolBatch hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, agent_id=abf5c327cb231b8d6, prompt_id=64014077-e794-47d5-a8c7-3c477aa62521
    Processing PermissionRequest hook: session_id=a0c1c8e8-54a2-4783-ba9f-1283ffa6818e, agent_id=a6ac5af9c2d50998b, tool_name=Write
    Processing PermissionDenied hook: session_id=5f4f199d-1503-4c34-b4c8-048087a9d492, tool_name=Bash, tool_use_id=toolu_4c7bc2d6d4d84428b5d6781b
    Processing UserPromptExpansion hook: session_id=77fb81e4-dba1-4067-a331-70b988c9509d, command_name=foo
    Processing Setup hook: session_id=19c78163-8cc0-410b-a0ff-4dbb34b7b7d4, trigger=init
    Processing StopFailure hook: session_id=64f883c4-17b3-47c3-9ea0-c171f9059f82, agent_id=a045be5b472eeecc0, error=unknown
    Processing Notification hook: session_id=53bd9110-a8d1-497b-a1d4-81634714d12e, notification_type=permission_prompt
    Processing PreCompact hook: session_id=03f4b7d2-83f3-43f3-a1dd-b739e6937e6d, trigger=manual
    Processing PostCompact hook: session_id=03f4b7d2-83f3-43f3-a1dd-b739e6937e6d, trigger=manual
    Processing PreModelSwitch hook: session_id=35700a5e-0680-4128-ac96-dec5717f3faa, to_model=claude-opus-5-5
    Processing PostModelSwitch hook: session_id=35700a5e-0680-4128-ac96-dec5717f3faa, to_model=claude-opus-5-5
    Processing TaskCreated hook: session_id=611eab44-0ad4-4ecb-9105-69710874e77f, task_subject=Write greeting
    Processing TaskCompleted hook: session_id=611eab44-0ad4-4ecb-9105-69710874e77f, task_subject=Write greeting
    Processing TeammateIdle hook: session_id=a48cd709-1d8a-4b79-ac80-27536e44f4d9, agent_id=amate-d261481ec4ecb5e8, teammate_name=mate
    Processing Elicitation hook: session_id=4a39d010-decb-40ee-b70f-d7abe0d39a12, mcp_server_name=asker
    Processing ElicitationResult hook: session_id=4a39d010-decb-40ee-b70f-d7abe0d39a12, mcp_server_name=asker
    Processing ConfigChange hook: session_id=87c20bb5-7423-4887-8c16-51eb0130203f, source=local_settings
    Processing InstructionsLoaded hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, memory_type=Project
    Processing CwdChanged hook: session_id=902a7009-a10f-4cda-9aec-4ad18e7d8dcd, new_cwd=/home/user/project/sub
    Processing FileChanged hook: session_id=c7316aec-d6ff-44a0-9535-b0d69d9f89bc, file_path=/home/user/project/.envrc
    Processing DirectoryAdded hook: session_id=35700a5e-0680-4128-ac96-dec5717f3faa, source=slash_command
    Processing WorktreeCreate hook: session_id=19ae45d3-c9bd-434d-a937-856d80962f99, prompt_id=63a3476e-68d1-47bc-b470-d4da7d62d5a1
    Processing WorktreeRemove hook: session_id=19ae45d3-c9bd-434d-a937-856d80962f99, prompt_id=63a3476e-68d1-47bc-b470-d4da7d62d5a1
    Processing MessageDisplay hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, prompt_id=64014077-e794-47d5-a8c7-3c477aa62521
    ");
}

#[test]
fn the_permission_mode_is_in_the_environment_and_in_the_record() {
    let config = "subagentStop: {commands: {coder: [{run: 'echo \"mode ${CONCLAUDE_PERMISSION_MODE-none}\"', show: always}]}}";
    let done = Test::stop().config(config).payload("permission_mode", "acceptEdits").run();
    assert_snapshot!(done.message(), @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo "mode ${CONCLAUDE_PERMISSION_MODE-none}"
      mode acceptEdits
    "#);
    let test = done.again();
    let trail = test.shows(&["audit", "show", "--json"]);
    assert!(trail.contains(r#""permission_mode": "acceptEdits""#), "{trail}");
    let done = test.without("permission_mode").run();
    assert_snapshot!(done.message(), @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo "mode ${CONCLAUDE_PERMISSION_MODE-none}"
      mode none
    "#);
}

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
    let test = Test::event("SessionEnd");
    let mut child = test.command().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    Write::write_all(&mut stdin, b"{\"session_id\": \"s").unwrap();
    // Its stdin stays open: it would wait for ever.
    assert!(child.wait().unwrap().success());
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
    let test = Test::stop();
    let typed = ["SubagentStopp", "subagentstart", "valdate", "frobnicate"];
    let shown = typed.map(|name| format!("{}\n{}", test.shows(&[name]), test.shows(&["help", name])));
    assert_snapshot!(shown.join("\n"), @"
    exit 1
    ----- stderr
    conclaude: unknown event or command `SubagentStopp`; did you mean `SubagentStop`?
    exit 1
    ----- stderr
    conclaude: unknown event or command `SubagentStopp`; did you mean `SubagentStop`?
    exit 1
    ----- stderr
    conclaude: unknown event or command `subagentstart`; did you mean `SubagentStart`?
    exit 1
    ----- stderr
    conclaude: unknown event or command `subagentstart`; did you mean `SubagentStart`?
    exit 1
    ----- stderr
    conclaude: unknown event or command `valdate`; did you mean `validate`?
    exit 1
    ----- stderr
    conclaude: unknown event or command `valdate`; did you mean `validate`?
    exit 1
    ----- stderr
    conclaude: unknown event or command `frobnicate`; `conclaude --help` lists the commands and events
    exit 1
    ----- stderr
    conclaude: unknown event or command `frobnicate`; `conclaude --help` lists the commands and events
    ");
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
    let test = Test::stop();
    let mut child = test.command().spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    Write::write_all(&mut stdin, b"{\"session_id\": \"s").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
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
fn a_panic_is_exit_1_and_asks_for_a_report() {
    let done = Test::stop().env("CONCLAUDE_TEST_PANIC", "plan").run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: internal error at [SOURCE]: asked for by CONCLAUDE_TEST_PANIC. This is a bug in conclaude 0.1.0; please report it with this message
    ");
}

#[test]
fn a_panic_where_a_gate_applies_blocks_once_and_never_silently_allows() {
    let test =
        Test::stop().config(BLOCKING).env("CONCLAUDE_TEST_PANIC", "plan").payload("stop_hook_active", false);
    let done = test.run();
    assert_snapshot!(done.blocked(), @"conclaude: internal error at [SOURCE]: asked for by CONCLAUDE_TEST_PANIC. This is a bug in conclaude 0.1.0; please report it with this message. It is blocked, since a gate could not be evaluated.");
    assert_snapshot!(done.again().payload("stop_hook_active", true).run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: internal error at [SOURCE]: asked for by CONCLAUDE_TEST_PANIC. This is a bug in conclaude 0.1.0; please report it with this message
    ");
}

#[test]
fn arrivals_are_noted_once_there_is_a_folder_for_them() {
    let done = Test::event("Stop").run().silent();
    assert!(!done.has(".conclaude"), "an event without anything to do writes nothing");
    let done = done.again().file(".conclaude/state/last/x", "").run().silent();
    assert!(done.has(".conclaude/state/last/Stop"));
}
