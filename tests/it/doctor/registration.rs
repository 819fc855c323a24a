//! What is registered in the settings, and whether it can work.

use super::*;

#[track_caller]
fn assert_fixed_by_installing(test: &Test) {
    run_in(&test.root(), &["install"]);
    assert_eq!(checks(test, "settings"), "exit 0\ngood: 8 events registered in .claude/settings.json\n");
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
    warning: the registration names [ROOT]/bin/conclaude, and this is [BIN]: it was not called, since doctor calls only itself → conclaude install --project
    ");
    insta::assert_snapshot!(checks(&test, "call"), @"exit 0");
    // From a folder below, where the same path leads to this very program.
    std::fs::create_dir_all(root.join("below/bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_conclaude"), root.join("below/bin/conclaude")).unwrap();
    let below = doctor(&root.join("below"), &root.join(".home"), "2.1.325");
    insta::assert_snapshot!(checks_of(below, &root, "program"), @"
    exit 0
    warning: the registration names [ROOT]/bin/conclaude, and this is [BIN]: it was not called, since doctor calls only itself → conclaude install --project
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
fn another_program_than_this_one_is_named() {
    let test = healthy();
    let other = test.root().join("bin/conclaude");
    program::copy(env!("CARGO_BIN_EXE_conclaude"), &other);
    edit_settings(&test, env!("CARGO_BIN_EXE_conclaude"), other.to_str().unwrap());
    insta::assert_snapshot!(checks(&test, "program"), @"
    exit 0
    warning: the registration names [ROOT]/bin/conclaude, and this is [BIN]: it was not called, since doctor calls only itself → conclaude install --project
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
    assert_fixed_by_installing(&test);
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
fn a_registration_that_asks_for_trust_in_the_projects_own_settings_is_named() {
    let test = healthy();
    for event in ["SessionStart", "SubagentStop"] {
        edit_settings(&test, &format!("conclaude {event}\""), &format!("conclaude {event} --if-trusted\""));
    }
    insta::assert_snapshot!(checks(&test, "settings"), @"
    exit 1
    problem: [ROOT]/.claude/settings.json registers conclaude with --if-trusted, which is for your own settings: without `conclaude trust`, nothing in the config runs → conclaude install --project
    ");
    assert_fixed_by_installing(&test);
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
