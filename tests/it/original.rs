//! Configs that were written for conclaude 0.2.9, and its registration.

mod registration;

use conclaude_core::event::{ALL, EventKind};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::desktop::Desktop;
use crate::common::{Test, capture};

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/fixtures/original/{name}.yaml", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
}

fn tool(name: &str, input: Value) -> Test {
    let test = Test::event("PreToolUse").without("agent_id").without("agent_type");
    let test =
        ["Makefile", ".env.local", "tsconfig.json"].into_iter().fold(test, |test, name| test.file(name, ""));
    test.config(&fixture("files")).payload("tool_name", name).payload("tool_input", input)
}

fn real(event: EventKind) -> Test {
    let text = String::from_utf8(capture(&format!("{event}.json"))).unwrap();
    Test::event(event.name()).stdin(text.replace("DES-VALIDATION", "x"))
}

#[test]
fn the_start_of_a_skill_is_that_of_a_subagent() {
    let done = Test::start().config(&fixture("agents")).run().status(0);
    assert_snapshot!(done.read("log"), @"
    seen coder
    prepare coder a1b2c3
    ");
    let done = Test::start().config(&fixture("agents")).agent("tester").run().status(0);
    assert_snapshot!(done.read("log"), @"
    seen tester
    fixtures for tester
    ");
}

#[test]
fn a_command_that_asks_for_it_is_notified_when_it_starts_and_when_it_ends() {
    let desktop = Desktop::start();
    let test = Test::stop().config(&fixture("agents")).env("DBUS_SESSION_BUS_ADDRESS", desktop.address());
    let done = test.env("CONCLAUDE_NOTIFY_WAIT_MS", "10000").run().status(0);
    assert_snapshot!(done.read("log"), @"
    any
    lint
    coder SubagentStop
    ");
    let arrived: Vec<String> =
        desktop.arrived().into_iter().map(|one| format!("{}: {}", one.title, one.body)).collect();
    assert_snapshot!(arrived.join("\n"), @"
    conclaude: SubagentStop: `echo \"lint\" >> log; exit 1` runs
    conclaude: SubagentStop: `echo \"lint\" >> log; exit 1` exited with code 1
    conclaude: SubagentStop: coder (a1b2c3): 1 of 3 commands failed
    ");
}

#[test]
fn a_command_that_is_not_to_be_shown_is_named_by_its_message() {
    let stop = |fields: &str| {
        let config = format!(
            "subagentStop: {{commands: {{'*': [{{run: curl secret.example, showCommand: false{fields}}}]}}}}"
        );
        Test::stop().config(&config).env("PATH", "").run().nowhere("secret.example")
    };
    assert_snapshot!(stop(", onFailure: block, message: The upload failed").blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ The upload failed
      the command exited with code 127 (a program was not found)
      /bin/sh: 1: curl: not found
      (the check itself cannot run: install what is missing, or tell the user what it is)
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_snapshot!(stop("").message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ a command exited with code 127 (a program was not found)
      /bin/sh: 1: curl: not found
    ");
}

#[test]
fn a_message_is_displayed_to_commands_once_unless_they_want_every_part() {
    let display = |config: &str, is_final: bool| {
        let test = Test::event("MessageDisplay").payload("final", is_final).payload("delta", "x");
        test.config(config).run().silent().has("log")
    };
    let every = "messageDisplay: {onlyFinal: false, commands: [{run: touch log}]}";
    assert!(display(&fixture("events"), true) && !display(&fixture("events"), false));
    assert!(display(every, true) && display(every, false));
}

#[test]
fn every_section_of_the_original_runs_its_commands() {
    let config = fixture("events");
    let mut log = String::new();
    for event in ALL.iter().filter(|event| config.contains(&format!("\n{}:", event.row().section))) {
        let done = real(*event).config(&config).run().status(0);
        log.push_str(&done.read("log"));
        if *event == EventKind::WorktreeCreate {
            log.push_str(&format!("stdout: {}", done.stdout));
        }
    }
    assert_snapshot!(log, @"
    PostToolUse any
    PostToolUse Agent
    PostToolBatch
    PermissionDenied
    UserPromptExpansion
    Setup
    StopFailure
    PostCompact
    TaskCreated
    TaskCompleted
    TeammateIdle
    Elicitation
    ElicitationResult
    ConfigChange local_settings
    InstructionsLoaded
    CwdChanged
    FileChanged
    WorktreeCreate wtone
    stdout: /trees/wtone
    MessageDisplay
    ");
}

#[test]
fn a_failing_check_holds_up_the_stop() {
    let done = Test::event("Stop").without("agent_id").without("agent_type").config(&fixture("stop")).run();
    assert_eq!(done.read("log"), "formatted\n");
    assert_snapshot!(done.blocked(), @r#"
    conclaude: you may not stop yet (block 1 of 3):
    ✗ The tests must pass
      `echo "3 tests failed"; exit 1` exited with code 1
      3 tests failed
    Fix what is marked ✗, then finish again.
    "#);
}

#[test]
fn files_and_commands_of_the_original_are_guarded() {
    let mut shown = String::new();
    for (name, input) in [
        ("Write", json!({"file_path": "debug.txt"})),
        ("Write", json!({"file_path": "src/app.js"})),
        ("Edit", json!({"file_path": "Makefile"})),
        ("Edit", json!({"file_path": "web/yarn.lock"})),
        ("Edit", json!({"file_path": "vendor/a/b.c"})),
        ("Edit", json!({"file_path": ".env.local"})),
        ("Edit", json!({"file_path": "tsconfig.json"})),
        ("Edit", json!({"file_path": "src/a.test.ts"})),
        ("Write", json!({"file_path": "dist/app.css"})),
        ("Edit", json!({"file_path": "secrets/key.pem"})),
        ("Bash", json!({"command": "git push --force origin main"})),
        ("Bash", json!({"command": "git push origin main"})),
    ] {
        let done = tool(name, input.clone()).run();
        let what = if done.stdout.is_empty() { "allowed".to_owned() } else { done.tool("deny") };
        shown.push_str(&format!("{name} {input}: {}\n", what.lines().last().unwrap()));
    }
    assert_snapshot!(shown, @r#"
    Write {"file_path":"debug.txt"}: Write may not create debug.txt: put it into src/ (.conclaude.yaml:3)
    Write {"file_path":"src/app.js"}: allowed
    Edit {"file_path":"Makefile"}: Writing Makefile is not allowed: `uneditableFiles` has `./Makefile`. Do it another way, or ask the user. (.conclaude.yaml:7)
    Edit {"file_path":"web/yarn.lock"}: Writing web/yarn.lock is not allowed: `uneditableFiles` has `*.lock`. Do it another way, or ask the user. (.conclaude.yaml:8)
    Edit {"file_path":"vendor/a/b.c"}: Writing vendor/a/b.c is not allowed: `uneditableFiles` has `vendor/**`. Do it another way, or ask the user. (.conclaude.yaml:9)
    Edit {"file_path":".env.local"}: Change .env.example instead (.conclaude.yaml:10)
    Edit {"file_path":"tsconfig.json"}: Writing tsconfig.json is not allowed: `uneditableFiles` has `{package,tsconfig}.json`. Do it another way, or ask the user. (.conclaude.yaml:15)
    Edit {"file_path":"src/a.test.ts"}: allowed
    Write {"file_path":"dist/app.css"}: Adding dist/app.css is not allowed: `preventAdditions` has `dist`. Change a file that exists instead. (.conclaude.yaml:17)
    Edit {"file_path":"secrets/key.pem"}: Secrets stay as they are (.conclaude.yaml:24)
    Bash {"command":"git push --force origin main"}: Push without force (.conclaude.yaml:28)
    Bash {"command":"git push origin main"}: allowed
    "#);
    let coder = tool("Edit", json!({"file_path": "src/a.test.ts"}))
        .payload("agent_id", "a1")
        .payload("agent_type", "coder");
    assert_snapshot!(coder.run().tool("deny"), @"Tests belong to the tester (.conclaude.yaml:12)");
}

#[test]
fn what_the_original_had_and_we_have_not_says_what_to_write() {
    let test = Test::stop().config(
        "rules: {uneditableFiles: [a]}\nskillStart: {commands: []}\nsubagentStart: {commands: []}\nstop: {rounds: 3, commands: [{rg: {pattern: TODO}, action: warn}]}\npreToolUse: {preventGeneratedFileEdits: true}\n",
    );
    assert_snapshot!(test.shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: unknown key `rules` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | rules: {uneditableFiles: [a]}
      | ^^^^^ not a key of this section
      |
      = help: conclaude 0.2 had this key: write its keys in `preToolUse`

    error: unknown key `skillStart` in the config
     --> [ROOT]/.conclaude.yaml:2:1
      |
    2 | skillStart: {commands: []}
      | ^^^^^^^^^^ not a key of this section
      |
      = help: conclaude 0.2 called it so: write `subagentStart`

    error: unknown key `rounds` in `stop`
     --> [ROOT]/.conclaude.yaml:4:8
      |
    4 | stop: {rounds: 3, commands: [{rg: {pattern: TODO}, action: warn}]}
      |        ^^^^^^ not a key of this section
      |
      = help: conclaude 0.2 had this key: write `infinite: true`; `maxBlocks` is the number of rounds

    error: unknown key `rg` in `commands`
     --> [ROOT]/.conclaude.yaml:4:31
      |
    4 | stop: {rounds: 3, commands: [{rg: {pattern: TODO}, action: warn}]}
      |                               ^^ not a key of this section
      |
      = help: conclaude 0.2 had this key: write a command, such as `run: "! rg PATTERN -g FILES"`

    error: missing field `run` in `commands`
     --> [ROOT]/.conclaude.yaml:4:31
      |
    4 | stop: {rounds: 3, commands: [{rg: {pattern: TODO}, action: warn}]}
      |                               ^^ `run` is required here

    error: unknown key `action` in `commands`
     --> [ROOT]/.conclaude.yaml:4:52
      |
    4 | stop: {rounds: 3, commands: [{rg: {pattern: TODO}, action: warn}]}
      |                                                    ^^^^^^ not a key of this section
      |
      = help: conclaude 0.2 had this key: write `onFailure: block` or `onFailure: warn`

    error: unknown key `preventGeneratedFileEdits` in `preToolUse`
     --> [ROOT]/.conclaude.yaml:5:14
      |
    5 | preToolUse: {preventGeneratedFileEdits: true}
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^ not a key of this section
      |
      = help: conclaude 0.2 had this key: name the generated files in `uneditableFiles`

    error: invalid config [ROOT]/.conclaude.yaml: 7 problems
    "#);
}

#[test]
fn prompts_of_the_original_get_their_context_and_run_their_commands() {
    let said = |prompt: &str| {
        let test = Test::event("UserPromptSubmit").without("agent_id").without("agent_type");
        let test = test.config(&fixture("prompts")).file("docs/menu.md", "File, Edit, View");
        let done = test.payload("prompt", prompt).run().status(0);
        let json: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        let context = json["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or("-").trim();
        let log = done.read("log").trim().replace('\n', "; ");
        format!("{prompt} → {context} → {log}\n")
    };
    let prompts = [
        "fix the toolbar",
        "a Migration",
        "Invoice and benchmark",
        "publish the hotfix",
        "/ship it",
        "/checkout x",
    ];
    assert_snapshot!(prompts.map(said).concat(), @"
    fix the toolbar → The menu is described in File, Edit, View → asked: fix the toolbar
    a Migration → Migrations are never edited. → asked: a Migration
    Invoice and benchmark → Amounts are in cents. → asked: Invoice and benchmark
    publish the hotfix → - → asked: publish the hotfix; announced; hotfix at UserPromptSubmit
    /ship it → - → asked: /ship it; announced; any slash; slash ship
    /checkout x → - → asked: /checkout x; any slash; checks
    ");
}

#[test]
fn permissions_of_the_original_are_answered() {
    let mut shown = String::new();
    for tool in ["Read", "Edit", "NotebookEdit", "EditAll", "Agent", "Bash", "BashOutput", "mcp__docs__get"] {
        let test = Test::event("PermissionRequest").without("agent_id").without("agent_type");
        let test =
            test.config(&fixture("permissions")).payload("tool_name", tool).payload("tool_input", json!({}));
        let done = test.run().status(0);
        let json: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        shown.push_str(&format!("{tool}: {}\n", json["hookSpecificOutput"]["decision"]["behavior"]));
    }
    assert_snapshot!(shown, @r#"
    Read: "allow"
    Edit: "deny"
    NotebookEdit: "deny"
    EditAll: "allow"
    Agent: "allow"
    Bash: "deny"
    BashOutput: "deny"
    mcp__docs__get: "allow"
    "#);
    let shows = Test::stop().config(&fixture("permissions")).shows(&["validate"]);
    assert!(shows.starts_with("exit 0"), "{shows}");
}

#[test]
fn a_pattern_for_prompts_is_checked_and_named_where_there_is_no_prompt() {
    let test = Test::stop().config(
        "stop: {commands: [{run: x, pattern: y}]}\nuserPromptSubmit: {commands: [{run: x, pattern: '(a'}]}\n",
    );
    assert_snapshot!(test.shows(&["validate"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `pattern`: the text "(a"
     --> [ROOT]/.conclaude.yaml:2:49
      |
    2 | userPromptSubmit: {commands: [{run: x, pattern: '(a'}]}
      |                                                 ^^^^ expected a regular expression
      |
      = help: found open group without closing ')'

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    "#);
    let test = Test::stop().config("stop: {commands: [{run: x, pattern: y}]}\n");
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: stop: `pattern` has no effect
     --> [ROOT]/.conclaude.yaml:1:37
      |
    1 | stop: {commands: [{run: x, pattern: y}]}
      |                                     ^ Stop has no prompt to compare
      |
      = help: remove `pattern`

    valid: [ROOT]/.conclaude.yaml
      stop: 1 pattern, 1 command
    ");
}

#[test]
fn import_keeps_the_first_pattern_the_only_one_that_runs() {
    let config = "# ours
skillStart:
  # by name
  commands:
    coder: [{run: a}]
    \"*\": [{run: b}]
subagentStop: {commands: {coder: [{run: a}], \"co*\": [{run: b}]}}
stop:
  commands: [{run: a}]
";
    let test = Test::stop().config(config);
    assert_snapshot!(test.shows(&["init", "--import", "--local"]), @"
    exit 0
    ----- stdout
    the old config is kept in [ROOT]/.conclaude.yaml.before-init
    wrote [ROOT]/.conclaude.yaml
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    added `match: first` to `subagentStart`: conclaude 0.2 ran only the commands of the first pattern that matches
    added `match: first` to `subagentStop`: conclaude 0.2 ran only the commands of the first pattern that matches
    note: `skillStart` is a key of conclaude 0.2: read as what it is here; write `subagentStart`
    note: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    registered conclaude in [ROOT]/.claude/settings.local.json
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    assert_snapshot!(std::fs::read_to_string(test.root().join(".conclaude.yaml")).unwrap(), @r#"
    # ours
    skillStart:
      # by name
      match: first
      commands:
        coder: [{run: a}]
        "*": [{run: b}]
    subagentStop: {match: first, commands: {coder: [{run: a}], "co*": [{run: b}]}}
    stop:
      commands: [{run: a}]
    "#);
    let kept = std::fs::read_to_string(test.root().join(".conclaude.yaml.before-init")).unwrap();
    assert_eq!(kept, config);
    let test = test.then("SubagentStart").config(&config.replace("run: ", "run: echo >> "));
    assert_eq!(test.shows(&["init", "--import", "--local", "--force"]).lines().next(), Some("exit 0"));
    let done = test.run().status(0);
    assert!(done.has("a") && !done.has("b"));
}

/// In conclaude 0.2 every command of a list ran whose tool matches.
#[test]
fn a_list_of_commands_by_tool_runs_all_that_match() {
    let config = "postToolUse:\n  commands:\n    - run: echo A >> got\n    - tool: '*Search*'\n      run: echo B >> got\n";
    let done = Test::event("PostToolUse")
        .config(config)
        .payload("tool_name", "WebSearch")
        .payload("tool_input", json!({}))
        .run();
    assert_eq!(done.read("got"), "A\nB\n");
    let test = Test::stop().config(config);
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: `tool` is a key of conclaude 0.2
     --> [ROOT]/.conclaude.yaml:4:7
      |
    4 |     - tool: '*Search*'
      |       ^^^^ read as what it is here
      |
      = help: write the key of its list: `commands: {TOOL: [{run: …}]}`

    warning: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    valid: [ROOT]/.conclaude.yaml
      postToolUse: 2 patterns, 2 commands
    ");
    assert_snapshot!(test.shows(&["init", "--import", "--yes"]), @"
    exit 0
    ----- stdout
    [ROOT]/.conclaude.yaml is left unchanged
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    note: `tool` is a key of conclaude 0.2: read as what it is here; write the key of its list: `commands: {TOOL: [{run: …}]}`
    note: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
}

#[test]
fn scripts_that_need_bash_are_run_by_it_after_an_import() {
    let config = "skillStart:\n  commands:\n    '*':\n      - run: '[[ -n x ]] && echo yes > got'\n      - {run: 'a=(1 2); true'}\n      - run: echo plain\n";
    let test = Test::start().config(config);
    assert_snapshot!(test.shows(&["validate"]), @"
    exit 0
    ----- stdout
    warning: `skillStart` is a key of conclaude 0.2
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | skillStart:
      | ^^^^^^^^^^ read as what it is here
      |
      = help: write `subagentStart`

    warning: subagentStart: `/bin/sh` may not know `[[`
     --> [ROOT]/.conclaude.yaml:4:14
      |
    4 |       - run: '[[ -n x ]] && echo yes > got'
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ conclaude 0.2 ran commands by bash
      |
      = help: add `shell: bash`

    warning: subagentStart: `/bin/sh` may not know `an array`
     --> [ROOT]/.conclaude.yaml:5:15
      |
    5 |       - {run: 'a=(1 2); true'}
      |               ^^^^^^^^^^^^^^^ conclaude 0.2 ran commands by bash
      |
      = help: add `shell: bash`

    warning: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    valid: [ROOT]/.conclaude.yaml
      subagentStart: 1 pattern, 3 commands
    ");
    assert_snapshot!(test.shows(&["init", "--import", "--yes"]), @"
    exit 0
    ----- stdout
    the old config is kept in [ROOT]/.conclaude.yaml.before-init
    wrote [ROOT]/.conclaude.yaml
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    added `shell: bash` to 2 commands: conclaude 0.2 ran commands by bash, and here `/bin/sh` does
    note: `skillStart` is a key of conclaude 0.2: read as what it is here; write `subagentStart`
    note: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    assert_snapshot!(std::fs::read_to_string(test.root().join(".conclaude.yaml")).unwrap(), @"
    skillStart:
      commands:
        '*':
          - shell: bash
            run: '[[ -n x ]] && echo yes > got'
          - {shell: bash, run: 'a=(1 2); true'}
          - run: echo plain
    ");
}
