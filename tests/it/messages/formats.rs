//! The same for programs: JSON, and annotations for GitHub.

use super::*;

const BROKEN: &str = "subagentStop:\n  commands:\n    coder:\n      - runn: ä\n        timeout: 9999\n";
const DEAD: &str =
    "subagentStop:\n  match: first\n  commands:\n    \"*\": [{run: x}]\n    coder: [{run: y}]\n";

#[test]
fn validate_prints_json() {
    let shown = [BROKEN, DEAD].map(|config| Test::stop().config(config).shows(&["validate", "--json"]));
    let none = Test::stop().shows(&["validate", "--format", "json"]);
    let missing = Test::stop().shows(&["validate", "--json", "missing.yaml"]);
    assert_snapshot!(format!("{}\n{none}\n{missing}", shown.join("\n")), @r#"
    exit 1
    ----- stdout
    {
      "valid": false,
      "path": "[ROOT]/.conclaude.yaml",
      "files": [],
      "error": "invalid config [ROOT]/.conclaude.yaml: 3 problems",
      "problems": [
        {
          "path": "[ROOT]/.conclaude.yaml",
          "line": 4,
          "column": 9,
          "end_column": 13,
          "message": "unknown key `runn` in `coder`",
          "label": "not a key of this section",
          "help": "did you mean `run`?"
        },
        {
          "path": "[ROOT]/.conclaude.yaml",
          "line": 4,
          "column": 9,
          "end_column": 13,
          "message": "missing field `run` in `coder`",
          "label": "`run` is required here"
        },
        {
          "path": "[ROOT]/.conclaude.yaml",
          "line": 5,
          "column": 18,
          "end_column": 22,
          "message": "invalid value for `timeout`: the number 9999",
          "label": "expected 1 to 3600 seconds, as a number or as `90s` or `5m`"
        }
      ],
      "warnings": [],
      "notes": [],
      "contents": []
    }
    exit 0
    ----- stdout
    {
      "valid": true,
      "path": "[ROOT]/.conclaude.yaml",
      "files": [
        "[ROOT]/.conclaude.yaml"
      ],
      "error": null,
      "problems": [],
      "warnings": [
        {
          "path": "[ROOT]/.conclaude.yaml",
          "line": 5,
          "column": 5,
          "end_column": 10,
          "message": "subagentStop: `coder` can never run",
          "label": "`match: first` stops at `*`, which comes before it",
          "help": "move it before `*`, or remove `match: first`"
        }
      ],
      "notes": [],
      "contents": [
        "subagentStop: 2 patterns, 2 commands"
      ]
    }
    exit 1
    ----- stdout
    {
      "valid": false,
      "path": null,
      "files": [],
      "error": "no config: neither .conclaude.yaml nor .conclaude.yml here nor in a folder above",
      "problems": [],
      "warnings": [],
      "notes": [],
      "contents": []
    }
    exit 1
    ----- stdout
    {
      "valid": false,
      "path": "missing.yaml",
      "files": [],
      "error": "cannot read the config missing.yaml: No such file or directory (os error 2)",
      "problems": [],
      "warnings": [],
      "notes": [],
      "contents": []
    }
    "#);
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
    assert_snapshot!(shown.join("\n"), @r#"
    exit 1
    ----- stdout
    ::error file=.conclaude.yaml,line=4,col=9,endColumn=13::unknown key `runn` in `coder`: not a key of this section%0Ahelp: did you mean `run`?
    ::error file=.conclaude.yaml,line=4,col=9,endColumn=13::missing field `run` in `coder`: `run` is required here
    ::error file=.conclaude.yaml,line=5,col=18,endColumn=22::invalid value for `timeout`: the number 9999: expected 1 to 3600 seconds, as a number or as `90s` or `5m`
    exit 0
    ----- stdout
    ::warning file=.conclaude.yaml,line=5,col=5,endColumn=10::subagentStop: `coder` can never run: `match: first` stops at `*`, which comes before it%0Ahelp: move it before `*`, or remove `match: first`
    exit 1
    ----- stdout
    ::error file=a%2Cb/x.yaml,line=1,col=12,endColumn=18::invalid value for `maxBlocks`: the text "100%25": expected a whole number from 1 to 7
    exit 1
    ----- stdout
    ::error::no config: neither .conclaude.yaml nor .conclaude.yml here nor in a folder above
    exit 1
    ----- stdout
    ::error file=missing.yaml::cannot read the config missing.yaml: No such file or directory (os error 2)
    "#);
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
    assert_snapshot!(format!("{sound}\n{broken}"), @r#"
    exit 0
    ----- stdout
    {
      "steps": [
        {
          "step": "steps/01-01.json",
          "task": "01-01",
          "state": "DONE",
          "phases": {
            "finished": 14,
            "total": 14
          },
          "last_agent": null,
          "blocks": 0
        }
      ]
    }
    exit 0
    ----- stdout
    {
      "ok": true,
      "records": 1,
      "problem": null,
      "warnings": [],
      "notes": [],
      "end_compared": true
    }
    exit 0
    ----- stdout
    {
      "steps": []
    }
    exit 1
    ----- stdout
    {
      "ok": false,
      "records": 0,
      "problem": "[ROOT]/.conclaude/audit/audit-0000000001.jsonl:1: record 1 was changed: its hash does not match its content",
      "warnings": [],
      "notes": [],
      "end_compared": true
    }
    "#);
    let json: Value = serde_json::from_str(broken.split_once("stdout\n").unwrap().1).unwrap();
    assert_eq!(json["ok"], false);
}
