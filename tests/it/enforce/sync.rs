//! The files that the sandbox protects are those that exist, where `install --enforce` was run.

use super::*;

/// A call of Bash that has ended.
fn after_bash(test: Test, command: &str) -> Test {
    test.then("PostToolUse")
        .payload("tool_name", "Bash")
        .payload("tool_use_id", "toolu_1")
        .payload("tool_input", json!({ "command": command }))
        .payload("tool_response", json!({ "stdout": "" }))
}

fn installed(config: &str) -> Test {
    let test = project(config);
    assert_eq!(run(&test.root(), &["install", "--enforce"]).0, Some(0));
    test
}

#[test]
fn a_session_adds_files_that_were_made_since_and_drops_those_that_are_gone() {
    let test = installed(CONFIG).file("sub/y.lock", "");
    let root = test.root();
    std::fs::remove_file(root.join("Cargo.lock")).unwrap();
    let outcome = test.run();
    assert_eq!(
        outcome.message(),
        "conclaude: sub/y.lock matches *.lock and was not protected by the sandbox: added now"
    );
    let denied = list(&root, DENY_WRITE);
    assert!(
        denied.contains(&"./sub/y.lock".to_owned()) && !denied.contains(&"./Cargo.lock".to_owned()),
        "{denied:?}"
    );
    // All is well then.
    let _project = outcome.again().run().silent();
    run(&root, &["uninstall", "--enforce"]);
    assert!(!root.join(FILE).exists());
}

#[test]
fn a_command_whose_writes_are_not_known_adds_what_it_made() {
    let test = installed(CONFIG).file("sub/later.lock", "").file("sub/.env.example", "");
    let root = test.root();
    let outcome = after_bash(test, "python3 -c \"open('sub/later.lock', 'w')\"").run();
    assert_eq!(
        outcome.message(),
        "conclaude: sub/later.lock matches *.lock and was not protected by the sandbox: added now"
    );
    assert!(list(&root, DENY_WRITE).contains(&"./sub/later.lock".to_owned()));
    assert!(list(&root, "/sandbox/filesystem/allowRead").contains(&"./sub/.env.example".to_owned()));
    after_bash(outcome.again(), "make").run().silent();
}

#[test]
fn a_command_that_names_what_it_writes_adds_only_that() {
    let test = installed(CONFIG).file("a.lock", "").file("b.lock", "");
    let root = test.root();
    let outcome = after_bash(test, "touch a.lock").run();
    assert_eq!(
        outcome.message(),
        "conclaude: a.lock matches *.lock and was not protected by the sandbox: added now"
    );
    let denied = list(&root, DENY_WRITE);
    assert!(
        denied.contains(&"./a.lock".to_owned()) && !denied.contains(&"./b.lock".to_owned()),
        "{denied:?}"
    );
}

#[test]
fn a_command_that_fails_adds_what_it_made() {
    let test = installed(CONFIG).file("new.lock", "");
    let outcome = after_bash(test, "make").then("PostToolUseFailure").payload("error", "Exit code 2").run();
    assert!(outcome.message().contains("new.lock matches *.lock"), "{}", outcome.message());
    assert!(list(&outcome.root(), DENY_WRITE).contains(&"./new.lock".to_owned()));
}

/// The command names the directory, and not what is in it.
#[test]
fn a_directory_that_is_copied_adds_what_is_in_it() {
    let test = installed(CONFIG).file("sub2/x.lock", "");
    let outcome = after_bash(test, "cp -r sub sub2").run();
    assert!(list(&outcome.root(), DENY_WRITE).contains(&"./sub2/x.lock".to_owned()));
    let outcome = after_bash(outcome.again().file("elsewhere/y.lock", ""), "mkdir -p elsewhere").run();
    assert!(
        !list(&outcome.root(), DENY_WRITE).contains(&"./elsewhere/y.lock".to_owned()),
        "mkdir makes no files"
    );
}

/// Git ignores what is built. A rule that names such a directory means the files in it.
#[test]
fn rules_that_name_ignored_directories_list_what_is_in_them() {
    let config = "\
enforce: [sandbox]
preToolUse:
  uneditableFiles: [dist/**, out/*.js, bin/, '**/gen/*.ts', 'vendor/**/*.c', '!vendor/my/', '!bin/free', '*.lock']
";
    let test = project(config)
        .file(".gitignore", "dist/\nout\nbin/\ngen\nvendor/\nnode_modules/\n")
        .file("dist/a/b.js", "")
        .file("out/a.js", "")
        .file("out/a.txt", "")
        .file("bin/x", "")
        .file("bin/free", "")
        .file("web/gen/x.ts", "")
        .file("vendor/q/a.c", "")
        .file("vendor/my/b.c", "")
        .file("node_modules/a/yarn.lock", "");
    let root = test.root();
    assert_eq!(run(&root, &["install", "--enforce"]).0, Some(0));
    let denied = list(&root, DENY_WRITE);
    for path in ["./dist", "./out/a.js", "./bin/x", "./web/gen/x.ts", "./vendor/q/a.c", "./Cargo.lock"] {
        assert!(denied.contains(&path.to_owned()), "{path}: {denied:?}");
    }
    for part in ["free", "vendor/my", "a.txt", "node_modules"] {
        assert!(!denied.iter().any(|path| path.contains(part)), "{part}: {denied:?}");
    }
    let outcome = after_bash(test.file("out/new.js", ""), "make").run();
    assert!(list(&outcome.root(), DENY_WRITE).contains(&"./out/new.js".to_owned()));
}

#[test]
fn a_command_that_only_reads_changes_nothing() {
    let test = installed(CONFIG).file("a.lock", "");
    let before = text(&test.root());
    let outcome = after_bash(test, "cat a.lock | grep x; git status").run().silent();
    assert_eq!(text(&outcome.root()), before);
}

#[test]
fn a_new_file_in_a_protected_directory_needs_no_entry() {
    let test = installed("enforce: [sandbox]\npreToolUse: {uneditableFiles: ['gen/', '*.lock']}")
        .file("src/gen/b.rs", "");
    let before = text(&test.root());
    let outcome = after_bash(test, "touch src/gen/b.rs").run().silent();
    assert_eq!(text(&outcome.root()), before);
}

#[test]
fn nothing_is_written_where_it_was_not_installed() {
    let test = project(CONFIG).file("a.lock", "");
    let outcome = test.run().silent();
    let outcome = after_bash(outcome.again(), "python3 x.py").run().silent();
    assert!(!outcome.has(FILE));
}

#[test]
fn what_somebody_else_takes_out_is_reported_and_left_to_the_user() {
    let test = installed(CONFIG);
    let root = test.root();
    let changed = text(&root).replace("\"**/.env*\"", "\"./mine\"").replace("\"./Cargo.lock\",", "");
    write(&root, &changed);
    let outcome = test.run();
    assert_eq!(
        outcome.message(),
        "conclaude: ⚠ [ROOT]/.claude/settings.local.json no longer has what `conclaude install --enforce` wrote: sandbox.filesystem.denyRead **/.env*\nTo write it again: conclaude install --enforce; to give it up: conclaude uninstall --enforce\nCargo.lock matches *.lock and was not protected by the sandbox: added now"
    );
    assert_eq!(list(&root, "/sandbox/filesystem/denyRead"), ["./mine"]);
    assert!(list(&root, DENY_WRITE).contains(&"./Cargo.lock".to_owned()));
    run(&root, &["install", "--enforce"]);
    assert_eq!(list(&root, "/sandbox/filesystem/denyRead"), ["./mine", "**/.env*"]);
    run(&root, &["uninstall", "--enforce"]);
    assert_eq!(settings(&root), json!({"sandbox": {"filesystem": {"denyRead": ["./mine"]}}}));
}

#[test]
fn a_sandbox_that_somebody_has_switched_off_is_reported_and_not_filled() {
    let test = installed(CONFIG).file("a.lock", "");
    let root = test.root();
    let off = text(&root).replace("\"enabled\": true", "\"enabled\": false");
    write(&root, &off);
    let outcome = test.run();
    assert!(outcome.message().contains("wrote: sandbox.enabled: true"), "{}", outcome.message());
    assert_eq!(text(&root), off);
}

#[test]
fn rules_that_have_changed_are_written_at_the_next_session() {
    let test = installed(CONFIG);
    let root = test.root();
    let test = test.config(&CONFIG.replace("src/gen/", "src/other/"));
    let outcome = test.run();
    assert_eq!(
        outcome.message(),
        "conclaude: the rules have changed: [ROOT]/.claude/settings.local.json has 2 new entries and lost 1"
    );
    let denied = list(&root, DENY_WRITE);
    assert!(
        denied.contains(&"./src/other".to_owned()) && !denied.contains(&"./src/gen".to_owned()),
        "{denied:?}"
    );
}

#[test]
fn a_broken_config_takes_nothing_back() {
    let test = installed(CONFIG).config("enforce: [sandbox]\npreToolUse: {unreadableFiles: 5}\n");
    let before = text(&test.root());
    let outcome = test.run();
    assert_eq!(text(&outcome.root()), before);
}

fn git(root: &Path, arguments: &[&str]) {
    let done = std::process::Command::new("git").args(arguments).current_dir(root).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Anybody can write a `.gitignore`, the model too.
#[test]
fn a_directory_that_gitignore_names_now_keeps_its_entries() {
    for is_tracked in [true, false] {
        let test = installed(CONFIG);
        let root = test.root();
        git(&root, &["init", "-q"]);
        if is_tracked {
            git(&root, &["add", "sub/x.lock"]);
        }
        let before = text(&root);
        let outcome = test.file(".gitignore", "sub/\n.env.example\n").run().silent();
        assert_eq!(text(&root), before, "at the start, tracked: {is_tracked}");
        let outcome = after_bash(outcome.again(), "make").run().silent();
        assert_eq!(text(&root), before, "after a command, tracked: {is_tracked}");
        run(&root, &["install", "--enforce"]);
        assert_eq!(text(&outcome.root()), before, "installing again, tracked: {is_tracked}");
    }
}

#[test]
fn a_tracked_file_in_an_ignored_directory_is_listed() {
    let test = project(CONFIG).file("vendor/v.lock", "").file(".gitignore", "vendor/\n");
    let root = test.root();
    git(&root, &["init", "-q"]);
    git(&root, &["add", "-f", "vendor/v.lock"]);
    run(&root, &["install", "--enforce"]);
    assert!(list(&root, DENY_WRITE).contains(&"./vendor/v.lock".to_owned()));
}

/// One event adds it because it is named, the next walk does not enter the directory.
#[test]
fn a_file_that_was_added_in_an_ignored_directory_stays() {
    let test = installed(CONFIG).file(".gitignore", "out/\n").file("out/a.lock", "");
    let root = test.root();
    let outcome = after_bash(test, "touch out/a.lock").run();
    assert!(list(&root, DENY_WRITE).contains(&"./out/a.lock".to_owned()));
    let before = text(&root);
    let outcome = after_bash(outcome.again(), "make").run().silent();
    assert_eq!(text(&root), before);
    // Once the file is gone, the entry is.
    std::fs::remove_file(root.join("out/a.lock")).unwrap();
    let _project = after_bash(outcome.again(), "make").run().silent();
    assert!(!list(&root, DENY_WRITE).contains(&"./out/a.lock".to_owned()));
}

#[test]
fn more_files_than_can_be_listed_are_reported_and_push_nothing_out() {
    let test = installed(CONFIG);
    let root = test.root();
    std::fs::create_dir(root.join("a")).unwrap();
    for n in 0..1_000 {
        std::fs::write(root.join(format!("a/{n}.lock")), "").unwrap();
    }
    let outcome = after_bash(test, "make").run();
    let told = "⚠ 2 files that match *.lock are not protected by the sandbox, so guards ask as before: ";
    assert!(outcome.message().contains(told), "{}", outcome.message());
    let denied = list(&root, DENY_WRITE);
    assert!(denied.contains(&"./Cargo.lock".to_owned()) && denied.contains(&"./sub/x.lock".to_owned()));
    assert_eq!(denied.iter().filter(|path| path.ends_with(".lock")).count(), 1_000);
    // Told once in the session, and at the start of each.
    let outcome = after_bash(outcome.again(), "make").run().silent();
    let outcome = outcome.again().then("SessionStart").payload("source", "startup").run();
    assert!(outcome.message().contains(told), "{}", outcome.message());
    let (_, out, _) = run(&root, &["install", "--enforce"]);
    let warning = "warning: 2 files that match uneditableFiles \"*.lock\" in .conclaude.yaml:4 are not protected by the sandbox";
    assert!(out.contains(warning), "{out}");
    let (_, out, _) = run(&root, &["doctor"]);
    assert!(
        out.contains("2 files that match uneditableFiles \"*.lock\" in .conclaude.yaml:4 are not protected"),
        "{out}"
    );
}

/// What it leads to is read then.
#[cfg(unix)]
#[test]
fn a_link_that_is_named_like_an_exception_is_not_freed() {
    const ALLOW_READ: &str = "/sandbox/filesystem/allowRead";
    let test = installed(CONFIG).file("README.md", "");
    let root = test.root();
    assert_eq!(list(&root, ALLOW_READ), ["./.env.example"]);
    let replace = |link: fn(&Path, &Path) -> std::io::Result<()>| {
        std::fs::remove_file(root.join(".env.example")).unwrap();
        link(&root.join(".env"), &root.join(".env.example")).unwrap();
    };
    replace(|from, to| std::os::unix::fs::symlink(from, to));
    let outcome = after_bash(test, "touch README.md").run().silent();
    assert_eq!(list(&root, ALLOW_READ), Vec::<String>::new(), "after a command that names what it writes");
    replace(|from, to| std::fs::hard_link(from, to));
    let outcome = after_bash(outcome.again(), "make").run().silent();
    assert_eq!(list(&root, ALLOW_READ), Vec::<String>::new(), "after another command");
    run(&root, &["uninstall", "--enforce"]);
    run(&root, &["install", "--enforce"]);
    assert_eq!(list(&outcome.root(), ALLOW_READ), Vec::<String>::new(), "installing");
}

#[test]
fn a_path_that_somebody_takes_out_is_reported_and_not_put_back() {
    for (line, entry) in [
        ("\"./package.json\",", "sandbox.filesystem.denyWrite ./package.json"),
        ("\"./.claude/settings.json\",", "sandbox.filesystem.denyWrite ./.claude/settings.json"),
        ("\"./.env.example\"", "sandbox.filesystem.allowRead ./.env.example"),
    ] {
        let test = installed(CONFIG);
        let root = test.root();
        let changed = text(&root).replace(line, "");
        write(&root, &changed);
        let outcome = test.run();
        assert_eq!(
            outcome.message(),
            format!(
                "conclaude: ⚠ [ROOT]/.claude/settings.local.json no longer has what `conclaude install --enforce` wrote: {entry}\nTo write it again: conclaude install --enforce; to give it up: conclaude uninstall --enforce"
            )
        );
        assert_eq!(text(&root), changed, "{entry}");
        let outcome = after_bash(outcome.again().file("new.lock", ""), "touch new.lock").run();
        assert!(!text(&root).contains(line), "{entry}");
        let (_, out, _) = run(&root, &["doctor"]);
        assert!(out.contains(&format!("no longer has {entry}")), "{out}");
        drop(outcome);
    }
}

#[test]
fn doctor_does_not_change_the_settings() {
    let test = installed(CONFIG);
    let root = test.root();
    run(&root, &["install"]);
    let before = text(&root);
    let test = test.file("later.lock", "");
    run(&root, &["doctor"]);
    assert_eq!(text(&test.root()), before);
}
