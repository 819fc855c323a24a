//! Which commands run when a subagent stops: patterns, order, names, context.

use crate::common::{Test, agent_call, capture, in_little_memory};
use insta::assert_snapshot;

/// Each command writes its own name to `ran.txt`.
fn config_of(patterns: &[&str]) -> String {
    let entries: Vec<String> = patterns
        .iter()
        .map(|pattern| format!("    \"{pattern}\":\n      - run: echo '{pattern}' >> ran.txt\n"))
        .collect();
    format!("subagentStop:\n  commands:\n{}", entries.concat())
}

fn ran(test: Test) -> Vec<String> {
    let done = test.run().status(0);
    if done.has("ran.txt") { done.read("ran.txt").lines().map(str::to_owned).collect() } else { Vec::new() }
}

// Scenario: Wildcard pattern configuration
#[test]
fn wildcard_commands_run_for_every_subagent() {
    for agent in ["coder", "tester", "plugin:name"] {
        assert_eq!(ran(Test::stop().config(&config_of(&["*"])).agent(agent)), ["*"]);
    }
    let full = r#"
subagentStop:
  commands:
    "*":
      - run: echo hello
        message: not shown on success
        showStdout: true
        showStderr: true
        maxOutputLines: 5
"#;
    assert_snapshot!(Test::stop().config(full).run().message(), @"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo hello
      hello
    ");
}

// Scenario: Exact match pattern configuration
#[test]
fn an_exact_name_runs_for_that_subagent_alone() {
    assert_eq!(ran(Test::stop().config(&config_of(&["coder"]))), ["coder"]);
    for other in ["auto-coder", "coder-agent", "Coder", "tester"] {
        assert_eq!(ran(Test::stop().config(&config_of(&["coder"])).agent(other)), Vec::<String>::new());
    }
}

// Scenario: Glob pattern configuration
#[test]
fn globs_choose_by_name() {
    let config = config_of(&["test*", "?ester", "[st]ester", "{tester,coder}", "[!x]*r"]);
    assert_eq!(
        ran(Test::stop().config(&config).agent("tester")),
        ["test*", "?ester", "[st]ester", "{tester,coder}", "[!x]*r"]
    );
    assert_eq!(ran(Test::stop().config(&config).agent("coder")), ["{tester,coder}", "[!x]*r"]);
}

// Scenario: Wildcard and specific pattern both match
#[test]
fn the_wildcard_runs_first_also_when_it_is_written_last() {
    assert_eq!(ran(Test::stop().config(&config_of(&["coder", "*"]))), ["*", "coder"]);
}

// Scenario: Multiple glob patterns match
#[test]
fn the_rest_runs_in_the_order_of_the_file_every_time() {
    for _ in 0..3 {
        let test = Test::stop().config(&config_of(&["*coder", "auto*", "*", "aut*"])).agent("auto-coder");
        assert_eq!(ran(test), ["*", "*coder", "auto*", "aut*"]);
    }
}

#[test]
fn match_first_runs_one_pattern_in_pure_file_order() {
    let first = |patterns: &[&str]| config_of(patterns).replace("  commands:", "  match: first\n  commands:");
    assert_eq!(ran(Test::stop().config(&first(&["tester", "*coder", "coder", "*"]))), ["*coder"]);
    assert_eq!(ran(Test::stop().config(&first(&["*", "coder"]))), ["*"]);
}

// Scenario: No patterns match
#[test]
fn no_match_is_a_quiet_success() {
    let test = Test::stop().config(&config_of(&["coder", "tester"])).agent("unknown-agent");
    let done = test.run().silent();
    assert!(!done.has("ran.txt") && !done.has(".conclaude"));
}

#[test]
fn a_literal_may_be_the_agent_id_and_a_glob_may_not() {
    assert_eq!(ran(Test::stop().config(&config_of(&["a1b2c3", "a1b2*"]))), ["a1b2c3"]);
}

// Scenario: Glob patterns match agent ids
#[test]
fn seed_002_line_63_globs_are_compared_with_the_agent_id_where_the_payload_has_no_type() {
    let patterns = ["*coder", "auto*", "a?to-[a-z]*", "{auto-coder,x}", "tester", "*ester", "other*"];
    let call = format!("{}\n", agent_call("Task", "t1", "tester"));
    let test = Test::stop().config(&config_of(&patterns)).file("main.jsonl", call);
    let test = test.without("agent_type").payload("agent_id", "auto-coder");
    assert_eq!(ran(test), ["*coder", "auto*", "a?to-[a-z]*", "{auto-coder,x}", "tester", "*ester"]);
    let config = "subagentStop: {commands: {'*': [{run: echo a >> ran.txt, agent: '*coder'}, {run: echo b >> ran.txt, agent: x}]}}";
    let call = format!("{}\n", agent_call("Task", "t1", "tester"));
    let test = Test::stop().config(config).file("main.jsonl", call).without("agent_type");
    assert_eq!(ran(test.payload("agent_id", "auto-coder")), ["a"]);
}

// Scenario: Transcript contains subagent invocation
#[test]
fn an_older_client_names_the_agent_by_its_transcript() {
    let transcript =
        format!("{}\n{}\n", agent_call("Task", "t1", "tester"), agent_call("Task", "t2", "coder"));
    let test = Test::stop().config(&config_of(&["coder", "tester"])).file("main.jsonl", transcript);
    assert_eq!(ran(test.without("agent_type").without("agent_id")), ["coder"]);
}

#[test]
fn the_transcript_of_claude_code_names_the_agent() {
    let test = Test::stop()
        .config(&format!("{}\ndes: {{enabled: false}}\n", config_of(&["coder", "*"])))
        .file("main.jsonl", capture("transcript-main.jsonl"));
    assert_eq!(ran(test.without("agent_type").without("agent_id")), ["*", "coder"]);
}

#[test]
fn of_two_calls_the_agents_own_is_found_by_its_meta_file() {
    let transcript =
        format!("{}\n{}\n", agent_call("Agent", "t1", "tester"), agent_call("Agent", "t2", "coder"));
    let test = Test::stop()
        .config(&config_of(&["coder", "tester"]))
        .file("main.jsonl", transcript)
        .file("main/subagents/agent-a1b2c3.meta.json", r#"{"toolUseId":"t1"}"#);
    assert_eq!(ran(test.without("agent_type")), ["tester"]);
}

// Scenario: Transcript does not contain subagent data
#[test]
fn without_any_trace_the_name_is_unknown() {
    let nameless =
        |test: Test| test.config(&config_of(&["unknown"])).without("agent_type").without("agent_id");
    assert_eq!(ran(nameless(Test::stop())), ["unknown"], "no file");
    assert_eq!(
        ran(nameless(Test::stop().file("main.jsonl", "{\"type\":\"user\"}\n"))),
        ["unknown"],
        "no call"
    );
    assert_eq!(ran(nameless(Test::stop().file("main.jsonl/x", ""))), ["unknown"], "a folder");
}

// Scenario: Malformed transcript file
#[test]
fn a_malformed_transcript_is_a_warning_and_the_name_unknown() {
    let mut shown = Vec::new();
    for junk in [
        "this is not json\n",
        "{}\n{broken}\n",
        "not json\nat all\n",
        "{invalid json}\n{}\n",
        "\u{0}\u{1}\n\n{}\n",
    ] {
        let test = Test::stop().config(&config_of(&["unknown"])).file("main.jsonl", junk);
        let done = test.without("agent_type").without("agent_id").run().silent();
        assert_eq!(done.read("ran.txt"), "unknown\n");
        let warnings: Vec<&str> = done.stderr.lines().filter(|line| line.contains("warn: ")).collect();
        shown.push(done.steady(&warnings.join("\n")));
    }
    assert_snapshot!(shown.join("\n"), @"
    conclaude: warn: malformed transcript [ROOT]/main.jsonl: a line is not JSON
    conclaude: warn: malformed transcript [ROOT]/main.jsonl: a line is not JSON
    conclaude: warn: malformed transcript [ROOT]/main.jsonl: a line is not JSON
    conclaude: warn: malformed transcript [ROOT]/main.jsonl: a line is not JSON
    conclaude: warn: malformed transcript [ROOT]/main.jsonl: a line is not JSON
    ");
}

// Scenario: Malformed transcript file, above the call that names the agent
#[test]
fn seed_000_line_46_a_malformed_line_is_a_warning_also_where_it_is_older_than_the_call() {
    let call = agent_call("Task", "t1", "coder");
    let mut shown = Vec::new();
    for lines in [format!("{{broken}}\n{call}\n"), format!("{{}}\nnot json\n{{}}\n{call}\n{{}}\n")] {
        let test = Test::stop().config(&config_of(&["coder"])).file("main.jsonl", lines);
        let done = test.without("agent_type").without("agent_id").run().silent();
        assert_eq!(done.read("ran.txt"), "coder\n");
        let warnings: Vec<&str> = done.stderr.lines().filter(|line| line.contains("warn: ")).collect();
        shown.push(done.steady(&warnings.join("\n")));
    }
    assert_snapshot!(shown.join("\n"), @"
    conclaude: warn: malformed transcript [ROOT]/main.jsonl: a line is not JSON
    conclaude: warn: malformed transcript [ROOT]/main.jsonl: a line is not JSON
    ");
    // A payload that names its agent costs no reading.
    let test =
        Test::stop().config(&config_of(&["coder"])).file("main.jsonl", format!("{{broken}}\n{call}\n"));
    let done = test.run().silent();
    assert!(!done.stderr.contains("malformed"), "{}", done.stderr);
}

#[test]
fn a_truncated_last_line_is_tolerated() {
    let transcript = format!("{}\n{{\"type\":\"assis", agent_call("Agent", "t1", "coder"));
    let test = Test::stop().config(&config_of(&["coder"])).file("main.jsonl", transcript);
    assert_eq!(ran(test.without("agent_type").without("agent_id")), ["coder"]);
}

fn env_of(test: Test) -> String {
    let config = "subagentStop:\n  commands:\n    \"*\":\n      - run: env > env.txt\n";
    let done = test.config(config).run().silent();
    done.steady(&done.read("env.txt"))
}

/// The variables that are ours; a number differs from run to run.
fn conclaude_lines(env: &str) -> String {
    let ours = |line: &&str| line.starts_with("CONCLAUDE_") && !line.starts_with("CONCLAUDE_COMMAND_ID");
    let mut lines: Vec<&str> = env.lines().filter(ours).collect();
    lines.sort_unstable();
    lines.join("\n")
}

// Scenario: Environment variables available in commands
#[test]
fn commands_find_the_context_in_their_environment() {
    let env = env_of(Test::stop().payload("agent_transcript_path", "/t/agent.jsonl"));
    assert_snapshot!(conclaude_lines(&env), @"
    CONCLAUDE_AGENT_ID=a1b2c3
    CONCLAUDE_AGENT_NAME=coder
    CONCLAUDE_AGENT_TRANSCRIPT_PATH=/t/agent.jsonl
    CONCLAUDE_CLIENT=claude
    CONCLAUDE_CONFIG_DIR=[ROOT]
    CONCLAUDE_CWD=[ROOT]
    CONCLAUDE_HOOK_EVENT=SubagentStop
    CONCLAUDE_SESSION_ID=session-1
    CONCLAUDE_SKILL_NAME=coder
    CONCLAUDE_SUBAGENT_NAME=coder
    CONCLAUDE_SUBAGENT_TYPE=coder
    CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/main.jsonl
    ");
}

// Scenario: Subagent name in environment variable
#[test]
fn the_name_can_be_used_in_a_script() {
    let config = "subagentStop:\n  commands:\n    \"*\":\n      - run: echo \"I am $CONCLAUDE_SUBAGENT_NAME\"\n        showStdout: true\n";
    assert_snapshot!(Test::stop().config(config).run().message(), @r#"
    conclaude: SubagentStop of coder (a1b2c3)
    ✓ echo "I am $CONCLAUDE_SUBAGENT_NAME"
      I am coder
    "#);
}

// Scenario: Unknown subagent name in environment variable
#[test]
fn an_unknown_name_leaves_the_other_variables() {
    let env = env_of(Test::stop().without("agent_type").without("agent_id"));
    assert_snapshot!(conclaude_lines(&env), @"
    CONCLAUDE_AGENT_NAME=unknown
    CONCLAUDE_CLIENT=claude
    CONCLAUDE_CONFIG_DIR=[ROOT]
    CONCLAUDE_CWD=[ROOT]
    CONCLAUDE_HOOK_EVENT=SubagentStop
    CONCLAUDE_SESSION_ID=session-1
    CONCLAUDE_SKILL_NAME=unknown
    CONCLAUDE_SUBAGENT_NAME=unknown
    CONCLAUDE_TRANSCRIPT_PATH=[ROOT]/main.jsonl
    ");
}

// Scenario: Environment variables do not conflict with system
#[test]
fn only_conclaude_names_are_added() {
    // A shell sets some, which are given then, too.
    let of_the_shell = ["PWD", "OLDPWD", "SHLVL", "_"];
    let test =
        of_the_shell.iter().fold(Test::stop().env("CLAUDE_PID", "1"), |test, name| test.env(name, "1"));
    let given = test.command();
    let is_given = |name: &str| {
        given.get_envs().any(|(other, value)| other == name && value.is_some())
            || std::env::var_os(name).is_some()
    };
    let path = given.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value?.to_str());
    let path = format!("PATH={}", path.map_or_else(|| std::env::var("PATH").unwrap(), str::to_owned));
    let env = env_of(test);
    for line in ["HOME=[ROOT]/.home", "CLAUDE_PID=1", &path] {
        assert_eq!(env.lines().filter(|other| *other == line).count(), 1, "{line} is not in\n{env}");
    }
    // A value may have lines of its own.
    let names = env.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    let added = names.filter(|name| !name.contains(' ') && !is_given(name));
    let foreign: Vec<&str> = added.filter(|name| !name.starts_with("CONCLAUDE_")).collect();
    assert_eq!(foreign, Vec::<&str>::new(), "were added");
}

#[test]
fn a_command_reads_any_field_of_the_payload_from_stdin() {
    let config = "subagentStop:\n  commands:\n    \"*\":\n      - run: cat > payload.json\n      - run: cat > again.json\n";
    let done = Test::stop().config(config).payload("novelty", "new").run().silent();
    let payload: serde_json::Value = serde_json::from_str(&done.read("payload.json")).unwrap();
    assert_eq!(payload["novelty"], "new");
    assert_eq!(done.read("again.json"), done.read("payload.json"), "every command gets all of it");
}

#[test]
fn phantom_stops_pass_untouched() {
    let config = config_of(&["*"]);
    for test in [
        Test::stop().agent(""),
        Test::stop().payload("agent_id", "hook-agent-17").agent("checker"),
        Test::stop().stdin(capture("variants/SubagentStop.compaction.json")),
    ] {
        let done = test.config(&config).run().silent();
        assert!(!done.has("ran.txt") && !done.has(".conclaude"));
    }
}

#[test]
fn the_stops_of_claude_code_are_understood() {
    for file in [
        "SubagentStop.json",
        "variants/SubagentStop.background.json",
        "variants/SubagentStop.second.json",
        "variants/SubagentStop.teammate.json",
    ] {
        let test = Test::stop().config(&config_of(&["*"])).stdin(capture(file));
        assert_eq!(ran(test), ["*"], "{file}");
    }
}

// Scenario: Config without subagentStop section
#[test]
fn without_the_section_nothing_runs() {
    for config in [
        "",
        "notifications: {enabled: false}\n",
        "subagentStart: {commands: {'*': [{run: touch ran.txt}]}}\n",
    ] {
        let done = Test::stop().config(config).run().silent();
        assert!(!done.has("ran.txt"));
    }
    Test::stop().run().silent();
}

// Scenario: Empty subagentStop configuration
#[test]
fn an_empty_section_is_quiet() {
    for config in [
        "subagentStop: {}",
        "subagentStop:",
        "subagentStop: {commands: }",
        "subagentStop: {commands: {}}",
        "subagentStop: {commands: {coder: }}",
    ] {
        Test::stop().config(config).run().silent();
    }
}

// Scenario: subagentStop config does not affect other hooks
#[test]
fn other_hooks_do_not_use_the_section() {
    for event in ["Stop", "SessionEnd", "SubagentStart", "PostToolUse"] {
        let done = Test::event(event).payload("tool_name", "Bash").config(&config_of(&["*"])).run().silent();
        assert!(!done.has("ran.txt"), "{event}");
    }
}

#[cfg(unix)]
#[test]
fn a_fifo_instead_of_a_transcript_does_not_hang_the_hook() {
    for name in ["main.jsonl", "main/subagents/agent-a1b2c3.meta.json"] {
        // Without gates, which would wait for the agent's prompt.
        let config = format!("{}des: {{enabled: false}}\n", config_of(&["a1b2c3"]));
        let test = Test::stop().config(&config).file("main/subagents/x", "");
        assert!(std::process::Command::new("mkfifo").arg(test.root().join(name)).status().unwrap().success());
        assert_eq!(ran(test.without("agent_type")), ["a1b2c3"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_megabyte_transcript_costs_little_memory() {
    let test = Test::stop().config(&config_of(&["coder"])).without("agent_type").without("agent_id");
    let line = format!("{{\"type\":\"user\",\"text\":\"{}\"}}\n", "x".repeat(1 << 20));
    let mut transcript = line.repeat(100);
    transcript.push_str(&agent_call("Agent", "t1", "coder"));
    transcript.push('\n');
    let test = test.file("main.jsonl", &transcript);
    drop(transcript);
    let done = in_little_memory(test).status(0);
    assert_eq!(done.read("ran.txt"), "coder\n");
}
