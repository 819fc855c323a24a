//! The stop of the main thread.

use super::*;

#[test]
fn a_stop_of_the_main_thread_is_blocked_up_to_the_limit_and_again_after_the_next_prompt() {
    let config = "maxBlocks: 2\nstop: {commands: [{run: 'echo no; test -e fixed'}]}";
    let done = main_stop(config).run();
    assert_snapshot!(done.blocked(), @"
    conclaude: you may not stop yet (block 1 of 2):
    ✗ `echo no; test -e fixed` exited with code 1
      no
    Fix what is marked ✗, then finish again.
    ");
    let done = done.again().payload("stop_hook_active", true).run();
    assert_snapshot!(done.blocked().lines().next().unwrap(), @"conclaude: you may not stop yet (block 2 of 2):");
    let done = done.again().run();
    assert_snapshot!(done.message(), @"
    conclaude: ✗ `echo no; test -e fixed` exited with code 1
      no
    This would have blocked, but the agent may stop: it was blocked 2 times already (maxBlocks).
    ");
    let notified =
        done.again().then("UserPromptSubmit").payload("prompt", "<task-notification>\n<task-id>a</task-id>");
    let done = notified.run().again().then("Stop").run();
    assert_eq!(done.code, Some(0), "a notification is no prompt of the user");
    let asked = done.again().then("UserPromptSubmit").payload("prompt", "go on").run();
    let done = asked.again().then("Stop").run();
    assert_snapshot!(done.blocked().lines().next().unwrap(), @"conclaude: you may not stop yet (block 1 of 2):");
    let done = done.again().file("fixed", "").run();
    assert_snapshot!(done.message(), @"conclaude: ✓ main thread: `echo no; test -e fixed` passed after 1 block");
    assert_snapshot!(done.again().run().snapshot(), @r#"
    exit 0
    ----- stderr
    conclaude: info: Processing Stop hook: session_id=session-1
    conclaude: info: pattern "*": `echo no; test -e fixed` exited with code 0 in [DURATION]
    "#);
}

#[test]
fn a_stop_that_times_out_is_blocked_once_for_a_prompt() {
    let config = "stop: {commands: [{run: sleep 60, timeout: 1}]}";
    let done = main_stop(config).run();
    assert_snapshot!(done.blocked(), @"
    conclaude: you may not stop yet (block 1 of 3):
    ✗ `sleep 60` timed out after 1 s and was terminated
    Fix what is marked ✗, then finish again.
    ");
    let done = done.again().payload("stop_hook_active", true).run();
    assert_snapshot!(done.message(), @"
    conclaude: ⚠ `sleep 60` timed out after 1 s and was terminated
      (it only warns now: timeouts block an agent only once)
    ⚠ main thread: stopped after 1 block
    ");
    // A later look does not say that it passed.
    let test = done.again();
    let shown = |arguments: &[&str]| test.shows(arguments);
    let why = shown(&["why", "--all", "--last"]);
    let lines = |text: &str, part: &str| {
        text.lines()
            .filter(|line| line.contains(part))
            .map(|line| format!("{}\n", line.trim()))
            .collect::<String>()
    };
    assert_snapshot!(lines(&why, "reason: ") + &lines(&why, "Stop ") + &lines(&why, "would decide"), @"
    reason: `sleep 60` timed out again, and timeouts block an agent only once
    2: Stop allowed despite a failure
    the config would decide the same: allowed despite a failure
    ");
    let report = shown(&["report", "--format", "md"]);
    assert!(report.contains("| main thread |  | `allowed despite a failure` |"), "{report}");
    assert!(!report.contains("passed"), "{report}");
    let trail = shown(&["audit", "show"]);
    assert!(trail.contains(" Stop allowed despite a failure\n"), "{trail}");
    assert_snapshot!(lines(&shown(&["explain", "--all", "Stop"]), "times out"), @"
    if `sleep 60` times out: blocked (exit 2)
    if `sleep 60` times out again: allowed_despite_failure (exit 0)
    ");
}

#[test]
fn the_checks_of_a_stop_wait_for_background_agents() {
    let task = |kind: &str| json!([{"id": "a1", "type": kind, "status": "running", "agent_type": "coder"}]);
    let config = "stop: {commands: [{run: touch ran}], infinite: true}";
    let done = main_stop(config).payload("background_tasks", task("subagent")).run();
    assert_snapshot!(done.message(), @"conclaude: the checks of `stop` wait for 1 background agent (coder), and run at the stop after that");
    assert!(!done.has("ran"));
    let test = done.again();
    assert_snapshot!(test.shows(&["why", "--all"]), @r#"
    exit 0
    ----- stdout
    1: Stop allowed
      time: [TIME]
      session: session-1

    Why
      · `touch ran` did not run: background agents still run: coder
          stop.commands "*" in .conclaude.yaml:1
      · `stop.infinite` did not run: background agents still run: coder
          stop.infinite in .conclaude.yaml:1

    Today
      cannot be determined: the checks waited for background agents, and run at the
      stop after that
    "#);
    let done = test.run();
    assert!(
        done.again().payload("background_tasks", task("shell")).run().has("ran"),
        "a server may run for ever"
    );
    main_stop("maxBlocks: 3").payload("background_tasks", task("subagent")).run().silent();
}

#[test]
fn a_stop_that_waits_does_not_say_that_its_checks_are_not_run_again() {
    let config = "stop: {commands: [{run: test -e fixed}]}";
    let done = main_stop(config).run();
    done.blocked();
    let agent = json!([{"id": "a1", "type": "subagent", "status": "running", "agent_type": "coder"}]);
    let waiting = done.again().file("fixed", "").payload("background_tasks", agent).run();
    assert_snapshot!(waiting.message(), @"conclaude: the checks of `stop` wait for 1 background agent (coder), and run at the stop after that");
    let done = waiting.again().payload("background_tasks", json!([])).run();
    assert_snapshot!(done.message(), @"conclaude: ✓ main thread: `test -e fixed` passed after 1 block");
}

#[test]
fn infinite_makes_claude_go_on_as_often_as_blocks_are_allowed() {
    let done = main_stop("maxBlocks: 1\nstop: {infinite: true, infiniteMessage: 'take the next item'}").run();
    assert_snapshot!(done.blocked(), @"
    take the next item
    (conclaude: `stop.infinite`, 1 of 1 for this prompt)
    ");
    assert_eq!(done.audit().pop().unwrap()["decision"], "blocked", "every refusal is recorded");
    let test = done.again();
    assert_snapshot!(test.shows(&["why", "--all"]), @"
    exit 0
    ----- stdout
    1: Stop blocked
      time: [TIME]
      session: session-1

    Why
      ✗ Claude is made to go on
          stop.infinite in .conclaude.yaml:2
      block 1 of 1 (maxBlocks in .conclaude.yaml:1)

    Today
      the config would decide the same: blocked
      all of it: conclaude explain Stop

    Config
      project  .conclaude.yaml

    Commands, in this order
      none runs
      • reports gated agents that never stopped (not checked by `explain`)
      • `stop.infinite` asks Claude to go on
    ");
    assert_snapshot!(test.shows(&["audit", "show"]), @"
    exit 0
    ----- stdout
        1 [TIME] Stop blocked
            Claude is made to go on by stop.infinite
    ");
    assert_snapshot!(test.shows(&["audit", "export", "--csv"]), @"
    exit 0
    ----- stdout
    seq,time,event,decision,session,agent,agent_id,tool,tool_use_id,tool_file,tool_command,step,phase,permission_mode,reason,findings,rule,rule_pattern,rule_file,rule_line,matched,message,commands,failed_commands,trace_id,doubt
    1,[TIME],Stop,blocked,session-1,,,,,,,,,,,,stop.infinite,,.conclaude.yaml,2,,,,0,,
    ");
    let report = test.shows(&["report", "--format", "md"]);
    assert_snapshot!(report.lines().find(|line| line.starts_with("| 1 | ")).unwrap(), @"| 1 | [TIME] | `Stop` | `blocked` | main thread | `Claude is made to go on by stop.infinite` |");
    let done = test.payload("stop_hook_active", true).run();
    assert_snapshot!(done.message(), @"conclaude: `stop.infinite` made Claude go on 1 time (maxBlocks): it may stop now");
    // Until the next prompt.
    assert_snapshot!(done.again().run().snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "systemMessage": "conclaude: `stop.infinite` made Claude go on 1 time (maxBlocks): it may stop now"
    }
    ----- stderr
    conclaude: info: Processing Stop hook: session_id=session-1
    conclaude: warn: main thread may stop: it was blocked 1 time already
    "#);
}

#[test]
fn a_failure_at_an_event_that_nobody_sees_is_shown_at_the_next_stop() {
    let config = "notification: {commands: [{run: 'echo broken; exit 1'}]}";
    let done = Test::event("Notification").payload("notification_type", "x").config(config).run().silent();
    let stop = done.again().then("Stop").without("agent_id").without("agent_type").run();
    assert_snapshot!(stop.message(), @"
    conclaude: ⚠ `echo broken; exit 1` exited with code 1
      broken
    ");
}
