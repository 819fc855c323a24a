//! The local config, which is not for git.

use super::*;

#[test]
fn a_local_config_that_git_does_not_ignore_is_a_warning() {
    let test = Test::stop().config("maxBlocks: 3\n").file(LOCAL, "maxBlocks: 2\n").git(&["init", "-q"]);
    assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 0
    ----- stdout
    warning: .conclaude.local.yaml is yours, and git does not ignore it: `echo .conclaude.local.yaml >> [ROOT]/.git/info/exclude`
    valid: [ROOT]/.conclaude.yaml
    valid: [ROOT]/.conclaude.local.yaml
      no rules configured
      = help: add `subagentStop:` with commands, or uncomment what `conclaude init` wrote; prompts with markers are gated without any rule
    ");
    let warns = |test: &Test| shown_in(&test.root(), &["validate"]).contains("warning");
    let mut test = test;
    // However git comes to ignore it, and only as long as it does.
    for (file, text, expected) in [
        (".git/info/exclude", "*.log\n/.conclaude.local.yaml\n", false),
        (".gitignore", "!.conclaude.local.yaml\n", true),
        (".gitignore", "*.local.yaml\n", false),
        (".git/info/exclude", "", false),
    ] {
        test = test.file(file, text);
        assert_eq!(warns(&test), expected, "{file} {text}");
    }
    let test = test.git(&["add", "-f", LOCAL]);
    let shown = shown_in(&test.root(), &["doctor"]);
    let line = shown.lines().find(|line| line.contains("tracks it")).unwrap_or_else(|| panic!("{shown}"));
    assert_snapshot!(line.trim(), @"⚠ config       .conclaude.local.yaml is yours, and git tracks it for everybody");
}

/// What is in the list of files that git ignores in this clone.
fn excluded(root: &std::path::Path) -> String {
    std::fs::read_to_string(root.join(".git/info/exclude")).unwrap()
}

#[test]
fn who_registers_for_themselves_has_git_ignore_the_local_config() {
    let test = Test::stop().config("maxBlocks: 3\n").git(&["init", "-q"]).file(".gitignore", "target\n");
    let test = test.file(".git/info/exclude", "# mine\n*.log");
    let root = test.root();
    assert!(
        shown_in(&root, &["install", "--local", "--dry-run"]).contains("would add .conclaude.local.yaml to")
    );
    assert_eq!(excluded(&root), "# mine\n*.log");
    assert_snapshot!(shown_in(&root, &["install", "--local"]), @"
    exit 0
    ----- stdout
    registered conclaude in [ROOT]/.claude/settings.local.json
    git ignores .conclaude.local.yaml here: added it to [ROOT]/.git/info/exclude
    ");
    assert_eq!(excluded(&root), "# mine\n*.log\n.conclaude.local.yaml\n");
    let again = shown_in(&root, &["install", "--local"]);
    assert!(!again.contains("exclude") && excluded(&root).matches("local").count() == 1, "{again}");
    assert_eq!(std::fs::read_to_string(root.join(".gitignore")).unwrap(), "target\n", "shared with others");
    let test = test.file(LOCAL, "maxBlocks: 2\n");
    assert!(!shown_in(&test.root(), &["validate"]).contains("warning"));
}

#[test]
fn in_a_linked_worktree_the_list_is_that_of_the_repository() {
    let test = Test::stop().file("main/README", "x").git(&["init", "-q", "main"]);
    let test = test.git(&["-C", "main", "add", "."]).git(&["-C", "main", "commit", "-qm", "x"]);
    let test = test.git(&["-C", "main", "worktree", "add", "-q", "../linked"]);
    let root = test.root();
    std::fs::write(root.join("linked/.conclaude.local.yaml"), "maxBlocks: 2\n").unwrap();
    std::fs::create_dir_all(root.join("linked/.claude")).unwrap();
    let shown = crate::common::run_in_home(&root.join("linked"), &root.join(".home"), &["init", "--local"]);
    assert_eq!(shown.0, Some(0), "{}", shown.2);
    assert!(excluded(&root.join("main")).ends_with("\n.conclaude.local.yaml\n"), "{}", shown.1);
    let status = test
        .program("git")
        .args(["status", "--porcelain"])
        .current_dir(root.join("linked"))
        .output()
        .unwrap();
    assert!(!String::from_utf8(status.stdout).unwrap().contains("local.yaml"));
}
