//! `conclaude install` and `uninstall`: the settings file belongs to the user.

mod comments;
mod copies;
mod lines;
mod purge;
mod refused_settings;
mod user_settings;

use std::path::Path;

use crate::common::{Test, run_in as run};
use serde_json::Value;

const FILE: &str = ".claude/settings.json";

fn settings(root: &Path) -> String {
    std::fs::read_to_string(root.join(FILE)).unwrap()
}

/// The settings file with `[BIN]` for the program.
fn shown(root: &Path) -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
    settings(root).replace(own.to_str().unwrap(), "[BIN]")
}

/// Exit code, stdout and stderr as one text.
fn transcript(root: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = run(root, arguments);
    format!("exit {}\n{out}{err}", code.unwrap())
}

#[test]
fn seed_004_line_293_what_is_registered_for_agent_is_registered_for_task_too() {
    let test = Test::stop().config("maxBlocks: 3");
    run(&test.root(), &["install"]);
    let json: Value = serde_json::from_str(&settings(&test.root())).unwrap();
    let groups = json["hooks"].as_object().unwrap().values().flat_map(|groups| groups.as_array().unwrap());
    let matchers: Vec<&str> = groups.filter_map(|group| group["matcher"].as_str()).collect();
    let agents: Vec<&&str> = matchers.iter().filter(|matcher| matcher.contains("Agent")).collect();
    assert!(
        !agents.is_empty() && agents.iter().all(|matcher| matcher.contains("Agent|Task")),
        "{matchers:?}"
    );
}

/// The copies of settings in the user's state.
fn copies(root: &Path) -> Vec<std::path::PathBuf> {
    let folders =
        std::fs::read_dir(root.join(".state-home/conclaude/backups")).into_iter().flatten().flatten();
    folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten()).map(|e| e.path()).collect()
}

#[test]
fn a_project_without_settings_gets_a_file_and_loses_it_again() {
    let test = Test::stop()
        .config("subagentStop: {commands: {coder: [{run: x, timeout: 100}, {run: y, timeout: 50}]}}");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install"]), @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    ");
    insta::assert_snapshot!(shown(&root), @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v [BIN] >/dev/null || { echo '{\"systemMessage\":\"conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: npm install -g conclaude, or uv tool install conclaude, or brew install conclaude/tap/conclaude\"}'; exit 0; }; exec [BIN] SessionStart",
                "timeout": 3600
              }
            ]
          }
        ],
        "PreToolUse": [
          {
            "matcher": "Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell",
            "hooks": [
              {
                "type": "command",
                "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] PreToolUse",
                "timeout": 3600
              }
            ]
          }
        ],
        "PostToolUse": [
          {
            "matcher": "Agent|Task",
            "hooks": [
              {
                "type": "command",
                "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] PostToolUse",
                "timeout": 3600
              }
            ]
          }
        ],
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] UserPromptSubmit",
                "timeout": 3600
              }
            ]
          }
        ],
        "SubagentStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStart",
                "timeout": 3600,
                "statusMessage": "conclaude: subagentStart"
              }
            ]
          }
        ],
        "SubagentStop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStop",
                "timeout": 3600,
                "statusMessage": "conclaude: subagentStop"
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] Stop",
                "timeout": 3600
              }
            ]
          }
        ],
        "SessionEnd": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SessionEnd",
                "timeout": 60
              }
            ]
          }
        ]
      }
    }
    "#);
    insta::assert_snapshot!(transcript(&root, &["install"]), @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    [ROOT]/.claude/settings.json already has everything that is needed
    ");
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
    assert!(!root.join(FILE).exists());
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    conclaude is not in [ROOT]/.claude/settings.json
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
}

#[test]
fn the_schema_that_a_config_names_is_there_for_whoever_clones() {
    const NAMED: &str = "# yaml-language-server: $schema=./.conclaude/schema.json\nmaxBlocks: 3\n";
    let schema = include_str!("../../conclaude.schema.json");
    for subcommand in ["validate", "doctor", "install"] {
        let test = Test::stop().config(NAMED);
        run(&test.root(), &[subcommand]);
        let written = std::fs::read_to_string(test.root().join(".conclaude/schema.json")).unwrap();
        assert_eq!(written, schema, "{subcommand}");
        let ignored = std::fs::read_to_string(test.root().join(".conclaude/.gitignore")).unwrap();
        assert_eq!(ignored, "*\n");
    }
    let test =
        Test::event("SessionStart").config(NAMED).file(".conclaude/schema.json", "that of another version");
    let answer = test.run().silent();
    assert_eq!(answer.read(".conclaude/schema.json"), schema);
    // A user who names another one, or none, gets none.
    let other = Test::event("SessionStart").config("maxBlocks: 3\n").run().silent();
    assert!(!other.has(".conclaude"));
}

#[test]
fn what_is_shown_while_an_event_is_handled_names_commands_only_where_there_are_some() {
    let texts = |config: &str| {
        let test = Test::stop().config(config);
        run(&test.root(), &["install"]);
        let json: Value = serde_json::from_str(&settings(&test.root())).unwrap();
        let hooks = json["hooks"].as_object().unwrap().iter();
        let texts = hooks.filter_map(|(event, groups)| {
            Some(format!("{event}: {}\n", groups[0]["hooks"][0]["statusMessage"].as_str()?))
        });
        texts.collect::<String>()
    };
    let rules = "preToolUse: {uneditableFiles: ['*.lock']}\nstop: {infinite: true}\n";
    insta::assert_snapshot!(texts(rules), @"
    SubagentStart: conclaude: subagentStart
    SubagentStop: conclaude: subagentStop
    Stop: conclaude: stop
    ");
    let commands = "subagentStop: {commands: [{run: make}]}\nstop: {infinite: true, commands: [{run: make}]}\n\
                    userPromptSubmit: {slashCommands: {commands: {deploy: [{run: make}]}}}\n";
    insta::assert_snapshot!(texts(commands), @"
    UserPromptSubmit: conclaude: userPromptSubmit commands
    SubagentStart: conclaude: subagentStart
    SubagentStop: conclaude: subagentStop
    Stop: conclaude: stop commands
    ");
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let test = Test::stop().config("des: {enabled: false}").file(FILE, "{\n  \"model\": \"opus\"\n}\n");
    let shown = transcript(&test.root(), &["install", "--dry-run"]);
    insta::assert_snapshot!(shown.lines().take(8).collect::<Vec<_>>().join("\n"), @r#"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    --- [ROOT]/.claude/settings.json
    +++ [ROOT]/.claude/settings.json
    @@ -1,3 +1,27 @@
     {
    -  "model": "opus"
    +  "model": "opus",
    "#);
    assert_eq!(settings(&test.root()), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn local_settings_are_another_file() {
    let test = Test::stop();
    insta::assert_snapshot!(transcript(&test.root(), &["install", "--local"]), @"
    exit 0
    registered conclaude in [ROOT]/.claude/settings.local.json
    next: `conclaude init` writes a .conclaude.yaml; without one only the gates of marked prompts do anything
    ");
    assert!(!test.root().join(FILE).exists());
}

#[test]
fn without_gates_no_tool_is_watched() {
    let test = Test::stop().config("des: {enabled: false}");
    run(&test.root(), &["install"]);
    let json: Value = serde_json::from_str(&settings(&test.root())).unwrap();
    assert_eq!(json["hooks"].get("PreToolUse"), None);
}

#[test]
fn a_session_that_starts_reports_that_config_and_registration_are_out_of_sync() {
    let test = Test::event("SessionStart").config("des: {enabled: false}");
    let root = test.root();
    run(&root, &["install", "--local"]);
    let test = test.run().silent().again();
    let answer = test.config("maxBlocks: 3").run();
    insta::assert_snapshot!(answer.message(), @"
    conclaude: the registration with Claude Code is out of sync with the config:
    ⚠ PreToolUse is not registered
    ⚠ PostToolUse is not registered
    ⚠ UserPromptSubmit is not registered
    ⚠ SubagentStart is not registered
    ⚠ SubagentStop is not registered
    ⚠ Stop is not registered
    To fix it: conclaude install --local
    ");
    run(&root, &["install", "--local"]);
    answer.again().run().silent();
}

#[test]
fn an_event_that_only_notifications_need_is_registered_and_goes_when_they_do() {
    let test = Test::stop().config("notifications: {enabled: true, hooks: [PreCompact, FileChanged]}");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install"]), @"
    exit 0
    warning: notifications name FileChanged, which is not registered: it would change what Claude Code does
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    ");
    let command = |root: &Path| {
        let json: Value = serde_json::from_str(&shown(root)).unwrap();
        json["hooks"]["PreCompact"][0]["hooks"][0]["command"].clone()
    };
    assert!(command(&root).as_str().unwrap().ends_with("exec [BIN] PreCompact"));
    let test = test.config("maxBlocks: 3");
    run(&test.root(), &["install"]);
    assert_eq!(command(&root), Value::Null);
}

#[test]
fn in_a_folder_below_the_project_a_note_says_where_sessions_must_start() {
    let test = Test::stop().config("maxBlocks: 3").file("pkg/x", "");
    let root = test.root();
    let out = transcript(&root.join("pkg"), &["install"]).replace(root.to_str().unwrap(), "[PROJECT]");
    insta::assert_snapshot!(out, @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [PROJECT]/.claude/settings.json
    note: Claude Code reads that file in sessions that start in [PROJECT], not in folders below
    ");
    // Where settings are already, sessions start.
    let test = Test::stop().config("maxBlocks: 3").file("pkg/.claude/settings.json", "{}");
    insta::assert_snapshot!(transcript(&test.root().join("pkg"), &["install"]), @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    ");
    assert!(!test.root().join(".claude").exists());
}
