//! What `init` asks on a terminal.

use super::*;
use crate::common::tmux::Tmux;

fn project() -> Test {
    Test::stop().file("Cargo.toml", "[package]\n").file("Makefile", "lint:\n\tshellcheck *.sh\n")
}

/// The lines of the config that are not comments.
fn live(test: &Test) -> String {
    let config = read(test.root().join(".conclaude.yaml"));
    let lines = config.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn enter_takes_the_recommended_answers() {
    let test = project();
    let tmux = Tmux::start(&test.root(), "init");
    tmux.shows("numbers, all or none [all] >");
    tmux.keys(&["Enter"]);
    tmux.shows("What if one fails?");
    tmux.keys(&["Enter"]);
    tmux.shows("For whom?");
    tmux.keys(&["Enter"]);
    tmux.shows("numbers, all or none [1,2,3] >");
    tmux.keys(&["Enter"]);
    tmux.shows("Should the operating system enforce the rules for files, too?");
    tmux.keys(&["Enter"]);
    tmux.shows("exit 0");
    let asked = live(&test);
    let same = project();
    run_in(&same.root(), &["init", "--yes"]);
    assert_eq!(asked, live(&same));
    assert_eq!(run_in(&test.root(), &["test"]).0, Some(0));
}

#[test]
fn answers_choose_checks_reaction_audience_and_packs() {
    let test = project();
    let tmux = Tmux::start(&test.root(), "init");
    let screen = tmux.shows("numbers, all or none [all] >");
    insta::assert_snapshot!(screen.trim_end(), @"
    the shell before
    Which checks should run when an agent says that it is done?
      1. cargo clippy --all-targets -- -D warnings
      2. make lint
      3. cargo test
    numbers, all or none [all] >
    ");
    tmux.keys(&["7", "Enter"]);
    tmux.shows("write numbers from 1 to 3");
    tmux.keys(&["1,3", "Enter"]);
    tmux.shows("What if one fails?");
    tmux.keys(&["warn", "Enter"]);
    tmux.shows("For whom?");
    tmux.keys(&["3", "Enter"]);
    tmux.shows("Which packs of guards?");
    tmux.keys(&["none", "Enter"]);
    tmux.shows("exit 0");
    insta::assert_snapshot!(live(&test), @r#"
    subagentStop:
      commands:
        "general-purpose": &checks
          - run: "cargo clippy --all-targets -- -D warnings"
            message: "Linting failed"
            maxOutputLines: 50   # of what it prints, which is shown when it fails
            timeout: 600         # seconds; then it is killed with all its children
            onFailure: warn      # it is only reported; `block`: it must be fixed first
          - run: "cargo test"
            message: "Tests failed"
            maxOutputLines: 50
            timeout: 600
            onFailure: warn
    stop:
      commands: *checks
    "#);
    for arguments in [&["validate", "--strict"][..], &["test"]] {
        let (code, out, err) = run_in(&test.root(), arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {out}{err}");
    }
}

#[test]
fn the_operating_system_may_be_chosen_to_keep_the_rules() {
    let test = Test::stop();
    let tmux = Tmux::start(&test.root(), "init");
    tmux.shows("numbers, all or none [1,2,3] >");
    tmux.keys(&["1", "Enter"]);
    tmux.shows("Should the operating system enforce the rules for files, too?");
    tmux.keys(&["yes", "Enter"]);
    let screen = tmux.shows("exit 0");
    assert!(screen.contains("next: `conclaude install --enforce`"), "{screen}");
    assert!(live(&test).contains("enforce: [sandbox, permissions]\n"), "{}", live(&test));
    assert_eq!(run_in(&test.root(), &["install", "--enforce"]).0, Some(0));
    assert!(test.root().join(".claude/settings.local.json").exists());
}

#[test]
fn without_an_answer_nothing_is_written() {
    let test = project();
    let tmux = Tmux::start(&test.root(), "init");
    tmux.shows("numbers, all or none [all] >");
    tmux.keys(&["C-d"]);
    let screen = tmux.shows("exit 1");
    assert!(screen.contains("no answer: nothing was written"), "{screen}");
    assert!(!test.root().join(".conclaude.yaml").exists() && !test.root().join(".claude").exists());
}
