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
                "command": "[BIN] SessionStart",
                "timeout": 60
              }
            ]
          }
        ],
        "PreToolUse": [
          {
            "matcher": "Agent|Write|Edit|MultiEdit|NotebookEdit",
            "hooks": [
              {
                "type": "command",
                "command": "[BIN] PreToolUse",
                "timeout": 60
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
                "command": "[BIN] PostToolUse",
                "timeout": 60
              }
            ]
          }
        ],
        "UserPromptSubmit": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "[BIN] UserPromptSubmit",
                "timeout": 60
              }
            ]
          }
        ],
        "SubagentStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "[BIN] SubagentStart",
                "timeout": 60
              }
            ]
          }
        ],
        "SubagentStop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "[BIN] SubagentStop",
                "timeout": 214
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "[BIN] Stop",
                "timeout": 60
              }
            ]
          }
        ],
        "SessionEnd": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "[BIN] SessionEnd",
                "timeout": 10
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
    ");
    assert!(!root.join(FILE).exists());
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    [ROOT]/.claude/settings.json has nothing of conclaude
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
        let kept = std::fs::read_to_string(root.join(".claude/settings.json.before-conclaude")).unwrap();
        assert_eq!(kept, original);
        assert_eq!(run(&root, &["uninstall"]).0, Some(0));
        assert_eq!(settings(&root), original);
        assert!(!root.join(".claude/settings.json.before-conclaude").exists());
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
    @@ -3,5 +3,94 @@
       "model": "opus", // the best
       "hooks": {
    -    "Stop": [] // none
    +    "Stop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[BIN] Stop",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ], // none
    +    "SessionStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[BIN] SessionStart",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "PreToolUse": [
    +      {
    +        "matcher": "Agent|Write|Edit|MultiEdit|NotebookEdit",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[BIN] PreToolUse",
    +            "timeout": 60
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
    +            "command": "[BIN] PostToolUse",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "UserPromptSubmit": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[BIN] UserPromptSubmit",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[BIN] SubagentStart",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[BIN] SubagentStop",
    +            "timeout": 60
    +          }
    +        ]
    +      }
    +    ],
    +    "SessionEnd": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[BIN] SessionEnd",
    +            "timeout": 10
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
    the file as it was is kept in [ROOT]/.claude/settings.json.before-conclaude
    ");
    let edited = settings(&root).replace("opus", "sonnet");
    std::fs::write(root.join(FILE), edited).unwrap();
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.claude/settings.json.previous-conclaude
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
fn a_new_config_brings_longer_timeouts_with_the_next_install() {
    let test = Test::stop().config("subagentStop: {commands: {coder: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let _test = test.config("subagentStop: {commands: {coder: [{run: x}]}}");
    run(&root, &["install"]);
    let json: Value = serde_json::from_str(&settings(&root)).unwrap();
    assert_eq!(json["hooks"]["SubagentStop"][0]["hooks"][0]["timeout"], 3600, "a command without a limit");
    assert_eq!(json["hooks"]["SubagentStop"].as_array().unwrap().len(), 1);
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
    @@ -1,3 +1,83 @@
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
      = help: allowed here: `maxBlocks`, `subagentStart`, `subagentStop`, `notifications`, `des`, `audit`
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
    let test = Test::event("SessionStart").config("subagentStop: {commands: {a: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install", "--local"]);
    let test = test.run().silent().again();
    let answer = test.config("subagentStop: {commands: {a: [{run: x, timeout: 1000}]}}").run();
    insta::assert_snapshot!(answer.message(), @"
    conclaude: what is registered with Claude Code is out of sync with the config:
    ⚠ Claude Code gives SubagentStop 72 s, but what is configured may take 1062 s
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
    assert_eq!(command(&root), "[BIN] PreCompact");
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
    let test = test.config("subagentStop: {commands: {a: [{run: x, timeout: 99}]}}");
    insta::assert_snapshot!(transcript(&test.root(), &["install"]), @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.claude/settings.json.previous-conclaude
    ");
    assert_eq!(
        std::fs::read_to_string(root.join(".claude/settings.json.previous-conclaude")).unwrap(),
        edited
    );
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    the file as it was is kept in [ROOT]/.claude/settings.json.previous-conclaude
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
    the file as it was is kept in [ROOT]/.claude/settings.json.before-conclaude
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
    the file as it was is kept in [ROOT]/.claude/settings.json.before-conclaude
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
