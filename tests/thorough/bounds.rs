//! A config or a step file that would hold a session up is refused, or ends in an answer that says so.

use crate::common::workflow::{MARKERS, done, todo};
use crate::common::{Test, shown_in};

fn numbered(count: usize, name: impl Fn(usize) -> String) -> String {
    (0..count).map(name).collect::<Vec<_>>().join(", ")
}

#[test]
fn thousands_of_phases_in_brackets_are_refused() {
    let phases = |count: usize| format!("des:\n  phases: [{}]\n", numbered(count, |at| format!("P{at}")));
    let test = Test::stop().config(&phases(120_000));
    insta::assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 1
    ----- stdout
    error: the config is too large
    --> [ROOT]/.conclaude.yaml:2:68902
     = note: more than 10000 values
     = help: remove what is not needed

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    ");
    let test = test.config(&phases(5_000));
    insta::assert_snapshot!(shown_in(&test.root(), &["validate"]), @"
    exit 1
    ----- stdout
    error: `phases` has 5000 entries
     --> [ROOT]/.conclaude.yaml:2:11
      |
    2 | ...s: [P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10,..., P676, P677, P678, P679, P680, P681, P682, P
      |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^...^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ at most 100 are allowed
      |
      = help: remove what is not needed

    error: invalid config [ROOT]/.conclaude.yaml: 1 problem
    ");
    insta::assert_snapshot!(shown_in(&test.config(&phases(100)).root(), &["validate"]), @"
    exit 0
    ----- stdout
    valid: [ROOT]/.conclaude.yaml
      des: gates for prompts with markers, 100 phases, findings block
    ");
}

#[test]
fn hundreds_of_patterns_of_stars_and_a_long_name_hold_nobody_up() {
    let patterns = |count: usize, length: usize| {
        let patterns =
            numbered(count, |at| format!("\"{}{at}\": [{{run: ':'}}]", "*a".repeat(length / 2 - 2)));
        format!("subagentStop:\n  commands: {{{patterns}}}\n")
    };
    let long = "a".repeat(4_000);
    let refused = Test::stop().config(&patterns(900, 1_000)).agent(&long).run().status(1);
    let errors =
        refused.stderr.lines().filter(|line| line.starts_with("error")).map(|line| line.replace("*a", ""));
    insta::assert_snapshot!(errors.take(3).collect::<Vec<_>>().join("\n"), @"
    error: `commands` has 900 keys
    error: invalid pattern `*…0`: it is longer than 256 characters
    error: invalid pattern `*…1`: it is longer than 256 characters
    ");
    refused.again().config(&patterns(200, 256)).agent(&long).run().silent();
}

#[test]
fn a_scope_that_takes_too_long_to_compare_blocks_and_says_so() {
    let test = Test::stop().step(&todo()).committed().call_agent(MARKERS).run().status(0).again();
    let test = test.file("src/other.rs", "").step(&done()).agent_files(MARKERS).stops();
    let reason = test.env("TEST_LIMIT_OF_CONCLAUDE", "0").run().blocked();
    insta::assert_snapshot!(reason, @"
    Validation failed: coder (a1b2c3) may not stop yet (block 1 of 3):
    ✗ SCOPE_VIOLATION: the scope cannot be checked: it took longer than a hook may take (2 s of CPU time, 15 s in all) → use fewer and shorter allowed_file_patterns, and remove files that nobody needs
    Fix what is marked ✗, then give your complete report again: your caller sees only your last message.
    ");
}

#[test]
fn guards_that_take_too_long_deny_and_say_so() {
    let test = Test::event("PreToolUse").without("agent_id").without("agent_type");
    let test = test.config("preToolUse: {uneditableFiles: [keep.txt]}\n").file("d/keep.txt", "");
    let test = test.payload("tool_name", "Bash").env("TEST_LIMIT_OF_CONCLAUDE", "0");
    let denied = test.payload("tool_input", serde_json::json!({ "command": "rm -rf d" })).run();
    insta::assert_snapshot!(denied.tool("deny"), @"The guards could not check everything that Bash touches: it took longer than a hook may take (2 s of CPU time, 15 s in all). Do it in smaller steps, or ask the user to shorten the guards. (built-in: out of time)");
}

/// A path of 60 KB took more than a minute, and one of a megabyte in the input of an MCP tool never ended.
#[test]
fn a_long_path_holds_nobody_up() {
    let config = "preToolUse: {uneditableFiles: ['*.lock', 'src/gen/**'], unreadableFiles: [.env]}\n";
    let long = "a/".repeat(30_000);
    // The limit ends most of these. With a tenth of it, that takes a tenth of the time.
    let test = |tool: &str| {
        Test::event("PreToolUse")
            .config(config)
            .env("TEST_LIMIT_OF_CONCLAUDE", "0.2")
            .payload("tool_name", tool)
    };
    let input = serde_json::json!({"command": format!("cat {long}b")});
    let done = test("Bash").payload("tool_input", input).run();
    assert_ne!(done.code, Some(1), "{}", done.stderr);
    let long = "a/".repeat(500_000);
    for (tool, field) in [("mcp__fs__write_file", "path"), ("Write", "file_path"), ("Read", "file_path")] {
        for file in ["b", ".env/x.lock"] {
            let input = serde_json::json!({field: format!("{long}{file}")});
            assert_ne!(test(tool).payload("tool_input", input).run().code, Some(1), "{tool}");
        }
    }
}

/// Of a path that no system can have, the start and the end are compared. Comparing all of it took seconds for each ten megabytes.
#[test]
fn a_path_of_megabytes_is_compared_by_its_start_and_end() {
    let test = |tool: &str, path: String| {
        let config = "preToolUse: {uneditableFiles: ['*.lock', 'src/gen/']}\n";
        let input = serde_json::json!({"file_path": path});
        Test::event("PreToolUse").config(config).payload("tool_name", tool).payload("tool_input", input).run()
    };
    let long = "a/".repeat(4_000_000);
    test("Write", format!("{long}x.lock")).tool("deny");
    test("Write", format!("src/gen/{long}x")).tool("deny");
    test("Write", format!("src/gen/{}x", "./".repeat(4_000_000))).tool("deny");
    test("mcp__fs__write_file", format!("{long}x.lock")).tool("ask");
    test("mcp__fs__write_file", format!("{}x.lock", "a,".repeat(500_000))).tool("ask");
}

#[test]
fn a_payload_that_is_too_large_to_read_is_denied_where_there_are_guards() {
    let large = || {
        let content = "x".repeat(65 << 20);
        serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Write",
            "tool_input": {"file_path": "a.lock", "content": content}})
        .to_string()
    };
    let test = Test::event("PreToolUse").config("preToolUse: {uneditableFiles: ['*.lock']}\n").stdin(large());
    let denied = test.run();
    assert_eq!(denied.audit()[0]["decision"], "denied");
    insta::assert_snapshot!(denied.tool("deny"), @"
    conclaude denies this tool:
    ✗ PAYLOAD_INVALID: the guards cannot look at this tool's input: the payload on stdin is larger than 64 MiB → do it in smaller steps
    ");
    Test::event("PreToolUse").config("maxBlocks: 2\n").stdin(large()).run().status(0);
}

#[test]
fn commands_for_all_files_of_the_machine_are_answered_and_reading_them_is_not_denied() {
    let config = "extends: ['pack:secrets', 'pack:destructive-commands', 'pack:lockfiles']\n";
    let mut test = Test::event("PreToolUse").config(config).payload("tool_name", "Bash");
    let run =
        |test: Test, command: &str| test.payload("tool_input", serde_json::json!({"command": command})).run();
    for command in ["find / -type f", "find / -name '*.c'", "grep -r x /", "ls -R /"] {
        test = run(test, command).silent().again();
    }
    for command in ["mv /* x", "find / -delete", "chmod -R 777 /"] {
        let done = run(test, command);
        done.tool("deny");
        test = done.again();
    }
}
