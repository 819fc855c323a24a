//! SubagentStart from payload to answer.

#![allow(clippy::too_many_lines, reason = "a session or a table of cases is as long as it is")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a test reads the environment that it was started in")]

#[path = "it/common/mod.rs"]
mod common;

use common::desktop::Desktop;
use common::{Outcome, Test, capture, scratch};
use conclaude::event::EventKind;
use conclaude::hooks::{self, Environment, HookResult};
use insta::assert_snapshot;

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
    // The handler reads the user's own config: it is called in a process with a home directory of its own.
    const HOME: &str = "CONCLAUDE_TEST_HOME";
    if std::env::var_os(HOME).is_none() {
        let home = scratch();
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "valid_payload_returns_success"]).env(HOME, "1").env("HOME", home.path());
        again.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
        let done = again.output().unwrap();
        assert!(String::from_utf8_lossy(&done.stdout).contains("1 passed"), "{done:?}");
        return;
    }
    let folder = scratch();
    let environment = Environment { project_dir: Some(folder.path().to_owned()), ..Environment::default() };
    let result = hooks::handle(EventKind::SubagentStart, start_payload("coder").as_bytes(), &environment);
    assert_eq!(result.unwrap(), HookResult::success());
}

#[test]
fn invalid_payload_returns_error() {
    let payload = start_payload("coder").replace("\"agent_id\":\"coder\",", "");
    let result = hooks::handle(EventKind::SubagentStart, payload.as_bytes(), &Environment::default());
    assert_snapshot!(result.unwrap_err().to_string(), @"invalid payload: missing required field `agent_id`: expected a non-empty string");
}

/// The variables of a command; the number of one differs from run to run.
fn variables(done: &Outcome) -> String {
    let text = done.steady(&done.read("env.txt"));
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("CONCLAUDE_COMMAND_ID=")).collect();
    lines.join("\n")
}

// Scenario: Environment variables exported on success
#[test]
fn environment_variables_are_set_correctly() {
    let done = Test::start().config(ENV_CONFIG).stdin(start_payload("tester")).run().silent();
    assert_snapshot!(variables(&done), @"
    CONCLAUDE_AGENT_ID=tester
    CONCLAUDE_AGENT_NAME=tester
    CONCLAUDE_AGENT_TRANSCRIPT_PATH=/tmp/tester.json
    CONCLAUDE_CLIENT=claude
    CONCLAUDE_CONFIG_DIR=[ROOT]
    CONCLAUDE_CWD=/
    CONCLAUDE_HOOK_EVENT=SubagentStart
    CONCLAUDE_PERMISSION_MODE=default
    CONCLAUDE_SESSION_ID=abc123
    CONCLAUDE_SKILL_NAME=tester
    CONCLAUDE_SUBAGENT_NAME=tester
    CONCLAUDE_SUBAGENT_TYPE=tester
    CONCLAUDE_TRANSCRIPT_PATH=/tmp/main.json
    ");
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
        let name = format!("CONCLAUDE_SUBAGENT_NAME={agent}");
        assert!(variables(&done).lines().any(|line| line == name), "{}", variables(&done));
    }
}

// Scenario: Successful SubagentStart hook execution
#[test]
fn a_start_is_read_checked_logged_and_answered() {
    let done = Test::start().config(ENV_CONFIG).run().silent();
    assert!(done.has("env.txt"), "the variables reach what the hook starts");
    assert_snapshot!(done.snapshot(), @r#"
    exit 0
    ----- stderr
    conclaude: info: Processing SubagentStart hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: info: pattern "*": `env | grep '^CONCLAUDE_' | sort > env.txt` exited with code 0 in [DURATION]
    "#);
}

// Scenario: SubagentStart log message includes agent details
#[test]
fn the_log_names_session_agent_and_type_alike_at_start_and_stop() {
    let shown = ["SubagentStart", "SubagentStop"].map(|event| Test::event(event).run().snapshot());
    assert_snapshot!(shown.join("\n"), @"
    exit 0
    ----- stderr
    conclaude: info: Processing SubagentStart hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    exit 0
    ----- stderr
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    ");
}

#[test]
fn the_log_level_is_chosen_by_variable() {
    let stderr = |level: &str| {
        let test = Test::stop()
            .config("subagentStop: {commands: {'*': [{run: 'exit 1'}]}}")
            .env("CONCLAUDE_LOG", level);
        let done = test.run().status(0);
        done.steady(&done.stderr)
    };
    let levels = ["debug", "info", "warn", "error", "off", "shout"];
    assert_snapshot!(levels.map(|level| format!("{level}:\n{}", stderr(level))).join(""), @r#"
    debug:
    conclaude: debug: the agent's prompt was not found in [ROOT]/main.jsonl
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: debug: planned: `exit 1`: subagentStop.commands "*" in .conclaude.yaml:1 matches "coder"
    conclaude: warn: pattern "*": `exit 1` exited with code 1 in [DURATION]
    info:
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: warn: pattern "*": `exit 1` exited with code 1 in [DURATION]
    warn:
    conclaude: warn: pattern "*": `exit 1` exited with code 1 in [DURATION]
    error:
    off:
    shout:
    conclaude: warn: CONCLAUDE_LOG="shout" is not error, warn, info, debug or off; using info
    conclaude: info: Processing SubagentStop hook: session_id=session-1, agent_id=a1b2c3, subagent_type=coder
    conclaude: warn: pattern "*": `exit 1` exited with code 1 in [DURATION]
    "#);
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
        .run();
    assert_snapshot!(done.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid payload: missing required field `agent_id`: expected a non-empty string
    ");
    assert!(!done.has("env.txt") && !done.has(".conclaude"), "nothing is run, nothing is written");
    assert_eq!(desktop.arrived(), []);
}

// Scenario: SubagentStart command processes valid input
#[test]
fn the_command_exits_0_or_1_and_never_2_at_a_start() {
    Test::start().run().status(0);
    assert_snapshot!(Test::start()
        .payload("agent_id", "")
        .run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: invalid payload: agent_id cannot be empty: expected a non-empty string
    ");
    let failing = "subagentStart:\n  commands:\n    '*':\n      - run: exit 2\n      - run: sleep 60\n        timeout: 1\n";
    let message = Test::start().config(failing).run().message();
    assert_snapshot!(message, @"
    conclaude: SubagentStart of coder (a1b2c3)
    ⚠ `exit 2` exited with code 2
    ⚠ `sleep 60` timed out after 1 s and was terminated
    ");
}

// Scenario: SubagentStart command with invalid JSON
#[test]
fn invalid_json_is_exit_1() {
    let junk = ["{not json}", "nonsense", "{\"session_id\":", "", "\"text\"", "[]"];
    assert_snapshot!(junk.map(|text| Test::start().stdin(text).run().snapshot()).join("\n"), @"
    exit 1
    ----- stderr
    conclaude: the payload is not valid JSON: key must be a string at line 1 column 2
    exit 1
    ----- stderr
    conclaude: the payload is not valid JSON: expected ident at line 1 column 2
    exit 1
    ----- stderr
    conclaude: the payload is not valid JSON: EOF while parsing a value at line 1 column 14
    exit 1
    ----- stderr
    conclaude: no payload on stdin: expected one JSON object
    exit 1
    ----- stderr
    conclaude: invalid payload: expected a JSON object, found a string
    exit 1
    ----- stderr
    conclaude: invalid payload: expected a JSON object, found a list
    ");
}

#[test]
fn the_start_of_claude_code_and_its_variants_are_understood() {
    let files = [
        "SubagentStart",
        "variants/SubagentStart.general-purpose",
        "variants/SubagentStart.resumed",
        "variants/SubagentStart.teammate",
    ];
    // Claude Code does not send the path of the agent's transcript at a start; it is derived.
    let shown = files.map(|file| {
        let payload = capture(&format!("{file}.json"));
        variables(&Test::start().config(ENV_CONFIG).stdin(payload).run().silent())
    });
    assert_snapshot!(shown.join("\n\n"), @"
    CONCLAUDE_AGENT_ID=ae7af48d32583d25f
    CONCLAUDE_AGENT_NAME=coder
    CONCLAUDE_AGENT_TRANSCRIPT_PATH=/home/user/.claude/projects/[PROJECT]/e057e862-e228-4872-b334-7b4e13120d96/subagents/agent-ae7af48d32583d25f.jsonl
    CONCLAUDE_CLIENT=claude
    CONCLAUDE_CONFIG_DIR=[ROOT]
    CONCLAUDE_CWD=/home/user/project
    CONCLAUDE_HOOK_EVENT=SubagentStart
    CONCLAUDE_PROMPT_ID=f0eeca94-e398-4cf4-a164-4d05160fbdb2
    CONCLAUDE_SESSION_ID=e057e862-e228-4872-b334-7b4e13120d96
    CONCLAUDE_SKILL_NAME=coder
    CONCLAUDE_SUBAGENT_NAME=coder
    CONCLAUDE_SUBAGENT_TYPE=coder
    CONCLAUDE_TRANSCRIPT_PATH=/home/user/.claude/projects/[PROJECT]/e057e862-e228-4872-b334-7b4e13120d96.jsonl

    CONCLAUDE_AGENT_ID=aa07916dbfab82b86
    CONCLAUDE_AGENT_NAME=general-purpose
    CONCLAUDE_AGENT_TRANSCRIPT_PATH=/home/user/.claude/projects/[PROJECT]/e9e4c4af-e974-494c-80e5-950eafb50582/subagents/agent-aa07916dbfab82b86.jsonl
    CONCLAUDE_CLIENT=claude
    CONCLAUDE_CONFIG_DIR=[ROOT]
    CONCLAUDE_CWD=/home/user/project
    CONCLAUDE_HOOK_EVENT=SubagentStart
    CONCLAUDE_PROMPT_ID=5b6c6419-4b2c-4394-bd3d-b4071dcdf366
    CONCLAUDE_SESSION_ID=e9e4c4af-e974-494c-80e5-950eafb50582
    CONCLAUDE_SKILL_NAME=general-purpose
    CONCLAUDE_SUBAGENT_NAME=general-purpose
    CONCLAUDE_SUBAGENT_TYPE=general-purpose
    CONCLAUDE_TRANSCRIPT_PATH=/home/user/.claude/projects/[PROJECT]/e9e4c4af-e974-494c-80e5-950eafb50582.jsonl

    CONCLAUDE_AGENT_ID=aff8d827e9d96325c
    CONCLAUDE_AGENT_NAME=coder
    CONCLAUDE_AGENT_TRANSCRIPT_PATH=/home/user/.claude/projects/[PROJECT]/331f3fc7-9bae-4639-8d13-2644e6ae3c11/subagents/agent-aff8d827e9d96325c.jsonl
    CONCLAUDE_CLIENT=claude
    CONCLAUDE_CONFIG_DIR=[ROOT]
    CONCLAUDE_CWD=/home/user/project
    CONCLAUDE_HOOK_EVENT=SubagentStart
    CONCLAUDE_PROMPT_ID=160554ec-ee12-4f0b-a309-db07b568062d
    CONCLAUDE_SESSION_ID=331f3fc7-9bae-4639-8d13-2644e6ae3c11
    CONCLAUDE_SKILL_NAME=coder
    CONCLAUDE_SUBAGENT_NAME=coder
    CONCLAUDE_SUBAGENT_TYPE=coder
    CONCLAUDE_TRANSCRIPT_PATH=/home/user/.claude/projects/[PROJECT]/331f3fc7-9bae-4639-8d13-2644e6ae3c11.jsonl

    CONCLAUDE_AGENT_ID=amate-d261481ec4ecb5e8
    CONCLAUDE_AGENT_NAME=mate
    CONCLAUDE_AGENT_TRANSCRIPT_PATH=/home/user/.claude/projects/[PROJECT]/a48cd709-1d8a-4b79-ac80-27536e44f4d9/subagents/agent-amate-d261481ec4ecb5e8.jsonl
    CONCLAUDE_CLIENT=claude
    CONCLAUDE_CONFIG_DIR=[ROOT]
    CONCLAUDE_CWD=/home/user/project
    CONCLAUDE_HOOK_EVENT=SubagentStart
    CONCLAUDE_PROMPT_ID=01673f61-35b2-49ac-8b7a-508dd2ce6a6a
    CONCLAUDE_SESSION_ID=a48cd709-1d8a-4b79-ac80-27536e44f4d9
    CONCLAUDE_SKILL_NAME=mate
    CONCLAUDE_SUBAGENT_NAME=mate
    CONCLAUDE_SUBAGENT_TYPE=mate
    CONCLAUDE_TRANSCRIPT_PATH=/home/user/.claude/projects/[PROJECT]/a48cd709-1d8a-4b79-ac80-27536e44f4d9.jsonl
    ");
}

#[test]
fn a_transcript_path_that_cannot_be_derived_is_left_out() {
    let test = Test::start().config(ENV_CONFIG).payload("transcript_path", "/tmp/main.json");
    let done = test.env("CONCLAUDE_AGENT_TRANSCRIPT_PATH", "/from/an/outer/hook").run().silent();
    assert_snapshot!(variables(&done), @"
    CONCLAUDE_AGENT_ID=a1b2c3
    CONCLAUDE_AGENT_NAME=coder
    CONCLAUDE_CLIENT=claude
    CONCLAUDE_CONFIG_DIR=[ROOT]
    CONCLAUDE_CWD=[ROOT]
    CONCLAUDE_HOOK_EVENT=SubagentStart
    CONCLAUDE_SESSION_ID=session-1
    CONCLAUDE_SKILL_NAME=coder
    CONCLAUDE_SUBAGENT_NAME=coder
    CONCLAUDE_SUBAGENT_TYPE=coder
    CONCLAUDE_TRANSCRIPT_PATH=/tmp/main.json
    ");
}

#[test]
fn start_commands_follow_their_own_section() {
    let config = "subagentStart:\n  commands:\n    coder: [{run: echo start > start.txt}]\nsubagentStop:\n  commands:\n    coder: [{run: echo stop > stop.txt}]\n";
    let done = Test::start().config(config).run().silent();
    assert!(done.has("start.txt") && !done.has("stop.txt"));
    let done = done.again().then("SubagentStop").run().silent();
    assert!(done.has("stop.txt"));
}

// Scenario: SubagentStart recognized as system event
#[test]
fn system_events_are_those_of_the_table() {
    assert!(hooks::is_system_event_hook("SubagentStart"));
    let system: Vec<&str> =
        conclaude::event::names().filter(|name| hooks::is_system_event_hook(name)).collect();
    let expected = [
        "SessionStart",
        "UserPromptSubmit",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
        "Notification",
        "PreCompact",
    ];
    assert_eq!(system, expected);
    assert!(!hooks::is_system_event_hook("Stop") && !hooks::is_system_event_hook("nonsense"));
}
