//! The verbs for people.

use crate::common::conclaude;

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = conclaude().args(arguments).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn help_and_version_are_answered() {
    for flag in ["--help", "-h", "help"] {
        let (code, help) = run(&[flag]);
        assert_eq!(code, Some(0));
        for word in
            ["demo", "validate", "schema", "completions", "SubagentStop", "Exit codes", "CONCLAUDE_LOG"]
        {
            assert!(help.contains(word), "{word} is not in the help of {flag}");
        }
    }
    assert_eq!(run(&["--version"]), (Some(0), format!("conclaude {}\n", env!("CARGO_PKG_VERSION"))));
    assert_eq!(run(&["-V"]), run(&["--version"]));
}

#[test]
fn each_verb_and_event_has_help() {
    for verb in ["demo", "validate", "schema", "completions", "SubagentStop", "PreToolUse"] {
        let (code, help) = run(&[verb, "--help"]);
        assert_eq!(code, Some(0), "{verb}");
        assert!(help.contains(&format!("Usage: conclaude {verb}")), "{help}");
        assert_eq!(run(&["help", verb]).0, Some(0));
    }
    assert!(run(&["SubagentStop", "--help"]).1.contains("payload on stdin"));
}

#[test]
fn completions_know_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script) = run(&["completions", shell]);
        assert_eq!(code, Some(0));
        assert!(script.contains("validate") && script.contains("completions"), "{shell}");
    }
}

#[test]
fn the_demo_shows_a_subagents_life_without_any_colours_in_a_pipe() {
    let (code, shown) = run(&["demo"]);
    assert_eq!(code, Some(0));
    assert!(!shown.contains('\u{1b}'));
    for part in [
        "matched   *\n",
        "shown     coder begins",
        "matched   *, coder\n",
        "ran       ✗ test -s CHANGES.md  (exited with code 1)",
        "answered  exit 2 (it is sent back to work)",
        "{\"decision\":\"block\",\"reason\":\"conclaude: coder (a1b2c3d4e5f60718) may not stop yet (block 1 of 3)",
        "ran       ✓ test -s CHANGES.md  (exited with code 0)",
        "answered  exit 0 (it may go on)",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    assert_eq!(shown.matches("never for a coder").count(), 1, "it stands in the config and is never run");
}

#[test]
fn the_demo_is_colourful_where_colours_are_asked_for() {
    let output = conclaude().arg("demo").env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\u{1b}[32m"));
}

#[test]
fn the_demo_leaves_nothing_behind_unless_asked() {
    let folder = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let demo = |arguments: &[&str]| {
        let mut command = conclaude();
        command.args(arguments).env("TMPDIR", folder.path()).env("XDG_STATE_HOME", state.path());
        command.output().unwrap()
    };
    assert!(demo(&["demo"]).status.success());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(
        std::fs::read_dir(state.path().join("conclaude")).unwrap().count(),
        0,
        "nor in the user's state"
    );
    let shown = String::from_utf8(demo(&["demo", "--keep"]).stdout).unwrap();
    let kept = shown.split("is kept in ").nth(1).unwrap().lines().next().unwrap();
    assert!(std::path::Path::new(kept).join(".conclaude.yaml").exists());
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let mut child = conclaude().arg("schema").stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(0));
}
