//! Exit codes, blocks and their limit, errors: what Claude Code is answered.

mod blocks;
mod payloads;

use std::io::{Seek, Write};

use insta::assert_snapshot;

use crate::common::snapshot::same;
use crate::common::{Test, capture, conclaude};
use conclaude_core::event;
use conclaude_core::types::HookPayload;

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
    Processing InstructionsLoaded hook: session_id=fd39dcb0-097c-4273-b1a4-8dabe21ae3e6, load_reason=session_start
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
    conclaude: unknown event or command `frobnicate`; `conclaude --help` lists the commands, `conclaude events` the events
    exit 1
    ----- stderr
    conclaude: unknown event or command `frobnicate`; `conclaude --help` lists the commands, `conclaude events` the events
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
fn a_panic_is_exit_1_and_asks_for_a_report() {
    let done = Test::stop().env("CONCLAUDE_TEST_PANIC", "plan").run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message
    ");
}

#[test]
fn a_panic_where_a_gate_applies_blocks_once_and_never_silently_allows() {
    let test =
        Test::stop().config(BLOCKING).env("CONCLAUDE_TEST_PANIC", "plan").payload("stop_hook_active", false);
    let done = test.run();
    assert_snapshot!(done.blocked(), @"conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message. It is blocked, since a gate, guard or check could not be evaluated.");
    assert_snapshot!(done.again().payload("stop_hook_active", true).run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: internal error at [SOURCE]: requested by CONCLAUDE_TEST_PANIC. This is a bug in conclaude [VERSION]; please report it with this message
    ");
}

#[test]
fn arrivals_are_noted_once_there_is_a_folder_for_them() {
    let done = Test::event("Stop").run().silent();
    assert!(!done.has(".conclaude"), "an event without anything to do writes nothing");
    let done = done.again().file(".conclaude/state/last/x", "").run().silent();
    assert!(done.has(".conclaude/state/last/Stop"));
}
