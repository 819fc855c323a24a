//! `conclaude init`: a config to begin with, never at the cost of one that exists.

use crate::common::{Test, run_in};

#[test]
fn a_new_project_gets_a_config_a_schema_and_the_registration() {
    let test = Test::stop()
        .file("package.json", r#"{"scripts": {"lint": "eslint", "test": "jest"}}"#)
        .file("Cargo.toml", "[package]\n")
        .file(".claude/agents/coder.md", "---\nname: coder\n---\n");
    let root = test.root();
    let (code, out, err) = run_in(&root, &["init"]);
    insta::assert_snapshot!(out, @"
    wrote [ROOT]/.conclaude.yaml, fitted to package.json, Cargo.toml
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: take the `# ` away from what you want there, then `conclaude doctor` looks over it all
    ");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let config = std::fs::read_to_string(root.join(".conclaude.yaml")).unwrap();
    assert!(config.starts_with("# yaml-language-server: $schema=./.conclaude/schema.json\n"), "{config}");
    for command in ["npm run lint", "npm run test", "cargo clippy --all-targets -- -D warnings", "cargo test"]
    {
        let line = format!("#       - run: \"{command}\"\n");
        assert!(config.contains(&line), "{command} is there, commented out:\n{config}");
    }
    let schema = std::fs::read_to_string(root.join(".conclaude/schema.json")).unwrap();
    assert_eq!(schema, std::fs::read_to_string("conclaude.schema.json").unwrap());
    assert_eq!(run_in(&root, &["validate"]).0, Some(0));
    let settings = std::fs::read_to_string(root.join(".claude/settings.json")).unwrap();
    assert!(settings.contains("SubagentStop"), "{settings}");
}

#[test]
fn what_is_registered_does_for_the_suggested_commands_too() {
    let test = Test::event("SessionStart").file("Cargo.toml", "[package]\n");
    let root = test.root();
    run_in(&root, &["init"]);
    let config = std::fs::read_to_string(root.join(".conclaude.yaml")).unwrap();
    let wanted: String = config
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with("##"))
        .map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line)))
        .collect();
    test.config(&wanted).run().silent();
}

#[test]
fn a_config_that_exists_is_left_alone_unless_forced_and_then_kept() {
    for name in [".conclaude.yaml", ".conclaude.yml"] {
        let test = Test::stop().file(name, "maxBlocks: 5\n");
        let root = test.root();
        let (code, out, err) = run_in(&root, &["init"]);
        assert_eq!((code, out.as_str()), (Some(1), ""));
        assert!(err.contains("exists already") && err.contains("conclaude init --force"), "{err}");
        assert!(!root.join(".claude").exists(), "nothing else is done either");
        let (code, out, _) = run_in(&root, &["init", "--force"]);
        assert_eq!(code, Some(0));
        let copy = format!("{name}.before-init");
        assert!(out.contains(&format!("the config as it was is kept in [ROOT]/{copy}")), "{out}");
        assert_eq!(std::fs::read_to_string(root.join(&copy)).unwrap(), "maxBlocks: 5\n");
        assert!(std::fs::read_to_string(root.join(name)).unwrap().contains("subagentStop"));
        run_in(&root, &["init", "--force"]);
        assert_eq!(std::fs::read_to_string(root.join(&copy)).unwrap(), "maxBlocks: 5\n", "no copy is lost");
        assert!(root.join(format!("{copy}-2")).exists());
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let test = Test::stop()
        .file("go.mod", "module x\n")
        .file(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let root = test.root();
    let (code, out, _) = run_in(&root, &["init", "--dry-run"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("+ #       - run: \"go vet ./...\""), "{out}");
    assert!(out.contains("[ROOT]/.claude/settings.json\n  {\n-   \"model\": \"opus\"\n"), "{out}");
    assert!(!root.join(".conclaude.yaml").exists() && !root.join(".conclaude").exists());
    assert_eq!(
        std::fs::read_to_string(root.join(".claude/settings.json")).unwrap(),
        "{\n  \"model\": \"opus\"\n}\n"
    );
}

#[test]
fn settings_that_cannot_be_changed_keep_the_config_from_being_written_too() {
    let test = Test::stop().file(".claude/settings.json", "// mine\n{}\n");
    let root = test.root();
    let (code, _, err) = run_in(&root, &["init"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("settings.json is left as it is"), "{err}");
    assert!(!root.join(".conclaude.yaml").exists());
}

#[test]
fn a_config_further_up_belongs_to_something_larger() {
    let test = Test::stop().config("maxBlocks: 5\n").file("inner/.git/HEAD", "x");
    let inner = test.root().join("inner");
    assert_eq!(run_in(&inner, &["init"]).0, Some(0));
    assert!(inner.join(".conclaude.yaml").exists() && inner.join(".claude/settings.json").exists());
}
