//! `conclaude doctor`: what is wrong is found, and reported with its fix.

mod project;
mod registration;
#[cfg(target_os = "linux")]
mod sandbox;

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
        // Whole at once: another test program may look for it at this moment.
        let own = bin.join(format!("claude-{}", std::process::id()));
        program::script(&own, format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
        std::fs::rename(own, bin.join("claude")).unwrap();
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
    ✓ commands     the programs of the commands are found: touch
    ✓ state        [ROOT]/.conclaude can be written; 0 sessions remembered
    ✓ audit        0 records, the chain is intact
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
          "about": "commands",
          "status": "good",
          "text": "the programs of the commands are found: touch"
        },
        {
          "about": "state",
          "status": "good",
          "text": "[ROOT]/.conclaude can be written; 0 sessions remembered"
        },
        {
          "about": "audit",
          "status": "good",
          "text": "0 records, the chain is intact"
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
          "command": "command -v [BIN] >/dev/null || { echo '{\"systemMessage\":\"conclaude is registered here, but not installed on this machine: the rules of .conclaude.yaml do not apply. To install it: npm install -g conclaude, or uv tool install conclaude, or brew install conclaude/tap/conclaude\"}'; exit 0; }; exec [BIN] SessionStart",
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
    ✓ commands     the programs of the commands are found: touch
    ✓ state        [ROOT]/.conclaude can be written; 0 sessions remembered
    ✓ audit        0 records, the chain is intact
    ✓ claude       Claude Code 2.1.325

    1 problem, 0 warnings
    ");
}
