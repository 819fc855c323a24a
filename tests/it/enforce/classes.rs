//! Who enforces each rule, wherever that is shown.

use super::*;

const ALL: &str = "\
enforce: [sandbox, permissions]
preToolUse:
  unreadableFiles: [.env, {pattern: '*.key', agent: coder}]
  uneditableFiles: ['*.lock', ./package.json]
  preventAdditions: [docs/]
  toolUsageValidation:
    - {tool: Bash, commandPattern: 'rm *', action: block}
    - {tool: Bash, commandPattern: 'dd *', action: block}
";

#[test]
fn doctor_lists_every_rule() {
    let test = project(ALL);
    let root = test.root();
    run(&root, &["install"]);
    let (_, out, _) = run(&root, &["doctor"]);
    let start = out.find("enforce ").unwrap_or_else(|| panic!("{out}"));
    let end = out[start..].find("\n✓").map_or(out.len(), |end| start + end);
    insta::assert_snapshot!(&out[start..end], @r#"
    enforce      not in Claude Code's settings yet: `conclaude install --enforce` writes it
                   by the OS for files that exist now  uneditableFiles "*.lock" in .conclaude.yaml:4: Cargo.lock, sub/x.lock; Claude Code denies Edit(**/*.lock)
                   enforced by the OS                  uneditableFiles "./package.json" in .conclaude.yaml:4: denyWrite ./package.json; Claude Code denies Edit(./package.json)
                   enforced by the OS                  unreadableFiles ".env" in .conclaude.yaml:3: denyRead **/.env, for files of the project; Claude Code denies Read(**/.env)
                   hook only                           unreadableFiles "*.key" in .conclaude.yaml:3: it is for some agents only
                   hook only                           preventAdditions "docs/" in .conclaude.yaml:5: the OS cannot deny only new files
                   hook only                           toolUsageValidation "Bash rm *", "Bash dd *" in .conclaude.yaml: it is about tools and commands, not about files alone
                   hook only                           worktreeFence: it is for agents in a worktree
                   hook only                           built-in "copies of files in the worktrees of agents": only the project's own files are listed for writing
                   enforced by the OS                  built-in "conclaude's own files": denyWrite ./.conclaude.yaml, ./.conclaude.local.yaml, ./.conclaude, ./.claude/settings.json, ./.claude/settings.local.json
                   → conclaude install --enforce
    "#);
    run(&root, &["install", "--enforce"]);
    let (_, out, _) = run(&root, &["doctor"]);
    assert!(
        out.contains("✓ enforce      3 rules enforced by the OS, 1 by the OS for files that exist now"),
        "{out}"
    );
}

#[test]
fn doctor_reports_what_somebody_has_taken_out() {
    let test = project(ALL);
    let root = test.root();
    run(&root, &["install"]);
    run(&root, &["install", "--enforce"]);
    write(&root, &text(&root).replace("\"enabled\": true", "\"enabled\": false"));
    let (code, out, _) = run(&root, &["doctor"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("no longer has sandbox.enabled: true"), "{out}");
    std::fs::write(root.join(".conclaude.yaml"), "preToolUse: {unreadableFiles: [.env]}").unwrap();
    let (_, out, _) = run(&root, &["doctor"]);
    assert!(
        out.contains("the config no longer has `enforce`") && out.contains("conclaude uninstall --enforce"),
        "{out}"
    );
}

#[test]
fn config_show_with_origins_lists_every_rule() {
    let test = project(ALL);
    insta::assert_snapshot!(test.shows(&["config", "show", "--origin", "enforce"]), @r#"
    exit 0
    ----- stdout
    # project  [ROOT]/.conclaude.yaml
    enforce:
      - sandbox  # .conclaude.yaml:1
      - permissions  # .conclaude.yaml:1
    # who enforces each rule:
    #   not in Claude Code's settings yet: `conclaude install --enforce` writes it
    #   by the OS for files that exist now  uneditableFiles "*.lock" in .conclaude.yaml:4: Cargo.lock, sub/x.lock; Claude Code denies Edit(**/*.lock)
    #   enforced by the OS                  uneditableFiles "./package.json" in .conclaude.yaml:4: denyWrite ./package.json; Claude Code denies Edit(./package.json)
    #   enforced by the OS                  unreadableFiles ".env" in .conclaude.yaml:3: denyRead **/.env, for files of the project; Claude Code denies Read(**/.env)
    #   hook only                           unreadableFiles "*.key" in .conclaude.yaml:3: it is for some agents only
    #   hook only                           preventAdditions "docs/" in .conclaude.yaml:5: the OS cannot deny only new files
    #   hook only                           toolUsageValidation "Bash rm *", "Bash dd *" in .conclaude.yaml: it is about tools and commands, not about files alone
    #   hook only                           worktreeFence: it is for agents in a worktree
    #   hook only                           built-in "copies of files in the worktrees of agents": only the project's own files are listed for writing
    #   enforced by the OS                  built-in "conclaude's own files": denyWrite ./.conclaude.yaml, ./.conclaude.local.yaml, ./.conclaude, ./.claude/settings.json, ./.claude/settings.local.json
    "#);
    let (_, plain, _) = run(&test.root(), &["config", "show"]);
    assert!(!plain.contains("hook only"), "{plain}");
    let (_, out, _) = run(&test.root(), &["config", "show", "--origin", "--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    let first = &json["enforcement"][0];
    assert_eq!(first["class"], json!("by the OS for files that exist now"));
    assert_eq!(first["rule"]["pattern"], json!("*.lock"));
}

#[test]
fn explain_says_who_enforces_the_rule_that_matches() {
    let test = project(ALL);
    run(&test.root(), &["install", "--enforce"]);
    insta::assert_snapshot!(test.shows(&["explain", "PreToolUse", "--file", ".env", "--tool", "Read"]), @r#"
    exit 0
    ----- stdout
    PreToolUse: Read on the main thread → denied
      file_path: .env
      ✗ unreadableFiles ".env" in .conclaude.yaml:3 covers .env
          Do it another way, or ask the user.
      enforced by the OS: denyRead **/.env, for files of the project; Claude Code
      denies Read(**/.env)
    ⚠ PreToolUse is not registered with Claude Code here, so none of this happens:
      `conclaude install` registers what the config needs
    `--all` shows the config files, every rule that was compared, and every answer
    "#);
    let (_, out, _) = run(&test.root(), &["explain", "PreToolUse", "--command", "ls", "--all"]);
    let start = out.find("Who enforces each rule").unwrap_or_else(|| panic!("{out}"));
    assert!(out[start..].contains("hook only"), "{out}");
    let (_, out, _) = run(&test.root(), &["explain", "PreToolUse", "--command", "ls", "--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["enforcement"].as_array().unwrap().len(), 10);
}

#[test]
fn a_pattern_that_cannot_be_compiled_is_listed() {
    let test = project("enforce: [sandbox]\npreToolUse: {uneditableFiles: ['~/*.conf', .git/]}");
    let (_, out, _) = run(&test.root(), &["install", "--enforce"]);
    assert!(
        out.contains(
            "uneditableFiles \"~/*.conf\" in .conclaude.yaml:2: only files of the project are looked for"
        ),
        "{out}"
    );
    assert!(
        out.contains("uneditableFiles \".git/\" in .conclaude.yaml:2: git itself must write there"),
        "{out}"
    );
}

/// `/data/x` is a path of the machine as well, and was listed as one of the project only.
#[test]
fn an_absolute_path_is_denied_where_it_is() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("x");
    std::fs::write(&file, "").unwrap();
    let path = file.to_str().unwrap();
    let config = format!(
        "enforce: [sandbox]\npreToolUse: {{uneditableFiles: ['{path}'], unreadableFiles: ['{path}']}}\n"
    );
    let test = project(&config);
    let root = test.root();
    let (_, out, _) = run(&root, &["install", "--enforce"]);
    assert!(list(&root, DENY_WRITE).contains(&path.to_owned()), "{out}");
    let read = list(&root, "/sandbox/filesystem/denyRead");
    assert_eq!(read, [format!(".{path}"), path.to_owned()]);
    // The project has no such path, and would have one if it were listed.
    assert!(out.contains("by the OS for files that exist now  uneditableFiles"), "{out}");
    assert!(!list(&root, DENY_WRITE).contains(&format!(".{path}")), "{out}");
}

#[test]
fn one_rule_is_not_called_rules() {
    let test = project("enforce: [sandbox]\n");
    let root = test.root();
    run(&root, &["install"]);
    run(&root, &["install", "--enforce"]);
    let (_, out, _) = run(&root, &["doctor"]);
    assert!(out.contains("1 rule enforced by the OS"), "{out}");
}

/// A rule that was added since, or settings that somebody has removed.
#[test]
fn what_the_settings_do_not_have_yet_is_said_wherever_classes_are_shown() {
    let test = project(CONFIG);
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    let (_, out, _) = run(&root, &["config", "show", "--origin"]);
    assert!(!out.contains("Claude Code's settings"), "{out}");
    let json = |root: &Path| -> Value {
        serde_json::from_str(&run(root, &["config", "show", "--origin", "--json"]).1).unwrap()
    };
    assert_eq!(json(&root)["enforcementWritten"], json!(true));
    std::fs::write(root.join(".conclaude.yaml"), CONFIG.replace("src/gen/", "src/other/")).unwrap();
    let expected = "not all in Claude Code's settings: sandbox.filesystem.denyWrite ./src/other and 1 more; `conclaude install --enforce` writes it";
    let (_, out, _) = run(&root, &["config", "show", "--origin"]);
    assert!(out.contains(expected), "{out}");
    assert_eq!(json(&root)["enforcementWritten"], json!(false));
    let (_, out, _) = run(&root, &["explain", "PreToolUse", "--command", "ls"]);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains(expected), "{out}");
    std::fs::remove_file(root.join(FILE)).unwrap();
    let (_, out, _) = run(&root, &["config", "show", "--origin"]);
    assert!(out.contains("not all in Claude Code's settings"), "{out}");
}
