//! Packs: `extends: ["pack:NAME"]`, a tool call in, the answer out.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, run_in, shown_in};

/// What the hook answers to one command after the other, in the same project.
fn answers<'a>(config: &str, commands: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut test = Test::bash(config, "");
    for file in [".env", ".env.local", "Cargo.lock", "src/main.rs", "docs/a.md", "README.md"] {
        test = test.file(file, "x\n");
    }
    let mut found = Vec::new();
    for command in commands {
        let outcome = test.payload("tool_input", json!({ "command": command })).run();
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
        let decision = answer["hookSpecificOutput"]["permissionDecision"].as_str();
        found.push(decision.unwrap_or(if outcome.stdout.is_empty() { "free" } else { "?" }).to_owned());
        test = outcome.again();
    }
    found
}

#[test]
fn the_directories_of_the_machine_are_not_those_of_the_project() {
    let test = Test::bash("extends: [\"pack:destructive-commands\"]\n", "").payload("tool_name", "Write");
    let write = |test: Test, path: &str| test.payload("tool_input", json!({"file_path": path})).run();
    let test = write(test, "lib/foo.rb").silent().again();
    let test = write(test, "bin/app").silent().again();
    assert_snapshot!(write(test, "/boot/foo.rb").tool("deny"), @"This file belongs to the machine, not to the project. Change a file of the project instead. (pack:destructive-commands boot)");
}

#[test]
fn an_exception_of_a_pack_frees_nothing_of_another_file() {
    let config = "extends: [\"pack:secrets\", own.yaml, \"pack:lockfiles\"]\n";
    let own = "preToolUse: {uneditableFiles: [\"*.keep\"]}\n";
    for command in ["rm vendor/.env", "rm vendor/a.keep", "rm target/a.keep", "rm -rf vendor"] {
        let test = Test::bash(config, command)
            .file("own.yaml", own)
            .file("vendor/.env", "")
            .file("vendor/a.keep", "");
        test.file("target/a.keep", "").run().tool("deny");
    }
}

#[test]
fn what_git_keeps_itself_is_not_taken_for_the_work_tree() {
    let test = Test::bash("extends: [\"pack:git-safety\"]\n", "git stash")
        .file(".git/HEAD", "ref: refs/heads/main\n");
    test.run().silent();
}

#[test]
fn a_denial_names_the_pack_and_its_rule() {
    let config = "extends: [\"pack:lockfiles\", \"pack:git-safety\"]\n";
    assert_snapshot!(Test::bash(config, "echo x > Cargo.lock; git push --force").run().tool("deny"), @"
    ✗ A package manager writes this file. Change Cargo.toml and run `cargo update` or `cargo build`. (pack:lockfiles cargo-lock, about Cargo.lock)
    ✗ Force push rewrites the remote's history. Push without `--force`, or ask the user. (pack:git-safety force-push, about `git push --force`)
    ");
}

#[test]
fn the_reason_comes_before_the_rule_and_the_text_has_no_code() {
    let config = "extends: [\"pack:git-safety\"]\n";
    let denied = Test::bash(config, "git push --force origin main").run();
    assert_snapshot!(denied.tool("deny"), @"Force push rewrites the remote's history. Push without `--force`, or ask the user. (pack:git-safety force-push)");
    assert!(!denied.stdout.contains("GUARD_") && !denied.stderr.contains("GUARD_"), "{}", denied.stderr);
    let asked = Test::bash(config, "git reset --hard").run();
    assert_snapshot!(asked.tool("ask"), @"This throws uncommitted work away. `git stash` would keep it. (pack:git-safety reset-hard)");
    assert_eq!(asked.again().shows(&["audit", "show"]).matches("GUARD_ASKS: This throws").count(), 1);
}

/// The question about our own files was the first line of a denial.
#[test]
fn denials_come_before_questions() {
    let config = "extends: [\"pack:destructive-commands\"]\n";
    let test = Test::bash(config, "rm -rf /");
    let denied = test.run();
    let marks: String = denied.tool("deny").lines().filter_map(|line| line.chars().next()).collect();
    assert_eq!(marks.trim_start_matches('✗').trim_start_matches('?'), "", "{marks}");
    assert!(marks.starts_with('✗') && marks.contains('?'), "{marks}");
    let shown = denied.again().shows(&["explain", "PreToolUse", "--command", "rm -rf /"]);
    let first = |mark: &str| shown.find(&format!("\n  {mark} "));
    let last = shown.rfind("\n  ✗ ");
    assert!(first("?").is_some() && last < first("?"), "{shown}");
}

/// Everything was listed and counted twice.
#[test]
fn a_pack_that_the_user_and_the_project_extend_is_shown_and_counted_once() {
    let config = "extends: [\"pack:destructive-commands\"]\n";
    let alone = Test::bash(config, "rm -rf /");
    let both = Test::bash(config, "rm -rf /").file(".home/.config/conclaude/config.yaml", config);
    let explain = ["explain", "PreToolUse", "--command", "rm -rf /"];
    assert_eq!(both.shows(&explain), alone.shows(&explain));
    let guards = |test: &Test| {
        let shown = test.shows(&["validate"]);
        let packs = shown.matches("valid: pack:destructive-commands").count();
        (packs, shown.lines().find(|line| line.contains("guards")).unwrap().to_owned())
    };
    assert_eq!(guards(&both), guards(&alone));
    assert_eq!(both.run().tool("deny"), alone.run().tool("deny"));
}

#[test]
fn a_file_that_is_listed_beside_a_pack_keeps_the_message_of_the_pack() {
    let config = "extends: [\"pack:lockfiles\"]\npreToolUse: {uneditableFiles: [Cargo.lock, yarn.lock]}\n";
    assert_snapshot!(Test::bash(config, "rm Cargo.lock").run().tool("deny"), @"A package manager writes this file. Change Cargo.toml and run `cargo update` or `cargo build`. (pack:lockfiles cargo-lock, about Cargo.lock)");
    let own = "extends: [\"pack:lockfiles\"]\npreToolUse: {uneditableFiles: [{pattern: Cargo.lock, message: Ask Ada.}]}\n";
    assert_snapshot!(Test::bash(own, "rm Cargo.lock").run().tool("deny"), @"Ask Ada. (.conclaude.yaml:2, about Cargo.lock)");
}

#[test]
fn a_file_makes_exceptions_from_the_pack_that_it_extends() {
    let config = "extends: [\"pack:secrets\", \"pack:git-safety\"]\n\
        preToolUse:\n  unreadableFiles: [\"!.env.test\"]\n  toolUsageValidation:\n    \
        - {tool: Bash, commandPattern: \"git push --force origin wip\", action: allow}\n";
    let commands =
        ["cat .env.test", "cat .env.local", "git push --force origin wip", "git push --force origin main"];
    assert_eq!(answers(config, commands.into_iter()), ["free", "deny", "free", "deny"]);
}

#[test]
fn an_unknown_pack_is_an_error_with_a_suggestion() {
    let test = Test::bash("extends: [\"pack:secret\"]\n", "ls");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @r#"
    exit 1
    ----- stdout
    error: there is no pack `secret`
     --> [ROOT]/.conclaude.yaml:1:11
      |
    1 | extends: ["pack:secret"]
      |           ^^^^^^^^^^^^^ unknown pack
      |
      = help: did you mean `pack:secrets`?

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    "#);
    assert_snapshot!(shown_in(&test.root(), &["pack", "show", "git"]), @"
    exit 1
    ----- stderr
    conclaude: there is no pack `git`; the packs are secrets, git-safety, destructive-commands, lockfiles, cloud, containers, databases
    ");
}

#[test]
fn packs_are_listed_and_printed_as_they_are() {
    let test = Test::stop();
    assert_snapshot!(shown_in(&test.root(), &["pack", "list"]), @r#"
    exit 0
    ----- stdout
    secrets               Files with passwords, keys and tokens are neither read nor written.
    git-safety            Git commands that lose or publish work are blocked, or the user decides. Committing, branching and pulling are free.
    destructive-commands  Commands that destroy a machine, a disk, a database or a cluster, or what is outside of the project, and programs fetched and run at once.
    lockfiles             Files that a package manager writes are not edited by hand: `npm install`, `cargo update` and the like still change them.
    cloud                 Commands that delete what runs in a cloud, or change it as a whole: aws, gcloud, az, terraform, pulumi, heroku, fly, vercel and others.
    containers            Commands that delete containers, volumes, images or what runs in a cluster, and containers that get the machine.
    databases             Statements and commands that delete databases, tables or all of their rows, and resets by frameworks.

    Use one with `conclaude pack add secrets`, or `extends: ["pack:secrets"]` in a config.
    "#);
    for name in ["secrets", "pack:secrets"] {
        let (_, shown, _) = run_in(&test.root(), &["pack", "show", name, "--yaml"]);
        assert_eq!(shown, include_str!("../../crates/core/src/packs/secrets.yaml"));
    }
}

#[test]
fn every_pack_is_documented() {
    let docs = include_str!("../../docs/explanation/packs.md");
    let listed = shown_in(&Test::stop().root(), &["pack", "list", "--json"]);
    let listed: Value = serde_json::from_str(listed.split("stdout\n").nth(1).unwrap()).unwrap();
    for pack in listed["packs"].as_array().unwrap() {
        let name = pack["name"].as_str().unwrap();
        assert!(docs.contains(&format!("## `{name}`")), "{name}");
    }
}
