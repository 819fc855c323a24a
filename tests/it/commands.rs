//! How a command runs and what is shown of it.

mod folders;
mod machine;
mod output;

use insta::assert_snapshot;

use crate::common::desktop::Desktop;
use crate::common::snapshot::same;
use crate::common::{LEAVES_A_CHILD, Outcome, Test, binary, in_little_memory};

fn one(options: &str) -> Test {
    Test::stop().config(&format!("subagentStop:\n  commands:\n    coder:\n      - {options}\n"))
}

// Scenario: Command execution fails
#[test]
fn a_failure_is_logged_and_shown_and_the_rest_runs() {
    let done = one("{run: 'exit 3', message: Linting failed}\n      - {run: touch ran.txt}").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "systemMessage": "conclaude: SubagentStop of coder (a1b2c3)
        ⚠ Linting failed
          `exit 3` exited with code 3"
    }
    ----- stderr
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: warn: pattern "coder": `exit 3` exited with code 3 in [DURATION]
    conclaude: info: pattern "coder": `touch ran.txt` exited with code 0 in [DURATION]
    "#);
    assert!(done.has("ran.txt"));
}

#[test]
fn a_message_is_shown_on_failure_alone() {
    assert_snapshot!(one("{run: 'true', message: never}").run().snapshot(), @r#"
    exit 0
    ----- stderr
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: info: pattern "coder": `true` exited with code 0 in [DURATION]
    "#);
}

// Scenario: Command spawning fails
#[test]
fn what_cannot_be_started_is_logged_and_the_rest_runs() {
    let desktop = Desktop::start();
    let done = one("{run: x, shell: /no/such/shell}\n      - {run: no-such-program, show: never}\n      - {run: /etc/passwd, showStderr: false}\n      - {run: touch ran.txt}\nnotifications: {enabled: true, hooks: ['*']}")
        .env("DBUS_SESSION_BUS_ADDRESS", desktop.address())
        .env("CONCLAUDE_NOTIFY_WAIT_MS", "10000")
        .run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "systemMessage": "conclaude: SubagentStop of coder (a1b2c3)
        ⚠ `x` could not be started: /no/such/shell in [ROOT]: No such file or directory (os error 2)
        ⚠ `no-such-program` exited with code 127 (a program was not found)
        ⚠ `/etc/passwd` exited with code 126 (a program cannot be executed)"
    }
    ----- stderr
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: warn: pattern "coder": `x` could not be started: /no/such/shell in [ROOT]: No such file or directory (os error 2) in [DURATION]
    conclaude: warn: pattern "coder": `no-such-program` exited with code 127 (a program was not found) in [DURATION]
    conclaude: warn: pattern "coder": `/etc/passwd` exited with code 126 (a program cannot be executed) in [DURATION]
    conclaude: info: pattern "coder": `touch ran.txt` exited with code 0 in [DURATION]
    "#);
    assert!(done.has("ran.txt"));
    assert_eq!(desktop.arrived().len(), 1, "the notification is still sent");
}

// Scenario: All commands complete despite individual failures
#[test]
fn all_commands_are_attempted() {
    let done = one("{run: 'echo 1 >> ran.txt; exit 1'}\n      - {run: 'echo 2 >> ran.txt; kill -9 $$'}\n      - {run: sleep 60, timeout: 1, onTimeout: warn}\n      - {run: echo 4 >> ran.txt}").run();
    assert_eq!(done.read("ran.txt"), "1\n2\n4\n");
    let message = done.message();
    assert_snapshot!(message, @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo 1 >> ran.txt; exit 1` exited with code 1
    ⚠ `echo 2 >> ran.txt; kill -9 $$` was killed by signal 9
    ⚠ `sleep 60` timed out after 1 s and was terminated
    ");
}

#[test]
fn a_script_of_many_lines_is_one_script() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - run: |\n          set -e\n          x=one\n          cd sub\n          echo \"$x $(basename \"$PWD\")\"\n          false\n          echo not reached\n        showStdout: true\n";
    let message = Test::stop().config(config).file("sub/x", "").run().message();
    assert_snapshot!(message, @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `set -e …` exited with code 1
      one sub
    ");
}

#[test]
fn another_shell_can_be_picked() {
    let message =
        one("{run: 'echo \"${BASH_VERSION:+bash}\"', shell: bash, showStdout: true}").run().message();
    assert_snapshot!(message, @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo "${BASH_VERSION:+bash}"
      bash
    "#);
}

#[test]
fn a_background_child_that_keeps_the_pipe_does_not_hold_the_hook() {
    let done = one(&format!("{{run: 'echo before; {LEAVES_A_CHILD}', showStdout: true}}")).run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo before; for i in $(seq 3000); do [ -e .conclaude.yaml ] || exit; sleep 0.1; …
      before
      after
    ");
    assert!(!done.has("late"), "it waited for the child");
}

#[test]
fn a_value_too_long_for_an_environment_does_not_keep_a_command_from_starting() {
    let done = one("{run: 'echo ${#CONCLAUDE_SESSION_ID} > length.txt'}")
        .payload("session_id", "x".repeat(300_000))
        .run();
    assert_eq!(done.read("length.txt"), "32768\n");
    let warnings: Vec<&str> =
        done.stderr.lines().filter(|line| line.starts_with("conclaude: warn")).collect();
    assert_snapshot!(warnings.join("\n"), @"conclaude: warn: CONCLAUDE_SESSION_ID is cut to 32768 of 300000 bytes");
    done.silent();
}

#[test]
fn a_nul_in_a_value_leaves_the_variable_out() {
    let done = one("{run: 'echo ${CONCLAUDE_AGENT_TRANSCRIPT_PATH-unset} > value.txt'}")
        .payload("agent_transcript_path", "/a\0b")
        .run();
    assert_eq!(done.read("value.txt"), "unset\n");
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stderr
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: warn: CONCLAUDE_AGENT_TRANSCRIPT_PATH is left out: its value contains a NUL
    conclaude: info: pattern "coder": `echo ${CONCLAUDE_AGENT_TRANSCRIPT_PATH-unset} > value.txt` exited with code 0 in [DURATION]
    "#);
}
