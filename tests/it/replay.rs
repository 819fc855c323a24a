//! `conclaude replay`: what a config would have decided in sessions of the past, and where that differs from what happened.

mod broken_transcripts;
mod hook_agreement;
mod threads;

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
    TIMES  LAST (UTC)           SESSION   AGENT  EVENT              WOULD BE   HAPPENED                WHAT                             RULE
    1      2026-01-31T12:00:18  session-  coder  PreToolUse         denied     ran *                   Read secrets/key                 preToolUse.unreadableFiles "secrets/" in .conclaude.yaml:3
    1      2026-01-31T12:00:14  session-  main   PreToolUse         allowed    denied by a hook *      Write src/a.rs
    1      2026-01-31T12:00:10  session-  main   PermissionRequest  denied     ran *                   Bash curl example.com            permissionRequest.deny "Bash(curl*)" in .conclaude.yaml:8
    1      2026-01-31T12:00:08  session-  main   PermissionRequest  permitted  rejected by the user *  Bash make all                    permissionRequest.allow "Bash(make *)" in .conclaude.yaml:8
    1      2026-01-31T12:00:06  session-  main   PreToolUse         asked      ran *                   Bash git stash                   preToolUse.toolUsageValidation "Bash git stash*" in .conclaude.yaml:6
    1      2026-01-31T12:00:04  session-  main   PreToolUse         denied     denied by a hook        Bash cd sub && git push --force  preToolUse.toolUsageValidation "Bash git push --force*" in .conclaude.yaml:5
    1      2026-01-31T12:00:02  session-  main   PreToolUse         denied     ran *                   Write Cargo.lock                 preToolUse.uneditableFiles "*.lock" in .conclaude.yaml:2
    * differs from what would be decided now

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

    commands that would have run (none was; how they would have ended is not known)
            1 time  touch ran, can block: stop.commands "*" in .conclaude.yaml:11
            1 time  touch ran: subagentStop.commands "coder" in .conclaude.yaml:12

    note: looked up on today's disk: links, directories and globs of shell commands
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
        "empty_transcripts": 0,
        "links": 0,
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
    TIMES  LAST (UTC)           SESSION   AGENT  EVENT              WOULD BE   HAPPENED                WHAT                               RULE
    1      2026-11-17T04:00:06  282518e9  main   PermissionRequest  denied     denied by a hook        Bash exit 3                        permissionRequest.deny "Bash(exit*)" in .conclaude.yaml:2
    1      2026-11-17T02:46:19  282518e9  main   PermissionRequest  permitted  rejected by the user *  Write other.txt                    permissionRequest.allow "Write" in .conclaude.yaml:2
    1      2026-11-17T02:46:12  282518e9  main   PermissionRequest  permitted  rejected by the user *  Write greeting.txt                 permissionRequest.allow "Write" in .conclaude.yaml:2
    1      2026-11-17T02:43:30  282518e9  main   UserPromptSubmit   allowed    blocked by a hook *     deploy now
    1      2026-11-17T02:43:27  282518e9  main   Stop               allowed    blocked by a hook *
    1      2026-11-17T02:43:27  282518e9  main   PermissionRequest  denied     not permitted           Bash exit 3                        permissionRequest.deny "Bash(exit*)" in .conclaude.yaml:2
    1      2026-11-17T02:43:26  282518e9  main   PreToolUse         asked      not permitted           Bash rm -rf build                  preToolUse.toolUsageValidation "Bash rm *" in .conclaude.yaml:1
    1      2026-11-17T02:43:26  282518e9  main   PreToolUse         denied     denied by a hook        Bash git push --force origin main  preToolUse.toolUsageValidation "Bash *push*" in .conclaude.yaml:1
    * differs from what would be decided now

    13 tool calls (5 asked about), 10 prompts and 9 stops in 1 session (1 transcript, 0.1 MB in [DURATION])
    would be: 3 denied, 1 asked, 0 blocked, 3 permitted; 4 differ from what happened

    rules that matched
       3 permitted  permissionRequest.allow "Write" in .conclaude.yaml:2
          2 denied  permissionRequest.deny "Bash(exit*)" in .conclaude.yaml:2
          1 denied  preToolUse.toolUsageValidation "Bash *push*" in .conclaude.yaml:1
           1 asked  preToolUse.toolUsageValidation "Bash rm *" in .conclaude.yaml:1

    note: 1 session started in a folder that is gone (/home/user/project): its config and files of that time are not known
    note: looked up on today's disk: links, directories and globs of shell commands
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
    TIMES  LAST (UTC)           SESSION   AGENT  EVENT       WOULD BE  HAPPENED          WHAT            RULE
    1      2026-01-31T12:00:14  session-  main   PreToolUse  denied    denied by a hook  Write src/a.rs  preToolUse.uneditableFiles "src/" in strict.yaml:1

    3 tool calls (0 asked about), 0 prompts and 2 stops in 1 session (2 transcripts, 0.0 MB in [DURATION])
    would be: 1 denied, 0 asked, 0 blocked, 0 permitted; 0 differ from what happened

    rules that matched
          1 denied  preToolUse.uneditableFiles "src/" in strict.yaml:1

    note: looked up on today's disk: links, directories and globs of shell commands
    "#);
    let path = Transcripts::of(&test.root(), "session-1").path(CODER);
    make_old(&path);
    let (_, stdout, _) = run_in(&test.root(), &["replay", "--since", "1h", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    let counts = (&all["tool_calls"], &all["stops"], &all["not_replayed"]["old_transcripts"]);
    assert_eq!(counts, (&json!(0), &json!(0), &json!(1)), "{stdout}");
    // The file of the main thread was written to, but nothing in it is of that time.
    assert_eq!(all["sessions"], 0, "{stdout}");
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
fn the_exit_code_is_0_unless_it_is_asked_for() {
    let test = session(CONFIG).file("x.jsonl", "no transcript\n");
    for (arguments, expected) in [
        (&["replay"][..], 0),
        (&["replay", "--exit-code"], 1),
        (&["replay", "x.jsonl"], 0),
        (&["replay", "x.jsonl", "--exit-code"], 1),
        (&["replay", "x.jsonl", "--fail-on-block"], 1),
    ] {
        assert_eq!(run_in(&test.root(), arguments).0, Some(expected), "{arguments:?}");
    }
}

#[test]
fn a_budget_is_not_replayed_and_it_says_so() {
    let test = session("budget: {session: {tokens: 1}, then: block}\n");
    let shown = test.shows(&["replay"]);
    assert!(shown.contains("the budget (--json says why)"), "{shown}");
    let notes = test.shows(&["replay", "--json"]);
    assert!(notes.contains("not replayed: `budget`"), "{notes}");
    assert!(!session("budget: {at: 80%}\n").shows(&["replay"]).contains("budget"));
}

#[test]
fn rules_that_never_matched_are_listed_on_request_without_those_of_packs() {
    let test = session(&format!("extends: [pack:git-safety]\n{CONFIG}"));
    assert!(!test.shows(&["replay"]).contains("never matched"));
    let shown = test.shows(&["replay", "--unmatched"]);
    let (_, list) = shown.split_once("rules that never matched\n").unwrap();
    assert_snapshot!(list.split_once("\n\n").unwrap().0, @r#"
    preToolUse.uneditableFiles ".env*" in .conclaude.yaml:3
    permissionRequest.deny "WebFetch" in .conclaude.yaml:9
    userPromptSubmit.contextRules "never said" in .conclaude.yaml:11
    subagentStop.commands "tester" in .conclaude.yaml:13
    "#);
}

#[test]
fn equal_rows_are_one_with_their_number_and_the_newest_comes_first() {
    let test = Test::stop().config("preToolUse: {uneditableFiles: ['*.lock']}\n");
    for (session, calls) in [("first-1", 3), ("second-2", 2)] {
        let mut all = Transcripts::of(&test.root(), session);
        all.prompt(None, "Go.");
        for call in 0..calls {
            let input = json!({"file_path": test.root().join("Cargo.lock"), "content": "x"});
            all.calls(None, &format!("t{call}"), "Write", input);
        }
        all.calls(None, "other", "Write", json!({"file_path": test.root().join("b.lock"), "content": "x"}));
    }
    let shown = test.shows(&["replay"]);
    let rows: Vec<String> = shown
        .lines()
        .filter(|line| line.contains(".lock") && line.contains("PreToolUse"))
        .map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        .collect();
    assert_snapshot!(rows.join("\n"), @"
    2 2026-01-31T12:00:05 first-1
    5 2026-01-31T12:00:04 first-1
    ");
    assert!(shown.contains("would be: 7 denied"), "{shown}");
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
    note: hooks do not use all of this config, and none of it was run here: invalid config [ROOT]/.conclaude.yaml: 1 problem; `conclaude validate` shows every problem
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

/// The file of an old edit may be gone since, but an edit that replaces text found it.
#[test]
fn an_edit_that_replaces_text_adds_no_file() {
    let test = Test::stop().config("preToolUse: {preventRootAdditions: true, preventAdditions: ['docs/']}\n");
    let root = test.root();
    let mut all = Transcripts::of(&root, "session-1");
    all.prompt(MAIN, "Go.");
    for (at, (file, old)) in
        [("gone.md", "a"), ("docs/gone.md", "a"), ("new.md", ""), ("docs/new.md", "")].into_iter().enumerate()
    {
        let input = json!({"file_path": root.join(file), "old_string": old, "new_string": "b"});
        all.calls(MAIN, &format!("t{at}"), "Edit", input);
    }
    let shown = test.shows(&["replay"]);
    assert!(shown.contains("would be: 2 denied") && !shown.contains("gone.md"), "{shown}");
}
