//! What a subagent's event wanted to show reaches the user, and Claude, at the next event that Claude Code shows.

use crate::common::{Outcome, Test, capture};
use insta::assert_snapshot;
use serde_json::{Value, json};

const CONFIG: &str =
    "subagentStop: {commands: {'*': [{run: 'echo \"checked $CONCLAUDE_AGENT_ID\"', showStdout: true}]}}\n";

/// A project in which the agent `a1b2c3` has stopped, with something to show.
fn stopped() -> Test {
    let done = Test::stop().config(CONFIG).run();
    done.message();
    done.again()
}

impl Test {
    fn agent_returns(self, agent_id: &str) -> Self {
        self.then("PostToolUse")
            .without("agent_id")
            .payload("tool_name", "Agent")
            .payload("tool_response", json!({"status": "completed", "agentId": agent_id}))
    }

    fn agent_notifies(self, agent_id: &str) -> Self {
        let prompt = format!(
            "<task-notification>\n<task-id>{agent_id}</task-id>\n<status>completed</status>\n</task-notification>"
        );
        self.then("UserPromptSubmit").payload("prompt", prompt)
    }

    fn main_stops(self, running: Value) -> Self {
        self.then("Stop").payload("background_tasks", running)
    }
}

/// The agents whose messages the user is shown, in order.
fn agents_shown(done: &Outcome) -> Vec<String> {
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    let message = json["systemMessage"].as_str().unwrap();
    let ids = message.lines().filter_map(|line| line.strip_prefix("  checked "));
    ids.map(str::to_owned).collect()
}

#[test]
fn a_foreground_agents_message_comes_with_its_result_once() {
    let done = stopped().agent_returns("a1b2c3").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "PostToolUse",
        "additionalContext": "conclaude: SubagentStop of coder (a1b2c3)
          ✓ echo \"checked $CONCLAUDE_AGENT_ID\"
            checked a1b2c3"
      },
      "systemMessage": "conclaude: SubagentStop of coder (a1b2c3)
        ✓ echo \"checked $CONCLAUDE_AGENT_ID\"
          checked a1b2c3"
    }
    ----- stderr
    conclaude: info: Processing PostToolUse hook: session_id=session-1, tool_name=Agent
    "#);
    let done = done.again().run().silent();
    done.again().main_stops(json!([])).run().silent();
}

#[test]
fn a_background_agents_message_comes_with_its_notification() {
    let done = stopped().agent_notifies("a1b2c3").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": "conclaude: SubagentStop of coder (a1b2c3)
          ✓ echo \"checked $CONCLAUDE_AGENT_ID\"
            checked a1b2c3"
      },
      "systemMessage": "conclaude: SubagentStop of coder (a1b2c3)
        ✓ echo \"checked $CONCLAUDE_AGENT_ID\"
          checked a1b2c3"
    }
    ----- stderr
    conclaude: info: Processing UserPromptSubmit hook: session_id=session-1, agent_id=a1b2c3
    "#);
    done.again().run().silent();
}

#[test]
fn the_payloads_of_claude_code_are_understood() {
    for (file, event, agent) in [
        ("PostToolUse.json", "PostToolUse", "ae7af48d32583d25f"),
        ("variants/UserPromptSubmit.task-notification.json", "UserPromptSubmit", "a1690060106df974b"),
    ] {
        let payload: Value = serde_json::from_slice(&capture(file)).unwrap();
        let test = Test::stop()
            .config(CONFIG)
            .payload("agent_id", agent)
            .payload("session_id", payload["session_id"].clone());
        let test = test.run().again().then(event);
        assert_eq!(agents_shown(&test.stdin(capture(file)).run()), [agent], "{file}");
    }
}

/// What this event adds for Claude alone.
fn only_claude_reads(done: &Outcome) -> String {
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(json["systemMessage"], Value::Null, "the user has seen it");
    json["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn claudes_copy_waits_for_the_notification_that_comes_after_the_stop() {
    let done = stopped().main_stops(json!([])).run();
    assert_eq!(agents_shown(&done), ["a1b2c3"]);
    let done = done.again().agent_notifies("another").run().silent();
    let done = done.again().agent_notifies("a1b2c3").run();
    assert_snapshot!(only_claude_reads(&done), @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo "checked $CONCLAUDE_AGENT_ID"
      checked a1b2c3
    "#);
    let done = done.again().run().silent();
    done.again().main_stops(json!([])).run().silent();
}

#[test]
fn a_notification_that_never_comes_does_not_keep_it_from_claude() {
    let done = stopped().main_stops(json!([])).run();
    let done = done.again().then("UserPromptSubmit").payload("prompt", "and now?").run();
    assert_snapshot!(only_claude_reads(&done), @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo "checked $CONCLAUDE_AGENT_ID"
      checked a1b2c3
    "#);
    done.again().run().silent();
}

#[test]
fn otherwise_it_comes_when_the_main_thread_stops_for_the_user_alone() {
    let done = stopped().main_stops(json!([])).run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "systemMessage": "conclaude: SubagentStop of coder (a1b2c3)
        ✓ echo \"checked $CONCLAUDE_AGENT_ID\"
          checked a1b2c3"
    }
    ----- stderr
    conclaude: info: Processing Stop hook: session_id=session-1, agent_id=a1b2c3
    "#);
    done.again().run().silent();
}

#[test]
fn other_events_and_other_agents_leave_it_where_it_is() {
    let test = stopped();
    let done = test.agent_returns("another").run().silent();
    let done = done.again().agent_notifies("another").run().silent();
    let done = done.again().then("UserPromptSubmit").payload("prompt", "hello").run().silent();
    let done = done.again().then("PostToolUse").payload("tool_name", "Bash").run().silent();
    // Inside another agent Claude Code shows it to nobody.
    let done = done.again().agent_returns("a1b2c3").payload("agent_id", "parent").run().silent();
    let done = done.again().payload("session_id", "another").main_stops(json!([])).run().silent();
    let done = done.again().payload("session_id", "session-1").main_stops(json!([])).run();
    assert_eq!(agents_shown(&done), ["a1b2c3"]);
}

#[test]
fn parallel_agents_get_their_own_messages_in_order() {
    let test = stopped().then("SubagentStop").payload("agent_id", "b9").run().again();
    let test = test.payload("agent_id", "a1b2c3").run().again();
    let done = test.agent_returns("b9").run();
    assert_eq!(agents_shown(&done), ["b9"]);
    let done = done.again().agent_returns("a1b2c3").run();
    assert_eq!(agents_shown(&done), ["a1b2c3", "a1b2c3"]);
}

#[test]
fn what_belongs_to_a_nested_agent_comes_with_its_ancestor() {
    let call = json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "toolu_7", "name": "Agent", "input": {"subagent_type": "coder"}}]}});
    let test = Test::stop()
        .config(CONFIG)
        .file("main/subagents/agent-boss.jsonl", format!("{call}\n"))
        .file("main/subagents/agent-boss.meta.json", r#"{"toolUseId":"toolu_1","spawnDepth":1}"#)
        .file("main/subagents/agent-a1b2c3.meta.json", r#"{"toolUseId":"toolu_7","spawnDepth":2}"#);
    let test = test.run().again();
    // The boss still runs in the background: it stays queued for it.
    let done = test.main_stops(json!([{"id": "boss", "status": "running"}])).run().silent();
    let done = done.again().agent_notifies("boss").run();
    assert_eq!(agents_shown(&done), ["a1b2c3"]);
    // One that was killed does not notify any more: nothing is queued for it.
    let done = stopped().main_stops(json!([{"id": "a1b2c3", "status": "killed"}])).run();
    assert_eq!(agents_shown(&done), ["a1b2c3"]);
}

#[test]
fn a_crash_between_showing_and_removing_shows_it_again() {
    let test = stopped();
    let folder = test.root().join(".conclaude/outbox");
    let session = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let entry = std::fs::read_dir(&session).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read(&entry).unwrap();
    let done = test.agent_returns("a1b2c3").run();
    assert!(!entry.exists(), "removed once it was shown");
    std::fs::write(&entry, text).unwrap();
    assert_eq!(agents_shown(&done.again().run()), ["a1b2c3"]);
}

#[test]
fn a_broken_config_is_shown_in_full_once_and_then_in_one_line() {
    let done = Test::start().config("bogus: 1").run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `bogus` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | bogus: 1
      | ^^^^^ not a key of this section
      |
      = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `packs`, `report`, `enforce`, `clients`, `budget`, and events in camelCase, such as `subagentStop`
    ");
    let done = done.again().then("SubagentStop").run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem
    ");
    let done = done.again().agent_returns("a1b2c3").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "PostToolUse",
        "additionalContext": "conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

          error: unknown key `bogus` in the config
           --> [ROOT]/.conclaude.yaml:1:1
            |
          1 | bogus: 1
            | ^^^^^ not a key of this section
            |
            = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `packs`, `report`, `enforce`, `clients`, `budget`, and events in camelCase, such as `subagentStop`"
      },
      "systemMessage": "conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

        error: unknown key `bogus` in the config
         --> [ROOT]/.conclaude.yaml:1:1
          |
        1 | bogus: 1
          | ^^^^^ not a key of this section
          |
          = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `packs`, `report`, `enforce`, `clients`, `budget`, and events in camelCase, such as `subagentStop`"
    }
    ----- stderr
    conclaude: info: Processing PostToolUse hook: session_id=session-1, tool_name=Agent
    "#);
    let done = done.again().run().silent();
    // The next agent: its commands did not run either.
    let done = done.again().payload("agent_id", "next").then("SubagentStart").run();
    let done = done.again().then("SubagentStop").run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem
    ");
    let done = done.again().agent_returns("next").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "PostToolUse",
        "additionalContext": "conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem"
      },
      "systemMessage": "conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem"
    }
    ----- stderr
    conclaude: info: Processing PostToolUse hook: session_id=session-1, tool_name=Agent
    "#);
    let done = done.again().run().silent();
    // Other problems are news.
    let done = done.again().config("other: 1").payload("agent_id", "a1b2c3").then("SubagentStart").run();
    let shown = done.steady(&done.stderr);
    assert_snapshot!(shown, @"
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `other` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | other: 1
      | ^^^^^ not a key of this section
      |
      = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `packs`, `report`, `enforce`, `clients`, `budget`, and events in camelCase, such as `subagentStop`
    ");
    // Another session has seen nothing yet.
    let done = done.again().payload("session_id", "session-2").run();
    assert_eq!(done.steady(&done.stderr), shown);
}

#[test]
fn what_the_start_of_the_session_showed_is_not_shown_in_full_again() {
    let done = Test::event("SessionStart").config("bogus: 1").run();
    let message = done.system_message();
    assert_snapshot!(message.lines().nth(2).unwrap(), @"error: unknown key `bogus` in the config");
    let done = done.again().then("SubagentStop").run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem
    ");
}

#[test]
fn a_block_is_shown_to_the_agent_and_not_again() {
    let config = "subagentStop: {commands: {coder: [{run: 'false', onFailure: block}]}}";
    let done = Test::stop().config(config).run();
    done.blocked();
    done.again().agent_returns("a1b2c3").run().silent();
}

#[test]
fn a_stop_allowed_after_max_blocks_is_reported() {
    let config = "maxBlocks: 1\nsubagentStop: {commands: {coder: [{run: 'false', onFailure: block}]}}";
    let done = Test::stop().config(config).run();
    done.blocked();
    let done = done.again().run();
    done.message();
    let done = done.again().agent_returns("a1b2c3").run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "PostToolUse",
        "additionalContext": "conclaude: SubagentStop of coder (a1b2c3)
          ✗ `false` exited with code 1
          This would have blocked, but the agent may stop: it was blocked 1 time already (maxBlocks)."
      },
      "systemMessage": "conclaude: SubagentStop of coder (a1b2c3)
        ✗ `false` exited with code 1
        This would have blocked, but the agent may stop: it was blocked 1 time already (maxBlocks)."
    }
    ----- stderr
    conclaude: info: Processing PostToolUse hook: session_id=session-1, tool_name=Agent
    "#);
}

#[test]
fn messages_do_not_pile_up_where_nobody_takes_them_and_that_is_reported() {
    let mut test = Test::stop().config(CONFIG);
    for _ in 0..110 {
        test = test.run().status(0).again();
    }
    let session =
        std::fs::read_dir(test.root().join(".conclaude/outbox")).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::read_dir(session).unwrap().count() <= 101);
    let done = test.main_stops(json!([])).run();
    let dropped =
        |done: &Outcome| done.message().lines().find(|line| line.contains("dropped")).map(str::to_owned);
    assert_snapshot!(dropped(&done).unwrap(), @"conclaude: 11 older messages of subagents were dropped, since they could not be delivered");
    assert_eq!(dropped(&done.again().run()), None, "reported once");
}

#[test]
fn an_error_of_the_hook_does_not_hide_what_was_to_be_shown() {
    let config = "subagentStop: {commands: {coder: [{run: 'exit 1', message: lint failed}]}}\naudit: {required: true}\n";
    let done = Test::stop().config(config).file(".conclaude/audit", "in the way").run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ lint failed
      `exit 1` exited with code 1
    conclaude: the audit trail cannot be written: [ROOT]/.conclaude/audit is not a folder
    ");
    assert_snapshot!(done.again().agent_returns("a1b2c3").run().snapshot(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "PostToolUse",
        "additionalContext": "conclaude: SubagentStop of coder (a1b2c3)
          ⚠ lint failed
            `exit 1` exited with code 1
          conclaude: the audit trail cannot be written: [ROOT]/.conclaude/audit is not a folder"
      },
      "systemMessage": "conclaude: SubagentStop of coder (a1b2c3)
        ⚠ lint failed
          `exit 1` exited with code 1
        conclaude: the audit trail cannot be written: [ROOT]/.conclaude/audit is not a folder"
    }
    ----- stderr
    conclaude: info: Processing PostToolUse hook: session_id=session-1, tool_name=Agent
    "#);
}

#[test]
fn an_outbox_goes_seven_days_after_the_end_of_its_session() {
    let done = stopped().then("SessionEnd").run().silent();
    let folder =
        std::fs::read_dir(done.root().join(".conclaude/outbox")).unwrap().next().unwrap().unwrap().path();
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(8 * 24 * 3600);
    std::fs::File::open(folder.join("ended"))
        .unwrap()
        .set_times(std::fs::FileTimes::new().set_modified(then))
        .unwrap();
    done.again().payload("session_id", "another").run().silent();
    assert!(!folder.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn what_stdout_did_not_take_is_shown_at_the_next_event() {
    let test =
        Test::stop().config("subagentStop: {commands: {coder: [{run: echo hello there, showStdout: true}]}}");
    let test = test.run().again().then("Stop");
    let mut child = test
        .command()
        .stdout(std::fs::File::options().write(true).open("/dev/full").unwrap())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &test.input()).unwrap();
    assert!(child.wait().unwrap().success());
    let said = test.run().message();
    assert_snapshot!(said, @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo hello there
      hello there
    ");
}

/// A stop that fails because of the config kept back what was pending, for as long as the config was broken.
#[test]
fn pending_messages_are_shown_beside_the_error_of_a_config() {
    let done = stopped().config("stop: {bogus: 1}\n").without("agent_id").main_stops(json!([])).run();
    assert_snapshot!(done.snapshot(), @r#"
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: SubagentStop of coder (a1b2c3)
        ✓ echo \"checked $CONCLAUDE_AGENT_ID\"
          checked a1b2c3
        conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

        error: unknown key `bogus` in `stop`
         --> [ROOT]/.conclaude.yaml:1:8
          |
        1 | stop: {bogus: 1}
          |        ^^^^^ not a key of this section
          |
          = help: allowed here: `match`, `commands`, `infinite`, `infiniteMessage`"
    }
    ----- stderr: the same
    "#);
}

#[test]
fn an_error_that_was_shown_is_not_shown_again_once_it_is_fixed() {
    let done = Test::event("Stop").without("agent_id").config("stop: {bogus: 1}\n").run().status(1);
    done.again().config("").run().silent();
}
