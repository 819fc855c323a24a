//! The plugin for Claude Code: its files are made from the program's own tables. `UPDATE_PLUGIN=1 cargo test --test it plugin` writes
//! them again.

use std::fs;
use std::path::Path;

use conclaude_core::dialect::claude;
use conclaude_core::event;
use conclaude_engine::install::settings::{Caller, ProgramSearch, RegisteredLine, RegisteredProgram};
use conclaude_engine::install::templates::STEP_COMMAND;
use serde_json::{Map, Value, json};

use crate::common::{Test, run_in};

/// These change what Claude Code does, or cost a process with every word: only a config can ask for them.
const LEFT_OUT: [&str; 4] = ["WorktreeCreate", "WorktreeRemove", "FileChanged", "MessageDisplay"];

fn committed(path: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin").join(path);
    if std::env::var_os("UPDATE_PLUGIN").is_some() {
        fs::write(&path, made).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap();
    assert_eq!(found, made, "{} is out of date: UPDATE_PLUGIN=1 cargo test --test it plugin", path.display());
}

#[test]
fn the_plugin_calls_at_every_event_behind_the_check_for_the_program() {
    let mut hooks = Map::new();
    for event in event::ALL.iter().filter(|event| !LEFT_OUT.contains(&event.name())) {
        let program = RegisteredProgram::Found(ProgramSearch::default());
        let line =
            RegisteredLine { client: &claude::DIALECT, program, event: event.name(), caller: Caller::Plugin };
        let timeout = claude::DIALECT.settings.timeouts.of(event.name(), *event);
        let hook = json!({"type": "command", "command": line.text(), "timeout": timeout});
        hooks.insert(event.name().into(), json!([{"hooks": [hook]}]));
    }
    assert_eq!(hooks.len(), event::ALL.len() - LEFT_OUT.len());
    committed(
        "hooks/hooks.json",
        &format!("{:#}\n", Value::Object([("hooks".to_owned(), Value::Object(hooks))].into_iter().collect())),
    );
}

#[test]
fn the_manifests_have_the_version_and_the_addresses_of_the_program() {
    let (repository, homepage) = (env!("CARGO_PKG_REPOSITORY"), env!("CARGO_PKG_HOMEPAGE"));
    let author = json!({"name": "conclaude", "url": repository});
    let plugin = json!({
        "name": "conclaude",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Runs your checks and guards on every hook event, from one file in the project: subagents stop only when their work is done",
        "author": author,
        "homepage": homepage,
        "repository": repository,
        "license": env!("CARGO_PKG_LICENSE"),
        "keywords": ["hooks", "subagents", "guards", "audit"],
    });
    committed(".claude-plugin/plugin.json", &format!("{plugin:#}\n"));
    let marketplace = json!({
        "name": "conclaude",
        "owner": author,
        "description": "The plugin of conclaude: hooks that make subagents trustworthy",
        "plugins": [{
            "name": "conclaude",
            "source": "./plugin",
            "description": "Runs your checks and guards on every hook event, from one file in the project",
            "category": "development",
        }],
    });
    committed("../.claude-plugin/marketplace.json", &format!("{marketplace:#}\n"));
}

#[test]
fn the_plugins_step_command_is_that_of_init() {
    committed("commands/step.md", STEP_COMMAND);
}

const CONFIG: &str = "subagentStop: {commands: [{run: echo ran >> ran; exit 1, onFailure: block}]}\n";

fn trusted() -> Test {
    let test = Test::stop().config(CONFIG).flag("--plugin");
    assert_eq!(run_in(&test.root(), &["trust", "--yes"]).0, Some(0));
    test
}

#[test]
fn the_plugin_alone_blocks_where_the_project_is_trusted() {
    let answer = trusted().run().status(2);
    assert_eq!(answer.read("ran"), "ran\n");
    let untrusted = Test::stop().config(CONFIG).flag("--plugin").run().status(0);
    assert!(untrusted.message().contains("conclaude trust"), "{}", untrusted.message());
    assert!(!untrusted.has("ran"));
}

#[test]
fn the_plugin_does_nothing_where_settings_register_the_event() {
    for scope in ["--project", "--local", "--user"] {
        let test = trusted();
        assert_eq!(run_in(&test.root(), &["install", scope]).0, Some(0), "{scope}");
        let answer = test.run().silent();
        assert!(!answer.has("ran") && !answer.has(".conclaude/audit"), "{scope}");
        assert_eq!(run_in(&answer.root(), &["uninstall", scope]).0, Some(0), "{scope}");
        answer.again().run().status(2);
    }
}

#[test]
fn the_plugin_handles_a_tool_that_the_matcher_in_the_settings_excludes() {
    let guarded = "preToolUse: {unreadableFiles: [.env]}\n";
    let test = Test::event("PreToolUse").without("agent_id").config("maxBlocks: 2\n").flag("--plugin");
    let test = test.payload("tool_name", "Read").payload("tool_input", json!({"file_path": ".env"}));
    run_in(&test.root(), &["install", "--local"]);
    let denied = test.config(guarded).run().status(2);
    run_in(&denied.root(), &["install", "--local"]);
    denied.again().run().silent();
}

#[test]
fn a_file_that_claude_code_ignores_does_not_switch_the_plugin_off() {
    let test = trusted();
    run_in(&test.root(), &["install", "--project"]);
    let settings = test.root().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replacen('{', "{ // mine\n", 1)).unwrap();
    test.run().status(2);
}

fn doctor(root: &Path) -> String {
    let (_, out, _) = run_in(root, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let checks = report["checks"].as_array().unwrap().iter();
    let lines = checks.filter(|check| matches!(check["about"].as_str(), Some("plugin" | "settings")));
    lines
        .map(|check| format!("{} {}: {}\n", check["about"], check["status"], check["text"]))
        .collect::<String>()
        .replace('"', "")
}

/// Nothing of this config would run, and it was called healthy.
#[test]
fn where_only_the_plugin_calls_a_config_without_trust_is_a_problem() {
    let plugin = r#"{"enabledPlugins": {"conclaude@conclaude": true}}"#;
    let test = Test::stop().config(CONFIG).file(".home/.claude/settings.json", plugin);
    let root = test.root();
    let doctor = || run_in(&root, &["doctor"]);
    let (exit, out, _) = doctor();
    assert_eq!(exit, Some(1), "{out}");
    assert!(out.contains("✗ trust") && out.contains("→ conclaude trust\n"), "{out}");
    let (_, out, _) = run_in(&root, &["explain", "SubagentStop"]);
    assert!(out.contains("is not trusted"), "{out}");
    run_in(&root, &["trust", "--yes"]);
    let (exit, out, _) = doctor();
    assert_eq!(exit, Some(0), "{out}");
    assert!(out.contains("✓ trust"), "{out}");
}

#[test]
fn doctor_says_which_of_plugin_and_settings_counts() {
    let test = Test::stop()
        .config(CONFIG)
        .file(".home/.claude/settings.json", r#"{"enabledPlugins": {"conclaude@conclaude": true}}"#);
    let root = test.root();
    insta::assert_snapshot!(doctor(&root), @"plugin good: the plugin conclaude@conclaude calls conclaude: it counts here, and asks for `conclaude trust`");
    run_in(&root, &["install", "--local"]);
    insta::assert_snapshot!(doctor(&root), @"
    plugin good: the registration in .claude/settings.local.json counts: for its events the plugin conclaude@conclaude does nothing
    settings good: 8 events registered in .claude/settings.local.json
    ");
    fs::write(
        root.join(".home/.claude/settings.json"),
        r#"{"enabledPlugins": {"conclaude@conclaude": false}}"#,
    )
    .unwrap();
    assert!(!doctor(&root).contains("plugin"));
}
