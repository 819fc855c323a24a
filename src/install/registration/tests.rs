use super::found::covers;
use super::*;
use crate::install::agents::AgentFile;

fn config(yaml: &str) -> ConclaudeConfig {
    ConclaudeConfig::parse(yaml, Path::new("x")).unwrap()
}

fn file(place: Place, path: &str, registered: Vec<Registration>) -> Found {
    Found { place, path: path.into(), registered: Ok(registered), lookalikes: Vec::new(), hooks_off: false }
}

fn one_file(registered: Vec<Registration>) -> Vec<Found> {
    vec![file(Place::Local, "x", registered)]
}

/// A program that exists, so that what is registered starts something.
const PROGRAM: &str = "/bin/sh";

fn lines(problems: Vec<Problem>) -> Vec<String> {
    problems.into_iter().map(|problem| format!("{} → {}", problem.what, problem.mend)).collect()
}

#[test]
fn what_was_registered_for_a_config_fits_it() {
    for yaml in ["", "subagentStop: {commands: {a: [{run: x, timeout: 9}]}}", "des: {enabled: false}"] {
        for place in Place::ALL {
            let config = config(yaml);
            let found = one_file(needed(&config, "conclaude", place));
            assert_eq!(drift(&found, &[], &config), [], "{yaml} {place:?}");
        }
    }
}

#[test]
fn a_config_that_grew_is_noticed() {
    let found = one_file(needed(&config("des: {enabled: false}"), "conclaude", Place::Local));
    let later = config("subagentStop: {commands: {a: [{run: x, timeout: 100}]}}");
    assert_eq!(
        lines(drift(&found, &[], &later)),
        [
            "PreToolUse is not registered → conclaude install --local",
            "SubagentStop is given 60 s by the client, and what is configured may take 162 s → conclaude install --local"
        ]
    );
}

#[test]
fn what_all_projects_get_depends_on_none_of_them() {
    let large = config(
        "subagentStop: {commands: {a: [{run: x, timeout: 3600}, {run: x, timeout: 3600}]}}\nnotifications: {enabled: true, hooks: [MessageDisplay]}",
    );
    assert_eq!(needed(&large, "conclaude", Place::User), needed(&config(""), "conclaude", Place::User));
    let found = vec![file(Place::User, "u", needed(&config(""), "conclaude", Place::User))];
    assert_eq!(
        lines(drift(&found, &[], &large)),
        [
            "SubagentStop is given 3600 s by the client, and what is configured may take 7264 s → conclaude install --local",
            "MessageDisplay is not registered → conclaude install --local",
        ]
    );
    let partial = needed(&config(""), "conclaude", Place::User).into_iter().skip(1).collect();
    assert_eq!(
        lines(drift(&[file(Place::User, "u", partial)], &[], &config(""))),
        ["SessionStart is not registered → conclaude install --user"]
    );
}

#[test]
fn a_registration_for_all_projects_does_not_hide_that_the_projects_own_is_too_short() {
    let small = config("subagentStop: {commands: {a: [{run: x, timeout: 10}]}}");
    let large = config("subagentStop: {commands: {a: [{run: x, timeout: 1000}]}}");
    let found = vec![
        file(Place::Project, "p", needed(&small, PROGRAM, Place::Project)),
        file(Place::User, "u", needed(&small, PROGRAM, Place::User)),
    ];
    assert_eq!(drift(&found, &[], &small), []);
    assert_eq!(
        lines(drift(&found, &[], &large)),
        [
            "SubagentStop is given 72 s by the client, and what is configured may take 1062 s → conclaude install --project"
        ]
    );
}

#[test]
fn an_agents_own_file_must_fit_too() {
    let agent = |program: &str, timeout| AgentFile {
        path: "coder.md".into(),
        name: "coder".into(),
        registered: Ok(vec![Registration {
            event: Event::SubagentStop,
            matcher: None,
            command: format!("{program} SubagentStop"),
            timeout,
            flaw: None,
        }]),
    };
    let config = config("subagentStop: {commands: {coder: [{run: x, timeout: 10}]}}");
    let found = one_file(needed(&config, "conclaude", Place::Local));
    assert_eq!(drift(&found, &[agent("conclaude", 72)], &config), []);
    assert_eq!(
        lines(drift(&found, &[agent("/opt/conclaude", 60)], &config)),
        [
            "coder's own file gives its stop 60 s, and what is configured may take 72 s → conclaude install --agents",
            "SubagentStop of coder runs twice: as `/opt/conclaude SubagentStop` in its own file and as `conclaude SubagentStop` → conclaude install --agents",
        ]
    );
}

#[test]
fn nothing_is_said_where_the_registration_is_not_ours_to_see() {
    assert_eq!(drift(&[], &[], &config("")), []);
}

#[test]
fn two_registrations_with_different_command_lines_run_twice() {
    let mut found = one_file(needed(&config(""), "conclaude", Place::Local));
    found.push(file(Place::Project, "y", needed(&config(""), "/opt/conclaude", Place::Project)));
    let problems = lines(drift(&found, &[], &config("")));
    assert_eq!(problems.len(), 8, "{problems:?}");
    assert_eq!(
        problems[0],
        "SessionStart runs twice: as `conclaude SessionStart` in x and as `/opt/conclaude SessionStart` in y → conclaude uninstall --project"
    );
}

#[test]
fn a_matcher_covers_what_it_names() {
    for (has, wants, is) in [
        (None, Some("Agent"), true),
        (Some("*"), Some("Agent"), true),
        (Some("Bash, Agent"), Some("Agent"), true),
        (Some("Task"), Some("Agent"), true),
        (Some("Write"), Some("Agent|Write"), false),
        (Some("Agent"), None, false),
        (Some("^Ag"), Some("Agent"), false),
    ] {
        assert_eq!(covers(has, wants), is, "{has:?} {wants:?}");
    }
}

#[test]
fn events_that_notifications_name_are_registered_unless_that_changes_the_client() {
    let config = config("notifications: {enabled: true, hooks: [PreCompact, WorktreeCreate, PreToolUse]}");
    let needed = needed(&config, "conclaude", Place::Project);
    let events: Vec<&str> = needed.iter().map(|one| one.event.name()).collect();
    assert!(events.contains(&"PreCompact") && !events.contains(&"WorktreeCreate"), "{events:?}");
    let tool = needed.iter().find(|one| one.event == Event::PreToolUse).unwrap();
    assert_eq!(tool.matcher, None, "every tool");
    assert_eq!(not_registered(&config), [Event::WorktreeCreate]);
}
