//! What the user has set in the settings is kept, merged, and there again to the byte.

use super::*;

/// Installs into settings with this text, uninstalls, and gives the settings in between.
#[track_caller]
fn there_and_back(before: &str) -> Value {
    let test = project(CONFIG);
    let root = test.root();
    write(&root, before);
    let (code, _, err) = run(&root, &["install", "--enforce"]);
    assert_eq!(code, Some(0), "{err}");
    let between = settings(&root);
    run(&root, &["uninstall", "--enforce"]);
    assert_eq!(text(&root), before);
    between
}

#[test]
fn everything_else_stays_to_the_byte() {
    for before in [
        "{}",
        "{ }\n",
        "{\n\t\"model\" : \"opus\",\n\t\"permissions\": { \"allow\": [ \"Bash(ls)\" ], \"deny\": [ ] }\n}",
        "{\"sandbox\":{\"filesystem\":{\"allowWrite\":[\"~/.npm\"],\"denyWrite\":[\"./mine\"]}}}\n",
        "{\r\n  \"env\": {\"A\": \"b\"}\r\n}\r\n",
    ] {
        there_and_back(before);
    }
}

#[test]
fn an_own_sandbox_keeps_its_hosts() {
    let own = "{\"sandbox\": {\"enabled\": true, \"network\": {\"allowedDomains\": [\"example.com\"]}}}\n";
    let settings = there_and_back(own);
    assert_eq!(settings["sandbox"]["network"]["allowedDomains"], json!(["example.com"]));
    assert_eq!(settings["sandbox"]["failIfUnavailable"], json!(true));
    // One that was off is not to ask about each host.
    let settings = there_and_back("{\"sandbox\": {\"network\": {\"allowedDomains\": [\"example.com\"]}}}\n");
    assert_eq!(settings["sandbox"]["network"]["allowedDomains"], json!(["example.com", "*"]));
}

#[test]
fn a_sandbox_that_the_project_shares_keeps_its_hosts_too() {
    let test = project(CONFIG).file(".claude/settings.json", "{\"sandbox\": {\"enabled\": true}}");
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    assert_eq!(settings(&root)["sandbox"]["network"], Value::Null);
    // Nor after installing again, when it is on because of us as well.
    run(&root, &["install", "--enforce"]);
    assert_eq!(settings(&root)["sandbox"]["network"], Value::Null);
}

#[test]
fn own_rules_are_merged_and_stay_when_ours_go() {
    let own = "{\"permissions\": {\"deny\": [\"Edit(./package.json)\"]}, \"sandbox\": {\"filesystem\": {\"denyWrite\": [\"./Cargo.lock\"]}}}\n";
    let settings = there_and_back(own);
    assert_eq!(settings["permissions"]["deny"][0], json!("Edit(./package.json)"));
    let denied = settings["sandbox"]["filesystem"]["denyWrite"].as_array().unwrap();
    assert_eq!(denied.iter().filter(|one| **one == json!("./Cargo.lock")).count(), 1);
}

#[test]
fn a_switch_that_the_user_has_set_stays_and_is_reported() {
    let test = project(CONFIG);
    let root = test.root();
    let own = "{\"sandbox\": {\"enabled\": false}}\n";
    write(&root, own);
    let (code, out, _) = run(&root, &["install", "--enforce"]);
    assert_eq!((code, &settings(&root)["sandbox"]["enabled"]), (Some(0), &json!(false)));
    assert!(
        out.contains("settings.local.json has sandbox.enabled: false, which is yours and stays"),
        "{out}"
    );
    run(&root, &["uninstall", "--enforce"]);
    assert_eq!(text(&root), own);
}

#[test]
fn what_the_user_changes_afterwards_stays() {
    let test = project(CONFIG);
    let root = test.root();
    write(&root, "{\"model\": \"opus\"}\n");
    run(&root, &["install", "--enforce"]);
    let changed = text(&root).replace("\"opus\"", "\"haiku\"").replace("\"*.x\"", "");
    write(&root, &changed.replace("\"deny\": [", "\"deny\": [\n      \"Bash(rm *)\","));
    let (_, out, _) = run(&root, &["uninstall", "--enforce"]);
    assert!(out.contains("the old file is kept in"), "{out}");
    let left = settings(&root);
    assert_eq!(left, json!({"model": "haiku", "permissions": {"deny": ["Bash(rm *)"]}}));
}

#[test]
fn comments_stay() {
    let test = project(CONFIG);
    let root = test.root();
    let own = "{\n  // my hosts\n  \"sandbox\": {\n    \"network\": {} // none\n  }\n}\n";
    write(&root, own);
    run(&root, &["install", "--enforce"]);
    assert!(text(&root).contains("// my hosts") && text(&root).contains("// none"));
    run(&root, &["uninstall", "--enforce"]);
    assert_eq!(text(&root), own);
}

#[test]
fn a_registration_in_the_same_file_and_the_rules_come_and_go_in_any_order() {
    let orders: [[&[&str]; 4]; 2] = [
        [
            &["install", "--local"],
            &["install", "--enforce"],
            &["uninstall", "--local"],
            &["uninstall", "--enforce"],
        ],
        [
            &["install", "--enforce"],
            &["install", "--local"],
            &["uninstall", "--enforce"],
            &["uninstall", "--local"],
        ],
    ];
    for order in orders {
        let test = project(CONFIG);
        let root = test.root();
        for arguments in order {
            assert_eq!(run(&root, arguments).0, Some(0), "{arguments:?}");
        }
        assert!(!root.join(FILE).exists(), "{order:?}: {}", text(&root));
    }
}

#[test]
fn no_exception_of_a_config_frees_what_the_user_denies() {
    let test = project(CONFIG).file(
        ".claude/settings.json",
        "{\"sandbox\": {\"filesystem\": {\"denyRead\": [\"./.env.example\"]}}}",
    );
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    assert_eq!(list(&root, "/sandbox/filesystem/allowRead"), Vec::<String>::new());
}

#[test]
fn the_lines_for_git_are_taken_back_too() {
    let test = project(CONFIG);
    let root = test.root();
    let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(&root).status().unwrap();
    assert!(git.success());
    let list = root.join(".git/info/exclude");
    let exclude = || std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, "# mine\n/.vscode-mine\n").unwrap();
    let before = exclude();
    run(&root, &["install", "--enforce"]);
    run(&root, &["doctor", "--yes"]);
    assert!(exclude().contains("\n/.bashrc\n"), "{}", exclude());
    std::fs::write(&list, format!("{}/.bashrc-mine\n/.zshrc\n", exclude())).unwrap();
    let (_, out, _) = run(&root, &["uninstall", "--enforce", "--dry-run"]);
    assert!(out.contains("-/.bashrc\n"), "{out}");
    let (_, out, _) = run(&root, &["uninstall", "--enforce"]);
    assert!(
        out.contains("removed the files that only the sandbox shows from [ROOT]/.git/info/exclude"),
        "{out}"
    );
    assert_eq!(exclude(), format!("{before}/.bashrc-mine\n/.zshrc\n"));
}

#[test]
fn without_the_record_the_user_is_told_what_looks_like_ours() {
    let test = project(CONFIG);
    let root = test.root();
    write(&root, "{\"permissions\": {\"deny\": [\"Read(./mine)\"]}}\n");
    run(&root, &["install", "--enforce"]);
    std::fs::remove_dir_all(root.join(".state-home/conclaude/enforced")).unwrap();
    let before = text(&root);
    // The config may not ask for it any more.
    std::fs::write(root.join(".conclaude.yaml"), CONFIG.replace("enforce: [sandbox, permissions]", ""))
        .unwrap();
    let (code, _, err) = run(&root, &["uninstall", "--enforce"]);
    assert_eq!((code, text(&root)), (Some(1), before));
    for part in [
        "the record of what `conclaude install --enforce` wrote is gone: none of it was removed",
        "\n  sandbox.filesystem.allowRead ./.env.example\n",
        "\n  sandbox.network.allowedDomains *",
        "\n  sandbox.enabled: true\n",
        "\n  sandbox.filesystem.denyWrite ./sub/x.lock\n",
        "\n  sandbox.filesystem.denyRead **/.env*\n",
        "\n  sandbox.excludedCommands conclaude des run *\n",
        "\n  permissions.deny Edit(**/*.lock)\n",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
    assert!(!err.contains("mine"), "{err}");
    // Settings without anything of ours.
    write(&root, "{\"sandbox\": {\"enabled\": true}}\n");
    assert_eq!(run(&root, &["uninstall", "--enforce"]).0, Some(0));
}

/// Claude Code ignores such a file as a whole, so nothing would be enforced.
#[test]
fn settings_with_a_comment_or_a_trailing_comma_are_refused() {
    for (text, why) in [
        ("{\n  // mine\n  \"model\": \"x\"\n}\n", "Comments are not allowed on line 2 column 3"),
        ("{\n  \"model\": \"x\",\n}\n", "Trailing commas are not allowed on line 2 column 15"),
    ] {
        let test = project(CONFIG);
        let root = test.root();
        write(&root, text);
        let (code, out, err) = run(&root, &["install", "--enforce"]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
        assert!(err.contains("settings.local.json is left unchanged: Claude Code ignores the whole file, since it is not plain JSON: "), "{err}");
        assert!(err.contains(why) && err.contains("remove comments and trailing commas"), "{err}");
        assert_eq!(super::text(&root), text);
    }
}

#[test]
fn settings_that_claude_code_ignores_now_are_reported() {
    let test = project(CONFIG);
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    let commented = text(&root).replacen("{\n", "{\n  // mine\n", 1);
    write(&root, &commented);
    let outcome = test.run();
    let said = "Claude Code ignores the whole file, since it is not plain JSON: Comments are not allowed";
    assert!(outcome.message().contains(said), "{}", outcome.message());
    assert_eq!(text(&root), commented);
    let (_, out, _) = run(&root, &["doctor"]);
    assert!(!out.contains("✓ enforce") && out.contains("cannot be read"), "{out}");
    // What is ours can still be taken back.
    let (code, _, err) = run(&root, &["uninstall", "--enforce"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(!text(&root).contains("sandbox"));
}

#[test]
fn doctor_claims_nothing_where_the_sandbox_is_off() {
    let test = project(CONFIG);
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    let (_, out, _) = run(&root, &["doctor"]);
    assert!(out.contains("✓ enforce"), "{out}");
    for changed in [text(&root).replace("\"enabled\": true", "\"enabled\": false"), "{".to_owned()] {
        write(&root, &changed);
        let (_, out, _) = run(&root, &["doctor"]);
        assert!(!out.contains("✓ enforce"), "{out}");
    }
}

#[test]
fn lines_for_git_do_not_hide_that_the_record_is_gone() {
    let test = project(CONFIG);
    let root = test.root();
    std::process::Command::new("git").args(["init", "-q"]).current_dir(&root).status().unwrap();
    run(&root, &["install", "--enforce"]);
    run(&root, &["doctor", "--yes"]);
    std::fs::remove_dir_all(root.join(".state-home/conclaude/enforced")).unwrap();
    let (code, out, err) = run(&root, &["uninstall", "--enforce"]);
    assert!(out.contains("removed the files that only the sandbox shows"), "{out}");
    assert_eq!(code, Some(1), "{out}");
    assert!(err.contains("\n  sandbox.enabled: true\n"), "{err}");
}

#[test]
fn installing_again_without_the_record_does_not_make_entries_the_users() {
    let test = project(CONFIG);
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    std::fs::remove_dir_all(root.join(".state-home/conclaude/enforced")).unwrap();
    run(&root, &["install", "--enforce"]);
    let (code, out, err) = run(&root, &["uninstall", "--enforce"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(!out.contains("removed the rules"), "{out}");
    assert!(err.contains("\n  sandbox.enabled: true\n"), "{err}");
}

/// It ignores the whole file, and so the sandbox is off.
#[test]
fn settings_with_a_value_of_the_wrong_type_are_refused_and_reported() {
    for (value, why) in [
        ("\"model\": 5", "`model` must be a string"),
        ("\"permissions\": {\"allow\": 5}", "`permissions` must be an object of lists"),
        ("\"sandbox\": {\"excludedCommands\": [5]}", "`sandbox.excludedCommands` must be a list of strings"),
    ] {
        let test = project(CONFIG);
        let root = test.root();
        let own = format!("{{{value}}}\n");
        write(&root, &own);
        let (code, _, err) = run(&root, &["install", "--enforce"]);
        assert_eq!((code, text(&root)), (Some(1), own), "{err}");
        assert!(err.contains("Claude Code ignores the whole file") && err.contains(why), "{err}");
    }
    let test = project(CONFIG);
    let root = test.root();
    run(&root, &["install", "--enforce"]);
    let mut wrong = settings(&root);
    wrong["model"] = json!(5);
    write(&root, &wrong.to_string());
    let (_, out, _) = run(&root, &["doctor"]);
    assert!(!out.contains("✓ enforce") && out.contains("as a whole: `model` must be a string"), "{out}");
    let outcome = test.run();
    assert!(
        outcome.message().contains("enforces nothing: Claude Code ignores the whole file"),
        "{}",
        outcome.message()
    );
}
