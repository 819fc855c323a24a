//! The user's registration defers to one of the project, if Claude Code really calls that one.

use super::{CONFIG, GUARD, message, trust};
use crate::common::{Test, run_in};

#[test]
fn the_users_registration_defers_to_that_of_the_project() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    let root = test.root();
    run_in(&root, &["install", "--local"]);
    let test = test.run().silent().again();
    assert!(!root.join(".conclaude/outbox").exists(), "the project's registration says what there is to say");
    // One that does not reach as far does not make it defer.
    let settings = root.join(".claude/settings.local.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace("conclaude SubagentStop", "other SubagentStop")).unwrap();
    insta::assert_snapshot!(message(&test.run()), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo ran >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
}

#[test]
fn a_project_that_registers_with_the_users_flag_does_not_defer_to_itself() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    let root = test.root();
    run_in(&root, &["install"]);
    let path = root.join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let asks = ["SessionStart", "SubagentStop"].iter().fold(text, |text, event| {
        text.replace(&format!("conclaude {event}\""), &format!("conclaude {event} --if-trusted\""))
    });
    std::fs::write(&path, asks).unwrap();
    // Without trust that is reported, and nothing that would make the commands run without it.
    let answer = test.run();
    insta::assert_snapshot!(message(&answer), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo ran >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
    let answer = answer.again().then("SessionStart").run();
    insta::assert_snapshot!(message(&answer), @"conclaude: [ROOT]/.conclaude.yaml is not trusted. These parts are off: 1 command. Look at the file, then run `conclaude trust` in the project");
    // With it, the commands run, and what is wrong with the registration is reported.
    let test = answer.again();
    trust(&test, &["--yes"]);
    let answer = test.run();
    insta::assert_snapshot!(message(&answer), @"
    conclaude: the registration with Claude Code is out of sync with the config:
    ⚠ [ROOT]/.claude/settings.json registers conclaude with --if-trusted, which is for your own settings: without `conclaude trust`, nothing in the config runs
    To fix it: conclaude install --project
    ");
    assert!(answer.again().then("SubagentStop").run().has("ran"));
}

#[test]
fn a_tool_of_a_narrower_registration_of_the_project_runs_its_commands_once() {
    let config =
        "des: {enabled: false}\npreToolUse: {commands: {'{Bash,mcp__a.b__*}': [{run: 'echo ran >> ran'}]}}\n";
    for tool in ["Bash", "mcp__a.b__c", "Write"] {
        let test = Test::event("PreToolUse").config(config).flag("--if-trusted").payload("tool_name", tool);
        let test = test.payload("tool_input", serde_json::json!({"command": "true"}));
        run_in(&test.root(), &["install"]);
        trust(&test, &["--yes"]);
        let root = test.root();
        let answer = test.env("CLAUDE_PROJECT_DIR", root.to_str().unwrap()).run();
        assert!(!answer.has("ran"), "{tool} is the project's: {}", answer.stderr);
        // What the project has not registered is the user's, and its log line says so.
        assert_eq!(answer.stderr.is_empty(), tool != "Write", "{tool}: {}", answer.stderr);
    }
}

#[test]
fn the_users_registration_does_not_defer_to_one_that_starts_nothing() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    run_in(&test.root(), &["install"]);
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_conclaude"), "/nowhere/conclaude")).unwrap();
    // Reported by the user's own.
    insta::assert_snapshot!(message(&test.run()), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo ran >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
}

#[test]
fn the_users_registration_does_not_defer_to_one_that_claude_code_ignores() {
    let test = Test::stop().config(CONFIG).flag("--if-trusted");
    run_in(&test.root(), &["install"]);
    let path = test.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("// mine\n{text}")).unwrap();
    insta::assert_snapshot!(message(&test.run()), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ⚠ `echo ran >> ran` did not run: [ROOT]/.conclaude.yaml is not trusted. Look at the file, then run `conclaude trust` in the project
    ");
}

/// A project whose settings have this text; `[BIN]` in it is our program. The user's own registration is called for `cat .env`.
fn read_beside(settings: &str) -> Test {
    let test = Test::event("PreToolUse").without("agent_id").without("agent_type").flag("--if-trusted");
    let program = env!("CARGO_BIN_EXE_conclaude");
    test.config(GUARD)
        .file(".claude/settings.json", settings.replace("[BIN]", program))
        .payload("tool_name", "Bash")
        .payload("tool_input", serde_json::json!({"command": "cat .env"}))
}

const OURS: &str = r#"{"type": "command", "command": "[BIN] PreToolUse"}"#;

fn registered(entry: &str) -> String {
    format!(r#"{{"hooks": {{"PreToolUse": [{entry}]}}}}"#)
}

#[test]
fn a_registration_of_the_project_that_works_is_left_to_answer() {
    for entry in [
        format!(r#"{{"hooks": [{OURS}]}}"#),
        format!(r#"{{"matcher": "Bash|Read", "hooks": [{OURS}]}}"#),
        format!(r#"{{"matcher": "^(Bash|mcp__.*)$", "hooks": [{OURS}]}}"#),
        format!(
            r#"{{"hooks": [{OURS}]}}, {{"matcher": "Edit", "hooks": [{{"type": "prompt", "prompt": "x"}}]}}"#
        ),
        format!(
            r#"{{"hooks": [{OURS}]}}, {{"hooks": [{{"type": "http", "url": "https://a.example/x", "headers": {{"a": "b"}}}}]}}"#
        ),
        r#"{"hooks": [{"type": "command", "command": "\n[BIN] PreToolUse\n", "onFailure": "block"}]}"#
            .to_owned(),
    ] {
        read_beside(&registered(&entry)).run().silent();
    }
    let permissions = registered(&format!(r#"{{"hooks": [{OURS}]}}"#)).replacen(
        '{',
        r#"{"permissions": {"allow": ["Bash(ls)"]}, "env": {"A": "b"}, "#,
        1,
    );
    read_beside(&permissions).run().silent();
}

/// Each of these was tried in Claude Code: it never calls the registration. The user's guards were off, silently.
#[test]
fn a_registration_of_the_project_that_only_looks_right_does_not_switch_the_users_guards_off() {
    let hook = |more: &str| registered(&format!(r#"{{"hooks": [{}]}}"#, OURS.replace('}', more)));
    let command =
        |line: &str| registered(&format!(r#"{{"hooks": [{{"type": "command", "command": "{line}"}}]}}"#));
    let beside = |other: &str| registered(&format!(r#"{{"hooks": [{OURS}]}}, {other}"#));
    let matcher = |text: &str| registered(&format!(r#"{{"matcher": {text}, "hooks": [{OURS}]}}"#));
    let file = |more: &str| registered(&format!(r#"{{"hooks": [{OURS}]}}"#)).replacen('{', more, 1);
    for settings in [
        hook(r#", "timeout": 0}"#),
        hook(r#", "timeout": -1}"#),
        hook(r#", "timeout": "5"}"#),
        hook(r#", "timeout": 0.001}"#),
        hook(r#", "shell": "powershell"}"#),
        hook(r#", "args": ["x"]}"#),
        hook(r#", "statusMessage": 5}"#),
        hook(r#", "async": "yes"}"#),
        hook(r#", "asyncRewake": true}"#),
        hook(r#", "onFailure": "stop"}"#),
        hook(r#", "onFailure": 5}"#),
        registered(r#"{"hooks": [{"command": "[BIN] PreToolUse"}]}"#),
        registered(r#"{"hooks": 5}"#),
        beside(r#"{"hooks": 5}"#),
        beside("7"),
        beside(r#"{"hooks": [{"type": "weird"}]}"#),
        beside(r#"{"hooks": [{"type": "prompt"}]}"#),
        beside(r#"{"hooks": [{"type": "command", "command": "a", "args": [5]}]}"#),
        beside(r#"{"hooks": [{"type": "prompt", "prompt": "x", "model": 5}]}"#),
        beside(r#"{"hooks": [{"type": "prompt", "prompt": "x", "continueOnBlock": 5}]}"#),
        beside(r#"{"hooks": [{"type": "http", "url": "not a url"}]}"#),
        beside(r#"{"hooks": [{"type": "http", "url": "http://a/", "headers": 5}]}"#),
        beside(r#"{"hooks": [{"type": "http", "url": "http://a/", "headers": {"a": 5}}]}"#),
        beside(r#"{"hooks": [{"type": "mcp_tool", "tool": "x"}]}"#),
        command(r"\u00a0[BIN] PreToolUse"),
        command(r"[BIN]\u00a0 PreToolUse"),
        command(r"[BIN] PreToolUse\u00a0"),
        command(r"[BIN] PreToolUse\r"),
        command(r"[BIN] PreToolUse\u000b"),
        command(r"[BIN] PreToolUse\u0085"),
        command(r"[BIN] Hooks\nPreToolUse"),
        file(r#"{"permissions": {"defaultMode": "weird"}, "#),
        file(r#"{"permissions": {"disableBypassPermissionsMode": 5}, "#),
        file(r#"{"permissions": {"additionalDirectories": [5]}, "#),
        file(r#"{"sandbox": {"network": {"httpProxyPort": "x"}}, "#),
        matcher("5"),
        matcher("null"),
        matcher(r#""bash""#),
        matcher(r#""Bash(""#),
        matcher(r#""(?!Bash)B""#),
        matcher(r#""(?i)bash""#),
        matcher(r#""[[:upper:]]ash""#),
        file(r#"{"permissions": 5, "#),
        file(r#"{"env": 5, "#),
        file(r#"{"$schema": 5, "#),
        file(r#"{"disableAllHooks": "true", "#),
        file("{\"x\": \"a\tb\", "),
        file("\u{a0}{"),
        file("\u{2028}{"),
        // Only Claude Code knows what it wants here.
        file(r#"{"model": 5, "#),
    ] {
        read_beside(&settings).run().status(2);
    }
}

#[test]
fn a_program_inside_the_project_does_not_switch_the_users_guards_off() {
    let test = read_beside("{}");
    let program = test.root().join("conclaude");
    std::fs::copy(env!("CARGO_BIN_EXE_conclaude"), &program).unwrap();
    let settings = registered(&format!(r#"{{"hooks": [{OURS}]}}"#));
    test.file(".claude/settings.json", settings.replace("[BIN]", program.to_str().unwrap())).run().status(2);
}

/// A repository may hold a link with our name, and settings in one of its folders.
#[cfg(unix)]
#[test]
fn a_link_or_a_program_above_the_project_does_not_switch_the_users_guards_off() {
    use std::os::unix::fs::symlink;
    let registers =
        |program: &str| registered(&format!(r#"{{"hooks": [{OURS}]}}"#)).replace("[BIN]", program);
    let test = read_beside("{}");
    symlink("/bin/true", test.root().join("conclaude")).unwrap();
    test.file(".claude/settings.json", registers("./conclaude")).run().status(2);

    let test = read_beside("{}");
    symlink("/bin/true", test.root().join("other")).unwrap();
    let outside = test.root().with_extension("outside");
    std::fs::create_dir_all(&outside).unwrap();
    symlink(test.root().join("other"), outside.join("conclaude")).unwrap();
    let program = outside.join("conclaude").display().to_string();
    test.file(".claude/settings.json", registers(&program)).run().status(2);
    std::fs::remove_dir_all(&outside).unwrap();

    let test = read_beside("{}").file(".git/HEAD", "").file("bin/conclaude", "#!/bin/sh\n");
    let program = test.root().join("bin/conclaude");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let folder = test.root().join("sub");
    let test = test
        .file("sub/.conclaude.yaml", GUARD)
        .file("sub/.claude/settings.json", registers("../bin/conclaude"));
    let project = folder.display().to_string();
    test.env("CLAUDE_PROJECT_DIR", &project).payload("cwd", project).run().status(2);
}

#[test]
fn settings_that_only_the_client_knows_are_believed_once_it_has_called_the_project() {
    let settings = registered(&format!(r#"{{"hooks": [{OURS}]}}"#)).replacen('{', r#"{"theme": "dark", "#, 1);
    let settings = settings.replace("[BIN]", env!("CARGO_BIN_EXE_conclaude"));
    let start = Test::event("SessionStart").without("agent_id").without("agent_type").config(GUARD);
    // The project's own registration is called at the start of a session.
    let test = start.file(".claude/settings.json", settings).run().again().then("PreToolUse");
    let test = test.flag("--if-trusted").payload("tool_name", "Bash");
    let test = test.payload("tool_input", serde_json::json!({"command": "cat .env"})).run().silent().again();
    test.payload("session_id", "another").run().status(2);
}
