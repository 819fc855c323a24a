//! `conclaude install` and `uninstall`: the settings file belongs to the user.

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
                "command": "command -v [BIN] >/dev/null || { echo '{\"systemMessage\":\"conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: it is one binary. Copy it from the colleague who registered it (git log -1 .claude/settings.json) to a folder on your PATH, or run cargo install --path . in a checkout of its source.\"}'; exit 0; }; exec [BIN] SessionStart",
                "timeout": 3600
              }
            ]
          }
        ],
        "PreToolUse": [
          {
            "matcher": "Agent|Write|Edit|MultiEdit|NotebookEdit|Bash",
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
            "matcher": "Agent",
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
                "statusMessage": "conclaude: subagentStart commands"
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
                "statusMessage": "conclaude: subagentStop commands"
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
    [ROOT]/.claude/settings.json has all that is needed already
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
    [ROOT]/.claude/settings.json has nothing of conclaude
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
}

#[test]
fn settings_of_others_survive_byte_for_byte_and_come_back_exactly() {
    for original in [
        "{\n\t\"zebra\": 1.50,\n\t\"hooks\": {},\n\t\"alpha\": [ ]\n}",
        "{\"hooks\": {\"SubagentStop\": [], \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}]}}\n\n",
        "{}",
        "\u{feff}{\r\n  \"model\": \"opus\"\r\n}",
        "{\n  // mine\n  \"model\": \"opus\", // the best\n}\n",
        "{\"b\": 1e999}",
    ] {
        let test = Test::stop().file(FILE, original);
        let root = test.root();
        assert_eq!(run(&root, &["install"]).0, Some(0));
        assert_ne!(settings(&root), original);
        let kept = std::fs::read_to_string(copies(&root).first().unwrap()).unwrap();
        assert_eq!(kept, original);
        assert_eq!(run(&root, &["uninstall"]).0, Some(0));
        assert_eq!(settings(&root), original);
        assert_eq!(copies(&root), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn a_file_with_comments_can_be_edited_with_a_warning_that_claude_code_ignores_it() {
    let original = "{\n  // mine\n  \"model\": \"opus\", // the best\n  \"hooks\": {\n    \"Stop\": [] // none\n  },\n}\n";
    let test = Test::stop().config("maxBlocks: 3").file(FILE, original);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install", "--dry-run"]), @r#"
    exit 0
    warning: Claude Code ignores the whole file, since it is not plain JSON: Comments are not allowed on line 2 column 3. Until that is fixed, nothing in it counts
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    --- [ROOT]/.claude/settings.json
    +++ [ROOT]/.claude/settings.json
    @@ -3,5 +3,96 @@
       "model": "opus", // the best
       "hooks": {
    -    "Stop": [] // none
    +    "Stop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] Stop",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ], // none
    +    "SessionStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || { echo '{\"systemMessage\":\"conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: it is one binary. Copy it from the colleague who registered it (git log -1 .claude/settings.json) to a folder on your PATH, or run cargo install --path . in a checkout of its source.\"}'; exit 0; }; exec [BIN] SessionStart",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ],
    +    "PreToolUse": [
    +      {
    +        "matcher": "Agent|Write|Edit|MultiEdit|NotebookEdit|Bash",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] PreToolUse",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ],
    +    "PostToolUse": [
    +      {
    +        "matcher": "Agent",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] PostToolUse",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ],
    +    "UserPromptSubmit": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] UserPromptSubmit",
    +            "timeout": 3600
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStart",
    +            "timeout": 3600,
    +            "statusMessage": "conclaude: subagentStart commands"
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStop",
    +            "timeout": 3600,
    +            "statusMessage": "conclaude: subagentStop commands"
    +          }
    +        ]
    +      }
    +    ],
    +    "SessionEnd": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SessionEnd",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ]
       },
     }
    "#);
    insta::assert_snapshot!(transcript(&root, &["install"]), @"
    exit 0
    warning: Claude Code ignores the whole file, since it is not plain JSON: Comments are not allowed on line 2 column 3. Until that is fixed, nothing in it counts
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    ");
    let edited = settings(&root).replace("opus", "sonnet");
    std::fs::write(root.join(FILE), edited).unwrap();
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    stays: [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude (a copy of the settings)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
    insta::assert_snapshot!(shown(&root), @r#"
    {
      // mine
      "model": "sonnet", // the best
      "hooks": { // none
      },
    }
    "#);
}

#[test]
fn what_the_user_changed_meanwhile_stays() {
    let test = Test::stop().file(FILE, "{\n  \"model\": \"opus\"\n}\n");
    let root = test.root();
    run(&root, &["install"]);
    let changed = settings(&root).replace("\"opus\"", "\"sonnet\"");
    std::fs::write(root.join(FILE), changed).unwrap();
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn what_is_registered_does_not_change_with_the_commands_of_the_config() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let before = settings(&root);
    for yaml in ["subagentStop: {commands: {coder: [{run: x}]}}", "maxBlocks: 3"] {
        std::fs::write(root.join(".conclaude.yaml"), yaml).unwrap();
        assert!(run(&root, &["install"]).1.contains("has all that is needed already"));
        assert_eq!(settings(&root), before);
    }
}

/// The command lines that are registered, by event, with another program.
fn lines_with(root: &Path, program: &str) -> Vec<(String, String)> {
    let json: Value = serde_json::from_str(&shown(root).replace("[BIN]", program)).unwrap();
    let line = |groups: &Value| groups[0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    json["hooks"].as_object().unwrap().iter().map(|(event, groups)| (event.clone(), line(groups))).collect()
}

#[cfg(unix)]
#[test]
fn where_the_program_is_missing_only_the_start_of_a_session_says_so() {
    let test = Test::stop().config("maxBlocks: 3");
    let root = test.root();
    run(&root, &["install"]);
    for program in ["/nowhere/conclaude", "conclaude"] {
        let lines = lines_with(&root, program);
        assert_eq!(lines.len(), 8);
        let mut said = String::new();
        for (event, line) in lines {
            let mut shell = test.program("/bin/sh");
            let output = shell.args(["-c", &line]).env("PATH", "/usr/bin:/bin").output().unwrap();
            assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{line}");
            if !output.stdout.is_empty() {
                let json: Value = serde_json::from_slice(&output.stdout).unwrap();
                said += &format!("{event}: {}\n", json["systemMessage"].as_str().unwrap());
            }
        }
        insta::allow_duplicates! { insta::assert_snapshot!(said, @"SessionStart: conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: it is one binary. Copy it from the colleague who registered it (git log -1 .claude/settings.json) to a folder on your PATH, or run cargo install --path . in a checkout of its source."); }
    }
}

#[cfg(unix)]
#[test]
fn what_is_registered_passes_payload_answer_and_exit_code_on() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: exit 1, onFailure: block}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let own = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
    let lines = lines_with(&root, own.to_str().unwrap());
    let line = &lines.iter().find(|(event, _)| event == "SubagentStop").unwrap().1;
    let mut shell = test.program("/bin/sh");
    shell.args(["-c", line]);
    insta::assert_snapshot!(test.run_as(shell).blocked(), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `exit 1` exited with code 1
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

/// The settings as an earlier version wrote them.
fn plain_form(root: &Path) -> String {
    let mut json: Value = serde_json::from_str(&settings(root)).unwrap();
    for (event, groups) in json["hooks"].as_object_mut().unwrap() {
        let hook = groups[0]["hooks"][0].as_object_mut().unwrap();
        hook.insert("command".into(), format!("{} {event}", env!("CARGO_BIN_EXE_conclaude")).into());
        hook.insert("timeout".into(), 60.into());
        hook.shift_remove("statusMessage");
    }
    format!("{json:#}\n")
}

#[test]
fn a_registration_of_an_earlier_version_is_reported_once_and_brought_up_to_date() {
    let test = Test::event("SessionStart").config("maxBlocks: 3");
    let root = test.root();
    run(&root, &["install"]);
    let now = settings(&root);
    std::fs::write(root.join(FILE), plain_form(&root)).unwrap();
    let answer = test.run();
    insta::assert_snapshot!(answer.steady(&answer.message()), @"
    conclaude: the registration with Claude Code is out of sync with the config:
    ⚠ [ROOT]/.claude/settings.json registers conclaude as an earlier version did: where the program is missing, each event is an error
    To fix it: conclaude install --project
    ");
    run(&root, &["install"]);
    assert_eq!(settings(&root), now);
    let _kept = answer.again().run().silent();
    // Nor does uninstalling leave anything of it.
    std::fs::write(root.join(FILE), plain_form(&root)).unwrap();
    run(&root, &["uninstall"]);
    assert!(!root.join(FILE).exists());
}

#[cfg(unix)]
#[test]
fn copies_of_settings_are_in_the_users_state_and_for_nobody_else_to_read() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().config("maxBlocks: 3").file(FILE, "{\"env\": {\"TOKEN\": \"secret\"}}");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install"]), @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    ");
    let names: Vec<_> =
        std::fs::read_dir(root.join(".claude")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["settings.json"], "nothing beside the settings");
    let copies = copies(&root);
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(&copies[0]).unwrap(), "{\"env\": {\"TOKEN\": \"secret\"}}");
}

#[cfg(unix)]
#[test]
fn no_copy_of_local_settings_is_left_where_git_takes_it() {
    use std::os::unix::fs::PermissionsExt;
    const LOCAL: &str = ".claude/settings.local.json";
    let test =
        Test::stop().config("maxBlocks: 3").file(".gitignore", "settings.local.json\n.state-home\n.home\n");
    let test = test.file(LOCAL, "{\"env\": {\"TOKEN\": \"secret\"}}").git(&["init", "-q"]);
    let root = test.root();
    // Of an earlier version, for anybody to read.
    let beside = root.join(".claude/settings.local.json.before-conclaude");
    std::fs::write(&beside, "{\"env\": {\"TOKEN\": \"secret\"}}").unwrap();
    insta::assert_snapshot!(transcript(&root, &["install", "--local"]), @"
    exit 0
    moved [ROOT]/.claude/settings.local.json.before-conclaude out of the project, to [ROOT]/.state-home/conclaude/backups/[HASH]/settings.local.json.before-conclaude
    registered conclaude in [ROOT]/.claude/settings.local.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.local.json.before-conclaude
    git ignores .conclaude.local.yaml here: added it to [ROOT]/.git/info/exclude
    ");
    let modes = |root: &Path| -> Vec<u32> {
        copies(root).iter().map(|copy| copy.metadata().unwrap().permissions().mode() & 0o777).collect()
    };
    std::fs::write(root.join(".conclaude.yaml"), "des: {enabled: false}").unwrap();
    run(&root, &["install", "--local"]);
    assert_eq!(modes(&root), [0o600, 0o600], "as it was before conclaude, and before the last change");
    let test = test.git(&["add", "-A"]);
    let mut grep = test.program("git");
    let staged = grep.args(["grep", "--cached", "-l", "secret"]).current_dir(&root).output().unwrap();
    assert_eq!(String::from_utf8(staged.stdout).unwrap(), "");
    run(&root, &["uninstall", "--local"]);
    assert_eq!(std::fs::read_to_string(root.join(LOCAL)).unwrap(), "{\"env\": {\"TOKEN\": \"secret\"}}");
}

#[test]
fn a_copy_that_an_earlier_version_left_beside_the_settings_still_counts() {
    // Only the copy knows that the file was blank.
    let test = Test::stop().config("maxBlocks: 3").file(FILE, "  \n");
    let root = test.root();
    run(&root, &["install"]);
    let beside = root.join(".claude/settings.json.before-conclaude");
    std::fs::rename(copies(&root).first().unwrap(), &beside).unwrap();
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), "  \n");
    assert!(!beside.exists());
}

/// The copies of settings in the user's state.
fn copies(root: &Path) -> Vec<std::path::PathBuf> {
    let folders =
        std::fs::read_dir(root.join(".state-home/conclaude/backups")).into_iter().flatten().flatten();
    folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten()).map(|e| e.path()).collect()
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
    // Whoever names another one, or none, gets none.
    let other = Test::event("SessionStart").config("maxBlocks: 3\n").run().silent();
    assert!(!other.has(".conclaude"));
}

#[test]
fn what_runs_commands_says_so_while_they_run() {
    let test = Test::stop().config("maxBlocks: 3");
    run(&test.root(), &["install"]);
    let json: Value = serde_json::from_str(&settings(&test.root())).unwrap();
    let hooks = json["hooks"].as_object().unwrap().iter();
    let texts = hooks.filter_map(|(event, groups)| {
        Some(format!("{event}: {}\n", groups[0]["hooks"][0]["statusMessage"].as_str()?))
    });
    insta::assert_snapshot!(texts.collect::<String>(), @"
    SubagentStart: conclaude: subagentStart commands
    SubagentStop: conclaude: subagentStop commands
    ");
}

#[test]
fn uninstalling_says_what_stays_and_purging_removes_it() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: 'true'}]}}").file(FILE, "{}");
    let root = test.root();
    run(&root, &["install"]);
    run(&root, &["install", "--local"]);
    run(&root, &["trust", "--yes"]);
    let answer = test.run().silent();
    let root = answer.root();
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    stays: the registration in [ROOT]/.claude/settings.local.json; `conclaude uninstall --local` removes it
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    stays: [ROOT]/.state-home/conclaude/trusted/[HASH].json (your trust in the config)
    stays: [ROOT]/.state-home/conclaude/[HASH].json (a copy of the end of the audit trail)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
    let shown = transcript(&root, &["uninstall", "--local", "--purge", "--dry-run"]);
    let after_the_diff: Vec<&str> = shown.lines().filter(|line| line.starts_with("would")).collect();
    insta::assert_snapshot!(after_the_diff.join("\n"), @"
    would remove [ROOT]/.conclaude (state, messages and audit trail)
    would remove [ROOT]/.state-home/conclaude/trusted/[HASH].json (your trust in the config)
    would remove [ROOT]/.state-home/conclaude/[HASH].json (a copy of the end of the audit trail)
    ");
    assert!(root.join(".conclaude/audit").exists());
    insta::assert_snapshot!(transcript(&root, &["uninstall", "--local", "--purge"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.local.json
    removed [ROOT]/.conclaude (state, messages and audit trail)
    removed [ROOT]/.state-home/conclaude/trusted/[HASH].json (your trust in the config)
    removed [ROOT]/.state-home/conclaude/[HASH].json (a copy of the end of the audit trail)
    stays: [ROOT]/.conclaude.yaml, which is yours
    ");
    assert!(root.join(".conclaude.yaml").exists() && !root.join(".conclaude").exists());
    let mut left = Vec::new();
    files_in(&root.join(".state-home"), &mut left);
    assert_eq!(left, Vec::<std::path::PathBuf>::new(), "nothing of this project in the user's state");
    insta::assert_snapshot!(transcript(&root, &["uninstall", "--purge"]), @"
    exit 0
    [ROOT]/.claude/settings.json has nothing of conclaude
    nothing else of this project is kept
    stays: [ROOT]/.conclaude.yaml, which is yours
    ");
}

fn files_in(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() { files_in(&entry.path(), found) } else { found.push(entry.path()) }
    }
}

#[test]
fn purging_removes_the_copies_of_this_project_and_leaves_what_belongs_to_others() {
    let project = || Test::stop().config("maxBlocks: 3").file(FILE, "{}");
    let (test, other) = (project(), project());
    let in_one_home = |root: &Path, arguments: &[&str]| {
        let mut command = crate::common::conclaude_in(root);
        command.args(arguments).env("XDG_STATE_HOME", test.root().join("state"));
        assert!(command.output().unwrap().status.success());
    };
    for root in [test.root(), other.root()] {
        in_one_home(&root, &["install"]);
        in_one_home(&root, &["trust", "--yes"]);
    }
    // Changed meanwhile, so that a copy is kept when it is uninstalled.
    std::fs::write(test.root().join(FILE), settings(&test.root()).replacen('{', "{\"model\": \"opus\",", 1))
        .unwrap();
    in_one_home(&test.root(), &["uninstall", "--purge"]);
    let mut left = Vec::new();
    files_in(&test.root().join("state"), &mut left);
    assert_eq!(left.len(), 2, "trust and copy of the other project: {left:?}");
    assert!(!test.root().join(".conclaude").exists() && other.root().join(".conclaude").exists());
}

#[cfg(unix)]
#[test]
fn purging_never_follows_a_link() {
    let elsewhere = Test::stop().file("precious", "x");
    let test = Test::stop().config("maxBlocks: 3");
    std::os::unix::fs::symlink(elsewhere.root(), test.root().join(".conclaude")).unwrap();
    insta::assert_snapshot!(transcript(&test.root(), &["uninstall", "--purge"]), @"
    exit 1
    [ROOT]/.claude/settings.json has nothing of conclaude
    conclaude: [ROOT]/.conclaude is left as it is: it is not a folder
    ");
    assert!(elsewhere.root().join("precious").exists());
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
fn broken_or_unusual_settings_are_refused_and_untouched() {
    let mut refusals = String::new();
    for content in [
        "// mine\n",
        "{\"a\": }",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": {}}}",
        "[]",
        "{\"a\": \"\\ud800\"}",
    ] {
        let test = Test::stop().file(FILE, content);
        refusals += &format!("{}\n{}", content.trim_end(), transcript(&test.root(), &["install"]));
        assert_eq!(settings(&test.root()), content);
    }
    insta::assert_snapshot!(refusals, @r#"
    // mine
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: the settings file is not a JSON object
    {"a": }
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: the settings file is not JSON: Unexpected close brace on line 1 column 7
    {"hooks": {}, "hooks": {}}
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: the settings file has the duplicate key `hooks`: merge the two first
    {"hooks": []}
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: `hooks` is not a JSON object
    {"hooks": {"Stop": {}}}
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: `hooks.Stop` is not a list
    []
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: the settings file is not a JSON object
    {"a": "\ud800"}
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: the settings file is not JSON: Invalid unicode escape sequence. 'd800 (unpaired high surrogate)' is not a valid UTF8 character on line 1 column 8
    "#);
    let large = format!("{{}}{}", " ".repeat(16 << 20));
    let test = Test::stop().file(FILE, &large);
    insta::assert_snapshot!(transcript(&test.root(), &["install"]), @"
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: it has 16777218 bytes, at most 16777216 are read
    ");
    assert_eq!(settings(&test.root()).len(), large.len());
    let broken = Test::stop().config("bogus: 1");
    insta::assert_snapshot!(transcript(&broken.root(), &["install"]), @"
    exit 1
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem

    error: unknown key `bogus` in the config
     --> [ROOT]/.conclaude.yaml:1:1
      |
    1 | bogus: 1
      | ^^^^^ not a key of this section
      |
      = help: allowed here: `extends`, `maxBlocks`, `notifications`, `des`, `audit`, `telemetry`, `report`, and events in camelCase, such as `subagentStop`
    ");
}

#[cfg(unix)]
#[test]
fn a_program_of_another_name_would_not_recognise_its_entries() {
    let test = Test::stop();
    let renamed = test.root().join("conclaude-2");
    crate::common::program::copy(env!("CARGO_BIN_EXE_conclaude"), &renamed);
    let output = std::process::Command::new(&renamed)
        .arg("install")
        .current_dir(test.root())
        .env("HOME", test.root().join(".home"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap().replace(test.root().to_str().unwrap(), "[ROOT]");
    insta::assert_snapshot!(err, @"conclaude: this program is [ROOT]/conclaude-2: name it conclaude before you install it");
    assert!(!test.root().join(".claude").exists());
}

#[cfg(unix)]
#[test]
fn a_link_or_a_read_only_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file("mine.json", "{}").file(".claude/x", "");
    std::os::unix::fs::symlink("../mine.json", test.root().join(FILE)).unwrap();
    insta::assert_snapshot!(transcript(&test.root(), &["install"]), @"
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left as it is: it is a link; change what it points to yourself
    ");
    assert_eq!(std::fs::read_to_string(test.root().join("mine.json")).unwrap(), "{}", "untouched");
    let test = Test::stop().file(FILE, "{}");
    let path = test.root().join(FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let (code, _, err) = run(&test.root(), &["install"]);
    assert_eq!(code, Some(1));
    // The system's own words follow where the user is not root.
    assert!(
        err.starts_with("conclaude: [ROOT]/.claude/settings.json is left as it is: it is read-only"),
        "{err}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}", "untouched");
}

#[cfg(unix)]
#[test]
fn the_rights_of_the_file_stay() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file(FILE, "{}");
    let path = test.root().join(FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    run(&test.root(), &["install"]);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_frontmatter_of_agents_is_never_changed() {
    const AGENT: &str = "---\nname: coder # the one\ndescription: writes code\n---\nYou are a coder.\r\n";
    let test = Test::stop().file(".claude/agents/coder.md", AGENT);
    insta::assert_snapshot!(transcript(&test.root(), &["install", "--agents"]), @"
    exit 1
    error: unexpected argument '--agents' found

    Usage: conclaude install [OPTIONS]

    For more information, try '--help'.
    ");
    run(&test.root(), &["install"]);
    assert_eq!(std::fs::read_to_string(test.root().join(".claude/agents/coder.md")).unwrap(), AGENT);
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
fn blank_and_empty_settings_come_back_as_they_were() {
    for blank in ["", "\n", "  \n\n"] {
        let test = Test::stop().file(FILE, blank);
        let root = test.root();
        assert_eq!(run(&root, &["install"]).0, Some(0));
        assert_ne!(settings(&root), blank);
        assert_eq!(run(&root, &["uninstall"]).0, Some(0));
        assert_eq!(settings(&root), blank);
    }
}

#[test]
fn a_file_that_others_changed_since_is_kept_before_each_change() {
    let test = Test::stop().config("subagentStop: {commands: {a: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let edited = settings(&root).replacen('{', "{\n  \"model\": \"opus\",", 1);
    std::fs::write(root.join(FILE), &edited).unwrap();
    let test = test.config("des: {enabled: false}");
    insta::assert_snapshot!(transcript(&test.root(), &["install"]), @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude
    ");
    assert_eq!(std::fs::read_to_string(copies(&root).first().unwrap()).unwrap(), edited);
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    stays: [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude (a copy of the settings)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
    insta::assert_snapshot!(settings(&root), @r#"
    {
      "model": "opus"
    }
    "#);
}

#[test]
fn a_line_of_another_tool_that_mentions_us_is_not_ours() {
    let other = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"log; /usr/bin/conclaude Stop\"}]}\n    ]\n  }\n}\n";
    let test = Test::stop().config("maxBlocks: 3").file(FILE, other);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install", "--project"]), @"
    exit 0
    warning: `log; /usr/bin/conclaude Stop` calls conclaude as well, and is left as it is: it may be called twice
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    ");
    let json: Value = serde_json::from_str(&settings(&root)).unwrap();
    assert_eq!(json["hooks"]["Stop"][0]["hooks"][0]["command"], "log; /usr/bin/conclaude Stop");
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), other);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_reported_before_anything_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file("p/.claude/settings.json", "{}").file("p/go.mod", "module x\n");
    let project = test.root().join("p");
    let mode =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&project.join(".claude"), 0o555);
    for subcommand in ["install", "init"] {
        let mut command = crate::common::conclaude();
        command.arg(subcommand).current_dir(&project).env("HOME", project.join("home"));
        as_nobody(&mut command, &project);
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{subcommand}: {err}");
        assert_eq!(
            err.replace(project.to_str().unwrap(), "[ROOT]"),
            "conclaude: [ROOT]/.claude/settings.json is left as it is: [ROOT]/.claude cannot be written: Permission denied (os error 13)\n"
        );
        assert!(!project.join(".conclaude.yaml").exists() && !project.join(".conclaude").exists());
    }
    mode(&project.join(".claude"), 0o755);
}

/// Root may write everywhere: as somebody else then, to whom the project belongs.
#[cfg(unix)]
fn as_nobody(command: &mut std::process::Command, project: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    let above = project.parent().unwrap();
    if above.metadata().unwrap().uid() != 0 {
        return;
    }
    std::fs::set_permissions(above, std::fs::Permissions::from_mode(0o755)).unwrap();
    for path in [
        project.to_owned(),
        project.join(".claude"),
        project.join(".claude/settings.json"),
        project.join("go.mod"),
    ] {
        chown(path, Some(65534), Some(65534)).unwrap();
    }
    let program = above.join("conclaude");
    if !program.exists() {
        crate::common::program::copy(env!("CARGO_BIN_EXE_conclaude"), &program);
    }
    let mut other = std::process::Command::new(&program);
    other
        .args(command.get_args())
        .current_dir(project)
        .env("HOME", project.join("home"))
        .uid(65534)
        .gid(65534);
    *command = other;
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
    the file as it was is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude
    ");
    assert!(!test.root().join(".claude").exists());
}

#[test]
fn an_empty_list_of_the_users_survives_a_registration_that_comes_and_goes() {
    let original = "{\"hooks\": {\"PreToolUse\": []}, \"a\": 1}";
    let test = Test::stop().file(FILE, original);
    let root = test.root();
    run(&root, &["install"]);
    let test = test.config("des: {enabled: false}");
    run(&test.root(), &["install"]);
    let json: Value = serde_json::from_str(&settings(&root)).unwrap();
    assert_eq!(json["hooks"]["PreToolUse"], Value::Array(Vec::new()));
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), original);
}
