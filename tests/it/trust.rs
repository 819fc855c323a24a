//! Registered for all projects of a user, conclaude runs nothing of a project that nobody trusts.

use crate::common::{Test, conclaude, run_in, run_in_home, workflow};

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: echo ran >> ran, showStdout: true}]}}\n";

fn trust(test: &Test, arguments: &[&str]) -> (Option<i32>, String, String) {
    let all: Vec<&str> = ["trust"].iter().chain(arguments).copied().collect();
    run_in_home(&test.root(), &test.root(), &all)
}

#[test]
fn a_project_that_nobody_trusts_runs_no_command_and_says_so() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    let answer = test.run();
    let said = answer.message();
    assert!(said.contains("⚠ `echo ran >> ran` did not run: ") && said.contains("is not trusted"), "{said}");
    assert!(said.contains("conclaude trust"), "how to mend it: {said}");
    assert!(!answer.has("ran"));
    // The client shows that to nobody at this event: it waits for the next one.
    let later = answer.again().then("Stop").run().message();
    assert!(later.contains("did not run"), "{later}");
}

#[test]
fn it_is_said_when_the_session_starts_too() {
    let test = Test::event("SessionStart").config(CONFIG).flag("--if-trusted");
    let said = test.run().message();
    assert!(said.contains("is not trusted, so what it would run stays off: 1 command."), "{said}");
    Test::event("SessionStart").config("maxBlocks: 3\n").flag("--if-trusted").run().silent();
}

#[test]
fn trust_lets_the_commands_run_until_the_config_changes() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    let (code, out, _) = trust(&test, &["--yes"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(out, @r#"
    [ROOT]/.conclaude.yaml runs:
      subagentStop of "coder":
        echo ran >> ran
    trusted, until the file changes; scripts that it calls are not watched
    "#);
    assert_eq!(trust(&test, &[]).1, "[ROOT]/.conclaude.yaml is trusted already\n");
    let answer = test.run();
    assert!(answer.has("ran"));
    let answer = answer.again().config(&CONFIG.replace("echo ran", "echo changed")).run();
    let said = answer.message();
    assert!(said.contains("has changed since you trusted it"), "{said}");
    let test = answer.again();
    assert!(trust(&test, &["--list"]).1.starts_with("changed since"));
    assert_eq!(trust(&test, &["--revoke"]).1, "[ROOT]/.conclaude.yaml is trusted no longer\n");
    let answer = test.run();
    assert!(answer.message().contains("is not trusted"));
    assert_eq!(trust(&answer.again(), &["--list"]).1, "no config is trusted\n");
}

#[test]
fn without_a_terminal_nobody_agrees_by_accident() {
    let test = Test::stop().config(CONFIG);
    let (code, out, err) = trust(&test, &[]);
    assert_eq!(code, Some(1));
    assert!(out.contains("    echo ran >> ran\n"), "what one would agree to is shown: {out}");
    assert!(err.contains("--yes"), "{err}");
}

#[test]
fn a_judge_is_not_asked_for_a_project_that_nobody_trusts() {
    let test = Test::gated_stop(&workflow::done())
        .config("des: {judge: {prompt: is it so?, onError: block}}\n")
        .flag("--if-trusted");
    let answer = test.run();
    assert!(answer.message().contains("the judge was not asked"), "{}", answer.message());
}

#[test]
fn the_gates_run_nothing_and_so_need_no_trust() {
    let test = Test::gated_stop(&workflow::todo()).config(CONFIG).flag("--if-trusted");
    let reason = test.run().blocked();
    assert!(reason.contains("SILENT_COMPLETION"), "{reason}");
    assert!(reason.contains("did not run"), "{reason}");
}

#[test]
fn the_projects_own_registration_goes_before_that_of_the_user() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    let root = test.root();
    run_in(&root, &["install", "--local"]);
    let test = test.run().silent().again();
    assert!(!root.join(".conclaude/outbox").exists(), "the project's registration says what there is to say");
    // One that does not reach as far does not stand for it.
    let settings = root.join(".claude/settings.local.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace("conclaude SubagentStop", "other SubagentStop")).unwrap();
    assert!(test.run().message().contains("did not run"));
}

#[test]
fn registering_for_all_projects_asks_for_trust_and_goes_again() {
    let test =
        Test::stop().config(CONFIG).file("home/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let (root, home) = (test.root(), test.root().join("home"));
    let (code, out, err) = run_in_home(&root, &home, &["install", "--user"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(out, @"
    registered conclaude in [ROOT]/home/.claude/settings.json
    the file as it was is kept in [ROOT]/home/.claude/settings.json.before-conclaude
    in each project: `conclaude trust` lets the commands of its config run
    ");
    let settings = std::fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    assert_eq!(settings.matches("--if-trusted").count(), 8, "{settings}");
    assert!(settings.contains("\"timeout\": 3600"), "{settings}");
    assert!(!root.join(".claude").exists(), "the project has nothing to do with it");
    let again = run_in_home(&root, &home, &["install", "--user"]).1;
    assert!(again.contains("has all that is needed already"), "{again}");
    run_in_home(&root, &home, &["uninstall", "--user"]);
    assert_eq!(
        std::fs::read_to_string(home.join(".claude/settings.json")).unwrap(),
        "{\n  \"model\": \"opus\"\n}\n"
    );
}

#[test]
fn without_a_home_nothing_is_trusted() {
    let test =
        Test::stop().config(CONFIG).flag("--if-trusted").without_env("HOME").without_env("XDG_STATE_HOME");
    // Without HOME the system's own record of the user counts; a home that cannot be is none.
    let test = test.env("HOME", "relative/home");
    let answer = test.run();
    assert!(answer.message().contains("is not trusted"));
    assert!(!answer.has("ran"));
}

#[test]
fn the_flag_is_known_to_help_and_another_one_never_blocks() {
    let help = conclaude().args(["SubagentStop", "--help"]).output().unwrap();
    assert!(String::from_utf8_lossy(&help.stdout).contains("--if-trusted"));
    let wrong = conclaude().args(["SubagentStop", "--if-trustd"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
}

#[test]
fn what_one_agrees_to_is_shown_with_nothing_hidden() {
    let yaml = "subagentStop:\n  commands:\n    coder:\n      - run: \"touch pwned #\\rnpm run lint\"\n      - run: \"npm test \\e]; touch pwned\\a\"\n      - {run: npm run check, shell: ./evil.sh}\n";
    let test = Test::stop().config(yaml);
    let out = trust(&test, &["--yes"]).1;
    assert!(out.contains("    touch pwned #\\rnpm run lint\n"), "{out}");
    assert!(out.contains("    npm test \\u{1b}]; touch pwned\\u{7}\n"), "{out}");
    assert!(out.contains("subagentStop of \"coder\", by ./evil.sh:\n    npm run check\n"), "{out}");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_config_that_is_trusted_elsewhere_is_not_trusted_here() {
    let trusted = Test::stop().config("subagentStop: {commands: {coder: [{run: ./check.sh}]}}\n");
    let state = trusted.root().join(".state-home");
    assert_eq!(trust(&trusted, &["--yes"]).0, Some(0));
    let other = Test::stop()
        .file("check.sh", "touch pwned\n")
        .flag("--if-trusted")
        .env("XDG_STATE_HOME", state.to_str().unwrap());
    std::os::unix::fs::symlink(trusted.root().join(".conclaude.yaml"), other.root().join(".conclaude.yaml"))
        .unwrap();
    let answer = other.run();
    assert!(answer.message().contains("is not trusted"), "its commands run here, not there");
}

#[test]
fn a_registration_of_the_project_that_starts_nothing_does_not_stand_for_the_users() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    run_in(&test.root(), &["install"]);
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_conclaude"), "/nowhere/conclaude")).unwrap();
    assert!(test.run().message().contains("did not run"), "said by the user's own");
}

#[test]
fn ones_own_settings_are_never_taken_for_those_of_a_project() {
    // What is registered there without asking for trust would run the commands of every repository.
    for make in ["config", "state", "git"] {
        let test = Test::stop().file("home/proj/x", "");
        let home = test.root().join("home");
        match make {
            "config" => std::fs::write(home.join(".conclaude.yaml"), "maxBlocks: 3\n").unwrap(),
            "state" => std::fs::create_dir(home.join(".conclaude")).unwrap(),
            _ => std::fs::create_dir(home.join(".git")).unwrap(),
        }
        for verb in ["install", "init"] {
            let (code, _, err) = run_in_home(&home.join("proj"), &home, &[verb]);
            // A new config of the folder's own is fine.
            let is_own = verb == "init" && home.join("proj/.claude/settings.json").exists();
            assert!(is_own || (code == Some(1) && err.contains("--user")), "{make} {verb}: {err}");
            assert!(!home.join(".claude/settings.json").exists(), "{make} {verb}");
        }
    }
}
