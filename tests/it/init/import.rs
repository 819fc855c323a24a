//! `init --import`: hooks of the settings and a config of conclaude 0.2 become rules.

use serde_json::json;

use super::*;

const HOOKS: &str = r#"{
  "model": "opus",
  "hooks": {
    "SubagentStop": [
      {
        "matcher": "coder",
        "hooks": [
          {
            "type": "command",
            "command": "npm run lint",
            "timeout": 60
          }
        ]
      }
    ],
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      }
    ]
  }
}
"#;

#[test]
fn a_hook_that_would_run_the_same_command_twice_is_named() {
    let test = npm_project().file(".claude/settings.json", HOOKS);
    insta::assert_snapshot!(transcript(&test.root(), &["init"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml, based on package.json
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    warning: `npm run lint` is a hook of SubagentStop in [ROOT]/.claude/settings.json as well, and would run twice: remove it there, or `conclaude init --import --project`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    next: uncomment what you want there, then `conclaude doctor` checks the installation
    ");
}

#[test]
fn import_takes_hooks_over_and_out_of_the_settings() {
    let test = npm_project().file(".claude/settings.json", HOOKS);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml, based on package.json
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    took over the hook `npm run lint` of SubagentStop: it is in the config now, and no longer in the settings
    took over the hook `say done` of Stop: it is in the config now, and no longer in the settings
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    let config = read(root.join(".conclaude.yaml"));
    insta::assert_snapshot!(config.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n"), @r#"
    # yaml-language-server: $schema=./.conclaude/schema.json
    ##
    ## What conclaude does in this project. What was taken over runs; the rest does when you uncomment it.
    ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    ##
    ## Found here: package.json; agents that can write: coder.

    subagentStop:
      commands:
        "coder":
          - run: "npm run lint"
            protocol: "hook"
            timeout: 60
    "#);
    let settings = read(root.join(".claude/settings.json"));
    assert!(!settings.contains("npm run lint") && !settings.contains("say done"), "{settings}");
    assert_eq!(read(backup(&root)), HOOKS);
    let again = transcript(&root, &["init", "--import"]);
    insta::assert_snapshot!(again, @"
    exit 0
    [ROOT]/.conclaude.yaml is left unchanged
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    [ROOT]/.claude/settings.json already has everything that is needed
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    // As before, a hook that exits with 1 blocks nothing. The user is told.
    let path = fake_npm(&root);
    let done = test.env("PATH", &path).run().status(0).stderr_has("`npm run lint` exited with code 1");
    assert_eq!(
        done.message(),
        "conclaude: the hook `npm run lint` gave no usable answer: exited with code 1, so it decided nothing: src/a.js: unused"
    );
}

/// What a hook of SubagentStop is, as a settings file.
fn stop_hook(matcher: &str, command: &str) -> String {
    let hook = serde_json::json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
    serde_json::json!({"hooks": {"SubagentStop": [hook]}}).to_string()
}

#[test]
fn import_removes_a_hook_that_the_config_runs_in_another_spelling() {
    let config = "subagentStop:\n  commands:\n    coder: [{run: npm test, onFailure: block}]\n    tester: [{run: npm run test, onFailure: block}]\n";
    let hook = stop_hook("coder|tester", "cd \"$CLAUDE_PROJECT_DIR\" && npm run test || exit 2");
    let test = Test::stop().config(config).file(".claude/settings.json", &hook);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import"]), @r#"
    exit 0
    [ROOT]/.conclaude.yaml is left unchanged
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    removed the hook `cd "$CLAUDE_PROJECT_DIR" && npm run test || exit 2` of SubagentStop from the settings: the config runs it already
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    "#);
    assert_eq!(read(root.join(".conclaude.yaml")), config);
    assert!(!read(root.join(".claude/settings.json")).contains("npm run"));
    assert_eq!(read(backup(&root)), hook);
}

#[test]
fn a_hook_for_more_agents_than_the_config_is_left_with_what_to_change() {
    let config = "subagentStop:\n  commands:\n    coder: [{run: npm test}]\n";
    let hook = stop_hook("coder|tester", "npm run test");
    let test = Test::stop().config(config).file(".claude/settings.json", hook);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import"]), @r#"
    exit 0
    [ROOT]/.conclaude.yaml is left unchanged
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    not taken over: the hook `npm run test` of SubagentStop: `subagentStop` of the config runs it for "coder" only, and the hook for coder and tester: write "{coder,tester}" instead of "coder" there, then `conclaude init --import` removes the hook
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    "#);
    insta::assert_snapshot!(about_hooks(&root), @r#"
    ⚠ hooks        `npm test` runs twice at SubagentStop: by the config, and as a hook of your own in .claude/settings.json
                   → `subagentStop` of the config runs it for "coder" only, and the hook for coder and tester: write "{coder,tester}" instead of "coder" there, then `conclaude init --import` removes the hook
    "#);
    // What it says is enough.
    let test = test.config("subagentStop:\n  commands:\n    \"{coder,tester}\": [{run: npm test}]\n");
    insta::assert_snapshot!(about_hooks(&root), @"
    ⚠ hooks        `npm test` runs twice at SubagentStop: by the config, and as a hook of your own in .claude/settings.json
                   → conclaude init --import --project
    ");
    run_in(&root, &["init", "--import", "--project"]);
    insta::assert_snapshot!(about_hooks(&root), @"nothing");
    let config = "subagentStop:\n  commands:\n    \"*\": [{run: npm test}]\n";
    let test = test.config(config).file(".claude/settings.json", stop_hook("^cod", "npm test; say done"));
    insta::assert_snapshot!(transcript(&test.root(), &["init", "--import"]), @"
    exit 0
    [ROOT]/.conclaude.yaml is left unchanged
    not taken over: the hook `npm test; say done` of SubagentStop: its matcher is a regular expression, and patterns here are globs; it stays where it is
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    insta::assert_snapshot!(about_hooks(&root), @"
    ⚠ hooks        `npm test` runs twice at SubagentStop: by the config, and as a hook of your own in .claude/settings.json
                   → ${EDITOR:-vi} [ROOT]/.claude/settings.json  # remove that hook
    ");
}

/// What `doctor` says about hooks of the user's.
fn about_hooks(root: &Path) -> String {
    let shown = run_in(root, &["doctor"]).1;
    let lines: Vec<&str> = shown.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("⚠ hooks"));
    at.map_or_else(|| "nothing".into(), |at| lines[at..at + 2].join("\n"))
}

#[test]
fn an_import_that_is_only_tried_shows_both_files_and_changes_none() {
    let test = npm_project().file(".claude/settings.json", HOOKS);
    let root = test.root();
    let shown = transcript(&root, &["init", "--import", "--dry-run"]);
    for line in
        ["+subagentStop:", "+      - run: \"npm run lint\"", "-            \"command\": \"npm run lint\","]
    {
        assert!(shown.lines().any(|own| own == line), "{line:?} is not in\n{shown}");
    }
    assert_eq!(read(root.join(".claude/settings.json")), HOOKS);
    assert!(!root.join(".conclaude.yaml").exists());
}

#[test]
fn import_takes_a_config_of_the_original_over() {
    let original = "\
stop:
  rounds: 2
  commands:
    - run: npm test
subagentStop:
  commands:
    \"cod*\":
      - run: npm run lint
        showStderr: true
        showCommand: false
preToolUse:
  uneditableFiles: [\"*.lock\"]
notifications:
  enabled: true
  hooks: [\"SubagentStop\"]
";
    let test = npm_project().config(original);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import"]), @"
    exit 0
    the old config is kept in [ROOT]/.conclaude.yaml.before-init
    wrote [ROOT]/.conclaude.yaml, based on package.json
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    not taken over: `stop.rounds`: conclaude 0.2 had this key: write `infinite: true`; `maxBlocks` is the number of rounds
    note: preToolUse: new files in the project's root are allowed: conclaude 0.2 prevented them by default; write `preventRootAdditions: true` for that, or `false`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    let config = read(root.join(".conclaude.yaml"));
    insta::assert_snapshot!(config, @r#"
    # yaml-language-server: $schema=./.conclaude/schema.json
    ##
    ## What conclaude does in this project. What was taken over runs; the rest does when you uncomment it.
    ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    ##
    ## Found here: package.json; agents that can write: coder.
    ## Not taken over: `stop.rounds`: conclaude 0.2 had this key: write `infinite: true`; `maxBlocks` is the number of rounds

    stop:
      commands: [{"run":"npm test"}]

    subagentStop:
      commands:
        "cod*":
          - run: "npm run lint"
            showStderr: true
            showCommand: false

    preToolUse:
      uneditableFiles: ["*.lock"]

    notifications:
      enabled: true
      hooks: ["SubagentStop"]

    ## Commands after a tool, here after each edit of such files. What they say goes to Claude at once, so they should be fast.
    ## `conclaude install` then registers the event.
    # postToolUse:
    #   commands:
    #     "{Write,Edit}":
    #       - run: "git diff --check -- {files}"
    #         files: ["*"]
    #         onFailure: block

    ## Commands when a subagent starts. They can show and prepare things, but never block.
    # subagentStart:
    #   commands:
    #     "*":
    #       - run: "git status --short"

    ## Ready-made guards; `conclaude pack list` says what each is for. `conclaude install` then registers what they need.
    # extends: ["pack:secrets", "pack:git-safety", "pack:destructive-commands", "pack:lockfiles", "pack:cloud", "pack:containers", "pack:databases"]

    ## Who else keeps rules for files: the operating system, for commands, and Claude Code, for its file tools.
    ## `conclaude install` then registers what it needs, and `conclaude install --enforce` writes the rules into Claude Code's settings.
    # enforce: [sandbox, permissions]

    ## The gates for prompts with the marker DES-VALIDATION: required are on without any of this.
    # des:
    #   scope: block          # block | warn | off: files outside of the step's patterns
    #   evidence: []          # phases that only count if `conclaude des run` recorded them

    ## How often the stop of one agent is blocked, for whatever reason, before it is allowed (1-7).
    # maxBlocks: 3
    "#);
    assert_eq!(read(root.join(".conclaude.yaml.before-init")), original);
    assert_eq!(run_in(&root, &["validate"]).0, Some(0));
    let broken = Test::stop().config("subagentStop: [\n");
    let shown = transcript(&broken.root(), &["init", "--import"]);
    assert!(shown.starts_with("exit 1\nconclaude: invalid config"), "{shown}");
    assert_eq!(read(broken.root().join(".conclaude.yaml")), "subagentStop: [\n");
}

#[test]
fn import_adds_to_a_config_that_exists() {
    let test = Test::stop().config("maxBlocks: 5 # enough\n").file(".claude/settings.local.json", HOOKS);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--import", "--local"]), @"
    exit 0
    the old config is kept in [ROOT]/.conclaude.yaml.before-init
    wrote [ROOT]/.conclaude.yaml
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    took over the hook `npm run lint` of SubagentStop: it is in the config now, and no longer in the settings
    took over the hook `say done` of Stop: it is in the config now, and no longer in the settings
    warning: these hooks were yours alone, and .conclaude.yaml is shared: everybody who gets it runs them too. Move them to .conclaude.local.yaml to keep them to yourself
    registered conclaude in [ROOT]/.claude/settings.local.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.local.json.before-conclaude.[TIME]
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    insta::assert_snapshot!(read(root.join(".conclaude.yaml")), @r#"
    maxBlocks: 5 # enough

    subagentStop:
      commands:
        "coder":
          - run: "npm run lint"
            protocol: "hook"
            timeout: 60

    stop:
      commands:
        "*":
          - run: "say done"
            protocol: "hook"
    "#);
    insta::assert_snapshot!(transcript(&root, &["init", "--import", "--user"]), @"
    exit 1
    conclaude: --import takes over hooks of a project, and yours are for all of them: use it without --user, or with --local
    ");
}

/// Claude Code runs all hooks of an event at the same time, and after the import they ran one after the other.
#[test]
fn hooks_that_ran_at_the_same_time_still_do() {
    let meets = |own: &str, other: &str| {
        let run = format!("touch {own}; until [ -e {other} ]; do sleep 0.01; done");
        json!({"hooks": [{"type": "command", "command": run, "timeout": 60}]})
    };
    let hooks = json!({"hooks": {"Stop": [meets("one", "two"), meets("two", "one")]}});
    let test = Test::event("Stop").without("agent_id").file(".claude/settings.json", hooks.to_string());
    assert_eq!(run_in(&test.root(), &["init", "--import"]).0, Some(0));
    test.run().silent();
}

/// Both were dropped without a word.
#[test]
fn import_says_that_a_timeout_is_shorter_and_a_status_message_is_gone() {
    let hook =
        json!({"type": "command", "command": "./slow.sh", "timeout": 5000, "statusMessage": "Checking"});
    let settings = json!({"hooks": {"Stop": [{"hooks": [hook]}]}});
    let test = Test::stop().file(".claude/settings.json", settings.to_string());
    let shown = transcript(&test.root(), &["init", "--import"]);
    let notes: Vec<&str> = shown.lines().filter(|line| line.trim().starts_with("note: the hook")).collect();
    insta::assert_snapshot!(notes.join("\n"), @r#"
    note: the hook `./slow.sh` of Stop had a timeout of 5000 s, and has one of 3600 s now: a command cannot have a longer one
    note: the hook `./slow.sh` of Stop had the `statusMessage` "Checking", which Claude Code no longer shows: commands of a config have none
    "#);
}

/// The same answers, with and without hooks to take over.
#[test]
fn import_with_yes_switches_on_the_packs_that_yes_does() {
    let packs = |arguments: &[&str]| {
        let test = npm_project().file(".claude/settings.json", HOOKS);
        transcript(&test.root(), arguments);
        let config = std::fs::read_to_string(test.root().join(".conclaude.yaml")).unwrap();
        let packs =
            config.lines().filter(|line| !line.trim_start().starts_with('#') && line.contains("pack:"));
        packs.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(packs(&["init", "--import", "--yes"]), packs(&["init", "--yes"]));
    assert_eq!(packs(&["init", "--import"]), "");
}

/// A hook of one user ran for everybody after that.
#[test]
fn importing_hooks_of_ones_own_says_that_others_get_them_too() {
    let local = stop_hook("coder", "say done");
    let test = Test::stop().file(".claude/settings.local.json", &local);
    let shown = transcript(&test.root(), &["init", "--import"]);
    assert!(
        shown.contains("note: 1 hook of your own in [ROOT]/.claude/settings.local.json, not taken over: `conclaude init --import --local` does that"),
        "{shown}"
    );
    assert_eq!(read(test.root().join(".claude/settings.local.json")), local);
    let shown = transcript(&test.root(), &["init", "--import", "--local"]);
    assert!(
        shown.contains("warning: these hooks were yours alone, and .conclaude.yaml is shared: everybody who gets it runs them too. Move them to .conclaude.local.yaml"),
        "{shown}"
    );
}

/// It warned that Claude Code calls nothing, and ended with "the guards work in new sessions".
#[test]
fn where_an_entry_switches_an_event_off_init_does_not_say_that_all_works() {
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "check.sh"}]}}"#;
    let test = Test::stop().file(".claude/settings.json", settings);
    let shown = transcript(&test.root(), &["init", "--yes"]);
    assert!(shown.contains("has an entry without a list `hooks`"), "{shown}");
    assert!(shown.contains("next: fix the settings as the warning says"), "{shown}");
    assert!(!shown.contains("the guards work"), "{shown}");
}
