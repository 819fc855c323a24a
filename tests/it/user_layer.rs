//! What the user's own config asks for is registered for all projects, and said alike by all who look at it.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, run_in, shown_in};

const USER: &str = ".home/.config/conclaude/config.yaml";
const SETTINGS: &str = ".home/.claude/settings.json";
const RULES: &str = "extends: [team.yaml]\nsessionEnd: {commands: [{run: 'true'}]}\npreCompact: {commands: [{run: 'true'}]}\npermissionRequest: {deny: ['Bash(rm *)']}\n";

fn with_user_config() -> Test {
    Test::event("SessionStart")
        .file(USER, RULES)
        .file(".home/.config/conclaude/team.yaml", "preToolUse: {unreadableFiles: [.env]}\n")
}

/// What is registered for all projects, as `Event` or `Event: matcher`.
fn registered(root: &Path) -> String {
    let text = std::fs::read_to_string(root.join(SETTINGS)).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let line = |(event, groups): (&String, &Value)| match groups[0]["matcher"].as_str() {
        Some(matcher) => format!("{event}: {matcher}\n"),
        None => format!("{event}\n"),
    };
    settings["hooks"].as_object().unwrap().iter().map(line).collect()
}

/// What `doctor` says of the settings.
fn doctor(root: &Path) -> String {
    let (_, out, _) = run_in(root, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["about"] == "settings");
    let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
    checks
        .map(|check| format!("{}: {} → {}\n", text(check, "status"), text(check, "text"), text(check, "fix")))
        .collect()
}

#[test]
fn what_the_users_config_needs_is_registered_for_all_projects() {
    let test = with_user_config().config("notification: {commands: [{run: 'true'}]}");
    let root = test.root();
    assert_eq!(run_in(&root, &["install", "--user"]).0, Some(0));
    assert_snapshot!(registered(&root), @"
    SessionStart
    PreToolUse: ^(Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|Read|NotebookRead|Grep|SendUserFile|Artifact|Projects|ReadMcpResourceTool|mcp__.*)$
    PostToolUse: Agent|Task
    UserPromptSubmit
    SubagentStart
    SubagentStop
    Stop
    SessionEnd
    PermissionRequest: Bash|Monitor|PowerShell
    PreCompact
    ");
    // In a project without a config all is in sync; what this one needs beyond that is for the project to register.
    std::fs::remove_file(root.join(".conclaude.yaml")).unwrap();
    assert_snapshot!(doctor(&root), @"good: 10 events registered in .home/.claude/settings.json →");
    let test = test.run().silent().again();
    let answer = test.config("notification: {commands: [{run: 'true'}]}").run();
    assert_snapshot!(answer.message(), @"
    conclaude: the registration with Claude Code is out of sync with the config:
    ⚠ Notification is not registered
    To fix it: conclaude install --local
    ");
    assert_snapshot!(doctor(&root), @"problem: Notification is not registered → conclaude trust && conclaude install --local");
}

#[test]
fn a_users_config_that_grew_is_reported_with_the_command_that_registers_it() {
    let test = Test::event("SessionStart").config("maxBlocks: 2");
    let root = test.root();
    run_in(&root, &["install", "--user"]);
    let test = test.file(USER, "preToolUse: {unreadableFiles: [.env]}\n");
    assert_snapshot!(doctor(&root), @r#"problem: PreToolUse is registered for "Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell", but needed for "^(Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|Read|NotebookRead|Grep|SendUserFile|Artifact|Projects|ReadMcpResourceTool|mcp__.*)$" → conclaude install --user"#);
    let answer = test.run();
    assert_snapshot!(answer.message(), @r#"
    conclaude: the registration with Claude Code is out of sync with the config:
    ⚠ PreToolUse is registered for "Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell", but needed for "^(Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|Read|NotebookRead|Grep|SendUserFile|Artifact|Projects|ReadMcpResourceTool|mcp__.*)$"
    To fix it: conclaude install --user
    "#);
    run_in(&root, &["install", "--user"]);
    let answer = answer.again().run().silent();
    assert_snapshot!(doctor(&answer.root()), @"good: 8 events registered in .home/.claude/settings.json →");
}

#[test]
fn a_users_config_that_cannot_be_read_is_an_error_and_nothing_is_registered() {
    let test = Test::event("SessionStart").file(USER, "maxBlocks: 2\npreToolUse: {unreadableFile: [.env]}\n");
    let root = test.root();
    let refused = shown_in(&root, &["install", "--user"]);
    assert_snapshot!(refused, @"
    exit 1
    ----- stderr
    conclaude: invalid config [ROOT]/.home/.config/conclaude/config.yaml: 1 problem

    error: unknown key `unreadableFile` in `preToolUse`
     --> [ROOT]/.home/.config/conclaude/config.yaml:2:14
      |
    2 | preToolUse: {unreadableFile: [.env]}
      |              ^^^^^^^^^^^^^^ not a key of this section
      |
      = help: did you mean `unreadableFiles`?
    ");
    assert_eq!(shown_in(&root, &["init", "--user"]), refused);
    assert!(!root.join(SETTINGS).exists() && !root.join(".conclaude.yaml").exists());
}

#[test]
fn what_is_wrong_with_a_project_has_no_say_in_what_all_projects_get() {
    let test = with_user_config().config("maxBlocks: many");
    assert_eq!(run_in(&test.root(), &["install", "--user"]).0, Some(0));
    assert!(registered(&test.root()).contains("PermissionRequest: Bash"));
    assert_eq!(run_in(&test.root(), &["install"]).0, Some(1));
}

#[test]
fn settings_that_a_project_shares_have_nothing_of_the_users_own_files() {
    let test =
        with_user_config().file(".conclaude.local.yaml", "notification: {commands: [{run: 'true'}]}\n");
    let root = test.root();
    let registered = |root: &Path| std::fs::read_to_string(root.join(".claude/settings.json")).unwrap();
    let (code, out, _) = run_in(&root, &["init"]);
    let notes: Vec<&str> = out.lines().filter(|line| line.starts_with("note:")).collect();
    assert_eq!(code, Some(0));
    assert_snapshot!(notes.join("\n"), @"
    note: your own files need more, which is not for all who share these settings: `conclaude install --user`
    note: your own files need more, which is not for all who share these settings: `conclaude install --local`
    ");
    for theirs in ["|Read|", "PermissionRequest", "Notification"] {
        assert!(!registered(&root).contains(theirs), "{theirs}");
    }
    let before = registered(&root);
    run_in(&root, &["install", "--project"]);
    assert_eq!(registered(&root), before);
    // The start of a session and `doctor` say what is missing until it is registered where it belongs.
    let answer = test.run();
    assert_snapshot!(answer.message(), @r#"
    conclaude: the registration with Claude Code is out of sync with the config:
    ⚠ PreToolUse is registered for "Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell", but needed for "^(Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|Read|NotebookRead|Grep|SendUserFile|Artifact|Projects|ReadMcpResourceTool|mcp__.*)$"
    ⚠ PermissionRequest is not registered
    ⚠ Notification is not registered
    ⚠ PreCompact is not registered
    To fix it: conclaude install --user; conclaude install --local
    "#);
    run_in(&root, &["install", "--user"]);
    run_in(&root, &["install", "--local"]);
    assert!(doctor(&root).starts_with("good: "), "{}", doctor(&root));
    assert_eq!(registered(&root), before);
}

#[test]
fn for_a_rule_of_the_user_one_of_two_registrations_answers() {
    let test = with_user_config().then("PreToolUse").config("maxBlocks: 2").flag("--if-trusted");
    let test = test.payload("tool_name", "Read").payload("tool_input", json!({"file_path": ".env"}));
    let root = test.root();
    let denied = test.run().status(2);
    // The project's registration is not called for Read: a colleague without the rule has made it.
    std::fs::rename(root.join(".home"), root.join(".away")).unwrap();
    run_in(&root, &["install", "--local"]);
    std::fs::rename(root.join(".away"), root.join(".home")).unwrap();
    let denied = denied.again().run().status(2);
    run_in(&root, &["install", "--local"]);
    denied.again().run().silent();
}

#[test]
fn an_event_that_the_project_has_registered_as_well_runs_once() {
    let commands = "{commands: [{run: echo ran >> ran}]}";
    let test = Test::event("PreCompact").flag("--if-trusted").payload("trigger", "manual");
    let test = test.file(USER, format!("preCompact: {commands}\n")).config("maxBlocks: 2");
    let answer = test.run();
    assert_eq!(answer.read("ran"), "ran\n");
    run_in(&answer.root(), &["install", "--local"]);
    assert_eq!(answer.again().run().silent().read("ran"), "ran\n", "the project's own answers");
}
