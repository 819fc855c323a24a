//! The audit trail through the binary: what is recorded, shown, counted and verified.

use insta::assert_snapshot;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::common::workflow::{self, MARKERS};
use crate::common::{Test, conclaude_in, run_in};

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: 'exit 3'}, {run: 'true'}]}}\nsubagentStart: {commands: {'*': [{run: 'true'}]}}\n";

fn audit(test: &Test, arguments: &[&str]) -> String {
    test.shows(&[&["audit"], arguments].concat())
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
fn show_prints_text_or_json() {
    let test = recorded();
    assert_snapshot!(audit(&test, &["show"]), @"
    exit 0
    ----- stdout
        1 [TIME] SubagentStart allowed agent=coder agent_id=a1b2c3
            `true` passed ([DURATION])
        2 [TIME] SubagentStop allowed agent=coder agent_id=a1b2c3
            `exit 3` exited with code 3 ([DURATION])
            `true` passed ([DURATION])
    ");
    let (_, lines, _) = run_in(&test.root(), &["audit", "show", "--json", "--event", "SubagentStop"]);
    let record: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(record["seq"], 2, "one record");
}

#[test]
fn filters_choose_records() {
    let test = recorded();
    let root = test.root();
    let count = |arguments: &[&str]| {
        run_in(&root, &[&["audit", "show", "--json"], arguments].concat()).1.lines().count()
    };
    assert_eq!(count(&["--agent", "coder"]), 2);
    assert_eq!(count(&["--agent", "a1b2c3"]), 2);
    assert_eq!(count(&["--agent", "nobody"]), 0);
    assert_eq!(count(&["--session", "session"]), 2);
    assert_eq!(count(&["--step", "01"]), 0);
    assert_eq!(count(&["--decision", "allowed"]), 2);
    assert_eq!(count(&["--since", "1h"]), 2);
    assert_eq!(count(&["--since", "2999-01-01T00:00:00Z"]), 0);
    assert_snapshot!(audit(&test, &["show", "--since", "next week"]), @r#"
    exit 1
    ----- stderr
    error: invalid value 'next week' for '--since <SINCE>': "next week" is neither a date or time (2026-01-31, 2026-01-31 12:00, [TIME], today, yesterday) nor a duration (30m, 12h, 7d, 2w)

    For more information, try '--help'.
    "#);
    assert_snapshot!(audit(&Test::stop(), &["show"]), @"
    exit 0
    ----- stdout
    Nothing is recorded yet in [ROOT]/.conclaude/audit. Records are written when commands run, when guards, permission rules or gates decide, and by `conclaude des`. `conclaude doctor` shows whether Claude Code calls conclaude here.
    ");
}

#[test]
fn stats_count_agents_commands_and_findings() {
    let test = recorded();
    let (_, json, _) = run_in(&test.root(), &["audit", "stats", "--json"]);
    let stats: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(stats["agents"]["coder"]["allowed"], 2);
    let exit = stats["commands"].as_array().unwrap().iter().find(|c| c["run"] == "exit 3").unwrap();
    assert_eq!((exit["runs"].as_u64(), exit["failed"].as_u64()), (Some(1), Some(1)));
    // But for the columns of times, which come last.
    let shown = audit(&test, &["stats"]);
    let width = shown.lines().find_map(|line| line.find("MEAN MS")).unwrap();
    let lines = shown.lines().map(|line| line.chars().take(width).collect::<String>().trim_end().to_owned());
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    exit 0
    ----- stdout
    AGENT  DECISION  COUNT
    coder  allowed   2

    COMMAND  RUNS  FAILED
    exit 3   1     1
    true     2     0
    ");
}

#[test]
fn verify_names_the_first_bad_record() {
    let test = recorded();
    assert_snapshot!(audit(&test, &["verify"]), @"
    exit 0
    ----- stdout
    ✓ 2 records in order
    ");
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("coder", "tester", 1)).unwrap();
    assert_snapshot!(audit(&test, &["verify"]), @"
    exit 1
    ----- stdout
    ✗ [ROOT]/.conclaude/audit/audit-0000000001.jsonl:1: record 1 was changed: its hash does not match its content
      0 records before it in order
    ");
    std::fs::write(&path, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    assert_snapshot!(audit(&test, &["verify"]), @"
    exit 1
    ----- stdout
    ✗ the end is cut off: record 2 was written, the trail ends with 1
      1 record before it in order
    ");
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
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    the audit trail cannot be written: [ROOT]/.conclaude is not a folder
    ");
    let required = format!("{config}audit: {{required: true}}\n");
    assert_snapshot!(done.again().config(&required).run().snapshot(), @"
    exit 1
    ----- stderr
    conclaude: the audit trail cannot be written: [ROOT]/.conclaude is not a folder
    ");
    // A block stands, whatever becomes of its record.
    let blocking =
        "subagentStop: {commands: {coder: [{run: 'false', onFailure: block}]}}\naudit: {required: true}\n";
    let stop = Test::stop().config(blocking).file(".conclaude", "x").payload("stop_hook_active", false);
    let reason = stop.run().blocked();
    assert_snapshot!(reason, @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 1):
    ✗ `false` exited with code 1
    (blocks cannot be counted: [ROOT]/.conclaude is not a folder)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    (the audit trail cannot be written: [ROOT]/.conclaude is not a folder)
    ");
}

#[test]
fn files_rotate_and_the_chain_goes_on() {
    let mut test = Test::stop().config(&format!("{CONFIG}audit: {{maxFileBytes: 1024}}\n"));
    for _ in 0..6 {
        test = test.run().status(0).again();
    }
    let files = std::fs::read_dir(test.root().join(".conclaude/audit")).unwrap().flatten();
    assert!(files.filter(|file| file.file_name().to_string_lossy().starts_with("audit-")).count() > 2);
    assert_snapshot!(audit(&test, &["verify"]), @"
    exit 0
    ----- stdout
    ✓ 6 records in order
    ");
}

#[test]
fn hundreds_of_concurrent_processes_lose_nothing() {
    // A denial is a record without another process.
    let config = "preToolUse: {uneditableFiles: [x]}\n";
    let test = Test::event("PreToolUse").config(config).payload("tool_name", "Write");
    let test = test.payload("tool_input", serde_json::json!({"file_path": "x", "content": ""}));
    // Without pipes that stay open: a process may not have many of them.
    let spawn = || {
        let mut command = test.command();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&test.input()).unwrap();
        child
    };
    let children: Vec<_> = (0..250).map(|_| spawn()).collect();
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(2));
    }
    // What is still pending is written by the next.
    let test = test.run().status(2).again();
    assert_snapshot!(audit(&test, &["verify"]), @"
    exit 0
    ----- stdout
    ✓ 251 records in order
    ");
}

#[test]
fn a_broken_trail_is_quarantined_and_the_new_one_says_so() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: 'true'}]}}").run().again();
    let file = first_file(&test.root().join(".conclaude/audit"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("coder", "other", 1)).unwrap();
    let shown = ["verify", "reset", "verify", "show"].map(|subcommand| audit(&test, &[subcommand]));
    assert_snapshot!(shown.join("\n"), @"
    exit 1
    ----- stdout
    ✗ [ROOT]/.conclaude/audit/audit-0000000001.jsonl:1: record 1 was changed: its hash does not match its content
      0 records before it in order
    exit 0
    ----- stdout
    the old trail is in [ROOT]/.conclaude/audit-until-[TIME]; a new one was started
    exit 0
    ----- stdout
    ✓ 1 record in order
    exit 0
    ----- stdout
        2 [TIME] audit reset reset
            AUDIT_RESET: the trail before this one was moved to [ROOT]/.conclaude/audit-until-[TIME]; it ended with record 1
    ");
    assert_snapshot!(audit(&Test::stop(), &["reset"]), @"
    exit 0
    ----- stdout
    there is no trail in [ROOT]/.conclaude/audit
    ");
}

fn first_file(folder: &std::path::Path) -> std::path::PathBuf {
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    files.into_iter().find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap()
}

#[cfg(unix)]
#[test]
fn a_fifo_instead_of_the_head_of_the_trail_does_not_hang_the_hook() {
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

/// A gated agent at work on its step: Gate 1 has remembered the call.
fn at_work() -> Test {
    let config = "des: {phases: [PREPARE, RED, COMMIT]}";
    let mut step = workflow::todo();
    step["tdd_cycle"]["phase_execution_log"] = serde_json::json!([]);
    let test = Test::stop().config(config).step(&step).call_agent(MARKERS);
    test.run().status(0).again()
}

fn des(test: &Test, session: &str, arguments: &[&str]) {
    let mut command = conclaude_in(&test.root());
    command.arg("des").args(arguments).env("CLAUDE_CODE_SESSION_ID", session);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn records_of_a_step_name_the_agent_and_the_reasons() {
    let test = at_work();
    des(
        &test,
        "session-1",
        &["skip", "steps/01-01.json", "PREPARE", "--reason", "NOT_APPLICABLE: nothing to prepare"],
    );
    des(&test, "session-1", &["run", "steps/01-01.json", "RED", "--expect", "pass", "--", "true"]);
    des(&test, "another", &["fail", "steps/01-01.json", "--reason", "the server is down"]);
    assert_snapshot!(audit(&test, &["show", "--step", "01-01"]), @"
    exit 0
    ----- stdout
        1 [TIME] PreToolUse Agent allowed agent=coder step=steps/01-01.json
        2 [TIME] des skip SKIPPED agent=coder step=steps/01-01.json phase=PREPARE
            NOT_APPLICABLE: nothing to prepare
        3 [TIME] des start in progress agent=coder step=steps/01-01.json phase=RED
        4 [TIME] des run PASS agent=coder step=steps/01-01.json phase=RED
            `true` exited with code 0
        5 [TIME] des fail FAILED step=steps/01-01.json
            the server is down
    ");
    let (_, lines, _) = run_in(&test.root(), &["audit", "show", "--json", "--event", "des skip"]);
    let record: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(record["reason"], "NOT_APPLICABLE: nothing to prepare");
    assert_eq!(record["agent"], "coder");
}

#[test]
fn records_that_cannot_be_believed_are_marked() {
    let mut test = Test::stop().config(CONFIG);
    for _ in 0..4 {
        test = test.run().status(0).again();
    }
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let changed = lines[1].replacen("\"agent\":\"coder\"", "\"agent\":\"tester\"", 1);
    std::fs::write(&path, format!("{}\n{changed}\nscribble\n{}\n", lines[0], lines[3])).unwrap();
    assert_snapshot!(audit(&test, &["show"]), @"
    exit 0
    ----- stdout
        1 [TIME] SubagentStop allowed agent=coder agent_id=a1b2c3
            `exit 3` exited with code 3 ([DURATION])
            `true` passed ([DURATION])
        2 [TIME] SubagentStop allowed agent=tester agent_id=a1b2c3
            ✗ tampered with here: record 2 was changed: its hash does not match its content
            `exit 3` exited with code 3 ([DURATION])
            `true` passed ([DURATION])
        4 [TIME] SubagentStop allowed agent=coder agent_id=a1b2c3
            ✗ tampered with here: record 3 was removed
            `exit 3` exited with code 3 ([DURATION])
            `true` passed ([DURATION])
    ✗ 3 lines of the trail cannot be trusted: `conclaude audit verify` names the first
    ");
    assert_snapshot!(audit(&test, &["show", "--json", "--agent", "nobody"]), @"
    exit 0
    ----- stderr
    conclaude: warning: 3 lines of the trail cannot be trusted: `conclaude audit verify` names the first
    ");
}

#[test]
fn the_last_records_and_the_last_session_can_be_chosen() {
    let test = recorded().payload("session_id", "session-2").run().status(0).again();
    let count = |arguments: &[&str]| {
        run_in(&test.root(), &[&["audit", "show", "--json"], arguments].concat()).1.lines().count()
    };
    assert_eq!(count(&["-n", "1"]), 1);
    assert_eq!(count(&["-n", "2", "--session", "session-1"]), 2);
    assert_eq!(count(&["-n", "99"]), 3);
    assert_eq!(count(&["-n", "0"]), 0);
    assert_eq!(count(&["--last-session"]), 1);
    let (_, last, _) = run_in(&test.root(), &["audit", "show", "--json", "-n", "1"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&last).unwrap()["seq"], 3);
}

#[test]
fn without_a_session_there_is_no_last_one() {
    // What the user ran by hand belongs to none.
    let test = Test::stop().step(&workflow::todo());
    run_in(&test.root(), &["des", "fail", "steps/01-01.json", "--reason", "no compiler"]);
    let (code, shown, error) = run_in(&test.root(), &["audit", "show", "--last-session"]);
    assert_eq!((code, shown.as_str()), (Some(1), ""));
    assert_eq!(error, "conclaude: no record names a session yet\n");
}

#[test]
fn show_follows_the_trail_until_nobody_reads() {
    let test = recorded();
    let mut command = conclaude_in(&test.root());
    command.args(["audit", "show", "--json", "--follow", "-n", "1"]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seq =
        || serde_json::from_str::<serde_json::Value>(&lines.next().unwrap().unwrap()).unwrap()["seq"].clone();
    assert_eq!(seq(), 2);
    let test = test.run().status(0).again();
    assert_eq!(seq(), 3);
    // A new trail is followed from its start.
    assert!(audit(&test, &["reset"]).starts_with("exit 0"));
    assert_eq!(seq(), 4);
    let test = test.run().status(0).again();
    assert_eq!(seq(), 5);
    drop(lines);
    assert!(child.wait().unwrap().success(), "it ends by itself");
    drop(test);
}

#[cfg(unix)]
#[test]
fn the_trail_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let test = recorded();
    let folder = test.root().join(".conclaude/audit");
    let modes = |test: &Test| {
        let paths = std::fs::read_dir(test.root().join(".conclaude/audit")).unwrap().flatten();
        let mut all: Vec<String> = paths
            .map(|entry| format!("{:o} {}", mode(&entry.path()), entry.file_name().to_str().unwrap()))
            .collect();
        all.sort_unstable();
        all.insert(0, format!("{:o}", mode(&test.root().join(".conclaude/audit"))));
        all.join("\n")
    };
    assert_snapshot!(modes(&test), @"
    700
    600 audit-0000000001.jsonl
    ");
    // What an older version left open for everyone is closed by the next record.
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&folder, 0o755);
    open(&folder.join("audit-0000000001.jsonl"), 0o644);
    let test = test.run().status(0).again();
    assert_snapshot!(modes(&test), @"
    700
    600 audit-0000000001.jsonl
    ");
}

/// A hook whose files may not grow beyond a few blocks, as under `ulimit -f`.
#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_loses_no_block() {
    let config = "subagentStop: {commands: {coder: [{run: 'exit 3', onFailure: block}]}}";
    let test = Test::stop().config(config).payload("stop_hook_active", false);
    let mut command = test.program("sh");
    command.args(["-c", "ulimit -f 0; exec \"$0\" SubagentStop"]).arg(crate::common::binary());
    assert_snapshot!(test.run_as(command).blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 1):
    ✗ `exit 3` exited with code 3
    (blocks cannot be counted: [ROOT]/.conclaude/.gitignore: File too large (os error 27))
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    (the audit trail cannot be written: [ROOT]/.conclaude/.gitignore: File too large (os error 27))
    ");
    // A command gets the signal as it would without us.
    let config = "subagentStop: {commands: {coder: [{run: 'echo x > large; echo unharmed', show: always}]}}";
    let test = Test::stop().config(config);
    let mut command = test.program("sh");
    command.args(["-c", "ulimit -f 0; exec \"$0\" SubagentStop"]).arg(crate::common::binary());
    let done = test.run_as(command);
    assert!(!done.has(".conclaude/.gitignore"), "one that is empty would hide nothing from git, for good");
    assert_snapshot!(done.message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo x > large; echo unharmed` was killed by signal 25
    the audit trail cannot be written: [ROOT]/.conclaude/.gitignore: File too large (os error 27)
    ");
}
