//! What uninstalling leaves, and what `--purge` removes.

use super::*;

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
    removed its copy [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]: the file is again what that was
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
    conclaude is not in [ROOT]/.claude/settings.json
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
    conclaude is not in [ROOT]/.claude/settings.json
    conclaude: [ROOT]/.conclaude is left unchanged: it is not a folder
    ");
    assert!(elsewhere.root().join("precious").exists());
}
