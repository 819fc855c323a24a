//! The output of a failed command in the audit trail, and where it is shown and exported.

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::collector::Collector;
use crate::common::{Test, run_in};

const LINT: &str = "echo 'checking 2 files'; sleep 0.2
printf '\\033[31ma.ts(3,7): error TS2322: Promise<string>\\033[0m\\n' >&2; sleep 0.2
echo '1 error'; exit 1
";

fn config(more: &str) -> String {
    format!("stop: {{commands: [{{run: sh lint.sh}}, {{run: 'echo fine'}}]}}\n{more}")
}

fn stopped(more: &str) -> Test {
    let answer = Test::event("Stop").config(&config(more)).file("lint.sh", LINT).run();
    answer.blocked();
    answer.again()
}

fn output(test: &Test) -> Value {
    let (_, line, _) = run_in(&test.root(), &["audit", "show", "--json"]);
    serde_json::from_str::<Value>(&line).unwrap()["commands"][0]["output"].clone()
}

#[test]
fn the_output_of_a_failed_command_is_recorded_with_both_streams_in_order_and_shown() {
    let test = stopped("");
    assert_eq!(output(&test), "checking 2 files\na.ts(3,7): error TS2322: Promise<string>\n1 error");
    let (_, line, _) = run_in(&test.root(), &["audit", "show", "--json"]);
    assert_eq!(line.lines().count(), 1);
    let record: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(record["commands"][1].get("output"), None, "it passed");
    assert!(test.shows(&["audit", "verify"]).contains("1 record in order"));
    assert_snapshot!(test.shows(&["audit", "show"]), @"
    exit 0
    ----- stdout
        1 [TIME] Stop blocked
            `sh lint.sh` exited with code 1 ([DURATION])
              checking 2 files
              a.ts(3,7): error TS2322: Promise<string>
              1 error
            `echo fine` passed ([DURATION])
    ");
    let why = test.shows(&["why", "--all"]);
    assert!(why.contains("a.ts(3,7): error TS2322: Promise<string>"), "{why}");
    let (_, page, _) = run_in(&test.root(), &["report", "--format", "json"]);
    assert!(page.contains("error TS2322: Promise"), "{page}");
    let (_, html, _) = run_in(&test.root(), &["report", "--format", "html"]);
    assert!(html.contains("a.ts(3,7): error TS2322: Promise"), "the page has it");
    let (_, markdown, _) = run_in(&test.root(), &["report", "--format", "md"]);
    assert!(
        markdown.contains("`checking 2 files`<br>`a.ts(3,7): error TS2322: Promise<string>`<br>`1 error`"),
        "{markdown}"
    );
}

#[test]
fn the_output_is_not_recorded_where_the_config_says_never() {
    let test = stopped("audit: {output: never}\n");
    assert_eq!(output(&test), Value::Null);
    assert_snapshot!(Test::stop().config("audit: {output: always}\n").shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `output`: the text "always"
     --> [ROOT]/.conclaude.yaml:1:17
      |
    1 | audit: {output: always}
      |                 ^^^^^^ expected one of `failure`, `never`

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    "#);
}

#[test]
fn the_end_of_long_output_is_recorded_within_its_limits() {
    let run = "i=0; while [ $i -lt 3000 ]; do echo \"line $i ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé\"; i=$((i+1)); done; exit 1";
    let run = serde_json::to_string(run).unwrap();
    let commands: Vec<String> = (0..50).map(|_| "{run: 'exit 1'}".to_owned()).collect();
    let yaml = format!("stop: {{commands: [{{run: {run}}}, {}]}}\n", commands.join(", "));
    let records = Test::event("Stop").config(&yaml).run().status(2).audit();
    let output = records[0]["commands"][0]["output"].as_str().unwrap();
    assert!(output.len() <= 4_096, "{}", output.len());
    assert!(output.starts_with("…\nline ") && output.ends_with('é'), "{output}");
    assert!(output.lines().last().unwrap().starts_with("line 2999 "), "{output}");
    assert!(output.lines().count() <= 40);
    assert_eq!(records[0]["commands"].as_array().unwrap().len(), 51);
}

#[test]
fn commands_stay_in_a_record_whose_outputs_are_too_long_together() {
    let run = r#"yes '"""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""""' | head -60; exit 1"#;
    let run = serde_json::to_string(run).unwrap();
    let commands: Vec<String> = (0..80).map(|_| format!("{{run: {run}}}")).collect();
    let yaml = format!("stop: {{commands: [{}]}}\n", commands.join(", "));
    let done = Test::event("Stop").config(&yaml).run().status(2);
    let records = done.audit();
    assert_eq!(records[0]["shortened"], true);
    assert_eq!(records[0]["commands"].as_array().unwrap().len(), 80);
    assert_eq!(records[0]["commands"][0].get("output"), None);
    assert!(done.again().shows(&["audit", "verify"]).contains("1 record in order"));
}

#[test]
fn output_is_exported_only_if_the_user_wants_it() {
    let collector = Collector::new();
    let telemetry = format!("telemetry: {{endpoint: '{}', output: true}}\n", collector.url);
    for (more, is_sent) in [("", false), (telemetry.as_str(), true)] {
        let test = stopped(more);
        let root = test.root();
        if is_sent {
            assert_eq!(run_in(&root, &["trust", "--yes"]).0, Some(0));
        }
        let before = collector.received().len();
        assert_eq!(run_in(&root, &["audit", "export", "--otlp", &collector.url]).0, Some(0));
        let sent: String = collector.received()[before..].iter().map(|one| one.body.to_string()).collect();
        assert_eq!(sent.contains("error TS2322"), is_sent, "{sent}");
        let (_, jsonl, _) = run_in(&root, &["audit", "export", "--jsonl"]);
        assert_eq!(jsonl.contains("error TS2322"), is_sent, "{jsonl}");
        let (_, csv, _) = run_in(&root, &["audit", "export", "--csv"]);
        assert!(!csv.contains("a.ts(3,7): error"), "{csv}");
        let (_, shown, _) = run_in(&root, &["audit", "show", "--json"]);
        assert!(shown.contains("error TS2322"), "the trail has it");
    }
}
