use super::*;
use crate::config::ConclaudeConfig;

/// Whether the quick reader knew; then it must agree with the full one.
#[track_caller]
fn agrees(text: &str) -> bool {
    match read::<Option<ConclaudeConfig>>(text) {
        None => false,
        Some(quick) => {
            let full = ConclaudeConfig::parse_in_full(text, std::path::Path::new("x"))
                .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            assert_eq!(quick.unwrap_or_default(), full, "{text}");
            true
        }
    }
}

#[test]
fn what_people_write_is_known() {
    for text in [
        "maxBlocks: 3\n",
        "# a comment\n\nsubagentStop:   # what for\n  match: first\n  commands:\n    \"*\":\n      - run: npm run lint   # all of it\n        message: \"Linting: failed\"\n        showStdout: true\n        timeout: 600\n    'test*':\n    - run: npm test -- --x=\"y z\"\n      onFailure: block\n    agent-1-*:\n      - run: ./check.sh $X\n      - run: 'echo #hi'\n",
        "des:\n  phases:\n    - BUILD\n    - CHECK\n  evidence:\n  - BUILD\n  judge:\n    prompt: Is it so?\n    timeout: 30\naudit:\n  required: true\n  maxFileBytes: 16777216\n",
        "notifications:\n  enabled: true\n  hooks:\n    - SubagentStop\n    - \"*\"\n  showErrors: false\n",
        "notifications:\n  hooks: [\"SubagentStop\", Stop, '*']\nsubagentStop:\n  commands:\n    coder:\n      - run: |\n          set -e\n            x\n\n          echo \"a: b\" # c\n\n        timeout: 3\n      - run: |-\n          y\n    tester:\n    # a comment\n    - run: |\n        z\n",
        "des:\n  judge: null\nsubagentStop:\n  commands: ~\nmaxBlocks:\n",
    ] {
        assert!(agrees(text), "{text}");
    }
}

#[test]
fn what_is_unusual_or_wrong_is_left_to_the_full_reader() {
    for text in [
        "",
        "maxBlocks: 9\n",
        "maxBlocks: 03\n",
        "maxBlocks: 0x3\n",
        "maxBlocks: \"3\"\n",
        "maxBlocks: 3\nmaxBlocks: 3\n",
        "maxBlok: 3\n",
        "subagentStop: {commands: {}}\n",
        "subagentStop:\n  commands:\n    *coder:\n      - run: x\n",
        "subagentStop:\n  commands:\n    a:\n      - run: |\n          x",
        "subagentStop:\n  commands:\n    a:\n      - run: |\n\n          x\n",
        "subagentStop:\n  commands:\n    a:\n      - run: |\n        x\n",
        "subagentStop:\n  commands:\n    a:\n      - run: |+\n          x\n",
        "subagentStop:\n  commands:\n    a:\n      - run: |\n          x\n         y\n",
        "subagentStop:\n  commands:\n    a:\n      - run: >\n          x\n",
        "notifications:\n  hooks: [Stop, ]\n",
        "notifications:\n  hooks: [*]\n",
        "notifications:\n  hooks: [Stop]# x\n",
        "notifications:\n  hooks: [Stop: x] # y\n",
        "notifications:\n  hooks: [\"a,b\"]\n",
        "subagentStop:\n  commands:\n    a:\n      - run: x\n          y\n",
        "subagentStop:\n  commands:\n    a:\n      - run: true\n",
        "subagentStop:\n  commands:\n    a:\n      - run: yes\n",
        "subagentStop:\n  commands:\n    a:\n      - run: 12\n",
        "subagentStop:\n  commands:\n    a:\n      - run: \"a\\tb\"\n",
        "subagentStop:\n  commands:\n    a:\n      - run: x\n    a:\n      - run: y\n",
        "subagentStop:\n  commands:\n    a: &x\n      - run: x\n    b: *x\n",
        "subagentStop:\n  commands:\n    a:\n      - run: x: y\n",
        "subagentStop:\n\tcommands:\n",
        "subagentStop:\n  commands:\n    null :\n      - run: x\n",
        "subagentStop:\n  commands:\n    true :\n      - run: x\n",
        "---\nmaxBlocks: 3\n",
        "maxBlocks: 3\n...\nx\n",
        "m\u{fc}: 3\n",
        "  maxBlocks: 3\nsubagentStop:\n",
    ] {
        assert!(!agrees(text), "{text}");
    }
    let long = format!("subagentStop:\n  commands:\n    {}:\n      - run: x\n", "a".repeat(1_100));
    let many = format!("subagentStop:\n  commands:\n    a:\n{}", "      - run: x\n".repeat(19_000));
    assert!(!agrees(&long) && !agrees(&many) && !agrees(&many.replace("- run: x", "- run: 'x'")));
}

#[test]
fn it_agrees_on_every_config_of_the_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/config");
    let mut number = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if let Ok(text) = std::fs::read_to_string(entry.path()) {
            agrees(&text);
            number += 1;
        }
    }
    assert!(number > 5);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(6_000))]

    #[test]
    fn it_never_says_anything_that_the_full_reader_does_not(
        parts in proptest::collection::vec((0usize..36, 0usize..5, 0usize..8), 1..9),
    ) {
        // Lines of a config, thrown together with small slips.
        const LINES: [&str; 36] = [
            "maxBlocks: 3", "subagentStop:", "  commands:", "    coder:", "      - run: npm test", "        timeout: 9",
            "    \"*\":", "    - run: x", "      message: \"a # b\"", "  match: all", "des:", "  scope: warn",
            "  evidence:", "    - BUILD", "  - CHECK", "audit:", "  enabled: true", "notifications:", "  hooks:",
            "    - Stop", "# a comment", "", "      showStdout: true", "  judge:", "    prompt: 'it is'", "null", "- x",
            "  required: ~", "    b: [x]", "   odd: 1", "  hooks: [Stop, '*']", "      - run: |", "          a: b # c",
            "            deeper", "         odd", "        message: |-",
        ];
        const SLIPS: [&str; 8] = ["", " ", "#", " # c", ":", ": x", "'", "\""];
        let text: String = parts.iter().map(|(line, indent, slip)| {
            let slip = if indent == &4 { SLIPS[*slip] } else { "" };
            let extra = if indent == &3 { " " } else { "" };
            format!("{extra}{}{slip}\n", LINES[*line])
        }).collect();
        agrees(&text);
    }

    #[test]
    fn scripts_and_lists_mean_the_same(
        lines in proptest::collection::vec((0usize..4, r#"[a-z '":#|>-]{0,6}"#), 1..7), sign in 0usize..3, list in r#"[a-zA-Z0-9 '",*./_\]#:-]{0,12}"#,
    ) {
        let sign = ["|", "|-", "|+"][sign];
        let script: String = lines.iter().map(|(more, text)| format!("{}{text}\n", " ".repeat(8 + more))).collect();
        agrees(&format!("subagentStop:\n  commands:\n    coder:\n      - run: {sign}\n{script}        timeout: 9\n"));
        agrees(&format!("subagentStop:\n  commands:\n    coder:\n      - timeout: 9\n        run: {sign}\n{script}"));
        agrees(&format!("des:\n  evidence: [{list}]\n"));
        agrees(&format!("notifications:\n  hooks: [Stop, {list}]\n"));
    }

    #[test]
    fn words_mean_the_same(word in r#"[a-z0-9 '":#,.&*!|>%@`~{}\[\]\\$/()<=+?^;_-]{1,8}"#, quote in 0usize..3) {
        let value = match quote { 0 => word, 1 => format!("\"{word}\""), _ => format!("'{word}'") };
        agrees(&format!("subagentStop:\n  commands:\n    coder:\n      - run: {value}\n        message: {value}\n"));
        agrees(&format!("subagentStop:\n  commands:\n    {value}:\n      - run: x\n"));
        agrees(&format!("des:\n  evidence:\n    - {value}\n"));
    }
}

#[test]
fn the_configs_of_the_readme_are_known() {
    let readme = include_str!("../../../README.md");
    let configs: Vec<&str> =
        readme.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!configs.is_empty());
    for config in configs {
        assert!(agrees(config), "{config}");
    }
}
