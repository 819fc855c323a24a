//! A config that is not the project's or not the user's does nothing before the user trusts it.

use std::path::Path;

use crate::common::{Test, conclaude_in, shown_in};

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: echo ran >> ran}]}}\n";

/// A project below a config that lies outside of its repository.
fn below(config: &str) -> Test {
    let test = Test::stop().config(config).file("project/.git/HEAD", "ref: refs/heads/main\n");
    let project = test.root().join("project").display().to_string();
    test.env("CLAUDE_PROJECT_DIR", &project).payload("cwd", project)
}

fn trust(project: &Path, state: &Path) -> String {
    let output =
        conclaude_in(project).args(["trust", "--yes"]).env("XDG_STATE_HOME", state).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_config_above_the_repository_is_reported_and_not_used() {
    let answer = below(CONFIG).run();
    insta::assert_snapshot!(answer.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: the config [ROOT]/.conclaude.yaml is not used: it is above the repository [ROOT]/project. Look at the file, then run `conclaude trust` in the project
    ");
    assert!(!answer.has("ran") && !answer.has("project/ran"));
    assert!(!answer.has(".conclaude") && answer.has("project/.conclaude"), "the state is the project's");
    let start = answer.again().then("SessionStart").run();
    insta::assert_snapshot!(start.snapshot(), @r#"
    exit 1
    ----- stdout
    {
      "systemMessage": "conclaude: the config [ROOT]/.conclaude.yaml is not used: it is above the repository [ROOT]/project. Look at the file, then run `conclaude trust` in the project"
    }
    ----- stderr: the same
    "#);
}

#[test]
fn trusted_it_is_used_until_it_changes() {
    let test = below(CONFIG);
    let (root, state) = (test.root(), test.root().join(".state-home"));
    insta::assert_snapshot!(trust(&root.join("project"), &state).replace(root.to_str().unwrap(), "[ROOT]"), @r#"
    [ROOT]/.conclaude.yaml runs:
      subagentStop of "coder":
        echo ran >> ran
    trusted, until the file changes; scripts that it calls are not watched
    "#);
    let answer = test.run().silent();
    assert!(answer.has("ran"), "it runs in the folder of its config");
    let changed = answer.again().config(&CONFIG.replace("echo ran", "echo more")).run();
    insta::assert_snapshot!(changed.snapshot(), @"
    exit 1
    ----- stderr
    conclaude: the config [ROOT]/.conclaude.yaml is not used: it is above the repository [ROOT]/project, and has changed since you trusted it. Look at the file, then run `conclaude trust` in the project
    ");
}

#[test]
fn the_gates_run_with_their_defaults_meanwhile() {
    let denied = below("des: {enabled: false}\n")
        .then("PreToolUse")
        .without("agent_id")
        .payload("tool_name", "Agent")
        .payload("tool_use_id", "toolu_1")
        .payload(
            "tool_input",
            serde_json::json!({"prompt": "<!-- DES-VALIDATION: required -->", "subagent_type": "coder"}),
        )
        .run()
        .denied();
    insta::assert_snapshot!(denied, @"
    conclaude denies this call of an agent:
    ✗ MARKER_MISSING: DES-VALIDATION is required, but DES-STEP-FILE is missing → add `<!-- DES-STEP-FILE: path/of/step.json -->` to the prompt; `conclaude des prompt` prints all markers
    (the gates run with their defaults until the user fixes the config: the config [ROOT]/.conclaude.yaml is not used: it is above the repository [ROOT]/project. Look at the file, then run `conclaude trust` in the project)
    ");
}

/// Makes the config somebody else's: of another user as root, of root as anybody else.
#[cfg(unix)]
fn given_away(test: Test) -> Test {
    let path = test.root().join(".conclaude.yaml");
    if std::os::unix::fs::chown(&path, Some(1), None).is_err() {
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    }
    test
}

#[cfg(unix)]
#[test]
fn a_config_of_another_user_is_reported_and_not_used() {
    let test = given_away(Test::stop().config(CONFIG));
    let answer = test.run().status(1);
    let uid = |text: &str| text.replace("(uid 0)", "(uid 1)");
    insta::assert_snapshot!(uid(&answer.snapshot()), @"
    exit 1
    ----- stderr
    conclaude: the config [ROOT]/.conclaude.yaml is not used: it belongs to another user (uid 1). Look at the file, then run `conclaude trust` in the project
    ");
    assert!(!answer.has("ran"));
    let shown = shown_in(&answer.root(), &["doctor"]);
    let line = shown.lines().find(|line| line.contains("is not used")).unwrap_or_else(|| panic!("{shown}"));
    insta::assert_snapshot!(uid(line.trim()), @"✗ config       the config [ROOT]/.conclaude.yaml is not used: it belongs to another user (uid 1). Look at the file, then run `conclaude trust` in the project");
}

#[cfg(unix)]
#[test]
fn a_link_of_another_user_counts_as_well() {
    let test = Test::stop().file("mine.yaml", CONFIG);
    let link = test.root().join(".conclaude.yaml");
    std::os::unix::fs::symlink("mine.yaml", &link).unwrap();
    let answer = test.run().silent();
    assert_eq!(answer.read("ran"), "ran\n", "a link of one's own is followed");
    // Only root can give one away: `root::tests` has a link of root's for everybody else.
    if std::os::unix::fs::lchown(&link, Some(1), None).is_ok() {
        let answer = answer.again().run().status(1);
        insta::assert_snapshot!(answer.snapshot(), @"
        exit 1
        ----- stderr
        conclaude: the config [ROOT]/.conclaude.yaml is not used: it belongs to another user (uid 1). Look at the file, then run `conclaude trust` in the project
        ");
        assert_eq!(answer.read("ran"), "ran\n", "it did not run again");
    }
}
