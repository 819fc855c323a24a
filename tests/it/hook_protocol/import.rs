//! `init --import`: which hooks are taken over.

use serde_json::json;

use crate::common::{Test, run_in};

#[test]
fn hooks_that_are_no_plain_commands_stay_in_the_settings_and_that_is_said() {
    let hooks = json!([
        {"type": "prompt", "prompt": "Is it done?"}, {"type": "agent", "prompt": "Look."},
        {"type": "http", "url": "http://localhost"}, {"type": "mcp_tool", "server": "s", "tool": "t"},
        {"type": "command", "command": "bg", "async": true}, {"type": "command", "command": "direct", "args": ["a"]},
        {"type": "command", "command": "only", "if": "Bash(git *)"}, {"type": "command", "command": "strict", "onFailure": "block"},
        {"type": "command", "command": "taken", "timeout": 5, "statusMessage": "checking"},
    ]);
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Task|Bash", "hooks": hooks}]}});
    let test = Test::stop().file(".claude/settings.json", settings.to_string());
    let (_, shown, _) = run_in(&test.root(), &["init", "--import"]);
    let about: Vec<&str> = shown.lines().filter(|line| line.contains("the hook")).collect();
    insta::assert_snapshot!(about.join("\n"), @r#"
    took over the hook `taken` of PreToolUse: it is in the config now, and no longer in the settings
    not taken over: the hook `prompt` of PreToolUse: it is of type `prompt` and not a command; it stays where it is
    not taken over: the hook `agent` of PreToolUse: it is of type `agent` and not a command; it stays where it is
    not taken over: the hook `http` of PreToolUse: it is of type `http` and not a command; it stays where it is
    not taken over: the hook `mcp_tool` of PreToolUse: it is of type `mcp_tool` and not a command; it stays where it is
    not taken over: the hook `bg` of PreToolUse: it has `async`, which a command cannot have; it stays where it is
    not taken over: the hook `direct` of PreToolUse: it has `args`, which a command cannot have; it stays where it is
    not taken over: the hook `only` of PreToolUse: it has `if`, which a command cannot have; it stays where it is
    not taken over: the hook `strict` of PreToolUse: it has `onFailure`, which a command cannot have; it stays where it is
    note: the hook `taken` of PreToolUse had the `statusMessage` "checking", which Claude Code no longer shows: commands of a config have none
    "#);
    let config = std::fs::read_to_string(test.root().join(".conclaude.yaml")).unwrap();
    assert!(
        config.contains(
            "\"{Agent,Bash}\":\n      - run: \"taken\"\n        protocol: \"hook\"\n        timeout: 5\n"
        ),
        "{config}"
    );
    let left = std::fs::read_to_string(test.root().join(".claude/settings.json")).unwrap();
    assert!(!left.contains("taken") && left.contains("strict") && left.contains("mcp_tool"), "{left}");
}

/// A guard that the config runs as a plain command was taken for one that it has already, and removed: nothing denied any more.
#[test]
fn a_guard_that_the_config_runs_as_a_plain_command_is_not_removed() {
    let settings =
        json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "sh guard.sh"}]}]}});
    let test = Test::stop()
        .config("preToolUse: {commands: {'*': [{run: sh guard.sh}]}}\n")
        .file(".claude/settings.json", settings.to_string());
    let (_, shown, _) = run_in(&test.root(), &["init", "--import"]);
    assert!(shown.contains("add `protocol: hook` there"), "{shown}");
    assert!(std::fs::read_to_string(test.root().join(".claude/settings.json")).unwrap().contains("guard.sh"));
}
