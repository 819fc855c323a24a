//! SubagentStart from payload to answer.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "it/common/mod.rs"]
mod common;

use common::desktop::Desktop;
use common::{Test, capture};
use conclaude::event::EventKind;
use conclaude::hooks::{self, Environment, HookResult};

const ENV_CONFIG: &str = r#"
subagentStart:
  commands:
    "*":
      - run: env | grep '^CONCLAUDE_' | sort > env.txt
"#;

fn start_payload(agent: &str) -> String {
    format!(
        r#"{{"session_id":"abc123","transcript_path":"/tmp/main.json","hook_event_name":"SubagentStart","cwd":"/","permission_mode":"default","agent_id":"{agent}","subagent_type":"{agent}","agent_transcript_path":"/tmp/{agent}.json"}}"#
    )
}

// Scenario: Integration tests verify handler execution
// The five cases that follow are the list of that scenario, one test each.

#[test]
fn valid_payload_returns_success() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment { project_dir: Some(folder.path().to_owned()), ..Environment::default() };
    let result = hooks::handle(EventKind::SubagentStart, start_payload("coder").as_bytes(), &environment);
    assert_eq!(result.unwrap(), HookResult::success());
}

#[test]
fn invalid_payload_returns_error() {
    let payload = start_payload("coder").replace("\"agent_id\":\"coder\",", "");
    let result = hooks::handle(EventKind::SubagentStart, payload.as_bytes(), &Environment::default());
    assert_eq!(
        result.unwrap_err().to_string(),
        "invalid payload: missing required field `agent_id`: expected a non-empty string"
    );
}

// Scenario: Environment variables exported on success
#[test]
fn environment_variables_are_set_correctly() {
    let done = Test::start().config(ENV_CONFIG).stdin(start_payload("tester")).run().silent();
    let env = done.read("env.txt");
    for line in [
        "CONCLAUDE_AGENT_ID=tester",
        "CONCLAUDE_SUBAGENT_TYPE=tester",
        "CONCLAUDE_AGENT_TRANSCRIPT_PATH=/tmp/tester.json",
        "CONCLAUDE_SESSION_ID=abc123",
        "CONCLAUDE_TRANSCRIPT_PATH=/tmp/main.json",
        "CONCLAUDE_CWD=/",
        "CONCLAUDE_HOOK_EVENT=SubagentStart",
        "CONCLAUDE_SUBAGENT_NAME=tester",
        &format!("CONCLAUDE_CONFIG_DIR={}", done.root().display()),
    ] {
        assert!(env.lines().any(|l| l == line), "{line} is not in\n{env}");
    }
}

// Scenario: SubagentStart in hooks list enables notifications
#[test]
fn notifications_fire_when_configured() {
    let desktop = Desktop::start();
    Test::start()
        .config("notifications:\n  enabled: true\n  hooks: [\"SubagentStart\"]\n  showSystemEvents: true\n")
        .env("DBUS_SESSION_BUS_ADDRESS", desktop.address())
        .env("CONCLAUDE_NOTIFY_WAIT_MS", "10000")
        .run()
        .silent();
    let arrived = desktop.arrived();
    assert_eq!(arrived.len(), 1, "{arrived:?}");
    assert_eq!(arrived[0].title, "conclaude: SubagentStart");
    assert_eq!(arrived[0].body, "coder (a1b2c3)");
}

#[test]
fn different_agent_types_are_handled_correctly() {
    for agent in ["coder", "tester", "stuck"] {
        let done = Test::start().config(ENV_CONFIG).stdin(start_payload(agent)).run().silent();
        assert!(done.read("env.txt").contains(&format!("CONCLAUDE_SUBAGENT_NAME={agent}\n")));
    }
}

// Scenario: Successful SubagentStart hook execution
#[test]
fn a_start_is_read_checked_logged_and_answered() {
    let done = Test::start().config(ENV_CONFIG).run().silent();
    assert!(done.has("env.txt"), "the variables reach what the hook starts");
    done.stderr_has("conclaude: info: Processing SubagentStart hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder");
}

// Scenario: SubagentStart log message includes agent details
#[test]
fn the_log_names_session_agent_and_type_alike_at_start_and_stop() {
    for event in ["SubagentStart", "SubagentStop"] {
        Test::event(event).run().silent().stderr_has(&format!(
            "conclaude: info: Processing {event} hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder\n"
        ));
    }
}

#[test]
fn the_log_level_is_chosen_by_variable() {
    let stderr = |level: &str| {
        let test = Test::stop()
            .config("subagentStop: {commands: {'*': [{run: 'exit 1'}]}}")
            .env("CONCLAUDE_LOG", level);
        test.run().status(0).stderr
    };
    assert!(stderr("info").contains("info: Processing") && stderr("info").contains("warn: pattern"));
    assert!(
        !stderr("warn").contains("info:")
            && stderr("warn").contains("warn: pattern \"*\": `exit 1` exited with code 1")
    );
    assert_eq!(stderr("error"), "");
    assert_eq!(stderr("off"), "");
    assert!(stderr("shout").contains("CONCLAUDE_LOG=\"shout\" is not"));
}

// Scenario: Invalid payload causes handler failure
#[test]
fn an_invalid_start_exports_nothing_and_notifies_nobody() {
    let desktop = Desktop::start();
    let done = Test::start()
        .config(&format!("{ENV_CONFIG}\nnotifications: {{enabled: true, hooks: ['*'], showErrors: true}}\n"))
        .env("DBUS_SESSION_BUS_ADDRESS", desktop.address())
        .env("CONCLAUDE_NOTIFY_WAIT_MS", "10000")
        .without("agent_id")
        .run()
        .error("invalid payload: missing required field `agent_id`: expected a non-empty string");
    assert!(!done.has("env.txt") && !done.has(".conclaude"), "nothing is run, nothing is written");
    assert_eq!(desktop.arrived(), []);
}

// Scenario: SubagentStart command processes valid input
#[test]
fn the_command_exits_0_or_1_and_never_2_at_a_start() {
    Test::start().run().status(0);
    Test::start()
        .payload("agent_id", "")
        .run()
        .error("invalid payload: agent_id cannot be empty: expected a non-empty string");
    let failing = "subagentStart:\n  commands:\n    '*':\n      - run: exit 2\n      - run: sleep 60\n        timeout: 1\n";
    let message = Test::start().config(failing).run().message();
    assert_eq!(
        message,
        "conclaude: SubagentStart of coder (a1b2c3)\n⚠ `exit 2` exited with code 2\n⚠ `sleep 60` timed out after 1 s and was terminated"
    );
}

// Scenario: SubagentStart command with invalid JSON
#[test]
fn invalid_json_is_exit_1() {
    for junk in ["{not json}", "nonsense", "{\"session_id\":"] {
        Test::start().stdin(junk).run().error_with("the payload is not valid JSON");
    }
    Test::start().stdin("").run().error("no payload on stdin: expected one JSON object");
    Test::start().stdin("\"text\"").run().error("invalid payload: expected a JSON object, found a string");
    Test::start().stdin("[]").run().error("invalid payload: expected a JSON object, found a list");
}

#[test]
fn the_clients_own_start_and_its_variants_are_understood() {
    for (file, name, id) in [
        ("SubagentStart.json", "coder", "ae7af48d32583d25f"),
        ("variants/SubagentStart.general-purpose.json", "general-purpose", "a"),
        ("variants/SubagentStart.resumed.json", "coder", "a"),
        ("variants/SubagentStart.teammate.json", "mate", "amate-"),
    ] {
        let done = Test::start().config(ENV_CONFIG).stdin(capture(file)).run().silent();
        let env = done.read("env.txt");
        assert!(env.contains(&format!("CONCLAUDE_SUBAGENT_NAME={name}")), "{file}: {env}");
        assert!(env.contains(&format!("CONCLAUDE_AGENT_ID={id}")), "{file}: {env}");
        // The client does not send the path at a start; it is derived.
        assert!(env.contains("/subagents/agent-a"), "{file}: {env}");
    }
}

#[test]
fn a_transcript_path_that_cannot_be_derived_is_left_out() {
    let test = Test::start().config(ENV_CONFIG).payload("transcript_path", "/tmp/main.json");
    let done = test.env("CONCLAUDE_AGENT_TRANSCRIPT_PATH", "/from/an/outer/hook").run().silent();
    assert!(!done.read("env.txt").contains("CONCLAUDE_AGENT_TRANSCRIPT_PATH"));
}

#[test]
fn start_commands_follow_their_own_section() {
    let config = "subagentStart:\n  commands:\n    coder: [{run: echo start > start.txt}]\nsubagentStop:\n  commands:\n    coder: [{run: echo stop > stop.txt}]\n";
    let done = Test::start().config(config).run().silent();
    assert!(done.has("start.txt") && !done.has("stop.txt"));
    let done = done.again().then("SubagentStop").run().silent();
    assert!(done.has("stop.txt"));
}
