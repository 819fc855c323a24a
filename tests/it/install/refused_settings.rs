//! Settings that are refused, and stay as they are.

use super::*;

#[test]
fn broken_or_unusual_settings_are_refused_and_untouched() {
    let mut refusals = String::new();
    for content in [
        "// mine\n",
        "{\"a\": }",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": {}}}",
        "[]",
        "{\"a\": \"\\ud800\"}",
    ] {
        let test = Test::stop().file(FILE, content);
        refusals += &format!("{}\n{}", content.trim_end(), transcript(&test.root(), &["install"]));
        assert_eq!(settings(&test.root()), content);
    }
    insta::assert_snapshot!(refusals, @r#"
    // mine
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: the settings file is not a JSON object
    {"a": }
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: the settings file is not JSON: Unexpected close brace on line 1 column 7
    {"hooks": {}, "hooks": {}}
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: the settings file has the duplicate key `hooks`: merge the two first
    {"hooks": []}
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: `hooks` is not a JSON object
    {"hooks": {"Stop": {}}}
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: `hooks.Stop` is not a list
    []
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: the settings file is not a JSON object
    {"a": "\ud800"}
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: the settings file is not JSON: Invalid unicode escape sequence. 'd800 (unpaired high surrogate)' is not a valid UTF8 character on line 1 column 8
    "#);
    let large = format!("{{}}{}", " ".repeat(16 << 20));
    let test = Test::stop().file(FILE, &large);
    insta::assert_snapshot!(transcript(&test.root(), &["install"]), @"
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: it has 16777218 bytes, at most 16777216 are read
    ");
    assert_eq!(settings(&test.root()).len(), large.len());
    let broken = Test::stop().config("bogus: 1");
    let shown = transcript(&broken.root(), &["install"]);
    insta::assert_snapshot!(shown.split("\n\n").next().unwrap(), @"
    exit 1
    conclaude: invalid config [ROOT]/.conclaude.yaml: 1 problem
    ");
}

#[cfg(unix)]
#[test]
fn a_program_of_another_name_would_not_recognise_its_entries() {
    let test = Test::stop();
    let renamed = test.root().join("conclaude-2");
    crate::common::program::copy(env!("CARGO_BIN_EXE_conclaude"), &renamed);
    let output = std::process::Command::new(&renamed)
        .arg("install")
        .current_dir(test.root())
        .env("HOME", test.root().join(".home"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap().replace(test.root().to_str().unwrap(), "[ROOT]");
    insta::assert_snapshot!(err, @"conclaude: this program is [ROOT]/conclaude-2: name it conclaude before you install it");
    assert!(!test.root().join(".claude").exists());
}

#[cfg(unix)]
#[test]
fn a_link_or_a_read_only_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file("mine.json", "{}").file(".claude/x", "");
    std::os::unix::fs::symlink("../mine.json", test.root().join(FILE)).unwrap();
    insta::assert_snapshot!(transcript(&test.root(), &["install"]), @"
    exit 1
    conclaude: [ROOT]/.claude/settings.json is left unchanged: it is a link; change what it points to yourself
    ");
    assert_eq!(std::fs::read_to_string(test.root().join("mine.json")).unwrap(), "{}", "untouched");
    let test = Test::stop().file(FILE, "{}");
    let path = test.root().join(FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let (code, _, err) = run(&test.root(), &["install"]);
    assert_eq!(code, Some(1));
    // The system's own words follow where the user is not root.
    assert!(
        err.starts_with("conclaude: [ROOT]/.claude/settings.json is left unchanged: it is read-only"),
        "{err}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}", "untouched");
}

#[cfg(unix)]
#[test]
fn the_rights_of_the_file_stay() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file(FILE, "{}");
    let path = test.root().join(FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    run(&test.root(), &["install"]);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_reported_before_anything_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().file("p/.claude/settings.json", "{}").file("p/go.mod", "module x\n");
    let project = test.root().join("p");
    let mode =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&project.join(".claude"), 0o555);
    for subcommand in ["install", "init"] {
        let mut command = crate::common::conclaude();
        command.arg(subcommand).current_dir(&project).env("HOME", project.join("home"));
        as_nobody(&mut command, &project);
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{subcommand}: {err}");
        assert_eq!(
            err.replace(project.to_str().unwrap(), "[ROOT]"),
            "conclaude: [ROOT]/.claude/settings.json is left unchanged: [ROOT]/.claude cannot be written: Permission denied (os error 13)\n"
        );
        assert!(!project.join(".conclaude.yaml").exists() && !project.join(".conclaude").exists());
    }
    mode(&project.join(".claude"), 0o755);
}

/// Root may write everywhere: as somebody else then, to whom the project belongs.
#[cfg(unix)]
fn as_nobody(command: &mut std::process::Command, project: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    let above = project.parent().unwrap();
    if above.metadata().unwrap().uid() != 0 {
        return;
    }
    std::fs::set_permissions(above, std::fs::Permissions::from_mode(0o755)).unwrap();
    for path in [
        project.to_owned(),
        project.join(".claude"),
        project.join(".claude/settings.json"),
        project.join("go.mod"),
    ] {
        chown(path, Some(65534), Some(65534)).unwrap();
    }
    let program = above.join("conclaude");
    if !program.exists() {
        crate::common::program::copy(env!("CARGO_BIN_EXE_conclaude"), &program);
    }
    let mut other = std::process::Command::new(&program);
    other
        .args(command.get_args())
        .current_dir(project)
        .env("HOME", project.join("home"))
        .uid(65534)
        .gid(65534);
    *command = other;
}
