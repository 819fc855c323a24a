//! Tools that are not Claude Code's own: what an MCP server does to a file only it knows, so protected ones are asked about.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, run_in};

const CONFIG: &str = "preToolUse:\n  uneditableFiles: ['*.lock', 'src/gen/']\n  unreadableFiles: ['.env']\n";

fn call(test: Test, tool: &str, input: Value) -> Test {
    test.payload("tool_name", tool).payload("tool_input", input)
}

fn main_thread(config: &str) -> Test {
    Test::event("PreToolUse").without("agent_id").without("agent_type").config(config)
}

/// What is answered to each call (`ask` or `free`), in one project with this config.
#[track_caller]
fn answered(test: &Test, calls: &[(&str, Value, &str)]) {
    let case = |(tool, input, expected): &(&str, Value, &str)| {
        let key = if *expected == "ask" { "asks" } else { "allows" };
        json!({"name": format!("{tool} {input}"), "event": "PreToolUse", "tool": tool, "input": input, "expect": {key: true}})
    };
    let cases: Vec<Value> = calls.iter().map(case).collect();
    std::fs::write(test.root().join(".conclaude.test.yaml"), json!({ "cases": cases }).to_string()).unwrap();
    let (code, stdout, stderr) = run_in(&test.root(), &["test"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
}

#[test]
fn a_protected_file_that_an_mcp_tool_is_given_is_asked_about() {
    let answer =
        call(main_thread(CONFIG), "mcp__filesystem__write_file", json!({"path": "a/../Cargo.lock"})).run();
    assert_snapshot!(answer.tool("ask"), @"It is unknown what mcp__filesystem__write_file does to Cargo.lock. Writing Cargo.lock is not allowed: `uneditableFiles` has `*.lock`. Allow it if you know what it does. (.conclaude.yaml:2)");
    let answer = call(answer.again(), "mcp__filesystem__read_file", json!({"path": ".env"})).run();
    assert_snapshot!(answer.tool("ask"), @"It is unknown what mcp__filesystem__read_file does to .env. Reading .env is not allowed: `unreadableFiles` has `.env`. Allow it if you know what it does. (.conclaude.yaml:3)");
    // Where nobody can be asked.
    let answer = answer.again().payload("permission_mode", "dontAsk").run();
    assert_snapshot!(answer.tool("deny"), @"
    It is unknown what mcp__filesystem__read_file does to .env. Reading .env is not allowed: `unreadableFiles` has `.env`. Do it another way, or ask the user. (.conclaude.yaml:3)
    In this permission mode nobody can be asked, so it is denied.
    ");
}

#[test]
fn a_call_with_more_files_than_can_be_looked_at_in_time_is_denied() {
    let paths: Vec<String> = (0..100).map(|number| format!("{number}.md")).collect();
    let test = call(main_thread(CONFIG), "mcp__fs__read_many", json!({ "paths": paths }));
    assert_snapshot!(test.env("TEST_LIMIT_OF_CONCLAUDE", "0").run().tool("deny"), @"The guards could not check everything that mcp__fs__read_many touches: it took longer than a hook may take (2 s of CPU time, 15 s in all). Do it in smaller steps, or ask the user to shorten the guards. (built-in: out of time)");
}

#[test]
fn what_an_mcp_tool_may_do_is_known_by_its_name_alone() {
    answered(
        &Test::stop().config(CONFIG),
        &[
            ("mcp__fs__edit_file", json!({"path": "src/gen/a.rs", "edits": []}), "ask"),
            ("mcp__fs__move_file", json!({"source": "a.md", "destination": "Cargo.lock"}), "ask"),
            ("mcp__fs__read_multiple_files", json!({"paths": ["a.md", "./.env"]}), "ask"),
            ("mcp__github__push_files", json!({"files": [{"path": "Cargo.lock", "content": ""}]}), "ask"),
            ("mcp__fs__frobnicate", json!({"file": ".env"}), "ask"),
            ("NewTool", json!({"file_path": "Cargo.lock"}), "ask"),
            // Reading is free where writing is not, and looking at what there is touches nothing.
            ("mcp__fs__read_file", json!({"path": "Cargo.lock"}), "free"),
            ("mcp__fs__write_file", json!({"path": ".env", "content": ""}), "free"),
            ("mcp__fs__get_file_info", json!({"path": ".env"}), "free"),
            ("mcp__fs__write_file", json!({"path": "a.md", "content": "Cargo.lock"}), "free"),
            ("mcp__web__fetch", json!({"uri": "https://example.com/.env"}), "free"),
            ("TodoWrite", json!({"path": "Cargo.lock"}), "free"),
        ],
    );
}

#[test]
fn a_rule_that_allows_the_tool_answers_the_question_for_its_own_layer() {
    let allow = "  toolUsageValidation: [{tool: mcp__github, action: allow}]\n";
    let remote = ("mcp__github__get_file_contents", json!({"path": ".env"}), "free");
    let local = ("mcp__fs__read_file", json!({"path": ".env"}), "ask");
    answered(&Test::stop().config(&format!("{CONFIG}{allow}")), &[remote.clone(), local]);
    let of_user = |rules: &str| {
        let test = main_thread(&format!("preToolUse:\n{allow}"));
        call(test.file(".home/.config/conclaude/config.yaml", rules), remote.0, remote.1.clone()).run()
    };
    assert_snapshot!(of_user(CONFIG).tool("ask"), @"It is unknown what mcp__github__get_file_contents does to .env. Reading .env is not allowed: `unreadableFiles` has `.env`. Allow it if you know what it does. (.home/.config/conclaude/config.yaml:3)");
    of_user("preToolUse: {unreadableFiles: [{pattern: .env, overridable: true}]}\n").silent();
}

#[test]
fn other_rules_for_writing_ask_about_a_tool_that_writes() {
    let config = "preToolUse:\n  preventRootAdditions: true\n  preventAdditions: [docs/]\n";
    let write =
        |path: &str, expected| ("mcp__fs__write_file", json!({"path": path, "content": ""}), expected);
    let test = Test::stop().config(config).file("old.md", "").file("docs/old.md", "");
    answered(
        &test,
        &[
            write("new.md", "ask"),
            write("docs/new.md", "ask"),
            write(".conclaude.yaml", "ask"),
            write("old.md", "free"),
            write("docs/old.md", "free"),
            write("src/new.md", "free"),
            ("mcp__fs__frobnicate", json!({"path": "new.md"}), "free"),
        ],
    );
}

#[test]
fn the_tools_of_mcp_servers_are_registered_where_files_are_guarded() {
    let matcher = |config: &str| {
        let test = Test::stop().config(&format!("des: {{enabled: false}}\n{config}"));
        run_in(&test.root(), &["install"]);
        let text = std::fs::read_to_string(test.root().join(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        let (_, doctor, _) = run_in(&test.root(), &["doctor", "--json"]);
        assert!(!doctor.contains("but needed for"), "{doctor}");
        settings["hooks"]["PreToolUse"][0]["matcher"].as_str().unwrap_or("none").to_owned()
    };
    assert_snapshot!(matcher("preToolUse: {uneditableFiles: ['*.lock']}\n"), @"^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|mcp__.*)$");
    assert_snapshot!(matcher("preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: 'x *', action: block}]}\n"), @"Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell");
}

#[test]
fn files_that_are_sent_to_the_user_are_read() {
    let test = Test::event("PreToolUse").config("preToolUse: {unreadableFiles: [.env]}\n");
    let test = test.payload("tool_name", "SendUserFile");
    let denied = test.payload("tool_input", json!({"files": ["a.md", "conf/.env"]})).run();
    assert!(denied.tool("deny").contains(".env"));
    let test = denied.again().payload("tool_input", json!({"files": ["a.md"]})).run().silent().again();
    let many: Vec<String> = (0..10_001).map(|at| format!("{at}.md")).collect();
    test.payload("tool_input", json!({ "files": many })).run().tool("ask");
}

#[test]
fn files_in_the_keys_of_a_map_and_in_from_and_to_are_asked_about() {
    let test = Test::event("PreToolUse").config("preToolUse: {uneditableFiles: [secret.txt]}\n");
    let root = test.root();
    let mut test = test.payload("tool_name", "mcp__fs__move_file");
    for input in [
        json!({"from": "secret.txt", "to": "b"}),
        json!({"from": "a", "to": "secret.txt"}),
        json!({"files": {"secret.txt": "new content"}}),
        json!({"a": {"b": {"c": {"d": {"e": {"f": {"path": "secret.txt"}}}}}}}),
        json!({"files": [[["secret.txt"]]]}),
        json!({"edits": [{"./secret.txt": [{"old": "a"}]}]}),
        json!({"uri": format!("FILE://localhost{}/secret%2Etxt", root.display())}),
    ] {
        let answer = test.payload("tool_input", input).run();
        assert!(answer.tool("ask").contains("secret.txt"));
        test = answer.again();
    }
}

/// A subagent may not change what it is held to, by whatever tool.
#[test]
fn our_own_files_are_not_given_to_a_tool_that_may_change_them() {
    for (tool, input) in [
        ("mcp__x__move", json!({"source": "x", "destination": ".claude/settings.json"})),
        ("mcp__x__move", json!({"source": ".claude", "destination": "y"})),
        ("mcp__x__anything", json!({"path": ".conclaude.yaml"})),
        ("UnknownTool", json!({"file_path": ".conclaude.yaml", "content": "x"})),
    ] {
        let test = main_thread("preToolUse: {uneditableFiles: [x.lock]}").file(".claude/settings.json", "{}");
        let asked = call(test, tool, input.clone()).run();
        assert!(asked.stdout.contains("\"ask\""), "{tool} {input}: {}", asked.stdout);
        let denied = asked.again().payload("agent_id", "a1").payload("agent_type", "coder").run();
        assert!(denied.stdout.contains("\"deny\""), "{tool} {input}: {}", denied.stdout);
    }
    let test = Test::event("PreToolUse").config("preToolUse: {uneditableFiles: [x.lock]}");
    test.payload("tool_name", "mcp__x__read_file")
        .payload("tool_input", json!({"path": ".conclaude.yaml"}))
        .run()
        .silent();
}

#[test]
fn a_field_whose_name_says_nothing_names_a_file_that_exists() {
    let test = || Test::event("PreToolUse").config("preToolUse: {unreadableFiles: [.env]}").file(".env", "");
    for input in [json!({"input": ".env"}), json!({"a": {"d": [[".env"]]}}), json!({"name": " .env "})] {
        let done = test().payload("tool_name", "mcp__x__convert").payload("tool_input", input.clone()).run();
        assert!(done.stdout.contains("\"ask\""), "{input}: {}", done.stdout);
    }
    for input in [json!({"input": "other.txt"}), json!({"text": ".env"}), json!({"query": ".env"})] {
        test().payload("tool_name", "mcp__x__convert").payload("tool_input", input).run().silent();
    }
}

#[test]
fn what_is_published_is_compared_with_the_rules_for_reading() {
    let test = Test::event("PreToolUse").config("preToolUse: {unreadableFiles: [.env]}");
    let done =
        test.payload("tool_name", "Artifact").payload("tool_input", json!({"file_path": ".env"})).run();
    assert!(done.stdout.contains("\"ask\""), "{}", done.stdout);
}
