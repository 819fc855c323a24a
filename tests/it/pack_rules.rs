//! The rules of packs have names, by which a config changes what they do.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, run_in, shown_in};

const USER: &str = ".home/.config/conclaude/config.yaml";
const LOCAL: &str = ".conclaude.local.yaml";
const GIT: &str = "extends: [\"pack:git-safety\"]\n";

/// What the hook answers to a command in this project.
fn answer(test: Test, command: &str) -> (String, Test) {
    let outcome = test.payload("tool_input", json!({ "command": command })).run();
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    let decision = said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("free").to_owned();
    (decision, outcome.again())
}

fn answers(mut test: Test, commands: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for command in commands {
        let (decision, again) = answer(test, command);
        found.push(decision);
        test = again;
    }
    found
}

#[test]
fn the_file_that_extends_a_pack_changes_its_rules_by_name() {
    let commands =
        ["git push --force", "git commit --amend", "git reset --hard", "git push --delete origin x"];
    assert_eq!(answers(Test::bash(GIT, ""), &commands), ["deny", "ask", "ask", "deny"]);
    let config = format!("{GIT}packs: {{git-safety: {{force-push: ask, amend: allow, reset-hard: deny}}}}\n");
    assert_eq!(answers(Test::bash(&config, ""), &commands), ["ask", "free", "deny", "deny"]);
}

#[test]
fn a_rule_that_is_off_frees_nothing_that_another_rule_is_against() {
    let config = format!("{GIT}packs: {{git-safety: {{force-push: allow}}}}\n");
    let commands = ["git push --force", "git push --force --delete origin x", "git push --force --mirror"];
    assert_eq!(answers(Test::bash(&config, ""), &commands), ["free", "deny", "deny"]);
}

#[test]
fn file_rules_of_packs_are_switched_too() {
    let config = "extends: [\"pack:secrets\"]\npacks: {secrets: {env: ask, pem: allow}}\n";
    let test = || Test::bash(config, "").file(".env", "").file("a.pem", "").file("a.key", "");
    assert_eq!(
        answers(test(), &["cat .env", "cat a.pem", "cat a.key", "rm a.pem"]),
        ["ask", "free", "deny", "deny"]
    );
    let read = test().payload("tool_name", "Read").payload("tool_input", json!({"file_path": ".env"})).run();
    assert_snapshot!(read.tool("ask"), @"This file holds secrets. Read .env.example for the names, and ask the user for values. (pack:secrets env)");
}

#[test]
fn an_own_rule_about_the_same_file_stays() {
    let config = "extends: [\"pack:secrets\"]\npacks: {secrets: {env: allow}}\npreToolUse: {unreadableFiles: [.env]}\n";
    assert_eq!(answers(Test::bash(config, "").file(".env", ""), &["cat .env"]), ["deny"]);
}

#[test]
fn an_outer_layer_may_relax_what_the_project_extends_and_an_inner_one_may_not() {
    let relaxed = "packs: {git-safety: {force-push: ask}}\n";
    assert_eq!(answers(Test::bash(GIT, "").file(USER, relaxed), &["git push -f"]), ["ask"]);
    let inner = Test::bash(GIT, "").file(LOCAL, relaxed);
    assert_eq!(answers(inner, &["git push -f"]), ["deny"], "a local file cannot relax the project's pack");
    let project = Test::bash(relaxed, "").file(USER, GIT);
    assert_eq!(answers(project, &["git push -f"]), ["deny"], "a project cannot relax the user's pack");
}

#[test]
fn a_pack_of_two_layers_is_as_strict_as_the_outer_one() {
    let project = format!("{GIT}packs: {{git-safety: {{force-push: allow, amend: block}}}}\n");
    let test = || Test::bash(&project, "").file(USER, GIT);
    assert_eq!(answers(test(), &["git push -f", "git commit --amend"]), ["deny", "deny"]);
    let user = format!("{GIT}packs: {{git-safety: {{force-push: ask}}}}\n");
    assert_eq!(answers(Test::bash(&project, "").file(USER, user), &["git push -f"]), ["ask"]);
}

#[test]
fn an_inner_layer_may_make_a_rule_stricter() {
    let stricter = "packs: {git-safety: {amend: block}}\n";
    assert_eq!(answers(Test::bash(GIT, "").file(LOCAL, stricter), &["git commit --amend"]), ["deny"]);
}

#[test]
fn a_switch_without_effect_is_reported_with_the_reason() {
    let test =
        Test::bash(GIT, "").file(LOCAL, "packs:\n  git-safety: {force-push: ask}\n  secrets: {env: allow}\n");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @r#"
    exit 0
    ----- stdout
    warning: packs: `force-push: ask` of `git-safety` has no effect
     --> [ROOT]/.conclaude.local.yaml:2:28
      |
    2 |   git-safety: {force-push: ask}
      |                            ^^^ the project config extends pack:git-safety, and an inner layer cannot relax its rules
      |
      = help: write it in [ROOT]/.conclaude.yaml

    warning: packs: `env: allow` of `secrets` has no effect
     --> [ROOT]/.conclaude.local.yaml:3:18
      |
    3 |   secrets: {env: allow}
      |                  ^^^^^ no file extends pack:secrets
      |
      = help: write `extends: ["pack:secrets"]`, or remove it

    valid: pack:git-safety
    valid: [ROOT]/.conclaude.yaml
    valid: [ROOT]/.conclaude.local.yaml
      preToolUse: 54 guards
    "#);
    assert_eq!(run_in(&test.root(), &["validate", "--strict"]).0, Some(1));
    let test = Test::bash("packs: {git-safety: {amend: allow}}\n", "")
        .file(USER, format!("{GIT}packs: {{git-safety: {{amend: block}}}}\n"));
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 0
    ----- stdout
    warning: packs: `amend: allow` of `git-safety` has no effect
     --> [ROOT]/.conclaude.yaml:1:29
      |
    1 | packs: {git-safety: {amend: allow}}
      |                             ^^^^^ [ROOT]/.home/.config/conclaude/config.yaml:2 says `block`, and the strictest layer counts
      |
      = help: remove one of them

    valid: pack:git-safety
    valid: [ROOT]/.home/.config/conclaude/config.yaml
    valid: [ROOT]/.conclaude.yaml
      preToolUse: 54 guards
    ");
}

#[test]
fn an_unknown_pack_or_rule_is_an_error_with_a_suggestion_at_its_line() {
    let config = format!(
        "{GIT}packs:\n  git-saftey: {{amend: ask}}\n  git-safety:\n    force-pusch: ask\n    amend: maybe\n"
    );
    let test = Test::bash(&config, "");
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @r#"
    exit 1
    ----- stdout
    error: unknown key `git-saftey` in `packs`
     --> [ROOT]/.conclaude.yaml:3:3
      |
    3 |   git-saftey: {amend: ask}
      |   ^^^^^^^^^^ not a key of this section
      |
      = help: did you mean `git-safety`?

    error: unknown key `force-pusch` in `git-safety`
     --> [ROOT]/.conclaude.yaml:5:5
      |
    5 |     force-pusch: ask
      |     ^^^^^^^^^^^ not a key of this section
      |
      = help: did you mean `force-push`?

    error: invalid value for `amend`: the text "maybe"
     --> [ROOT]/.conclaude.yaml:6:12
      |
    6 |     amend: maybe
      |            ^^^^^ expected one of `allow`, `ask`, `block`, `deny`

    error: invalid config [ROOT]/.conclaude.yaml: 3 problems
    "#);
}

#[test]
fn the_valid_entries_of_a_file_with_mistakes_still_apply() {
    let config = format!("{GIT}packs: {{git-safety: {{force-pusch: allow, reset-hard: block}}}}\n");
    let commands = ["git push -f", "git reset --hard", "git commit --amend"];
    assert_eq!(answers(Test::bash(&config, ""), &commands), ["deny", "deny", "ask"]);
}

#[test]
fn everything_that_reads_the_config_agrees_about_a_switched_rule() {
    let config = format!("{GIT}packs:\n  git-safety:\n    force-push: ask\n    amend: allow\n");
    let cases = "cases:\n  - {name: push, event: PreToolUse, input: {command: git push -f}, expect: {asks: true}}\n  \
        - {name: amend, event: PreToolUse, input: {command: git commit --amend}, expect: {allows: true}}\n";
    let test = Test::bash(&config, "").file(".conclaude.test.yaml", cases);
    assert_eq!(run_in(&test.root(), &["test"]).0, Some(0));
    let explained = run_in(&test.root(), &["explain", "PreToolUse", "--command", "git push -f"]).1;
    assert!(explained.contains("off with `packs: {git-safety: {force-push: allow}}`"), "{explained}");
    let shown = run_in(&test.root(), &["config", "show", "preToolUse.toolUsageValidation", "--origin"]).1;
    let (_, rule) = shown.split_once("# pack:git-safety force-push\n").unwrap();
    assert!(rule.lines().take(14).any(|line| line.contains("action: ask  # .conclaude.yaml:4")), "{rule}");
    assert!(!shown.contains("git-safety amend"), "{shown}");
}

#[test]
fn why_says_how_a_rule_of_a_pack_is_switched_off() {
    let denied = Test::bash(GIT, "git push --force").run();
    denied.tool("deny");
    let test = denied.again();
    assert_snapshot!(run_in(&test.root(), &["why"]).1, @r#"
    1: PreToolUse Bash git push --force denied
      ✗ Force push rewrites the remote's history. Push without `--force`, or ask the user.
        preToolUse.toolUsageValidation "Bash git push -f,--force" in pack:git-safety force-push
        off with `packs: {git-safety: {force-push: allow}}`
    today: the config would decide the same: denied
    `conclaude why 1 --all` shows the rest
    "#);
    let (_, record, _) = run_in(&test.root(), &["audit", "show", "--json"]);
    let record: Value = serde_json::from_str(record.lines().next().unwrap()).unwrap();
    let rule = &record["findings"][0]["rule"];
    assert_eq!((rule["file"].as_str(), rule["name"].as_str()), (Some("pack:git-safety"), Some("force-push")));
    assert!(run_in(&test.root(), &["audit", "show"]).1.contains("(pack:git-safety force-push)"));
}

#[test]
fn pack_show_lists_the_rules_with_what_they_do() {
    let test = Test::stop();
    let shown = run_in(&test.root(), &["pack", "show", "git-safety"]).1;
    assert_snapshot!(shown.lines().take(6).collect::<Vec<_>>().join("\n"), @"
    Git commands that lose or publish work are blocked, or the user decides. Committing, branching and pulling are free.

    RULE                       ACTION  MESSAGE
    force-push                 block   Force push rewrites the remote's history. Push without `--force`, or ask the user.
    force-push-refspec         block   A refspec with `+` is a force push, which rewrites the remote's history. Push without it, or ask the user.
    push-mirror                block   This overwrites or deletes all branches of the remote. Push single branches, or ask the user.
    ");
    assert_snapshot!(shown.lines().rev().take(2).collect::<Vec<_>>().join("\n"), @"
    `conclaude pack show git-safety --yaml` prints the pack itself.
    A config that extends it can change each: `packs: {git-safety: {force-push: ask}}`; `allow` is off.
    ");
    let (_, json, _) = run_in(&test.root(), &["pack", "show", "secrets", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rules"][0]["list"], "unreadableFiles");
}

#[test]
fn the_strictest_of_several_packs_of_a_layer_counts() {
    // pack:destructive-commands asks about `docker rm`, and pack:containers about the same; of terraform one asks and one blocks.
    for packs in
        ["\"pack:cloud\", \"pack:destructive-commands\"", "\"pack:destructive-commands\", \"pack:cloud\""]
    {
        let config = format!("extends: [{packs}]\npacks: {{cloud: {{terraform-destroy: ask}}}}\n");
        assert_eq!(answers(Test::bash(&config, ""), &["terraform destroy"]), ["deny"], "{packs}");
        let config =
            format!("extends: [{packs}]\npacks: {{destructive-commands: {{terraform-destroy: ask}}}}\n");
        assert_eq!(answers(Test::bash(&config, ""), &["terraform destroy"]), ["deny"], "{packs}");
    }
}

#[test]
fn the_own_rule_of_a_file_comes_before_those_of_its_packs() {
    let own = "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: \"terraform destroy -target x\", action: allow}]}\n";
    let config = format!("extends: [\"pack:cloud\", \"pack:destructive-commands\"]\n{own}");
    let commands = ["terraform destroy -target x", "terraform destroy"];
    assert_eq!(answers(Test::bash(&config, ""), &commands), ["free", "deny"]);
}

#[test]
fn a_secret_file_that_does_not_exist_may_be_created_and_one_that_does_may_be_sourced_if_the_user_agrees() {
    let secrets = "extends: [\"pack:secrets\"]\n";
    let new = ["cp .env.example .env", "touch .env.local", "echo A=1 > sub/.env"];
    assert_eq!(answers(Test::bash(secrets, "").file(".env.example", "A="), &new), ["free", "free", "free"]);
    let test =
        || Test::bash(secrets, "").file(".env.example", "A=").file(".env", "A=1").file("sub/.env", "A=1");
    let old = [
        "cp .env.example .env",
        "touch .env",
        "echo A=1 >> .env",
        "set -a; . ./.env; set +a",
        "source sub/.env && npm start",
        "cat .env",
        "bash .env",
        ". ./.env; cat .env",
        ". ./.env.example < .env",
    ];
    assert_eq!(answers(test(), &old), ["deny", "deny", "deny", "ask", "ask", "deny", "deny", "deny", "deny"]);
    let write = |path: &str| {
        test().payload("tool_name", "Write").payload("tool_input", json!({"file_path": path})).run()
    };
    write(".env.production").silent();
    write(".env").tool("deny");
    // A link to a file that does not exist leads elsewhere.
    let linked = test();
    std::os::unix::fs::symlink("/nowhere/.env.x", linked.root().join(".env.test")).unwrap();
    assert_eq!(answers(linked, &["echo > .env.test"]), ["deny"]);
}

#[test]
fn own_rules_mean_what_they_say_unless_they_have_these_keys() {
    let own = "preToolUse: {uneditableFiles: [.env], unreadableFiles: [.env]}\n";
    assert_eq!(answers(Test::bash(own, ""), &["touch .env", ". ./.env"]), ["deny", "deny"]);
    let own = "preToolUse: {uneditableFiles: [{pattern: .env, create: ask}], unreadableFiles: [{pattern: .env, action: ask, source: allow}]}\n";
    let test = Test::bash(own, "");
    assert_eq!(answers(test, &["touch .env", ". ./.env", "cat .env"]), ["ask", "free", "ask"]);
    let both = "extends: [\"pack:secrets\"]\npreToolUse: {uneditableFiles: [.env]}\n";
    assert_eq!(answers(Test::bash(both, ""), &["touch .env"]), ["deny"], "the own rule is the stricter one");
}
