//! Requests against rules: which rule answers, and what it compares.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::*;
use crate::guard::{Ground, Sources};
use crate::paths::Links;
use conclaude_core::config::{ConclaudeConfig, Layer};

mod shell;
mod shell_options;

const ROOT: &str = "/nowhere/project";

fn rules(yaml: &str) -> PermissionRules {
    let text = format!("permissionRequest: {yaml}");
    let config = ConclaudeConfig::parse(&text, Path::new("x")).unwrap_or_else(|error| panic!("{error}"));
    PermissionRules::of(&config.permissions, &Sources(&[("x".into(), Layer::Project)]), Some("/home/me"))
        .unwrap()
}

fn asked(rules: &PermissionRules, tool: &str, input: Value, agent: &str) -> Answer {
    let input: Map<String, Value> = input.as_object().unwrap().clone();
    let links = Links::default();
    let ground = Ground {
        root: Path::new(ROOT),
        cwd: Path::new(ROOT),
        links: &links,
        home: Some("/home/me"),
        worktree: None,
        budget: &Budget::unlimited(),
    };
    answer(
        rules,
        &PermissionRequest { ground, tool, other_names: &[], input: &input, agent },
        Some("/home/me"),
    )
}

fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Allow(_) => "allow",
        Answer::Deny(_) => "deny",
        Answer::Ask(_) => "ask",
    }
}

fn bash(rules: &PermissionRules, command: &str) -> &'static str {
    word(&asked(rules, "Bash", json!({ "command": command }), "main"))
}

#[test]
fn deny_comes_before_allow_and_allow_before_the_default() {
    for (yaml, command, expected) in [
        ("{allow: ['Bash(ls*)'], deny: ['Bash(ls*)']}", "ls", "deny"),
        ("{default: deny, allow: ['Bash(ls*)']}", "ls", "allow"),
        ("{default: deny, allow: ['Bash(ls*)']}", "ls; rm x", "deny"),
        ("{default: deny}", "ls", "deny"),
        ("{default: ask, allow: ['Bash(ls*)']}", "rm x", "ask"),
        ("{default: allow, deny: [Bash]}", "ls", "deny"),
        ("{default: allow, deny: [Read]}", "ls", "allow"),
        ("{}", "ls", "ask"),
    ] {
        assert_eq!(bash(&rules(yaml), command), expected, "{yaml} {command}");
    }
}

#[test]
fn tools_files_hosts_and_agents_are_compared() {
    let rules = rules(
        r#"
  allow:
    - "mcp__github"
    - "Read(./docs/**)"
    - "Edit(/src/**)"
    - "WebFetch(domain:*.example.com)"
    - "Agent(code*)"
    - {pattern: "Bash(make *)", agent: coder}
  deny:
    - "Read(.env*)"
    - "Edit(//etc/**)"
    - "WebFetch(domain:evil.example.com)"
    - {pattern: "mcp__github__delete*", message: "ask a human"}"#,
    );
    let url = |url: &str| json!({"url": url, "prompt": "x"});
    let file = |path: &str| json!({ "file_path": path });
    for (tool, input, expected) in [
        ("mcp__github__list", json!({}), "allow"),
        ("mcp__github__delete_repo", json!({}), "deny"),
        ("mcp__gitlab__list", json!({}), "ask"),
        ("Read", file("docs/a.md"), "allow"),
        ("Read", file("/nowhere/project/docs/a/b.md"), "allow"),
        ("Read", file("docs/../secret.md"), "ask"),
        ("Read", file("/elsewhere/docs/a.md"), "ask"),
        ("Read", file("docs/.env"), "deny"),
        ("Read", file("/elsewhere/.env.local"), "deny"),
        ("Write", file("src/a.rs"), "allow"),
        ("NotebookEdit", json!({"notebook_path": "src/a.ipynb"}), "allow"),
        ("Edit", file("/src/a.rs"), "ask"),
        ("Edit", file("/etc/hosts"), "deny"),
        ("Edit", json!({}), "ask"),
        ("Bash", json!({"command": "cat .env"}), "deny"),
        ("Bash", json!({"command": "echo x >> /etc/hosts"}), "deny"),
        ("Bash", json!({"command": "make x"}), "ask"),
        ("WebFetch", url("https://docs.example.com/x"), "allow"),
        ("WebFetch", url("https://evil.example.com/x"), "deny"),
        ("WebFetch", url("https://docs.example.com@evil.org/"), "ask"),
        ("WebFetch", url("https://example.com/"), "ask"),
        ("Agent", json!({"subagent_type": "coder"}), "allow"),
        ("Task", json!({"subagent_type": "tester"}), "ask"),
    ] {
        assert_eq!(word(&asked(&rules, tool, input.clone(), "main")), expected, "{tool} {input}");
    }
    let make = json!({"command": "make x"});
    assert_eq!(word(&asked(&rules, "Bash", make, "coder")), "allow");
}

#[test]
fn a_path_that_is_too_long_to_be_compared_is_not_allowed() {
    let rules = rules(r#"{allow: ["Read(./docs/**)"]}"#);
    let input = json!({"file_path": format!("docs/{}", "a/".repeat(2_000))});
    assert_eq!(word(&asked(&rules, "Read", input, "main")), "ask");
}

#[test]
fn where_files_are_denied_unknown_ones_are_not_allowed() {
    let rules = rules(r#"{allow: ["Bash(cat *)", "Bash(cp *)"], deny: ["Read(.env)"]}"#);
    assert_eq!(bash(&rules, "cat README.md"), "allow");
    assert_eq!(bash(&rules, "cat $x"), "ask");
    assert_eq!(bash(&rules, "cd sub; cat ../.env"), "deny");
}
