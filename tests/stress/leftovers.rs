//! Ten thousand calls in a row, and what is left of them: nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use crate::common::workflow::{MARKERS, todo};
use crate::common::{Test, binary, capture, scratch};
use crate::support::{alone, answer, figure, spawn_quietly};

const CALLS: usize = 10_000;

/// All files below a folder.
fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        found.insert(entry.path());
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        }
    }
}

/// The processes with this in their environment: ours, and those of our commands.
fn processes(mark: &str) -> usize {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = numbers.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments.filter(|environment| memchr::memmem::find(environment, mark.as_bytes()).is_some()).count()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// One call of each kind.
fn kinds(test: &Test) -> Vec<(&'static str, Vec<u8>)> {
    let root = test.root().to_str().unwrap().to_owned();
    let base = |event: &str| {
        json!({"session_id": "s", "transcript_path": format!("{root}/main.jsonl"), "cwd": root,
            "hook_event_name": event, "agent_id": "a1b2c3", "agent_type": "coder", "stop_hook_active": false})
    };
    let with = |event: &'static str, more: serde_json::Value| {
        let mut payload = base(event);
        let fields = payload.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        if matches!(event, "UserPromptSubmit" | "Stop" | "PostToolUse") {
            // These come from the session itself.
            fields.retain(|name, _| !name.starts_with("agent_"));
        }
        (event, payload.to_string().into_bytes())
    };
    vec![
        with("SubagentStart", json!({})),
        with("SubagentStop", json!({})),
        with("SubagentStop", json!({"agent_type": "failing", "agent_id": "f1"})),
        with("SubagentStop", json!({"agent_type": "nohow", "agent_id": "n1"})),
        with(
            "PreToolUse",
            json!({"tool_name": "Write", "tool_input": {"file_path": "src/a.rs", "content": "x"}}),
        ),
        with(
            "PreToolUse",
            json!({"tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"prompt": MARKERS, "subagent_type": "coder"}}),
        ),
        with("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})),
        with(
            "PostToolUse",
            json!({"tool_name": "Agent", "tool_input": {}, "tool_response": {"agentId": "a1b2c3"}}),
        ),
        with("UserPromptSubmit", json!({"prompt": "hello"})),
        with("Stop", json!({"background_tasks": []})),
        ("SubagentStop", b"{\"session_id\": \"cut".to_vec()),
        ("SubagentStop", Vec::new()),
        ("SessionStart", capture("SessionStart.json")),
        ("Notification", capture("Notification.json")),
        ("MessageDisplay", capture("MessageDisplay.json")),
    ]
}

#[test]
fn ten_thousand_calls_leave_nothing_behind() {
    let _alone = alone();
    let config = "subagentStart: {commands: {'*': [{run: 'true'}]}}\nsubagentStop: {commands: {'*': [{run: 'cat > /dev/null'}], \
        failing: [{run: 'echo out; echo err >&2; exit 1', showStdout: true, onFailure: block}], nohow: [{run: x, shell: /no/shell}], \
        slow: [{run: 'sleep 300 & sleep 300', timeout: 1, onTimeout: warn}]}}\naudit: {maxFileBytes: 104857600}\n";
    let temporary = scratch();
    let test = Test::stop().config(config).step(&todo());
    let test = test.env("TMPDIR", temporary.path().to_str().unwrap());
    let kinds = kinds(&test);
    let (_, coder) = &kinds[1];
    let slow =
        ("SubagentStop", String::from_utf8(coder.clone()).unwrap().replace("coder", "slow").into_bytes());
    let call = |n: usize| {
        // A second is long; once in a while will do.
        let (event, payload) = if n % 1_000 == 999 { &slow } else { &kinds[n % kinds.len()] };
        let mut command = test.program(binary());
        command.arg(event);
        assert!(answer(command, payload).status.code().is_some(), "{event}");
    };
    let of = |name: &str| kinds.iter().position(|(event, _)| *event == name).unwrap();
    let (stop, prompt) = (of("Stop"), of("UserPromptSubmit"));
    let listing = || {
        // What is pending is shown: to the user when the main thread stops, to Claude with the next prompt.
        call(stop);
        call(prompt);
        let mut found = BTreeSet::new();
        files(&test.root(), &mut found);
        files(temporary.path(), &mut found);
        found
    };
    (0..kinds.len() * 3).for_each(call);
    let (before, open) = (listing(), descriptors());
    let started = Instant::now();
    (0..CALLS).for_each(call);
    let took = started.elapsed();
    let after = listing();
    let new: Vec<_> = after.difference(&before).collect();
    assert_eq!(new, Vec::<&PathBuf>::new(), "files");
    assert_eq!(processes(test.root().to_str().unwrap()), 0, "processes");
    // Other tests of this process have files open too, but not ever more of them.
    let grown = descriptors().saturating_sub(open);
    assert!(grown < 200, "descriptors: {grown} more");
    figure(&format!(
        "{CALLS} calls of {} kinds in {:.1} s ({:.1} ms each): no new file among {}, no process, no descriptor",
        kinds.len(),
        took.as_secs_f64(),
        took.as_secs_f64() * 1_000.0 / CALLS as f64,
        after.len()
    ));
}

#[test]
fn a_command_gets_no_descriptor_of_ours() {
    let config = "subagentStop: {commands: {'*': [{run: 'true'}, {run: 'ls /proc/self/fd > fds.txt'}]}}\n";
    let test = Test::stop().config(config);
    assert!(spawn_quietly(&test, &test.input()).wait().unwrap().success());
    let open = std::fs::read_to_string(test.root().join("fds.txt")).unwrap();
    // The process that started this test may have left some open for everybody.
    let mut control = std::process::Command::new("sh");
    let control = control.args(["-c", "ls /proc/self/fd > \"$0\""]).arg(test.root().join("control.txt"));
    assert!(control.status().unwrap().success());
    assert_eq!(open, std::fs::read_to_string(test.root().join("control.txt")).unwrap());
    figure("a command's descriptors: stdin, stdout and stderr, and none of ours");
}
