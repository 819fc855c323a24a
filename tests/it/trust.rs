//! Registered for all projects of a user, conclaude runs nothing of a project that the user does not trust.

use serde_json::Value;

use crate::common::{Outcome, Test, conclaude, run_in, run_in_home, workflow};

mod deference;

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: echo ran >> ran, showStdout: true}]}}\n";
const GUARD: &str = "preToolUse: {unreadableFiles: [.env]}\n";

fn trust(test: &Test, arguments: &[&str]) -> (Option<i32>, String, String) {
    let all: Vec<&str> = ["trust"].iter().chain(arguments).copied().collect();
    run_in_home(&test.root(), &test.root(), &all)
}

/// What is shown to the user, with `[ROOT]` for the project's folder.
fn message(answer: &Outcome) -> String {
    answer.message().replace(answer.root().to_str().unwrap(), "[ROOT]")
}

#[test]
fn a_project_that_nobody_trusts_runs_no_command_and_says_so() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    let answer = test.run();
    insta::assert_snapshot!(message(&answer), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo ran >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
    assert!(!answer.has("ran"));
    // Claude Code shows that to nobody at this event: it is pending until the next one.
    insta::assert_snapshot!(message(&answer.again().then("Stop").run()), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo ran >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
}

#[test]
fn it_is_said_when_the_session_starts_too() {
    let test = Test::event("SessionStart").config(CONFIG).flag("--if-trusted");
    insta::assert_snapshot!(message(&test.run()), @"conclaude: [ROOT]/.conclaude.yaml is not trusted. These parts are off: 1 command. Look at the file, then run `conclaude trust` in the project");
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
    insta::assert_snapshot!(message(&answer), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo changed >> ran` did not run: [ROOT]/.conclaude.yaml has changed since you trusted it. Look at the file, then run `conclaude trust` in the project
    ");
    let test = answer.again();
    let listed = trust(&test, &["--list"]).1;
    let columns: Vec<&str> = listed.split("  ").filter(|column| !column.is_empty()).collect();
    assert_eq!((columns[0], columns[2]), ("changed since", "[ROOT]/.conclaude.yaml\n"), "{listed}");
    assert_eq!(trust(&test, &["--revoke"]).1, "[ROOT]/.conclaude.yaml is no longer trusted\n");
    let answer = test.run();
    insta::assert_snapshot!(message(&answer), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo changed >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
    assert_eq!(trust(&answer.again(), &["--list"]).1, "no config is trusted\n");
}

#[test]
fn without_a_terminal_nobody_agrees_by_accident() {
    let test = Test::stop().config(CONFIG);
    let (code, out, err) = trust(&test, &[]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(format!("{out}{err}"), @r#"
    [ROOT]/.conclaude.yaml runs:
      subagentStop of "coder":
        echo ran >> ran
    conclaude: only a user at a terminal can decide this; `conclaude trust --yes` does not ask
    "#);
}

#[test]
fn a_judge_is_not_asked_for_a_project_that_nobody_trusts() {
    let test = Test::gated_stop(&workflow::done())
        .config("des: {judge: {prompt: is it so?, onError: block}}\n")
        .flag("--if-trusted");
    insta::assert_snapshot!(message(&test.run()), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ⚠ the judge was not asked: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
}

#[test]
fn the_gates_run_nothing_and_so_need_no_trust() {
    let test = Test::gated_stop(&workflow::todo()).config(CONFIG).flag("--if-trusted");
    let answer = test.run();
    let reason = answer.blocked().replace(answer.root().to_str().unwrap(), "[ROOT]");
    insta::assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SILENT_COMPLETION: every phase is NOT_EXECUTED: nothing was recorded → do the work and record each phase, or set state.status to FAILED with a failure_reason
    ⚠ SCOPE_VIOLATION: the scope cannot be checked: this is not a git repository → look yourself at what was changed: the scope was not checked
    ⚠ `echo ran >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn the_commands_that_prove_phases_are_shown_too() {
    let test = Test::stop().config("des: {evidence: {GREEN_UNIT: npm test}, judge: {prompt: is it so?}}\n");
    insta::assert_snapshot!(trust(&test, &["--yes"]).1, @"
    [ROOT]/.conclaude.yaml runs:
      `conclaude des run STEP GREEN_UNIT`:
        npm test
      a judge: its prompt, agents' prompts, step files, summaries of changes and the end of transcripts go to the API, with your key
        is it so?
    trusted, until the file changes; scripts that it calls are not watched
    ");
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
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    in each project: `conclaude trust` lets the commands of its config run
    ");
    let settings = std::fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    let json: Value = serde_json::from_str(&settings).unwrap();
    let hooks = json["hooks"].as_object().unwrap().values().map(|groups| &groups[0]["hooks"][0]);
    let asks = |hook: &Value| hook["command"].as_str().unwrap().ends_with(" --if-trusted");
    assert_eq!(hooks.filter(|hook| asks(hook)).count(), 8, "{settings}");
    assert_eq!(json["hooks"]["SubagentStop"][0]["hooks"][0]["timeout"], 3600);
    assert!(!root.join(".claude").exists(), "the project has nothing to do with it");
    let again = run_in_home(&root, &home, &["install", "--user"]).1;
    assert_eq!(again, "[ROOT]/home/.claude/settings.json already has everything that is needed\n");
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
    insta::assert_snapshot!(message(&answer), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo ran >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
    assert!(!answer.has("ran"));
}

#[test]
fn the_flag_is_known_to_help_and_another_one_never_blocks() {
    let help = conclaude().args(["SubagentStop", "--help"]).output().unwrap();
    insta::assert_snapshot!(String::from_utf8_lossy(&help.stdout), @"
    Handle the hook event SubagentStop: Claude Code calls it with the payload on stdin

    Usage: conclaude SubagentStop [OPTIONS]

    Options:
          --if-trusted  Run commands and judge only if the user trusts the config (`conclaude trust`);
                        for registrations with --user
          --plugin      The same for Claude Code's plugin: do nothing where settings register the event
                        as well
      -h, --help        Print help

    Exit codes: 0 allowed, 1 error, 2 blocked on purpose. CONCLAUDE_LOG=debug logs more on stderr.
    ");
    let wrong = conclaude().args(["SubagentStop", "--if-trustd"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8_lossy(&wrong.stderr), @"
    error: unexpected argument '--if-trustd' found

      tip: a similar argument exists: '--if-trusted'

    Usage: conclaude SubagentStop --if-trusted

    For more information, try '--help'.
    ");
}

#[test]
fn what_one_agrees_to_is_shown_with_nothing_hidden() {
    let yaml = "subagentStop:\n  commands:\n    coder:\n      - run: \"touch pwned #\\rnpm run lint\"\n      - run: \"npm test \\e]; touch pwned\\a\"\n      - {run: npm run check, shell: ./evil.sh}\n";
    let test = Test::stop().config(yaml);
    let out = trust(&test, &["--yes"]).1;
    insta::assert_snapshot!(out, @r#"
    [ROOT]/.conclaude.yaml runs:
      subagentStop of "coder":
        touch pwned #\rnpm run lint
      subagentStop of "coder":
        npm test \u{1b}]; touch pwned\u{7}
      subagentStop of "coder", by ./evil.sh:
        npm run check
    trusted, until the file changes; scripts that it calls are not watched
    "#);
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
    // Its commands run here, not there.
    insta::assert_snapshot!(message(&other.run()), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `./check.sh` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
}

#[test]
fn a_project_that_nobody_trusts_is_not_to_be_registered_before_it_is() {
    let config = "preCompact: {commands: [{run: echo ran >> ran}]}\n";
    let test = Test::event("SessionStart").config(config).flag("--if-trusted");
    let (root, home) = (test.root(), test.root().join("home"));
    std::fs::create_dir_all(&home).unwrap();
    run_in_home(&root, &home, &["install", "--user"]);
    let test = test.env("HOME", home.to_str().unwrap());
    let answer = test.run();
    insta::assert_snapshot!(message(&answer), @"conclaude: [ROOT]/.conclaude.yaml is not trusted. These parts are off: 1 command. Look at the file, then run `conclaude trust` in the project");
    let test = answer.again();
    assert_eq!(run_in_home(&root, &home, &["trust", "--yes"]).0, Some(0));
    insta::assert_snapshot!(message(&test.run()), @"
    conclaude: the registration with Claude Code is out of sync with the config:
    ⚠ PreCompact is not registered
    To fix it: conclaude install --local
    ");
}

/// A home with this in it, and a folder below that has no config.
fn home_with(name: &str, content: Option<&str>) -> Test {
    let test = Test::stop().file("home/proj/x", "");
    match content {
        Some(text) => test.file(&format!("home/{name}"), text),
        None => {
            std::fs::create_dir(test.root().join("home").join(name)).unwrap();
            test
        }
    }
}

#[test]
fn ones_own_settings_are_never_taken_for_those_of_a_project() {
    // What is registered there without asking for trust would run the commands of every repository.
    for (name, content) in [(".conclaude.yaml", Some("maxBlocks: 3\n")), (".conclaude", None), (".git", None)]
    {
        let test = home_with(name, content);
        let home = test.root().join("home");
        let (code, _, err) = run_in_home(&home.join("proj"), &home, &["install"]);
        let err = err.replace(home.to_str().unwrap(), "[HOME]");
        assert_eq!((code, home.join(".claude/settings.json").exists()), (Some(1), false), "{name}: {err}");
        insta::allow_duplicates! { insta::assert_snapshot!(err, @"conclaude: [HOME]/.claude/settings.json is left unchanged: these are your own settings, for all projects. Go to the folder of a project, or use --user"); }
    }
}

#[test]
fn init_below_a_home_with_a_config_makes_one_for_the_folder_itself() {
    for (name, content) in [(".conclaude.yaml", Some("maxBlocks: 3\n")), (".conclaude", None)] {
        let test = home_with(name, content);
        let home = test.root().join("home");
        let (code, _, err) = run_in_home(&home.join("proj"), &home, &["init"]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{name}");
        assert!(home.join("proj/.claude/settings.json").exists() && !home.join(".claude").exists());
    }
}

#[test]
fn init_refuses_a_home_that_is_a_repository() {
    let test = home_with(".git", None);
    let home = test.root().join("home");
    let (code, out, err) = run_in_home(&home.join("proj"), &home, &["init"]);
    let shown = format!("{out}{err}").replace(home.to_str().unwrap(), "[HOME]");
    assert_eq!((code, home.join(".claude/settings.json").exists()), (Some(1), false), "{shown}");
    insta::assert_snapshot!(shown, @"conclaude: [HOME]/.claude/settings.json is left unchanged: these are your own settings, for all projects. Go to the folder of a project, or use --user");
}

#[test]
fn a_command_of_the_config_proves_no_phase_of_a_project_that_nobody_trusts() {
    let config = "des: {phases: tdd-3, evidence: {RED: 'touch ran; false'}}\n";
    let test = Test::stop().config(config).file("home/.keep", "");
    let (root, home) = (test.root(), test.root().join("home"));
    let conclaude = |arguments: &[&str]| {
        let (code, out, err) = run_in_home(&root, &home, arguments);
        let shown = format!("exit {}\n{out}{err}", code.unwrap());
        shown.replace(root.to_str().unwrap(), "[ROOT]")
    };
    conclaude(&["des", "new", "01.json"]);
    conclaude(&["install", "--user"]);
    insta::assert_snapshot!(conclaude(&["des", "run", "01.json", "RED"]), @"
    exit 1
    conclaude: [ROOT]/.conclaude.yaml is not trusted, so its commands do not run. Look at the file, then run `conclaude trust` in the project
    ");
    assert!(!root.join("ran").exists());
    conclaude(&["trust", "--yes"]);
    insta::assert_snapshot!(conclaude(&["des", "run", "01.json", "RED"]), @"
    exit 1
    conclaude: RED is EXECUTED: PASS (exit code 1)
    ");
    assert!(root.join("ran").exists());
}

#[test]
fn what_makes_claude_go_on_is_shown_and_reported() {
    let config = "stop: {infinite: true, infiniteMessage: take the next item}\n";
    let test = Test::event("Stop").without("agent_id").without("agent_type").config(config);
    insta::assert_snapshot!(test.shows(&["trust", "--yes"]), @"
    exit 0
    ----- stdout
    [ROOT]/.conclaude.yaml runs:
      Claude goes on after every stop, up to maxBlocks times, with:
        take the next item
    trusted, until the file changes; scripts that it calls are not watched
    ");
    let test = Test::event("Stop").without("agent_id").without("agent_type").config(config);
    let answer = test.payload("stop_hook_active", false).flag("--if-trusted").run();
    insta::assert_snapshot!(answer.message(), @"conclaude: ⚠ `stop.infinite` did not make Claude go on: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project");
}

#[test]
fn a_project_that_moves_the_users_config_away_is_reported() {
    let settings = r#"{"env": {"XDG_CONFIG_HOME": "/tmp/x", "HOME": "/tmp/y"}}"#;
    let test = Test::event("SessionStart").config(GUARD).file(".claude/settings.json", settings);
    insta::assert_snapshot!(message(&test.run()), @"
    conclaude: ⚠ [ROOT]/.claude/settings.json sets HOME=/tmp/y in `env`: conclaude looks there for your own config, your trust and its state
    ⚠ [ROOT]/.claude/settings.json sets XDG_CONFIG_HOME=/tmp/x in `env`: conclaude looks there for your own config, your trust and its state
    ");
}

/// Records with the user's token could be read on their way.
#[test]
fn a_project_that_chooses_who_vouches_for_servers_is_reported() {
    let settings = r#"{"env": {"SSL_CERT_FILE": "./ca.pem"}}"#;
    let test = Test::event("SessionStart").config(GUARD).file(".claude/settings.json", settings);
    insta::assert_snapshot!(message(&test.run()), @"conclaude: ⚠ [ROOT]/.claude/settings.json sets SSL_CERT_FILE=./ca.pem in `env`: conclaude trusts servers by it, also with your telemetry");
}

#[test]
fn a_project_whose_settings_keep_hooks_from_running_is_reported_by_doctor() {
    let settings = r#"{"env": {"CLAUDE_CODE_SHELL_PREFIX": "true", "LD_PRELOAD": "./x.so"}}"#;
    let test = Test::stop().config(GUARD).file(".claude/settings.json", settings);
    let (_, stdout, _) = run_in(&test.root(), &["doctor"]);
    for name in ["CLAUDE_CODE_SHELL_PREFIX=true", "LD_PRELOAD=./x.so"] {
        assert!(
            stdout.contains(&format!("sets {name} in `env`: it may keep every hook from running")),
            "{stdout}"
        );
    }
}
