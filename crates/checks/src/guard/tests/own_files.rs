//! Ways to change conclaude's own files that do not name them.

use std::cell::OnceCell;

use super::*;
use crate::des::protected::ProtectedPaths;

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for file in [
        "p/.conclaude.yaml",
        "p/.claude/settings.json",
        "p/x/settings.json",
        "p/x/conclaude/config.yaml",
        "p/src/a.py",
        "p/docs/b.md",
        "p/a.md",
        "home/x",
    ] {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x\n").unwrap();
    }
    let commit = ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x"];
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git").current_dir(root.join("p")).args(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A", "src", "docs", "a.md"]);
    git(&commit);
    std::fs::write(root.join("p/.conclaude.yaml"), "{}\n").unwrap();
    git(&["add", "-A"]);
    git(&commit);
    std::fs::write(root.join("p/.conclaude.yaml"), "x\n").unwrap();
    git(&["add", "-A"]);
    git(&commit);
    folder
}

/// Whether a command is asked about because of our own files.
#[cfg(unix)]
fn is_asked(top: &Path, command: &str) -> bool {
    let (root, home) = (top.join("p"), top.join("home"));
    let command = command.replace("$PWD", &root.to_string_lossy());
    let budget = Budget::unlimited();
    let home_text = home.to_string_lossy();
    let script = read_shell(&command, Some(&home_text), &root, &budget);
    let scene = Scene::of(&root, Some(&home_text));
    let effects = scene.ground().of_script(script);
    let found = OnceCell::new();
    let find = || {
        let user = home.join(".config/conclaude/config.yaml");
        ProtectedPaths::new(&root, &root, &Links::default()).with(&[user], &root, &root)
    };
    let own = OwnFiles { found: &found, find: &find };
    let call = ToolCall { command: Some(&command), own: Some(own), ..scene.call() };
    let is_own = |finding: &Finding| finding.origin == Rule::built_in(OWN_FILES);
    check(&GuardRules::default(), &call, &effects).iter().any(is_own)
}

#[cfg(unix)]
#[test]
fn own_files_are_protected_from_what_does_not_name_them() {
    let folder = repository();
    let top = folder.path().canonicalize().unwrap();
    let table = include_str!("../../../../../tests/fixtures/guards/own_files.txt");
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let is_wrong = |line: &&str| {
        let (expected, command) = line.split_once('\t').unwrap();
        is_asked(&top, command) != (expected == "ask")
    };
    let wrong: Vec<&str> = lines.filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A registration that is not committed yet.
#[cfg(unix)]
#[test]
fn changed_own_files_are_protected_from_what_sets_all_files_back() {
    let folder = repository();
    let top = folder.path().canonicalize().unwrap();
    std::fs::write(top.join("p/.claude/settings.json"), "{}\n").unwrap();
    for command in ["git checkout .", "git restore .", "git stash", "git stash -u", "git reset --hard"] {
        assert!(is_asked(&top, command), "{command}");
    }
    for command in ["git stash list", "git checkout src", "git restore --staged ."] {
        assert!(!is_asked(&top, command), "{command}");
    }
}
