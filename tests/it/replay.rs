//! `conclaude replay`: what a config would have decided in sessions of the past, and where that differs from what happened.

use std::path::Path;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::transcripts::{Transcripts, make_old};
use crate::common::workflow::MARKERS;
use crate::common::{Test, conclaude_in, run_in, scratch};

const MAIN: Option<&str> = None;
const CODER: Option<&str> = Some("a1b2c3");

const CONFIG: &str = "\
preToolUse:
  uneditableFiles: ['*.lock', {pattern: '.env*', message: ask me}]
  unreadableFiles: ['secrets/']
  toolUsageValidation:
    - {tool: Bash, commandPattern: 'git push --force*', action: block}
    - {tool: Bash, commandPattern: 'git stash*', action: ask}
    - {tool: Bash, commandPattern: 'git *', action: allow}
permissionRequest: {allow: ['Bash(make *)'], deny: ['Bash(curl*)', 'WebFetch']}
userPromptSubmit:
  contextRules: [{pattern: deploy, prompt: be careful}, {pattern: never said, prompt: x}]
stop: {commands: [{run: touch ran}]}
subagentStop: {commands: {coder: [{run: touch ran}], tester: [{run: touch ran}]}}
";

/// A result with what Claude Code writes beside it.
fn result(id: &str, text: &str, beside: &Value) -> Value {
    let is_error = beside.get("toolDenialKind").is_some();
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
    let mut line = json!({"type": "user", "message": {"role": "user", "content": [block]}});
    line.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
    line
}

fn permitted(source: &str) -> Value {
    json!({"permissionDecision": {"decision": "accept", "source": source}})
}

/// A session in which everything was done that the config is about.
fn session(config: &str) -> Test {
    let test = Test::stop().config(config);
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    let file = |name: &str| json!({"file_path": root.join(name), "content": "x"});
    let bash = |command: &str| json!({ "command": command });
    all.prompt(MAIN, "deploy it")
        .calls(MAIN, "t1", "Write", file("Cargo.lock"))
        .line(MAIN, result("t1", "File created", &permitted("config")))
        .calls(MAIN, "t2", "Bash", bash("cd sub && git push --force"))
        .result(MAIN, "t2", "PreToolUse:Bash hook error: [conclaude PreToolUse]: no", true)
        .calls(MAIN, "t3", "Bash", bash("git stash"))
        .line(MAIN, result("t3", "", &permitted("config")))
        .calls(MAIN, "t4", "Bash", bash("make all"))
        .line(
            MAIN,
            result(
                "t4",
                "The user doesn't want to proceed with this tool use. STOP",
                &json!({"toolDenialKind": "user-rejected"}),
            ),
        )
        .calls(MAIN, "t5", "Bash", bash("curl example.com"))
        .line(MAIN, result("t5", "ok", &permitted("user_temporary")))
        .calls(MAIN, "t6", "Bash", bash("git status"))
        .line(MAIN, result("t6", "ok", &permitted("config")))
        .calls(MAIN, "t7", "Write", file("src/a.rs"))
        .result(MAIN, "t7", "PreToolUse:Write hook error: not today", true)
        .calls(
            MAIN,
            "call-a1b2c3",
            "Agent",
            json!({"subagent_type": "coder", "description": "Write it", "prompt": "p"}),
        )
        .meta("a1b2c3", "coder", "Write it")
        .prompt(CODER, "p")
        .calls(CODER, "c1", "Read", file("secrets/key"))
        .line(CODER, result("c1", "1\tsecret", &permitted("config")))
        .says(CODER, "Done.")
        .line(MAIN, result("call-a1b2c3", "Done.", &permitted("config")))
        .says(MAIN, "All done.");
    test
}

#[test]
fn a_session_is_shown_with_what_would_be_decided_and_what_happened() {
    let test = session(CONFIG);
    assert_snapshot!(test.shows(&["replay"]), @r#"
    exit 0
    ----- stdout
    TIME                 SESSION   AGENT  EVENT              WOULD BE   HAPPENED                WHAT                             RULE
    2026-01-31T12:00:02  session-  main   PreToolUse         denied     ran *                   Write Cargo.lock                 preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2
    2026-01-31T12:00:04  session-  main   PreToolUse         denied     denied by a hook        Bash cd sub && git push --force  preToolUse.toolUsageValidation "Bash git push --force*" in .conclaude.yaml:5
    2026-01-31T12:00:06  session-  main   PreToolUse         asked      ran *                   Bash git stash                   preToolUse.toolUsageValidation "Bash git stash*" in .conclaude.yaml:6
    2026-01-31T12:00:08  session-  main   PermissionRequest  permitted  rejected by the user *  Bash make all                    permissionRequest.allow "Bash(make *)" in .conclaude.yaml:8
    2026-01-31T12:00:10  session-  main   PermissionRequest  denied     ran *                   Bash curl example.com            permissionRequest.deny "Bash(curl*)" in .conclaude.yaml:8
    2026-01-31T12:00:14  session-  main   PreToolUse         allowed    denied by a hook *      Write src/a.rs
    2026-01-31T12:00:18  session-  coder  PreToolUse         denied     ran *                   Read secrets/key                 preToolUse.unreadableFiles "secrets/" in .conclaude.yaml:3
    * something else than would be decided now

    9 tool calls (2 asked about), 1 prompt and 2 stops in 1 session (2 transcripts, 0.0 MB in [DURATION])
    would be: 4 denied, 1 asked, 0 blocked, 1 permitted; 6 differ from what happened
    not decided by rules: 1 event where commands that can block would run

    rules that matched
          1 denied  preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2
          1 denied  preToolUse.unreadableFiles "secrets/" in .conclaude.yaml:3
          1 denied  preToolUse.toolUsageValidation "Bash git push --force*" in .conclaude.yaml:5
           1 asked  preToolUse.toolUsageValidation "Bash git stash*" in .conclaude.yaml:6
       1 permitted  permissionRequest.allow "Bash(make *)" in .conclaude.yaml:8
          1 denied  permissionRequest.deny "Bash(curl*)" in .conclaude.yaml:8
         1 matched  preToolUse.toolUsageValidation "Bash git *" in .conclaude.yaml:7
         1 matched  userPromptSubmit.contextRules "deploy" in .conclaude.yaml:10
         1 matched  stop.commands "*" in .conclaude.yaml:11
         1 matched  subagentStop.commands "coder" in .conclaude.yaml:12

    rules that never matched
      preToolUse.uneditableFiles ".env*" in .conclaude.yaml:2
      permissionRequest.deny "WebFetch" in .conclaude.yaml:8
      userPromptSubmit.contextRules "never said" in .conclaude.yaml:10
      subagentStop.commands "tester" in .conclaude.yaml:12

    commands that would have run (none was; how they would have ended is not known)
            1 time  touch ran, can block: stop.commands "*" in .conclaude.yaml:11
            1 time  touch ran: subagentStop.commands "coder" in .conclaude.yaml:12

    note: links, directories and globs of shell commands are resolved on today's disk
    "#);
    assert!(!test.root().join("ran").exists(), "commands are not run");
    assert!(!test.root().join(".conclaude").exists(), "nothing is written");
}

#[test]
fn json_says_the_same_as_the_table() {
    let test = session(CONFIG);
    let (code, stdout, stderr) = run_in(&test.root(), &["replay", "--json"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let mut all: Value = serde_json::from_str(&stdout).unwrap();
    let events: Vec<String> = all["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let rule = event["rules"][0]["rule"]["key"].as_str().unwrap_or("-");
            format!(
                "{} {} {} {} {rule}",
                event["event"], event["decision"], event["happened"], event["differs"]
            )
        })
        .collect();
    assert_snapshot!(events.join("\n"), @r#"
    "PreToolUse" "denied" "ran" true preToolUse.uneditableFiles
    "PreToolUse" "denied" "denied by a hook" false preToolUse.toolUsageValidation
    "PreToolUse" "asked" "ran" true preToolUse.toolUsageValidation
    "PermissionRequest" "permitted" "rejected by the user" true permissionRequest.allow
    "PermissionRequest" "denied" "ran" true permissionRequest.deny
    "PreToolUse" "allowed" "denied by a hook" true -
    "PreToolUse" "denied" "ran" true preToolUse.unreadableFiles
    "#);
    assert_snapshot!(serde_json::to_string_pretty(&all["events"][0]).unwrap(), @r#"
    {
      "time": "[TIME]",
      "session": "session-1",
      "agent": "main",
      "event": "PreToolUse",
      "tool": "Write",
      "what": "Cargo.lock",
      "decision": "denied",
      "happened": "ran",
      "differs": true,
      "rules": [
        {
          "rule": {
            "key": "preToolUse.uneditableFiles",
            "pattern": "*.lock",
            "file": ".conclaude.yaml",
            "line": 2
          },
          "matched": "Cargo.lock",
          "decision": "denied"
        }
      ]
    }
    "#);
    all["read"]["bytes"].take();
    all["read"]["seconds"].take();
    for long in ["events", "rules", "notes", "commands"] {
        all[long].take();
    }
    assert_snapshot!(serde_json::to_string_pretty(&all).unwrap(), @r#"
    {
      "sessions": 1,
      "transcripts": 2,
      "tool_calls": 9,
      "permission_requests": 2,
      "prompts": 1,
      "stops": 2,
      "decisions": {
        "denied": 4,
        "asked": 1,
        "blocked": 0,
        "permitted": 1,
        "depends": 1,
        "unknown": 0,
        "allowed": 7
      },
      "differs": 6,
      "events": null,
      "events_left_out": 0,
      "rules": null,
      "never_matched": [
        {
          "key": "preToolUse.uneditableFiles",
          "pattern": ".env*",
          "file": ".conclaude.yaml",
          "line": 2
        },
        {
          "key": "permissionRequest.deny",
          "pattern": "WebFetch",
          "file": ".conclaude.yaml",
          "line": 8
        },
        {
          "key": "userPromptSubmit.contextRules",
          "pattern": "never said",
          "file": ".conclaude.yaml",
          "line": 10
        },
        {
          "key": "subagentStop.commands",
          "pattern": "tester",
          "file": ".conclaude.yaml",
          "line": 12
        }
      ],
      "commands": null,
      "not_replayed": {
        "gate_1_step_files": 0,
        "gate_2_writes": 0,
        "gate_3_stops": 0,
        "permission_requests": 0,
        "sidechain_lines": 0,
        "agents_without_type": 0,
        "old_transcripts": 0,
        "sections": []
      },
      "not_judged": 0,
      "not_readable": 0,
      "read": {
        "bytes": null,
        "lines": 22,
        "not_read": [],
        "versions": {
          "2.1.325": 22
        },
        "seconds": null
      },
      "problems": [],
      "notes": null
    }
    "#);
}

/// The same payload through the hook and through replay: each call with the config in which it is decided.
#[test]
fn replay_decides_as_the_hook_does() {
    let config =
        format!("{CONFIG}stop: {{infinite: true}}\n").replace("stop: {commands: [{run: touch ran}]}\n", "");
    let test = Test::stop().config(&config).file("secrets/key", "x").file("src/a.rs", "x");
    let root = test.root();
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let file = |tool: &'static str, name: &str| (tool, json!({"file_path": root.join(name), "content": "x"}));
    let calls = [
        (None, "default", file("Write", "Cargo.lock")),
        (CODER, "default", file("Edit", "a/../.env.local")),
        (CODER, "default", file("Read", "secrets/key")),
        (None, "default", file("Write", "src/a.rs")),
        (None, "default", bash("echo x > sub/Cargo.lock")),
        (None, "default", bash("cat src/a.rs | tee .env")),
        (None, "default", bash("git push --force && true")),
        (None, "default", bash("git stash")),
        (None, "bypassPermissions", bash("git stash")),
        (None, "default", bash("git status")),
        (None, "default", bash("eval \"$x\" > $y")),
        (CODER, "default", file("Write", ".conclaude.yaml")),
        (None, "default", file("Write", ".conclaude.yaml")),
        (
            None,
            "default",
            ("Agent", json!({"subagent_type": "coder", "prompt": "<!-- DES-VALIDATION: maybe -->"})),
        ),
    ];
    let mut transcripts = Transcripts::of(&root, "session-1");
    transcripts.meta("a1b2c3", "coder", "d");
    let (mut test, mut expected) = (test, Vec::new());
    for (number, (agent, mode, (tool, input))) in calls.into_iter().enumerate() {
        let id = format!("t{number}");
        let line = json!({"type": "user", "isMeta": true, "permissionMode": mode, "message": {"role": "user", "content": "x"}});
        transcripts.line(agent, line).calls(agent, &id, tool, input.clone());
        test = test.then("PreToolUse").payload("permission_mode", mode);
        test = test.payload("tool_name", tool).payload("tool_input", input).payload("tool_use_id", id);
        test = match agent {
            Some(id) => test.payload("agent_id", id).payload("agent_type", "coder"),
            None => test.without("agent_id").without("agent_type"),
        };
        let outcome = test.run();
        expected.push(decision(&outcome.stdout));
        test = outcome.again();
    }
    let (_, stdout, _) = run_in(&root, &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    let events = all["events"].as_array().unwrap().iter();
    let decided: Vec<&str> = events.map(|event| event["decision"].as_str().unwrap()).collect();
    let refused: Vec<&str> = expected.iter().map(String::as_str).filter(|word| *word != "allowed").collect();
    assert_eq!(decided, refused, "{expected:?}");
    assert_snapshot!(expected.join(" "), @"denied denied denied allowed denied denied denied asked denied allowed asked denied asked denied");
}

/// What a hook decided about a tool, in the words of replay.
fn decision(stdout: &str) -> String {
    let answer: Value = serde_json::from_str(stdout).unwrap_or_default();
    match answer["hookSpecificOutput"]["permissionDecision"].as_str() {
        Some("deny") => "denied".into(),
        Some("ask") => "asked".into(),
        None => "allowed".into(),
        Some(other) => other.into(),
    }
}

#[test]
fn permission_requests_are_answered_as_in_the_hook() {
    let test = Test::stop().config(CONFIG);
    let mut transcripts = Transcripts::of(&test.root(), "session-1");
    let calls = [
        ("Bash", json!({"command": "make all"})),
        ("Bash", json!({"command": "make all > out"})),
        ("Bash", json!({"command": "true; curl example.com"})),
        ("WebFetch", json!({"url": "https://example.com"})),
        ("Write", json!({"file_path": test.root().join("Cargo.lock"), "content": "x"})),
    ];
    let (mut test, mut expected) = (test.without("agent_id").without("agent_type"), Vec::new());
    for (number, (tool, input)) in calls.into_iter().enumerate() {
        let id = format!("t{number}");
        transcripts.calls(MAIN, &id, tool, input.clone());
        transcripts.line(MAIN, result(&id, "no", &json!({"toolDenialKind": "user-rejected"})));
        test = test.then("PermissionRequest").payload("tool_name", tool).payload("tool_input", input);
        let outcome = test.run();
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
        expected.push(match answer["hookSpecificOutput"]["decision"]["behavior"].as_str() {
            Some("allow") => "permitted",
            Some("deny") => "denied",
            _ => "left to the user",
        });
        test = outcome.again();
    }
    assert_eq!(expected, ["permitted", "left to the user", "denied", "denied", "denied"]);
    // What a guard denies is not asked about, so the last one does not come so far.
    let (_, stdout, _) = run_in(&test.root(), &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    let events = all["events"].as_array().unwrap().iter();
    let decided: Vec<String> = events
        .map(|event| format!("{} {}", event["event"].as_str().unwrap(), event["decision"].as_str().unwrap()))
        .collect();
    assert_eq!(
        decided,
        [
            "PermissionRequest permitted",
            "PermissionRequest denied",
            "PermissionRequest denied",
            "PreToolUse denied"
        ]
    );
    assert_eq!(all["permission_requests"], json!(4));
}

#[test]
fn a_hook_that_denied_a_permission_did_not_deny_the_call_before() {
    let test = Test::stop().config("{}");
    let mut transcripts = Transcripts::of(&test.root(), "session-1");
    let rejected = json!({"toolDenialKind": "permission-rule", "permissionDecision": {"source": "hook", "reasonCode": "hook:PermissionRequest"}});
    transcripts
        .calls(MAIN, "t1", "Bash", json!({"command": "curl example.com"}))
        .line(MAIN, result("t1", "denied", &rejected));
    let events = |test: &Test| {
        let (_, stdout, _) = run_in(&test.root(), &["replay", "--json"]);
        let all: Value = serde_json::from_str(&stdout).unwrap();
        let shown = |event: &Value| {
            let text = |field: &str| event[field].as_str().unwrap().to_owned();
            format!("{} {}, {}, {}", text("event"), text("decision"), text("happened"), event["differs"])
        };
        all["events"].as_array().unwrap().iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(events(&test), ["PermissionRequest allowed, denied by a hook, true"]);
    let test = test.config("permissionRequest: {deny: ['Bash(curl*)']}");
    assert_eq!(events(&test), ["PermissionRequest denied, denied by a hook, false"]);
}

#[test]
fn stops_and_prompts_are_decided_as_in_the_hook() {
    let config = "stop: {infinite: true, infiniteMessage: go on}\nmaxBlocks: 2\nuserPromptSubmit: {slashCommands: {commands: {ship: [{run: 'true'}]}}}";
    let test = Test::event("Stop").config(config).without("agent_id").without("agent_type");
    let test = test.payload("stop_hook_active", false).run().status(2).again().run().status(2).again();
    let test = test.run().status(0).again();
    let mut all = Transcripts::of(&test.root(), "session-1");
    let feedback = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "Stop hook feedback:\ngo on"}});
    let slash = "<command-message>ship</command-message>\n<command-name>/ship</command-name>\n<command-args>now</command-args>";
    all.prompt(MAIN, "one")
        .says(MAIN, "First.")
        .line(MAIN, feedback.clone())
        .says(MAIN, "Second.")
        .says(MAIN, "The same turn: nothing says that it stopped before this.")
        .line(MAIN, feedback.clone())
        .says(MAIN, "Third: it was blocked as often as it may be.")
        .prompt(MAIN, slash)
        .says(MAIN, "Shipped.")
        .prompt(MAIN, "<local-command-stdout>of a command of Claude Code</local-command-stdout>")
        .prompt(MAIN, "[Request interrupted by user]");
    assert_snapshot!(test.shows(&["replay"]), @r#"
    exit 0
    ----- stdout
    TIME                 SESSION   AGENT  EVENT  WOULD BE  HAPPENED           WHAT  RULE
    2026-01-31T12:00:02  session-  main   Stop   blocked   blocked by a hook        stop.infinite in .conclaude.yaml:1
    2026-01-31T12:00:05  session-  main   Stop   blocked   blocked by a hook        stop.infinite in .conclaude.yaml:1

    0 tool calls (0 asked about), 2 prompts and 3 stops in 1 session (1 transcript, 0.0 MB in [DURATION])
    would be: 0 denied, 0 asked, 2 blocked, 0 permitted; 0 differ from what happened

    rules that matched
         2 blocked  stop.infinite in .conclaude.yaml:1
         1 matched  userPromptSubmit.slashCommands.commands "ship" in .conclaude.yaml:3

    commands that would have run (none was; how they would have ended is not known)
            1 time  true: userPromptSubmit.slashCommands.commands "ship" in .conclaude.yaml:3
    "#);
}

#[test]
fn a_stop_waits_for_agents_in_the_background() {
    let test = Test::stop().config("stop: {commands: [{run: 'true'}]}");
    let mut all = Transcripts::of(&test.root(), "session-1");
    let call = json!({"subagent_type": "coder", "description": "d", "prompt": "p"});
    let launched = "Async agent launched successfully. (internal)\nagentId: a1b2c3 (do not show)";
    all.prompt(MAIN, "one")
        .calls(MAIN, "t1", "Agent", call)
        .result(MAIN, "t1", launched, false)
        .says(MAIN, "It runs.")
        .prompt(MAIN, "<task-notification>\n<task-id>a1b2c3</task-id>\n</task-notification>")
        .says(MAIN, "It is done.");
    let (_, stdout, _) = run_in(&test.root(), &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&all["stops"], &all["commands"][0]["times"]), (&json!(2), &json!(1)), "{stdout}");
}

#[test]
fn commands_limited_to_files_run_for_what_was_written_since_the_prompt() {
    let test = Test::stop().config("stop: {commands: [{run: lint, files: ['src/**']}]}");
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    let file = |name: &str| json!({"file_path": root.join(name), "content": "x"});
    all.prompt(MAIN, "one")
        .calls(MAIN, "t1", "Write", file("src/gone-since.rs"))
        .result(MAIN, "t1", "ok", false)
        .says(MAIN, "Linted.")
        .prompt(MAIN, "two")
        .calls(MAIN, "t2", "Write", file("src/b.rs"))
        .result(MAIN, "t2", "failed", true)
        .says(MAIN, "Nothing was written.")
        .prompt(MAIN, "three")
        .calls(MAIN, "t3", "Bash", json!({"command": "echo x > src/c.rs"}))
        .result(MAIN, "t3", "ok", false)
        .says(MAIN, "Linted.");
    let (_, stdout, _) = run_in(&root, &["replay", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&all["stops"], &all["commands"][0]["times"]), (&json!(3), &json!(2)), "{stdout}");
}

#[test]
fn gates_are_replayed_as_far_as_the_prompt_says_and_the_rest_is_counted() {
    let test = Test::stop().config("des: {requiredSections: [GOAL]}");
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    let call = |prompt: &str| json!({"subagent_type": "coder", "description": "Do it", "prompt": prompt});
    let feedback = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "Stop hook feedback:\nCOMMIT is missing"}});
    let sound = format!("{MARKERS}\n## GOAL\n");
    all.prompt(MAIN, "go")
        .calls(MAIN, "t1", "Agent", call(MARKERS))
        .result(MAIN, "t1", "ok", false)
        .calls(MAIN, "call-a1b2c3", "Agent", call(&sound))
        .meta("a1b2c3", "coder", "Do it")
        .prompt(CODER, &sound)
        .calls(CODER, "c1", "Write", json!({"file_path": root.join("src/a.rs"), "content": "x"}))
        .result(CODER, "c1", "ok", false)
        .calls(CODER, "c2", "Bash", json!({"command": "ls"}))
        .result(CODER, "c2", "ok", false)
        .says(CODER, "Done.")
        .line(CODER, feedback)
        .says(CODER, "Done now.")
        .result(MAIN, "call-a1b2c3", "ok", false);
    assert_snapshot!(test.shows(&["replay"]), @"
    exit 0
    ----- stdout
    TIME                 SESSION   AGENT  EVENT         WOULD BE           HAPPENED           WHAT                RULE
    2026-01-31T12:00:02  session-  main   PreToolUse    denied             ran *              Agent coder: Do it  des.requiredSections in .conclaude.yaml:1
    2026-01-31T12:00:10  session-  coder  SubagentStop  not known: a gate  blocked by a hook
    * something else than would be decided now

    4 tool calls (0 asked about), 1 prompt and 2 stops in 1 session (2 transcripts, 0.0 MB in [DURATION])
    would be: 1 denied, 0 asked, 0 blocked, 0 permitted; 1 differs from what happened
    not decided by rules: 4 events of agents with a step, whose gates cannot be replayed

    rules that matched
          1 denied  des.requiredSections in .conclaude.yaml:1

    note: Gate 1 was replayed for the prompt alone for 2 calls of agents with a step: its step file of that time is not known
    note: Gate 2 was not replayed for 1 writing call of agents with a step: the scope of its step at that time is not known
    note: Gate 3 and the judge were not replayed for 2 stops of agents with a step: the step and the files of that time are not known
    ");
}

#[test]
fn what_claude_code_really_writes_is_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures");
    let config = "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: '*push*', action: block}, {tool: Bash, commandPattern: 'rm *', action: ask}]}\n\
        permissionRequest: {allow: [Write], deny: ['Bash(exit*)']}";
    let test = Test::stop().config(config);
    let file = folder.join("transcript-permissions.jsonl");
    let shown = test.shows(&["replay", file.to_str().unwrap()]);
    assert_snapshot!(shown, @r#"
    exit 0
    ----- stdout
    TIME                 SESSION   AGENT  EVENT              WOULD BE   HAPPENED                WHAT                               RULE
    2026-11-17T02:43:26  282518e9  main   PreToolUse         denied     denied by a hook        Bash git push --force origin main  preToolUse.toolUsageValidation "Bash *push*" in .conclaude.yaml:1
    2026-11-17T02:43:26  282518e9  main   PreToolUse         asked      not permitted           Bash rm -rf build                  preToolUse.toolUsageValidation "Bash rm *" in .conclaude.yaml:1
    2026-11-17T02:43:27  282518e9  main   PermissionRequest  denied     not permitted           Bash exit 3                        permissionRequest.deny "Bash(exit*)" in .conclaude.yaml:2
    2026-11-17T02:43:27  282518e9  main   Stop               allowed    blocked by a hook *
    2026-11-17T02:43:30  282518e9  main   UserPromptSubmit   allowed    blocked by a hook *     deploy now
    2026-11-17T02:46:12  282518e9  main   PermissionRequest  permitted  rejected by the user *  Write greeting.txt                 permissionRequest.allow "Write" in .conclaude.yaml:2
    2026-11-17T02:46:19  282518e9  main   PermissionRequest  permitted  rejected by the user *  Write other.txt                    permissionRequest.allow "Write" in .conclaude.yaml:2
    2026-11-17T04:00:06  282518e9  main   PermissionRequest  denied     denied by a hook        Bash exit 3                        permissionRequest.deny "Bash(exit*)" in .conclaude.yaml:2
    * something else than would be decided now

    13 tool calls (5 asked about), 10 prompts and 9 stops in 1 session (1 transcript, 0.1 MB in [DURATION])
    would be: 3 denied, 1 asked, 0 blocked, 3 permitted; 4 differ from what happened

    rules that matched
       3 permitted  permissionRequest.allow "Write" in .conclaude.yaml:2
          2 denied  permissionRequest.deny "Bash(exit*)" in .conclaude.yaml:2
          1 denied  preToolUse.toolUsageValidation "Bash *push*" in .conclaude.yaml:1
           1 asked  preToolUse.toolUsageValidation "Bash rm *" in .conclaude.yaml:1

    note: links, directories and globs of shell commands are resolved on today's disk
    "#);
}

#[test]
fn another_config_and_a_time_can_be_named() {
    let test =
        session("stop: {infinite: true}").file("strict.yaml", "preToolUse: {uneditableFiles: ['src/']}");
    let shown =
        test.shows(&["replay", "session", "--config", "strict.yaml", "--since", "2026-01-31T12:00:14Z"]);
    assert_snapshot!(shown, @r#"
    exit 0
    ----- stdout
    TIME                 SESSION   AGENT  EVENT       WOULD BE  HAPPENED          WHAT            RULE
    2026-01-31T12:00:14  session-  main   PreToolUse  denied    denied by a hook  Write src/a.rs  preToolUse.uneditableFiles "src/" in strict.yaml:1

    3 tool calls (0 asked about), 0 prompts and 2 stops in 1 session (2 transcripts, 0.0 MB in [DURATION])
    would be: 1 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    rules that matched
          1 denied  preToolUse.uneditableFiles "src/" in strict.yaml:1

    note: links, directories and globs of shell commands are resolved on today's disk
    "#);
    let path = Transcripts::of(&test.root(), "session-1").path(CODER);
    make_old(&path);
    let (_, stdout, _) = run_in(&test.root(), &["replay", "--since", "1h", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    let counts = (&all["tool_calls"], &all["stops"], &all["not_replayed"]["old_transcripts"]);
    assert_eq!(counts, (&json!(0), &json!(0), &json!(1)), "{stdout}");
}

#[test]
fn the_exit_code_says_whether_anything_is_blocked_if_that_is_asked_for() {
    let test = session(CONFIG);
    let code = |arguments: &[&str]| run_in(&test.root(), arguments).0;
    assert_eq!(code(&["replay", "--fail-on-block"]), Some(1));
    let test = test.config(
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'git stash', action: ask}]}",
    );
    assert_eq!(run_in(&test.root(), &["replay", "--fail-on-block"]).0, Some(0), "a question is no block");
}

#[test]
fn what_cannot_be_replayed_says_why() {
    let test = Test::stop().config(CONFIG).file("empty/x", "");
    for arguments in [
        &["replay"][..],
        &["replay", "no-such-session"],
        &["replay", "empty"],
        &["replay", "--since", "yesterday"],
        &["replay", "--config", "missing.yaml"],
    ] {
        let (code, stdout, _) = run_in(&test.root(), arguments);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{arguments:?}");
    }
    assert_snapshot!(test.shows(&["replay"]), @"
    exit 1
    ----- stderr
    conclaude: there is no transcript of [ROOT] in [ROOT]/.home/.claude/projects; name a session, a file or a folder
    ");
    assert_snapshot!(test.shows(&["replay", "no-such-session"]), @"
    exit 1
    ----- stderr
    conclaude: no-such-session is neither a file, nor a folder with transcripts, nor the start of a session's id
    ");
    let test = session("preToolUse: {uneditableFile: ['x']}");
    assert_snapshot!(test.shows(&["replay"]), @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `uneditableFile` in `preToolUse`
     --> [ROOT]/.conclaude.yaml:1:14
      |
    1 | preToolUse: {uneditableFile: ['x']}
      |              ^^^^^^^^^^^^^^ not a key of this section
      |
      = help: did you mean `uneditableFiles`?
    ");
}

#[test]
fn broken_lines_of_transcripts_are_counted_and_reported() {
    let test = Test::stop().config(CONFIG);
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(MAIN, "go")
        .raw(MAIN, "not json\n{\"type\":\"from-the-future\",\"x\":1}\n[1]\n\n")
        .line(MAIN, json!({"type": "assistant", "message": {"id": 5, "content": [{"type": "tool_use", "id": "t0", "name": "Bash", "input": "no object"}]}}))
        .line(MAIN, json!({"type": "user", "isSidechain": true, "message": {"content": "of an agent of an older version"}}))
        .raw(MAIN, &format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "x".repeat(33 << 20)))
        .calls(MAIN, "t1", "Write", json!({"file_path": root.join("Cargo.lock"), "content": "x"}))
        .raw(MAIN, "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_res");
    assert_snapshot!(test.shows(&["replay"]), @r#"
    exit 0
    ----- stdout
    TIME                 SESSION   AGENT  EVENT       WOULD BE  HAPPENED   WHAT              RULE
    2026-01-31T12:00:04  session-  main   PreToolUse  denied    no result  Write Cargo.lock  preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2

    2 tool calls (0 asked about), 1 prompt and 0 stops in 1 session (1 transcript, 34.6 MB in [DURATION])
    would be: 1 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    rules that matched
          1 denied  preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2

    rules that never matched
      preToolUse.uneditableFiles ".env*" in .conclaude.yaml:2
      preToolUse.unreadableFiles "secrets/" in .conclaude.yaml:3
      preToolUse.toolUsageValidation "Bash git push --force*" in .conclaude.yaml:5
      preToolUse.toolUsageValidation "Bash git stash*" in .conclaude.yaml:6
      preToolUse.toolUsageValidation "Bash git *" in .conclaude.yaml:7
      permissionRequest.deny "Bash(curl*)" in .conclaude.yaml:8
      permissionRequest.deny "WebFetch" in .conclaude.yaml:8
      permissionRequest.allow "Bash(make *)" in .conclaude.yaml:8
      userPromptSubmit.contextRules "deploy" in .conclaude.yaml:10
      userPromptSubmit.contextRules "never said" in .conclaude.yaml:10
      stop.commands "*" in .conclaude.yaml:11
      subagentStop.commands "coder" in .conclaude.yaml:12
      subagentStop.commands "tester" in .conclaude.yaml:12

    warning: an event could not be judged: the input of a call of Bash is no object
    warning: 1 event could not be judged
    warning: 1 line half-written at the end of a file, not read (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:10)
    warning: 1 line in a form that this version does not know (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:4)
    warning: 1 line not JSON (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:2)
    warning: 1 line of a kind that this version does not know: from-the-future (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:3)
    warning: 1 line over 32 MB, skipped (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:8)
    note: links, directories and globs of shell commands are resolved on today's disk
    note: 1 line of subagents in a transcript of the main thread not replayed: older versions of Claude Code wrote them there
    "#);
}

/// Lines that another version may write, and no finding is made of them.
#[test]
fn lines_that_are_not_understood_are_counted_and_never_become_a_stop_or_a_call() {
    let test = Test::stop().config("stop: {infinite: true}\npreToolUse: {uneditableFiles: ['*.lock']}");
    let root = test.root();
    let assistant = |id: &str, reason: &str, content: Value| json!({"type": "assistant", "message": {"id": id, "stop_reason": reason, "content": content}});
    let lock = json!({"file_path": root.join("a.lock"), "content": "x"});
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(MAIN, "go")
        .line(MAIN, json!({"type": "user", "message": null}))
        .line(MAIN, json!({"type": "user", "message": {"role": "user", "content": 5}}))
        .line(MAIN, json!({"type": "user"}))
        .line(MAIN, assistant("m1", "end_turn", json!({"type": "text", "text": "x"})))
        .line(MAIN, assistant("m2", "end_turn", json!([{"type": "new_block"}])))
        .line(
            MAIN,
            assistant("m3", "end_turn", json!([{"type": "tool_use", "id": 7, "name": "Write", "input": lock}])),
        )
        .line(
            MAIN,
            assistant("m4", "end_turn", json!([{"type": "tool_use", "id": "t", "name": null, "input": {}}])),
        )
        .line(MAIN, json!({"type": "assistant", "message": {"id": "m5", "stop_reason": null, "content": [{"type": "text", "text": "I write it."}]}}))
        .raw(MAIN, "{\"type\":\"assistant\",\"message\":{\"id\":\"m5\",\n")
        .line(MAIN, json!({"type": "system", "subtype": "from_the_future"}))
        .raw(MAIN, "{\"attachment\":{\"type\":\"from_the_future\"},\"type\":\"attachment\"}\n");
    assert_snapshot!(test.shows(&["replay"]), @r#"
    exit 0
    ----- stdout
    0 tool calls (0 asked about), 1 prompt and 0 stops in 1 session (1 transcript, 0.0 MB in [DURATION])
    would be: 0 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    rules that never matched
      preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2
      stop.infinite in .conclaude.yaml:1

    warning: 1 line not JSON (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:10)
    warning: 1 line of kind `assistant` whose content is neither text nor blocks (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:5)
    warning: 1 line of kind `system` with a subtype that this version does not know: from_the_future (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:11)
    warning: 1 line of kind `user` whose content is neither text nor blocks (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:3)
    warning: 2 lines of kind `user` without a message (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:2)
    warning: 2 lines with a `tool_use` without an id, a name and an input (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:7)
    warning: 1 line with a block that this version does not know: new_block (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:6)
    warning: 1 line with an attachment that this version does not know: from_the_future (first: [ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:12)
    "#);
    let (_, stdout, _) = run_in(&root, &["replay", "--json"]);
    let read: Value = serde_json::from_str(&stdout).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&read["read"]["not_read"][0]).unwrap(), @r#"
    {
      "what": "not JSON",
      "lines": 1,
      "first": "[ROOT]/.home/.claude/projects/[PROJECT]/session-1.jsonl:10"
    }
    "#);
}

#[test]
fn a_file_that_is_no_transcript_is_no_session() {
    let test = session("{}").file("x.txt", "some\ntext\n").file("empty.jsonl", "");
    let copy = test.root().join("copy.jsonl");
    let line = json!({"type": "user", "sessionId": "5e551017-1", "cwd": test.root(), "timestamp": "2026-01-31T12:00:00Z", "message": {"content": "go"}});
    std::fs::write(&copy, format!("{line}\n")).unwrap();
    let parts = |arguments: &[&str]| {
        let shown = test.shows(arguments);
        let is_kept = |line: &&str| ["exit", "warning", "0 tool"].iter().any(|start| line.starts_with(start));
        shown.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(parts(&["replay", "x.txt", "empty.jsonl", "copy.jsonl"]), @"
    exit 1
    0 tool calls (0 asked about), 1 prompt and 0 stops in 1 session (3 transcripts, 0.0 MB in [DURATION])
    warning: empty.jsonl is empty
    warning: x.txt is no transcript: none of its lines can be read
    warning: 2 lines not JSON (first: x.txt:1)
    ");
}

#[test]
fn a_file_is_shown_by_the_id_of_its_session() {
    let test = Test::stop().config("stop: {infinite: true}");
    let line = |text: Value| {
        let line =
            json!({"sessionId": "5e551017-1", "cwd": test.root(), "timestamp": "2026-01-31T12:00:00Z"});
        let mut line = line.as_object().unwrap().clone();
        line.extend(text.as_object().unwrap().clone());
        format!("{}\n", Value::Object(line))
    };
    let text = [
        line(json!({"type": "user", "message": {"content": "go"}})),
        line(
            json!({"type": "assistant", "message": {"id": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "x"}]}}),
        ),
    ];
    std::fs::write(test.root().join("copy.jsonl"), text.concat()).unwrap();
    let (_, stdout, _) = run_in(&test.root(), &["replay", "copy.jsonl", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(all["events"][0]["session"], "5e551017-1", "{stdout}");
}

#[cfg(unix)]
#[test]
fn a_transcript_that_cannot_be_read_is_an_error_beside_the_others() {
    let test = session("{}");
    let path = test.root().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let shown = test.shows(&["replay", "session-1", "pipe.jsonl"]);
    let parts: Vec<&str> = shown
        .lines()
        .filter(|line| ["exit", "warning", "9 tool"].iter().any(|start| line.starts_with(start)))
        .collect();
    assert_snapshot!(parts.join("\n"), @"
    exit 1
    9 tool calls (2 asked about), 1 prompt and 2 stops in 1 session (3 transcripts, 0.0 MB in [DURATION])
    warning: pipe.jsonl cannot be read: it is not a regular file
    ");
}

#[test]
fn an_untrusted_config_is_replayed_since_nothing_of_it_runs() {
    let outside = scratch();
    let path = outside.path().canonicalize().unwrap().join("team.yaml");
    std::fs::write(&path, CONFIG).unwrap();
    let test = session(&format!("extends: [{:?}]\n", path.display().to_string()));
    let (code, stdout, _) = run_in(&test.root(), &["replay"]);
    assert_eq!(code, Some(0));
    let parts: Vec<&str> = stdout
        .lines()
        .filter(|line| line.contains("hooks do not use") || line.contains("would be:"))
        .collect();
    assert_snapshot!(parts.join("\n"), @"
    would be: 4 denied, 1 asked, 0 blocked, 1 permitted; 6 differ from what happened
    note: hooks do not use all of this config, and nothing of it was run here: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem
    ");
    assert!(!test.root().join("ran").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let test = session(CONFIG);
    let mut command = conclaude_in(&test.root());
    command.arg("replay").env("HOME", test.root().join(".home"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn several_processes_see_what_one_sees() {
    let test = session(CONFIG).file("broken.jsonl", "{\n{\"type\":\"user\"\nhalf");
    let replayed = |jobs: &str, more: &[&str]| {
        let (code, out, err) = run_in(&test.root(), &[&["replay", "--jobs", jobs], more].concat());
        let steady = |line: &&str| !line.contains(" MB in ") && !line.contains("\"seconds\"");
        (code, out.lines().filter(steady).collect::<Vec<_>>().join("\n"), err)
    };
    let folder = Transcripts::of(&test.root(), "session-1").path(None).parent().unwrap().to_owned();
    let sources: &[&str] = &[folder.to_str().unwrap(), "broken.jsonl"];
    for more in [sources, &[sources, &["--json"]].concat(), &[sources, &["--since", "1d", "--json"]].concat()]
    {
        let one = replayed("1", more);
        assert!(one.1.lines().count() > 10, "{one:?}");
        assert_eq!(replayed("3", more), one, "{more:?}");
    }
}

#[test]
fn a_worker_without_a_part_says_so() {
    let test = session(CONFIG);
    let mut command = conclaude_in(&test.root());
    command.args(["replay", "--worker"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), b"".as_slice()));
    assert_snapshot!(err, @"conclaude: stdin is no list of transcripts: `--worker` is for conclaude itself");
}

#[test]
fn a_session_that_is_named_twice_is_one() {
    let test = session(CONFIG);
    let file = Transcripts::of(&test.root(), "session-1").path(None);
    let folder = file.parent().unwrap();
    let sessions = |sources: &[&str]| {
        let (_, out, _) = run_in(&test.root(), &[&["replay", "--json"], sources].concat());
        serde_json::from_str::<Value>(&out).unwrap()["sessions"].clone()
    };
    let (file, folder) = (file.to_str().unwrap(), folder.to_str().unwrap());
    assert_eq!(sessions(&[file, folder, file]), sessions(&[folder]));
}
