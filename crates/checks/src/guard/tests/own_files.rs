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
    std::fs::write(root.join("p/.claude/settings.json"), "{}\n").unwrap();
    folder
}

#[cfg(unix)]
#[test]
fn own_files_are_protected_from_what_does_not_name_them() {
    let folder = repository();
    let top = folder.path().canonicalize().unwrap();
    let (root, home) = (top.join("p"), top.join("home"));
    let mut wrong = Vec::new();
    let table = include_str!("../../../../../tests/fixtures/guards/own_files.txt");
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (expected, command) = line.split_once('\t').unwrap();
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
        let is_asked = check(&GuardRules::default(), &call, &effects).iter().any(is_own);
        if is_asked != (expected == "ask") {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
