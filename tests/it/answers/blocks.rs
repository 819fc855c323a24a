//! Blocks of a stop, and their limit.

use super::*;

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
      (it only warns now: timeouts block an agent only once)
    ✗ `test -e fixed` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let done = done.again().file("fixed", "").run();
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `sleep 60` timed out after 1 s and was terminated
      (it only warns now: timeouts block an agent only once)
    ⚠ coder (a1b2c3): stopped after 2 blocks
    ");
    // Another agent has not been blocked by a timeout.
    done.again().payload("agent_id", "another").run().blocked();
}

#[test]
fn a_missing_program_blocks_an_agent_once_and_other_failures_still_do() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: no-such-program, message: Linting failed, onFailure: block}\n      - {run: /etc/passwd, show: never, onFailure: block}\n      - {run: test -e fixed, onFailure: block}\n";
    let done = Test::stop().config(config).run();
    assert_snapshot!(done.blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ Linting failed
      `no-such-program` exited with code 127 (a program was not found)
      /bin/sh: 1: no-such-program: not found
      (the check itself cannot run: install what is missing, or tell the user what it is)
    ✗ `/etc/passwd` exited with code 126 (a program cannot be executed)
      (the check itself cannot run: make that file executable, or tell the user which one it is)
    ✗ `test -e fixed` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let warned = "⚠ Linting failed
  `no-such-program` exited with code 127 (a program was not found)
  /bin/sh: 1: no-such-program: not found
  (it only warns now: programs that cannot run block an agent only once)
⚠ `/etc/passwd` exited with code 126 (a program cannot be executed)
  (it only warns now: programs that cannot run block an agent only once)
";
    let done = done.again().run();
    let start = "conclaude: coder (a1b2c3) may not stop yet (block 2 of 3):\n";
    let reason = done.blocked();
    assert!(
        reason.starts_with(&format!("{start}{warned}✗ `test -e fixed` exited with code 1\n")),
        "{reason}"
    );
    let done = done.again().file("fixed", "").run();
    let start = "conclaude: SubagentStop of coder (a1b2c3)\n";
    assert_eq!(done.message(), format!("{start}{warned}⚠ coder (a1b2c3): stopped after 2 blocks"));
    let test = done.again();
    let why = test.shows(&["why", "--all", "--last"]);
    let lines =
        |part: &str| why.lines().filter(|line| line.contains(part)).map(str::trim).collect::<String>();
    assert_snapshot!(format!("{}\n{}", lines("reason: "), lines("would decide")), @"
    reason: `no-such-program`, `/etc/passwd` could still not run, and programs
    the config would decide the same: allowed despite a failure
    ");
    // Another agent has not been blocked by it.
    test.payload("agent_id", "another").run().blocked();
}

#[test]
fn a_missing_program_and_a_timeout_block_once_each() {
    let config = |run: &str| {
        format!("subagentStop: {{commands: {{coder: [{{run: {run}, timeout: 1, onFailure: block}}]}}}}\n")
    };
    let done = Test::stop().config(&config("no-such-program")).run();
    done.blocked();
    let mut done = done.again().config(&config("sleep 60")).run();
    done.blocked();
    for run in ["no-such-program", "sleep 60"] {
        done = done.again().config(&config(run)).run().status(0);
    }
}

#[test]
fn a_missing_program_still_denies_a_tool_each_time() {
    let config = "preToolUse: {commands: {Bash: [{run: no-such-guard, show: never, onFailure: block}]}}";
    let mut test = Test::event("PreToolUse").payload("tool_name", "Bash").config(config);
    test = test.payload("tool_input", serde_json::json!({"command": "ls"}));
    for _ in 0..2 {
        let done = test.run();
        insta::allow_duplicates! { assert_snapshot!(done.tool("deny"), @"
        conclaude denies this tool:
        ✗ `no-such-guard` exited with code 127 (a program was not found)
          (the check itself cannot run: install what is missing, or tell the user what it is)
        "); }
        test = done.again();
    }
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
      (it only warns now: timeouts block an agent only once)
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
