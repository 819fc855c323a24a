//! Everyday commands with all packs: none is stopped, and their hostile neighbours are.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Test, run_in};

const PACKS: [&str; 7] =
    ["git-safety", "secrets", "lockfiles", "destructive-commands", "cloud", "containers", "databases"];

fn git(root: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A project with all packs, in which everything is committed.
fn project() -> Test {
    let packs: Vec<String> = PACKS.iter().map(|pack| format!("pack:{pack}")).collect();
    let mut test = Test::stop().config(&json!({ "extends": packs }).to_string());
    let files = [
        ".env",
        "Cargo.lock",
        "package-lock.json",
        "src/main.rs",
        "src/a.py",
        "docs/a.md",
        "docs/main.md",
        "README.md",
        "packages/web/package.json",
        "scripts/run.sh",
        "cert.pem",
        "vars.sh",
    ];
    for file in files {
        test = test.file(file, "x\n");
    }
    test = test.file(".gitignore", ".env\n.home\n.state-home\n*.pem\n.conclaude*\n");
    git(&test.root(), &["init", "-q"]);
    git(&test.root(), &["add", "-A"]);
    git(&test.root(), &["commit", "-qm", "all"]);
    test
}

/// Lines of an answer, a tab and a command.
#[track_caller]
fn judged(test: Test, table: &str) {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let case = |line: &str| {
        let (expected, command) = line.split_once('\t').unwrap();
        let key = match expected {
            "deny" => "denies",
            "ask" => "asks",
            _ => "allows",
        };
        let text = command.replace('⏎', "\n");
        json!({"name": command, "event": "PreToolUse", "input": {"command": text}, "expect": {key: true}})
    };
    let cases: Vec<Value> = lines.map(case).collect();
    let test = test.file(".conclaude.test.yaml", json!({ "cases": cases }).to_string());
    let (code, stdout, stderr) = run_in(&test.root(), &["test"]);
    let failed: Vec<&str> = stdout.lines().filter(|line| !line.starts_with("  ✓")).collect();
    assert_eq!(code, Some(0), "{}\n{stderr}", failed.join("\n"));
}

#[test]
fn classes_of_commands_that_were_once_stopped_are_free_and_their_neighbours_are_not() {
    judged(project(), include_str!("../fixtures/packs/everyday.txt"));
}

#[test]
fn a_stash_of_a_changed_lock_file_is_asked_about() {
    let test = project();
    std::fs::write(test.root().join("Cargo.lock"), "y\n").unwrap();
    let test = {
        judged(test, "ask\tgit stash\nask\tgit stash -u\nfree\tgit stash list");
        project()
    };
    std::fs::write(test.root().join("Cargo.lock"), "y\n").unwrap();
    git(&test.root(), &["add", "Cargo.lock"]);
    judged(test, "ask\tgit stash\nask\tgit stash push -m wip");
}

#[test]
fn ordinary_commands_of_agents_are_free() {
    let commands = include_str!("../fixtures/packs/ordinary.txt");
    let lines: Vec<String> = commands
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| format!("free\t{line}"))
        .collect();
    assert!(lines.len() >= 300, "{}", lines.len());
    judged(project(), &lines.join("\n"));
}
