//! Files that are read in a directory that is not known before the command runs.

use super::*;

/// Whether reading these files is asked about with these rules.
fn asked(root: &Path, home: &Path, patterns: &[&str], command: &str) -> bool {
    let home = home.to_str().unwrap();
    let mut unreadable = files("unreadableFiles", patterns);
    for (rule, written) in unreadable.0.iter_mut().zip(patterns) {
        rule.pattern = FilePattern::new(written.trim_start_matches('!'), Some(home)).unwrap();
    }
    let rules = GuardRules { unreadable, ..GuardRules::default() };
    let scene = Scene::of(root, Some(home));
    let script = shell_effects::read(command, Some(home));
    let effects = scene.ground().of_script(script);
    let found = check(&rules, &ToolCall { command: Some(command), ..scene.call() }, &effects);
    assert!(found.iter().all(|finding| finding.action == Action::Ask), "{command}: {found:?}");
    !found.is_empty()
}

#[test]
fn a_file_in_an_unknown_directory_is_asked_about_if_a_rule_could_mean_it() {
    let (project, home) = (project(), tempfile::tempdir().unwrap());
    let (root, home) = (project.path().canonicalize().unwrap(), home.path().canonicalize().unwrap());
    for (folder, file) in [(".ssh/work", "deploy"), (".vault/a", "x.toml"), (".vault/b", "free.toml")] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
        std::fs::write(home.join(folder).join(file), "x\n").unwrap();
    }
    let asked = |patterns: &[&str], command: &str| asked(&root, &home, patterns, command);
    for (pattern, file, expected) in [
        // The rule names the file, or a directory in the known part.
        (".env*", ".env", true),
        (".env*", ".env/x", true),
        (".env*", "package.json", false),
        ("~/.config/op/*.json", "op/a.json", true),
        ("~/.config/op/*.json", "a.json", false),
        ("~/.docker/config.json", "config.json", true),
        ("~/.docker/config.json", ".git/config.json", false),
        ("docs/a.md", "a.md", true),
        ("docs/a.md", "src/a.md", false),
        ("/notes.txt", "notes.txt", true),
        // It names a directory. It counts if such a file is in there.
        ("~/.ssh/", "package.json", false),
        ("~/.ssh/**", "package.json", false),
        ("~/.ssh/", "deploy", true),
        ("~/.ssh/**", "work/deploy", true),
        ("~/.vault/*/*.toml", "x.toml", true),
        ("~/.vault/{a,c}/", "x.toml", true),
        ("~/.vault/{a,c}/", "free.toml", false),
        ("src/gen/", "api.rs", true),
        ("src/gen/", "main.rs", false),
        // It names a directory that may be anywhere.
        ("secrets/", "main.rs", true),
        ("secrets", "key.pem", true),
        ("secrets", "main.rs", false),
    ] {
        let command = format!("cat \"$(foo)/{file}\"");
        assert_eq!(asked(&[pattern], &command), expected, "{pattern} {command}");
        let command = format!("cd \"$(foo)\" && cat {file}");
        assert_eq!(asked(&[pattern], &command), expected, "{pattern} {command}");
    }
    // Exceptions count wherever the file is.
    assert!(!asked(&[".env*", "!.env.example"], "cat \"$(foo)/.env.example\""));
    assert!(asked(&["!.env.example", ".env*"], "cat \"$(foo)/.env.example\""));
    assert!(!asked(&["~/.docker/config.json", "!node_modules/"], "cat \"$(foo)/node_modules/config.json\""));
    assert!(!asked(&["~/.ssh/", "!~/.ssh/work/"], "cat \"$(foo)/deploy\""));
}

#[cfg(unix)]
#[test]
fn a_link_in_a_usual_directory_is_followed() {
    let (project, home) = (project(), tempfile::tempdir().unwrap());
    let root = project.path().canonicalize().unwrap();
    assert!(asked(&root, home.path(), &[".env"], "cat \"$(foo)/link-to-env\""));
    assert!(!asked(&root, home.path(), &[".env"], "cat \"$(foo)/link-to-nothing\""));
}

#[test]
fn a_name_that_is_printed_stays_in_its_directory() {
    let (project, home) = (project(), tempfile::tempdir().unwrap());
    let root = project.path().canonicalize().unwrap();
    let asked = |command: &str| asked(&root, home.path(), &[".env*", "src/gen/api.rs"], command);
    assert!(!asked("b=$(basename \"$(foo)\"); cat \"docs/$b\""));
    assert!(asked("b=$(basename \"$(foo)\"); cat \"src/gen/$b\""));
    assert!(asked("b=$(basename \"$(foo)\"); cat \"$b\""), "a hidden file");
    assert!(asked("b=$(basename \"$(foo)\"); cat docs/$b"), "several words");
}
