//! What Claude is told when the sandbox or a permission rule has refused something.

use serde_json::{Value, json};

use crate::common::{Outcome, Test, run_in};

const CONFIG: &str = "\
enforce: [sandbox, permissions]
preToolUse:
  unreadableFiles: ['.env*', '!.env.example', secrets/]
  uneditableFiles:
    - '*.lock'
    - {pattern: package-lock.json, message: 'npm writes it.'}
    - {pattern: main.rs, agent: coder}
";

fn project() -> Test {
    let test = Test::event("PostToolUseFailure")
        .without("agent_id")
        .without("agent_type")
        .config(CONFIG)
        .file(".env", "KEY=1\n")
        .file(".env.example", "KEY=\n")
        .file("Cargo.lock", "locked\n")
        .file("sub/x.lock", "locked\n")
        .file("sub/.env", "KEY=2\n")
        .file("secrets/a", "a\n")
        .file("package-lock.json", "{}\n")
        .file("main.rs", "\n")
        .file("build.log", "\n")
        .payload("tool_name", "Bash")
        .payload("tool_use_id", "toolu_1");
    let (code, _, stderr) = run_in(&test.root(), &["install", "--enforce"]);
    assert_eq!(code, Some(0), "{stderr}");
    test
}

/// A command that failed with this output.
fn failed(test: Test, command: &str, output: &str) -> Outcome {
    let test = test.payload("tool_input", json!({ "command": command }));
    let test = test.payload("tool_use_id", format!("toolu_{command}_{output}"));
    test.payload("error", format!("Exit code 1\n{output}")).run()
}

fn told(outcome: &Outcome) -> String {
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_rule_is_named_by_which_a_file_was_refused() {
    let mut test = project();
    for (command, output, expected) in [
        ("cat .env", "cat: .env: Permission denied", "reading .env. `unreadableFiles` has `.env*`"),
        ("python3 a.py", "PermissionError: [Errno 13] Permission denied: '.env'", "reading .env."),
        ("cd sub && cat .env", "cat: .env: Permission denied", "reading sub/.env."),
        (
            "python3 -c \"import os; os.rename('sub', 's2')\"",
            "OSError: [Errno 16] Device or resource busy: 'sub' -> 's2'",
            "changing sub. `uneditableFiles` has `*.lock`",
        ),
        (
            "node a.js",
            "Error: EACCES: permission denied, open './secrets/a'",
            "reading secrets/a. `unreadableFiles` has `secrets/`",
        ),
        ("cat .env", "Error: Permission denied (os error 13)", "reading .env."),
        (
            "make",
            "/bin/sh: 1: cannot create Cargo.lock: Read-only file system",
            "changing Cargo.lock. `uneditableFiles` has `*.lock`",
        ),
        (
            "mv sub/x.lock y",
            "mv: cannot move 'sub/x.lock' to 'y': Device or resource busy",
            "changing sub/x.lock.",
        ),
        (
            "node a.js",
            "Error: EROFS: read-only file system, open 'package-lock.json'",
            "changing package-lock.json. npm writes it. (.conclaude.yaml:6)",
        ),
        ("echo x > .env", "sh: .env: Read-only file system", "changing .env. `unreadableFiles` has `.env*`"),
        ("echo >> .conclaude.yaml", "sh: .conclaude.yaml: Read-only file system", "conclaude's own files"),
    ] {
        let outcome = failed(test, command, output);
        let text = told(&outcome);
        assert!(
            text.starts_with("conclaude: The sandbox refused ") && text.contains(expected),
            "{output}: {text}"
        );
        test = outcome.again();
    }
}

#[test]
fn what_another_file_or_another_cause_explains_is_left_alone() {
    let mut test = project();
    for (command, output) in [
        ("cat /root/x", "cat: /root/x: Permission denied"),
        ("cat /root/x Cargo.lock", "cat: /root/x: Permission denied"),
        // The sandbox protects the project's own files only.
        ("cat /root/elsewhere/.env", "cat: /root/elsewhere/.env: Permission denied"),
        ("cat Cargo.lock", "cat: Cargo.lock: Permission denied"),
        ("cat .env.example", "cat: .env.example: Permission denied"),
        ("ssh host", "Permission denied (publickey)."),
        ("touch new.lock", "touch: cannot touch 'new.lock': Read-only file system"),
        ("echo x > /usr/a", "sh: /usr/a: Read-only file system"),
        ("cat main.rs > main.rs", "sh: main.rs: Read-only file system"),
        ("umount /mnt", "umount: /mnt: target is busy."),
        ("cat .env", "cat: .env: No such file or directory"),
        ("cargo test", "test result: FAILED"),
        // A log is printed: what it says happened elsewhere.
        ("cat build.log", "2026-01-01 open .env: Permission denied"),
        ("tail -n 5 build.log; ls .env", "worker 3: Permission denied (os error 13)"),
        ("grep -h denied build.log && python3 a.py .env", "worker 3: Permission denied (os error 13)"),
    ] {
        let outcome = failed(test, command, output);
        assert_eq!(told(&outcome), "", "{output}");
        test = outcome.again();
    }
    let root = test.root();
    let (_, records, _) = run_in(&root, &["audit", "export", "--jsonl"]);
    assert_eq!(records, "");
}

#[test]
fn it_is_recorded_once_as_denied_by_the_sandbox() {
    let outcome = failed(
        project(),
        "cat .env || cat .env",
        "cat: .env: Permission denied\ncat: .env: Permission denied",
    );
    assert_eq!(told(&outcome).matches("refused").count(), 1);
    let (_, records, _) = run_in(&outcome.root(), &["audit", "export", "--jsonl"]);
    let records: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((&record["decision"], &record["by"]), (&"denied".into(), &"sandbox".into()));
    assert_eq!(record["tool"]["command"], "cat .env || cat .env");
    assert_eq!(record["findings"][0]["rule"]["line"], 3);
    assert_eq!(record["findings"][0]["matched"], ".env");
}

#[test]
fn a_command_that_succeeds_all_the_same_is_explained_too() {
    let response =
        json!({"stdout": "cat: .env: Permission denied\ndone", "stderr": "", "interrupted": false});
    let test = project().then("PostToolUse").payload("tool_response", response);
    let outcome = test.payload("tool_input", json!({"command": "cat .env; echo done"})).run();
    assert!(told(&outcome).contains("The sandbox refused reading .env."), "{}", outcome.stdout);
}

#[test]
fn a_call_that_permission_rules_refuse_is_explained_with_its_batch() {
    let test = project();
    let path = |name: &str| test.root().join(name).display().to_string();
    let refused =
        "<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>";
    let call = |tool: &str, input: Value, response: &str| json!({"tool_name": tool, "tool_input": input, "tool_use_id": format!("toolu_{input}"), "tool_response": response});
    let calls = json!([
        call("Edit", json!({"file_path": path("package-lock.json")}), refused),
        call("Read", json!({"file_path": path("README.md")}), refused),
        call(
            "Bash",
            json!({"command": "cat secrets/a"}),
            "Permission to use Bash with command cat secrets/a has been denied."
        ),
        call("Bash", json!({"command": "cat .env"}), "Exit code 1\ncat: .env: Permission denied"),
    ]);
    let outcome = test.then("PostToolBatch").payload("tool_calls", calls).run();
    let text = told(&outcome);
    assert!(
        text.contains(
            "A permission rule refused changing package-lock.json. npm writes it. (.conclaude.yaml:6)"
        ),
        "{text}"
    );
    assert!(text.contains("A permission rule refused reading secrets/a."), "{text}");
    assert!(!text.contains(".env") && !text.contains("README"), "{text}");
    let (_, records, _) = run_in(&outcome.root(), &["audit", "export", "--jsonl"]);
    assert_eq!(records.matches("\"by\":\"permissions\"").count(), 2, "{records}");
}

#[test]
fn without_the_sandbox_nothing_is_said_to_be_its_doing() {
    let test = project().file(".claude/settings.local.json", r#"{"sandbox": {"enabled": false}}"#);
    let outcome = failed(test, "cat .env", "cat: .env: Permission denied");
    assert_eq!(told(&outcome), "");
}

/// Claude Code may call a hook twice for one failure, for example from two settings files.
#[test]
fn the_same_failure_is_told_once() {
    let failure = |test: Test| failed(test, "cat .env", "cat: .env: Permission denied");
    let outcome = failure(project());
    assert!(told(&outcome).contains("refused reading .env"));
    let outcome = failure(outcome.again());
    assert_eq!(told(&outcome), "");
    let (_, records, _) = run_in(&outcome.root(), &["audit", "export", "--jsonl"]);
    assert_eq!(records.lines().count(), 1, "{records}");
    // Another call is another refusal.
    let outcome = failed(outcome.again(), "cat  .env", "cat: .env: Permission denied");
    assert!(told(&outcome).contains("refused reading .env"));
}

/// Without the sandbox every rule is kept by the hook, and Claude Code's permission rules refuse anyway.
#[test]
fn permission_rules_alone_are_explained() {
    let config = "enforce: [permissions]\npreToolUse: {unreadableFiles: [secrets/]}\n";
    let test = project().config(config).then("PostToolBatch");
    let path = test.root().join("secrets/a").display().to_string();
    let refused = "File is in a directory that is denied by your permission settings.";
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": "toolu_2", "tool_response": refused});
    let outcome = test.payload("tool_calls", json!([call])).run();
    assert!(told(&outcome).contains("A permission rule refused reading secrets/a."), "{}", outcome.stdout);
}
