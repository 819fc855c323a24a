//! Finding and checking the config: by events, by `validate`, by editors.

use std::path::Path;
use std::process::Output;

use crate::common::{Test, conclaude};

fn validate(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        conclaude().arg("validate").args(arguments).current_dir(folder).output().unwrap();
    assert!(stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
    (status.code(), String::from_utf8(stdout).unwrap().replace(folder.to_str().unwrap(), "[ROOT]"))
}

const BROKEN: &str =
    "subagentStop:\n  commands:\n    coder:\n      - runn: npm run lint\n        timeout: 9999\n";

#[test]
fn a_broken_config_is_exit_1_with_every_problem_and_no_side_effect() {
    let config = format!("subagentStart: {{commands: {{'*': [{{run: touch ran.txt}}]}}}}\n{BROKEN}");
    let done = Test::start().config(&config).run();
    let root = done.root().display().to_string();
    let done = done.error_with(&format!("invalid config {root}/.conclaude.yaml: 3 problems"));
    assert!(!done.has("ran.txt") && !done.has(".conclaude/state"));
    insta::assert_snapshot!(done.stderr.replace(&root, "[ROOT]"), @"
    conclaude: invalid config [ROOT]/.conclaude.yaml: 3 problems

    error: unknown key `runn` in `coder`
     --> [ROOT]/.conclaude.yaml:5:9
      |
    5 |       - runn: npm run lint
      |         ^^^^ not a key of this section
      |
      = help: did you mean `run`?

    error: missing field `run` in `coder`
     --> [ROOT]/.conclaude.yaml:5:9
      |
    5 |       - runn: npm run lint
      |         ^^^^ `run` is required here

    error: invalid value for `timeout`: the number 9999
     --> [ROOT]/.conclaude.yaml:6:18
      |
    6 |         timeout: 9999
      |                  ^^^^ expected a whole number from 1 to 3600
    ");
}

#[test]
fn a_broken_config_is_told_at_session_start_where_a_person_sees_it() {
    let done = Test::event("SessionStart").config(BROKEN).run().status(1);
    let json: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let message = json["systemMessage"].as_str().unwrap();
    assert!(message.contains("unknown key `runn`") && message.contains(".conclaude.yaml:4:9"), "{message}");
    assert_eq!(done.stderr.trim_end(), message);
    // And not again at every event after it.
    done.again().then("UserPromptSubmit").run().silent();
}

#[test]
fn session_start_checks_the_patterns_of_every_section() {
    let done =
        Test::event("SessionStart").config("subagentStart: {commands: {'[a': [{run: x}]}}").run().status(1);
    assert!(done.stdout.contains("`[` without a `]` after it"), "{}", done.stdout);
    Test::event("SessionStart").config("subagentStart: {commands: {'a*': [{run: x}]}}").run().silent();
}

#[test]
fn a_broken_pattern_of_the_events_own_section_is_said_aloud() {
    let config = "subagentStop:\n  commands:\n    \"{a,b\":\n      - run: touch ran.txt\n    coder:\n      - run: touch ran.txt\n";
    let done = Test::stop().config(config).run().error_with("invalid pattern `{a,b`");
    assert!(done.stderr.contains(".conclaude.yaml:3:5"), "{}", done.stderr);
    assert!(!done.has("ran.txt"));
}

#[test]
fn no_file_and_an_empty_file_are_a_quiet_success() {
    Test::stop().run().silent();
    for empty in ["", "\n", "# nothing\n", "---\n", "{}\n"] {
        Test::stop().config(empty).run().silent();
    }
}

#[test]
fn the_config_is_searched_upward_from_the_project_never_from_the_process() {
    let config = "subagentStop: {commands: {'*': [{run: touch ran.txt}]}}";
    // The process runs in another folder that has a config of its own.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join(".conclaude.yaml"), "broken: [").unwrap();
    let test = Test::stop().config(config).file("packages/web/x", "");
    let project = test.root().join("packages/web");
    let test = test.env("CLAUDE_PROJECT_DIR", project.to_str().unwrap()).payload("cwd", "/");
    let mut child = test.command().current_dir(elsewhere.path()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &test.input()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(test.root().join("ran.txt").exists());
    // Without the project folder the payload's cwd is where the search begins.
    let test = Test::stop().config(config).without_env("CLAUDE_PROJECT_DIR").file("deep/x", "");
    let deep = test.root().join("deep");
    assert!(test.payload("cwd", deep.to_str().unwrap()).run().silent().has("ran.txt"));
}

#[test]
fn yml_is_read_where_there_is_no_yaml() {
    let test = Test::stop().file(".conclaude.yml", "subagentStop: {commands: {'*': [{run: touch ran.txt}]}}");
    assert!(test.run().silent().has("ran.txt"));
}

#[cfg(unix)]
#[test]
fn what_is_no_readable_file_is_refused_at_once() {
    let fifo = Test::stop();
    let made =
        std::process::Command::new("mkfifo").arg(fifo.root().join(".conclaude.yaml")).status().unwrap();
    assert!(made.success());
    fifo.run().error_with("it is not a regular file");
    Test::stop().file(".conclaude.yaml/x", "").run().error_with("it is not a regular file");
    let dangling = Test::stop();
    std::os::unix::fs::symlink(".conclaude.yaml", dangling.root().join(".conclaude.yaml")).unwrap();
    dangling.run().error_with("cannot read the config");
}

#[test]
fn thousands_of_problems_are_reported_in_short() {
    let many: String = (0..20_000).map(|n| format!("key{n}: 1\n")).collect();
    let done = Test::stop().config(&many).run().error_with("20000 problems");
    assert!(
        done.stderr.contains("… and 19980 further problems") || done.stderr.contains("left out"),
        "{}",
        done.stderr
    );
}

#[test]
fn the_slips_that_yaml_makes_easy_get_their_own_help() {
    for (yaml, help) in [
        ("notifications: {hooks: [*]}\n", "`*` must be quoted"),
        ("notifications:\n  hooks:\n    - *\n", "`*` must be quoted"),
        ("notifications: {hooks: \"*\"}\n", "write it as a list: [\"*\"]"),
        ("subagentStop: {commands: {a: npm test}}\n", "write it as a list: `- run: …`"),
        ("\u{feff}bogus: 1\n", ".conclaude.yaml:1:1"),
    ] {
        Test::stop().config(yaml).run().error_with(help);
    }
}

#[test]
fn a_config_that_is_broken_writes_nothing() {
    let done =
        Test::stop().config("bogus: 1").file(".conclaude/state/last/x", "").run().error_with("unknown key");
    assert!(!done.has(".conclaude/state/last/SubagentStop"));
}

#[test]
fn validate_reports_what_a_config_asks_for() {
    let test = Test::stop().config("subagentStart: {commands: {'*': [{run: a}]}}\nsubagentStop: {commands: {a: [{run: b}, {run: c}], b: [{run: d}]}}\nnotifications: {enabled: true, hooks: ['*']}\n");
    insta::assert_snapshot!(validate(&test.root(), &[]).1, @"
    valid: [ROOT]/.conclaude.yaml
      subagentStart: 1 pattern, 1 command
      subagentStop: 2 patterns, 3 commands
      notifications: on
    ");
    assert_eq!(validate(&test.root(), &[]).0, Some(0));
}

#[test]
fn validate_prints_every_problem_and_exits_1() {
    let test = Test::stop().config(BROKEN);
    let (code, report) = validate(&test.root(), &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(report, @"
    error: unknown key `runn` in `coder`
     --> [ROOT]/.conclaude.yaml:4:9
      |
    4 |       - runn: npm run lint
      |         ^^^^ not a key of this section
      |
      = help: did you mean `run`?

    error: missing field `run` in `coder`
     --> [ROOT]/.conclaude.yaml:4:9
      |
    4 |       - runn: npm run lint
      |         ^^^^ `run` is required here

    error: invalid value for `timeout`: the number 9999
     --> [ROOT]/.conclaude.yaml:5:18
      |
    5 |         timeout: 9999
      |                  ^^^^ expected a whole number from 1 to 3600

    error: invalid config [ROOT]/.conclaude.yaml: 3 problems
    ");
}

#[test]
fn validate_takes_a_file_or_a_folder() {
    let test = Test::stop().config("").file("sub/other.yaml", "maxBlocks: 0\n");
    assert_eq!(validate(&test.root(), &["sub"]).0, Some(0), "searched upward");
    let (code, report) = validate(&test.root(), &["sub/other.yaml"]);
    assert_eq!(code, Some(1));
    assert!(
        report.contains("sub/other.yaml:1:12") && report.contains("expected a whole number from 1 to 7"),
        "{report}"
    );
    let (code, report) = validate(&test.root(), &["missing.yaml"]);
    assert!(code == Some(1) && report.contains("cannot read the config missing.yaml"), "{report}");
}

#[test]
fn validate_says_when_there_is_no_config() {
    let folder = tempfile::tempdir_in("/").or_else(|_| tempfile::tempdir()).unwrap();
    let (code, report) = validate(folder.path(), &[]);
    assert_eq!(code, Some(1));
    assert!(
        report.contains("no config: neither .conclaude.yaml nor .conclaude.yml here nor in a folder above"),
        "{report}"
    );
}

#[test]
fn validate_warns_of_what_cannot_be_meant() {
    let test = Test::stop()
        .config("subagentStop:\n  match: first\n  commands:\n    \"*\": [{run: x}]\n    coder: [{run: y}]\n")
        .file(".conclaude.yml", "");
    let (code, report) = validate(&test.root(), &[]);
    assert_eq!(code, Some(0));
    assert!(report.contains("warning: subagentStop: `coder` can never run"), "{report}");
    assert!(report.contains("warning: [ROOT]/.conclaude.yml is not read"), "{report}");
}

#[test]
fn the_committed_schema_is_the_one_of_the_structs() {
    let output = conclaude().arg("schema").output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let committed = include_str!("../../conclaude.schema.json");
    assert!(printed == committed, "`conclaude schema` prints something else than the committed file");
}

#[test]
fn the_schema_knows_every_key_with_its_description() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../conclaude.schema.json")).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(
        properties.keys().collect::<Vec<_>>(),
        ["maxBlocks", "subagentStart", "subagentStop", "notifications", "des", "audit"]
    );
    for (name, definition) in schema["definitions"].as_object().unwrap() {
        for (key, property) in definition["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{name}.{key} has no description");
        }
    }
}
