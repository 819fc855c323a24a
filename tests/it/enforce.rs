//! `enforce`: the rules for files, kept by Claude Code's sandbox and permission rules.

mod classes;
mod links;
mod sync;
mod user_settings;

use std::path::Path;

use crate::common::environment::path_without_sandbox;
use crate::common::{Test, conclaude_in, program, run_in as run};
use serde_json::{Value, json};

const FILE: &str = ".claude/settings.local.json";

const CONFIG: &str = "\
enforce: [sandbox, permissions]
preToolUse:
  unreadableFiles: ['.env*', '!.env.example']
  uneditableFiles: ['*.lock', ./package.json, src/gen/]
";

/// A project with files that rules match.
fn project(config: &str) -> Test {
    Test::event("SessionStart")
        .without("agent_id")
        .without("agent_type")
        .payload("source", "startup")
        .config(config)
        .file(".env", "SECRET=1")
        .file(".env.example", "SECRET=")
        .file("Cargo.lock", "")
        .file("sub/x.lock", "")
        .file("src/gen/a.rs", "")
}

fn text(root: &Path) -> String {
    std::fs::read_to_string(root.join(FILE)).unwrap()
}

fn settings(root: &Path) -> Value {
    serde_json::from_str(&text(root)).unwrap()
}

/// The members of a list in the settings.
fn list(root: &Path, pointer: &str) -> Vec<String> {
    let settings = settings(root);
    let list = settings.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    list.iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

const DENY_WRITE: &str = "/sandbox/filesystem/denyWrite";

/// Writes the settings file.
fn write(root: &Path, text: &str) {
    std::fs::create_dir_all(root.join(".claude")).unwrap();
    std::fs::write(root.join(FILE), text).unwrap();
}

/// Exit code, stdout and stderr as one text.
fn transcript(root: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = run(root, arguments);
    let lines = out.lines().chain(err.lines());
    format!("exit {}\n{}", code.unwrap(), lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn without_the_key_nothing_is_written_and_the_line_to_add_is_shown() {
    let test = project("preToolUse: {unreadableFiles: [.env]}");
    insta::assert_snapshot!(transcript(&test.root(), &["install", "--enforce"]), @"
    exit 1
    conclaude: the config does not ask for it: nothing was written
      add this line to [ROOT]/.conclaude.yaml:

        enforce: [sandbox, permissions]
    ");
    assert!(!test.root().join(FILE).exists());
}

#[test]
fn the_rules_are_written_with_who_enforces_each() {
    let test = project(CONFIG);
    insta::assert_snapshot!(transcript(&test.root(), &["install", "--enforce"]), @r#"
    exit 0
    the rules for files are in [ROOT]/.claude/settings.local.json
      by the OS for files that exist now  uneditableFiles "*.lock" in .conclaude.yaml:4: Cargo.lock, sub/x.lock; Claude Code denies Edit(**/*.lock)
      enforced by the OS                  uneditableFiles "./package.json" in .conclaude.yaml:4: denyWrite ./package.json; Claude Code denies Edit(./package.json)
      enforced by the OS                  uneditableFiles "src/gen/" in .conclaude.yaml:4: denyWrite ./src/gen; Claude Code denies Edit(./src/gen/**)
      enforced by the OS                  unreadableFiles ".env*" in .conclaude.yaml:3: denyRead **/.env*, for files of the project; no permission rule, since `!.env.example` is an exception to it
      by the OS for files that exist now  unreadableFiles "!.env.example" in .conclaude.yaml:3: allowRead: .env.example
      hook only                           worktreeFence: it is for agents in a worktree
      hook only                           built-in "copies of files in the worktrees of agents": only the project's own files are listed for writing
      enforced by the OS                  built-in "conclaude's own files": denyWrite ./.conclaude.yaml, ./.conclaude.local.yaml, ./.conclaude, ./.claude/settings.json, ./.claude/settings.local.json, ./.state-home/conclaude
    next: `conclaude install` registers the hook, which does the rest
    "#);
    insta::assert_snapshot!(text(&test.root()), @r#"
    {
      "sandbox": {
        "enabled": true,
        "failIfUnavailable": true,
        "allowUnsandboxedCommands": false,
        "autoAllowBashIfSandboxed": false,
        "filesystem": {
          "denyWrite": [
            "./Cargo.lock",
            "./sub/x.lock",
            "./package.json",
            "./src/gen",
            "./.conclaude.yaml",
            "./.conclaude.local.yaml",
            "./.conclaude",
            "./.claude/settings.json",
            "./.claude/settings.local.json",
            "./.state-home/conclaude"
          ],
          "denyRead": [
            "**/.env*"
          ],
          "allowRead": [
            "./.env.example"
          ]
        },
        "excludedCommands": [
          "conclaude des start *",
          "conclaude des finish *",
          "conclaude des skip *",
          "conclaude des run *",
          "conclaude des fail *",
          "conclaude des done *"
        ],
        "network": {
          "allowedDomains": [
            "*"
          ]
        }
      },
      "permissions": {
        "deny": [
          "Edit(**/*.lock)",
          "Edit(./package.json)",
          "Edit(./src/gen/**)"
        ],
        "ask": [
          "Edit(./.conclaude.yaml)",
          "Edit(./.conclaude.local.yaml)",
          "Edit(./.conclaude/**)",
          "Edit(./.state-home/conclaude/**)"
        ]
      }
    }
    "#);
}

#[test]
fn installing_twice_changes_nothing_and_uninstalling_removes_the_file() {
    let test = project(CONFIG);
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    let first = text(&root);
    let (code, out, _) = run(&root, &["install", "--enforce"]);
    assert_eq!((code, text(&root)), (Some(0), first));
    assert!(
        out.starts_with("[ROOT]/.claude/settings.local.json already has everything that is needed"),
        "{out}"
    );
    let (code, out, _) = run(&root, &["uninstall", "--enforce"]);
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "removed the rules for files from [ROOT]/.claude/settings.local.json\n")
    );
    assert!(!root.join(FILE).exists());
    let (code, out, _) = run(&root, &["uninstall", "--enforce"]);
    assert_eq!(
        (code, out.as_str()),
        (
            Some(0),
            "[ROOT]/.claude/settings.local.json has nothing that `conclaude install --enforce` wrote\n"
        )
    );
}

/// On another system than Linux nothing has to be installed.
#[cfg(target_os = "linux")]
#[test]
fn without_bubblewrap_the_user_is_told_first() {
    let test = project(CONFIG);
    let root = test.root();
    let folder = tempfile::tempdir().unwrap();
    let install = |path: &Path| {
        let mut command = conclaude_in(&root);
        let output = command.args(["install", "--enforce"]).env("PATH", path).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let path = path_without_sandbox(folder.path());
    let warning =
        "until that is installed, Claude Code refuses to start, and a session that runs now has no sandbox\n";
    let out = install(&path);
    assert!(out.starts_with(&format!("warning: the sandbox needs bubblewrap and socat: {warning}")), "{out}");
    assert!(out.contains("the rules for files are in "), "they are written all the same: {out}");
    program::script(path.join("bwrap"), "#!/bin/sh\n");
    let out = install(&path);
    assert!(out.starts_with(&format!("warning: the sandbox needs socat: {warning}")), "{out}");
    program::script(path.join("socat"), "#!/bin/sh\n");
    assert!(!install(&path).contains("warning"));
}

#[test]
fn a_dry_run_changes_nothing() {
    let test = project(CONFIG);
    let root = test.root();
    let (code, out, _) = run(&root, &["install", "--enforce", "--dry-run"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("\"denyRead\": ["), "{out}");
    assert!(!root.join(FILE).exists());
    run(&root, &["install", "--enforce"]);
    let before = text(&root);
    let (_, out, _) = run(&root, &["uninstall", "--enforce", "-n"]);
    assert!(out.contains("-    \"enabled\": true"), "{out}");
    assert_eq!(text(&root), before);
}

#[test]
fn neither_everything_writable_nor_commands_without_questions_are_ever_written() {
    let root = project(CONFIG);
    let root = root.root();
    run(&root, &["install", "--enforce"]);
    let settings = settings(&root);
    assert_eq!(settings.pointer("/sandbox/filesystem/allowWrite"), None);
    assert_eq!(settings["sandbox"]["autoAllowBashIfSandboxed"], json!(false));
}

#[test]
fn settings_that_are_a_link_or_no_json_are_left_as_they_are() {
    let test = project(CONFIG);
    let root = test.root();
    write(&root, "{\"sandbox\": 1}");
    let (code, _, err) = run(&root, &["install", "--enforce"]);
    assert_eq!(
        (code, err.as_str()),
        (
            Some(1),
            "conclaude: [ROOT]/.claude/settings.local.json is left unchanged: `sandbox` is not a JSON object\n"
        )
    );
    write(&root, "{");
    let (code, _, err) = run(&root, &["install", "--enforce"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("is left unchanged: the settings file is not JSON"), "{err}");
    #[cfg(unix)]
    {
        std::fs::remove_file(root.join(FILE)).unwrap();
        std::fs::write(root.join("elsewhere.json"), "{}").unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere.json"), root.join(FILE)).unwrap();
        let (code, _, err) = run(&root, &["install", "--enforce"]);
        assert_eq!(code, Some(1));
        assert!(err.contains("it is a link; change what it points to yourself"), "{err}");
        assert_eq!(std::fs::read_to_string(root.join("elsewhere.json")).unwrap(), "{}");
    }
}

#[test]
fn uninstalling_the_hook_says_that_the_rules_stay_and_purging_takes_them_back() {
    let test = project(CONFIG);
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    let (_, out, _) = run(&root, &["uninstall"]);
    assert!(
        out.contains("stays: the rules for files in .claude/settings.local.json; `conclaude uninstall --enforce` removes them"),
        "{out}"
    );
    run(&root, &["uninstall", "--purge"]);
    assert!(!root.join(FILE).exists());
}

#[test]
fn with_enforce_the_hook_is_called_after_commands() {
    let root = project(CONFIG);
    let root = root.root();
    run(&root, &["install"]);
    let text = std::fs::read_to_string(root.join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let matcher = settings.pointer("/hooks/PostToolUse/0/matcher").unwrap().as_str().unwrap();
    assert_eq!(matcher, "Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell");
}
