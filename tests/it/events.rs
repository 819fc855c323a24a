//! Commands on every event, with the payload that Claude Code really sends.

use conclaude::event::{ALL, EventKind, Subject};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, capture};

/// The event with its real payload, in a project of its own. A gate has nothing to say here.
fn real(event: EventKind) -> Test {
    Test::event(event.name()).stdin(real_payload(event).to_string())
}

fn real_payload(event: EventKind) -> Value {
    let text = String::from_utf8(capture(&format!("{event}.json"))).unwrap();
    serde_json::from_str(&text.replace("DES-VALIDATION", "x")).unwrap()
}

/// What the patterns of the event's section are compared with, in its real payload.
fn compared(event: EventKind) -> Option<String> {
    let field = match event.row().subject {
        Subject::Agent => "agent_type",
        Subject::Field(field) => field,
        Subject::Nothing => return None,
    };
    Some(real_payload(event)[field].as_str().unwrap_or_else(|| panic!("{event}: {field}")).to_owned())
}

#[test]
fn every_event_runs_the_commands_that_its_payload_selects() {
    for event in ALL.iter().copied() {
        let run = |file: &str| json!([{ "run": format!("cat > {file}") }]);
        let (commands, expected) = match compared(event) {
            Some(value) => {
                let prefix: String = value.chars().take(3).chain(['*']).collect();
                (
                    json!({ value: run("same"), prefix: run("prefix"), "zzz": run("other") }),
                    ["same", "prefix"],
                )
            }
            None => {
                (json!({ "*": run("same"), "{*,x}": run("prefix"), "zzz": run("other") }), ["same", "prefix"])
            }
        };
        let config = json!({ event.row().section: { "commands": commands } }).to_string();
        let done = real(event).config(&config).run();
        for file in expected {
            assert!(done.has(file), "{event}: {config}\n{}", done.stderr);
            let stdin: Value = serde_json::from_str(&done.read(file)).unwrap();
            assert_eq!(stdin, real_payload(event), "{event}: the payload is its stdin");
        }
        assert!(!done.has("other"), "{event}: {config}");
        assert_eq!(done.code, Some(0), "{event}: {}", done.stderr);
    }
}

#[test]
fn a_plain_list_of_commands_is_that_of_all() {
    for event in ALL {
        let config = format!("{}: {{commands: [{{run: touch ran}}]}}", event.row().section);
        assert!(real(*event).config(&config).run().has("ran"), "{event}");
    }
}

#[test]
fn a_failure_that_blocks_is_answered_as_each_event_takes_it() {
    let mut shown = String::new();
    for event in ALL {
        let section = event.row().section;
        let config = format!("{section}: {{commands: [{{run: 'echo why; exit 3', onFailure: block}}]}}");
        let done = real(*event).config(&config).run();
        match done.stderr.contains("cannot be blocked") {
            true => shown.push_str(&format!("{event}: a config error, exit {}\n", done.code.unwrap())),
            false => shown.push_str(&format!("{event}: {}\n", done.snapshot().replace('\n', "\n    "))),
        }
    }
    assert_snapshot!(shown, @r#"
    SessionStart: a config error, exit 1
    PreToolUse: exit 2
        ----- stdout
        {
          "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "conclaude denies this tool:
              ✗ `echo why; exit 3` exited with code 3
                why"
          }
        }
        ----- stderr: the same
    PostToolUse: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: after this tool call:
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗."
        }
        ----- stderr: the same
    UserPromptSubmit: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this prompt:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    SubagentStart: a config error, exit 1
    SubagentStop: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: coder (ae7af48d32583d25f) may not stop yet (block 1 of 3):
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗, then give your complete report again: your caller sees only your last message."
        }
        ----- stderr: the same
    Stop: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: you may not stop yet (block 1 of 3):
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗, then finish again."
        }
        ----- stderr: the same
    SessionEnd: a config error, exit 1
    PostToolUseFailure: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: after this tool call:
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗."
        }
        ----- stderr: the same
    PostToolBatch: exit 0
        ----- stdout
        {
          "hookSpecificOutput": {
            "hookEventName": "PostToolBatch",
            "additionalContext": "conclaude: after this tool call:
              ✗ `echo why; exit 3` exited with code 3
                why
              Fix what is marked ✗."
          }
        }
    PermissionRequest: exit 0
        ----- stdout
        {
          "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {
              "behavior": "deny",
              "message": "conclaude denies this permission:
                ✗ `echo why; exit 3` exited with code 3
                  why"
            }
          }
        }
    PermissionDenied: a config error, exit 1
    UserPromptExpansion: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this slash command:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    Setup: a config error, exit 1
    StopFailure: a config error, exit 1
    Notification: a config error, exit 1
    PreCompact: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks the compaction:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    PostCompact: a config error, exit 1
    PreModelSwitch: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks the switch to another model:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    PostModelSwitch: a config error, exit 1
    TaskCreated: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this task:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    TaskCompleted: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: this task may not be completed yet (block 1 of 3):
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗, then complete it again."
        }
        ----- stderr: the same
    TeammateIdle: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude: you may not stop yet (block 1 of 3):
            ✗ `echo why; exit 3` exited with code 3
              why
            Fix what is marked ✗, then finish again."
        }
        ----- stderr: the same
    Elicitation: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude declines this question:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    ElicitationResult: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this answer:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    ConfigChange: exit 2
        ----- stdout
        {
          "decision": "block",
          "reason": "conclaude blocks this change of the settings:
            ✗ `echo why; exit 3` exited with code 3
              why"
        }
        ----- stderr: the same
    InstructionsLoaded: a config error, exit 1
    CwdChanged: a config error, exit 1
    FileChanged: a config error, exit 1
    DirectoryAdded: a config error, exit 1
    WorktreeCreate: exit 2
        ----- stderr
        conclaude: the worktree is not created:
        ✗ `echo why; exit 3` exited with code 3
          why
    WorktreeRemove: a config error, exit 1
    MessageDisplay: a config error, exit 1
    "#);
}

#[test]
fn an_event_that_only_a_newer_client_has_runs_its_commands() {
    let test = || Test::event("GoalReached").config("goalReached: {commands: [{run: 'cat > got'}]}");
    let done = test().payload("goal", "ship it").run().silent();
    assert_eq!(serde_json::from_str::<Value>(&done.read("got")).unwrap()["goal"], "ship it");
    assert_snapshot!(test().shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: goalReached: this version of conclaude knows no event GoalReached: its commands run if Claude Code has it
    valid: [ROOT]/.conclaude.yaml
      goalReached: 1 pattern, 1 command
    ");
    assert_snapshot!(Test::event("SubagentStpo").run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: unknown event or command `SubagentStpo`; did you mean `SubagentStop`?
    ");
    let near = Test::event("Stop").config("subagentStopp: {commands: [{run: x}]}");
    assert_snapshot!(near.shows(&["validate"]), @"
    exit 1
    ----- stdout
    error: unknown key `subagentStopp` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | subagentStopp: {commands: [{run: x}]}
      | ^^^^^^^^^^^^^ not a key of this section
      |
      = help: did you mean `subagentStop`?

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    ");
    let blocks = Test::event("Stop").config("goalReached: {commands: [{run: x, onFailure: block}]}");
    assert_snapshot!(blocks.shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `onFailure`: the text "block"
     --> [ROOT]/.conclaude.yaml:1:46
      |
    1 | goalReached: {commands: [{run: x, onFailure: block}]}
      |                                              ^^^^^ expected `warn`
      |
      = help: this event cannot be blocked, use `warn`; events that can: `preToolUse`, `postToolUse`, `userPromptSubmit`, `subagentStop`, `stop`, `postToolUseFailure`, `postToolBatch`, `permissionRequest`, `userPromptExpansion`, `preCompact`, `preModelSwitch`, `taskCreated`, `taskCompleted`, `teammateIdle`, `elicitation`, `elicitationResult`, `configChange`, `worktreeCreate`

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    "#);
}
