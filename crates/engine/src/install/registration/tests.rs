use std::path::Path;

use super::current::covers;
use super::*;
use crate::install::scope::{Scope, SettingsTarget};
use crate::install::settings::{Registration, Settings};
use conclaude_core::config::ConclaudeConfig;
use conclaude_core::dialect::claude;
use conclaude_core::event::EventKind;

fn config(yaml: &str) -> ConclaudeConfig {
    ConclaudeConfig::parse(yaml, Path::new("x")).unwrap()
}

fn file(scope: Scope, path: &str, registered: Vec<Registration>) -> ScopeSettings {
    let settings = Ok(Settings { registered, ..Settings::default() });
    ScopeSettings { client: &claude::DIALECT, scope, path: path.into(), settings }
}

/// The registrations that Claude Code's settings need.
fn needed(config: &ConclaudeConfig, program: &str, scope: Scope) -> Vec<Registration> {
    super::needed(config, program, SettingsTarget::claude(scope))
}

fn one_file(registered: Vec<Registration>) -> Vec<ScopeSettings> {
    vec![file(Scope::Local, "x", registered)]
}

/// An existing program, so that the registrations can start it.
const PROGRAM: &str = "/bin/sh";

/// The problems, if the user's own config has no rules.
fn out_of_sync(found: &[ScopeSettings], config: &ConclaudeConfig) -> Vec<Problem> {
    super::out_of_sync(found, config, |scope| {
        if scope == Scope::User { ConclaudeConfig::default() } else { config.clone() }
    })
}

fn lines(problems: Vec<Problem>) -> Vec<String> {
    problems.into_iter().map(|problem| format!("{} → {}", problem.what, problem.fix)).collect()
}

#[test]
fn what_was_registered_for_a_config_is_in_sync_with_it() {
    for yaml in ["", "subagentStop: {commands: {a: [{run: x, timeout: 9}]}}", "des: {enabled: false}"] {
        for scope in Scope::ALL {
            let config = config(yaml);
            let found = [file(scope, "x", needed(&config, "conclaude", scope))];
            assert_eq!(out_of_sync(&found, &config), [], "{yaml} {scope:?}");
        }
    }
}

#[test]
fn what_the_commands_are_changes_nothing_in_what_is_registered() {
    let with = |limit: &str| config(&format!("subagentStop: {{commands: {{a: [{{run: x{limit}}}]}}}}"));
    let all = [config(""), with(""), with(", timeout: 3600"), with(", timeout: 3600}, {run: y")];
    for scope in Scope::ALL {
        let registered: Vec<_> = all.iter().map(|config| needed(config, "conclaude", scope)).collect();
        assert!(registered.windows(2).all(|pair| pair[0] == pair[1]), "{registered:?}");
    }
}

#[test]
fn a_config_that_grew_is_noticed() {
    let found = one_file(needed(&config("des: {enabled: false}"), "conclaude", Scope::Local));
    let missing: Vec<String> =
        ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop"]
            .map(|event| format!("{event} is not registered → conclaude install --local"))
            .into();
    assert_eq!(lines(out_of_sync(&found, &config(""))), missing);
}

/// The registrations, as `Event` or `Event: matcher`.
fn registered(yaml: &str) -> Vec<String> {
    let needed = needed(&config(yaml), "conclaude", Scope::Project);
    let line = |one: Registration| match one.matcher {
        Some(matcher) => format!("{}: {matcher}", one.event),
        None => one.event.to_string(),
    };
    needed.into_iter().map(line).collect()
}

#[test]
fn an_event_is_registered_when_something_needs_it_and_for_the_tools_that_rules_name() {
    let off = |rest: &str| registered(&format!("des: {{enabled: false}}\n{rest}"));
    assert_eq!(off(""), ["SessionStart", "SessionEnd"]);
    assert_eq!(off("sessionStart: {commands: [{run: x}]}"), off(""), "it is shown there");
    assert_eq!(off("sessionEnd: {commands: [{run: x}]}"), off(""), "nobody is there any more");
    let counted = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];
    assert_eq!(off("stop: {commands: [{run: x}]}"), counted, "the next prompt ends the count of blocks");
    assert_eq!(off("stop: {infinite: true}"), counted);
    let delivers =
        ["SessionStart", "PostToolUse: Agent|Task", "UserPromptSubmit", "Stop", "SessionEnd", "Notification"];
    assert_eq!(off("notification: {commands: [{run: x}]}"), delivers, "nobody sees what it has to show");
    assert_eq!(
        off("postToolUse: {commands: {Write: [{run: x}], '{Edit,Task}': [{run: y}], Read: []}}"),
        ["SessionStart", "PostToolUse: Agent|Task|Write|Edit", "UserPromptSubmit", "Stop", "SessionEnd"]
    );
    let has = |yaml: &str, line: &str| {
        assert!(registered(yaml).contains(&line.to_owned()), "{:?}", registered(yaml))
    };
    has("", "PreToolUse: Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell");
    has(
        "preToolUse: {commands: {Bash: [{run: x}]}}",
        "PreToolUse: Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell",
    );
    has("preToolUse: {commands: {'*': [{run: x}]}}", "PreToolUse");
    has("preToolUse: {commands: {'[RW]*': [{run: x}]}}", "PreToolUse");
    assert_eq!(
        off("postToolUse: {commands: {'mcp__{a,b.c}__*': [{run: x}], Write: [{run: x}]}}").get(1).unwrap(),
        "PostToolUse: ^(Agent|Task|mcp__a__.*|mcp__b\\.c__.*|Write)$"
    );
    has("permissionRequest: {commands: {Bash: [{run: x}]}}", "PermissionRequest: Bash");
    has("permissionRequest: {allow: ['Bash(ls:*)']}", "PermissionRequest: Bash|Monitor");
    has("permissionRequest: {deny: ['Bash(rm *)']}", "PermissionRequest: Bash|Monitor|PowerShell");
    assert_eq!(
        off("preToolUse: {worktreeFence: true}").get(1).unwrap(),
        "PreToolUse: ^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|mcp__.*)$"
    );
    has("permissionRequest: {deny: ['mcp__gh__*', WebFetch]}", "PermissionRequest: ^(mcp__gh__.*|WebFetch)$");
    assert_eq!(
        off("preToolUse: {toolUsageValidation: [{tool: 'mcp__gh__*', action: block}]}"),
        [
            "SessionStart",
            "PreToolUse: ^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|mcp__gh__.*)$",
            "SessionEnd"
        ],
        "guards have nothing to deliver"
    );
    assert_eq!(
        off("postToolUse: {commands: [{run: 'lint {files}', files: ['*.ts']}]}").get(1).unwrap(),
        "PostToolUse: Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell"
    );
    has("fileChanged: {commands: {.envrc: [{run: x}], .env: [{run: x}]}}", "FileChanged: .envrc|.env");
    has("fileChanged: {commands: {.envrc: [{run: x}], '*.rs': [{run: x}]}}", "FileChanged: .envrc");
    has("fileChanged: {commands: {'{.envrc,.env}': [{run: x}]}}", "FileChanged: .envrc|.env");
    has("fileChanged: {commands: {'src/**/*.rs': [{run: x}], '*': [{run: x}]}}", "FileChanged: ./src|.*");
    has(
        "notifications: {enabled: true}\nfileChanged: {commands: {.envrc: [{run: x}]}}",
        "FileChanged: .envrc",
    );
    has("messageDisplay: {commands: [{run: x}]}", "MessageDisplay");
    has("worktreeCreate: {commands: [{run: x}]}", "WorktreeCreate");
    has("goalReached: {commands: [{run: x}]}", "GoalReached");
    has(
        "notifications: {enabled: true, hooks: [PostToolUse]}\npostToolUse: {commands: {Write: [{run: x}]}}",
        "PostToolUse",
    );
    for yaml in ["", "notifications: {enabled: true, hooks: ['*', WorktreeCreate, MessageDisplay]}"] {
        let all = registered(yaml);
        assert!(!all.iter().any(|one| one == "MessageDisplay" || one == "WorktreeCreate"), "{all:?}");
    }
}

#[test]
fn what_a_project_needs_beyond_the_users_own_config_is_registered_in_the_project() {
    let large = config("notifications: {enabled: true, hooks: [Notification]}");
    let found = vec![file(Scope::User, "u", needed(&config(""), "conclaude", Scope::User))];
    assert_eq!(
        lines(out_of_sync(&found, &large)),
        ["Notification is not registered → conclaude install --local"]
    );
    let partial = needed(&config(""), "conclaude", Scope::User).into_iter().skip(1).collect();
    assert_eq!(
        lines(out_of_sync(&[file(Scope::User, "u", partial)], &config(""))),
        ["SessionStart is not registered → conclaude install --user"]
    );
}

#[test]
fn what_the_users_own_config_needs_is_registered_for_all_projects() {
    let own = || config("preToolUse: {unreadableFiles: [.env]}");
    let small = |scope| needed(&config(""), PROGRAM, scope);
    let missing = r#"PreToolUse is registered for "Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell", but needed for "^(Agent|Task|Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|Read|NotebookRead|Grep|SendUserFile|Artifact|Projects|ReadMcpResourceTool|mcp__.*)$""#;
    let part = |scope| if scope == Scope::User { own() } else { config("") };
    let problems =
        |found: &[ScopeSettings], config: &ConclaudeConfig| lines(super::out_of_sync(found, config, part));
    let user = file(Scope::User, "u", small(Scope::User));
    let project = file(Scope::Project, "p", small(Scope::Project));
    let fixed = [format!("{missing} → conclaude install --user")];
    assert_eq!(problems(std::slice::from_ref(&user), &own()), fixed);
    assert_eq!(problems(&[project.clone(), user], &own()), fixed, "colleagues have nothing to do with it");
    // The needs of the project and of the user are registered in two files, and count together.
    let both = config("preToolUse: {unreadableFiles: [.env], commands: {WebFetch: [{run: x}]}}");
    let of_project =
        needed(&config("preToolUse: {commands: {WebFetch: [{run: x}]}}"), PROGRAM, Scope::Project);
    let found =
        [file(Scope::Project, "p", of_project), file(Scope::User, "u", needed(&own(), PROGRAM, Scope::User))];
    assert_eq!(problems(&found, &both), [""; 0]);
    assert_eq!(problems(&[project], &own()), fixed, "nor where nothing is registered for all projects yet");
}

#[test]
fn a_registration_for_all_projects_does_not_hide_that_the_projects_own_is_too_short() {
    let mut own = needed(&config(""), PROGRAM, Scope::Project);
    own.iter_mut().filter(|one| one.event == EventKind::SubagentStop).for_each(|one| one.timeout = 72);
    let found = vec![
        file(Scope::Project, "p", own),
        file(Scope::User, "u", needed(&config(""), PROGRAM, Scope::User)),
    ];
    assert_eq!(
        lines(out_of_sync(&found, &config(""))),
        [
            "Claude Code gives SubagentStop 72 s, but 3600 s should be registered → conclaude install --project"
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_registration_of_an_earlier_version_is_one_problem() {
    let mut old = needed(&config(""), PROGRAM, Scope::Project);
    for one in &mut old {
        one.command = format!("{PROGRAM} {}", one.event.name());
        (one.timeout, one.status) = (60, None);
    }
    assert_eq!(
        lines(out_of_sync(&[file(Scope::Project, "p", old)], &config(""))),
        [
            "p registers conclaude as an earlier version did: if the program is missing, each event is an error → conclaude install --project"
        ]
    );
}

#[test]
fn what_asks_for_trust_in_the_settings_of_a_project_is_one_problem() {
    let asks = needed(&config(""), PROGRAM, Scope::User);
    let found = [file(Scope::Project, "p", asks.clone()), file(Scope::User, "u", asks)];
    assert_eq!(
        lines(out_of_sync(&found, &config(""))),
        [
            "p registers conclaude with --if-trusted, which is for your own settings: without `conclaude trust`, nothing in the config runs → conclaude install --project"
        ]
    );
}

#[test]
fn nothing_is_said_where_the_registration_is_not_ours_to_see() {
    assert_eq!(out_of_sync(&[], &config("")), []);
}

#[test]
fn a_registration_in_a_file_that_claude_code_ignores_does_not_count() {
    let mut ignored = file(Scope::Project, "p", needed(&config(""), PROGRAM, Scope::Project));
    if let Ok(settings) = &mut ignored.settings {
        settings.ignored = Some("Comments are not allowed".into());
    }
    assert!(locations(std::slice::from_ref(&ignored)).is_empty());
    let user = file(Scope::User, "u", needed(&config(""), PROGRAM, Scope::User));
    assert_eq!(out_of_sync(&[ignored, user], &config("")), []);
}

#[test]
fn a_matcher_that_watches_nothing_is_noticed() {
    let watching = config("des: {enabled: false}\nfileChanged: {commands: {.envrc: [{run: x}]}}");
    let mut old = needed(&watching, PROGRAM, Scope::Local);
    let of_files = old.iter_mut().find(|one| one.event == EventKind::FileChanged).unwrap();
    of_files.matcher = Some(".envrc|*.rs".into());
    assert_eq!(
        lines(out_of_sync(&one_file(old), &watching)),
        [
            r#"FileChanged is registered for ".envrc|*.rs", but needed for ".envrc" → conclaude install --local"#
        ]
    );
}

#[test]
fn two_registrations_with_different_command_lines_run_twice() {
    let mut found = one_file(needed(&config(""), "conclaude", Scope::Local));
    found.push(file(Scope::Project, "y", needed(&config(""), "/opt/conclaude", Scope::Project)));
    let problems = lines(out_of_sync(&found, &config("")));
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
        (Some("Agent"), Some("Agent|Task"), true),
        (Some("Write"), Some("Agent|Write"), false),
        (Some("Agent"), None, false),
        (Some("^Ag"), Some("Agent"), false),
    ] {
        assert_eq!(covers(&[has], wants), is, "{has:?} {wants:?}");
    }
}

#[test]
fn events_that_notifications_name_are_registered_unless_that_changes_claude_code() {
    let config = config("notifications: {enabled: true, hooks: [PreCompact, WorktreeCreate, PreToolUse]}");
    let needed = needed(&config, "conclaude", Scope::Project);
    let events: Vec<&str> = needed.iter().map(|one| one.event.name()).collect();
    assert!(events.contains(&"PreCompact") && !events.contains(&"WorktreeCreate"), "{events:?}");
    let tool = needed.iter().find(|one| one.event == EventKind::PreToolUse).unwrap();
    assert_eq!(tool.matcher, None, "every tool");
}

#[test]
fn a_matcher_of_ours_covers_what_it_was_made_from() {
    let all = needed(
        &config("des: {enabled: false}\npostToolUse: {commands: {'mcp__b.c__*': [{run: x}]}}"),
        "x",
        Scope::Project,
    );
    let matcher = all.iter().find(|one| one.event == EventKind::PostToolUse).unwrap().matcher.as_deref();
    for (tool, is_covered) in
        [("Agent", true), ("mcp__b.c__d", true), ("mcp__bxc__d", false), ("Write", false), ("AgentX", false)]
    {
        assert_eq!(covers(&[matcher], Some(tool)), is_covered, "{tool}");
    }
    assert!(covers(&[matcher], matcher));
    assert!(covers(&[Some("Read"), matcher], Some("Read|Agent")), "together");
}
