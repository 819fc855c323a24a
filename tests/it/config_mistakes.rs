//! What people write at first: it is accepted, or the error says what to write. And packs that are added to a config.

use crate::common::{Test, run_in};

#[track_caller]
fn validated(config: &str) -> String {
    Test::stop().config(config).shows(&["validate"])
}

#[test]
fn a_section_may_be_its_list_of_commands() {
    let done = Test::event("Stop").config("stop:\n  - run: echo wrong >&2; exit 1\n").run();
    assert!(done.stdout.contains("wrong"), "{}", done.stdout);
    let shown = validated("stop:\n  - run: npm test\nsubagentStop:\n  - run: x\n");
    assert!(shown.starts_with("exit 0") && shown.contains("stop: 1 pattern, 1 command"), "{shown}");
    let shown = validated("stop:\n  - rnu: npm test\n");
    assert!(shown.contains("did you mean `run`?") && shown.contains(":2:5"), "{shown}");
}

#[test]
fn the_keys_of_other_programs_are_answered_with_ours() {
    for (command, help) in [
        ("command: npm test", "did you mean `run`?"),
        ("run: x, environment: {A: b}", "did you mean `env`?"),
        ("run: x, retries: 3", "a command runs once: repeat it in `run`"),
        ("run: x, parallel: 2", "expected `true` or `false`"),
    ] {
        let shown = validated(&format!("stop: {{commands: [{{{command}}}]}}\n"));
        assert!(shown.starts_with("exit 1") && shown.contains(help), "{command}\n{shown}");
    }
}

#[test]
fn a_command_that_has_nobody_to_run_in_parallel_with_is_named() {
    let config = |more: &str| format!("stop: {{commands: [{{run: a, parallel: true}}, {{run: b{more}}}]}}\n");
    let shown = validated(&config(""));
    assert!(shown.contains("stop: `parallel` has no effect") && shown.contains(":1:38"), "{shown}");
    let shown = validated(&config(", parallel: true"));
    assert!(!shown.contains("has no effect"), "{shown}");
}

#[test]
fn a_pattern_directly_in_a_section_belongs_under_commands() {
    for section in ["subagentStop:\n  coder:\n    - run: npm test\n", "subagentStop:\n  run: npm test\n"] {
        let shown = validated(section);
        assert!(shown.contains("put it under `commands:`"), "{shown}");
    }
}

#[test]
fn deny_is_block() {
    let config =
        "preToolUse: {toolUsageValidation: [{tool: Bash, commandPattern: \"npm publish*\", action: deny}]}\n";
    let cases =
        "cases: [{name: a, event: PreToolUse, input: {command: npm publish}, expect: {denies: true}}]\n";
    let test = Test::stop().config(config).file(".conclaude.test.yaml", cases);
    let (code, out, err) = run_in(&test.root(), &["test"]);
    assert_eq!(code, Some(0), "{out}{err}");
}

#[test]
fn mistakes_in_an_unknown_section_are_found_at_once() {
    let shown = validated("subagentStpo:\n  commands:\n    coder:\n      - rnu: npm test\n");
    assert!(shown.contains("did you mean `subagentStop`?"), "{shown}");
    assert!(shown.contains("unknown key `rnu`"), "{shown}");
}

#[test]
fn a_command_has_the_variables_of_its_config() {
    let config = "stop:\n  commands:\n    - run: 'echo \"$GREETING to $CONCLAUDE_SESSION_ID\" >&2; exit 1'\n      env: {GREETING: hello, CONCLAUDE_SESSION_ID: x}\n";
    let done = Test::event("Stop").config(config).run();
    assert!(done.stdout.contains("  hello to ") && !done.stdout.contains("hello to x"), "{}", done.stdout);
    let shown = validated("stop: {commands: [{run: x, env: {\"A B\": c}}]}\n");
    assert!(shown.contains("is not the name of a variable"), "{shown}");
    let shown = validated("stop: {commands: [{run: x, env: {CI: 1}}]}\n");
    assert!(shown.contains("quote it to make it text"), "{shown}");
}

#[test]
fn the_same_pack_in_two_layers_is_no_mistake() {
    let all = "extends: [\"pack:secrets\", \"pack:git-safety\", \"pack:destructive-commands\", \"pack:lockfiles\"]\n";
    let test = Test::stop().config(all).file(".home/.config/conclaude/config.yaml", all);
    let shown = test.shows(&["validate", "--strict"]);
    assert!(shown.starts_with("exit 0") && !shown.contains("warning"), "{shown}");
    assert!(!test.shows(&["doctor"]).contains("edit pack:"));
}

#[test]
fn a_pack_is_added_and_comments_stay() {
    let test = Test::stop().config("# ours\n\n# three\nmaxBlocks: 3\n");
    let (code, out, err) = run_in(&test.root(), &["pack", "add", "secrets", "lockfiles"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let path = test.root().join(".conclaude.yaml");
    let expected = "# ours\n\nextends: [\"pack:secrets\", \"pack:lockfiles\"]\n# three\nmaxBlocks: 3\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    let (_, out, _) = run_in(&test.root(), &["pack", "add", "secrets"]);
    assert!(out.contains("has pack:secrets already"), "{out}");
    let (code, _, err) = run_in(&test.root(), &["pack", "add", "lockfiles", "secretz"]);
    assert!(code == Some(1) && err.contains("there is no pack `secretz`"), "{code:?} {err}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
}

#[cfg(unix)]
#[test]
fn adding_a_pack_keeps_the_mode_of_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let test = Test::stop().config("maxBlocks: 3\n");
    let path = test.root().join(".conclaude.yaml");
    for mode in [0o600, 0o640, 0o664] {
        std::fs::write(&path, "maxBlocks: 3\n").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let (code, out, err) = run_in(&test.root(), &["pack", "add", "secrets"]);
        assert_eq!(code, Some(0), "{out}{err}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
    }
}

/// The line, the message and the help of every problem.
fn problems_of(config: &str) -> Vec<String> {
    let test = Test::stop().config(config);
    let (_, out, _) = run_in(&test.root(), &["validate", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let line = |one: &serde_json::Value| {
        let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        format!("{}: {}; {}", one["line"], text("message"), text("help"))
    };
    json["problems"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn mistakes_in_env_have_their_place() {
    let command = |env: &str| format!("stop:\n  commands:\n    - run: x\n      env: {env}\n");
    for (env, expected) in [
        (
            "{\"A=B\": q, \"1A\": z}",
            vec![
                "4: \"A=B\" is not the name of a variable: expected letters, digits and `_`; ",
                "4: \"1A\" is not the name of a variable: expected letters, digits and `_`; ",
            ],
        ),
        ("{\"\": y}", vec!["4: \"\" is not the name of a variable: expected letters, digits and `_`; "]),
        ("[A=1, B=x y]", vec!["4: invalid value for `env`: a list; write `{A: \"1\", B: \"x y\"}`"]),
    ] {
        assert_eq!(problems_of(&command(env)), expected, "{env}");
    }
    let nul = problems_of(&command("{A: \"x\\0y\"}"));
    assert!(nul.len() == 1 && nul[0].starts_with("4: invalid value for `A`"), "{nul:?}");
}

/// They went through the check of patterns: `*` and `|` are allowed in a name, and a space has nothing to do with globs.
#[test]
fn the_name_of_a_header_is_not_taken_for_a_pattern() {
    let headers = |name: &str| {
        problems_of(&format!(
            "maxBlock: 1
telemetry: {{endpoint: 'https://x.example', headers: {{'{name}': y}}}}
"
        ))
    };
    assert_eq!(headers("X-*|[a").len(), 2);
    for (name, expected) in [("x-*|y", 1), ("{x", 2), ("x y", 2)] {
        let shown = headers(name);
        assert_eq!(shown.len(), expected, "{name}: {shown:?}");
        assert!(!shown.iter().any(|line| line.contains("pattern") || line.contains("glob")), "{shown:?}");
    }
}

#[test]
fn mistakes_below_an_unknown_key_of_a_section_are_reported_too() {
    for (config, expected) in [
        ("subagentStop: {coder: [{command: x, timeot: 3}]}", vec!["`coder`", "`command`", "`timeot`"]),
        ("subagentStop: {commandz: {coder: [{comand: x}]}}", vec!["`commandz`", "`comand`"]),
    ] {
        let shown = problems_of(config);
        for key in expected {
            assert!(shown.iter().any(|line| line.contains(&format!("unknown key {key}"))), "{shown:?}");
        }
    }
}

#[test]
fn what_people_write_for_commands_has_a_suggestion() {
    for (config, help) in [
        ("preToolUse:\n  - run: x\n", "put it under `commands:`"),
        ("permissionRequest:\n  - run: x\n", "put it under `commands:`"),
        ("stop: {commands: [{run: x, onFailure: deny}]}", "did you mean `block`?"),
        ("des: {onViolation: deny}", "did you mean `block`?"),
        ("stop: {commands: [{comand: x}]}", "did you mean `run`?"),
        ("stop: {commands: [{run: x, comment: y}]}", "write a comment as `# …`"),
        ("subagentStop: {commands: {\"(coder|tester)\": [{run: x}]}}", "write \"{coder,tester}\""),
        ("postToolUse: {commands: {\"^(Edit|mcp__.*)$\": [{run: x}]}}", "write \"{Edit,mcp__*}\""),
        (
            "preToolUse: {toolUsageValidation: [{tool: \"(Edit|Write)\", action: block}]}",
            "alternatives are written `{Edit,Write}`",
        ),
    ] {
        let shown = problems_of(config);
        assert!(shown.iter().any(|line| line.contains(help)), "{config}\n{shown:#?}");
    }
}

#[test]
fn a_section_that_is_only_a_command_is_told_its_right_form() {
    for section in ["stop", "subagentStop"] {
        let shown = Test::stop().config(&format!("{section}: npm test\n")).shows(&["validate"]);
        assert!(shown.contains("help: write [{run: \"npm test\"}]"), "{shown}");
        let fixed = format!("{section}: [{{run: \"npm test\"}}]\n");
        let shown = Test::stop().config(&fixed).shows(&["validate"]);
        assert!(shown.starts_with("exit 0"), "{shown}");
    }
}

#[test]
fn a_list_of_names_that_is_switched_on_is_told_the_names() {
    for (config, list) in [
        ("enforce: true", "[sandbox, permissions]"),
        ("clients: true", "[claude, codex, copilot, qwen, gemini]"),
    ] {
        let answer = validated(config);
        assert!(answer.contains(&format!("help: write it as a list: {list}")), "{answer}");
    }
}
