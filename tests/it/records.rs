//! Every record answers "why": the rule with its file and line, what it matched, and what that did.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::workflow::{self, MARKERS};
use crate::common::{Outcome, Test};

/// What a record says of why, without what every record has.
fn why(answer: &Outcome) -> String {
    let mut record = answer.audit().pop().unwrap();
    let fields = record.as_object_mut().unwrap();
    for name in ["seq", "time", "prev", "hash", "session", "event", "agent_id", "des", "unanchored"] {
        fields.remove(name);
    }
    for command in fields.get_mut("commands").and_then(Value::as_array_mut).into_iter().flatten() {
        command.as_object_mut().unwrap().remove("duration_ms");
    }
    answer.steady(&format!("{record:#}"))
}

fn write(config: &str, file: &str) -> Test {
    let test = Test::event("PreToolUse").without("agent_id").without("agent_type").config(config);
    test.payload("tool_name", "Write")
        .payload("tool_use_id", "toolu_1")
        .payload("tool_input", json!({ "file_path": file }))
}

#[test]
fn a_shell_command_that_cannot_be_parsed_is_recorded_by_its_start_and_why() {
    let config =
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git push*', action: block}]}";
    let command = format!("git push \"{}", "x".repeat(70_000));
    let test = Test::event("PreToolUse").without("agent_id").without("agent_type").config(config);
    let mut test = test.payload("tool_name", "Bash");
    for (command, shown) in [("git push \"origin", "git push \"origin"), (&command, &command[..200])] {
        let answer = test.payload("tool_input", json!({ "command": command })).run();
        answer.tool("deny");
        let findings = answer.audit().pop().unwrap()["findings"].clone();
        let matched: Vec<&Value> = findings.as_array().unwrap().iter().map(|one| &one["matched"]).collect();
        assert_eq!(matched, [shown, shown]);
        if command.len() < 100 {
            let what = findings.as_array().unwrap().iter().map(|one| one["what"].as_str().unwrap());
            assert_snapshot!(what.collect::<Vec<_>>().join("\n"), @r#"
            Running `git push "origin` is not allowed: `toolUsageValidation` has `Bash git push*`.
            The effect of this command is unknown: it cannot be parsed: a double quote is not closed (line 1).
            "#);
        }
        test = answer.again();
    }
}

#[test]
fn a_denied_write_names_the_rule_and_the_path_after_normalising() {
    let config = "preToolUse:\n  uneditableFiles:\n    - \"*.lock\"\n";
    let answer = write(config, "sub/../Cargo.lock").run();
    answer.tool("deny");
    assert_snapshot!(why(&answer), @r#"
    {
      "decision": "denied",
      "findings": [
        {
          "code": "GUARD_DENIED",
          "weight": "block",
          "what": "Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`.",
          "fix": "Do it another way, or ask the user.",
          "rule": {
            "key": "preToolUse.uneditableFiles",
            "pattern": "*.lock",
            "file": ".conclaude.yaml",
            "line": 3
          },
          "matched": "Cargo.lock",
          "verdict": "block"
        }
      ],
      "tool": {
        "name": "Write",
        "use_id": "toolu_1",
        "file": "sub/../Cargo.lock",
        "input_sha256": "[HASH]"
      },
      "started": "[TIME]"
    }
    "#);
}

#[test]
fn a_denied_write_inside_a_subagent_names_the_agent() {
    let config = "preToolUse: {uneditableFiles: [{pattern: '*.lock', agent: coder}]}\n";
    let answer = write(config, "a.lock").payload("agent_id", "a1").payload("agent_type", "coder").run();
    answer.tool("deny");
    let record = answer.audit().pop().unwrap();
    assert_eq!((&record["agent"], &record["agent_id"]), (&json!("coder"), &json!("a1")));
}

#[test]
fn a_command_names_its_pattern_its_line_and_what_its_failure_does() {
    let config = "maxBlocks: 2\nsubagentStop:\n  commands:\n    \"cod*\":\n      - run: exit 3\n        onFailure: block\n      - {run: 'true'}\n";
    let answer = Test::stop().config(config).run();
    answer.blocked();
    assert_snapshot!(why(&answer), @r#"
    {
      "commands": [
        {
          "pattern": "cod*",
          "run": "exit 3",
          "status": "exited with code 3",
          "exit_code": 3,
          "started": "[TIME]",
          "rule": {
            "key": "subagentStop.commands",
            "pattern": "cod*",
            "file": ".conclaude.yaml",
            "line": 5
          },
          "verdict": "block",
          "matched": "coder"
        },
        {
          "pattern": "cod*",
          "run": "true",
          "status": "exited with code 0",
          "exit_code": 0,
          "started": "[TIME]",
          "rule": {
            "key": "subagentStop.commands",
            "pattern": "cod*",
            "file": ".conclaude.yaml",
            "line": 7
          },
          "verdict": "pass",
          "matched": "coder"
        }
      ],
      "blocks": {
        "count": 1,
        "max": 2,
        "rule": {
          "key": "maxBlocks",
          "file": ".conclaude.yaml",
          "line": 1
        }
      },
      "agent": "coder",
      "started": "[TIME]",
      "decision": "blocked"
    }
    "#);
}

#[test]
fn a_command_of_the_local_layer_names_that_file() {
    let test = Test::stop().config("subagentStop: {commands: {'*': [{run: 'true'}]}}\n");
    let answer =
        test.file(".conclaude.local.yaml", "subagentStop:\n  commands:\n    '*':\n    - run: ':'\n").run();
    let record = answer.audit().pop().unwrap();
    let positions: Vec<String> = record["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| format!("{}:{}", command["rule"]["file"].as_str().unwrap(), command["rule"]["line"]))
        .collect();
    assert_eq!(positions, [".conclaude.yaml:1", ".conclaude.local.yaml:4"]);
}

#[test]
fn a_timeout_says_so() {
    let config = "subagentStop: {commands: {coder: [{run: 'sleep 60', timeout: 1}]}}\n";
    let answer = Test::stop().config(config).run();
    answer.blocked();
    let command = &answer.audit().pop().unwrap()["commands"][0];
    assert_eq!((&command["timed_out"], &command["verdict"]), (&json!(true), &json!("block")));
}

#[test]
fn what_an_untrusted_config_would_have_run_is_recorded_as_skipped() {
    let config = "subagentStop:\n  commands:\n    coder: [{run: touch ran}]\n";
    let answer = Test::stop().config(config).flag("--if-trusted").run().status(0);
    assert!(!answer.has("ran"));
    assert_snapshot!(why(&answer), @r#"
    {
      "decision": "allowed",
      "skipped": [
        {
          "what": "`touch ran`",
          "why": "[ROOT]/.conclaude.yaml is not trusted",
          "rule": {
            "key": "subagentStop.commands",
            "pattern": "coder",
            "file": ".conclaude.yaml",
            "line": 3
          }
        }
      ],
      "agent": "coder",
      "started": "[TIME]"
    }
    "#);
    assert_snapshot!(answer.again().shows(&["audit", "show"]), @"
    exit 0
    ----- stdout
        1 [TIME] SubagentStop allowed agent=coder agent_id=a1b2c3
            `touch ran` did not run: [ROOT]/.conclaude.yaml is not trusted
    ");
}

#[test]
fn a_finding_of_a_gate_names_the_field_of_the_step_or_of_the_config() {
    let config = "des:\n  requiredSections: [Goal]\n";
    let called = Test::stop().config(config).step(&workflow::todo()).call_agent(MARKERS).run();
    called.tool("deny");
    assert_snapshot!(why(&called), @r#"
    {
      "decision": "denied",
      "findings": [
        {
          "code": "SECTION_MISSING",
          "weight": "block",
          "what": "the prompt has no section Goal",
          "fix": "add a heading `## Goal`, or a marker `<!-- DES-SECTION: NAME -->` with this name",
          "rule": {
            "key": "des.requiredSections",
            "file": ".conclaude.yaml",
            "line": 2
          },
          "matched": "Goal",
          "verdict": "block"
        }
      ],
      "step": "steps/01-01.json",
      "started": "[TIME]",
      "tool": {
        "name": "Agent",
        "use_id": "toolu_1"
      },
      "agent": "coder"
    }
    "#);
}

#[test]
fn a_phase_that_is_missing_names_its_line_in_the_step_file() {
    let step = workflow::with(3, json!({"status": "IN_PROGRESS"}));
    let answer = Test::gated_stop(&step).run();
    answer.blocked();
    let record = answer.audit().pop().unwrap();
    let rule = record["findings"][0]["rule"].clone();
    let text = answer.read("steps/01-01.json");
    let line = text.lines().position(|line| line.contains(workflow::PHASES[3])).unwrap() + 1;
    assert_eq!(rule, json!({"key": "phase_execution_log", "file": "steps/01-01.json", "line": line}));
}

#[test]
fn a_broken_config_is_named_in_the_records_of_the_gates() {
    let config = "maxBlocks: 99\n";
    let answer = Test::gated_stop(&workflow::todo()).config(config).run();
    answer.blocked();
    let record = answer.audit().pop().unwrap();
    assert_eq!(record["config_error"]["problems"][0]["line"], 1);
}

#[test]
fn a_rule_that_gave_context_or_allowed_a_call_is_recorded_with_what_it_matched() {
    let config = "userPromptSubmit: {contextRules: [{pattern: 'depl[a-z]+', prompt: Be careful.}]}";
    let test = Test::event("UserPromptSubmit").without("agent_id").without("agent_type").config(config);
    let answer = test.payload("prompt", "please deploy it").run();
    assert_snapshot!(why(&answer), @r#"
    {
      "decision": "allowed",
      "applied": [
        {
          "what": "Claude is given 11 characters",
          "rule": {
            "key": "userPromptSubmit.contextRules",
            "pattern": "depl[a-z]+",
            "file": ".conclaude.yaml",
            "line": 1
          },
          "matched": "deploy"
        }
      ],
      "started": "[TIME]"
    }
    "#);
    let test = answer.again().payload("prompt", "hello");
    assert_eq!(test.run().audit().len(), 1, "without a match nothing is written");
    let config = "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git status*', action: allow}, {tool: Bash, commandPattern: 'git *', action: block}]}";
    let test = Test::event("PreToolUse").without("agent_id").without("agent_type").config(config);
    let answer = test
        .payload("tool_name", "Bash")
        .payload("tool_input", json!({"command": "ls; git status -s"}))
        .run();
    let answer = answer.silent();
    assert_snapshot!(why(&answer), @r#"
    {
      "decision": "allowed",
      "applied": [
        {
          "what": "it is allowed",
          "rule": {
            "key": "preToolUse.toolUsageValidation",
            "pattern": "Bash git status*",
            "file": ".conclaude.yaml",
            "line": 1
          },
          "matched": "git status -s"
        }
      ],
      "tool": {
        "name": "Bash",
        "command": "ls; git status -s"
      },
      "started": "[TIME]"
    }
    "#);
    let test = answer.again().payload("tool_input", json!({"command": "ls"}));
    assert_eq!(test.run().audit().len(), 1, "without a match nothing is written");
}

#[test]
fn a_command_without_changed_files_is_a_reason_in_a_record_and_none_for_one() {
    let skipped = "{run: lint, files: ['*.rs']}";
    let config = format!("subagentStop: {{commands: {{'*': [{skipped}]}}}}");
    let answer = Test::stop().config(&config).run();
    let answer = answer.status(0);
    assert!(answer.audit().is_empty(), "nothing applied");
    let config = format!("subagentStop: {{commands: {{'*': [{{run: 'true'}}, {skipped}]}}}}");
    let answer = answer.again().config(&config).run();
    assert_snapshot!(answer.audit()[0]["skipped"], @r#"[{"what":"`lint`","why":"`files: [*.rs]` covers no changed file (.conclaude.yaml)","rule":{"key":"subagentStop.commands","pattern":"*","file":".conclaude.yaml","line":1}}]"#);
}

#[test]
fn a_permission_is_recorded_with_the_command_alone() {
    let config = "permissionRequest: {allow: ['Bash(git status*)', 'WebFetch(domain:example.com)'], deny: ['Bash(rm *)', 'Read(.env)']}";
    let cases = [
        ("Bash", json!({"command": "git status -s"}), "git status -s"),
        ("Bash", json!({"command": "ls && rm -rf x"}), "rm -rf x"),
        ("Bash", json!({"command": "cat .env"}), ".env"),
        ("WebFetch", json!({"url": "https://example.com/a", "prompt": "x"}), "example.com"),
    ];
    for (tool, input, matched) in cases {
        let test = Test::event("PermissionRequest").without("agent_id").without("agent_type").config(config);
        let answer = test.payload("tool_name", tool).payload("tool_input", input).run();
        assert_eq!(answer.audit()[0]["findings"][0]["matched"], matched, "{tool}");
    }
}

#[test]
fn a_command_with_files_is_recorded_with_those_for_which_it_ran() {
    let config = "postToolUse:\n  commands:\n    Write: [{run: 'true', files: ['src/**']}]\n";
    let test = Test::event("PostToolUse").without("agent_id").without("agent_type").config(config);
    let test = test.payload("tool_name", "Write").payload("tool_response", json!({}));
    let answer = test.payload("tool_input", json!({"file_path": "src/./a.rs"})).run().status(0);
    let record = answer.audit().pop().unwrap();
    let command = &record["commands"][0];
    assert_eq!((&command["matched"], &command["files"]), (&json!("Write"), &json!(["src/a.rs"])));
    assert_eq!(command["more_files"], Value::Null);
}

#[test]
fn of_many_files_the_first_are_recorded_and_how_many_more_there_are() {
    let files: String = (10..35).map(|number| format!("src/{number}.rs ")).collect();
    let config = "postToolUse: {commands: {Bash: [{run: 'true', files: ['src/**']}]}}";
    let test = Test::event("PostToolUse").without("agent_id").without("agent_type").config(config);
    let test = test.payload("tool_name", "Bash").payload("tool_response", json!({}));
    let answer = test.payload("tool_input", json!({"command": format!("touch {files}")})).run().status(0);
    let record = answer.audit().pop().unwrap();
    let command = &record["commands"][0];
    assert_eq!(command["files"].as_array().unwrap().len(), 20);
    assert_eq!((&command["files"][0], &command["more_files"]), (&json!("src/10.rs"), &json!(5)));
    let shown = answer.again().shows(&["why", "--all"]);
    assert!(shown.contains("src/29.rs and 5 more\n"), "{shown}");
}

#[test]
fn a_denial_by_the_permission_mode_says_so() {
    let config = "preToolUse: {toolUsageValidation: [{tool: Write, action: ask}]}";
    let answer = write(config, "a.rs").payload("permission_mode", "dontAsk").run();
    answer.tool("deny");
    let record = answer.audit().pop().unwrap();
    assert_eq!(
        record["reason"],
        "in the permission mode `dontAsk` nobody can be asked, so what a rule asks about is denied"
    );
    assert_eq!(record["findings"][0]["verdict"], "ask");
    // What is denied anyway, is not denied by the mode.
    let config = "preToolUse: {uneditableFiles: [a.rs], toolUsageValidation: [{tool: Write, action: ask}]}";
    let answer = write(config, "a.rs").payload("permission_mode", "dontAsk").run();
    answer.tool("deny");
    assert_eq!(answer.audit().pop().unwrap()["reason"], Value::Null);
}
