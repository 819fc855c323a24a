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
fn more_classes_of_commands_that_were_once_stopped_are_free_and_their_neighbours_are_not() {
    judged(project(), include_str!("../fixtures/packs/false-alarms.txt"));
}

/// The same with rules of its own.
fn guarded_project() -> Test {
    let packs: Vec<String> = PACKS.iter().map(|pack| format!("pack:{pack}")).collect();
    let rules = json!({
        "unreadableFiles": ["secret.txt", "private/"],
        "uneditableFiles": ["keep.txt", "src/gen/", "secret.txt"],
        "toolUsageValidation": [{"tool": "Bash", "commandPattern": "forbidden*", "action": "block"}],
    });
    let mut test = Test::stop().config(&json!({ "extends": packs, "preToolUse": rules }).to_string());
    let files = [
        ".env",
        ".env.example",
        "Cargo.lock",
        "Makefile",
        "README.md",
        "cert.pem",
        "docs/a.md",
        "keep.txt",
        "n/gen/a.py",
        "notes.txt",
        "package-lock.json",
        "packages/web/package.json",
        "private/k.txt",
        "scripts/run.sh",
        "secret.txt",
        "src/a.py",
        "src/gen/a.py",
        "src/main.rs",
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

#[test]
fn families_of_ways_around_the_guards_are_stopped_and_their_neighbours_are_free() {
    let test = guarded_project();
    let root = test.root().display().to_string();
    judged(test, &include_str!("../fixtures/packs/families.txt").replace("[ROOT]", &root));
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

/// A zip archive of empty files.
fn zip(names: &[&str]) -> Vec<u8> {
    let members: Vec<(&str, u32)> = names.iter().map(|name| (*name, 0)).collect();
    test_support::zip_archive(&members, &[])
}

#[test]
fn archives_and_patches_are_looked_into() {
    let test = project();
    let root = test.root();
    let made = "mkdir -p m/d && echo x > m/a.txt && echo x > m/d/b.txt && echo x > m/.env && echo x > m/Cargo.lock && ln -s a.txt m/l
        cd m && tar cf ../plain.tar a.txt d && tar czf ../plain.tgz a.txt d && tar cf ../lock.tar a.txt Cargo.lock && tar czf ../env.tgz .env
        tar cf ../link.tar l && tar cJf ../plain.txz a.txt && cp ../plain.tar plain.tar && tar cf ../self.tar plain.tar && tar cf ../deep.tar d
        tar cf ../dots.tar ./Cargo.lock && tar cf ../slashes.tar .//Cargo.lock";
    let output = Command::new("sh").args(["-c", made]).current_dir(&root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::write(root.join("plain.zip"), zip(&["a.txt", "d/", "d/b.txt"])).unwrap();
    std::fs::write(root.join("lock.zip"), zip(&["a.txt", "Cargo.lock"])).unwrap();
    std::fs::write(root.join("up.zip"), zip(&["../a.txt"])).unwrap();
    std::fs::write(root.join("semicolon.zip"), zip(&["Cargo.lock;1"])).unwrap();
    std::fs::write(root.join("control.zip"), zip(&["Cargo\u{1}.lock"])).unwrap();
    let patch = |name: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-x\n+y\n");
    std::fs::write(root.join("plain.patch"), patch("src/main.rs")).unwrap();
    std::fs::write(root.join("lock.patch"), patch("src/main.rs") + &patch("Cargo.lock")).unwrap();
    std::fs::write(root.join("up.patch"), patch("../x")).unwrap();
    let changed = |mode: &str| {
        format!("diff --git a/l b/l\nnew file mode{mode}\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+.env\n")
    };
    std::fs::write(root.join("mode.patch"), changed(" 0120000")).unwrap();
    std::fs::write(root.join("tab.patch"), changed(" \t120000")).unwrap();
    let renamed =
        "diff --git a/docs/a.md b/docs/b.md\nsimilarity index 100%\nrename old .env\nrename new leaked.txt\n";
    std::fs::write(root.join("rename.patch"), renamed).unwrap();
    std::fs::create_dir(root.join("locks")).unwrap();
    std::fs::create_dir(root.join("other")).unwrap();
    std::fs::create_dir(root.join("out")).unwrap();
    std::fs::write(root.join("locks/yarn.lock"), "x\n").unwrap();
    std::fs::write(root.join("here.patch"), patch("yarn.lock")).unwrap();
    std::fs::write(root.join("locks/here.patch"), patch("yarn.lock")).unwrap();
    judged(test, include_str!("../fixtures/packs/archives.txt"));
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
