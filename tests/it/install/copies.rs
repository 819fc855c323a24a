//! Copies of settings that are about to change.

use super::*;

#[cfg(unix)]
#[test]
fn copies_of_settings_are_in_the_users_state_and_for_nobody_else_to_read() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().config("maxBlocks: 3").file(FILE, "{\"env\": {\"TOKEN\": \"secret\"}}");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install"]), @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    ");
    let names: Vec<_> =
        std::fs::read_dir(root.join(".claude")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["settings.json"], "nothing beside the settings");
    let copies = copies(&root);
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(&copies[0]).unwrap(), "{\"env\": {\"TOKEN\": \"secret\"}}");
}

#[cfg(unix)]
#[test]
fn no_copy_of_local_settings_is_left_where_git_takes_it() {
    use std::os::unix::fs::PermissionsExt;
    const LOCAL: &str = ".claude/settings.local.json";
    let test =
        Test::stop().config("maxBlocks: 3").file(".gitignore", "settings.local.json\n.state-home\n.home\n");
    let test = test.file(LOCAL, "{\"env\": {\"TOKEN\": \"secret\"}}").git(&["init", "-q"]);
    let root = test.root();
    // Of an earlier version, for anybody to read.
    let beside = root.join(".claude/settings.local.json.before-conclaude");
    std::fs::write(&beside, "{\"env\": {\"TOKEN\": \"secret\"}}").unwrap();
    insta::assert_snapshot!(transcript(&root, &["install", "--local"]), @"
    exit 0
    moved [ROOT]/.claude/settings.local.json.before-conclaude out of the project, to [ROOT]/.state-home/conclaude/backups/[HASH]/settings.local.json.before-conclaude.[TIME]
    registered conclaude in [ROOT]/.claude/settings.local.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.local.json.before-conclaude.[TIME]
    git ignores .conclaude.local.yaml here: added it to [ROOT]/.git/info/exclude
    ");
    let modes = |root: &Path| -> Vec<u32> {
        copies(root).iter().map(|copy| copy.metadata().unwrap().permissions().mode() & 0o777).collect()
    };
    std::fs::write(root.join(".conclaude.yaml"), "des: {enabled: false}").unwrap();
    run(&root, &["install", "--local"]);
    assert_eq!(modes(&root), [0o600, 0o600], "as it was before conclaude, and before the last change");
    let test = test.git(&["add", "-A"]);
    let mut grep = test.program("git");
    let staged = grep.args(["grep", "--cached", "-l", "secret"]).output().unwrap();
    assert_eq!(String::from_utf8(staged.stdout).unwrap(), "");
    run(&root, &["uninstall", "--local"]);
    assert_eq!(std::fs::read_to_string(root.join(LOCAL)).unwrap(), "{\"env\": {\"TOKEN\": \"secret\"}}");
}

#[test]
fn a_copy_that_an_earlier_version_left_beside_the_settings_still_counts() {
    // Only the copy knows that the file was blank.
    let test = Test::stop().config("maxBlocks: 3").file(FILE, "  \n");
    let root = test.root();
    run(&root, &["install"]);
    let beside = root.join(".claude/settings.json.before-conclaude");
    std::fs::rename(copies(&root).first().unwrap(), &beside).unwrap();
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), "  \n");
    assert!(!beside.exists());
}

#[test]
fn a_file_that_others_changed_since_is_kept_before_each_change() {
    let test = Test::stop().config("subagentStop: {commands: {a: [{run: x, timeout: 10}]}}");
    let root = test.root();
    run(&root, &["install"]);
    let edited = settings(&root).replacen('{', "{\n  \"model\": \"opus\",", 1);
    std::fs::write(root.join(FILE), &edited).unwrap();
    let test = test.config("des: {enabled: false}");
    insta::assert_snapshot!(transcript(&test.root(), &["install"]), @"
    exit 0
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude.[TIME]
    ");
    assert_eq!(std::fs::read_to_string(copies(&root).first().unwrap()).unwrap(), edited);
    assert_eq!(run(&root, &["uninstall"]).0, Some(0));
    insta::assert_snapshot!(settings(&root), @r#"
    {
      "model": "opus"
    }
    "#);
}

const IMPORTED: &str = "{ \"hooks\": {\"PreToolUse\": [ {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"sh guard.sh\"}]} ]},\n\t\"model\": \"opus\"}";

/// The only copy of the hooks was deleted with the registration.
#[test]
fn uninstalling_after_an_import_restores_the_hooks_byte_by_byte() {
    let test = Test::stop().file(FILE, IMPORTED);
    let root = test.root();
    run(&root, &["init", "--import"]);
    assert!(!settings(&root).contains("guard.sh"));
    // Installing again, with a config that needs more, does not bring them back.
    let config = std::fs::read_to_string(root.join(".conclaude.yaml")).unwrap();
    std::fs::write(
        root.join(".conclaude.yaml"),
        format!("{config}\nnotification: {{commands: [{{run: x}}]}}\n"),
    )
    .unwrap();
    run(&root, &["install"]);
    assert!(!settings(&root).contains("guard.sh") && settings(&root).contains("Notification"));
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), IMPORTED);
}

#[test]
fn the_copy_of_what_the_settings_are_again_is_kept_and_restored_hooks_are_named() {
    let test = Test::stop().file(FILE, IMPORTED);
    let root = test.root();
    run(&root, &["init", "--import"]);
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    your hook that the config had taken over is back in it
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude.test.yaml (cases for `conclaude test`)
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    stays: [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME] (a copy of the settings)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    ");
    assert_eq!((settings(&root).as_str(), copies(&root).len()), (IMPORTED, 1));
    run(&root, &["uninstall", "--purge"]);
    assert_eq!(copies(&root).len(), 0, "the settings have all of it");
}

/// Purging kept the newest of the copies only.
#[test]
fn purging_leaves_each_copy_with_hooks_that_are_nowhere_else() {
    let test = Test::stop().file(FILE, IMPORTED);
    let root = test.root();
    run(&root, &["init", "--import"]);
    let second = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sh done.sh"}]}]}}"#;
    std::fs::write(root.join(FILE), second).unwrap();
    run(&root, &["init", "--import"]);
    std::fs::write(root.join(FILE), settings(&root).replacen('{', "{\"model\": \"opus\",", 1)).unwrap();
    let shown = transcript(&root, &["uninstall", "--purge"]);
    assert_eq!(shown.matches("(the only copy of hooks that were taken over)").count(), 2, "{shown}");
    let texts: Vec<String> =
        copies(&root).iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for hook in ["guard.sh", "done.sh"] {
        assert!(texts.iter().any(|text| text.contains(hook)), "{hook}: {texts:?}");
    }
}

#[test]
fn where_imported_hooks_cannot_be_restored_the_copy_is_named_and_purging_leaves_it() {
    let test = Test::stop().file(FILE, IMPORTED);
    let root = test.root();
    run(&root, &["init", "--import"]);
    std::fs::write(root.join(FILE), settings(&root).replace("opus", "sonnet")).unwrap();
    insta::assert_snapshot!(transcript(&root, &["uninstall", "--purge"]), @"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    warning: hooks that `init --import` took over are not in it, since it was changed meanwhile: they are in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    removed [ROOT]/.conclaude (state, messages and audit trail)
    removed [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude.[TIME] (a copy of the settings)
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude.test.yaml (cases for `conclaude test`)
    stays: [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME] (the only copy of hooks that were taken over)
    ");
    let copies = copies(&root);
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(std::fs::read_to_string(&copies[0]).unwrap(), IMPORTED);
}

/// On another machine, or with the state wiped, nothing was said of the hooks: the settings file was removed, and they were lost.
#[test]
fn uninstalling_without_a_copy_names_the_hooks_that_only_the_config_has() {
    let test = Test::stop().file(FILE, IMPORTED);
    let root = test.root();
    run(&root, &["init", "--import"]);
    std::fs::remove_dir_all(root.join(".state-home")).unwrap();
    insta::assert_snapshot!(transcript(&root, &["uninstall"]), @r#"
    exit 0
    removed conclaude from [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude.[TIME]
    warning: these hooks exist only in the config and no longer run. No settings backup has them.
      PreToolUse: `sh guard.sh`
    to keep them without conclaude, add this to [ROOT]/.claude/settings.json:
    {
      "hooks": {
        "PreToolUse": [
          {
            "matcher": "Bash",
            "hooks": [
              {
                "type": "command",
                "command": "sh guard.sh"
              }
            ]
          }
        ]
      }
    }
    stays: [ROOT]/.conclaude.yaml, which is yours
    stays: [ROOT]/.conclaude.test.yaml (cases for `conclaude test`)
    stays: [ROOT]/.conclaude (state, messages and audit trail)
    stays: [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.previous-conclaude.[TIME] (a copy of the settings)
    `conclaude uninstall --purge` removes what conclaude keeps of this project
    "#);
    // Another registration still runs them.
    let test = Test::stop().file(FILE, IMPORTED);
    let root = test.root();
    run(&root, &["init", "--import"]);
    run(&root, &["install", "--local"]);
    std::fs::remove_dir_all(root.join(".state-home")).unwrap();
    let shown = transcript(&root, &["uninstall"]);
    assert!(!shown.contains("nothing runs"), "{shown}");
}

/// After import, uninstall and install it ran once by the restored hook and once by the config, and nobody said so.
#[test]
fn installing_after_an_import_was_undone_says_that_hooks_run_twice() {
    let test = Test::stop().file(FILE, IMPORTED);
    let root = test.root();
    run(&root, &["init", "--import"]);
    run(&root, &["uninstall"]);
    let shown = transcript(&root, &["install"]);
    let warning = "warning: `sh guard.sh` is a hook of PreToolUse in [ROOT]/.claude/settings.json as well, and would run twice: remove it there, or `conclaude init --import --project`";
    assert!(shown.contains(warning), "{shown}");
    let doctor = transcript(&root, &["doctor"]);
    assert!(doctor.contains("`sh guard.sh` runs twice at PreToolUse"), "{doctor}");
    run(&root, &["init", "--import"]);
    let shown = transcript(&root, &["install"]);
    assert!(!shown.contains("run twice"), "{shown}");
}

#[test]
fn the_newest_ten_copies_are_kept_and_the_one_before_conclaude() {
    let test = Test::stop().config("maxBlocks: 3").file(FILE, "{\"model\": \"opus\"}");
    let root = test.root();
    run(&root, &["install"]);
    for number in 0..12 {
        let other = if number % 2 == 0 { "des: {enabled: false}" } else { "maxBlocks: 3" };
        std::fs::write(root.join(".conclaude.yaml"), other).unwrap();
        run(&root, &["install"]);
    }
    let names: Vec<String> =
        copies(&root).iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    let before = names.iter().filter(|name| name.contains(".before-conclaude.")).count();
    assert_eq!((names.len(), before), (11, 1), "{names:?}");
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), "{\"model\": \"opus\"}");
}

/// `install`, `init` and `uninstall` refused such a file, and `doctor` advised `conclaude install`.
#[test]
fn seed_004_line_246_an_entry_without_a_list_of_hooks_is_left_and_the_user_is_told_what_it_does() {
    let text = r#"{"hooks": {"SubagentStop": [{"matcher": "coder", "command": "conclaude SubagentStop"}]}}"#;
    let test = Test::stop().config("maxBlocks: 3").file(FILE, text);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install"]), @r#"
    exit 0
    warning: `hooks.SubagentStop` has an entry without a list `hooks`: Claude Code never calls it, nor any other hook of SubagentStop while it is there. Remove it, or write {"matcher":"coder","hooks":[{"type":"command","command":"conclaude SubagentStop"}]}
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    "#);
    let shown = run(&root, &["doctor"]).1;
    let about: Vec<&str> = shown.lines().filter(|line| line.contains("without a list")).collect();
    insta::assert_snapshot!(about.join("\n"), @r#"✗ settings     .claude/settings.json: `hooks.SubagentStop` has an entry without a list `hooks`: Claude Code never calls it, nor any other hook of SubagentStop while it is there. Remove it, or write {"matcher":"coder","hooks":[{"type":"command","command":"conclaude SubagentStop"}]}"#);
    assert_eq!(run(&root, &["uninstall"]).0, Some(0));
    assert_eq!(settings(&root), text);
}
