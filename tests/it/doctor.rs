//! `conclaude doctor`: what is wrong is found, and said with what mends it.

use std::path::Path;

use crate::common::{Test, conclaude, program, run_in};
use serde_json::Value;

const CONFIG: &str = "subagentStop: {commands: {coder: [{run: touch ran, timeout: 100}]}}\n";

/// A project in which all is well.
fn healthy() -> Test {
    let test = Test::stop().config(CONFIG).file(".claude/agents/coder.md", "---\nname: coder\n---\n");
    assert_eq!(run_in(&test.root(), &["install"]).0, Some(0));
    test
}

fn report(root: &Path) -> (Option<i32>, Value) {
    let (code, out, err) = run_in(root, &["doctor", "--json"]);
    (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}")))
}

/// What is said about something, as `status: text → mend`.
fn said(report: &Value, about: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["about"] == about);
    let line = |check: &Value| {
        let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
        match check["mend"].as_str() {
            Some(mend) => format!("{}: {} → {mend}", text("status"), text("text")),
            None => format!("{}: {}", text("status"), text("text")),
        }
    };
    checks.map(line).collect()
}

/// The one thing that is said about something.
#[track_caller]
fn only(test: &Test, about: &str) -> String {
    let (_, report) = report(&test.root());
    let said = said(&report, about);
    assert_eq!(said.len(), 1, "{said:?}");
    said.into_iter().next().unwrap()
}

#[test]
fn all_is_well_in_a_project_that_was_installed() {
    let test = healthy();
    let (code, report) = report(&test.root());
    assert_eq!((code, &report["healthy"]), (Some(0), &Value::Bool(true)), "{report:#}");
    let problems: Vec<&Value> =
        report["checks"].as_array().unwrap().iter().filter(|c| c["status"] == "problem").collect();
    assert_eq!(problems, Vec::<&Value>::new());
    for about in ["settings", "program", "config", "patterns", "state", "audit", "call"] {
        assert!(said(&report, about).iter().all(|line| line.starts_with("good: ")), "{about}: {report:#}");
    }
    assert!(!test.root().join("ran").exists(), "no command of the project is run");
}

#[test]
fn the_registered_command_line_is_really_called_and_its_answer_shown() {
    let test = healthy();
    let (_, report) = report(&test.root());
    let answers = report["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["event"], &answers[0]["exit"]), (&"SubagentStop".into(), &0.into()));
    assert!(answers[0]["stdout"].as_str().unwrap().contains("conclaude was called"), "{answers:?}");
    assert_eq!((&answers[1]["event"], &answers[1]["stdout"]), (&"SessionStart".into(), &"".into()));
    let (_, shown, _) = run_in(&test.root(), &["doctor"]);
    assert!(shown.contains("SubagentStop in a scratch project: exit 0 in "), "{shown}");
}

#[test]
fn a_command_line_that_starts_nothing_is_found_by_calling_it() {
    let test = healthy();
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_conclaude"), "/nowhere/conclaude")).unwrap();
    let (code, report) = report(&test.root());
    assert_eq!(code, Some(1));
    let call = said(&report, "call");
    assert!(
        call[0]
            .starts_with("problem: `/nowhere/conclaude SubagentStop` does not answer as it should: exit 127"),
        "{call:?}"
    );
    let program = said(&report, "program");
    assert!(
        program[0].contains("starts nothing") && program[0].ends_with("→ conclaude install --project"),
        "{program:?}"
    );
}

#[test]
fn another_program_than_this_one_is_named() {
    let test = healthy();
    let other = test.root().join("bin/conclaude");
    program::copy(env!("CARGO_BIN_EXE_conclaude"), &other);
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_conclaude"), other.to_str().unwrap())).unwrap();
    let said = only(&test, "program");
    assert!(
        said.starts_with("warning: registered is ") && said.contains("/bin/conclaude, and this is "),
        "{said}"
    );
}

#[test]
fn a_project_without_registration_is_not_healthy() {
    let test = Test::stop().config(CONFIG);
    let (code, report) = report(&test.root());
    assert_eq!(code, Some(1));
    assert_eq!(
        said(&report, "settings"),
        ["problem: conclaude is not registered with Claude Code for this project → conclaude install"]
    );
}

#[test]
fn settings_that_cannot_be_read_are_named() {
    let test = healthy().file(".claude/settings.local.json", "{ // mine\n}");
    let (code, report) = report(&test.root());
    assert_eq!(code, Some(1));
    let settings = said(&report, "settings");
    assert!(settings[0].starts_with("problem: .claude/settings.local.json cannot be read: "), "{settings:?}");
}

#[test]
fn a_registration_that_is_too_short_for_the_config_is_named() {
    let test = healthy().config(&CONFIG.replace("100", "900"));
    assert_eq!(
        only(&test, "settings"),
        "problem: SubagentStop is given 162 s by the client, and what is configured may take 962 s → conclaude install --project"
    );
}

#[test]
fn an_event_without_need_costs_a_process_each_time_and_is_named() {
    let test = healthy().config(&format!("{CONFIG}des: {{enabled: false}}\n"));
    let (code, report) = report(&test.root());
    assert_eq!(code, Some(0), "it does no harm");
    let settings = said(&report, "settings");
    assert!(settings[1].starts_with("warning: PreToolUse registered without need"), "{settings:?}");
    run_in(&test.root(), &["install"]);
    assert_eq!(
        said(&self::report(&test.root()).1, "settings"),
        ["good: 7 events registered in .claude/settings.json"]
    );
}

#[test]
fn a_broken_config_is_named_with_the_verb_that_shows_where() {
    let test = healthy().config("subagentStop: [\n");
    let config = only(&test, "config");
    assert!(
        config.starts_with("problem: .conclaude.yaml is not valid: ")
            && config.ends_with("→ conclaude validate"),
        "{config}"
    );
}

#[test]
fn patterns_that_match_no_known_agent_are_named() {
    let yaml = "subagentStop: {commands: {codr: [{run: x}], \"Expl*\": [{run: x}], \"*\": [{run: x}], \"my:plugin\": [{run: x}], zzz: [{run: x}]}}\n";
    let test = healthy().config(yaml);
    let (_, report) = report(&test.root());
    assert_eq!(
        said(&report, "patterns"),
        [
            "warning: subagentStop: \"codr\" matches no agent that is known here → did you mean \"coder\"?",
            "warning: subagentStop: \"zzz\" matches no agent that is known here → known are: coder; built in: general-purpose, Explore, Plan, claude, statusline-setup, output-style-setup, claude-code-guide",
        ]
    );
}

#[test]
fn a_trail_that_was_tampered_with_is_named() {
    let test = healthy();
    let root = test.root();
    let _kept = test.run();
    let folder = root.join(".conclaude/audit");
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .find(|e| e.path().extension().is_some_and(|e| e == "jsonl"))
        .unwrap()
        .path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("coder", "other", 1)).unwrap();
    let (code, report) = report(&root);
    assert_eq!(code, Some(1));
    assert!(said(&report, "audit")[0].starts_with("problem: "), "{report:#}");
}

#[test]
fn a_state_folder_that_is_something_else_is_named() {
    let test = healthy();
    let state = test.root().join(".conclaude");
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::write(&state, "").unwrap();
    let said = only(&test, "state");
    assert!(said.starts_with("problem: ") && said.contains("is not a folder"), "{said}");
}

#[test]
fn it_says_when_events_last_really_arrived_and_does_not_count_its_own() {
    let test = healthy().then("SessionStart");
    let (_, before) = report(&test.root());
    assert!(before["arrivals"].as_array().unwrap().iter().all(|one| one["last"].is_null()), "{before:#}");
    assert!(said(&before, "arrivals")[0].contains("nothing proves that it calls conclaude"), "{before:#}");
    let (_, again) = report(&test.root());
    assert_eq!(before["arrivals"], again["arrivals"], "its own calls do not count");
    let test = test.run().silent().again();
    let (_, after) = report(&test.root());
    let arrival =
        after["arrivals"].as_array().unwrap().iter().find(|one| one["event"] == "SessionStart").unwrap();
    assert!(arrival["last"].is_string(), "{after:#}");
    assert_eq!(said(&after, "arrivals"), Vec::<String>::new());
    assert!(run_in(&test.root(), &["doctor"]).1.contains("SessionStart      "), "shown to people too");
}

#[test]
fn the_clients_version_is_told() {
    for (says, expected) in [
        ("2.1.325 (Claude Code)", "good: Claude Code 2.1.325"),
        ("3.0.0 (Claude Code)", "good: Claude Code 3.0.0; conclaude is tested with 2.1.325"),
        (
            "1.0.9 (Claude Code)",
            "problem: Claude Code 1.0.9 is too old: its subagents are not told apart reliably → claude update",
        ),
    ] {
        let test = healthy();
        program::script(test.root().join("bin/claude"), format!("#!/bin/sh\necho '{says}'\n"));
        let path = format!("{}:/usr/bin:/bin", test.root().join("bin").display());
        let output = conclaude()
            .args(["doctor", "--json"])
            .env("PATH", path)
            .env("HOME", test.root().join(".home"))
            .current_dir(test.root())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said(&report, "client"), [expected]);
    }
}

#[test]
fn registered_for_all_projects_it_says_whether_this_one_is_trusted() {
    let test = Test::stop().config(CONFIG).file(".claude/agents/coder.md", "---\nname: coder\n---\n");
    run_in(&test.root(), &["install", "--user"]);
    assert_eq!(
        only(&test, "trust"),
        "problem: the config is not trusted: its commands do not run → conclaude trust"
    );
    assert!(only(&test, "call").starts_with("good: "), "the registration itself is fine");
    run_in(&test.root(), &["trust", "--yes"]);
    assert_eq!(only(&test, "trust"), "good: what the config runs was agreed to");
    let test = test.config(&CONFIG.replace("ran", "other"));
    assert!(only(&test, "trust").starts_with("problem: the config has changed since it was trusted"));
}

#[test]
fn hooks_that_are_switched_off_are_named() {
    let test = healthy().file(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    let (code, report) = report(&test.root());
    assert_eq!(code, Some(1));
    assert!(said(&report, "settings")[0].contains("switches all hooks off"), "{report:#}");
}

#[test]
fn an_entry_of_ours_that_cannot_work_is_named() {
    let test = healthy();
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replacen("\"type\": \"command\"", "\"type\": \"command\", \"async\": true", 1),
    )
    .unwrap();
    let settings = only(&test, "settings");
    assert!(
        settings.contains("`async` makes the client ignore its answer → conclaude install --project"),
        "{settings}"
    );
    run_in(&test.root(), &["install"]);
    assert!(only(&test, "settings").starts_with("good: "), "and mended so");
}

#[test]
fn below_the_project_it_is_said_that_sessions_here_do_not_read_its_settings() {
    let test = healthy().file("pkg/x", "");
    let (_, report) = report(&test.root().join("pkg"));
    assert!(
        said(&report, "settings")
            .iter()
            .any(|line| line.starts_with("warning: a session that starts in this very folder")),
        "{report:#}"
    );
}

#[test]
fn a_judge_that_cannot_be_asked_is_named() {
    let test = healthy().config("des: {judge: {prompt: is it so}}\n");
    let call = |path: &str, key: &str| {
        let output = conclaude()
            .args(["doctor", "--json"])
            .current_dir(test.root())
            .env("HOME", test.root().join(".home"))
            .env("PATH", path)
            .env("ANTHROPIC_API_KEY", key)
            .output()
            .unwrap();
        said(&serde_json::from_slice(&output.stdout).unwrap(), "judge")
    };
    let path = std::env::var("PATH").unwrap();
    assert_eq!(call(&path, "key"), ["good: there are a key and curl to ask it"]);
    assert!(call(&path, " ")[0].starts_with("warning: ANTHROPIC_API_KEY is not set here"));
    assert!(call("/nowhere", "key")[0].starts_with("problem: `curl` asks the judge, and is not on the PATH"));
}
