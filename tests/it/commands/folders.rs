//! Where a command runs.

use super::*;

#[test]
fn commands_run_in_the_folder_of_the_config_wherever_the_agent_is() {
    let test = one("{run: pwd > where.txt}").file("deep/down/x", "");
    let (root, deep) = (test.root(), test.root().join("deep/down"));
    let done = test.payload("cwd", deep.to_str().unwrap()).without_env("CLAUDE_PROJECT_DIR").run().silent();
    assert_eq!(done.read("where.txt").trim(), root.to_str().unwrap());
}

#[test]
fn an_agent_in_a_worktree_runs_its_commands_there() {
    let test = one("{run: pwd > where.txt}").file(".claude/worktrees/agent-a1/src/x", "");
    let worktree = test.root().join(".claude/worktrees/agent-a1");
    let done = test.payload("cwd", worktree.join("src").to_str().unwrap()).run().silent();
    assert_eq!(done.read(".claude/worktrees/agent-a1/where.txt").trim(), worktree.to_str().unwrap());
}

#[test]
fn a_command_runs_in_its_folder_below_that_of_the_config() {
    let in_package = |options: &str| one(options).file("packages/a/name", "the package a\n");
    let message = in_package("{run: cat name, cwd: packages/a, showStdout: true}").run().message();
    assert_snapshot!(message, @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ cat name
      the package a
    ");
    // An agent with a worktree has the folder there.
    let test = in_package("{run: cat name, cwd: packages/a, showStdout: true}")
        .file(".claude/worktrees/agent-a1b2c3/packages/a/name", "the package in the worktree\n");
    let work = test.root().join(".claude/worktrees/agent-a1b2c3");
    assert_snapshot!(test.payload("cwd", work.to_str().unwrap()).run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ cat name
      the package in the worktree
    ");
}

#[test]
fn a_folder_that_is_not_there_or_leads_out_is_a_failure_with_its_reason() {
    let test = one("{run: touch ran, cwd: packages/b, onFailure: block}").file("packages/a/x", "");
    let done = test.run().status(2);
    assert_snapshot!(done.steady(&done.stderr), @"
    conclaude: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ `touch ran` could not be started: its `cwd` packages/b does not exist in [ROOT]
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
    let test = one("{run: touch ran, cwd: name}").file("name", "a file\n");
    assert_snapshot!(test.run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `touch ran` could not be started: its `cwd` name is not a folder in [ROOT]
    ");
    let test = one("{run: touch ran, cwd: out}");
    let outside = crate::common::scratch();
    std::os::unix::fs::symlink(outside.path(), test.root().join("out")).unwrap();
    let message = test.run().message();
    let outside_name = outside.path().canonicalize().unwrap().display().to_string();
    assert_snapshot!(message.replace(&outside_name, "[OUTSIDE]"), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `touch ran` could not be started: its `cwd` out leads out of [ROOT], to [OUTSIDE]
    ");
    assert!(!outside.path().join("ran").exists());
}

#[test]
fn a_folder_outside_is_an_error_of_the_config() {
    // As long as each other, so that what points at them is, too.
    let shown = ["../x", "/tmp", "a/.."].map(|folder| {
        let test = one(&format!("{{run: x, cwd: {folder}}}"));
        test.shows(&["validate"]).replace(folder, "../x")
    });
    assert_snapshot!(same(&shown), @r#"
    exit 1
    ----- stdout
    error: invalid value for `cwd`: the text "../x"
     --> [ROOT]/.conclaude.yaml:4:23
      |
    4 |       - {run: x, cwd: ../x}
      |                       ^^^^ expected a folder below that of the config: a relative path without `..`

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    "#);
}
