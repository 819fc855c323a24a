use serde_json::json;

use super::*;
use crate::install::settings::user_hooks;

fn sections(imported: &ImportResult) -> String {
    let left: String = imported.left.iter().map(|what| format!("left: {what}\n")).collect();
    format!("{}{left}", imported.sections().concat())
}

#[test]
fn a_hook_becomes_a_command_for_the_same_agents() {
    let settings = json!({"hooks": {
        "SubagentStop": [
            {"matcher": "coder|tester", "hooks": [
                {"type": "command", "command": "npm run lint", "timeout": 60},
                {"type": "command", "command": "test -e x || exit 2", "async": false},
            ]},
            {"matcher": "^cod", "hooks": [{"type": "command", "command": "regex"}]},
            {"hooks": [{"type": "prompt", "prompt": "Is it done?"}, {"type": "command", "command": "bg", "async": true}]},
        ],
        "SubagentStart": [{"matcher": "*", "hooks": [{"type": "command", "command": "echo \"hi\"", "timeout": 9000}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "make"}]}],
        "Unheard": [{"hooks": [{"type": "command", "command": "x"}]}],
    }});
    let mut imported = ImportResult::default();
    imported.add_hooks(user_hooks(&settings.to_string()), None);
    insta::assert_snapshot!(sections(&imported), @r#"
    subagentStop:
      commands:
        "{coder,tester}":
          - run: "npm run lint"
            protocol: "hook"
            timeout: 60
            parallel: true
          - run: "test -e x || exit 2"
            protocol: "hook"
            parallel: true
    subagentStart:
      commands:
        "*":
          - run: "echo \"hi\""
            protocol: "hook"
            timeout: 3600
    stop:
      commands:
        "*":
          - run: "make"
            protocol: "hook"
    left: the hook `regex` of SubagentStop: its matcher is a regular expression, and patterns here are globs; it stays where it is
    left: the hook `prompt` of SubagentStop: it is of type `prompt` and not a command; it stays where it is
    left: the hook `bg` of SubagentStop: it has `async`, which a command cannot have; it stays where it is
    left: the hook `x` of Unheard: conclaude knows no event of this name; it stays where it is
    "#);
    let taken: Vec<&str> = imported.hooks.iter().filter_map(UserHook::command).collect();
    assert_eq!(taken, ["npm run lint", "test -e x || exit 2", "echo \"hi\"", "make"]);
}

#[test]
fn a_hook_that_the_config_has_is_removed_and_another_one_named() {
    let settings = json!({"hooks": {"SubagentStop": [{"hooks": [{"command": "npm run lint"}, {"command": "npm test"}]}]}});
    let text = "subagentStop: {commands: {'*': [{run: npm run lint}]}}";
    let config = ConclaudeConfig::parse(text, Path::new("x")).unwrap();
    let mut imported = ImportResult::default();
    imported.add_hooks(user_hooks(&settings.to_string()), Some(&config));
    assert_eq!((imported.hooks.len(), imported.covered.len()), (0, 1));
    assert!(imported.is_empty());
    insta::assert_snapshot!(sections(&imported), @r#"left: the hook `npm test` of SubagentStop: the config has a section `subagentStop` already: add `- {"run":"npm test","protocol":"hook"}` to "*" under its `commands`, then `conclaude init --import` removes the hook"#);
}

#[test]
fn a_config_of_the_original_is_taken_over_as_far_as_it_goes() {
    let text = r#"
stop:
  commands:
    - run: npm test
      showStdout: true
  infinite: false
  rounds: 3
subagentStop:
  commands:
    coder:
      - run: npm run lint
        showStdout: true
        showCommand: false
        message: Linting failed
        maxOutputLines: null
        timeout: 60
    "test*":
      - run: npm test
        notifyPerCommand: true
preToolUse:
  preventRootAdditions: true
  uneditableFiles: ["*.lock"]
  preventAdditions: []
  generatedFileMessage: null
notifications:
  enabled: true
  hooks: ["Stop", "SubagentStop", "Bogus"]
  showErrors: true
permissionRequest:
  default: deny
gitWorktree:
  enabled: true
"#;
    let imported = original(text).unwrap();
    insta::assert_snapshot!(sections(&imported), @r#"
    stop:
      commands: [{"run":"npm test","showStdout":true}]
    subagentStop:
      commands:
        "coder":
          - run: "npm run lint"
            showStdout: true
            showCommand: false
            message: "Linting failed"
            maxOutputLines: null
            timeout: 60
        "test*":
          - run: "npm test"
            notifyPerCommand: true
    preToolUse:
      preventRootAdditions: true
      uneditableFiles: ["*.lock"]
    notifications:
      enabled: true
      hooks: ["Stop","SubagentStop"]
      showErrors: true
    permissionRequest:
      default: "deny"
    left: `stop.rounds`: conclaude 0.2 had this key: write `infinite: true`; `maxBlocks` is the number of rounds
    left: `notifications.hooks`: "Bogus" is not known here
    left: `gitWorktree.enabled`: conclaude 0.2 had this key: Claude Code makes worktrees; `worktreeCreate` can do it instead
    "#);
    assert!(ConclaudeConfig::parse(&imported.sections().concat(), Path::new("x")).is_ok());
    assert_eq!(original("- a list"), None);
    assert_eq!(original("a: [1"), None);
}
