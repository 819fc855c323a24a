//! The subcommands that users call.

use crate::common::{Test, conclaude, scratch};
use insta::assert_snapshot;

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = conclaude().args(arguments).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn help_and_version_are_answered() {
    let test = Test::stop();
    assert_snapshot!(test.shows(&["--help"]), @"
    exit 0
    ----- stdout
    Hooks for Claude Code that make subagents trustworthy

    Usage: conclaude <COMMAND>

    Commands:
      demo         Run a subagent's start and stop in a scratch project, and show what is matched, run
                   and answered
      init         Start: write a .conclaude.yaml based on this project, and register conclaude with
                   Claude Code or other clients
      install      Register conclaude in the settings of Claude Code, or of other clients
      uninstall    Remove conclaude from the settings of Claude Code, or of other clients, and report
                   what stays
      trust        Trust the commands of this project's config, where --user or the plugin registers
                   conclaude
      doctor       Check the installation, and show how to fix problems; exits with 0 or 1
      validate     Check a config and print every problem with its line and column
      run          Run the commands of the config now, without a session, on the files that have changed
                   in git
      config       Show the merged config of all files
      pack         List, print and add the ready-made configs for `extends`
      des          Record the phases of a step, and create, check and list step files
      audit        Show, verify, summarise and export the audit trail
      watch        Watch this project's sessions in the terminal: threads, steps, commands, blocks and
                   denials, as they happen
      explain      Explain what would be decided at an event, and by which rules; nothing is run
      why          Explain a decision of the audit trail, and whether today's config would decide so
                   again
      allow        Permit a call that was denied or asked about: the same call is allowed once, or for
                   its session
      budget       Show how much of this project's budgets is used, or raise one
      test         Test the config with the cases of .conclaude.test.yaml: what is denied, asked,
                   blocked and run; nothing is executed
      events       List the events: what their patterns compare, what can be blocked, and the variables
                   of their commands
      report       Show what happened in this project's sessions: a page with a timeline, Markdown for a
                   pull request, or JSON
      replay       Show what the config would have decided in past sessions, from Claude Code's
                   transcripts; nothing is run
      schema       Print the JSON Schema of the config, for editors
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Events:
      conclaude <Event> is what Claude Code calls, with the payload on stdin. Each runs the commands
      of its section; conclaude events lists them.

    Exit codes:
      0  success
      1  error in the arguments, the payload or the config
      2  blocked on purpose

    Environment:
      CONCLAUDE                 0, off or false: every event is switched off, and the session's start
      says so
      CONCLAUDE_LOG             error, warn, info (default), debug or off: log lines on stderr
      CONCLAUDE_NOTIFY_WAIT_MS  how long a desktop notification may take (default 100)
      CLAUDE_PROJECT_DIR        the folder from which the config is searched upward; set by Claude Code
    ");
    for flag in ["-h", "help"] {
        assert_eq!(run(&[flag]), run(&["--help"]));
    }
    assert_eq!(run(&["--version"]), (Some(0), format!("conclaude {}\n", env!("CARGO_PKG_VERSION"))));
    assert_eq!(run(&["-V"]), run(&["--version"]));
}

#[test]
fn each_subcommand_and_event_has_help() {
    let names = ["demo", "validate", "schema", "completions", "SubagentStop", "PreToolUse"];
    let help = names.map(|name| run(&[name, "--help"]).1);
    assert_snapshot!(help.join("\n"), @"
    Run a subagent's start and stop in a scratch project, and show what is matched, run and answered

    Usage: conclaude demo [OPTIONS]

    Options:
          --keep  Keep the scratch project, and print its path
      -h, --help  Print help

    Check a config and print every problem with its line and column

    Exits with 0 if the config is valid, and with 1 if it is not or if there is none.

    Usage: conclaude validate [OPTIONS] [PATH]

    Arguments:
      [PATH]
              The config file, or the folder from which to search upward [default: CLAUDE_PROJECT_DIR,
              else the current folder]

    Options:
          --format <FORMAT>
              The output format: github prints annotations for GitHub Actions
              
              [default: text]
              [possible values: text, json, github]

          --strict
              Exit with 1 if there are warnings

          --json
              The same as --format json

      -h, --help
              Print help (see a summary with '-h')

    Print the JSON Schema of the config, for editors

    Usage: conclaude schema [OPTIONS]

    Options:
          --test  The schema of .conclaude.test.yaml instead
      -h, --help  Print help

    Print a completion script for a shell

    Usage: conclaude completions <SHELL>

    Arguments:
      <SHELL>  The shell [possible values: bash, elvish, fish, powershell, zsh]

    Options:
      -h, --help  Print help

    Handle the hook event SubagentStop: Claude Code calls it with the payload on stdin

    Usage: conclaude SubagentStop [OPTIONS]

    Options:
          --if-trusted  Run commands and judge only if the user trusts the config (`conclaude trust`);
                        for registrations with --user
          --plugin      The same for Claude Code's plugin: do nothing where settings register the event
                        as well
      -h, --help        Print help

    Exit codes: 0 allowed, 1 error, 2 blocked on purpose. CONCLAUDE_LOG=debug logs more on stderr.

    Handle the hook event PreToolUse: Claude Code calls it with the payload on stdin

    Usage: conclaude PreToolUse [OPTIONS]

    Options:
          --if-trusted  Run commands and judge only if the user trusts the config (`conclaude trust`);
                        for registrations with --user
          --plugin      The same for Claude Code's plugin: do nothing where settings register the event
                        as well
      -h, --help        Print help

    Exit codes: 0 allowed, 1 error, 2 blocked on purpose. CONCLAUDE_LOG=debug logs more on stderr.
    ");
    for name in names {
        assert_eq!(run(&["help", name]), run(&[name, "--help"]));
    }
}

#[test]
fn completions_know_the_subcommands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script) = run(&["completions", shell]);
        let known = ["validate", "completions"].map(|name| script.matches(name).count() > 0);
        assert_eq!((code, known), (Some(0), [true, true]), "{shell}");
    }
}

#[test]
fn the_demo_shows_a_subagents_life_without_any_colours_in_a_pipe() {
    assert_snapshot!(Test::stop().shows(&["demo"]), @r#"
    exit 0
    ----- stdout
    A scratch project with this .conclaude.yaml

      subagentStart:
        commands:
          "*":
            - run: echo "$CONCLAUDE_SUBAGENT_NAME starts"
              showStdout: true
      
      subagentStop:
        commands:
          coder:
            - run: test -s CHANGES.md
              message: "CHANGES.md is empty: say what you changed"
              onFailure: block
          "*":
            - run: echo "checked the work of $CONCLAUDE_SUBAGENT_NAME"
              showStdout: true
          "test*":
            - run: echo "never for a coder"

    1. Claude Code starts the subagent `coder`: conclaude SubagentStart
      matched   *
      ran       ✓ echo "$CONCLAUDE_SUBAGENT_NAME starts"  (exited with code 0)
      shown     coder starts
      answered  exit 0 (it may go on)
      stdout    {"systemMessage":"conclaude: SubagentStart of coder (a1b2c3d4e5f60718)\n✓ echo \"$CONCLAUDE_SUBAGENT_NAME starts\"\n  coder starts"}

    2. `coder` says "done", but CHANGES.md is empty: conclaude SubagentStop
      matched   *, coder
      ran       ✓ echo "checked the work of $CONCLAUDE_SUBAGENT_NAME"  (exited with code 0)
      shown     checked the work of coder
      ran       ✗ test -s CHANGES.md  (exited with code 1)
      answered  exit 2 (it is blocked)
      stdout    {"decision":"block","reason":"conclaude: coder (a1b2c3d4e5f60718) may not stop yet (block 1 of 3):\n✓ echo \"checked the work of $CONCLAUDE_SUBAGENT_NAME\"\n  checked the work of coder\n✗ CHANGES.md is empty: say what you changed\n  `test -s CHANGES.md` exited with code 1\nFix what is marked ✗, then give your complete report again: your caller sees only your last message."}

    3. `coder` reads the reason, writes CHANGES.md and stops again: conclaude SubagentStop
      matched   *, coder
      ran       ✓ echo "checked the work of $CONCLAUDE_SUBAGENT_NAME"  (exited with code 0)
      shown     checked the work of coder
      ran       ✓ test -s CHANGES.md  (exited with code 0)
      answered  exit 0 (it may go on)
      stdout    {"systemMessage":"conclaude: SubagentStop of coder (a1b2c3d4e5f60718)\n✓ echo \"checked the work of $CONCLAUDE_SUBAGENT_NAME\"\n  checked the work of coder\n✓ coder (a1b2c3d4e5f60718): `test -s CHANGES.md` passed after 1 block"}

    Next: `conclaude init` in your project sets it up, and `conclaude doctor` checks the installation.
    "#);
}

#[test]
fn the_demo_is_colourful_where_colours_are_asked_for() {
    let output = conclaude().arg("demo").env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\u{1b}[32m"));
}

#[test]
fn the_demo_runs_nothing_of_the_users_own_config() {
    let home = scratch();
    let folder = home.path().join(".config/conclaude");
    std::fs::create_dir_all(&folder).unwrap();
    let marker = home.path().join("marker");
    let touch = format!("{{commands: {{'*': [{{run: touch {}}}]}}}}", marker.display());
    let config = format!("subagentStart: {touch}\nsubagentStop: {touch}\n");
    std::fs::write(folder.join("config.yaml"), config).unwrap();
    let output = conclaude().arg("demo").env("HOME", home.path()).output().unwrap();
    assert!(output.status.success() && !marker.exists(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_demo_leaves_nothing_behind_unless_asked() {
    let folder = scratch();
    let state = scratch();
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
