//! Repositories that try to run a program through git, or to hide what an agent wrote.

use std::path::Path;

use insta::assert_snapshot;

use crate::common::workflow::{MARKERS, done, todo};
use crate::common::{Outcome, Test};

fn called(prepare: impl FnOnce(Test) -> Test) -> Test {
    let test = Test::stop().step(&todo()).file("src/a.rs", "1").file("README.md", "1").file("lib/x.txt", "1");
    let test = prepare(test.committed());
    test.call_agent(MARKERS).run().again().agent_files(MARKERS).step(&done())
}

/// The paths that Gate 3 names, each with its mark.
#[track_caller]
fn named(test: Test) -> Vec<String> {
    named_by(&test.stops().run())
}

#[track_caller]
fn named_by(stopped: &Outcome) -> Vec<String> {
    let reason = stopped.blocked();
    let lines = reason.lines().filter_map(|line| {
        let (mark, rest) = line.split_once(" SCOPE_VIOLATION: ")?;
        Some(format!("{mark} {}", rest.split(" was changed").next()?))
    });
    lines.collect()
}

/// Writes a canary wherever git can be told to run a program, each with its own name.
#[cfg(unix)]
fn with_traps(test: Test) -> Test {
    let canaries = test.root().join(".state-home/canaries");
    std::fs::create_dir_all(&canaries).unwrap();
    let trap = |name: &str| format!("touch {}/{name}; cat", canaries.display());
    let keys = [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "core.askPass",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.y.process",
        "merge.x.driver",
        "interactive.diffFilter",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "sequence.editor",
        "pager.diff",
        "pager.status",
        "pager.diff-tree",
        "pager.rev-parse",
        "pager.ls-files",
    ];
    let mut config = String::from("[core]\n\trepositoryformatversion = 1\n");
    for key in keys {
        let (section, name) = key.rsplit_once('.').unwrap();
        let section =
            section.split_once('.').map_or(format!("[{section}]"), |(one, two)| format!("[{one} \"{two}\"]"));
        config.push_str(&format!("{section}\n\t{name} = \"{}\"\n", trap(key)));
    }
    for alias in ["status", "diff", "diff-tree", "ls-files", "rev-parse", "ls-tree", "merge-base"] {
        config.push_str(&format!("[alias]\n\t{alias} = \"!{}\"\n", trap(&format!("alias.{alias}"))));
    }
    let hooks = canaries.with_file_name("hooks");
    for hook in
        ["post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman", "pre-commit"]
    {
        crate::common::program::script(
            hooks.join(hook),
            format!("#!/bin/sh\n{}\n", trap(&format!("hook.{hook}"))),
        );
    }
    config.push_str(&format!("[core]\n\thooksPath = {}\n\tattributesFile = .git/all\n", hooks.display()));
    config.push_str(&format!(
        "[submodule \"lib\"]\n\tupdate = \"!{}\"\n\tactive = true\n",
        trap("submodule.update")
    ));
    config.push_str(
        "[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\tpromisor = true\n\turl = .\n",
    );
    config.push_str("[include]\n\tpath = included\n");
    let included = format!("[filter \"z\"]\n\tclean = \"{}\"\n\trequired = true\n", trap("included"));
    test.file(".git/config", &config)
        .file(".git/included", &included)
        .file(".git/all", "* diff=x merge=x\n")
        .file(".git/info/attributes", "*.md filter=x\n*.txt filter=y\n*.rs filter=z\n")
}

#[cfg(unix)]
fn sprung(root: &Path) -> Vec<String> {
    let listed = std::fs::read_dir(root.join(".state-home/canaries")).unwrap();
    let mut names: Vec<String> =
        listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[cfg(unix)]
#[test]
fn no_program_that_a_repository_configures_runs_at_a_gate() {
    let test = Test::stop().step(&todo()).file("src/a.rs", "1").file("README.md", "1").file("lib/x.txt", "1");
    let test = test.committed().file("README.md", "2").git(&["commit", "-qam", "y"]);
    let id = |name: &str| {
        let output = test.program("git").args(["rev-parse", name]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let before = id("HEAD~1");
    let head = std::fs::read_to_string(test.root().join(".git/HEAD")).unwrap();
    let branch = format!(".git/{}", head.trim().strip_prefix("ref: ").unwrap());
    // HEAD moves between the gates, and every file looks changed.
    let test = with_traps(test).file("lib/x.txt", "2").file("src/a.rs", "2").file("README.md", "3");
    let call = test.call_agent(MARKERS).run();
    let test = call.again().agent_files(MARKERS).step(&done()).file(&branch, before);
    let stopped = test.stops().run();
    let root = stopped.root();
    assert_eq!(named_by(&stopped), ["✗ README.md"], "committed, though the file is as it was");
    assert_eq!(sprung(&root), Vec::<String>::new());
    // The traps are armed: git itself springs them.
    let mut git = std::process::Command::new("git");
    git.args(["diff", "--stat"]).current_dir(&root).output().unwrap();
    let armed = sprung(&root);
    for trap in ["core.fsmonitor", "filter.x.clean"] {
        assert!(armed.iter().any(|name| name == trap), "{trap}: {armed:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_missing_object_is_not_fetched_with_the_program_of_the_repository() {
    let test = with_traps(called(|test| test));
    let head = std::fs::read_to_string(test.root().join(".git/HEAD")).unwrap();
    let branch = format!(".git/{}", head.trim().strip_prefix("ref: ").unwrap());
    let test = test.file(&branch, format!("{}\n", "1".repeat(40)));
    let stopped = test.stops().run();
    assert_snapshot!(stopped.blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: the scope cannot be checked: git diff-tree: bad object 1111111111111111111111111111111111111111 → restore it; if that cannot be done, say so in your report: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    assert_eq!(sprung(&stopped.root()), Vec::<String>::new());
}

#[test]
fn a_deleted_repository_is_named_in_one_line() {
    let test = called(|test| test);
    std::fs::remove_dir_all(test.root().join(".git")).unwrap();
    assert_snapshot!(test.stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: the scope cannot be checked: the git repository is gone: .git was deleted or moved after the agent was called → restore it; if that cannot be done, say so in your report: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn files_in_submodules_and_nested_repositories_are_seen() {
    let prepare = |test: Test| {
        let test = test.git(&["init", "-q", "nested"]).file("nested/a", "1").file("nested/b", "1");
        let test = test.git(&["-C", "nested", "add", "-A"]).git(&["-C", "nested", "commit", "-qm", "x"]);
        let test = test.git(&[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            "./nested",
            "module",
        ]);
        test.git(&["commit", "-qm", "module"])
    };
    called(prepare).stops().run().silent();
    let test = called(prepare).file("nested/a", "2").file("module/b", "2").file("module/new", "2");
    assert_eq!(named(test), ["✗ module/b", "✗ module/new", "✗ nested/a"]);
    let test = called(prepare).file("nested/a", "2").git(&["-C", "nested", "commit", "-qam", "y"]);
    let test = test.file("nested/a", "1");
    assert_eq!(named(test), ["✗ nested/.git", "✗ nested/a"], "committed, though the file is as it was");
    let made = |test: Test| test.git(&["init", "-q", "lib/made"]).file("lib/made/a", "2");
    assert_eq!(
        named(made(called(|test| test))),
        ["✗ lib/made/.git", "⚠ lib/made/.git/config", "✗ lib/made/.git/info/exclude", "✗ lib/made/a"]
    );
}

#[test]
fn what_git_is_configured_to_ignore_is_seen() {
    let exclude = called(|test| test).file(".git/info/exclude", "hidden\n").file("hidden", "2");
    assert_eq!(named(exclude), ["✗ .git/info/exclude", "✗ hidden"]);
    let global = called(|test| test).git(&["config", "core.excludesFile", ".state-home/x"]);
    assert_eq!(
        named(global.file(".state-home/x", "hidden\n").file("hidden", "2")),
        ["⚠ .git/config", "✗ hidden"]
    );
    let rules =
        called(|test| test).file(".gitignore", "*\n").file("lib/.gitignore", "*\n").file("lib/hidden", "2");
    assert_eq!(named(rules), ["✗ .gitignore", "✗ lib/.gitignore", "✗ lib/hidden"]);
}

/// Writes what an editor leaves behind, and one file that nothing hides.
fn with_editor_files(test: Test) -> Test {
    test.file(".idea/workspace.xml", "1").file("lib/.DS_Store", "1").file("lib/x.swp", "1").file("seen", "1")
}

#[test]
fn what_git_was_configured_to_ignore_at_the_call_is_hidden() {
    let prepare = |test: Test| {
        let test = test.file(".git/info/exclude", ".idea/\n*.swp\n");
        test.file(".home/.config/git/ignore", ".DS_Store\n")
    };
    assert_eq!(named(with_editor_files(called(prepare))), ["✗ seen"]);
    let everything = "*\n";
    let late = with_editor_files(called(prepare)).file(".git/info/exclude", everything);
    let late = late.file(".home/.config/git/ignore", everything);
    assert_eq!(
        named(late),
        ["✗ .git/info/exclude", "✗ .home/.config/git/ignore", "✗ seen"],
        "written since the call"
    );
}

#[test]
fn the_excludes_file_of_the_user_and_of_the_repository_is_read() {
    let rules = ".idea/\n.DS_Store\n*.swp\n";
    // `~`, an included file, quotes and a comment, as people write them.
    for config in [
        "[core]\n\texcludesFile = ~/ignored # mine\n",
        "[Core]\n\tExcludesFile = \"~/ignored\"\n[core]\n\teditor = vi\n",
        "[include]\n\tpath = more\n",
    ] {
        let prepare = |test: Test| {
            let test = test.file(".home/ignored", rules).file(".home/.gitconfig", config);
            test.file(".home/more", "[core]\nexcludesfile=ignored-not\nexcludesfile=~/ignored\n")
        };
        assert_eq!(named(with_editor_files(called(prepare))), ["✗ seen"], "{config}");
    }
    let own = |test: Test| {
        let test = test.file(".state-home/rules", rules).file(".home/.config/git/ignore", "seen\n");
        test.git(&["config", "core.excludesFile", ".state-home/rules"])
    };
    // One that is named replaces git's default.
    assert_eq!(named(with_editor_files(called(own))), ["✗ seen"]);
}

#[test]
fn a_gitignore_file_counts_more_than_what_git_is_configured_to_ignore() {
    let prepare = |test: Test| {
        let test =
            test.file(".git/info/exclude", "*.log\n").file(".home/.config/git/ignore", "*.tmp\n*.log\n");
        test.file("lib/.gitignore", "!keep.log\n!keep.tmp\n")
            .git(&["add", "-A"])
            .git(&["commit", "-qm", "rules"])
    };
    let test = called(prepare)
        .file("lib/a.log", "1")
        .file("lib/keep.log", "1")
        .file("lib/keep.tmp", "1")
        .file("b.tmp", "1");
    assert_eq!(named(test), ["✗ lib/keep.log", "✗ lib/keep.tmp"]);
}

#[cfg(unix)]
#[test]
fn an_excludes_file_that_is_no_plain_file_hides_nothing_and_holds_nobody_up() {
    let prepare = |test: Test| {
        let fifo = test.root().join(".state-home/fifo");
        std::fs::create_dir_all(fifo.parent().unwrap()).unwrap();
        assert!(test.program("mkfifo").arg(&fifo).status().unwrap().success());
        let test = test.git(&["config", "core.excludesFile", fifo.to_str().unwrap()]);
        test.git(&["config", "include.path", "config"])
    };
    assert_eq!(named(called(prepare).file("seen", "1")), ["✗ seen"]);
}

#[test]
fn a_filter_of_the_agent_does_not_hide_an_edit() {
    let test = called(|test| test)
        .git(&["config", "filter.hide.clean", "echo 1 | tr -d '\\n'"])
        .file(".git/info/attributes", "README.md filter=hide\n")
        .file("README.md", "2")
        .git(&["add", "README.md"]);
    assert_eq!(named(test), ["⚠ .git/config", "✗ .git/info/attributes", "✗ README.md"]);
}

#[test]
fn flags_of_the_index_hide_neither_an_edit_nor_a_deletion() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let test = called(|test| test).git(&["update-index", flag, "README.md", "lib/x.txt"]);
        std::fs::remove_file(test.root().join("lib/x.txt")).unwrap();
        assert_eq!(named(test.file("README.md", "2")), ["✗ README.md", "✗ lib/x.txt"], "{flag}");
    }
}

#[test]
fn a_hook_of_git_is_not_the_agents_to_write() {
    assert_eq!(named(called(|test| test).file(".git/hooks/pre-commit", "evil")), ["✗ .git/hooks/pre-commit"]);
}

#[test]
fn files_above_the_project_are_seen() {
    let test = Test::stop().file("web/steps/01-01.json", format!("{:#}\n", todo())).file("web/src/a.rs", "1");
    let test = test.file("other/b", "1").committed();
    let project = test.root().join("web");
    let at = |test: Test| test.env("CLAUDE_PROJECT_DIR", project.to_str().unwrap());
    let test = at(test.call_agent(MARKERS).payload("cwd", project.to_str().unwrap())).run().again();
    let test = test.agent_files(MARKERS).file("web/steps/01-01.json", format!("{:#}\n", done()));
    let test = at(test.file("untracked", "2").file("other/b", "2"));
    assert_eq!(named(test), ["✗ ../other/b", "✗ ../untracked"]);
}

#[test]
fn a_baseline_that_was_deleted_blocks() {
    let test = called(|test| test).file("README.md", "2");
    let state = test.root().join(".state-home/conclaude/sessions");
    let found = test.program("find").arg(&state).args(["-name", "tree-*", "-delete"]).status().unwrap();
    assert!(found.success());
    assert_snapshot!(test.stops().run().blocked(), @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: the scope cannot be checked: the baseline that Gate 1 took is gone → restore it; if that cannot be done, say so in your report: the scope was not checked
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}
