//! What a subagent's event wanted to show reaches the person, and Claude, at the next event that the client shows.

use crate::common::{Outcome, Test, capture};
use serde_json::{Value, json};

const CONFIG: &str =
    "subagentStop: {commands: {'*': [{run: 'echo \"checked $CONCLAUDE_AGENT_ID\"', showStdout: true}]}}\n";

/// A project in which the agent `a1b2c3` has stopped, with something to show.
fn stopped() -> Test {
    let done = Test::stop().config(CONFIG).run();
    assert!(done.message().contains("checked a1b2c3"));
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

/// What the person and Claude are told.
fn told(done: &Outcome) -> (String, Option<String>) {
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let json: Value =
        serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", done.stdout));
    let context = json["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned);
    (json["systemMessage"].as_str().unwrap().to_owned(), context)
}

#[test]
fn a_foreground_agents_message_comes_with_its_result_once() {
    let done = stopped().agent_returns("a1b2c3").run();
    let (person, claude) = told(&done);
    assert_eq!(
        person,
        "conclaude: SubagentStop of coder (a1b2c3)\n✓ echo \"checked $CONCLAUDE_AGENT_ID\"\n  checked a1b2c3"
    );
    assert_eq!(claude.as_deref(), Some(person.as_str()));
    assert!(done.stdout.contains("\"hookEventName\":\"PostToolUse\""));
    let done = done.again().run().silent();
    done.again().main_stops(json!([])).run().silent();
}

#[test]
fn a_background_agents_message_comes_with_its_notification() {
    let done = stopped().agent_notifies("a1b2c3").run();
    let (person, claude) = told(&done);
    assert!(person.contains("checked a1b2c3") && claude == Some(person));
    assert!(done.stdout.contains("\"hookEventName\":\"UserPromptSubmit\""));
    done.again().run().silent();
}

#[test]
fn the_clients_own_payloads_are_understood() {
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
        assert!(told(&test.stdin(capture(file)).run()).0.contains(&format!("checked {agent}")), "{file}");
    }
}

#[test]
fn otherwise_it_comes_when_the_main_thread_stops_for_the_person_alone() {
    let done = stopped().main_stops(json!([])).run();
    let (person, claude) = told(&done);
    assert!(person.contains("checked a1b2c3") && claude.is_none(), "{person}");
    done.again().run().silent();
}

#[test]
fn other_events_and_other_agents_leave_it_where_it_is() {
    let test = stopped();
    let done = test.agent_returns("another").run().silent();
    let done = done.again().agent_notifies("another").run().silent();
    let done = done.again().then("UserPromptSubmit").payload("prompt", "hello").run().silent();
    let done = done.again().then("PostToolUse").payload("tool_name", "Bash").run().silent();
    // Inside another agent the client shows it to nobody.
    let done = done.again().agent_returns("a1b2c3").payload("agent_id", "parent").run().silent();
    let done = done.again().payload("session_id", "another").main_stops(json!([])).run().silent();
    let done = done.again().payload("session_id", "session-1").main_stops(json!([])).run();
    assert!(told(&done).0.contains("checked a1b2c3"));
}

#[test]
fn parallel_agents_get_their_own_messages_in_order() {
    let test = stopped().then("SubagentStop").payload("agent_id", "b9").run().again();
    let test = test.payload("agent_id", "a1b2c3").run().again();
    let done = test.agent_returns("b9").run();
    assert_eq!(
        told(&done).0.matches("checked").count(),
        2,
        "the script, and what it printed: {}",
        told(&done).0
    );
    assert!(told(&done).0.contains("checked b9"));
    let done = done.again().agent_returns("a1b2c3").run();
    assert_eq!(told(&done).0.matches("SubagentStop of coder (a1b2c3)").count(), 2);
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
    // The boss still runs in the background: it waits for it.
    let done = test.main_stops(json!([{"id": "boss", "status": "running"}])).run().silent();
    let done = done.again().agent_notifies("boss").run();
    assert!(told(&done).0.contains("checked a1b2c3"));
    // One that was killed does not notify any more: nothing waits for it.
    let done = stopped().main_stops(json!([{"id": "a1b2c3", "status": "killed"}])).run();
    assert!(told(&done).0.contains("checked a1b2c3"));
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
    assert!(told(&done.again().run()).0.contains("checked a1b2c3"));
}

#[test]
fn a_broken_config_is_told_once_however_many_agents_meet_it() {
    let done = Test::start().config("bogus: 1").run().error_with("unknown key `bogus`");
    let done = done.again().then("SubagentStop").run().error_with("unknown key `bogus`");
    let done = done.again().agent_returns("a1b2c3").run();
    let (person, _) = told(&done);
    assert_eq!(person.matches("unknown key `bogus`").count(), 1, "{person}");
    done.again().run().silent();
}

#[test]
fn a_block_is_told_to_the_agent_and_not_again() {
    let config = "subagentStop: {commands: {coder: [{run: 'false', onFailure: block}]}}";
    let done = Test::stop().config(config).run();
    done.blocked();
    done.again().agent_returns("a1b2c3").run().silent();
}

#[test]
fn a_gate_that_let_go_is_told() {
    let config = "maxBlocks: 1\nsubagentStop: {commands: {coder: [{run: 'false', onFailure: block}]}}";
    let done = Test::stop().config(config).run();
    done.blocked();
    let done = done.again().run();
    done.message();
    let done = done.again().agent_returns("a1b2c3").run();
    assert!(told(&done).0.contains("This would have blocked, but the agent may stop"));
}

#[test]
fn messages_do_not_pile_up_where_nobody_takes_them_and_that_is_said() {
    let mut test = Test::stop().config(CONFIG);
    for _ in 0..110 {
        test = test.run().status(0).again();
    }
    let session =
        std::fs::read_dir(test.root().join(".conclaude/outbox")).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::read_dir(session).unwrap().count() <= 101);
    let done = test.main_stops(json!([])).run();
    assert!(told(&done).0.contains("older messages of subagents were dropped"), "{}", told(&done).0);
    assert!(!told(&done.again().run()).0.contains("were dropped"), "said once");
}

#[test]
fn an_error_of_the_hook_does_not_swallow_what_was_to_be_shown() {
    let config = "subagentStop: {commands: {coder: [{run: 'exit 1', message: lint failed}]}}\naudit: {required: true}\n";
    let done = Test::stop()
        .config(config)
        .file(".conclaude/audit", "in the way")
        .run()
        .error_with("the audit trail cannot be written");
    let (person, _) = told(&done.again().agent_returns("a1b2c3").run());
    assert!(
        person.contains("lint failed") && person.contains("the audit trail cannot be written"),
        "{person}"
    );
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
    assert!(said.contains("hello there"), "{said}");
}
