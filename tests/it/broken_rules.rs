//! Rules of a config with mistakes: what can be read stays in force, and what cannot be read never silently allows.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Outcome, Test};

const USER: &str = ".home/.config/conclaude/config.yaml";
const GUARDS: &str = "preToolUse:\n  uneditableFiles: [\"*.lock\"]\n  unreadableFiles: [\".env\"]\n";

fn tool(test: Test, name: &str, input: Value) -> Test {
    test.without("agent_id").without("agent_type").payload("tool_name", name).payload("tool_input", input)
}

fn project(config: &str) -> Test {
    Test::event("PreToolUse").config(config)
}

fn write(test: Test, path: &str) -> Outcome {
    tool(test, "Write", json!({"file_path": path, "content": ""})).run()
}

fn bash(test: Test, command: &str) -> Outcome {
    tool(test, "Bash", json!({ "command": command })).run()
}

/// What is decided, in a word.
fn decision(answer: &Outcome) -> String {
    let json: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
    let tool = json["hookSpecificOutput"]["permissionDecision"].as_str();
    let request = json["hookSpecificOutput"]["decision"]["behavior"].as_str();
    tool.or(request).unwrap_or("none").to_owned()
}

#[test]
fn a_mistake_elsewhere_in_a_file_does_not_switch_off_its_guards() {
    for mistake in ["maxBlok: 3\n", "subagentStop: {commands: {\"[a\": [{run: x}]}}\n", "des: {enabld: 1}\n"]
    {
        let config = format!("{GUARDS}{mistake}");
        assert_eq!(decision(&write(project(&config), "Cargo.lock")), "deny", "{mistake}");
        // Nothing was left out that could be against another file: a key of a newer version asks nobody.
        assert_eq!(decision(&write(project(&config), "a.txt")), "none", "{mistake}");
        assert_eq!(decision(&bash(project(&config), "cat .env")), "deny", "{mistake}");
        let user = Test::event("PreToolUse").file(USER, &config);
        assert_eq!(decision(&write(user, "Cargo.lock")), "deny", "{mistake}");
        let local = Test::event("PreToolUse").file(".conclaude.local.yaml", &config);
        assert_eq!(decision(&write(local, "Cargo.lock")), "deny", "{mistake}");
    }
}

#[test]
fn a_wrong_entry_is_left_out_and_what_it_could_be_about_is_asked() {
    let config = "preToolUse:\n  uneditableFiles: [\"*.lock\", {patern: \"*.pem\"}]\n";
    assert_eq!(decision(&write(project(config), "Cargo.lock")), "deny");
    assert_snapshot!(write(project(config), "a.txt").tool("ask"), @"Rules in .conclaude.yaml:2 cannot be used, and might forbid writing a.txt: unknown key `patern` in `uneditableFiles`. Fix the config: `conclaude validate` shows every problem. (built-in: rules that cannot be used are asked about)");
    assert_eq!(decision(&bash(project(config), "rm a.txt")), "ask");
    for innocent in ["ls", "cat a.txt"] {
        assert_eq!(decision(&bash(project(config), innocent)), "none", "{innocent}");
    }
    assert_eq!(decision(&tool(project(config), "Read", json!({"file_path": "a.txt"})).run()), "none");
    assert_eq!(decision(&tool(project(config), "WebFetch", json!({"url": "https://a.b"})).run()), "none");
}

#[test]
fn a_rule_for_tools_with_a_mistake_is_asked_about_at_those_tools() {
    let config = "preToolUse:\n  toolUsageValidation:\n    - {tool: \"mcp__db__*\", action: refuse}\n    - {tool: Bash, commandPattern: \"git push*\", action: block}\n    - {tool: Bash, comand: x, action: allow}\n";
    assert_eq!(decision(&bash(project(config), "git push")), "deny");
    assert_eq!(decision(&bash(project(config), "git status")), "none");
    assert_snapshot!(tool(project(config), "mcp__db__drop", json!({})).run().tool("ask"), @r#"Rules in .conclaude.yaml:3 cannot be used, and might forbid using mcp__db__drop: invalid value for `action`: the text "refuse". Fix the config: `conclaude validate` shows every problem. (built-in: rules that cannot be used are asked about)"#);
}

#[test]
fn a_file_that_is_no_yaml_asks_about_what_its_rules_could_be_about() {
    let config = "preToolUse:\n  uneditableFiles: [\"*.lock\"\nmaxBlocks: 3\n";
    assert_snapshot!(write(project(config), "a.txt").tool("ask"), @"Rules in .conclaude.yaml:3 cannot be used, and might forbid writing a.txt: invalid YAML. Fix the config: `conclaude validate` shows every problem. (built-in: rules that cannot be used are asked about)");
    assert_eq!(decision(&bash(project(config), "ls")), "none");
    // Without rules there is nothing to ask about.
    assert_eq!(decision(&write(project("subagentStop: [\n"), "a.txt")), "none");
    let reading = format!("{config}  unreadableFiles: [\n");
    assert_eq!(decision(&tool(project(&reading), "Read", json!({"file_path": "a.txt"})).run()), "ask");
    assert_eq!(decision(&bash(project(&reading), "ls")), "ask");
    // What is wrong can be looked at, and fixed with the user's agreement.
    assert_eq!(
        decision(&tool(project(&reading), "Read", json!({"file_path": ".conclaude.yaml"})).run()),
        "none"
    );
    assert_eq!(decision(&write(project(&reading), ".conclaude.yaml")), "ask");
}

#[test]
fn where_nobody_can_be_asked_a_rule_that_cannot_be_read_denies() {
    let test = project("preToolUse:\n  uneditableFiles: [\n").payload("permission_mode", "bypassPermissions");
    assert_snapshot!(write(test, "a.txt").tool("deny"), @"
    Rules in .conclaude.yaml:2 cannot be used, and might forbid writing a.txt: invalid YAML. Ask the user to fix the config; `conclaude validate` shows every problem. (built-in: rules that cannot be used are asked about)
    In this permission mode nobody can be asked, so it is denied.
    ");
}

#[test]
fn guards_of_other_files_hold_beside_one_that_cannot_be_read() {
    for broken in ["maxBlok: 3\n", "a: [\n", "extends: [missing.yaml]\n"] {
        let test = project(broken).file(USER, GUARDS);
        assert_eq!(decision(&write(test, "Cargo.lock")), "deny", "{broken}");
        let test = project(GUARDS).file(USER, broken);
        assert_eq!(decision(&write(test, "Cargo.lock")), "deny", "{broken}");
    }
}

#[test]
fn what_a_file_with_a_mistake_extends_still_guards_and_runs_nothing() {
    let base = format!("{GUARDS}  commands: [{{run: touch ran}}]\n");
    let test = project("extends: [base.yaml, pack:secrets]\nmaxBlok: 3\n").file("base.yaml", base);
    let answer = write(test, "Cargo.lock");
    assert_eq!(decision(&answer), "deny");
    let answer = bash(answer.again(), "cat ~/.ssh/id_rsa");
    assert_eq!(decision(&answer), "deny");
    let answer = write(answer.again(), "a.txt");
    assert_eq!((decision(&answer).as_str(), answer.has("ran")), ("none", false));
}

#[test]
fn what_cannot_be_extended_is_asked_about() {
    assert_snapshot!(write(project("extends: [pack:secret]\n"), "a.txt").tool("ask"), @"Rules in .conclaude.yaml:1 cannot be used, and might forbid writing a.txt: there is no pack `secret`. Fix the config: `conclaude validate` shows every problem. (built-in: rules that cannot be used are asked about)");
    let not_text = project("").file(".conclaude.yaml", b"\xff\xfe");
    assert_eq!(decision(&write(not_text, "a.txt")), "ask");
    // Nothing of a circle is missing.
    let circle = project("extends: [a.yaml]\n").file("a.yaml", "extends: [.conclaude.yaml]\n");
    assert_eq!(decision(&write(circle, "a.txt")), "none");
}

#[test]
fn guards_in_the_wrong_section_or_in_one_with_a_misspelt_name_are_asked_about() {
    for config in [
        "preToolUs: {uneditableFiles: [a]}\n",
        "uneditableFiles: [a]\n",
        "postToolUse: {uneditableFiles: [a]}\n",
        "preToolUse: [a]\n",
        "preToolUse: {uneditableFile: [a]}\n",
        "preToolUse: {uneditableFiles: [a]}\npreToolUse: {uneditableFiles: [b]}\n",
        "extend: [pack:secrets]\n",
    ] {
        assert_eq!(decision(&write(project(config), "b")), "ask", "{config}");
    }
}

#[test]
fn rules_for_permissions_with_a_mistake_allow_nothing_and_still_deny() {
    let request = |config: &str, command: &str| {
        let test = Test::event("PermissionRequest").config(config);
        decision(&bash(test, command))
    };
    let rules = "permissionRequest:\n  allow: [\"Bash(git *)\"]\n  deny: [\"Bash(git push*)\", ";
    let broken = format!("{rules}{{patern: x}}]\n");
    assert_eq!(request(&broken, "git push"), "deny");
    assert_eq!(request(&broken, "git status"), "none");
    let elsewhere = format!("{rules}]\nmaxBlok: 3\n");
    assert_eq!(request(&elsewhere, "git push"), "deny");
    assert_eq!(request(&elsewhere, "git status"), "allow");
    // A guard that cannot be read might have asked.
    let guard = format!("{rules}]\npreToolUse: {{uneditableFiles: [{{patern: x}}]}}\n");
    assert_eq!(request(&guard, "git status"), "none");
    assert_eq!(request(&format!("{rules}\n"), "git status"), "none");
}

#[test]
fn a_section_in_a_comment_is_none_of_a_broken_file() {
    let code = |more: &str| {
        let config = format!("preCompact: {{commands: [{{runn: x}}]}}\n{more}\n");
        Test::event("Stop").without("agent_id").without("agent_type").config(&config).run().code
    };
    for comment in
        ["# stop: {commands: []}", "maxBlocks: 3 # not that of stop: it is for all", "x-run: don't stop"]
    {
        assert_eq!(code(comment), Some(0), "{comment}");
    }
    for section in ["stop: {commands: []}", "\"stop\" : {}", "stopp: {}", "? stop\n: {}", "extends: []"] {
        assert_eq!(code(section), Some(1), "{section}");
    }
}

#[test]
fn what_readable_files_came_to_stays_beside_the_error_of_another() {
    let config = "userPromptSubmit: {commands: [{run: echo from the project, context: true}]}\nworktreeCreate: {commands: [{run: echo /tmp/made}]}\n";
    let local = "subagentStop: {commands: {coder: [{runn: x}]}}\nuserPromptSubmit: {}\nworktreeCreate: {}\n";
    let test = |event| Test::event(event).config(config).file(".conclaude.local.yaml", local);
    let prompt = test("UserPromptSubmit").payload("prompt", "hello").run();
    let answer: Value = serde_json::from_str(&prompt.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "from the project");
    assert_snapshot!(prompt.system_message(), @"
    conclaude: invalid config [ROOT]/.conclaude.local.yaml: 2 problems

    error: unknown key `runn` in `coder`
     --> [ROOT]/.conclaude.local.yaml:1:36
      |
    1 | subagentStop: {commands: {coder: [{runn: x}]}}
      |                                    ^^^^ not a key of this section
      |
      = help: did you mean `run`?

    error: missing field `run` in `coder`
     --> [ROOT]/.conclaude.local.yaml:1:36
      |
    1 | subagentStop: {commands: {coder: [{runn: x}]}}
      |                                    ^^^^ `run` is required here
    ");
    let worktree = test("WorktreeCreate").payload("name", "w").run();
    assert_eq!((worktree.code, worktree.stdout.trim()), (Some(0), "/tmp/made"), "{}", worktree.stderr);
}

/// What a command of a readable file had to show was dropped where the error of another was shown.
#[test]
fn a_failure_that_a_good_file_reports_is_shown_beside_the_error_of_a_broken_one() {
    let config = "stop: {commands: [{run: 'echo LINT BROKEN; exit 1', onFailure: warn}]}\npostToolUse: {commands: {Write: [{run: 'echo LINT BROKEN; exit 1'}]}}\n";
    let local = "stop: {bogus: 1}\npostToolUse: {}\n";
    let test = Test::event("Stop").without("agent_id").config(config).file(".conclaude.local.yaml", local);
    let stop = test.run();
    assert_snapshot!(stop.snapshot(), @r#"
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: ⚠ `echo LINT BROKEN; exit 1` exited with code 1
          LINT BROKEN
        conclaude: invalid config [ROOT]/.conclaude.local.yaml: 1 problem

        error: unknown key `bogus` in `stop`
         --> [ROOT]/.conclaude.local.yaml:1:8
          |
        1 | stop: {bogus: 1}
          |        ^^^^^ not a key of this section
          |
          = help: allowed here: `match`, `commands`, `infinite`, `infiniteMessage`"
    }
    ----- stderr: the same
    "#);
    let tool = tool(stop.again().then("PostToolUse"), "Write", json!({"file_path": "a"})).run();
    assert_snapshot!(tool.snapshot(), @r#"
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: ⚠ `echo LINT BROKEN; exit 1` exited with code 1
          LINT BROKEN
        conclaude: invalid config [ROOT]/.conclaude.local.yaml: 1 problem; `conclaude validate` shows every problem"
    }
    ----- stderr: the same
    "#);
}

#[test]
fn a_block_by_a_good_file_stays_a_block_beside_the_error_of_a_broken_one() {
    let config = "stop: {commands: [{run: 'echo no; exit 1'}]}\n";
    let test = Test::event("Stop").without("agent_id").config(config);
    let stop = test.file(".conclaude.local.yaml", "stop: {bogus: 1}\n").run();
    assert_snapshot!(stop.blocked(), @"
    conclaude: you may not stop yet (block 1 of 3):
    ✗ `echo no; exit 1` exited with code 1
      no
    Fix what is marked ✗, then finish again.
    ");
}

/// The start of a session showed the error and did nothing else, also nothing of the files that could be read.
#[test]
fn the_start_of_a_session_does_what_readable_files_say_beside_the_error_of_another() {
    let config = "sessionStart: {commands: [{run: 'touch started; echo HELLO; exit 1'}]}\n";
    let test = Test::event("SessionStart").without("agent_id").config(config);
    let start = test.file(".conclaude.local.yaml", "bogus: 1\n").run();
    assert_snapshot!(start.snapshot(), @r#"
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: ⚠ `touch started; echo HELLO; exit 1` exited with code 1
          HELLO
        conclaude: invalid config [ROOT]/.conclaude.local.yaml: 1 problem

        error: unknown key `bogus` in the config
         --> [ROOT]/.conclaude.local.yaml:1:1
          |
        1 | bogus: 1
          | ^^^^^ not a key of this section
          |
          = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `packs`, `report`, `enforce`, `clients`, `budget`, and events in camelCase, such as `subagentStop`"
    }
    ----- stderr: the same
    "#);
    assert!(start.has("started"));
}

#[test]
fn explain_says_what_a_hook_answers_beside_a_broken_file() {
    let config = "stop: {commands: [{run: make lint, onFailure: warn}]}\nnotification: {commands: [{run: make note}]}\n";
    let test = Test::event("Stop")
        .config(config)
        .file(".conclaude.local.yaml", "stop: {bogus: 1}\nnotification: {}\n");
    assert_snapshot!(answers(&test, "Stop"), @"
    if it succeeds: failed (exit 1)
      conclaude: invalid config [ROOT]/.conclaude.local.yaml:
      1 problem

      error: unknown key `bogus` in `stop`
       --> [ROOT]/.conclaude.local.yaml:1:8
        |
      1 | stop: {bogus: 1}
        |        ^^^^^ not a key of this section
        |
        = help: allowed here: `match`, `commands`, `infinite`, `infiniteMessage`
    if `make lint` fails: failed (exit 1)
      conclaude: ⚠ `make lint` exited with code 1
      conclaude: invalid config [ROOT]/.conclaude.local.yaml:
      1 problem

      error: unknown key `bogus` in `stop`
       --> [ROOT]/.conclaude.local.yaml:1:8
        |
      1 | stop: {bogus: 1}
        |        ^^^^^ not a key of this section
        |
        = help: allowed here: `match`, `commands`, `infinite`, `infiniteMessage`
    ");
    assert_snapshot!(answers(&test, "Notification"), @"
    if it succeeds: failed (exit 1)
      conclaude: invalid config [ROOT]/.conclaude.local.yaml:
      1 problem

      error: unknown key `bogus` in `stop`
       --> [ROOT]/.conclaude.local.yaml:1:8
        |
      1 | stop: {bogus: 1}
        |        ^^^^^ not a key of this section
        |
        = help: allowed here: `match`, `commands`, `infinite`, `infiniteMessage`
      shown at the next event that Claude Code shows:
      conclaude: invalid config [ROOT]/.conclaude.local.yaml:
      1 problem

      error: unknown key `bogus` in `stop`
       --> [ROOT]/.conclaude.local.yaml:1:8
        |
      1 | stop: {bogus: 1}
        |        ^^^^^ not a key of this section
        |
        = help: allowed here: `match`, `commands`, `infinite`, `infiniteMessage`
    if `make note` fails: failed (exit 1)
      conclaude: invalid config [ROOT]/.conclaude.local.yaml:
      1 problem

      error: unknown key `bogus` in `stop`
       --> [ROOT]/.conclaude.local.yaml:1:8
        |
      1 | stop: {bogus: 1}
        |        ^^^^^ not a key of this section
        |
        = help: allowed here: `match`, `commands`, `infinite`, `infiniteMessage`
      shown at the next event that Claude Code shows:
      conclaude: ⚠ `make note` exited with code 1
      conclaude: invalid config [ROOT]/.conclaude.local.yaml:
      1 problem

      error: unknown key `bogus` in `stop`
       --> [ROOT]/.conclaude.local.yaml:1:8
        |
      1 | stop: {bogus: 1}
        |        ^^^^^ not a key of this section
        |
        = help: allowed here: `match`, `commands`, `infinite`, `infiniteMessage`
    ");
}

/// What `explain` says of the answer.
fn answers(test: &Test, event: &str) -> String {
    let shown = test.shows(&["explain", "--all", event]);
    let (_, answers) = shown.split_once("Answer\n").unwrap();
    answers.to_owned()
}
