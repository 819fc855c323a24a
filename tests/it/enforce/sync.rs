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
