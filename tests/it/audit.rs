//! The audit trail through the binary: what is recorded, shown, counted and verified.

use std::io::Write;
use std::process::Stdio;

use crate::common::{Test, conclaude, run_in};

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: 'exit 3'}, {run: 'true'}]}}\nsubagentStart: {commands: {'*': [{run: 'true'}]}}\n";

fn audit(test: &Test, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = conclaude();
    command
        .arg("audit")
        .args(arguments)
        .current_dir(test.root())
        .env("XDG_STATE_HOME", test.root().join(".state-home"));
    let output = command.output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap().replace(test.root().to_str().unwrap(), "[ROOT]"),
    )
}

/// Times and durations differ from run to run.
fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line
            .split_once("Z ")
            .filter(|(before, _)| before.contains("T"))
            .map_or(line.to_owned(), |(_, rest)| format!("[TIME] {rest}"));
        line.split(" in ").next().unwrap().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn recorded() -> Test {
    let test = Test::start().config(CONFIG).run().silent().again().then("SubagentStop");
    test.run().status(0).again()
}

#[test]
fn subagent_commands_are_recorded_with_code_and_duration() {
    let done = Test::stop().config(CONFIG).run().status(0);
    let records = done.audit();
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!(record["seq"], 1);
    assert_eq!(record["event"], "SubagentStop");
    assert_eq!((record["session"].as_str(), record["agent"].as_str()), (Some("session-1"), Some("coder")));
    assert_eq!(record["commands"][0]["exit_code"], 3);
    assert!(record["commands"][1]["duration_ms"].is_u64());
    assert!(record["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
}

#[test]
fn what_does_nothing_records_nothing() {
    let done = Test::stop().config(CONFIG).agent("tester").run().silent();
    assert!(!done.has(".conclaude"));
    let done =
        done.again().config(&format!("{CONFIG}audit: {{enabled: false}}\n")).agent("coder").run().status(0);
    assert!(!done.has(".conclaude/audit"));
}

#[test]
fn show_is_for_people_and_json_for_programs() {
    let test = recorded();
    let (code, shown) = audit(&test, &["show"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(without_times(&shown), @"
    [TIME] SubagentStart allowed agent=coder agent_id=a1b2c3
            `true` exited with code 0
    [TIME] SubagentStop allowed agent=coder agent_id=a1b2c3
            `exit 3` exited with code 3
            `true` exited with code 0
    ");
    let (_, lines) = audit(&test, &["show", "--json", "--event", "SubagentStop"]);
    assert_eq!(lines.lines().count(), 1);
    let record: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(record["seq"], 2);
}

#[test]
fn filters_choose_records() {
    let test = recorded();
    let count =
        |arguments: &[&str]| audit(&test, &[&["show", "--json"], arguments].concat()).1.lines().count();
    assert_eq!(count(&["--agent", "coder"]), 2);
    assert_eq!(count(&["--agent", "a1b2c3"]), 2);
    assert_eq!(count(&["--agent", "nobody"]), 0);
    assert_eq!(count(&["--session", "session"]), 2);
    assert_eq!(count(&["--step", "01"]), 0);
    assert_eq!(count(&["--decision", "allowed"]), 2);
    assert_eq!(count(&["--since", "1h"]), 2);
    assert_eq!(count(&["--since", "2999-01-01T00:00:00Z"]), 0);
    let output = conclaude().args(["audit", "show", "--since", "yesterday"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("neither a time"));
    assert!(audit(&Test::stop(), &["show"]).1.starts_with("no records in [ROOT]/.conclaude/audit"));
}

#[test]
fn stats_count_agents_commands_and_findings() {
    let test = recorded();
    let (_, json) = audit(&test, &["stats", "--json"]);
    let stats: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(stats["agents"]["coder"]["allowed"], 2);
    let exit = stats["commands"].as_array().unwrap().iter().find(|c| c["run"] == "exit 3").unwrap();
    assert_eq!((exit["runs"].as_u64(), exit["failed"].as_u64()), (Some(1), Some(1)));
    assert!(audit(&test, &["stats"]).1.starts_with("AGENT  DECISION  COUNT\ncoder  allowed   2\n"));
}

#[test]
fn verify_names_the_first_bad_record() {
    let test = recorded();
    assert_eq!(audit(&test, &["verify"]), (Some(0), "✓ 2 records in order\n".into()));
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("coder", "tester", 1)).unwrap();
    let (code, report) = audit(&test, &["verify"]);
    assert_eq!(code, Some(1));
    assert!(
        report.contains("✗ [ROOT]/.conclaude/audit/audit-0000000001.jsonl:1: record 1 was changed"),
        "{report}"
    );
    std::fs::write(&path, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    assert!(
        audit(&test, &["verify"])
            .1
            .contains("the end is cut off: record 2 was written, the trail ends with 1")
    );
}

#[test]
fn the_chain_can_be_checked_with_common_tools() {
    let test = recorded();
    let script = r#"
        prev=0000000000000000000000000000000000000000000000000000000000000000
        while IFS= read -r line; do
            body="${line%,\"hash\":*}}"
            hash=$(printf '%s' "$body" | sha256sum | cut -d' ' -f1)
            case "$line" in *"\"prev\":\"$prev\",\"hash\":\"$hash\"}") prev=$hash;; *) exit 1;; esac
        done < .conclaude/audit/audit-0000000001.jsonl
    "#;
    assert!(
        std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(test.root())
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn a_trail_that_cannot_be_written_is_a_warning_unless_it_is_required() {
    let config = "subagentStop: {commands: {coder: [{run: 'true'}]}}\n";
    let done = Test::stop().config(config).file(".conclaude", "in the way").run();
    assert!(done.message().contains("the audit trail cannot be written: "), "{}", done.message());
    let required = format!("{config}audit: {{required: true}}\n");
    done.again().config(&required).run().error_with("the audit trail cannot be written");
    // A block stands, whatever becomes of its record.
    let blocking =
        "subagentStop: {commands: {coder: [{run: 'false', onFailure: block}]}}\naudit: {required: true}\n";
    let stop = Test::stop().config(blocking).file(".conclaude", "x").payload("stop_hook_active", false);
    let reason = stop.run().blocked();
    assert!(reason.ends_with(".conclaude is not a folder)"), "{reason}");
    assert!(reason.contains("\n(the audit trail cannot be written: "), "{reason}");
}

#[test]
fn files_rotate_and_the_chain_goes_on() {
    let mut test = Test::stop().config(&format!("{CONFIG}audit: {{maxFileBytes: 1024}}\n"));
    for _ in 0..6 {
        test = test.run().status(0).again();
    }
    let files = std::fs::read_dir(test.root().join(".conclaude/audit")).unwrap().flatten();
    assert!(files.filter(|file| file.file_name().to_string_lossy().starts_with("audit-")).count() > 2);
    assert_eq!(audit(&test, &["verify"]), (Some(0), "✓ 6 records in order\n".into()));
}

#[test]
fn a_thousand_concurrent_processes_lose_nothing() {
    let test = Test::stop().config("subagentStop: {commands: {'*': [{run: ':'}]}}\n");
    // Without pipes that stay open: a process may have no more than 1,024 of them.
    let spawn = || {
        let mut command = test.command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&test.input()).unwrap();
        child
    };
    let children: Vec<_> = (0..1_000).map(|_| spawn()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    // Whatever had to wait is taken along by the next.
    let test = test.run().status(0).again();
    assert_eq!(audit(&test, &["verify"]), (Some(0), "✓ 1001 records in order\n".into()));
}

#[test]
fn a_broken_trail_is_put_aside_and_the_new_one_says_so() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: 'true'}]}}");
    let root = test.root();
    let _kept = test.run();
    let audit = |verb: &str| run_in(&root, &["audit", verb]);
    let file = first_file(&root.join(".conclaude/audit"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("coder", "other", 1)).unwrap();
    assert_eq!(audit("verify").0, Some(1));
    let (code, out, _) = audit("reset");
    assert_eq!(code, Some(0));
    assert!(
        out.contains("the trail is in [ROOT]/.conclaude/audit-until-") && out.contains("a new one has begun"),
        "{out}"
    );
    assert_eq!(audit("verify"), (Some(0), "✓ 1 record in order\n".into(), String::new()));
    assert!(audit("show").1.contains("audit reset reset"), "{}", audit("show").1);
    assert_eq!(run_in(&Test::stop().root(), &["audit", "reset"]).0, Some(0), "nothing to do is fine");
}

fn first_file(folder: &std::path::Path) -> std::path::PathBuf {
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    files.into_iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap()
}

#[cfg(unix)]
#[test]
fn a_fifo_in_the_place_of_the_trails_end_holds_nobody_up() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: 'true'}]}}");
    let test = test.run().silent().again();
    let outside = test.root().join(".state-home/conclaude");
    let head = std::fs::read_dir(&outside)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.is_file())
        .unwrap();
    std::fs::remove_file(&head).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&head).status().unwrap().success());
    let done = test.run().silent();
    assert!(head.is_file(), "it was replaced");
    drop(done);
}
