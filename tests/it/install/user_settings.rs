//! What is the user's stays as it is.

use super::*;

#[test]
fn settings_of_others_survive_byte_for_byte_and_come_back_exactly() {
    for original in [
        "{\n\t\"zebra\": 1.50,\n\t\"hooks\": {},\n\t\"alpha\": [ ]\n}",
        "{\"hooks\": {\"SubagentStop\": [], \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}]}}\n\n",
        "{}",
        "\u{feff}{\r\n  \"model\": \"opus\"\r\n}",
        "{\n  // mine\n  \"model\": \"opus\", // the best\n}\n",
        "{\"b\": 1e999}",
    ] {
        let test = Test::stop().file(FILE, original);
        let root = test.root();
        assert_eq!(run(&root, &["install"]).0, Some(0));
        assert_ne!(settings(&root), original);
        let kept = std::fs::read_to_string(copies(&root).first().unwrap()).unwrap();
        assert_eq!(kept, original);
        assert_eq!(run(&root, &["uninstall"]).0, Some(0));
        assert_eq!(settings(&root), original);
        assert_eq!(copies(&root), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn what_the_user_changed_meanwhile_stays() {
    let test = Test::stop().file(FILE, "{\n  \"model\": \"opus\"\n}\n");
    let root = test.root();
    run(&root, &["install"]);
    let changed = settings(&root).replace("\"opus\"", "\"sonnet\"");
    std::fs::write(root.join(FILE), changed).unwrap();
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn the_frontmatter_of_agents_is_never_changed() {
    const AGENT: &str = "---\nname: coder # the one\ndescription: writes code\n---\nYou are a coder.\r\n";
    let test = Test::stop().file(".claude/agents/coder.md", AGENT);
    insta::assert_snapshot!(transcript(&test.root(), &["install", "--agents"]), @"
    exit 1
    error: unexpected argument '--agents' found

    Usage: conclaude install [OPTIONS]

    For more information, try '--help'.
    ");
    run(&test.root(), &["install"]);
    assert_eq!(std::fs::read_to_string(test.root().join(".claude/agents/coder.md")).unwrap(), AGENT);
}

#[test]
fn blank_and_empty_settings_come_back_as_they_were() {
    for blank in ["", "\n", "  \n\n"] {
        let test = Test::stop().file(FILE, blank);
        let root = test.root();
        assert_eq!(run(&root, &["install"]).0, Some(0));
        assert_ne!(settings(&root), blank);
        assert_eq!(run(&root, &["uninstall"]).0, Some(0));
        assert_eq!(settings(&root), blank);
    }
}

#[test]
fn a_line_of_another_tool_that_mentions_us_is_not_ours() {
    let other = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"log; /usr/bin/conclaude Stop\"}]}\n    ]\n  }\n}\n";
    let test = Test::stop().config("maxBlocks: 3").file(FILE, other);
    let root = test.root();
    insta::assert_snapshot!(transcript(&root, &["install", "--project"]), @"
    exit 0
    warning: `log; /usr/bin/conclaude Stop` calls conclaude as well, and is left unchanged: it may be called twice
    warning: [BIN] is a path of this machine, in a file that others share: put conclaude on the PATH, or use --local
    registered conclaude in [ROOT]/.claude/settings.json
    the old file is kept in [ROOT]/.state-home/conclaude/backups/[HASH]/settings.json.before-conclaude.[TIME]
    ");
    let json: Value = serde_json::from_str(&settings(&root)).unwrap();
    assert_eq!(json["hooks"]["Stop"][0]["hooks"][0]["command"], "log; /usr/bin/conclaude Stop");
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), other);
}

#[test]
fn an_empty_list_of_the_users_survives_a_registration_that_comes_and_goes() {
    let original = "{\"hooks\": {\"PreToolUse\": []}, \"a\": 1}";
    let test = Test::stop().file(FILE, original);
    let root = test.root();
    run(&root, &["install"]);
    let test = test.config("des: {enabled: false}");
    run(&test.root(), &["install"]);
    let json: Value = serde_json::from_str(&settings(&root)).unwrap();
    assert_eq!(json["hooks"]["PreToolUse"], Value::Array(Vec::new()));
    run(&root, &["uninstall"]);
    assert_eq!(settings(&root), original);
}
