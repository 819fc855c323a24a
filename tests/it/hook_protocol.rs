//! `protocol: hook`: a command of the config answers as a hook of Claude Code does. `init --import` relies on it: for the user
//! nothing changes.

use serde_json::{Value, json};

use crate::common::Test;
use crate::common::hook_answers::{ALLOW, ASK, DENY};

mod import;

/// A config whose commands print these answers, one after the other, as hooks of PreToolUse.
fn answering(more: &str, answers: &[&str]) -> String {
    let commands: Vec<Value> = answers
        .iter()
        .map(|answer| json!({"run": format!("cat <<'END'\n{answer}\nEND"), "protocol": "hook"}))
        .collect();
    json!({"preToolUse": {"commands": {"Bash": commands}}}).to_string().replacen(
        "{\"commands\"",
        &format!("{{{more}\"commands\""),
        1,
    )
}

fn output(answer: &crate::common::Outcome) -> Value {
    serde_json::from_str::<Value>(&answer.stdout).unwrap()["hookSpecificOutput"].clone()
}

const CHANGES: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"rm .env"},"additionalContext":"one"}}"#;
const CHANGES_AGAIN: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"},"additionalContext":"two"}}"#;

#[test]
fn of_several_hooks_a_denial_counts_before_a_question_and_that_before_a_permission() {
    let decision = |answers: &[&str]| {
        let done = Test::bash(&answering("", answers), "echo hi").run();
        output(&done)["permissionDecision"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(decision(&[ALLOW, ASK, DENY]), "deny");
    assert_eq!(decision(&[ALLOW, ASK]), "ask");
    assert_eq!(decision(&[ALLOW, "{}"]), "allow");
}

#[test]
fn contexts_are_joined_and_of_two_changed_inputs_the_last_counts_and_the_user_is_told() {
    let done = Test::bash(&answering("", &[CHANGES, CHANGES_AGAIN]), "echo hi").run().status(0);
    insta::assert_snapshot!(done.snapshot().split("----- stderr").next().unwrap().trim_end(), @r#"
    exit 0
    ----- stdout
    {
      "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "additionalContext": "one
          two",
        "updatedInput": {
          "command": "ls"
        }
      },
      "systemMessage": "conclaude: `cat <<'END' …` and `cat <<'END' …` both change the input of this tool: the input from `cat <<'END' …` counts"
    }
    "#);
}

#[test]
fn a_permission_of_a_hook_is_not_given_where_a_guard_asks_or_denies() {
    let rule = |action: &str| {
        format!(
            r#""toolUsageValidation": [{{"tool": "Bash", "commandPattern": "echo *", "action": "{action}", "message": "M"}}], "#
        )
    };
    let asked = Test::bash(&answering(&rule("ask"), &[ALLOW]), "echo hi").run().status(0);
    assert_eq!(output(&asked)["permissionDecision"], "ask");
    let denied = Test::bash(&answering(&rule("block"), &[DENY]), "echo hi").run().status(2);
    let reason = output(&denied)["permissionDecisionReason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("conclaude denies this tool:") && reason.contains("because"), "{reason}");
}

/// A guard looked at the input that came, and the tool got another.
#[test]
fn an_input_that_a_hook_changes_is_judged_by_the_guards_again() {
    let config = answering(r#""uneditableFiles": [".env"], "#, &[CHANGES]);
    let done = Test::bash(&config, "echo hi").run().status(2);
    let reason = output(&done)["permissionDecisionReason"].as_str().unwrap().to_owned();
    assert!(reason.contains(".env") && reason.contains("changed the input of this tool"), "{reason}");
    Test::bash(&answering(r#""uneditableFiles": [".env"], "#, &[CHANGES_AGAIN]), "echo hi").run().status(0);
    // A rehearsal knows it too.
    let shown = Test::bash(&config, "echo hi").file("x", "").shows(&[
        "explain",
        "PreToolUse",
        "--tool",
        "Bash",
        "--command",
        "echo hi",
    ]);
    assert!(shown.contains("it answers as a hook"), "{shown}");
}

/// The limit on blocks is the one thing that is not as in Claude Code: a hook that never lets go holds an agent for ever there.
#[test]
fn blocks_of_hooks_are_bounded_by_max_blocks() {
    let context = r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go on"}}"#;
    for (run, exit) in [("echo not yet >&2; exit 2".to_owned(), 2), (format!("echo '{context}'"), 0)] {
        let config = json!({"maxBlocks": 2, "stop": {"commands": [{"run": run, "protocol": "hook"}]}});
        let mut test = Test::event("Stop").without("agent_id").config(&config.to_string());
        for _ in 0..2 {
            let done = test.run().status(exit);
            let json: Value = serde_json::from_str(&done.stdout).unwrap();
            let text = [&json["reason"], &json["hookSpecificOutput"]["additionalContext"]];
            assert!(
                text.iter().any(|text| ["not yet", "go on"].contains(&text.as_str().unwrap_or_default())),
                "{json}"
            );
            assert_eq!(done.audit().pop().unwrap()["decision"], "blocked");
            test = done.again();
        }
        let message = test.run().status(0).message();
        assert!(message.contains("maxBlocks"), "{message}");
    }
}

#[test]
fn at_a_stop_hooks_do_not_wait_for_agents_in_the_background() {
    let config = "stop: {commands: [{run: 'echo no >&2; exit 2', protocol: hook}, {run: 'touch waited'}]}";
    let running = json!([{"type": "subagent", "id": "a9", "status": "running", "agent_type": "coder"}]);
    let done =
        Test::event("Stop").without("agent_id").config(config).payload("background_tasks", running).run();
    let done = done.status(2);
    assert!(!done.has("waited"), "{}", done.stdout);
}

#[test]
fn a_hook_runs_in_the_sessions_folder_and_knows_the_project() {
    let run = "pwd >&2; echo \"$CLAUDE_PROJECT_DIR\" >&2; cat >&2; exit 2";
    let config = json!({"preToolUse": {"commands": {"Bash": [{"run": run, "protocol": "hook"}]}}});
    let test = Test::bash(&config.to_string(), "echo hi").file("below/x", "");
    let (root, below) = (test.root(), test.root().join("below"));
    let done = test.payload("cwd", below.to_str().unwrap()).run().status(2);
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(lines[..2], [below.to_str().unwrap(), root.to_str().unwrap()]);
    assert!(lines[2].contains("\"tool_name\":\"Bash\""), "the payload is its stdin");
}

#[test]
fn a_hook_that_times_out_or_says_too_much_is_reported_and_blocks_nothing() {
    let hook = |run: &str| {
        let command = json!({"run": run, "protocol": "hook", "timeout": 1});
        let config = json!({"preToolUse": {"commands": {"Bash": [command]}}});
        Test::bash(&config.to_string(), "echo hi").run().status(0).message()
    };
    insta::assert_snapshot!(hook("sleep 20"), @"conclaude: the hook `sleep 20` gave no usable answer: timed out after 1 s and was terminated, so it checked nothing");
    let long = "printf '{\"a\": \"'; head -c 2000000 /dev/zero | tr '\\0' x; printf '\"}'";
    insta::assert_snapshot!(hook(long), @r#"conclaude: the hook `printf '{"a": "'; head -c 2000000 /dev/zero | tr '\0' x; printf '"}'` gave no usable answer: its stdout is longer than 1 MiB"#);
}

/// Claude Code shows such a failure: a guard that is broken must not allow silently.
#[test]
fn a_hook_that_crashes_is_reported_with_the_end_of_its_stderr_and_blocks_nothing() {
    let hook = |run: &str| {
        let config = json!({"preToolUse": {"commands": {"Bash": [{"run": run, "protocol": "hook"}]}}});
        Test::bash(&config.to_string(), "echo hi").run().status(0).message()
    };
    let shown = |run: &str, what: &str| {
        assert_eq!(hook(run), format!("conclaude: the hook `{run}` gave no usable answer: {what}"));
    };
    shown("echo broken >&2; exit 1", "exited with code 1, so it decided nothing: broken");
    shown("exit 3", "exited with code 3, so it decided nothing");
    shown("seq 7 >&2; exit 1", "exited with code 1, so it decided nothing:\n  3\n  4\n  5\n  6\n  7");
    shown(
        "printf {broken; exit 1",
        "its stdout begins with `{` and is not valid JSON: key must be a string at line 1 column 2 (it exited with code 1)",
    );
    let missing = hook("./guard.sh");
    assert!(missing.contains("`./guard.sh` gave no usable answer: exited with code 127"), "{missing}");
}

/// For Claude Code the answer counts. It shows nothing of the failure.
#[test]
fn a_hook_that_fails_after_its_answer_is_reported_and_its_answer_counts() {
    let hook = |answer: &str| {
        let run = format!("printf '%s' '{answer}'; echo broken >&2; exit 1");
        let config = json!({"preToolUse": {"commands": {"Bash": [{"run": run, "protocol": "hook"}]}}});
        Test::bash(&config.to_string(), "echo hi").run()
    };
    for answer in ["{}", CHANGES_AGAIN] {
        let done = hook(answer).status(0);
        let message = done.system_message();
        assert!(message.ends_with("exited with code 1; its answer still counts: broken"), "{message}");
    }
    assert_eq!(output(&hook(CHANGES_AGAIN))["updatedInput"], json!({"command": "ls"}));
    assert!(hook(DENY).status(2).stderr.contains("because"));
}

/// At an event that shows no message, it is shown at the next stop.
#[test]
fn a_hook_that_crashes_where_nothing_is_shown_is_reported_later() {
    let config = "preCompact:\n  commands:\n    \"*\":\n      - run: echo broken >&2; exit 1\n        protocol: hook\n";
    let test = Test::event("PreCompact").config(config).payload("trigger", "manual");
    let test = test.without("agent_id").without("agent_type");
    let done = test.run().status(0);
    assert_eq!(done.stdout, "");
    let shown = done.again().then("Stop").payload("stop_hook_active", false).run().message();
    assert!(shown.contains("exited with code 1, so it decided nothing: broken"), "{shown}");
}

/// There all of stdout is context, and `additionalContext` is an error.
#[test]
fn what_a_hook_prints_at_a_compaction_is_passed_on() {
    for (event, section) in [("PreCompact", "preCompact"), ("PostCompact", "postCompact")] {
        let config = format!(
            "{section}:\n  commands:\n    \"*\":\n      - run: echo keep the plan\n        protocol: hook\n"
        );
        let done = Test::event(event).config(&config).payload("trigger", "manual").run();
        assert_eq!(done.stdout.trim(), "keep the plan", "{event}");
    }
}

/// Passed on, `async` would make Claude Code ignore the denial of a guard beside it.
#[test]
fn a_hook_that_asks_to_run_in_the_background_is_reported_and_switches_nothing_off() {
    let later = format!("{{\"async\":true,\"asyncTimeout\":60000}}\n{DENY}");
    for answer in [r#"{"async":true}"#, later.as_str(), "{\n  \"async\": true\n}"] {
        let config = answering(r#""uneditableFiles": [".env"], "#, &[answer]);
        let free = Test::bash(&config, "echo hi").run().status(0);
        assert!(free.message().contains("it prints `async`"), "{}", free.stdout);
        assert_eq!(free.audit().pop().unwrap()["commands"][0]["verdict"], "warn");
        let denied = Test::bash(&config, "rm .env").run().status(2);
        assert_eq!(output(&denied)["permissionDecision"], "deny");
        let json: Value = serde_json::from_str(&denied.stdout).unwrap();
        assert_eq!(json.get("async"), None, "{}", denied.stdout);
    }
}

/// Claude Code would have gone on without it: a timeout changes nothing.
#[test]
fn a_hook_in_the_background_that_never_ends_is_terminated_at_its_timeout() {
    let command = json!({"run": "echo '{\"async\":true}'; sleep 60", "protocol": "hook", "timeout": 1});
    let config = json!({"preToolUse": {"commands": {"Bash": [command]}}});
    let message = Test::bash(&config.to_string(), "echo hi").run().status(0).message();
    assert!(message.contains("it prints `async`"), "{message}");
}

#[test]
fn one_hook_under_two_patterns_runs_once() {
    let config = "preToolUse: {commands: {Bash: [{run: 'echo x >> ran', protocol: hook}], '*': [{run: 'echo x >> ran', protocol: hook}]}}";
    let done = Test::bash(config, "echo hi").run().silent();
    assert_eq!(std::fs::read_to_string(done.root().join("ran")).unwrap(), "x\n");
}

#[test]
fn what_a_hook_decided_is_recorded_and_explained() {
    let done = Test::bash(&answering("", &[DENY]), "echo hi").run().status(2);
    let record = done.audit().pop().unwrap();
    assert_eq!((&record["decision"], &record["commands"][0]["verdict"]), (&json!("denied"), &json!("block")));
    assert_eq!(record["commands"][0]["message"], "because");
    let shown = done.again().shows(&["why"]);
    assert!(
        shown.contains("because") && shown.contains("the config would decide the same: denied"),
        "{shown}"
    );
}

/// Readers of the trail went by the exit code, and called it passed.
#[test]
fn a_hook_with_a_nonsense_answer_is_not_shown_as_passed() {
    let word = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"denied"}}"#;
    for (answer, problem) in [("{oops", "is not valid JSON"), (word, "permissionDecision")] {
        let test = Test::bash(&answering("", &[answer]), "echo hi").run().status(0).again();
        for arguments in [&["audit", "show"][..], &["why"], &["why", "--all"], &["watch", "--once"]] {
            let shown = test.shows(arguments);
            assert!(shown.contains("gave no usable answer"), "{arguments:?}: {shown}");
            let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(problem), "{arguments:?}: {shown}");
            assert!(!shown.contains("passed"), "{arguments:?}: {shown}");
        }
        let report = test.shows(&["report", "--format", "md"]);
        assert!(report.contains("| 1 | 1 |"), "one run, one failure: {report}");
    }
}

/// "timed out after 1 s and was terminated, so it checked nothing: `sleep 20` timed out after 1 s and was terminated".
#[test]
fn how_a_hook_ended_is_shown_once() {
    let command = json!({"run": "sleep 20", "protocol": "hook", "timeout": 1});
    let config = json!({"preToolUse": {"commands": {"Bash": [command]}}});
    let shown = Test::bash(&config.to_string(), "echo hi").run().again().shows(&["audit", "show"]);
    assert!(
        shown.contains("`sleep 20` timed out after 1 s and was terminated, so it checked nothing ("),
        "{shown}"
    );
    assert_eq!(shown.matches("timed out").count(), 1, "{shown}");
}

/// Exit 2 denies nothing there, and was recorded as if it had allowed something.
#[test]
fn a_permission_hook_that_decides_nothing_is_not_recorded_as_allowed() {
    let config = "permissionRequest: {commands: {'*': [{run: 'exit 2', protocol: hook}]}}";
    let test = Test::event("PermissionRequest").config(config).payload("tool_name", "Bash");
    let done = test.payload("tool_input", json!({"command": "ls"})).run().status(0);
    assert_eq!(done.audit().pop().unwrap()["decision"], "warned");
}

#[test]
fn audit_show_says_that_a_hook_changed_the_input() {
    let done = Test::bash(&answering("", &[CHANGES_AGAIN]), "echo hi").run().status(0);
    let shown = done.again().shows(&["audit", "show"]);
    assert!(shown.contains("it changed the input of the tool to `ls`"), "{shown}");
}

#[test]
fn keys_that_mean_nothing_beside_the_protocol_of_hooks_are_errors_with_the_place() {
    let config = "preToolUse:\n  commands:\n    Bash:\n      - run: x\n        protocol: hook\n        onFailure: block\n        cwd: a\n        showStdout: true\n";
    insta::assert_snapshot!(Test::stop().config(config).shows(&["validate"]), @"
    exit 1
    ----- stdout
    error: `onFailure` has no effect with `protocol: hook`
     --> [ROOT]/.conclaude.yaml:6:9
      |
    6 |         onFailure: block
      |         ^^^^^^^^^ Claude Code defines what a hook's exit code and output mean
      |
      = help: remove `onFailure`, or `protocol: hook`

    error: `cwd` has no effect with `protocol: hook`
     --> [ROOT]/.conclaude.yaml:7:9
      |
    7 |         cwd: a
      |         ^^^ Claude Code defines what a hook's exit code and output mean
      |
      = help: remove `cwd`, or `protocol: hook`

    error: `showStdout` has no effect with `protocol: hook`
     --> [ROOT]/.conclaude.yaml:8:9
      |
    8 |         showStdout: true
      |         ^^^^^^^^^^ Claude Code defines what a hook's exit code and output mean
      |
      = help: remove `showStdout`, or `protocol: hook`

    error: invalid config [ROOT]/.conclaude.yaml: 3 problems
    ");
    let shown = Test::stop().config("stop: {commands: [{run: x, protocol: hooks}]}\n").shows(&["validate"]);
    assert!(shown.contains("did you mean `hook`?"), "{shown}");
}
