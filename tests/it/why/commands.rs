//! Decisions by commands: they are not run again, but taken to end as they did.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, run_in};

#[test]
fn commands_are_taken_to_end_as_they_did() {
    let config = "subagentStop:\n  commands:\n    coder:\n      - {run: exit 3, onFailure: block, message: Lint}\n      - {run: 'true'}\n";
    let answer = Test::stop().config(config).run();
    answer.blocked();
    let test = answer.again();
    assert_snapshot!(test.shows(&["why", "--all", "--last"]), @r#"
    exit 0
    ----- stdout
    1: SubagentStop blocked
      time: [TIME]
      session: session-1
      agent: coder
      agent_id: a1b2c3

    Why
      ✗ Lint: `exit 3` exited with code 3
          subagentStop.commands "coder" in .conclaude.yaml:4 matched coder
      ✓ `true` passed
          subagentStop.commands "coder" in .conclaude.yaml:5 matched coder
      block 1 of 3 (maxBlocks)

    Today
      the config would decide the same: blocked
      all of it: conclaude explain SubagentStop --agent coder

    Config
      project  .conclaude.yaml

    Commands, in this order
      1. exit 3
         subagentStop.commands "coder" in .conclaude.yaml:4 matches coder
         in ., by /bin/sh; a failure blocks; no timeout
      2. true
         subagentStop.commands "coder" in .conclaude.yaml:5 matches coder
         in ., by /bin/sh; a failure warns; no timeout
    "#);
    let test = test.config("subagentStop:\n  commands:\n    coder: [{run: exit 3}]\n    '*': [{run: ':'}]\n");
    let shown = test.shows(&["why", "--all", "--last"]);
    assert_snapshot!(shown.split_once("Today\n").unwrap().1, @r#"
      the config would decide otherwise: allowed
      · `:` would run as well (subagentStop.commands "*" in .conclaude.yaml:4), and
        is assumed to succeed
      · `true` would not run: it is no longer in the config
      all of it: conclaude explain SubagentStop --agent coder

    Config
      project  .conclaude.yaml

    Commands, in this order
      1. :
         subagentStop.commands "*" in .conclaude.yaml:4 matches coder
         in ., by /bin/sh; a failure warns; no timeout
      2. exit 3
         subagentStop.commands "coder" in .conclaude.yaml:3 matches coder
         in ., by /bin/sh; a failure warns; no timeout
    "#);
}

#[test]
fn a_command_for_files_is_judged_again_with_those_that_are_recorded() {
    let wrote = |file: &str| {
        let call = json!({"type": "tool_use", "id": file, "name": "Write", "input": {"file_path": file}});
        json!({"type": "assistant", "message": {"role": "assistant", "content": [call]}}).to_string() + "\n"
    };
    let config = "des: {enabled: false}\nsubagentStop:\n  commands:\n    - {run: 'true', files: ['*.ts']}\n";
    let test = Test::stop().config(config).file("src/a.ts", "").file("b.ts", "");
    let transcript = wrote("src/a.ts") + &wrote("b.ts");
    let answer = test.file("main/subagents/agent-a1b2c3.jsonl", transcript).run().silent();
    let shown = answer.again().shows(&["why", "--all"]);
    let (_, why) = shown.split_once("Why\n").unwrap();
    assert_snapshot!(why.split_once("\nConfig").unwrap().0, @r#"
      ✓ `true` passed
          subagentStop.commands "*" in .conclaude.yaml:4 matched coder, files:
          src/a.ts, b.ts

    Today
      the config would decide the same: allowed
      all of it: conclaude explain SubagentStop --agent coder --file b.ts --file src/a.ts
    "#);
}

#[test]
fn a_timeout_that_had_blocked_before_does_not_block_today_either() {
    let config = "stop: {commands: [{run: slow, timeout: 1s, onTimeout: block}]}";
    let test = Test::event("Stop").config("stop: {commands: [{run: slow, onFailure: warn}]}").run().status(0);
    let test = test.again().config(config);
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let mut record: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    record["commands"][0]["timed_out"] = json!(true);
    let today = |record: &Value| {
        std::fs::write(&path, format!("{record}\n")).unwrap();
        let shown: Value = serde_json::from_str(&run_in(&test.root(), &["why", "--json"]).1).unwrap();
        shown["today"]["decision"].clone()
    };
    assert_eq!(today(&record), "allowed_despite_failure");
    record["commands"][0]["verdict"] = json!("block");
    assert_eq!(today(&record), "blocked");
}

#[test]
fn a_command_of_a_config_that_is_not_trusted_any_more_is_off() {
    let test = Test::event("Stop").config("stop: {commands: [{run: exit 1}]}").run().status(2).again();
    assert_eq!(run_in(&test.root(), &["install", "--user"]).0, Some(0));
    let shown = test.shows(&["why", "--all"]);
    let today = shown.split_once("Today\n").unwrap().1;
    let today = today.split_once("\nConfig").unwrap().0;
    assert_snapshot!(today, @"
    the config would decide otherwise: allowed
    · `exit 1` would not run: it is off,
      [ROOT]/.conclaude.yaml is not trusted
    all of it: conclaude explain Stop
    ");
}

#[test]
fn a_command_that_did_not_run_for_want_of_a_file_is_not_silently_left_out() {
    let config = "stop: {commands: [{run: 'true'}, {run: lint, files: ['*.ts']}]}\n";
    let line = json!({"type": "user", "message": {"role": "user", "content": "hi"}}).to_string() + "\n";
    let test = Test::event("Stop").config(config).file("main.jsonl", line).run().silent().again();
    let shown = test.config(&config.replace(".ts", "")).shows(&["why", "--all"]);
    let today = shown.split_once("Today\n").unwrap().1;
    assert_snapshot!(today.split_once("\nConfig").unwrap().0, @"
    the config would decide the same: allowed
    · `lint` is assumed not to run, as then: which files had changed is recorded
      only where commands ran for them
    all of it: conclaude explain Stop
    ");
}

const HOOK: &str =
    r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"rm .env"}}}'"#;

/// It judged the input that came, and said that the rule does not match any more.
#[test]
fn a_call_whose_input_a_hook_changed_is_judged_with_the_changed_input_again() {
    let config = json!({"preToolUse": {"uneditableFiles": [".env"], "commands": {"Bash": [{"run": HOOK, "protocol": "hook"}]}}});
    let denied = Test::bash(&config.to_string(), "echo hi").run();
    denied.tool("deny");
    let record = denied.audit().pop().unwrap();
    assert_eq!(record["commands"][0]["updated_input"], json!({"name": "Bash", "command": "rm .env"}));
    let test = denied.again();
    let shown = test.shows(&["why"]);
    assert!(shown.contains("it changed the input of the tool to `rm .env`"), "{shown}");
    assert!(shown.contains("today: the config would decide the same: denied"), "{shown}");
    let all = test.shows(&["why", "--all"]);
    assert!(!all.contains("no longer matches"), "{all}");
    // Without the rule it is allowed, and that is why.
    let config = config.to_string().replace(".env\"]", ".other\"]");
    let all = test.config(&config).shows(&["why", "--all"]);
    assert!(all.contains("would decide otherwise: allowed"), "{all}");
    assert!(all.contains("\".env\" no longer matches"), "{all}");
}

/// Its stderr is the reason, and was printed below that again as its output.
#[test]
fn what_a_hook_printed_on_stderr_is_shown_once() {
    for (run, exit) in [("echo no pushing here >&2; exit 2", 2), ("echo no pushing here >&2; exit 1", 0)] {
        let config = json!({"preToolUse": {"commands": {"Bash": [{"run": run, "protocol": "hook"}]}}});
        let test = Test::bash(&config.to_string(), "echo hi").run().status(exit).again();
        for arguments in [&["why"][..], &["why", "--all"], &["audit", "show"]] {
            let shown = test.shows(arguments).replace(run, "[RUN]");
            assert_eq!(shown.matches("no pushing here").count(), 1, "{arguments:?}: {shown}");
        }
    }
}
