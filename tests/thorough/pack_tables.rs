//! What each pack stops and leaves alone.

use serde_json::{Value, json};

use crate::common::{Test, run_in};

/// Lines of an answer, a tab and a command.
#[track_caller]
fn judged(packs: &[&str], table: &str) {
    let cases: Vec<(&str, &str)> = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    let free = cases.iter().filter(|(expected, _)| *expected == "free").count();
    assert!(free >= 25 && cases.len() - free >= 25, "{packs:?}: {free} free of {}", cases.len());
    let packs: Vec<String> = packs.iter().map(|pack| format!("pack:{pack}")).collect();
    let mut test = Test::stop().config(&json!({ "extends": packs }).to_string());
    let own = [".env", ".env.local", "Cargo.lock", "src/main.rs", "docs/a.md", "README.md"];
    // What was installed or built has such files as well.
    let others = [
        "packages/web/package-lock.json",
        "packages/web/node_modules/a/yarn.lock",
        "node_modules/a/yarn.lock",
        "node_modules/b/.env",
        ".venv/lib/python3.12/site-packages/certifi/cacert.pem",
        "target/package/a/Cargo.lock",
        "vendor/a/Gemfile.lock",
        "crates/target.d/Cargo.lock",
    ];
    for file in own.into_iter().chain(others) {
        test = test.file(file, "x\n");
    }
    // JSON is YAML.
    let case = |(expected, command): &(&str, &str)| {
        let key = match *expected {
            "deny" => "denies",
            "ask" => "asks",
            _ => "allows",
        };
        let text = command.replace('⏎', "\n");
        json!({"name": command, "event": "PreToolUse", "input": {"command": text}, "expect": {key: true}})
    };
    let cases: Vec<Value> = cases.iter().map(case).collect();
    let test = test.file(".conclaude.test.yaml", json!({ "cases": cases }).to_string());
    let (code, stdout, stderr) = run_in(&test.root(), &["test"]);
    let failed: Vec<&str> = stdout.lines().filter(|line| !line.starts_with("  ✓")).collect();
    assert_eq!(code, Some(0), "{}\n{stderr}", failed.join("\n"));
}

#[test]
fn secrets_are_neither_read_nor_written() {
    judged(&["secrets"], include_str!("../fixtures/packs/secrets.txt"));
}

#[test]
fn git_loses_and_publishes_nothing_unasked() {
    judged(&["git-safety"], include_str!("../fixtures/packs/git-safety.txt"));
}

#[test]
fn commands_that_destroy_are_blocked() {
    judged(&["destructive-commands"], include_str!("../fixtures/packs/destructive-commands.txt"));
}

#[test]
fn what_runs_in_a_cloud_is_not_deleted_unasked() {
    judged(&["cloud"], include_str!("../fixtures/packs/cloud.txt"));
}

#[test]
fn containers_and_clusters_are_not_deleted_unasked() {
    judged(&["containers"], include_str!("../fixtures/packs/containers.txt"));
}

#[test]
fn databases_are_not_deleted_unasked() {
    judged(&["databases"], include_str!("../fixtures/packs/databases.txt"));
}

#[test]
fn lockfiles_are_left_to_package_managers() {
    judged(&["lockfiles"], include_str!("../fixtures/packs/lockfiles.txt"));
}

#[test]
fn all_packs_stop_attempts_and_leave_ordinary_work_alone() {
    let packs = ["secrets", "git-safety", "destructive-commands", "lockfiles"];
    judged(&packs, include_str!("../fixtures/packs/all.txt"));
}
