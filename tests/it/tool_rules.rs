//! `toolUsageValidation`: which calls a rule is for, by the tool, its input and its files.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Test, run_in, shown_in};

/// What is answered to each call (`deny`, `ask` or `free`), in one project with this config.
#[track_caller]
fn answered(config: &str, calls: &[(&str, Value, &str)]) {
    let test = Test::stop().config(config).file("key.txt", "x\n").file("docs/a.md", "x\n");
    let case = |(tool, input, expected): &(&str, Value, &str)| {
        let key = match *expected {
            "deny" => "denies",
            "ask" => "asks",
            _ => "allows",
        };
        let name = format!("{tool} {input}");
        json!({"name": name, "event": "PreToolUse", "tool": tool, "input": input, "expect": {key: true}})
    };
    let cases: Vec<Value> = calls.iter().map(case).collect();
    let test = test.file(".conclaude.test.yaml", json!({ "cases": cases }).to_string());
    let (code, stdout, stderr) = run_in(&test.root(), &["test"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
}

fn rule(rule: &str) -> String {
    format!("preToolUse:\n  toolUsageValidation:\n    - {rule}\n")
}

fn run(command: &str) -> Value {
    json!({ "command": command })
}

#[test]
fn what_monitor_runs_is_guarded_as_what_bash_runs() {
    let config = "preToolUse:\n  unreadableFiles: [key.txt]\n  toolUsageValidation:\n    \
        - {tool: Bash, commandPattern: \"npm publish*\", action: block}\n    \
        - {tool: Bash, commandPattern: \"make *\", action: allow}\n    \
        - {tool: \"*\", commandPattern: \"make deploy\", action: block}\n";
    answered(
        config,
        &[
            ("Monitor", run("npm publish"), "deny"),
            ("Monitor", run("tail -f key.txt"), "deny"),
            ("Monitor", run("tail -f build.log"), "free"),
            ("Monitor", run("make deploy"), "free"),
            ("Monitor", json!({"ws": {"url": "wss://example.com"}}), "free"),
            ("Monitor", json!({"command": 5}), "ask"),
            ("Bash", run("npm publish"), "deny"),
        ],
    );
}

#[test]
fn powershell_is_compared_by_its_commands_and_asked_about_where_it_names_a_protected_file() {
    let config = "preToolUse:\n  unreadableFiles: [key.txt]\n  toolUsageValidation:\n    \
        - {tool: Bash, commandPattern: \"git push --force*\", action: block}\n    \
        - {tool: PowerShell, commandPattern: \"Remove-Item *\", action: ask}\n";
    answered(
        config,
        &[
            ("PowerShell", run("cd x; git push --force origin"), "deny"),
            ("PowerShell", run("& 'git.exe' push --force"), "deny"),
            ("PowerShell", run("if ($a) { git push --force }"), "deny"),
            ("PowerShell", run("git $verb"), "ask"),
            ("PowerShell", run("Get-Content .\\key.txt"), "ask"),
            ("PowerShell", run("Get-ChildItem | Remove-Item -Recurse"), "ask"),
            ("PowerShell", run("Get-ChildItem | Where-Object { $_.Length -gt 5 }"), "free"),
            ("PowerShell", run("Write-Output 'git push --force'"), "free"),
            ("PowerShell", json!({}), "ask"),
            ("Bash", run("Remove-Item x"), "free"),
        ],
    );
}

#[test]
fn a_tool_in_claude_codes_notation_means_what_it_means_there() {
    answered(
        &rule("{tool: \"Bash(npm publish*)\", action: block}"),
        &[
            ("Bash", run("npm publish --tag x"), "deny"),
            ("Bash", run("cd x && npm publish"), "deny"),
            ("Monitor", run("npm publish"), "deny"),
            ("Bash", run("npm test"), "free"),
            ("WebFetch", json!({"url": "https://npm.com/publish"}), "free"),
        ],
    );
    answered(
        &rule("{tool: \"Bash(git push:*)\", options: [\"-f\"], action: block}"),
        &[("Bash", run("git push -uf"), "deny"), ("Bash", run("git push"), "free")],
    );
    answered(
        &rule("{tool: \"Bash(git *)\", commandPattern: \"* --force\", action: block}"),
        &[
            ("Bash", run("git push --force"), "deny"),
            ("Bash", run("git push"), "free"),
            ("Bash", run("npm i --force"), "free"),
        ],
    );
    answered(
        &rule("{tool: \"Edit(docs/**)\", action: block}"),
        &[
            ("Write", json!({"file_path": "docs/a.md", "content": ""}), "deny"),
            ("Bash", run("echo x > docs/b.md"), "deny"),
            ("Bash", run("cat docs/a.md"), "free"),
            ("Read", json!({"file_path": "docs/a.md"}), "free"),
            ("Write", json!({"file_path": "src/a.md", "content": ""}), "free"),
        ],
    );
    answered(
        &rule("{tool: \"WebFetch(domain:*.example.com)\", action: block}"),
        &[
            ("WebFetch", json!({"url": "https://a.Example.com/x"}), "deny"),
            ("WebFetch", json!({"url": "https://a.example.com@b.org/"}), "ask"),
            ("WebFetch", json!({"url": "https://example.org"}), "free"),
        ],
    );
    answered(
        &rule("{tool: \"Task(coder*)\", action: block}"),
        &[
            ("Agent", json!({"subagent_type": "coder", "prompt": "x", "description": "x"}), "deny"),
            ("Agent", json!({"subagent_type": "tester", "prompt": "x", "description": "x"}), "free"),
        ],
    );
    answered(
        &rule("{tool: mcp__github, action: block}"),
        &[("mcp__github__create_issue", json!({}), "deny"), ("mcp__gitlab__x", json!({}), "free")],
    );
}

#[test]
fn a_pattern_of_files_is_compared_with_the_paths_of_an_mcp_tool() {
    answered(
        &rule("{tool: \"mcp__fs__*\", pattern: key.txt, action: block}"),
        &[
            ("mcp__fs__read_file", json!({"path": "key.txt"}), "deny"),
            ("mcp__fs__read_file", json!({"relative_path": "docs/../key.txt"}), "deny"),
            ("mcp__fs__read_many", json!({"paths": ["docs/a.md", "./key.txt"]}), "deny"),
            ("mcp__fs__move_file", json!({"source": "docs/a.md", "destination": "key.txt"}), "deny"),
            ("mcp__fs__open", json!({"uri": "file:///x/key.txt"}), "deny"),
            ("mcp__fs__read_file", json!({"path": "docs/a.md", "note": "key.txt"}), "free"),
            ("mcp__other__read_file", json!({"path": "key.txt"}), "free"),
        ],
    );
}

#[test]
fn a_spelling_that_matches_nothing_is_an_error_that_shows_the_right_one() {
    let config = "preToolUse:\n  toolUsageValidation:\n    \
        - {tool: \"Bash|WebFetch\", action: block}\n    \
        - {tool: bash, action: block}\n    \
        - {tool: \"Edit, Write\", action: block}\n    \
        - {tool: Bash, commandPattern: \"a | b\", agent: \"coder|tester\", action: block}\n\
        permissionRequest:\n  deny: [\"Bash|Read\", \"webfetch(domain:x.com)\"]\n";
    assert_snapshot!(shown_in(&Test::stop().config(config).root(), &["validate"]), @r#"
    exit 1
    ----- stdout
    error: invalid value for `tool`: the text "Bash|WebFetch"
     --> [ROOT]/.conclaude.yaml:3:14
      |
    3 |     - {tool: "Bash|WebFetch", action: block}
      |              ^^^^^^^^^^^^^^^ expected a pattern of tools, such as `Read` or `Bash(git status*)`
      |
      = help: alternatives are written `{Bash,WebFetch}`

    error: invalid value for `tool`: the text "bash"
     --> [ROOT]/.conclaude.yaml:4:14
      |
    4 |     - {tool: bash, action: block}
      |              ^^^^ expected a pattern of tools, such as `Read` or `Bash(git status*)`
      |
      = help: case counts, and no tool is called `bash`: write `Bash`

    error: invalid value for `tool`: the text "Edit, Write"
     --> [ROOT]/.conclaude.yaml:5:14
      |
    5 |     - {tool: "Edit, Write", action: block}
      |              ^^^^^^^^^^^^^ expected a pattern of tools, such as `Read` or `Bash(git status*)`
      |
      = help: alternatives are written `{Edit,Write}`

    error: invalid value for `agent`: the text "coder|tester"
     --> [ROOT]/.conclaude.yaml:6:52
      |
    6 |     - {tool: Bash, commandPattern: "a | b", agent: "coder|tester", action: block}
      |                                                    ^^^^^^^^^^^^^^ expected a glob, such as `*coder`
      |
      = help: alternatives are written `{coder,tester}`

    error: invalid value for `deny`: the text "Bash|Read"
     --> [ROOT]/.conclaude.yaml:8:10
      |
    8 |   deny: ["Bash|Read", "webfetch(domain:x.com)"]
      |          ^^^^^^^^^^^ expected a pattern of tools, such as `Read` or `Bash(git status*)` or a mapping with `pattern`
      |
      = help: alternatives are written `{Bash,Read}`

    error: invalid value for `deny`: the text "webfetch(domain:x.com)"
     --> [ROOT]/.conclaude.yaml:8:23
      |
    8 |   deny: ["Bash|Read", "webfetch(domain:x.com)"]
      |                       ^^^^^^^^^^^^^^^^^^^^^^^^ expected a pattern of tools, such as `Read` or `Bash(git status*)` or a mapping with `pattern`
      |
      = help: case counts, and no tool is called `webfetch`: write `WebFetch`

    error: invalid config [ROOT]/.conclaude.yaml: 6 problems
    "#);
}

#[test]
fn what_a_rule_with_a_broken_tool_might_be_against_is_asked_about() {
    let answer = |tool: &str, input: Value| {
        let test = Test::event("PreToolUse").without("agent_id").without("agent_type");
        let test = test.config(&rule("{tool: \"Bash|WebFetch\", action: block}"));
        test.payload("tool_name", tool).payload("tool_input", input).run()
    };
    assert_snapshot!(answer("WebFetch", json!({"url": "https://example.com"})).tool("ask"), @r#"Rules in .conclaude.yaml:3 cannot be used, and might forbid using WebFetch: invalid value for `tool`: the text "Bash|WebFetch". Fix the config: `conclaude validate` shows every problem. (built-in: rules that cannot be used are asked about)"#);
}

#[test]
fn a_call_with_an_empty_path_is_asked_about() {
    answered(
        "preToolUse: {uneditableFiles: [\"*.lock\"]}\n",
        &[
            ("Write", json!({"file_path": "", "content": "x"}), "ask"),
            ("Edit", json!({"file_path": " ", "old_string": "a", "new_string": "b"}), "ask"),
            ("Read", json!({"file_path": ""}), "free"),
        ],
    );
}
