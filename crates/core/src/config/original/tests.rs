use super::*;
use crate::yaml::read;

fn translated(text: &str) -> (String, Vec<&'static str>) {
    let mut tree = read(text).unwrap();
    let found = translate(&mut tree);
    let value: serde_json::Value = serde::Deserialize::deserialize(&tree).unwrap();
    (value.to_string(), found.into_iter().map(|renamed| renamed.key).collect())
}

#[test]
fn keys_of_the_original_are_read_as_ours() {
    for (text, expected, keys) in [
        ("skillStart: {commands: []}", r#"{"subagentStart":{"commands":[]}}"#, vec!["skillStart"]),
        (
            "worktreeCreate: {timeout: 5, command: x}",
            r#"{"worktreeCreate":{"commands":[{"run":"x","timeout":5}]}}"#,
            vec!["command", "timeout"],
        ),
        ("worktreeCreate: {command: null}", r#"{"worktreeCreate":{}}"#, vec!["command"]),
        (
            "preToolUse: {preventRootAdditions: false, preventRootAdditionsMessage: m}",
            r#"{"preToolUse":{"preventRootAdditions":{"enabled":false,"message":"m"}}}"#,
            vec!["preventRootAdditionsMessage"],
        ),
        (
            "preToolUse: {preventRootAdditionsMessage: m}",
            r#"{"preToolUse":{"preventRootAdditions":{"enabled":true,"message":"m"}}}"#,
            vec!["preventRootAdditionsMessage"],
        ),
        (
            "stop: {commands: [{run: x, skill: t*}]}",
            r#"{"stop":{"commands":[{"run":"x","agent":"t*"}]}}"#,
            vec!["skill"],
        ),
        (
            "postToolUse: {commands: [{run: a}, {tool: Bash, run: b}, {run: c, tool: '*'}]}",
            r#"{"postToolUse":{"commands":{"*":[{"run":"a"},{"run":"c"}],"Bash":[{"run":"b"}]}}}"#,
            vec!["tool", "tool"],
        ),
    ] {
        assert_eq!(translated(text), (expected.to_owned(), keys), "{text}");
    }
}

#[test]
fn what_is_ours_or_broken_stays_as_it_is() {
    for text in [
        r#"{"a":1}"#,
        r#"{"skillStart":{},"subagentStart":{}}"#,
        r#"{"worktreeCreate":{"command":"x","commands":[]}}"#,
        r#"{"worktreeCreate":{"timeout":5}}"#,
        r#"{"preToolUse":{"preventRootAdditions":{"enabled":true},"preventRootAdditionsMessage":"m"}}"#,
        r#"{"stop":{"commands":[{"run":"x","tool":"Bash"}]}}"#,
        r#"{"postToolUse":{"commands":[{"run":"x","tool":5},"x"]}}"#,
        r#"{"postToolUse":{"commands":"x"},"stop":[],"preToolUse":{"uneditableFiles":[5]}}"#,
        "[]",
    ] {
        let expected: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(translated(text), (expected.to_string(), Vec::new()));
    }
}
