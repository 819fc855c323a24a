//! `parallel: true`: neighbours that say so run at the same time. No test depends on how fast the machine is: commands wait for files
//! of each other.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::wait::{endless, gone, running, until};
use crate::common::{Test, run_in};

/// Creates its own file, then waits for that of another command.
fn meets(own: &str, other: &str) -> String {
    format!("touch {own}; until [ -e {other} ]; do sleep 0.01; done; echo {own}")
}

fn at_once(run: &str) -> Value {
    json!({"run": run, "parallel": true, "timeout": 60, "show": "always"})
}

fn stop(commands: Value) -> Test {
    Test::stop().config(&json!({"subagentStop": {"commands": {"coder": commands}}}).to_string())
}

#[test]
fn neighbours_run_at_the_same_time_and_are_shown_in_their_order() {
    let done = stop(json!([at_once(&meets("one", "two")), at_once(&meets("two", "one"))])).run().status(0);
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ touch one; until [ -e two ]; do sleep 0.01; done; echo one
      one
    ✓ touch two; until [ -e one ]; do sleep 0.01; done; echo two
      two
    ");
    let record = done.audit().pop().unwrap();
    let runs: Vec<&str> =
        record["commands"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    assert_eq!(runs, [meets("one", "two"), meets("two", "one")]);
}

#[test]
fn a_command_that_does_not_say_so_waits_for_those_before_it_and_holds_those_after_it() {
    let between = json!({"run": "[ -e one ] && [ -e two ] && [ ! -e three ]", "onFailure": "block"});
    let commands = json!([
        at_once(&meets("one", "two")),
        at_once(&meets("two", "one")),
        between,
        at_once(&meets("three", "four")),
        at_once(&meets("four", "three")),
    ]);
    let done = stop(commands).run().status(0);
    assert!(done.has("four"), "{}", done.stdout);
}

#[test]
fn each_has_its_own_timeout_which_leaves_its_neighbours_alone() {
    let sleep = endless();
    // It has no id in its environment, and its shell is replaced.
    let cleared = "exec env -i PATH=\"$PATH\" sh -c 'until [ -e over ]; do sleep 0.01; done; echo alive'";
    let slow = json!({"run": format!("sleep {sleep}"), "parallel": true, "timeout": 1, "onTimeout": "warn"});
    let test = stop(json!([slow, at_once(cleared)]));
    let (root, child) = (test.root(), test.spawn());
    until("the commands", || !running(&sleep).is_empty());
    gone(&sleep);
    std::fs::write(root.join("over"), "").unwrap();
    let done = test.outcome_of(child).status(0);
    let message = done.message().replace(&sleep, "[ENDLESS]");
    assert_snapshot!(message, @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `sleep [ENDLESS]` timed out after 1 s and was terminated
    ✓ exec env -i PATH="$PATH" sh -c 'until [ -e over ]; do sleep 0.01; done; echo ali …
      alive
    "#);
}

#[test]
fn a_signal_ends_all_of_them_and_leaves_no_process() {
    let (one, two) = (endless(), endless());
    let commands = json!([
        at_once(&format!("(setsid sleep {one} &); sleep {one}")),
        at_once(&format!("trap '' TERM; (env -i setsid sleep {two} &); while :; do sleep {two}; done")),
        {"run": "touch after"},
    ]);
    let test = stop(commands);
    let child = test.spawn();
    // The shells have the number in their command line too.
    until("the commands", || running(&one).len() >= 3 && running(&two).len() >= 3);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let done = test.outcome_of(child);
    gone(&one);
    gone(&two);
    assert!(!done.has("after"));
    assert_eq!(done.audit().pop().unwrap()["decision"], "interrupted");
}

#[test]
fn failures_of_several_are_one_block() {
    let fails =
        |name: &str| json!({"run": format!("echo {name}; exit 1"), "parallel": true, "onFailure": "block"});
    let done = stop(json!([fails("lint"), fails("types")])).run();
    assert_snapshot!(done.blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `echo lint; exit 1` exited with code 1
      lint
    ✗ `echo types; exit 1` exited with code 1
      types
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn commands_that_cannot_start_are_named_in_their_place() {
    let mut nowhere = at_once("true");
    nowhere["cwd"] = "gone".into();
    let mut no_shell = at_once("true");
    no_shell["shell"] = "/no/such/shell".into();
    let done = stop(json!([nowhere, at_once("echo ran"), no_shell])).run().status(0);
    assert_snapshot!(done.message().replace(done.root().to_str().unwrap(), "[ROOT]"), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `true` could not be started: its `cwd` gone does not exist in [ROOT]
    ✓ echo ran
      ran
    ⚠ `true` could not be started: /no/such/shell in [ROOT]: No such file or directory (os error 2)
    ");
}

#[test]
fn long_output_of_each_is_kept_in_a_file_of_its_own() {
    let prints = |letter: char| {
        let mut command = at_once(&format!("head -c 200000 /dev/zero | tr '\\0' {letter}; exit 1"));
        command["onFailure"] = "block".into();
        command
    };
    let done = stop(json!([prints('x'), prints('y')])).run();
    let reason = done.blocked();
    assert_eq!(reason.matches("stdout-").count(), 2, "{reason}");
    let state = done.root().join(".conclaude/state");
    let files = std::fs::read_dir(state).unwrap().flatten().map(|session| session.path().join("output"));
    let files = files.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut texts: Vec<String> = files.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect();
    texts.sort();
    assert_eq!(texts, ["x".repeat(200_000), "y".repeat(200_000)]);
}

#[test]
fn conclaude_run_does_so_too() {
    let test = stop(json!([at_once(&meets("one", "two")), at_once(&meets("two", "one"))]));
    let (code, out, err) = run_in(&test.root(), &["run"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.find("\n  one\n").unwrap() < out.find("\n  two\n").unwrap(), "{out}");
}

#[test]
fn explain_says_so() {
    let test = stop(json!([at_once("npm test"), at_once("npm run lint"), {"run": "true"}]));
    let shown = test.shows(&["explain", "SubagentStop", "--agent", "coder", "--all"]);
    assert_eq!(shown.matches("at the same time as its neighbours").count(), 2, "{shown}");
    let (_, json, _) = run_in(&test.root(), &["explain", "SubagentStop", "--agent", "coder", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let parallel: Vec<&Value> =
        json["commands"].as_array().unwrap().iter().map(|command| &command["parallel"]).collect();
    assert_eq!(parallel, [&json!(true), &json!(true), &json!(false)]);
}
