//! What `init` suggests for the tools and workspaces of a project.

use super::*;

#[test]
fn yes_writes_rules_that_work_at_once() {
    let test = npm_project();
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--yes"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml, based on package.json
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: `conclaude doctor` checks the installation; new sessions of Claude Code in this project run what is configured
    ");
    let config = read(root.join(".conclaude.yaml"));
    insta::assert_snapshot!(config.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n"), @r#"
    # yaml-language-server: $schema=./.conclaude/schema.json
    ##
    ## What conclaude does in this project. What is not commented out runs.
    ## `conclaude validate` checks this file, `conclaude doctor` the whole installation.
    ##
    ## Found here: package.json; agents that can write: coder.

    ## Commands when a subagent stops, by its name: * ? [a-z] {a,b} work, and "*" is every one.
    ## Agents that only read, such as Explore and Plan, cannot fix anything: a check should not block them.
    subagentStop:
      commands:
        "{general-purpose,coder}":
          - run: "npm run lint"
            message: "Linting failed"
            maxOutputLines: 50   # of what it prints, which is shown when it fails
            timeout: 600         # seconds; then it is killed with all its children
            onFailure: block     # it must be fixed first; `warn` only reports it
    "#);
    assert_eq!(run_in(&root, &["validate"]).0, Some(0));
    let path = fake_npm(&root);
    let done = test.env("PATH", &path).run().status(2);
    insta::assert_snapshot!(done.steady(&done.stderr), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ Linting failed
      `npm run lint` exited with code 1
      src/a.js: unused
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn agents_that_cannot_fix_anything_are_not_blocked() {
    for agent in ["Explore", "Plan", "reviewer"] {
        let test = npm_project();
        run_in(&test.root(), &["init", "--yes"]);
        let path = fake_npm(&test.root());
        test.agent(agent).env("PATH", &path).run().silent();
    }
}

#[test]
fn each_workspace_is_checked_in_its_own_folder() {
    let test = Test::stop()
        .file("package.json", r#"{"workspaces": ["packages/*"]}"#)
        .file("packages/a/package.json", r#"{"scripts": {"lint": "x"}}"#)
        .file("packages/b/package.json", r#"{"scripts": {"lint": "x"}}"#)
        .file("packages/b/fixed", "");
    let root = test.root();
    run_in(&root, &["init", "--yes"]);
    let path = fake_npm(&root);
    let done = test.agent("general-purpose").env("PATH", &path).run().status(2);
    insta::assert_snapshot!(done.steady(&done.stderr), @"
    conclaude: general-purpose (a1b2c3) may not stop yet (block 1 of 3):
    ✗ Linting failed in packages/a
      `npm run lint` exited with code 1
      src/a.js: unused
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn many_workspaces_share_the_time_that_claude_code_gives() {
    let mut test = Test::stop().file("package.json", r#"{"workspaces": ["packages/*"]}"#);
    for name in ["a", "b", "c", "d", "e"] {
        let scripts = r#"{"scripts": {"lint": "x", "test": "x"}}"#;
        test = test.file(&format!("packages/{name}/package.json"), scripts);
    }
    let root = test.root();
    run_in(&root, &["init", "--yes"]);
    assert_eq!(read(root.join(".conclaude.yaml")).matches("timeout: 360").count(), 10);
    insta::assert_snapshot!(transcript(&root, &["validate"]), @"
    exit 0
    valid: pack:secrets
    valid: pack:git-safety
    valid: pack:destructive-commands
    valid: [ROOT]/.conclaude.yaml
      preToolUse: 253 guards
      subagentStop: 1 pattern, 10 commands
    ");
}

#[test]
fn a_target_that_does_not_exist_is_never_suggested() {
    let test = Test::stop().file("Makefile", "all:\n\tcc x.c\n");
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["init", "--yes"]), @"
    exit 0
    wrote [ROOT]/.conclaude.yaml
    wrote [ROOT]/.conclaude.test.yaml: cases for `conclaude test`
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    next: guards are active in new sessions. No checks are configured: add yours, then run `conclaude doctor`
    ");
    let config = read(root.join(".conclaude.yaml"));
    assert!(!config.contains("make "), "{config}");
    insta::assert_snapshot!(config.split("\n\n").nth(1).unwrap(), @r#"
    ## Commands when a subagent stops, by its name: * ? [a-z] {a,b} work, and "*" is every one.
    ## Agents that only read, such as Explore and Plan, cannot fix anything: a check should not block them.
    ## No lint or test command was found here: write yours instead of this one.
    # subagentStop:
    #   commands:
    #     "general-purpose":
    #       - run: "git diff --check"
    #         message: "Conflict markers or white space at the end of a line"
    #         maxOutputLines: 50   # of what it prints, which is shown when it fails
    #         timeout: 600         # seconds; then it is killed with all its children
    #         onFailure: block     # it must be fixed first; `warn` only reports it
    "#);
}
