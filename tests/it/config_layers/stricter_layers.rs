//! What an inner layer cannot take from an outer one.

use super::*;

#[test]
fn an_inner_layer_cannot_keep_commands_of_an_outer_one_from_running() {
    let commands = |who: &str| {
        format!(
            "  commands:\n    \"*\": [{{run: echo {who}-any >> ran}}]\n    coder: [{{run: echo {who}-coder >> ran}}]\n"
        )
    };
    let config = |mode: &str, who: &str| format!("subagentStop:\n{mode}{}", commands(who));
    let first = "  match: first\n";
    let test = Test::stop().file(USER, config("", "user")).config(&config(first, "project"));
    let answer = test.run().silent();
    assert_eq!(ran(&answer), "user-any project-any user-coder project-coder");
    assert_snapshot!(shown_in(&answer.root(), &["validate"]), @"
    exit 0
    ----- stdout
    warning: subagentStop: `match: first` has no effect
     --> [ROOT]/.conclaude.yaml:2:10
      |
    2 |   match: first
      |          ^^^^^ an outer file has commands there, and all of them run
      |
      = help: remove it

    valid: [ROOT]/.home/.config/conclaude/config.yaml
    valid: [ROOT]/.conclaude.yaml
      subagentStop: 2 patterns, 4 commands
    ");
    // Of one's own files the first may be all.
    let test = Test::stop().file("base.yaml", config("", "base"));
    let test = test.config("extends: [base.yaml]\nsubagentStop: {match: first}\n");
    assert_eq!(ran(&test.run().silent()), "base-any");
    let test = Test::stop().file(USER, config(first, "user")).config(&config(first, "project"));
    assert_eq!(ran(&test.run().silent()), "user-any project-any");
}

#[test]
fn no_gated_agent_writes_the_local_config_or_the_users() {
    let shown = [LOCAL, USER].map(|path| {
        let step = crate::common::workflow::todo();
        let test = Test::stop().step(&step).agent_files(crate::common::workflow::MARKERS);
        let file = test.root().join(path).display().to_string();
        test.writes("Write", "file_path", &file).run().denied().replace(path, "[FILE]")
    });
    assert_snapshot!(crate::common::snapshot::same(&shown), @"
    conclaude denies this write:
    ✗ SCOPE_VIOLATION: [ROOT]/[FILE] belongs to the gates and is not for agents to write → leave it as it is
    ");
}

#[test]
fn a_guard_of_the_user_is_not_weakened_by_a_project_unless_it_says_so() {
    let writes = |test: Test, file: &str| {
        let path = test.root().join(file).display().to_string();
        test.then("PreToolUse")
            .without("agent_id")
            .payload("tool_name", "Write")
            .payload("tool_use_id", "toolu_1")
            .payload("tool_input", serde_json::json!({"file_path": path, "content": "x"}))
            .run()
    };
    let test = Test::stop()
        .file(USER, "preToolUse:\n  uneditableFiles:\n    - \"*.lock\"\n    - {pattern: \"*.md\", overridable: true}\n")
        .config("preToolUse: {uneditableFiles: [\"!*.lock\", \"!*.md\", \"*.txt\"]}\n")
        .file(LOCAL, "preToolUse: {uneditableFiles: [\"!*.txt\"]}\n");
    let denied = writes(test, "a.lock");
    assert_snapshot!(denied.denied(), @"Writing a.lock is not allowed: `uneditableFiles` has `*.lock`. Do it another way, or ask the user. (.home/.config/conclaude/config.yaml:3)");
    let allowed = writes(denied.again(), "a.md").silent();
    assert_snapshot!(writes(allowed.again(), "a.txt").denied(), @"Writing a.txt is not allowed: `uneditableFiles` has `*.txt`. Do it another way, or ask the user. (.conclaude.yaml:1)");
}

#[test]
fn a_rule_for_tools_is_relaxed_only_where_it_says_so() {
    let rule = |pattern: &str, action: &str, more: &str| {
        format!("    - {{tool: Bash, commandPattern: \"{pattern}\", action: {action}{more}}}\n")
    };
    let config = |rules: &[String]| format!("preToolUse:\n  toolUsageValidation:\n{}", rules.concat());
    let mut test = Test::stop()
        .file(USER, config(&[rule("make a*", "block", ""), rule("make b*", "block", ", overridable: true")]))
        .config(&config(&[rule("make *", "allow", ""), rule("make c", "block", "")]))
        .file(LOCAL, config(&[rule("make d", "ask", "")]))
        .then("PreToolUse")
        .without("agent_id")
        .payload("tool_name", "Bash");
    let mut answers = Vec::new();
    for command in ["make a", "make b", "make c", "make d"] {
        let answer = test.payload("tool_input", serde_json::json!({ "command": command })).run();
        let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
        let decision = json["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("free");
        answers.push(format!("{command}: {decision}"));
        test = answer.again();
    }
    // `make c` is allowed by an earlier rule of its own layer.
    assert_eq!(answers, ["make a: deny", "make b: free", "make c: free", "make d: ask"]);
}
