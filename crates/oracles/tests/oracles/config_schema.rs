//! The schema and the loader agree: an editor underlines what a hook rejects.

use std::path::Path;
use std::sync::LazyLock;

use conclaude_core::config::{ConclaudeConfig, schema_text};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Compiled once: thousands of values are compared with it.
fn validator() -> &'static Validator {
    static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
        let schema: Value = serde_json::from_str(&schema_text()).unwrap();
        jsonschema::draft7::new(&schema).unwrap()
    });
    &VALIDATOR
}

/// A valid config with every key.
fn full() -> Value {
    let command = json!({
        "run": "x", "message": "m", "showStdout": true, "showStderr": false, "maxOutputLines": 5, "timeout": "5m",
        "show": "always", "onFailure": "warn", "onTimeout": "warn", "cwd": "a", "shell": "sh", "env": { "CI": "1", "A_B": null },
        "agent": "c*", "files": ["src/**", "!*.md"], "context": true, "showCommand": false, "notifyPerCommand": true,
        "pattern": "x", "caseInsensitive": true,
    });
    json!({
        "extends": ["base.yaml"],
        "maxBlocks": 3,
        "subagentStart": { "match": "all", "commands": { "*": [command] } },
        "subagentStop": { "match": "first", "commands": { "coder": [command, { "run": "y" }], "a*": null } },
        "stop": { "match": "all", "commands": [command], "infinite": false, "infiniteMessage": "m" },
        "messageDisplay": { "match": "all", "commands": [{ "run": "x" }], "onlyFinal": false },
        "preToolUse": {
            "uneditableFiles": ["a", { "pattern": "x", "message": "m", "agent": "a", "outside": true, "overridable": true }],
            "preventRootAdditions": { "enabled": true, "message": "m", "overridable": true },
            "toolUsageValidation": [{
                "tool": "Bash", "pattern": "x", "access": "delete", "outside": true, "exact": true, "known": true, "without": ["--dry-run"],
                "sqlUnless": "* where *", "commandPattern": "git push", "sqlPattern": "drop *", "options": ["-f", "--force"], "caseInsensitive": true,
                "matchMode": "prefix", "action": "block", "message": "m", "agent": "a", "overridable": false,
            }],
        },
        "userPromptSubmit": {
            "match": "all", "commands": [command], "slashCommands": { "match": "all", "commands": { "a": [{ "run": "x" }] } },
            "contextRules": [{ "pattern": "x", "prompt": "y", "enabled": true, "caseInsensitive": false }],
        },
        "permissionRequest": {
            "match": "all", "commands": { "Bash": [command] }, "default": { "answer": "ask", "overridable": true },
            "allow": ["Read", { "pattern": "Bash(x)", "agent": "a" }],
            "deny": ["Write", { "pattern": "Bash(x)", "agent": "a", "message": "m", "overridable": true }],
        },
        "postToolUse": { "commands": { "Write": [{ "run": "x", "onFailure": "block" }] } },
        "notifications": { "enabled": true, "hooks": ["*", "Stop"], "showErrors": true, "showSuccess": false, "showSystemEvents": true },
        "des": {
            "enabled": true, "onViolation": "block", "scope": "warn", "phases": ["A", "B"], "requiredSections": ["Goal"],
            "evidence": { "A": "x" }, "judge": { "prompt": "p", "model": "m", "timeout": 30, "onError": "allow" },
        },
        "audit": { "enabled": true, "required": false, "maxFileBytes": 4096, "output": "never" },
        "telemetry": {
            "endpoint": "http://localhost:4318", "headers": { "authorization": "Bearer ${TOKEN}" }, "protocol": "http/json",
            "signals": ["logs", "traces", "metrics"], "output": true, "resource": { "team": "${TEAM}" },
        },
        "budget": {
            "session": { "cost": 20, "tokens": "5M" }, "agent": { "toolCalls": 200, "minutes": 0.5, "tokens": "500k" },
            "day": { "cost": 100.5, "tokens": 20 }, "at": "80%", "then": "block",
        },
        "report": { "prices": { "m*": { "input": 3, "output": 15.5, "cacheRead": 0.3, "cacheWrite": 3.75, "cacheWrite1h": 6 }, "n": null } },
    })
}

#[test]
fn keys_for_anchors_are_free_at_every_level_and_names_are_names() {
    let mut all = vec![String::new()];
    pointers(&full(), "", &mut all);
    let mut free = 0;
    for pointer in all {
        let mut config = full();
        let Some(map) = config.pointer_mut(&pointer).unwrap().as_object_mut() else { continue };
        map.insert("x-any".into(), json!([{"thing": 1}]));
        check(&config).unwrap();
        let is_named = ["/commands", "/env", "/evidence", "/headers", "/prices", "/resource"]
            .iter()
            .any(|names| pointer.ends_with(names));
        let loaded = ConclaudeConfig::parse(&config.to_string(), Path::new("x"));
        assert_eq!(loaded.is_ok(), !is_named, "{pointer}");
        free += usize::from(!is_named);
    }
    assert!(free > 10, "{free}");
}

/// The JSON pointers of all values inside a value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let entries: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => {
            list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in entries {
        let pointer = format!("{at}/{key}");
        pointers(value, &pointer, found);
        found.push(pointer);
    }
}

/// Values of every type, including some that look like another type.
fn values() -> Vec<Value> {
    let words = [
        "", " ", "5", "5k", "1.5M", "80%", "true", "null", "~", "5m", "0m", "5x", "warn", "block", "first",
        "Stop", "A", "tdd-14", "tdd",
    ];
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(5),
        json!(-1),
        json!(99_999),
        json!(1.5),
        json!([]),
        json!(["A", "A"]),
        json!(["A", "B"]),
        json!([5]),
        json!([null]),
        json!(["x", "m"]),
        json!({}),
        json!({"run": "x"}),
        json!({"warn": null}),
        json!({"A": [{"run": "x"}]}),
        json!([{"run": "x"}]),
        json!({"unknown": 1}),
    ];
    words.iter().map(|word| json!(word)).chain(others).collect()
}

fn check(config: &Value) -> Result<(), TestCaseError> {
    // JSON is YAML.
    let loaded = ConclaudeConfig::parse(&config.to_string(), Path::new("x"));
    prop_assert_eq!(loaded.is_ok(), validator().is_valid(config), "{}\n{:?}", config, loaded.err());
    Ok(())
}

#[test]
fn each_value_is_rejected_by_both_or_by_none() {
    let mut all = Vec::new();
    pointers(&full(), "", &mut all);
    check(&full()).unwrap();
    let full = full();
    for pointer in &all {
        // The other sections do not matter.
        let section = pointer.split('/').nth(1).unwrap_or_default();
        let alone = full.get(section).map_or_else(|| full.clone(), |value| json!({ section: value }));
        for value in values() {
            let mut config = alone.clone();
            *config.pointer_mut(pointer).unwrap() = value;
            check(&config).unwrap();
        }
    }
}

#[test]
fn what_is_too_long_is_rejected_by_both() {
    let names = |count: usize| (0..count).map(|at| format!("P{at}"));
    let list = |count: usize| json!(names(count).collect::<Vec<_>>());
    let map = |count: usize| Value::Object(names(count).map(|name| (name, Value::Null)).collect());
    for (pointer, good, bad) in [
        ("/extends", list(16), list(17)),
        ("/des/phases", list(100), list(101)),
        ("/des/phases", json!(["x".repeat(200)]), json!(["x".repeat(201)])),
        ("/des/requiredSections", list(100), list(101)),
        ("/des/requiredSections/0", json!("ü".repeat(200)), json!("ü".repeat(201))),
        ("/des/evidence", list(100), list(101)),
        ("/des/evidence", map(100), map(101)),
        ("/notifications/hooks", json!(vec!["Stop"; 100]), json!(vec!["Stop"; 101])),
        ("/subagentStop/commands", map(200), map(201)),
        (
            "/subagentStop/commands/coder",
            json!(vec![json!({"run": "x"}); 100]),
            json!(vec![json!({"run": "x"}); 101]),
        ),
    ] {
        for (value, is_valid) in [(good, true), (bad, false)] {
            let mut config = full();
            *config.pointer_mut(pointer).unwrap() = value;
            check(&config).unwrap();
            let loaded = ConclaudeConfig::parse(&config.to_string(), Path::new("x"));
            assert_eq!(loaded.is_ok(), is_valid, "{pointer}");
        }
    }
}

proptest! {
    #[test]
    fn several_changes_are_rejected_by_both_or_by_none(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let mut config = full();
        for (at, value) in changes {
            let mut all = Vec::new();
            pointers(&config, "", &mut all);
            if !all.is_empty() {
                *config.pointer_mut(&all[at.index(all.len())]).unwrap() = value.get(&values()).clone();
            }
        }
        check(&config)?;
    }
}
