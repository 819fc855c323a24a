//! `conclaude doctor`: what is wrong is found, and reported with its fix.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::common::{Test, conclaude, program, run_in};
use serde_json::Value;

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: touch ran, timeout: 100}]}}\n";

/// A project in which all is well.
fn healthy() -> Test {
    let test = Test::stop().config(CONFIG).file(".claude/agents/coder.md", "---\nname: coder\n---\n");
    assert_eq!(run_in(&test.root(), &["install"]).0, Some(0));
    test
}

/// A folder with a `claude` of this version, outside of all projects.
fn claude(version: &str) -> PathBuf {
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock();
    let bin = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("claude-{version}"));
    if !bin.join("claude").exists() {
        program::script(bin.join("claude"), format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
    }
    bin
}

/// `conclaude doctor` in a folder, where Claude Code has this version.
fn doctor(folder: &Path, home: &Path, version: &str) -> Command {
    let bin = claude(version);
    let mut command = conclaude();
    command
        .arg("doctor")
        .current_dir(folder)
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("HOME", home)
        .env("XDG_STATE_HOME", folder.join(".state-home"))
        .env_remove("ANTHROPIC_API_KEY");
    command
}

/// The exit code, and the checks that are about something, as `status: text → fix`; with `[ROOT]` for the project's folder and
/// `[BIN]` for the program.
fn checks_of(mut doctor: Command, root: &Path, about: &str) -> String {
    let output = doctor.arg("--json").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let mut shown = format!("exit {}\n", output.status.code().unwrap());
    for check in report["checks"].as_array().unwrap().iter().filter(|check| check["about"] == about) {
        let text = |name: &str| check[name].as_str().unwrap().to_owned();
        shown += &format!("{}: {}", text("status"), text("text"));
        shown += &check["fix"].as_str().map(|fix| format!(" → {fix}")).unwrap_or_default();
        shown.push('\n');
    }
    filtered(&shown, root)
}

fn checks(test: &Test, about: &str) -> String {
    let root = test.root();
    checks_of(doctor(&root, &root.join(".home"), "2.1.325"), &root, about)
}

/// Without what differs from run to run.
fn filtered(text: &str, root: &Path) -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_conclaude")).canonicalize().unwrap();
    let text = text.replace(own.to_str().unwrap(), "[BIN]").replace(root.to_str().unwrap(), "[ROOT]");
    let text = text.replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
    let words: Vec<&str> = text.split(' ').collect();
    let is_time = |at: usize| words.get(at + 1).is_some_and(|word| word.starts_with("ms"));
    let words = words.iter().enumerate().map(|(at, word)| if is_time(at) { "[N]" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Changes the text of the project's settings.
fn edit_settings(test: &Test, from: &str, to: &str) {
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&path, text.replace(from, to)).unwrap();
}

#[test]
fn all_is_well_in_a_project_that_was_installed() {
    let test = healthy();
    let root = test.root();
    let output = doctor(&root, &root.join(".home"), "2.1.325").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(filtered(&String::from_utf8(output.stdout).unwrap(), &root), @r#"
    conclaude [VERSION] in [ROOT]

    ✓ settings     8 events registered in .claude/settings.json
    ✓ program      [BIN] is what is registered
    ✓ config       .conclaude.yaml is valid: subagentStop: 1 pattern, 1 command
    ✓ patterns     1 pattern: each matches a known agent (1 of your own)
    ✓ state        [ROOT]/.conclaude can be written; 0 sessions remembered
    ✓ audit        0 records, the chain is whole
    ✓ claude       Claude Code 2.1.325
    ✓ call         `[BIN] SubagentStop` answers as it should, in [N] ms
    ⚠ arrivals     no event has arrived from Claude Code yet, so nothing proves that it calls conclaude here
                   → start a session of Claude Code in this project, then look again

    What it answered, called as it is registered:
      SubagentStop in a scratch project: exit 0 in [N] ms, {"systemMessage":"conclaude: SubagentStop of conclaude-doctor\n✓ echo conclaude was called\n  conclaude was called"}
      SessionStart: exit 0 in [N] ms, nothing to say

    When events last really arrived here:
      SessionStart      never
      PreToolUse        never
      PostToolUse       never
      UserPromptSubmit  never
      SubagentStart     never
      SubagentStop      never
      Stop              never
      SessionEnd        never

    healthy, with 1 warning
    "#);
    assert!(!root.join("ran").exists(), "no command of the project is run");
}

#[test]
fn as_json_every_check_has_its_fix_and_every_answer_its_streams() {
    let test = Test::stop().config(CONFIG);
    run_in(&test.root(), &["install", "--local"]);
    let root = test.root();
    let output = doctor(&root, &root.join(".home"), "2.1.325").arg("--json").output().unwrap();
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for answer in report["answers"].as_array_mut().unwrap() {
        answer["milliseconds"] = "[N]".into();
    }
    insta::assert_snapshot!(filtered(&format!("{report:#}"), &root), @r#"
    {
      "healthy": true,
      "version": "[VERSION]",
      "project": "[ROOT]",
      "checks": [
        {
          "about": "settings",
          "status": "good",
          "text": "8 events registered in .claude/settings.local.json"
        },
        {
          "about": "program",
          "status": "good",
          "text": "[BIN] is what is registered"
        },
        {
          "about": "config",
          "status": "good",
          "text": ".conclaude.yaml is valid: subagentStop: 1 pattern, 1 command"
        },
        {
          "about": "patterns",
          "status": "warning",
          "text": "subagentStop: \"coder\" matches no agent that is known here (.conclaude.yaml:1)",
          "fix": "known are: none of your own; built in: general-purpose, Explore, Plan, claude, statusline-setup, output-style-setup, claude-code-guide"
        },
        {
          "about": "state",
          "status": "good",
          "text": "[ROOT]/.conclaude can be written; 0 sessions remembered"
        },
        {
          "about": "audit",
          "status": "good",
          "text": "0 records, the chain is whole"
        },
        {
          "about": "claude",
          "status": "good",
          "text": "Claude Code 2.1.325"
        },
        {
          "about": "call",
          "status": "good",
          "text": "`[BIN] SubagentStop` answers as it should, in [N] ms"
        },
        {
          "about": "arrivals",
          "status": "warning",
          "text": "no event has arrived from Claude Code yet, so nothing proves that it calls conclaude here",
          "fix": "start a session of Claude Code in this project, then look again"
        }
      ],
      "answers": [
        {
          "event": "SubagentStop",
          "command": "command -v [BIN] >/dev/null || exit 0; exec [BIN] SubagentStop",
          "scratch": true,
          "exit": 0,
          "milliseconds": "[N]",
          "stdout": "{\"systemMessage\":\"conclaude: SubagentStop of conclaude-doctor\\n✓ echo conclaude was called\\n  conclaude was called\"}",
          "stderr": "conclaude: info: Processing SubagentStop hook: session_id=conclaude-doctor, agent_id=conclaude-doctor, subagent_type=conclaude-doctor\nconclaude: info: pattern \"conclaude-doctor\": `echo conclaude was called` exited with code 0 in [N] ms"
        },
        {
          "event": "SessionStart",
          "command": "command -v [BIN] >/dev/null || { echo '{\"systemMessage\":\"conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: it is one binary. Copy it from the colleague who registered it (git log -1 .claude/settings.json) to a folder on your PATH, or run cargo install --path . in a checkout of its source.\"}'; exit 0; }; exec [BIN] SessionStart",
          "scratch": false,
          "exit": 0,
          "milliseconds": "[N]",
          "stdout": "",
          "stderr": "conclaude: info: Processing SessionStart hook: session_id=conclaude-doctor, source=startup"
        }
      ],
      "arrivals": [
        {
          "event": "SessionStart",
          "last": null
        },
        {
          "event": "PreToolUse",
          "last": null
        },
        {
          "event": "PostToolUse",
          "last": null
        },
        {
          "event": "UserPromptSubmit",
          "last": null
        },
        {
          "event": "SubagentStart",
          "last": null
        },
        {
          "event": "SubagentStop",
          "last": null
        },
        {
          "event": "Stop",
          "last": null
        },
        {
          "event": "SessionEnd",
          "last": null
        }
      ]
    }
    "#);
}

#[test]
fn a_command_line_that_starts_nothing_is_named() {
    let test = healthy();
    edit_settings(&test, env!("CARGO_BIN_EXE_conclaude"), "/nowhere/conclaude");
    insta::assert_snapshot!(checks(&test, "program"), @"
    exit 1
    problem: `/nowhere/conclaude SessionStart` starts nothing: there is no such program → conclaude install --project
    ");
    insta::assert_snapshot!(checks(&test, "call"), @"exit 1");
}

#[test]
fn a_program_that_a_clone_registers_is_named_and_never_run() {
    let test = healthy();
    let root = test.root();
    program::script(root.join("bin/conclaude"), "#!/bin/sh\ntouch \"$0.ran\"\n");
    edit_settings(&test, env!("CARGO_BIN_EXE_conclaude"), "./bin/conclaude");
    insta::assert_snapshot!(checks(&test, "program"), @"
    exit 0
    warning: registered is [ROOT]/bin/conclaude, and this is [BIN]: it was not called, since doctor calls only itself → conclaude install --project
    ");
    insta::assert_snapshot!(checks(&test, "call"), @"exit 0");
    // From a folder below, where the same path leads to this very program.
    std::fs::create_dir_all(root.join("below/bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_conclaude"), root.join("below/bin/conclaude")).unwrap();
    let below = doctor(&root.join("below"), &root.join(".home"), "2.1.325");
    insta::assert_snapshot!(checks_of(below, &root, "program"), @"
    exit 0
    warning: registered is [ROOT]/bin/conclaude, and this is [BIN]: it was not called, since doctor calls only itself → conclaude install --project
    ");
    assert!(!root.join("bin/conclaude.ran").exists());
}

#[test]
fn commands_of_a_session_start_are_not_run_to_try_the_registration() {
    let test = Test::stop().config("sessionStart: {commands: [{run: touch ran}]}");
    let root = test.root();
    run_in(&root, &["install"]);
    let output = doctor(&root, &root.join(".home"), "2.1.325").arg("--json").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let called: Vec<&Value> = report["answers"].as_array().unwrap().iter().map(|one| &one["event"]).collect();
    assert_eq!(called, ["SubagentStop"]);
    assert!(!root.join("ran").exists());
}

#[test]
fn a_claude_inside_the_project_is_not_run() {
    let test = healthy();
    let root = test.root();
    for path in ["bin", root.join("bin").to_str().unwrap()] {
        program::script(root.join("bin/claude"), "#!/bin/sh\ntouch \"$0.ran\"; echo 2.1.325\n");
        let mut doctor = doctor(&root, &root.join(".home"), "2.1.325");
        doctor.env("PATH", format!("{path}:/usr/bin:/bin"));
        let shown = checks_of(doctor, &root, "claude").replace(" bin", " [ROOT]/bin");
        insta::allow_duplicates! { insta::assert_snapshot!(shown, @"
        exit 0
        warning: [ROOT]/bin/claude is inside the project: it was not run, so its version is not known → remove that folder from the PATH, then look again
        "); }
    }
    assert!(!root.join("bin/claude.ran").exists());
}

#[test]
fn another_program_than_this_one_is_named() {
    let test = healthy();
    let other = test.root().join("bin/conclaude");
    program::copy(env!("CARGO_BIN_EXE_conclaude"), &other);
    edit_settings(&test, env!("CARGO_BIN_EXE_conclaude"), other.to_str().unwrap());
    insta::assert_snapshot!(checks(&test, "program"), @"
    exit 0
    warning: registered is [ROOT]/bin/conclaude, and this is [BIN]: it was not called, since doctor calls only itself → conclaude install --project
    ");
}

#[test]
fn a_project_without_registration_is_not_healthy() {
    insta::assert_snapshot!(checks(&Test::stop().config(CONFIG), "settings"), @"
    exit 1
    problem: conclaude is not registered with Claude Code for this project → conclaude install
    ");
}

#[test]
fn settings_that_cannot_be_read_are_named() {
    let test = healthy().file(".claude/settings.local.json", "{ mine }");
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: .claude/settings.local.json cannot be read: the settings file is not JSON: Expected string for object property on line 1 column 3 → ${EDITOR:-vi} [ROOT]/.claude/settings.local.json
    good: 8 events registered in .claude/settings.json
    ");
}

#[test]
fn settings_that_claude_code_ignores_are_named_and_do_not_count() {
    let test = healthy();
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("// mine\n{text}")).unwrap();
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: Claude Code ignores all of .claude/settings.json, since it is not plain JSON: Comments are not allowed on line 1 column 1 → ${EDITOR:-vi} [ROOT]/.claude/settings.json  # remove comments and trailing commas
    ");
}

#[test]
fn a_registration_with_a_limit_that_is_too_short_is_named() {
    let test = healthy();
    edit_settings(&test, "\"timeout\": 3600", "\"timeout\": 30");
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: Claude Code gives SessionStart 30 s, but 3600 s should be registered → conclaude install --project
    problem: Claude Code gives PreToolUse 30 s, but 3600 s should be registered → conclaude install --project
    problem: Claude Code gives PostToolUse 30 s, but 3600 s should be registered → conclaude install --project
    problem: Claude Code gives UserPromptSubmit 30 s, but 3600 s should be registered → conclaude install --project
    problem: Claude Code gives SubagentStart 30 s, but 3600 s should be registered → conclaude install --project
    problem: Claude Code gives SubagentStop 30 s, but 3600 s should be registered → conclaude install --project
    problem: Claude Code gives Stop 30 s, but 3600 s should be registered → conclaude install --project
    ");
}

#[test]
fn an_event_without_need_costs_a_process_each_time_and_is_named() {
    let test = healthy().config(&format!("{CONFIG}des: {{enabled: false}}\n"));
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 0
    good: 8 events registered in .claude/settings.json
    warning: PreToolUse, SubagentStart registered without need: a process at each such event → conclaude install --project
    ");
    run_in(&test.root(), &["install"]);
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 0
    good: 6 events registered in .claude/settings.json
    ");
}

#[test]
fn a_broken_config_is_named_with_the_subcommand_that_shows_where() {
    insta::assert_snapshot!(checks(&healthy().config("subagentStop: [\n"), "config"), @"
    exit 1
    problem: .conclaude.yaml is not valid: invalid config [ROOT]/.conclaude.yaml: 1 problem → conclaude validate
    ");
}

#[test]
fn what_is_allowed_but_cannot_work_is_a_warning() {
    let test = healthy().config("notifications: {enabled: true, hooks: [FileChanged]}\n");
    insta::assert_snapshot!(checks(&test, "config"), @"
    exit 0
    good: .conclaude.yaml is valid: notifications: on
    warning: notifications: `FileChanged` is registered only if it has commands: for notifications alone that would change what Claude Code does, or slow it down → edit [ROOT]/.conclaude.yaml:1
    ");
}

#[test]
fn patterns_that_match_no_known_agent_are_named() {
    let yaml = "subagentStop: {commands: {codr: [{run: x}], \"Expl*\": [{run: x}], \"*\": [{run: x}], \"my:plugin\": [{run: x}], zzz: [{run: x}]}}\n";
    insta::assert_snapshot!(checks(&healthy().config(yaml), "patterns"), @r#"
    exit 0
    warning: subagentStop: "codr" matches no agent that is known here (.conclaude.yaml:1) → did you mean "coder"?
    warning: subagentStop: "zzz" matches no agent that is known here (.conclaude.yaml:1) → known are: coder; built in: general-purpose, Explore, Plan, claude, statusline-setup, output-style-setup, claude-code-guide
    "#);
}

#[test]
fn a_trail_that_was_tampered_with_is_named() {
    let test = healthy().run().again();
    let folder = test.root().join(".conclaude/audit");
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .find(|e| e.path().extension().is_some_and(|e| e == "jsonl"))
        .unwrap()
        .path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("coder", "other", 1)).unwrap();
    let shown = checks(&test, "audit").replace(file.file_name().unwrap().to_str().unwrap(), "[FILE]");
    insta::assert_snapshot!(shown, @"
    exit 1
    problem: [ROOT]/.conclaude/audit/[FILE]:1: record 1 was changed: its hash does not fit its content → conclaude audit reset  # quarantines it and starts a new one
    ");
}

#[test]
fn a_state_folder_that_is_something_else_is_named() {
    let test = healthy();
    let state = test.root().join(".conclaude");
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::write(&state, "").unwrap();
    insta::assert_snapshot!(checks(&test, "state"), @"
    exit 1
    problem: [ROOT]/.conclaude is not a folder: blocks cannot be counted, and nothing is recorded → mv [ROOT]/.conclaude [ROOT]/.conclaude.aside
    ");
}

fn report(test: &Test) -> Value {
    let (root, home) = (test.root(), test.root().join(".home"));
    serde_json::from_slice(&doctor(&root, &home, "2.1.325").arg("--json").output().unwrap().stdout).unwrap()
}

#[test]
fn it_says_when_events_last_really_arrived_and_does_not_count_its_own_calls() {
    let test = healthy().then("SessionStart");
    let before = report(&test);
    assert!(before["arrivals"].as_array().unwrap().iter().all(|one| one["last"].is_null()), "{before:#}");
    insta::assert_snapshot!(checks(&test, "arrivals"), @"
    exit 0
    warning: no event has arrived from Claude Code yet, so nothing proves that it calls conclaude here → start a session of Claude Code in this project, then look again
    ");
    assert_eq!(before["arrivals"], report(&test)["arrivals"], "its own calls do not count");
    let test = test.run().silent().again();
    let after = report(&test);
    let arrived: Vec<&Value> =
        after["arrivals"].as_array().unwrap().iter().filter(|one| one["last"].is_string()).collect();
    assert_eq!((arrived.len(), &arrived[0]["event"]), (1, &"SessionStart".into()), "{after:#}");
    assert_eq!(checks(&test, "arrivals"), "exit 0\n");
    assert!(run_in(&test.root(), &["doctor"]).1.contains("\n  SessionStart      "), "shown to people too");
}

#[test]
fn the_version_of_claude_code_is_reported() {
    let version = |version: &str| {
        let test = healthy();
        let root = test.root();
        checks_of(doctor(&root, &root.join(".home"), version), &root, "claude")
    };
    insta::assert_snapshot!(version("2.1.325"), @"
    exit 0
    good: Claude Code 2.1.325
    ");
    insta::assert_snapshot!(version("3.0.0"), @"
    exit 0
    good: Claude Code 3.0.0; conclaude is tested with 2.1.325
    ");
    insta::assert_snapshot!(version("1.0.9"), @"
    exit 1
    problem: Claude Code 1.0.9 is too old: its subagents cannot be distinguished reliably → claude update
    ");
}

#[test]
fn registered_for_all_projects_it_says_whether_this_one_is_trusted() {
    let test = Test::stop().config(CONFIG).file(".claude/agents/coder.md", "---\nname: coder\n---\n");
    run_in(&test.root(), &["install", "--user"]);
    insta::assert_snapshot!(checks(&test, "trust"), @"
    exit 1
    problem: [ROOT]/.conclaude.yaml is not trusted: nothing of it is run or sent → conclaude trust
    ");
    insta::assert_snapshot!(checks(&test, "call"), @"
    exit 1
    good: `[BIN] SubagentStop --if-trusted` answers as it should, in [N] ms
    ");
    run_in(&test.root(), &["trust", "--yes"]);
    insta::assert_snapshot!(checks(&test, "trust"), @"
    exit 0
    good: what the config runs and sends was agreed to
    ");
    let test = test.config(&CONFIG.replace("ran", "other"));
    insta::assert_snapshot!(checks(&test, "trust"), @"
    exit 1
    problem: [ROOT]/.conclaude.yaml has changed since you trusted it: nothing of it is run or sent → conclaude trust
    ");
}

#[test]
fn hooks_that_are_switched_off_are_named() {
    let test = healthy().file(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: .claude/settings.local.json switches all hooks off (`disableAllHooks`): nothing is ever called → ${EDITOR:-vi} [ROOT]/.claude/settings.local.json  # remove that line
    good: 8 events registered in .claude/settings.json
    ");
}

#[test]
fn an_entry_of_ours_that_cannot_work_is_named_and_fixed_by_installing() {
    let test = healthy();
    edit_settings(&test, "SessionStart\",", "SessionStart\", \"async\": true,");
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: the registration of SessionStart does not work: `async` makes Claude Code ignore its answer → conclaude install --project
    ");
    run_in(&test.root(), &["install"]);
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 0
    good: 8 events registered in .claude/settings.json
    ");
}

#[test]
fn below_the_project_it_is_reported_that_sessions_here_do_not_read_its_settings() {
    let test = healthy().file("pkg/x", "");
    let root = test.root();
    insta::assert_snapshot!(checks_of(doctor(&root.join("pkg"), &root.join(".home"), "2.1.325"), &root, "settings"), @"
    exit 0
    good: 8 events registered in .claude/settings.json
    warning: a session that starts in this very folder does not read the settings of the project above → cd [ROOT]  # and start Claude Code there
    ");
}

#[test]
fn a_judge_that_cannot_be_asked_is_named() {
    let test = healthy().config("des: {judge: {prompt: is it so}}\n");
    let root = test.root();
    let ask = |path: &str, key: &str| {
        let mut doctor = doctor(&root, &root.join(".home"), "2.1.325");
        doctor.env("PATH", path).env("ANTHROPIC_API_KEY", key);
        checks_of(doctor, &root, "judge")
    };
    let path = root.join("judges");
    program::script(path.join("curl"), "#!/bin/sh\n");
    let path = format!("{}:/bin", path.display());
    insta::assert_snapshot!(ask(&path, "key"), @"
    exit 0
    good: there are a key and curl to ask it
    ");
    insta::assert_snapshot!(ask(&path, " "), @"
    exit 0
    warning: ANTHROPIC_API_KEY is not set here; without it in Claude Code's environment the judge cannot be asked → export ANTHROPIC_API_KEY=…
    ");
    insta::assert_snapshot!(ask("/nowhere", "key"), @"
    exit 1
    problem: `curl` asks the judge, and is not on the PATH → apt-get install curl
    ");
}

#[test]
fn a_registration_that_asks_for_trust_in_the_projects_own_settings_is_named() {
    let test = healthy();
    for event in ["SessionStart", "SubagentStop"] {
        edit_settings(&test, &format!("conclaude {event}\""), &format!("conclaude {event} --if-trusted\""));
    }
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: [ROOT]/.claude/settings.json registers conclaude with --if-trusted, which is for your own settings: where nobody has run `conclaude trust`, nothing of the config runs → conclaude install --project
    ");
    run_in(&test.root(), &["install"]);
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 0
    good: 8 events registered in .claude/settings.json
    ");
}

#[test]
fn that_everything_is_switched_off_is_named_and_the_registration_is_tried_all_the_same() {
    let test = healthy();
    let root = test.root();
    let off = |about: &str| {
        let mut doctor = doctor(&root, &root.join(".home"), "2.1.325");
        doctor.env("CONCLAUDE", "off");
        checks_of(doctor, &root, about)
    };
    let settings = test.file(".claude/settings.local.json", "{\"env\": {\"CONCLAUDE\": \"0\"}}");
    insta::assert_snapshot!(checks(&settings, "settings"), @"
    exit 1
    problem: .claude/settings.local.json sets CONCLAUDE=0 in `env`: every event is switched off → ${EDITOR:-vi} [ROOT]/.claude/settings.local.json  # remove that line
    good: 8 events registered in .claude/settings.json
    ");
    insta::assert_snapshot!(off("switch"), @"
    exit 1
    warning: CONCLAUDE=off is set here: in a session that inherits it, every event is switched off → unset CONCLAUDE
    ");
    insta::assert_snapshot!(off("call"), @"
    exit 1
    good: `[BIN] SubagentStop` answers as it should, in [N] ms
    ");
}

#[test]
fn before_install_there_is_one_problem() {
    let test = Test::stop().config(CONFIG).file(".claude/agents/coder.md", "---\nname: coder\n---\n");
    let root = test.root();
    let output = doctor(&root, &root.join(".home"), "2.1.325").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(filtered(&String::from_utf8(output.stdout).unwrap(), &root), @"
    conclaude [VERSION] in [ROOT]

    ✗ settings     conclaude is not registered with Claude Code for this project
                   → conclaude install
    ✓ config       .conclaude.yaml is valid: subagentStop: 1 pattern, 1 command
    ✓ patterns     1 pattern: each matches a known agent (1 of your own)
    ✓ state        [ROOT]/.conclaude can be written; 0 sessions remembered
    ✓ audit        0 records, the chain is whole
    ✓ claude       Claude Code 2.1.325

    1 problem, 0 warnings
    ");
}

#[test]
fn a_hook_of_the_users_that_runs_the_same_command_is_named() {
    let hook = r#"{"hooks": {"SubagentStop": [{"matcher": "coder", "hooks": [{"type": "command", "command": "touch ran"}]}]}}"#;
    let test = Test::stop().config(CONFIG).file(".claude/settings.json", hook);
    run_in(&test.root(), &["install"]);
    insta::assert_snapshot!(checks(&test, "hooks"), @"
    exit 0
    warning: `touch ran` runs twice at SubagentStop: by the config, and as a hook of your own in .claude/settings.json → conclaude init --import --project
    ");
    run_in(&test.root(), &["init", "--import"]);
    insta::assert_snapshot!(checks(&test, "hooks"), @"exit 0");
}
