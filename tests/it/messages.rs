//! What a mistake is answered: what is wrong, where, and what to write instead.

use crate::common::{Test, conclaude_in};
use insta::assert_snapshot;
use serde_json::Value;

/// The answer of `validate` to a config, without its last line.
fn validate(yaml: &str) -> String {
    let shown = Test::stop().config(yaml).shows(&["validate"]);
    let text = shown.strip_prefix("exit 1\n----- stdout\n").unwrap_or(&shown);
    let text = text.split("\n\nerror: invalid config").next().unwrap();
    format!("# {}\n{text}\n", yaml.trim_end().replace('\n', "\n# "))
}

fn command(line: &str) -> String {
    let arguments: Vec<&str> = line.split(' ').collect();
    format!("$ conclaude {line}\n{}\n", Test::stop().shows(&arguments))
}

#[test]
fn every_mistake_in_a_config_gets_a_suggestion() {
    let mistakes = [
        "des: {requiredSections: Goal}",
        "des: {phases: tdd}",
        "des: {phases: something}",
        "des: {phases: []}",
        "des:\n  phases:\n    - RED\n    - GREEN\n    - RED",
        "notifications: {hooks: [Foo]}",
        "subagentStop:\n  commands:\n    coder:\n      - npm test",
        "subagentStop: {commands: {coder: npm test}}",
        "subagentStop: {commands: {\"general-purpose|Explore\": [{run: x}]}}",
        "subagentStop: {commands: {coder: [{run: x, timeout: 5 minutes}]}}",
        "subagentStop: {commands: {coder: [{run: x, timeout: 2h}]}}",
        "subagentStop: {commands: {coder: [{run: true}]}}",
        "subagentStop: {commands: {coder: [{run: x, message: 5}]}}",
        "subagentStop: {commands: {coder: [{run: x, maxOutputLines: '5'}]}}",
        "subagentStop: {commands: {coder: [{run: x, showStdout: 'true'}]}}",
        "subagentStop: {commands: {coder: [{run: x, showStdout: yes}]}}",
        "des: {judge: {prompt: x, timeout: '30'}}",
    ];
    assert_snapshot!(mistakes.map(validate).join("\n"), @"");
}

#[test]
fn what_is_valid_now_is_not_complained_about() {
    let valid = [
        "subagentStop: {commands: {coder: [{run: x, timeout: 5m}, {run: x, timeout: 90s}, {run: x, timeout: 1h}]}}",
        "subagentStop: {commands: {'{general-purpose,Explore}': [{run: x}], 'a[|]b\\|c': [{run: x}]}}",
        "des: {phases: [RED, GREEN]}",
        "des: {onViolation: warn, judge: {prompt: x, timeout: 2m}}",
        "des: {enabled: false}",
        "audit: {required: true}",
    ];
    assert_snapshot!(valid.map(validate).join("\n"), @"");
}

#[test]
fn a_timeout_with_a_unit_is_that_time() {
    let config = "subagentStop: {commands: {coder: [{run: sleep 60, timeout: 1s}]}}";
    let reason = Test::stop().config(config).payload("stop_hook_active", false).run().blocked();
    assert!(reason.contains("timed out after 1 s"), "{reason}");
}

#[test]
fn every_mistake_on_the_command_line_gets_a_suggestion() {
    let lines = [
        "audit shwo",
        "audit frobnicate",
        "des stauts",
        "version",
        "audit show --decision blokced",
        "audit show --event SubagentStpo",
        "audit stats --decision perhaps",
        "audit stats",
        "audit show --session abc",
    ];
    assert_snapshot!(lines.map(command).join("\n"), @"");
}

#[test]
fn a_filter_that_admits_nothing_says_how_many_records_there_are() {
    let test =
        Test::stop().config("subagentStop: {commands: {coder: [{run: 'true'}]}}").run().silent().again();
    let shown = ["stats", "show"].map(|subcommand| test.shows(&["audit", subcommand, "--agent", "nobody"]));
    assert_snapshot!(shown.join("\n"), @"");
}

const BROKEN: &str = "subagentStop:\n  commands:\n    coder:\n      - runn: ä\n        timeout: 9999\n";
const DEAD: &str =
    "subagentStop:\n  match: first\n  commands:\n    \"*\": [{run: x}]\n    coder: [{run: y}]\n";

#[test]
fn validate_prints_json() {
    let shown = [BROKEN, DEAD].map(|config| Test::stop().config(config).shows(&["validate", "--json"]));
    let none = Test::stop().shows(&["validate", "--format", "json"]);
    let missing = Test::stop().shows(&["validate", "--json", "missing.yaml"]);
    assert_snapshot!(format!("{}\n{none}\n{missing}", shown.join("\n")), @"");
}

#[test]
fn validate_prints_annotations_for_github() {
    let github = |test: Test, path: &str| test.shows(&["validate", "--format", "github", path]);
    let shown = [
        github(Test::stop().config(BROKEN), "."),
        github(Test::stop().config(DEAD), "."),
        github(Test::stop().file("a,b/x.yaml", "maxBlocks: '100%'"), "a,b/x.yaml"),
        github(Test::stop(), "."),
        github(Test::stop(), "missing.yaml"),
    ];
    assert_snapshot!(shown.join("\n"), @"");
    // The workspace is the repository, wherever the step runs.
    let test = Test::stop().file("web/.conclaude.yaml", "maxBlocks: 0");
    let mut command = conclaude_in(&test.root().join("web"));
    command.args(["validate", "--format", "github"]).env("GITHUB_WORKSPACE", test.root());
    let output = command.output().unwrap();
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .starts_with("::error file=web/.conclaude.yaml,line=1,col=12,")
    );
}

#[test]
fn status_and_verify_print_json() {
    let test =
        Test::stop().config("subagentStop: {commands: {coder: [{run: 'true'}]}}").run().silent().again();
    let test = test.step(&crate::common::workflow::done());
    let lists = [
        &["des", "status", "--json"][..],
        &["audit", "verify", "--json"],
        &["des", "status", "--json", ".home"],
    ];
    std::fs::create_dir_all(test.root().join(".home")).unwrap();
    let sound = lists.map(|arguments| test.shows(arguments)).join("\n");
    let path = test.root().join(".conclaude/audit/audit-0000000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("coder", "tester", 1)).unwrap();
    let broken = test.shows(&["audit", "verify", "--json"]);
    assert_snapshot!(format!("{sound}\n{broken}"), @"");
    let json: Value = serde_json::from_str(broken.split_once("stdout\n").unwrap().1).unwrap();
    assert_eq!(json["ok"], false);
}
