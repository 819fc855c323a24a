//! Directories that are deleted with all that is in them.

use std::cell::OnceCell;

use super::*;
use crate::des::protected::ProtectedPaths;
use conclaude_core::file_pattern::Location;

fn directory(relative: &str) -> Location {
    Location {
        absolute: format!("/home/me/project/{relative}"),
        relative: Some(relative.into()),
        is_directory: true,
        ..Location::default()
    }
}

#[test]
fn only_rules_that_may_protect_something_in_a_directory_are_searched_for() {
    let rules = files(
        "uneditableFiles",
        &[
            "*.lock",
            "!node_modules/",
            "//etc/",
            "~/.ssh/",
            "//home/me/project/node_modules/*/x",
            "docs/a.md",
            "./src/gen/",
        ],
    );
    let below = |relative: &str| -> Vec<String> {
        let kept = rules.below(&[directory(relative)], "main").unwrap_or_default();
        kept.0.into_iter().filter(|rule| !rule.allows).map(|rule| rule.written).collect()
    };
    assert_eq!(below("node_modules/a"), ["//home/me/project/node_modules/*/x"]);
    assert_eq!(below("build"), ["*.lock"]);
    assert_eq!(below("docs"), ["*.lock", "docs/a.md"]);
    assert_eq!(below("src"), ["*.lock", "./src/gen/"]);
    assert_eq!(
        below(""),
        ["*.lock", "//home/me/project/node_modules/*/x", "docs/a.md", "./src/gen/"],
        "the root"
    );
    let freed = files("uneditableFiles", &["*.lock", "!node_modules/"]);
    assert!(freed.below(&[directory("node_modules")], "main").is_none(), "nothing is left to search for");
    let later = files("uneditableFiles", &["!node_modules/", "*.lock"]);
    assert!(later.below(&[directory("node_modules")], "main").is_some(), "a later rule counts more");
}

#[test]
fn of_a_directory_with_too_many_files_it_is_not_said_that_it_is_ours() {
    let folder = project();
    let root = folder.path().canonicalize().unwrap();
    let scene = Scene { visited: EntryCount::too_many(), ..Scene::of(&root, None) };
    let found = OnceCell::new();
    let find = || ProtectedPaths::new(&root, &root, &scene.links);
    let command = "rm -rf build";
    let call = ToolCall {
        command: Some(command),
        agent: "coder",
        is_subagent: true,
        own: Some(OwnFiles { found: &found, find: &find }),
        ..scene.call()
    };
    let rules = GuardRules { uneditable: files("uneditableFiles", &["*.lock"]), ..GuardRules::default() };
    let findings = check(&rules, &call, &scene.ground().of_script(shell_effects::read(command, None)));
    let shown: Vec<String> =
        findings.iter().map(|finding| format!("{:?}: {}", finding.action, finding.reason)).collect();
    assert_eq!(shown, ["Ask: build has too many files to look for protected ones in time."]);
}

#[test]
fn under_the_packs_nothing_is_searched_for_in_what_was_installed() {
    for pack in ["secrets", "git-safety", "destructive-commands", "lockfiles"] {
        let pack = conclaude_core::packs::find(pack).unwrap();
        let config = conclaude_core::config::ConclaudeConfig::parse(pack.text, Path::new("pack")).unwrap();
        let rules = GuardRules::of(&config.guards, &Sources(&[]), Some("/home/me")).unwrap();
        for installed in ["node_modules", ".venv", "packages/web/node_modules"] {
            let left = rules.uneditable.below(&[directory(installed)], "main").unwrap_or_default();
            let left: Vec<&String> = left.0.iter().map(|rule| &rule.written).collect();
            assert!(left.is_empty(), "{} {installed}: {left:?}", pack.name);
        }
    }
}

/// What pack:destructive-commands says to a command in a project of this root.
fn decided(root: &Path, command: &str) -> Option<Action> {
    let home = Some("/home/me");
    let pack = conclaude_core::packs::find("destructive-commands").unwrap();
    let config = conclaude_core::config::ConclaudeConfig::parse(pack.text, Path::new("pack")).unwrap();
    let rules = GuardRules::of(&config.guards, &Sources(&[]), home).unwrap();
    let scene = Scene::of(root, home);
    let call = ToolCall { command: Some(command), ..scene.call() };
    let effects = scene.ground().of_script(shell_effects::read(command, home));
    check(&rules, &call, &effects).iter().map(|finding| finding.action).max()
}

#[test]
fn what_is_outside_of_the_project_is_not_deleted_unasked() {
    for (command, expected) in [
        ("rm -rf ~/../me", Some(Action::Block)),
        ("rm -rf ..", Some(Action::Block)),
        ("rm -rf ../..", Some(Action::Block)),
        ("cd .. && rm -rf .", Some(Action::Block)),
        ("mv ~ /tmp/x", Some(Action::Block)),
        ("rm -rf /home/you", Some(Action::Block)),
        ("chmod -R u+w ~", Some(Action::Block)),
        ("chmod -R u+w ../../../var", Some(Action::Block)),
        ("rm -rf ~/Documents", Some(Action::Ask)),
        ("rm ~/notes.txt", Some(Action::Ask)),
        ("cd ~ && rm notes.txt", Some(Action::Ask)),
        ("cd ~/projects/x && rm -rf node_modules", Some(Action::Ask)),
        ("rm -rf ../other", Some(Action::Ask)),
        ("cd .. && rm -rf build", Some(Action::Ask)),
        ("(cd ..; rm -r x)", Some(Action::Ask)),
        ("mv ../other old", Some(Action::Ask)),
        ("mv ~/Downloads/a.zip .", Some(Action::Ask)),
        ("unlink ~/x", Some(Action::Ask)),
        ("find ../other -delete", Some(Action::Ask)),
        ("find ~/project2/build -delete", Some(Action::Ask)),
        ("find ../other -name '*.log' -exec rm {} +", Some(Action::Ask)),
        ("rm -rf /data", Some(Action::Ask)),
        ("chmod -R 755 ~/site", Some(Action::Ask)),
        ("chown -R me ../other", Some(Action::Ask)),
        ("rsync -a --delete dist/ ~/site/", Some(Action::Ask)),
        ("rm -rf ../project", Some(Action::Ask)),
        ("rm -rf build ./dist src/../out", None),
        ("cd src && rm -rf ../build", None),
        ("rm -rf /home/me/project/build", None),
        ("rm -rf ~/project/build", None),
        ("rm -rf .claude/worktrees/agent-1/build", None),
        ("rm -rf /tmp/x /var/tmp/y", None),
        ("mv build ~/old", None),
        ("cp -r ../other/x .", None),
        ("chmod -R u+w .", None),
        ("chmod -R 755 build", None),
        ("find . -mtime +7 -delete", None),
        ("rsync -a dist/ ~/site/", None),
        ("ls ~ ..", None),
    ] {
        assert_eq!(decided(Path::new("/home/me/project"), command), expected, "{command}");
    }
    // A project that is all of the home directory does not make that its own.
    assert_eq!(decided(Path::new("/home/me"), "rm -rf ."), Some(Action::Block));
    assert_eq!(decided(Path::new("/home/me"), "rm -rf build"), None);
}

#[cfg(unix)]
#[test]
fn a_link_that_is_deleted_is_not_what_it_leads_to() {
    let folder = project();
    let root = folder.path().canonicalize().unwrap();
    std::os::unix::fs::symlink("/opt/app", root.join("current")).unwrap();
    assert_eq!(decided(&root, "rm current"), None);
    assert_eq!(decided(&root, "rm -rf current/cache"), Some(Action::Ask));
    assert_eq!(decided(&root, "rm -rf current/.."), Some(Action::Block));
}
